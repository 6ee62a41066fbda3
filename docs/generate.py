"""Brings the generated parts of README and docs/ up to date: tables of settings, help texts, screenshots.

    python -m docs.generate             writes them
    python -m docs.generate --check     writes nothing; exits 1 when a text is not up to date

A generated text stands between ``<!-- generated: KIND NAME -->`` and ``<!-- end -->``. The kinds are in
``KINDS``: ``settings crawl`` is the table of a section, ``help lab web`` what ``--help`` says, ``measures`` the table
of all measures of a graph, ``formats`` the one of the formats that are converted, ``measures distance`` what the docstrings of a family say, and ``methods path reaches``
those of other methods of ``Graph``.
"""

from __future__ import annotations

import inspect
import io
import os
import re
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from tests.chromium import ARGUMENTS, chromium
from typer.main import get_command

from crivello import _core, settings
from crivello.cli.app import application, run
from crivello.cli.graphs import registry
from crivello.convert import READERS
from crivello.graph.graph import Graph
from crivello.graph.measures import Measure

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images"
# File, query (none: the start page), width and height, dark.
SCREENSHOTS = (
    ("search.png", '"queen bee" OR swarm OR honey', (1440, 900), False),
    ("search-dark.png", "volcano lava", (1440, 900), True),
    ("search-tablet.png", "", (820, 900), True),
    ("search-phone.png", "lighthouse lens", (390, 844), False),
)
# Of the dashboard, while the crawl runs.
DASHBOARDS = (
    ("dashboard.png", (1440, 1040), False),
    ("dashboard-tablet.png", (820, 900), False),
    ("dashboard-phone.png", (390, 844), True),
)
_COLUMNS = "100"
_DELAY = 0.2
_CRAWLED = 500
_MARKED = re.compile(r"(<!-- generated: (\w+) ?([\w. -]*?) -->\n).*?(<!-- end -->)", re.DOTALL)


def documents() -> list[Path]:
    """Every Markdown file of the project."""
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]


def verbs() -> Iterator[str]:
    """Every verb and sub-verb, as it is typed after ``crivello``; the first is the empty one."""
    yield from _verbs(get_command(application()), "")


def _verbs(command: Any, path: str) -> Iterator[str]:
    yield path
    for name, child in getattr(command, "commands", {}).items():
        if child.hidden:
            continue
        yield from _verbs(child, f"{path} {name}".strip())


def help_of(verb: str) -> str:
    """What ``crivello VERB --help`` says, as a fenced block."""
    said = io.StringIO()
    with redirect_stdout(said), patch.dict(os.environ, COLUMNS=_COLUMNS):
        run([*verb.split(), "--help"])
    return f"```text\n{said.getvalue().rstrip()}\n```\n"


