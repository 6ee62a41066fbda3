"""Ask a collection as an assistant does, by the Model Context Protocol; needs its Python client: pip install mcp

python examples/ask_by_mcp.py example "how to install"

Without arguments it asks a collection of the sample web, made for it.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

import crivello
from crivello.lab.web import SampleWeb


def sample(folder: Path) -> Path:
    """A collection of a few pages."""
    with (
        SampleWeb(hosts=3, pages_per_host=6, slow=0) as web,
        crivello.create(folder / "small", crawl={"delay": 0}) as collection,
    ):
        collection.crawl(web.seeds[0], progress=False)
        collection.index(progress=False)
    return folder / "small"


async def ask(folder: Path, query: str) -> None:
    # What an assistant is told to start; `crivello connect claude DIR` prints it for one.
    program = "import sys; from crivello.cli import main; sys.exit(main())"
    arguments = ["-c", program, "mcp", str(folder)]
    server = StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))
    async with Client(stdio_client(server)) as client:
        tools = (await client.list_tools()).tools
        print("tools:", ", ".join(sorted(tool.name for tool in tools)))
        found = (await client.call_tool("search", {"query": query, "top": 3})).structured_content or {}
        for result in found["results"]:
            print(f"{result['title']}  {result['url']}")
        if found["results"]:
            page = await client.call_tool("fetch", {"url": found["results"][0]["url"], "most": 200})
            print(page.structured_content)


def main(arguments: list[str]) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(arguments[0]) if arguments else sample(Path(temporary))
        asyncio.run(ask(folder, arguments[1] if len(arguments) > 1 else "lens"))


if __name__ == "__main__":
    main(sys.argv[1:])
