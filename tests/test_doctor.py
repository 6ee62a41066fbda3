"""``crivello doctor DIR``: what is damaged is found where it is, and rebuilt from the archive and the journal."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from crivello import Collection
from crivello._core import Layout
from crivello.crawl import crawl
from crivello.doctor import Finding
from crivello.doctor.logs import entries
from crivello.graph.kept import Kept
from tests import pages_victim
from tests.many_hosts import ManyHosts
from tests.shell import says

ARCHIVE = Layout.archive(1)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection of 60 pages, indexed and ranked."""
    folder = tmp_path_factory.mktemp("doctor") / "c"
    with ManyHosts(3, 20, words=64) as web:  # as many as a fingerprint takes
        chosen = pages_victim.settings_of(str(web.write_hosts_file(folder.parent / "hosts")))
        Collection.write(folder, settings=chosen, create=True).close()
        # Less memory than a user may ask for, so that a few hosts take a run.
        small = msgspec.structs.replace(
            chosen,
            crawl=msgspec.structs.replace(chosen.crawl, sitemaps=False),
            store=msgspec.structs.replace(chosen.store, memory=2**13),
        )
        with Collection.write(folder, settings=small) as collection:
            crawl(collection, web.seeds)
    with Collection.write(folder) as collection:
        collection.index(progress=False)
        collection.rank(progress=False)
    return folder


@pytest.fixture
def folder(crawled: Path, tmp_path: Path) -> Path:
    return shutil.copytree(crawled, tmp_path / "c")


def findings(folder: Path) -> list[Finding]:
    return [found for found in Collection(folder).check(progress=False) if found.severity != "note"]


