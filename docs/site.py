"""The documentation as a site, in ``site/``, with search by Crivello itself.

    python -m docs.site              builds it, and the collection that searches it, site/crivello-search
    python -m docs.site --serve      serves both at http://127.0.0.1:8000

Zensical turns the pages of docs/ into HTML; nothing is loaded from elsewhere. The search box of every page is a form, which
asks ``/search`` of the same server: Crivello's own page, over a collection into which the built pages are imported. Elsewhere, serve
``site/`` as files and ``crivello serve site/crivello-search`` behind ``/search``, ``/cached``, ``/api`` and ``/static``.
``CRIVELLO_DOCS_URL`` is the address of the site, ``CRIVELLO_DOCS_SOURCE`` that of the sources, to which links into the code go; without it they are text.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import crivello

ROOT = Path(__file__).parent.parent
SITE = ROOT / "site"
COLLECTION = "crivello-search"
ADDRESS = "http://127.0.0.1:8000/"

# As on the disk, except for the first page of the site and the address of the search.
RENAMED = {"index.md": "indexing.md", "search.md": "searching.md"}
OUTSIDE = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
NAVIGATION = {
    "Tutorial": ["README.md"],
    "How to": [
        "install.md",
        "operate.md",
        "archives.md",
        "feeds.md",
        "stream.md",
        "evaluate.md",
        "extending.md",
        "cluster.md",
        "CONTRIBUTING.md",
    ],
    "Reference": [
        "shell.md",
        "settings.md",
        "web.md",
        "dashboard.md",
        "api.md",
        "doors.md",
        "collection.md",
        "formats.md",
        "lab.md",
        "CHANGELOG.md",
    ],
    "Explanations": [
        "architecture.md",
        "crawl.md",
        "sieve.md",
        "filters.md",
        "parse.md",
        "duplicates.md",
        "store.md",
        "refresh.md",
        "analysis.md",
        "index.md",
        "codes.md",
        "dictionaries.md",
        "search.md",
        "graph.md",
        "centrality.md",
        "shards.md",
        "assignment.md",
        "exchange.md",
        "cluster-model.md",
    ],
}
_LINK = re.compile(r"(!?)\[([^]\n]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
_SEARCH = """\
<form class="find" action="/search" role="search">
  <input type="search" name="q" aria-label="Search the documentation" placeholder="Search" maxlength="1000">
</form>
"""
# The colours of the search page.
_STYLE = """\
.md-header__button[for=__search] { display: none }
:root, [data-md-color-scheme] {
  --md-primary-fg-color: #0b6a5c; --md-accent-fg-color: #0b6a5c; --md-typeset-a-color: #0b6a5c;
}
[data-md-color-scheme=slate] {
  --md-primary-fg-color: #6fd1bd; --md-accent-fg-color: #6fd1bd; --md-typeset-a-color: #6fd1bd;
}
.find { flex: 0 1 16rem; min-width: 6rem; margin-left: .6rem }
.find input {
  width: 100%; padding: .35rem .8rem; border: 1px solid var(--md-default-fg-color--lighter); border-radius: 1rem;
  background: var(--md-default-bg-color); color: var(--md-default-fg-color); font: inherit; font-size: .75rem;
}
.find input::placeholder { color: var(--md-default-fg-color--light); opacity: 1 }
.find input:focus-visible { outline: 2px solid var(--md-accent-fg-color); outline-offset: 1px }
"""


def published(page: str) -> str:
    """The name of a page on the site."""
    return OUTSIDE.get(page) or RENAMED.get(page, page)


def translated(text: str, folder: str) -> str:
    """A page of a folder with its links as they are on the site; those into the code go to its sources or become text."""
    source = os.environ.get("CRIVELLO_DOCS_SOURCE", "")

    def link(found: re.Match[str]) -> str:
        image, label, target, part = found.groups()
        if re.match(r"[a-z]+:", target):
            return found[0]
        path = os.path.normpath(Path(folder, target))
        inside = path.removeprefix("docs/")
        if path in OUTSIDE or (path.startswith("docs/") and not path.endswith((".yaml", ".py"))):
            return f"{image}[{label}]({published(path if path in OUTSIDE else inside)}{part or ''})"
        return f"[{label}]({source.rstrip('/')}/{path})" if source else label

    return _LINK.sub(link, text)


def write_sources(folder: Path) -> None:
    """Writes the pages and the settings from which the site is built."""
    pages = folder / "docs"
    pages.mkdir()
    shutil.copytree(ROOT / "docs" / "images", pages / "images")
    shutil.copy(ROOT / "python/crivello/web/static/logo.svg", pages / "images" / "logo.svg")
    (pages / "site.css").write_text(_STYLE)
    for page in [page for section in NAVIGATION.values() for page in section]:
        where = "" if page in OUTSIDE else "docs"
        (pages / published(page)).write_text(translated((ROOT / where / page).read_text(), where))
    (folder / "overrides" / "partials").mkdir(parents=True)
    (folder / "overrides" / "partials" / "search.html").write_text(_SEARCH)
    sections = ", ".join(
        f'{{ "{name}" = [{", ".join(chr(34) + published(page) + chr(34) for page in section)}] }}'
        for name, section in NAVIGATION.items()
    )
    (folder / "zensical.toml").write_text(f"""\
