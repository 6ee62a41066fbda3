"""Which links come first: the server's log has them in the order that the priority asks for."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from crivello.errors import InvalidArgument
from tests.crawling import command
from tests.small_web import Page, SmallWeb, links, words

DEEP = "/x/y/z"
PATHS = [DEEP, "/first-come", "/x/lamps?all", "/lantern-oil", "/x/q"]


def site(paths: list[str], **texts: str) -> dict[str, Page]:
    pages: dict[str, Page] = {"/": links(*paths)}
    return (
        pages
        | {path: f"<p>{words(20, path.strip('/'))}" for path in paths}
        | {f"/{name}": text for name, text in texts.items()}
    )


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({}, PATHS),
        ({"visit": "depth-first"}, PATHS[::-1]),
        ({"priority": "short"}, ["/first-come", "/lantern-oil", "/x/q", DEEP, "/x/lamps?all"]),
        (
            {"priority": "keywords", "keywords": "oil lamp"},
            ["/x/lamps?all", "/lantern-oil", *PATHS[:2], "/x/q"],
        ),
        ({"priority": "keywords", "keywords": "FIRST"}, ["/first-come", DEEP, *PATHS[2:]]),
    ],
    ids=["breadth", "depth first", "short", "keywords", "keywords in capitals"],
)
def test_links_come_in_the_order_of_the_priority(
    chosen: dict[str, object], expected: list[str], tmp_path: Path
) -> None:
    with SmallWeb({"a.test": site(PATHS)}) as web:
        web.crawl(tmp_path / "c", "a.test", **chosen)
        paths = web.paths("a.test")[1:]
        assert paths == expected


def test_keywords_count_in_the_words_of_a_link(tmp_path: Path) -> None:
    home = "<a href=/a>This</a> <a href=/b>that</a> <a href=/c>about a Lantern</a>"
    with SmallWeb({"a.test": {"/": home}}) as web:
        web.crawl(tmp_path / "c", "a.test", priority="keywords", keywords="lantern")
        assert web.paths("a.test") == ["/", "/c", "/a", "/b"]


def test_other_sites_first(tmp_path: Path) -> None:
    hosts: dict[str, dict[str, Page]] = {"a.test": site(["/1", "/2"]), "b.test": site([]), "c.test": site([])}
    with SmallWeb(hosts) as web:
        hosts["a.test"]["/"] = links("/1", "/2", web.url("b.test"), web.url("c.test"))
        web.crawl(tmp_path / "c", "a.test", scope="any", priority="other-sites", connections=1)
        asked = [(each.host, each.path) for each in web.log if each.path != "/robots.txt"]
        assert asked[0] == ("a.test", "/") and {host for host, _ in asked[3:]} == {"a.test"}


def test_focused_follows_pages_about_the_keywords(tmp_path: Path) -> None:
    pages: dict[str, Page] = {
        "/": links("/plain", "/topical"),
        "/plain": links("/p1", "/p2", "/p3", text=words(60)),
        "/topical": links("/t1", "/t2", text=words(60, "glow") + " lantern" * 5),
    }
    with SmallWeb({"a.test": pages}) as web:
        # The rest is long enough for a page to be stored before the next one is chosen.
        web.crawl(tmp_path / "c", "a.test", priority="focused", keywords="lantern", delay=0.5)
        assert web.paths("a.test") == ["/", "/plain", "/topical", "/t1", "/t2", "/p1", "/p2", "/p3"]


# --- classes of one's own -----------------------------------------------------------------------------------

MODULE = """
from crivello.crawl import Priority

class Backwards(Priority):
    def rate(self, page, links, anchors):
        assert set(page) == {"url", "depth", "title", "text", "language"} and len(links) == len(anchors)
        return [7 - number for number in range(len(links))]

class Wild(Priority):
    def rate(self, page, links, anchors):
        return [-5 if "q" in link else 99.5 for link in links]

class Named(Priority):
    def __init__(self, keywords):
        self.keywords = keywords

    def rate(self, page, links, anchors):
        return [0 if any(word in link for word in self.keywords) else 1 for link in links]

class NeedsMore(Backwards):
    def __init__(self, keywords, more):
        pass

class CannotBeMade(Backwards):
    def __init__(self, keywords):
        raise ValueError("not today")

class NoPriority:
    def __init__(self, keywords):
        pass
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a module of somebody's own, which can be imported."""
    (tmp_path / "own_priorities.py").write_text(MODULE)
    (tmp_path / "broken_priorities.py").write_text("class Broken(:\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    return tmp_path


@pytest.mark.parametrize(("name", "expected"), [("Backwards", PATHS[::-1]), ("Wild", ["/x/q", *PATHS[:-1]])])
def test_a_class_of_ones_own_decides(name: str, expected: list[str], own: Path) -> None:
    with SmallWeb({"a.test": site(PATHS)}) as web:
        web.crawl(own / "c", "a.test", priority=f"own_priorities:{name}")
        assert web.paths("a.test") == ["/", *expected]


def by_command(web: SmallWeb, folder: Path, priority: str) -> subprocess.CompletedProcess[str]:
    """Crawls with a priority by the command, in a folder."""
    hosts_file = web.write_hosts_file(folder / "hosts")
    flags = ("--delay", 0, "--hosts-file", hosts_file, "--priority", priority)
    arguments = command(folder / "c", [web.url("a.test")], *flags)
    return subprocess.run(arguments, capture_output=True, text=True, timeout=60, cwd=folder)


@pytest.mark.parametrize(
    ("priority", "said"),
    [
        ("nonsense", "there is no priority nonsense"),
        ("no_such_module:Class", "No module named 'no_such_module'"),
        ("own_priorities:Missing", "has no attribute 'Missing'"),
        ("own_priorities:NeedsMore", "missing 1 required positional argument"),
        ("own_priorities:CannotBeMade", "not today"),
        ("broken_priorities:Broken", "broken_priorities"),
        ("own_priorities:NoPriority", "rate"),
    ],
)
def test_a_class_that_does_not_work_is_one_sentence(priority: str, said: str, own: Path) -> None:
    with SmallWeb({"a.test": site(PATHS)}) as web, pytest.raises(InvalidArgument, match=said) as raised:
        web.crawl(own / "c", "a.test", priority=priority)
    assert "\n" not in str(raised.value)


def test_the_command_says_so_without_a_traceback(own: Path) -> None:
    with SmallWeb({"a.test": site(PATHS)}) as web:
        done = by_command(web, own, "own_priorities:Missing")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done
    assert done.stderr.startswith("crivello: ")


def test_a_class_gets_the_keywords_if_it_takes_them(own: Path) -> None:
    with SmallWeb({"a.test": site(PATHS)}) as web:
        web.crawl(own / "c", "a.test", priority="own_priorities:Named", keywords="oil first")
        assert web.paths("a.test") == ["/", "/first-come", "/lantern-oil", PATHS[0], PATHS[2], "/x/q"]


def test_keywords_must_be_named(tmp_path: Path) -> None:
    with SmallWeb({"a.test": site(PATHS)}) as web, pytest.raises(InvalidArgument, match="needs keywords"):
        web.crawl(tmp_path / "c", "a.test", priority="focused")


def test_a_class_in_the_working_folder_is_found(tmp_path: Path) -> None:
    (tmp_path / "nearby_priorities.py").write_text(MODULE)
    with SmallWeb({"a.test": site(PATHS)}) as web:
        done = by_command(web, tmp_path, "nearby_priorities:Backwards")
        assert done.returncode == 0, done.stderr
        assert web.paths("a.test") == ["/", *PATHS[::-1]]
