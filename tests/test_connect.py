"""The lines that ``crivello connect`` prints, used as the programs use them."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

import crivello
from crivello.cli import run
from crivello.connect import PROGRAMS, Target
from tests.doors import DOCUMENTS, awaited, served


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("connect") / "my pages"
    with crivello.create(folder) as collection:
        collection.add(DOCUMENTS, progress=False)
    return folder


@pytest.fixture
def shell(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Runs a command in this process; gives its exit code, its output and its messages."""

    def called(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["crivello", *map(str, arguments)])
        code = run()
        said = capsys.readouterr()
        return code, said.out, said.err

    return called


def test_open_webui_asks_as_searxng(folder: Path) -> None:
    with served(folder) as url:
        lines = dict(
            line.split("=", 1) for line in PROGRAMS["openwebui"](Target(folder, url)).text.splitlines()
        )
        assert lines["WEB_SEARCH_ENGINE"] == "searxng" and "<query>" in lines["SEARXNG_QUERY_URL"]
        # As open_webui/retrieval/web/searxng.py does it.
        parameters: dict[str, str | int] = {"q": "flame", "format": "json", "pageno": 1, "safesearch": "1", "language": "all",
                      "time_range": "", "categories": "", "theme": "simple", "image_proxy": 0}  # fmt: skip
        found = httpx.get(lines["SEARXNG_QUERY_URL"].split("?")[0], params=parameters).json()["results"]
    assert {result["url"] for result in found} == {"https://sea.example/0", "https://sea.example/1"}
    assert all({"url", "title", "content", "score"} <= result.keys() for result in found)


def test_searxng_reads_the_answers_of_the_engine(folder: Path) -> None:
    with served(folder) as url:
        text = PROGRAMS["searxng"](Target(folder, url)).text
        engine = dict(re.findall(r"^    (\w+): (.+)$", text, re.MULTILINE))
        # As searx/engines/json_engine.py does it: the number of a page is (page − 1) · page_size + first_page_num.
        first = engine["search_url"].format(query="flame", pageno=int(engine["first_page_num"]))
        hits = httpx.get(first).json()[engine["results_query"]]
        assert len(hits) == 2 and all(
            engine[f"{part}_query"] in hits[0] for part in ("url", "title", "content")
        )
        second = engine["search_url"].format(query="flame", pageno=int(engine["page_size"]))
        assert httpx.get(second).json()["hits"] == []


def test_claude_starts_the_server_by_its_command(folder: Path) -> None:
    servers = json.loads(PROGRAMS["claude"](Target(folder, "")).text)["mcpServers"]
    command = servers["my pages"]
    assert command == {"command": command["command"], "args": ["mcp", str(folder.resolve())]}
    program = "import sys; from crivello.cli import main; sys.exit(main())"
    parameters = StdioServerParameters(
        command=sys.executable, args=["-c", program, *command["args"]], env=dict(os.environ), cwd="/"
    )

    async def talk() -> Any:
        async with Client(stdio_client(parameters), mode="legacy") as client:
            return await client.call_tool("search", {"query": "flame"})

    assert awaited(talk()).structured_content["matches"] == 2


@pytest.mark.parametrize(
    ("program", "package"), [("langchain", "langchain_community"), ("llamaindex", "llama_index.tools.mcp")]
)
def test_the_lines_of_python_compile_and_run_where_the_package_is(
    folder: Path, program: str, package: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with served(folder) as url:
        text = PROGRAMS[program](Target(folder, url)).text.replace("solar wind", "flame")
        code = compile(text, program, "exec")
        assert url in text
        try:
            __import__(package)
        except ImportError:
            pytest.skip(f"{package} is not installed; its lines compile")
        exec(code, {})
        said = capsys.readouterr().out
        assert "https://sea.example/0" in said or "search" in said


def test_the_shell(folder: Path, shell: Callable[..., tuple[int, str, str]]) -> None:
    code, said, told = shell("connect", "openwebui", folder, "--url", "https://search.example/")
    assert code == 0 and "crivello serve" in told
    assert said.splitlines()[-1] == "SEARXNG_QUERY_URL=https://search.example/search?q=<query>"
    assert "http://127.0.0.1:8080/mcp" in shell("connect", "llamaindex", folder)[1]
    for wrong in (("connect", "emacs", folder), ("connect", "claude", folder, "--url", "search.example")):
        code, _, told = shell(*wrong)
        assert code == 2 and "hint:" in told


def test_tokens_in_the_shell(folder: Path, shell: Callable[..., tuple[int, str, str]]) -> None:
    code, secret, told = shell("token", "add", folder, "loader", "--scope", "crawl")
    assert code == 0 and secret.startswith("crv_") and "loader may crawl" in told
    assert secret.strip() not in (folder / "tokens.txt").read_text()
    assert json.loads(shell("token", "list", folder, "--json")[1])["scope"] == "crawl"
    assert shell("token", "add", folder, "x", "--scope", "all")[0] == 2
    assert shell("token", "remove", folder, "loader")[0] == 0
    assert shell("token", "remove", folder, "loader")[0] == 2
    assert shell("token", "list", folder)[0] == 1
