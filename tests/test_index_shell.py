"""crivello index, end to end: documents from files, deleting, rebuilding, merging, looking inside, and what goes wrong."""

from __future__ import annotations

import gzip
import json
import re
import signal
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest

from crivello import settings
from crivello.collection import Collection
from crivello.crawl import crawl
from crivello.index.jsonl import JsonLines
from crivello.index.update import Indexer
from crivello.lab.web import SampleWeb
from crivello.settings import Search as SearchSettings
from tests.shell import CRIVELLO
from tests.test_shell import complaint, crivello, wait_for

LINES = [
    {
        "id": 7,
        "url": "https://a.example/",
        "title": "First",
        "body": "some words",
        "headings": ["One", "Two"],
    },
    {"id": "second", "body": "other words", "language": "en", "anchors": "words of others"},
    {"title": "Words without a name"},
]

NAMELESS = "content:60ba7051f51bde83"
"""The last of them, which has neither a URL nor an id."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "documents.jsonl"
    path.write_text("\n".join(map(json.dumps, LINES)) + "\n\n")
    return path


@pytest.fixture
def folder(tmp_path: Path, file: Path) -> Path:
    """A collection made from a file."""
    folder = tmp_path / "collection"
    with Collection.write(folder, create=True) as collection:
        assert Indexer(collection).add(JsonLines(str(file))) == 3
    return folder


def json_of(*arguments: str | Path) -> dict[str, Any]:
    done = crivello(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    [line] = done.stdout.splitlines()
    decoded: dict[str, Any] = json.loads(line)
    return decoded


def found(folder: Path, query: str = "words") -> set[str]:
    unfolded = SearchSettings(collapse=-1, per_site=0)
    return {hit.url for hit in Collection(folder).searcher().search(query, top=1000, settings=unfolded)}


def segment_of(folder: Path) -> Path:
    [(name, _)] = Collection(folder).segments
    return folder / "index" / name


def test_documents_from_a_file_make_a_collection(tmp_path: Path, file: Path) -> None:
    folder = tmp_path / "new"
    added = json_of("index", folder, "--from", file)
    assert (added["added"], added["documents"], added["segments"]) == (3, 3, 1)
    assert found(folder) == {"https://a.example/", "second", NAMELESS}
    assert found(folder, "first") == {"https://a.example/"} and found(folder, "others") == {"second"}
    done = crivello("index", folder, "--from", file)
    assert done.returncode == 0 and done.stdout == ""
    assert re.search(r"added +3 +\n  in place of older ones +3 ", done.stderr)
    assert f"next: crivello search {folder} WORDS" in done.stderr
    assert len(found(folder)) == 3 and len(Collection(folder).segments) == 2


@pytest.mark.parametrize("packed", [False, True])
def test_documents_from_standard_input(tmp_path: Path, file: Path, packed: bool) -> None:
    data = file.read_bytes()
    done = subprocess.run(
        [CRIVELLO, "index", tmp_path / "c", "--from", "-", "--json"],
        input=gzip.compress(data) if packed else data,
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 0 and json.loads(done.stdout)["documents"] == 3


def test_a_compressed_file_and_one_that_is_cut(folder: Path, tmp_path: Path, file: Path) -> None:
    packed = tmp_path / "documents.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert json_of("index", folder, "--from", packed)["segments"] == 2
    packed.write_bytes(packed.read_bytes()[:-9])
    assert f"{packed} is not whole" in complaint("index", folder, "--from", packed, code=2)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"body": "cut', "line 3 is not JSON"),
        (b'{"body": 5}', "line 3: expected `str`, got `int`"),
        (b"[1]", "line 3: expected `object`"),
        (b'{"body": "\xff"}', "line 3 is not JSON"),
        (b'{"date": "last week"}', "line 3: the date 'last week' is neither a date like 2024-05-01"),
        (b'{"date": true}', "line 3: expected `int | float | str | null`, got `bool`"),
        (b'{"type": 5}', "line 3: expected `str"),
    ],
)
def test_a_wrong_line_is_named_and_changes_nothing(folder: Path, file: Path, line: bytes, said: str) -> None:
    before = Collection(folder).segments
    file.write_bytes(b'{"body": "new"}\n{"body": "newer"}\n' + line + b"\n")
    assert f"{file}, {said}" in complaint("index", folder, "--from", file, code=2)
    assert Collection(folder).segments == before and found(folder, "new OR newer") == set()
    assert list((folder / "index").iterdir()) == [segment_of(folder)]


def test_documents_without_a_name_replace_only_their_like(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    for name, first in (("a", "one"), ("b", "two")):
        lines = [{"body": f"words {first}"}, {"title": "Shared", "body": "words"}]
        (tmp_path / name).write_text("\n".join(map(json.dumps, lines)))
    added = json_of("index", folder, "--from", tmp_path / "a")
    assert (added["added"], added["replaced"], added["documents"]) == (2, 0, 2)
    added = json_of("index", folder, "--from", tmp_path / "b")
    assert (added["added"], added["replaced"], added["documents"]) == (2, 1, 3)
    assert len(found(folder)) == 3 and found(folder, "one") and found(folder, "two")
    # The order of fields and the white space between them are no part of the content.
    (tmp_path / "b").write_text('{"body":"words","title": "Shared"}')
    assert json_of("index", folder, "--from", tmp_path / "b")["replaced"] == 1


def test_what_looks_like_a_mistake_is_said_once(tmp_path: Path) -> None:
    file = tmp_path / "documents.jsonl"
    lines = [{"titel": "One", "body": "words"}, {}, {"titel": "Two", "body": "more words", "x": [1]}, {}]
    file.write_text("\n".join(map(json.dumps, lines)))
    done = crivello("index", tmp_path / "c", "--from", file)
    assert done.returncode == 0 and re.search(r"documents +2 ", done.stderr)
    assert done.stderr.splitlines()[:2] == [
        f"warning: {file} has fields that are not indexed: titel (2; did you mean title?), x (1)",
        f"warning: {file}: left out, without text, URL or id: lines 2, 4",
    ]


@pytest.mark.parametrize("indent", [None, 2])
def test_a_byte_order_mark_and_an_array_are_read(tmp_path: Path, file: Path, indent: int | None) -> None:
    marked = b"\xef\xbb\xbf"
    file.write_bytes(marked + file.read_bytes())
    assert json_of("index", tmp_path / "lines", "--from", file)["added"] == 3
    file.write_bytes(marked + json.dumps(LINES, indent=indent).encode())
    assert json_of("index", tmp_path / "array", "--from", file)["added"] == 3
    assert found(tmp_path / "array") == found(tmp_path / "lines")
    file.write_text(json.dumps([*LINES, 5], indent=indent))
    assert f"{file}, item 4: expected `object`" in complaint("index", tmp_path / "c", "--from", file, code=2)
    file.write_text(json.dumps(LINES, indent=indent) + "rest")
    said = complaint("index", tmp_path / "c", "--from", file, code=2)
    assert f"{file} is not a JSON array: " in said and "one JSON object a line" in said


def test_what_adds_nothing_leaves_no_collection(tmp_path: Path) -> None:
    file, new, made = tmp_path / "documents.jsonl", tmp_path / "new", tmp_path / "made"
    made.mkdir()
    for content in ("", "{}\n"):
        file.write_text(content)
        for folder in (new, made):
            done = crivello("index", folder, "--from", file)
            assert done.returncode == 1 and f"{file} has no documents" in done.stderr
    file.write_text('{"body": "words"}\n{"body')
    for folder in (new, made):
        assert "line 2 is not JSON" in complaint("index", folder, "--from", file, code=2)
    assert "is a folder" in complaint("index", new, "--from", made, code=2)
    assert "no-such-file" in complaint("index", new, "--from", tmp_path / "no-such-file", code=3)
    assert not new.exists() and list(made.iterdir()) == []


def test_deleting_and_merging(folder: Path) -> None:
    after = json_of("index", folder, "--delete", "second", "--delete", "https://a.example/")
    assert (after["documents"], after["segments"]) == (1, 2)
    assert found(folder) == {NAMELESS}
    merged = json_of("index", folder, "--merge")
    assert (merged["documents"], merged["segments"]) == (1, 1) and merged["bytes"] < after["bytes"]
    assert found(folder) == {NAMELESS}
    assert list((folder / "index").iterdir()) == [segment_of(folder)]


def test_deleting_what_is_not_there_is_said(folder: Path) -> None:
    done = crivello("index", folder, "--delete", "second", "--delete", "secnod", "--json")
    assert (done.returncode, json.loads(done.stdout)["deleted"]) == (0, 1)
    assert done.stderr == "warning: 1 of the 2 documents to delete is not in the index\n"
    done = crivello("index", folder, "--delete", "second")
    assert done.returncode == 1 and "1 of the 1 documents to delete is not" in done.stderr
    assert json_of("index", folder, "--delete", NAMELESS, "--delete", "https://a.example/")["documents"] == 0


def test_looking_inside(folder: Path) -> None:
    stats = json_of("index", folder, "--stats")
    assert (stats["documents"], stats["gone"], stats["collection"]) == (3, 0, str(folder))
    assert stats["zones"]["headings"]["words"] == 2 and set(stats["zones"]) == {
        *("title", "headings", "body", "url", "anchors")
    }
    assert stats["bytes"] == segment_of(folder).stat().st_size > sum(stats["sections"].values())
    assert [component["name"] for component in stats["components"]] == [
        *("pointers", "counts", "first positions", "position gaps")
    ]
    done = crivello("index", folder, "--stats")
    assert done.returncode == 0
    assert {"documents", "bytes", "postings", "pfor128", "entropy", "ranks"} <= set(done.stdout.split())


def test_codes_and_order_are_those_that_are_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "many.jsonl"
    file.write_text("".join(json.dumps({"id": f"d{n}", "body": f"words {n % 9}"}) + "\n" for n in range(300)))
    asked = ("--pointers", "delta", "--positions", "gamma", "--quantum", "64", "--order", "url")
    json_of("index", tmp_path / "c", "--from", file, *asked)
    [segment] = json_of("index", tmp_path / "c", "--stats")["segments"]
    assert segment["codes"] == ["delta", "pfor128", "gamma", "gamma"]
    toml = (tmp_path / "c" / "crivello.toml").read_text()
    assert "[index.codes]" in toml and 'pointers = "delta"' in toml and "quantum = 64" in toml
    environment = {"CRIVELLO_INDEX_CODES_QUANTUM": "8"}
    done = crivello("index", tmp_path / "c", environment=environment)
    assert done.returncode == 2 and "CRIVELLO_INDEX_CODES_QUANTUM: '8' is not allowed" in done.stderr
    assert "there is no code" in complaint("index", tmp_path / "c", "--counts", "morse", code=2)


def test_verifying(folder: Path) -> None:
    done = crivello("index", folder, "--verify", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["verified"] and "is whole" in done.stderr
    path = segment_of(folder)
    whole = path.read_bytes()
    path.write_bytes(whole[:40] + bytes([whole[40] ^ 1]) + whole[41:])
    said = complaint("index", folder, "--verify", code=3)
    assert f"{path} is damaged at byte" in said and "checksum" in said


def test_one_thing_at_a_time(folder: Path, tmp_path: Path) -> None:
    assert "--merge and --stats are two different things" in complaint(
        "index", folder, "--merge", "--stats", code=2
    )
    assert "--from and --delete" in complaint("index", folder, "--delete", "x", "--from", "y", code=2)
    assert "is not a collection" in complaint("index", tmp_path / "absent", "--delete", "x", code=3)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawled collection with an index."""
    folder = tmp_path_factory.mktemp("crawled") / "collection"
    flags = {"crawl": {"delay": 0.0, "scope": "any"}}
    loaded = settings.load(flags=flags, environment={})
    with (
        SampleWeb(hosts=4, pages_per_host=6, slow=0) as web,
        Collection.write(folder, settings=loaded, create=True) as collection,
    ):
        crawl(collection, web.seeds)
        assert collection.index().documents > 10
    return folder


