"""Completion of queries while they are typed: the API, the shell, and what becomes of updates."""

from __future__ import annotations

from pathlib import Path

import pytest

import crivello
from crivello.errors import InvalidArgument
from tests.test_shell import crivello as run

TITLES = ["The Fresnel lens", "Solar wind", "Solar wind and the aurora", "Città alta", "Solar cells"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with crivello.create(tmp_path / "notes") as notes:
        notes.add([{"id": number, "title": title, "body": "x"} for number, title in enumerate(TITLES)])
    return tmp_path / "notes"


def test_goes_on_from_any_word_and_mends_a_misspelt_one(folder: Path) -> None:
    notes = crivello.open(folder)
    assert notes.complete("solar w")[0] == "solar wind"
    assert notes.complete("fresnel") == ["the fresnel lens"]
    assert notes.complete("frensel l") == ["the fresnel lens"]
    assert notes.complete("citta") == ["città alta"]
    assert notes.complete("nowhere sol", top=1) == ["nowhere solar wind"]
    assert notes.complete('"solar w') == notes.complete("") == notes.complete("\x00\ud800") == []
    assert notes.complete("s", top=1) == ["solar wind"]


def test_documents_added_later_are_offered_and_merged(folder: Path) -> None:
    with crivello.open(folder, write=True) as notes:
        notes.add([{"id": 9, "title": "Lava tubes", "body": "y"}])
        assert notes.complete("lav") == ["lava tubes"]
        notes.index(merge=True)
        assert notes.complete("lav") == ["lava tubes"]
        assert notes.complete("solar w")[0] == "solar wind"


@pytest.mark.parametrize("partition", ["documents", "terms"])
def test_shards_complete_as_one_index(tmp_path: Path, partition: str) -> None:
    with crivello.create(tmp_path / "notes", index={"shards": 3, "partition": partition}) as notes:
        notes.add([{"id": number, "title": title, "body": "x"} for number, title in enumerate(TITLES)])
        assert notes.complete("solar w")[0] == "solar wind"
        assert notes.complete("fresnel") == ["the fresnel lens"]


def test_a_number_that_makes_no_sense_is_refused(folder: Path) -> None:
    with pytest.raises(InvalidArgument, match="from 1 to 100"):
        crivello.open(folder).complete("a", top=0)


def test_the_shell_prints_one_a_line(folder: Path) -> None:
    found = run("search", str(folder), "fresn", "--complete")
    assert (found.returncode, found.stdout) == (0, "the fresnel lens\n")
    assert run("search", str(folder), "fresn", "--complete", "--json").stdout == '["the fresnel lens"]\n'
    assert run("search", str(folder), "xyzzy", "--complete").returncode == 1
    assert run("search", str(folder), "--complete").returncode == 2
