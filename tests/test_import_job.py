"""Importing with many workers: the same rows, pages and links as without them, whatever runs the tasks."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import duckdb
import pytest
import zstandard

from crivello import Collection
from crivello.archives import Imported, job
from crivello.archives.importing import identity_of
from crivello.cluster import engine
from crivello.cluster.jobs import RayMap
from crivello.errors import InvalidArgument
from tests.archived import other, real, response, revisit
from tests.small_web import words
from tests.test_import import page, write
from tests.test_shell import crivello

URL = "http://a.example/"
PLACES = {f"{of}{what}" for of in ("", "text_", "visit_") for what in ("file", "offset", "length")}


def files(folder: Path) -> list[Path]:
    """Files of all kinds, in which versions, copies and revisits of pages are in other files than the first."""
    same = page("Same", text=words(80))
    first = write(
        folder / "first.warc.gz",
        other("warcinfo", "", b"software: x\r\n"),
        response(URL, page("First", "/b", "https://elsewhere.example/")),
        other("request", URL, b"GET / HTTP/1.1\r\n\r\n"),
        response(f"{URL}b", same),
        response(f"{URL}r", "", status=301, head="Location: /b\r\n"),
        response(f"{URL}gone", "gone", status=404),
        response(f"{URL}logo.png", b"\x89PNG", head="Content-Type: image/png\r\n"),
        response(f"{URL}robots.txt", "User-agent: *", head="Content-Type: text/plain\r\n"),
        other("response", "dns:a.example", b"x", {"Content-Type": "text/dns"}),
        other("conversion", f"{URL}text", words(60).encode(), {"Content-Type": "text/plain"}),
    )
    damaged = bytearray(response(f"{URL}damaged", page("Damaged")))
    damaged[len(damaged) // 2] ^= 0xFF
    second = write(
        folder / "second.warc.gz",
        bytes(damaged),
        response(f"{URL}c", same),
        response(URL, page("Newer"), date="2024-06-01T12:00:00Z"),
        revisit(f"{URL}b", f"{URL}b", "2024-06-02T12:00:00Z"),
        revisit(f"{URL}other", "http://never.example/", "2024-06-02T12:00:00Z"),
    )
    packed = folder / "packed.warc.zst"
    packed.write_bytes(
        zstandard.ZstdCompressor().compress(gzip.decompress(response(f"{URL}z", page("Packed", "/b"))))
    )
    shared = folder / "shared.warc.gz"
    shared.write_bytes(
        gzip.compress(b"".join(gzip.decompress(response(f"{URL}s{at}", page(f"S{at}"))) for at in range(3)))
    )
    lines = folder / "pages.jsonl"
    told: list[dict[str, Any]] = [
        {"url": f"{URL}json", "html": same, "date": "2024-05-01T12:00:00Z"},
        {"url": f"{URL}only", "text": words(70, "only"), "date": "2024-05-01T12:00:00Z"},
        {"url": URL, "html": page("Oldest"), "date": "2020-05-01T12:00:00Z"},
        {
            "url": f"{URL}answer",
            "html": "x",
            "status": 500,
            "headers": {"X": "y"},
            "date": "2024-05-01T12:00:00Z",
        },
    ]
    lines.write_text("".join(json.dumps(one) + "\n" for one in told))
    parquet = folder / "pages.parquet"
    duckdb.sql(f"COPY (SELECT '{URL}q' AS url, '{same}' AS html, 0 AS date) TO '{parquet}' (FORMAT parquet)")
    mirror = folder / "mirror"
    (mirror / "sub").mkdir(parents=True)
    for name in ("index.html", "sub/one.html"):
        (mirror / name).write_text(page(name.replace("/", " ")))
        os.utime(mirror / name, (1_700_000_000, 1_700_000_000))
    seeds = folder / "seeds.txt"
    seeds.write_text("https://seed.example/\n")
    return [first, first, lines, second, packed, shared, seeds, parquet, mirror]


def rows(folder: Path) -> list[Any]:
    """All that is told of every version of every page, in order, but where it lies in the archive."""
    collection = Collection(folder)
    found = []
    for some, _ in collection.table.batches(0):
        for row in some:
            values = {name: getattr(row, name) for name in dir(row) if name not in PLACES and name[0] != "_"}
            told = {name: value for name, value in values.items() if not callable(value)}
            text = (collection.text(row), collection.links(row)) if row.digest else None
            found.append((told, text))
    return found


def figures(imported: Imported) -> dict[str, Any]:
    return {name: value for name, value in imported.to_dict().items() if name != "seconds"}


def importing(folder: Path, named: list[Path], **options: Any) -> tuple[dict[str, Any], list[Any]]:
    with Collection.write(folder, create=True) as collection:
        told = figures(collection.import_(named, progress=False, **options))
    assert not list(folder.glob("crivello-import-*"))
    return told, rows(folder)


def test_workers_change_nothing(ray: Any, tmp_path: Path) -> None:
    del ray
    named = files(tmp_path)
    base = {"base": "https://mirror.example/"}
    told, wanted = importing(tmp_path / "one", named, **base)
    assert told["records"]["damaged"] and told["unresolved"] and told["notes"] and told["seeds"] == 1
    assert told["records"]["revisits"] == 1 and told["files_imported_before"] == 1 and len(wanted) > 15
    assert importing(tmp_path / "many", named, **base, cluster="local") == (told, wanted)
    # Nothing is new; and what one run has imported the other knows.
    for more in ({}, {"cluster": "local"}):
        again, rows_again = importing(tmp_path / "many", named, **base, **more)
        assert again["pages"] == 0 and again["files_imported_before"] == 8 and rows_again == wanted


def test_real_archives_are_read_by_workers(ray: Any, tmp_path: Path) -> None:
    del ray
    named = [real("iana.warc.gz"), real("whirlwind.warc.gz"), real("iana.cdxj")]
    told, wanted = importing(tmp_path / "one", named)
    assert told["records"]["revisits"] > 100 and len(wanted) > 100
    assert importing(tmp_path / "many", named, cluster="local") == (told, wanted)


def task_of(file: Path, target: Path, limit: int = 1 << 20) -> job.Read:
    return job.Read(file.name, str(file), identity_of(file), limit, "", str(target))


def dies_once(task: job.Read) -> job.Found:
    """A task whose worker is killed after its work, at the first attempt."""
    mark = Path(f"{task.target}.attempted")
    found = job.read(task)
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return found


def test_a_killed_worker_leaves_what_one_attempt_leaves(ray: Any, tmp_path: Path) -> None:
    first, _, lines, *_ = files(tmp_path)
    results = RayMap(ray, None).ordered(
        dies_once, [task_of(first, tmp_path / "killed"), task_of(lines, tmp_path / "lines")]
    )
    assert all(found.is_whole and not found.damaged for found in results)
    assert {file.name for file in tmp_path.glob("*.attempted")} == {"killed.attempted", "lines.attempted"}
    for file, name in ((first, "killed"), (lines, "lines")):
        job.read(task_of(file, tmp_path / "once"))
        for part in ("records.warc", "pages"):
            assert (tmp_path / name / part).read_bytes() == (tmp_path / "once" / part).read_bytes()
        shutil.rmtree(tmp_path / "once")


def test_what_workers_do_not_read(tmp_path: Path) -> None:
    """Archives with a record that is too large, and indexes of captures; they leave nothing."""
    large = write(tmp_path / "large.warc.gz", response(URL, page("Large", text=words(500))))
    assert not job.read(task_of(large, tmp_path / "target", limit=1000)).is_whole
    assert job.read(task_of(large, tmp_path / "whole")).is_whole
    index = write(tmp_path / "a.cdxj", b'example,a)/ 2024 {"filename": "large.warc.gz", "offset": "0"}\n')
    assert not job.read(task_of(index, tmp_path / "target")).is_whole
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.cdxj", "large.warc.gz", "whole"]
    other_file = task_of(large, tmp_path / "target")
    large.write_bytes(b"another")
    with pytest.raises(InvalidArgument, match=r"large\.warc\.gz is missing or another file"):
        job.read(other_file)


def test_errors_are_one_sentence(ray: Any, tmp_path: Path) -> None:
    good, broken = tmp_path / "good.jsonl", tmp_path / "broken.jsonl"
    good.write_text(json.dumps({"url": URL, "html": page("Good")}) + "\n")
    broken.write_text('{"url": "http://b.example/", "html": "x"}\n{"url"\n')
    address = engine.address_of(ray)
    refused = crivello("import", tmp_path / "c", good, "--cluster", "127.0.0.1:9")
    assert refused.returncode == 3 and "there is no Ray cluster at 127.0.0.1:9" in refused.stderr
    assert not (tmp_path / "c").exists()
    done = crivello("import", tmp_path / "c", good, broken, "--cluster", address)
    assert done.returncode == 2 and f"{broken}, line 2 is not JSON" in done.stderr
    assert "Traceback" not in done.stderr
    # What came before it is there, and the same command goes on.
    assert [row.url for row in Collection(tmp_path / "c").pages()] == [URL]
    broken.write_text('{"url": "http://b.example/", "html": "x"}\n')
    done = crivello("import", tmp_path / "c", good, broken, "--cluster", address, "--json")
    told = json.loads(done.stdout)
    assert (told["files"], told["files_imported_before"], told["pages"]) == (1, 1, 1)
    with (
        Collection.write(tmp_path / "c") as collection,
        pytest.raises(InvalidArgument, match="standard input"),
    ):
        collection.import_(["-"], cluster="local", progress=False)