def test_a_segment_of_an_older_format_asks_to_be_rebuilt(crawled: Path) -> None:
    everything = found(crawled, "NOT absentword")
    path = segment_of(crawled)
    header = b"CRVL" + b"SEGM" + struct.pack("<I", 2) + bytes(4)
    path.write_bytes(header + path.read_bytes()[len(header) :])
    for verb, *arguments in (["index"], ["index", "--verify"], ["search", "words"]):
        said = complaint(verb, crawled, *arguments, code=3)
        assert f"{path} has format version 2" in said and "--rebuild" in said.splitlines()[1]
    rebuilt = json_of("index", crawled, "--rebuild", "--merge", "--order", "bisection")
    assert rebuilt["added"] == rebuilt["documents"] == len(everything)
    assert found(crawled, "NOT absentword") == everything
    assert not path.exists() and len(Collection(crawled).segments) == 1
    assert json_of("index", crawled)["added"] == 0


def test_a_mistake_leaves_no_folder_and_no_setting(tmp_path: Path, file: Path) -> None:
    folder = tmp_path / "new"
    said = complaint("index", folder, "--from", file, "--positions", "minimal:1", code=2)
    assert "the bound of minimal is at least 2" in said
    assert "No such file" in complaint("index", folder, "--from", tmp_path / "absent.jsonl", code=3)
    assert not folder.exists()
    assert json_of("index", folder, "--from", file)["added"] == 3