def table_of(section: str) -> str:
    """The settings of a section as a table."""
    lines = ["| setting | default | what it does | allowed | variable |", "| --- | --- | --- | --- | --- |"]
    for setting in settings.settings_of(section):
        cells = [
            f"`{setting.name}`",
            f"`{shown(setting)}`",
            setting.help,
            setting.allowed,
            f"`{setting.variable}`",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def shown(setting: settings.Setting) -> str:
    """A default as it would stand in ``crivello.toml``."""
    return "unset" if setting.default is None else setting.in_toml(setting.default)


def measures_of(family: str) -> str:
    """All measures as a table, or those of a family with their docstrings."""
    if not family:
        lines = ["| measure | family | what it is | options |", "| --- | --- | --- | --- |"]
        for measure in registry().values():
            options = ", ".join(f"`{option}`" for option in measure.options())
            small = " (small graphs)" if measure.small else ""
            lines.append(f"| `{measure.name}` | {measure.family} | {measure.about}{small} | {options} |")
        return "\n".join(lines) + "\n"
    by_method: dict[Callable[..., Any], list[Measure]] = {}
    for measure in registry().values():
        if measure.family == family:
            by_method.setdefault(measure.method, []).append(measure)
    return "\n".join(_described(method, measures) for method, measures in by_method.items())


def methods_of(names: str) -> str:
    """Methods of ``Graph`` that are not measures, with their docstrings."""
    return "\n".join(_described(getattr(Graph, name), []) for name in names.split())


def _described(method: Callable[..., Any], measures: list[Measure]) -> str:
    """A method of ``Graph`` as a section: the measures that it is, its signature and its docstring."""
    names = ", ".join(f"`{measure.name}`" for measure in measures) or f"`graph.{method.__name__}`"
    parameters = [
        str(parameter.replace(annotation=inspect.Parameter.empty))
        for name, parameter in inspect.signature(method).parameters.items()
        if name != "self"
    ]
    doc = re.sub(r"``(.+?)``", r"`\1`", inspect.getdoc(method) or "")
    # Indented examples become blocks of code.
    doc = re.sub(r"((?:^ *(?:>>>|\.\.\.) .*\n?(?:^(?! *>>>) *\S.*\n?)*)+)", _as_code, doc, flags=re.MULTILINE)
    return f"### {names}\n\n`graph.{method.__name__}({', '.join(parameters)})`\n\n{doc.rstrip()}\n"


def _as_code(example: re.Match[str]) -> str:
    return f"```pycon\n{inspect.cleandoc(example[1]).rstrip()}\n```\n"


def formats_of(_: str) -> str:
    """The table of the media types that are converted."""
    rows = ["| media type | extensions | reader |", "| --- | --- | --- |"]
    for media_type, module in READERS.items():
        extensions = " ".join(f"`.{extension}`" for extension in _core.CONVERTED_TYPES[media_type])
        reader = f"[{module}](../python/crivello/convert/{module}.py)"
        rows.append(f"| `{media_type}` | {extensions} | {reader} |")
    return "\n".join(rows) + "\n"


KINDS: dict[str, Callable[[str], str]] = {
    "formats": formats_of,
    "settings": table_of,
    "help": help_of,
    "measures": measures_of,
    "methods": methods_of,
}


def renewed(text: str) -> str:
    """The text of a document with its generated parts made anew."""

    def renew(match: re.Match[str]) -> str:
        start, kind, name, end = match.groups()
        return f"{start}\n{KINDS[kind](name)}\n{end}"

    return _MARKED.sub(renew, text)


def stale() -> Iterator[tuple[Path, str]]:
    """The documents that are not up to date, each with the text that it should have."""
    for document in documents():
        text = document.read_text()
        if (new := renewed(text)) != text:
            yield document, new


def take_screenshots() -> None:
    """Crawls the sample web, searches it in a browser, and keeps what is seen."""
    from crivello.collection import Collection
    from crivello.lab.web import SampleWeb
    from crivello.web import Server

    loaded = settings.load(flags={"crawl": {"delay": _DELAY, "scope": "any"}}, environment={})
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "almanac"
        with SampleWeb(slow=0) as web, Collection.write(folder, settings=loaded, create=True) as collection:
            crawl = threading.Thread(target=collection.crawl, args=(web.seeds,))
            crawl.start()
            with Server(Collection(folder)) as server:
                shoot_crawl(server.url)
            crawl.join()
            collection.index()
            collection.rank()
        with Server(Collection(folder)) as server:
            shoot(server.url)


def shoot(url: str) -> None:
    """Keeps what a browser shows of the search."""
    for file, query, size, dark in SCREENSHOTS:
        with _opened(url, file, size, dark) as page:
            if query:
                page.get_by_role("combobox").fill(query)
                page.get_by_role("button", name="Search").click()
                page.locator(".results").wait_for()
            page.wait_for_load_state("networkidle")


def shoot_crawl(url: str) -> None:
    """Keeps what a browser shows of the dashboard, once the plots have something to tell."""
    crawled = "least => +document.querySelectorAll('.tiles dd')[2].textContent > least"
    for file, size, dark in DASHBOARDS:
        with _opened(f"{url}/crawl", file, size, dark) as page:
            page.wait_for_function(crawled, arg=_CRAWLED, timeout=120_000)
            page.wait_for_timeout(200)


@contextmanager
def _opened(url: str, file: str, size: tuple[int, int], dark: bool) -> Iterator[Page]:
    """A page in a browser; what it shows at the end becomes an image."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(ARGUMENTS))
        page = browser.new_page(
            viewport={"width": size[0], "height": size[1]}, color_scheme="dark" if dark else "light"
        )
        page.goto(url)
        yield page
        IMAGES.mkdir(exist_ok=True)
        page.screenshot(path=IMAGES / file)
        browser.close()
    # 256 colours are all that a page of text has, in a third of the bytes.
    Image.open(IMAGES / file).quantize(256).save(IMAGES / file, optimize=True)


def main(arguments: list[str]) -> int:
    if arguments == ["--check"]:
        found = [document for document, _ in stale()]
        for document in found:
            print(f"{document.relative_to(ROOT)} is not up to date: make docs", file=sys.stderr)
        return 1 if found else 0
    if arguments:
        print(__doc__, file=sys.stderr)
        return 2
    for document, text in list(stale()):
        document.write_text(text)
        print(f"wrote {document.relative_to(ROOT)}", file=sys.stderr)
    take_screenshots()
    print(
        f"wrote {len(SCREENSHOTS) + len(DASHBOARDS)} screenshots to {IMAGES.relative_to(ROOT)}",
        file=sys.stderr,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
