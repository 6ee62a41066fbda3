"""crivello lab robots through the real command, and the rules against protego where both define them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from protego import Protego

from crivello._core import Robots
from tests import shell

RULES = """# rules
User-agent: *
Disallow: /private/
Allow: /private/open
Crawl-delay: 2

User-agent: Crivello
Disallow: /secret
Sitemap: https://a.example/sitemap.xml
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "robots.txt"
    path.write_text(RULES)
    return path


def lab_robots(*arguments: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    done = shell.run("lab", "robots", *arguments, given=stdin)
    assert b"Traceback" not in done.stderr
    return done


def test_the_exit_code_is_the_verdict(file: Path) -> None:
    for agent, url, code, reason in [
        ("other", "https://a.example/private/x", 1, "line 3: Disallow: /private/"),
        ("other", "https://a.example/private/open", 0, "line 4: Allow: /private/open"),
        ("other", "/", 0, "no rule matches"),
        ("crivello/1.0 (+https://a.example)", "/private/", 0, "no rule matches"),
        ("CRIVELLO", "/secrets", 1, "line 8: Disallow: /secret"),
    ]:
        done = lab_robots(file, "--agent", agent, "--url", url)
        verdict = "refused" if code else "allowed"
        assert (done.returncode, done.stdout.decode()) == (code, f"{verdict}\t{url}\t{reason}\n")


def test_json(file: Path) -> None:
    done = lab_robots(file, "--agent", "other", "--url", "/private/", "--json")
    assert json.loads(done.stdout) == {
        "url": "/private/",
        "valid": True,
        "allowed": False,
        "line": 3,
        "rule": "Disallow: /private/",
        "crawl_delay": 2.0,
    }


def test_the_file_or_the_urls_from_standard_input(file: Path) -> None:
    done = lab_robots(file, stdin=b"/a\nhttps://a.example/secret\n\nmailto:a@b\n")
    assert done.returncode == 1
    assert [line.split(b"\t")[0] for line in done.stdout.splitlines()] == [b"allowed", b"refused", b"refused"]
    assert lab_robots(file, stdin=b"/a\n/b\n").returncode == 0
    assert lab_robots("-", "--url", "/secret", stdin=RULES.encode()).returncode == 1
    both = lab_robots("-", stdin=b"/a\n")
    assert both.returncode == 2 and both.stdout == b"" and b"cannot be both" in both.stderr


def test_errors_are_one_sentence(file: Path, tmp_path: Path) -> None:
    missing = lab_robots(tmp_path / "none", "--url", "/")
    assert missing.returncode == 3 and missing.stderr.count(b"\n") == 1
    assert lab_robots(tmp_path, "--url", "/").returncode == 3
    assert lab_robots(file, "--url", "mailto:a@b").returncode == 2
    (tmp_path / "garbage").write_bytes(bytes(range(256)) * 10_000)
    assert lab_robots(tmp_path / "garbage", "--url", "/").returncode == 0


def test_the_native_rules_tell_the_rest() -> None:
    robots = Robots(RULES.encode(), "crivello")
    assert robots.sitemaps == ["https://a.example/sitemap.xml"]
    assert robots.crawl_delay is None and Robots(RULES.encode(), "x").crawl_delay == 2.0


# Where both define the behaviour: no literal $ or *, no index.html, names that do not begin each other, and no ?
# in a rule, which protego counts as the three octets of its escape when it looks for the longest match.
_PATHS = st.from_regex(r"\A/([ab]|/|%41|%7e|\.|\?|é){0,8}\Z")
_PATTERNS = st.from_regex(r"\A[/*]([ab*]|/|%41|%7E|\.|é){0,6}\$?\Z")
_RULES = st.tuples(st.sampled_from(["Allow", "disallow", "Disalow"]), _PATTERNS).map(": ".join)
_GROUPS = st.tuples(
    st.lists(st.sampled_from(["*", "one", "Two", "THREE"]), min_size=1, max_size=3),
    st.lists(_RULES, min_size=1),
)


@settings(deadline=None)
@given(st.lists(_GROUPS, max_size=4), st.sampled_from(["one", "two", "three", "four"]), st.lists(_PATHS))
def test_the_verdicts_are_those_of_protego(
    groups: list[tuple[list[str], list[str]]], agent: str, paths: list[str]
) -> None:
    lines = [line for names, rules in groups for line in [*(f"User-agent: {name}" for name in names), *rules]]
    text = "\n".join(lines)
    theirs, ours = Protego.parse(text), Robots(text.encode(), agent)
    urls = [f"http://a.example{path}" for path in paths]
    verdicts = [allowed for allowed, _, _ in ours.allows(urls)]
    assert verdicts == [theirs.can_fetch(url, agent) for url in urls], text