[project]
site_name = "Crivello"
site_description = "A web search engine in a box"
site_url = "{os.environ.get("CRIVELLO_DOCS_URL", ADDRESS)}"
nav = [{sections}]
extra_css = ["site.css"]

[project.theme]
custom_dir = "overrides"
logo = "images/logo.svg"
favicon = "images/logo.svg"
language = "en"
font = false
features = ["content.code.copy", "navigation.sections", "navigation.top", "navigation.footer"]

[[project.theme.palette]]
media = "(prefers-color-scheme: light)"
scheme = "default"
toggle.icon = "lucide/sun"
toggle.name = "Dark"

[[project.theme.palette]]
media = "(prefers-color-scheme: dark)"
scheme = "slate"
toggle.icon = "lucide/moon"
toggle.name = "Light"
""")


def build(site: Path = SITE) -> Path:
    """Builds the site and its collection; returns its folder."""
    with tempfile.TemporaryDirectory(prefix="crivello-site-") as temporary:
        folder = Path(temporary)
        write_sources(folder)
        program = Path(sys.executable).with_name("zensical")
        done = subprocess.run([program, "build", "--clean"], cwd=folder, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"docs: zensical failed: {done.stdout}{done.stderr}")
        # What its own search would load.
        (folder / "site" / "search.json").unlink(missing_ok=True)
        shutil.rmtree(site, ignore_errors=True)
        shutil.copytree(folder / "site", site)
    index(site)
    return site


def index(site: Path) -> None:
    """Imports the pages of a built site into its collection, and makes them searchable."""
    address = os.environ.get("CRIVELLO_DOCS_URL", ADDRESS)
    with tempfile.TemporaryDirectory(prefix="crivello-site-") as temporary:
        pages = Path(temporary, "pages")
        shutil.copytree(
            site, pages, ignore=shutil.ignore_patterns("assets", "404.html", "*.xml", "images", "*.css")
        )
        made = Path(temporary, COLLECTION)
        with crivello.create(made) as collection:
            collection.import_(pages, base=address, progress=False)
            collection.index(progress=False)
            collection.rank(progress=False)
        shutil.copytree(made, site / COLLECTION)


def serve(site: Path, port: int) -> None:
    """Serves the site, and the search of it, until Ctrl-C."""
    import uvicorn
    from starlette.routing import Mount
    from starlette.staticfiles import StaticFiles

    from crivello.web import create_app

    class Files(StaticFiles):
        """The files of the site, whose scripts are its own; the collection is not among them."""

        async def get_response(self, path: str, scope: dict[str, object]) -> object:  # type: ignore[override]
            if Path(path).parts[:1] == (COLLECTION,):
                path = "404.html"
            response = await super().get_response(path, scope)
            response.headers["Content-Security-Policy"] = "default-src 'self' 'unsafe-inline' data:"
            return response

    app = create_app(crivello.open(site / COLLECTION))
    app.router.routes[:] = [route for route in app.router.routes if getattr(route, "path", "") != "/"]
    app.router.routes.append(Mount("/", Files(directory=site, html=True)))
    print(f"the documentation is at http://127.0.0.1:{port} (Ctrl-C ends it)", file=sys.stderr)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning", lifespan="off")


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--serve"]):
        print(__doc__, file=sys.stderr)
        return 2
    if arguments:
        serve(SITE if SITE.exists() else build(), 8000)
    else:
        print(f"wrote {build().relative_to(ROOT)}/", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