def crivello(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return says(*arguments)


def flip(file: Path, offset: int) -> None:
    content = bytearray(file.read_bytes())
    content[offset] ^= 0x40
    file.write_bytes(content)


def run_of(start: str) -> Callable[[Path], str]:
    """The name of a run of a map."""
    return lambda folder: next(name for name in Collection(folder).files if name.startswith(start))


RUNS = ("table/cells-", "table/pages-", "table/firsts-", "table/near-", "frontier/hosts-")


def ranks(folder: Path) -> str:
    return Kept.of(Collection(folder).state("graph")).ranks_in_use() or ""


def segment(folder: Path) -> str:
    return Layout.segment(Collection(folder).segments[0][0])


def pages(folder: Path) -> dict[str, tuple[int | None, str | None, str]]:
    return {row.url: (row.status, row.digest, row.title) for row in Collection(folder).pages()}


def test_a_sound_collection_has_no_findings(folder: Path) -> None:
    assert list(Collection(folder).check(progress=False)) == []
    told = crivello("doctor", folder)
    assert told.returncode == 0 and "nothing is damaged" in told.stdout
    assert Collection(folder).repair(progress=False).done == []


def test_what_was_not_committed_is_a_note_and_is_cut(folder: Path) -> None:
    with (folder / ARCHIVE).open("ab") as file:
        file.write(b"half a record")
    [note] = Collection(folder).check(progress=False)
    assert (note.file, note.offset, note.severity) == (ARCHIVE, Collection(folder).length(ARCHIVE), "note")
    Collection(folder).repair(progress=False)
    assert (folder / ARCHIVE).stat().st_size == Collection(folder).length(ARCHIVE)


@pytest.mark.parametrize(
    ("name", "part"), [*((run_of(start), "table") for start in RUNS), (segment, "index"), (ranks, "graph")]
)
@pytest.mark.parametrize("how", ["flipped", "cut", "missing"])
def test_what_follows_from_the_truth_is_rebuilt(
    folder: Path, name: Callable[[Path], str], part: str, how: str
) -> None:
    before, damaged = pages(folder), folder / name(folder)
    if how == "flipped":
        flip(damaged, damaged.stat().st_size // 3)
    elif how == "cut":
        damaged.write_bytes(damaged.read_bytes()[:-7])
    else:
        damaged.unlink()
    found = findings(folder)
    assert part in {finding.part for finding in found}
    if how == "cut":
        assert any(finding.offset == damaged.stat().st_size for finding in found)
    repaired = Collection(folder).repair(progress=False)
    assert repaired.done and repaired.remaining == []
    assert findings(folder) == []
    assert pages(folder) == before
    assert Collection(folder).count("*") == len(before)
    assert ranks(folder)
    assert how == "missing" or any((folder / "lost").rglob(damaged.name))


@pytest.mark.parametrize("damage", [1, 20, 59])
def test_rows_come_back_from_the_archive(folder: Path, damage: int) -> None:
    before = pages(folder)
    journal = folder / Layout.ROWS
    hurt = list(entries(journal, Collection(folder).length(Layout.ROWS)))[damage]
    flip(journal, hurt.offset + 40)
    assert any(found.part == "journal" and found.offset == hurt.offset for found in findings(folder))
    repaired = Collection(folder).repair(progress=False)
    assert repaired.remaining == []
    assert "made 1 from the archive" in " ".join(repaired.done)
    assert pages(folder) == before
    assert Collection(folder).count("*") == len(before)


def test_a_journal_is_rebuilt_from_the_archive_alone(folder: Path) -> None:
    before = pages(folder)
    (folder / Layout.ROWS).unlink()
    assert Collection(folder).repair(progress=False).remaining == []
    assert pages(folder) == before


def test_a_lost_record_costs_its_page_alone(folder: Path) -> None:
    row = list(Collection(folder).pages())[30]
    flip(folder / ARCHIVE, row.offset + row.length // 2)
    [found] = findings(folder)
    assert (found.part, found.offset, found.severity) == ("archive", row.offset, "lost")
    assert row.url in found.what
    told = crivello("doctor", folder, "--json")
    assert told.returncode == 3 and json.loads(told.stdout) == found.to_dict()
    before = pages(folder)
    assert Collection(folder).repair(progress=False).remaining == []
    after = Collection(folder).page(row.url)
    assert after is not None and (after.length, after.etag, after.detail) == (0, None, "the record was lost")
    assert pages(folder).keys() == before.keys()
    assert Collection(folder).count("*") == len(before) - 1


def test_an_archive_that_ends_early_costs_what_is_missing(folder: Path) -> None:
    rows = list(Collection(folder).pages())
    last = max(rows, key=lambda row: row.offset)
    content = (folder / ARCHIVE).read_bytes()
    (folder / ARCHIVE).write_bytes(content[: last.offset + 5])
    assert Collection(folder).repair(progress=False).remaining == []
    assert (folder / ARCHIVE).read_bytes() == content[: last.offset]
    assert Collection(folder).count("*") == len(rows) - 1


@pytest.mark.parametrize("name", [Layout.LINKS, Layout.ANCHORS, "log/decisions-00001.jsonl"])
def test_a_log_keeps_what_reads(folder: Path, name: str) -> None:
    file = folder / name
    content = file.read_bytes()
    at = content.index(b"\n", len(content) // 2) + 1 if name.startswith("log/") else 24
    flip(file, at)
    [found] = [found for found in findings(folder) if found.file == name and found.severity == "lost"]
    assert found.offset == at or found.offset == 16
    assert Collection(folder).repair(progress=False).remaining == []
    assert len(file.read_bytes()) < len(content)
    assert (folder / "lost").is_dir()


def test_a_folder_in_use_is_not_examined(folder: Path) -> None:
    with Collection.write(folder):
        told = crivello("doctor", folder)
    assert told.returncode == 3 and "is being written to" in told.stderr


def test_repair_needs_a_folder(tmp_path: Path) -> None:
    assert crivello("doctor", "--repair").returncode == 2
    told = crivello("doctor", tmp_path)
    assert told.returncode == 3
