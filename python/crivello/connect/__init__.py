"""Private, behind ``crivello connect``: the lines that connect another program to a collection, one function a program.

A function returns ``Lines``: where they go, what they are, and the lines themselves, which are complete as they stand.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Lines:
    """What to paste, into what, and what to do first."""

    where: str
    text: str
    first: str = ""


@dataclass(frozen=True, slots=True)
class Target:
    """What is connected: a collection's folder, and the URL of its server."""

    folder: Path
    url: str

    @property
    def name(self) -> str:
        return self.folder.resolve().name

    @property
    def command(self) -> list[str]:
        """The command that serves it to an assistant, which may be started from any folder."""
        program = Path(sys.argv[0])
        crivello = str(program.resolve()) if program.name == "crivello" and program.exists() else "crivello"
        return [crivello, "mcp", str(self.folder.resolve())]

    @property
    def serving(self) -> str:
        return f"crivello serve {shlex.quote(str(self.folder))}"


def openwebui(target: Target) -> Lines:
    """Open WebUI: its web search asks the collection."""
    return Lines(
        "the environment of Open WebUI (or Admin Panel > Settings > Web Search)",
        "\n".join(
            [
                "ENABLE_WEB_SEARCH=true",
                "WEB_SEARCH_ENGINE=searxng",
                f"SEARXNG_QUERY_URL={target.url}/search?q=<query>",
            ]
        ),
        target.serving,
    )


def searxng(target: Target) -> Lines:
    """SearXNG: the collection becomes one of its engines."""
    return Lines(
        "settings.yml of SearXNG",
        "\n".join(
            [
                "engines:",
                f"  - name: {json.dumps(target.name)}",
                "    engine: json_engine",
                "    shortcut: cri",
                "    categories: [general]",
                "    paging: true",
                "    page_size: 10",
                "    first_page_num: 0",
                f"    search_url: {target.url}/api/v1/search?q={{query}}&top=10&offset={{pageno}}",
                "    results_query: hits",
                "    url_query: url",
                "    title_query: title",
                "    content_query: snippet",
                "    content_html_to_text: true",
                "    suggestion_query: suggestion",
            ]
        ),
        target.serving,
    )


def claude(target: Target) -> Lines:
    """Claude Desktop and Claude Code: the collection becomes a tool."""
    command, *arguments = target.command
    servers = {"mcpServers": {target.name: {"command": command, "args": arguments}}}
    return Lines(
        "claude_desktop_config.json of Claude Desktop, or .mcp.json of a project for Claude Code",
        json.dumps(servers, indent=2),
    )


def langchain(target: Target) -> Lines:
    """LangChain: the collection as a search tool."""
    return Lines(
        "a Python program with langchain-community",
        "\n".join(
            [
                "from langchain_community.utilities import SearxSearchWrapper",
                "",
                f"search = SearxSearchWrapper(searx_host={json.dumps(target.url)})",
                'for result in search.results("solar wind", num_results=5):',
                '    print(result["title"], result["link"])',
            ]
        ),
        target.serving,
    )


def llamaindex(target: Target) -> Lines:
    """LlamaIndex: the tools of the collection, by the Model Context Protocol."""
    return Lines(
        "a Python program with llama-index-tools-mcp",
        "\n".join(
            [
                "from llama_index.tools.mcp import BasicMCPClient, McpToolSpec",
                "",
                f'client = BasicMCPClient("{target.url}/mcp")',
                "tools = McpToolSpec(client=client).to_tool_list()",
                "print([tool.metadata.name for tool in tools])",
            ]
        ),
        target.serving,
    )


PROGRAMS: dict[str, Callable[[Target], Lines]] = {
    "openwebui": openwebui,
    "searxng": searxng,
    "claude": claude,
    "langchain": langchain,
    "llamaindex": llamaindex,
}
