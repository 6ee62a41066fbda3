"""crivello lab url through the real command, and the standard's parser against the web platform tests."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crivello._core import canonical_urls, parse_url
from crivello.errors import InvalidArgument
from tests import shell

DATA = Path(os.environ.get("CRIVELLO_DATA", Path(__file__).parent.parent / "../shared/data"))


def lab_url(*arguments: str | bytes, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    done = shell.run("lab", "url", *arguments, given=stdin)
    assert b"Traceback" not in done.stderr
    return done


def test_every_case_of_the_web_platform_tests() -> None:
    path = DATA / "url/urltestdata.json"
    if not path.exists():
        pytest.skip(f"no real data: {path} is absent; name its folder in CRIVELLO_DATA")
    cases = [case for case in json.loads(path.read_text()) if isinstance(case, dict)]
    wrong = []
    for case in cases:
        try:
            found = parse_url(case["input"], case["base"])
        except InvalidArgument:  # the base is no URL
            found = None
        if case.get("failure"):
            right = found is None
        else:
            expected = {name: case[name] for name in found or {} if name in case}
            right = found is not None and found | expected == found and "href" in expected
        if not right:
            wrong.append((case, found))
    assert len(cases) > 800
    assert wrong == []


@given(st.text(max_size=40), st.sampled_from([None, "http://a.example/b/c?d", "file:///C:/x", "x:/y/z"]))
def test_what_was_parsed_parses_to_itself(text: str, base: str | None) -> None:
    for prefix in ("", "http:", "https://", "file:", "x:"):
        found = parse_url(prefix + text, base)
        if found is not None:
            assert found["href"].isascii()
            assert parse_url(found["href"]) == found


@given(st.text("/?;&=.%abC#:@", max_size=30), st.lists(st.booleans(), min_size=4, max_size=4))
def test_cleaning_up_twice_changes_nothing(text: str, flags: list[bool]) -> None:
    session_ids, tracking, sort_query, index_pages = flags

    def cleaned(url: str) -> str | None:
        [found] = canonical_urls(
            [url],
            session_ids=session_ids,
            tracking=tracking,
            sort_query=sort_query,
            index_pages=index_pages,
        )
        return found

    once = cleaned("http://a.example/" + text)
    assert once is not None and cleaned(once) == once


def test_one_url() -> None:
    done = lab_url("HTTP://www.Example.CO.UK:80/a/../b?utm_source=x&q=1#top")
    assert done.returncode == 0
    lines = [line.split(maxsplit=1) for line in done.stdout.decode().splitlines()]
    assert [name for name, _ in lines] == ["canonical", "signature", "domain", "trap"]
    values = dict(lines)
    assert values["canonical"] == "http://www.example.co.uk/b?q=1"
    assert values["domain"] == "example.co.uk" and values["trap"] == "no"
    assert len(values["signature"]) == 16 and int(values["signature"], 16)


def test_flags_choose_the_clean_ups() -> None:
    url = "http://a.example/index.html;jsessionid=1?b=1&a=2&fbclid=3"

    def canonical(*flags: str) -> str:
        return str(json.loads(lab_url(url, "--json", *flags).stdout)["canonical"])

    assert canonical() == "http://a.example/index.html?b=1&a=2"
    assert canonical("--no-session-ids", "--no-tracking") == url
    assert canonical("--sort-query", "--index-pages") == "http://a.example/?a=2&b=1"


def test_a_relative_url_needs_a_base() -> None:
    assert b"https://a.example/c" in lab_url("../c", "--base", "https://a.example/b/d").stdout
    alone = lab_url("../c")
    assert alone.returncode == 1 and b"not a URL" in alone.stderr and alone.stdout == b""
    bad = lab_url("c", "--base", "nowhere")
    assert bad.returncode == 2 and bad.stderr.count(b"\n") == 1 and b"nowhere" in bad.stderr


def test_a_batch_gives_a_line_each() -> None:
    urls = b"http://a.example/x/x/x/x\n\nmailto:a@b\nhttp://\xc3\xa9.example\n"
    done = lab_url("--json", stdin=urls)
    assert done.returncode == 1
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["canonical"] for row in rows] == [
        "http://a.example/x/x/x/x",
        None,
        "http://xn--9ca.example/",
    ]
    assert rows[0]["trap"] == "its path repeats /x" and rows[2]["trap"] is None
    plain = lab_url(stdin=b"http://a.example\n")
    assert plain.returncode == 0 and plain.stdout.split(b"\t")[0] == b"http://a.example/"


def test_garbage_is_one_sentence() -> None:
    for done in (lab_url(b"\xff\xfe"), lab_url(stdin=b"\x80\x81\n"), lab_url("x", "--base", "")):
        assert done.returncode == 2 and done.stderr.count(b"\n") == 1, done
    assert lab_url("http://a.example/" + "x" * 5000).returncode == 1