def test_rebuilding_loses_no_document_that_is_nowhere_else(crawled: Path, file: Path) -> None:
    pages = found(crawled, "NOT absentword")
    assert json_of("index", crawled, "--from", file)["added"] == 3
    everything = found(crawled, "NOT absentword")
    assert "has 3 documents that are in the index only" in complaint("index", crawled, "--rebuild", code=2)
    assert found(crawled, "NOT absentword") == everything
    assert json_of("index", crawled, "--rebuild", "--from", file)["added"] == 3 + len(pages)
    assert found(crawled, "NOT absentword") == everything


def test_the_language_of_all_documents_can_be_set(tmp_path: Path, file: Path) -> None:
    for language, spoken in (("it", set()), ("en", {"second"})):
        folder = tmp_path / language
        json_of("index", folder, "--from", file, "--language", language)
        # A stem of English is the term only where the text was taken for English.
        assert found(folder, "anothers others") == spoken | {"second"}
        assert Collection(folder).search("word", correct=False).matches == (3 if language == "en" else 0)


def test_what_links_say_is_a_zone_of_the_page(crawled: Path) -> None:
    stats = json_of("index", crawled, "--stats")
    assert stats["zones"]["anchors"]["postings"] > 20
    assert json_of("index", crawled)["added"] == 0


def test_ctrl_c_leaves_what_was_committed(folder: Path) -> None:
    before = Collection(folder).segments
    process = subprocess.Popen(
        [CRIVELLO, "index", folder, "--from", "-", "--memory", "1M"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    for number in range(5000):
        process.stdin.write(json.dumps({"id": f"new{number}", "body": f"fresh {number} " * 50}) + "\n")
    process.stdin.flush()
    wait_for(folder / "index" / "segment-000002.seg.new", process)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=10)
    assert process.returncode == 130 and "Traceback" not in errors
    assert Collection(folder).segments == before and found(folder, "fresh") == set()
    assert list((folder / "index").iterdir()) == [segment_of(folder)]
    assert json_of("index", folder, "--merge")["documents"] == 3
