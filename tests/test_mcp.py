"""The server for assistants, asked by the official client of the protocol."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

import crivello
from crivello.lab.web import SampleWeb
from crivello.mcp import Server
from crivello.mcp.tools import TOOLS
from tests.doors import awaited, make, served, token

MODES = ["legacy", "2026-07-28", "auto"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("mcp") / "small")


def command(folder: Path, *flags: str) -> StdioServerParameters:
    program = "import sys; from crivello.cli import main; sys.exit(main())"
    arguments = ["-c", program, "mcp", str(folder), *flags]
    return StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))


def asked(transport: Any, mode: str, talk: Callable[[Client], Awaitable[None]]) -> None:
    """Talks to a server through the official client."""

    async def session() -> None:
        async with Client(transport, mode=mode) as client:
            await talk(client)

    awaited(session())


async def conversation(client: Client, folder: Path) -> None:
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == {"search", "fetch", "similar", "why"}
    assert tools["search"].input_schema["required"] == ["query"]
    found = await client.call_tool("search", {"query": "lighthouse lens", "top": 3})
    assert not found.is_error and found.structured_content
    [text] = found.content
    results = found.structured_content["results"]
    assert len(results) == 3 and results[0]["url"] in text.text  # type: ignore[union-attr]
    crawled = next(one["url"] for one in results if one["url"].startswith("http://127"))
    page = (await client.call_tool("fetch", {"url": crawled, "most": 100})).structured_content
    assert page and page["text"] == crivello.open(folder).text(crawled)[:100]
    rest = (await client.call_tool("fetch", {"url": crawled, "start": 100})).structured_content
    assert rest and page["text"] + rest["text"] == crivello.open(folder).text(crawled)
    near = (await client.call_tool("similar", {"url": crawled, "top": 2})).structured_content
    assert near and len(near["results"]) == 2
    why = (await client.call_tool("why", {"url": crawled})).structured_content
    assert why and why["state"] == "done"
    wrong: list[tuple[str, dict[str, Any], str]] = [
        ("search", {"query": "lens (open"}, "never closed"),
        ("search", {"query": "lens", "top": 500}, "between 1 and 50"),
        ("search", {"q": "lens"}, "'q' is not a parameter"),
        ("search", {}, "there is no query"),
        ("fetch", {"url": "https://nowhere.example/"}, "not in the collection"),
    ]
    for name, arguments, sentence in wrong:
        refused = await client.call_tool(name, arguments)
        assert refused.is_error and sentence in refused.content[0].text  # type: ignore[union-attr]
    with pytest.raises(MCPError, match="there is no tool"):
        await client.call_tool("crawl", {"url": "https://example.org/"})


@pytest.mark.parametrize("mode", MODES)
def test_over_http(folder: Path, mode: str) -> None:
    with served(folder) as url:
        asked(streamable_http_client(f"{url}/mcp"), mode, lambda client: conversation(client, folder))


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_over_standard_input_and_output(folder: Path, mode: str) -> None:
    asked(stdio_client(command(folder)), mode, lambda client: conversation(client, folder))


def test_the_handshake_says_who_answers(folder: Path) -> None:
    async def talk(client: Client) -> None:
        assert client.server_info and client.server_info.name == "crivello"
        assert "never instructions" in (client.instructions or "")
        with pytest.warns(Warning, match="ping is removed"):  # by its newest revision
            await client.send_ping()

    asked(stdio_client(command(folder)), "legacy", talk)


def test_crawling_takes_a_flag_and_a_person_for_private_networks(tmp_path: Path) -> None:
    with SampleWeb(hosts=3, pages_per_host=4, slow=0) as web:
        for allowed in (False, True):
            folder = tmp_path / f"allowed-{allowed}"
            crivello.create(folder, crawl={"delay": 0, "allow_private": allowed}).close()

            async def talk(client: Client, allowed: bool = allowed) -> None:
                assert "crawl" in [tool.name for tool in (await client.list_tools()).tools]
                done = await client.call_tool("crawl", {"url": web.seeds[0], "max_pages": 8})
                assert done.is_error is not allowed, done
                if allowed:
                    assert done.structured_content and done.structured_content["documents"] > 3
                    found = await client.call_tool("search", {"query": "*"})
                    assert found.structured_content and found.structured_content["matches"] > 3
                else:
                    assert "private network" in done.content[0].text  # type: ignore[union-attr]

            asked(stdio_client(command(folder, "--allow-crawl")), "legacy", talk)


def rpc(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def test_over_http_a_token_allows_to_crawl(folder: Path) -> None:
    secrets = {scope: token(folder, scope) for scope in ("read", "crawl")}
    with served(folder) as url:
        for scope, offered in [("read", False), ("crawl", True)]:
            headers = {"Authorization": f"Bearer {secrets[scope]}"}
            tools = httpx.post(f"{url}/mcp", json=rpc("tools/list"), headers=headers).json()["result"][
                "tools"
            ]
            assert ("crawl" in [tool["name"] for tool in tools]) is offered


def test_what_the_transport_refuses(folder: Path) -> None:
    with served(folder) as url:
        post = f"{url}/mcp"
        foreign = httpx.post(post, json=rpc("ping"), headers={"Origin": "https://evil.example"})
        assert foreign.status_code == 403
        assert httpx.get(post).status_code == httpx.delete(post).status_code == 405
        assert (
            httpx.post(post, json={"jsonrpc": "2.0", "method": "notifications/initialized"}).status_code
            == 202
        )
        assert httpx.post(post, content=b"{").json()["error"]["code"] == -32700
        assert httpx.post(post, json=[rpc("ping")]).status_code == 400
        assert httpx.post(post, content=b" " * (2**20 + 1)).status_code == 413
        modern = {"MCP-Protocol-Version": "2026-07-28"}
        assert httpx.post(post, json=rpc("nothing"), headers=modern).status_code == 404


@pytest.mark.parametrize(
    "message",
    [1, [], {}, {"jsonrpc": "2.0", "id": None, "method": "ping"}, {"jsonrpc": "2.0", "id": 1, "method": 2},
     rpc("tools/call", name="search", arguments=[1]), rpc("tools/call", name="search", arguments={"query": {}}),
     rpc("tools/call", name=["search"]), rpc("tools/call"), rpc("resources/list"),
     rpc("ping", _meta={"io.modelcontextprotocol/protocolVersion": "1999-01-01"})],
)  # fmt: skip
def test_any_message_is_answered(folder: Path, message: Any) -> None:
    answer = Server(crivello.open(folder)).answer(message, may_crawl=False)
    assert answer and ("error" in answer or answer["result"]["isError"])


def test_revisions_are_negotiated(folder: Path) -> None:
    server = Server(crivello.open(folder))
    for asked_for, expected in [("2025-06-18", "2025-06-18"), ("2099-01-01", "2025-11-25")]:
        answer = server.answer(rpc("initialize", protocolVersion=asked_for), may_crawl=False)
        assert answer and answer["result"]["protocolVersion"] == expected


def test_the_shell_answers_what_was_asked_before_the_input_ended(folder: Path) -> None:
    lines = "\n".join(json.dumps({**rpc("ping"), "id": number}) for number in range(20))
    parameters = command(folder)
    done = subprocess.run(
        [parameters.command, *parameters.args], input=lines, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0
    assert {json.loads(line)["id"] for line in done.stdout.splitlines()} == {*range(20)}


def test_every_tool_describes_its_parameters() -> None:
    for tool in TOOLS:
        described = tool.described()
        assert described["description"] and described["annotations"]["readOnlyHint"] is not tool.writes
        assert all("description" in one for one in described["inputSchema"]["properties"].values())
