"""The contract of the sieves, the same for every kind: each URL once, in first-seen order, whatever happens."""

from __future__ import annotations

import array
import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crivello._core import signature
from crivello.errors import CorruptFile, CrivelloError, InvalidArgument
from crivello.settings import settings_of
from crivello.sieve import KINDS, QUEUE, open_sieve
from tests.sieve_victim import Folder, Model, drain

kinds = pytest.mark.parametrize("kind", KINDS)
URLS = [f"https://www.example.org/page/{number}?ü" for number in range(3000)]


@kinds
@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.lists(st.integers(0, 60), max_size=30),
            st.sampled_from(["take", "take", "take ready", "flush", "commit", "commit", "crash"]),
        ),
        max_size=25,
    )
)
def test_gives_each_url_once_in_first_seen_order(
    kind: str, tmp_path_factory: pytest.TempPathFactory, steps: list[list[int] | str]
) -> None:
    folder = Folder(tmp_path_factory.mktemp("sieve"), kind, memory=1000, cache=8)
    sieve = folder.open()
    model, saved = Model(), Model()
    for number, step in enumerate(steps):
        if isinstance(step, list):
            urls = [URLS[value] for value in step]
            tags = [number] * len(urls)
            sieve.add(urls, tags)
            model.add(urls, tags)
        elif step == "take":
            entries = sieve.take(7)
            assert entries or not model.waiting()
            model.check_taken(entries)
        elif step == "take ready":
            model.check_taken(sieve.take_ready(7))
        elif step == "flush":
            sieve.flush()
            assert len(sieve) == len(model.order)
            ready = sieve.take_ready(1)
            assert ready or not model.waiting()
            model.check_taken(ready)
        elif step == "commit":
            folder.commit(sieve)
            saved = Model(dict(model.order), model.taken)
        else:
            sieve.close()
            sieve = folder.open()
            model = Model(dict(saved.order), saved.taken)
    model.check_taken(drain(sieve))
    assert not model.waiting()
    sieve.close()


@kinds
def test_giving_out_starts_again_at_any_entry(tmp_path: Path, kind: str) -> None:
    folder = Folder(tmp_path, kind)
    sieve = folder.open()
    sieve.add(URLS)
    offsets = [offset for offset, _, _ in sieve.take(100)]
    assert offsets == sorted(set(offsets))
    sieve.flush()
    following = sieve.next
    folder.commit(sieve)
    sieve.close()
    for index, start in [(0, offsets[0]), (42, offsets[42]), (100, following), (100, None)]:
        again = folder.open(start=start)
        assert again.stats()["waiting"] == len(URLS) - index
        assert [url for _, _, url in drain(again)] == URLS[index:]
        again.close()
    for nowhere in (offsets[42] + 1, following + 1, 10**9):
        with pytest.raises(CorruptFile) as error:
            folder.open(start=nowhere)
        assert error.value.path == tmp_path / QUEUE


@kinds
def test_signatures_may_be_narrower_and_then_collide(tmp_path: Path, kind: str) -> None:
    folder = Folder(tmp_path, kind, memory=1 << 20, cache=10, signature_bits=20)
    if kind == "lsm":
        with pytest.raises(InvalidArgument, match="64 bits"):
            folder.open()
        return
    sieve = folder.open()
    sieve.add(URLS)
    emitted = [url for _, _, url in drain(sieve)]
    # Of 3,000 URLs 3000^2 / 2^21 = 4.3 are expected to be lost: the later one of each pair.
    first: dict[int, str] = {}
    for url in URLS:
        first.setdefault(signature(url) >> 44, url)
    assert emitted == list(first.values()) and 0 <= len(URLS) - len(emitted) <= 15
    stats = sieve.stats()
    assert stats["signature_bits"] == 20
    assert stats["expected_collisions"] == pytest.approx(len(emitted) ** 2 / 2**21)
    folder.commit(sieve)
    sieve.close()
    with pytest.raises(InvalidArgument, match="signatures of 20 bits"):
        Folder(tmp_path, kind, memory=1 << 20, cache=10).open()


def test_the_help_names_the_sieves_that_refuse_narrower_signatures(tmp_path: Path) -> None:
    refusing = []
    for kind in KINDS:
        try:
            Folder(tmp_path / kind, kind, memory=1 << 20, cache=10, signature_bits=20).open().close()
        except InvalidArgument:
            refusing.append(kind)
    [width] = [one for one in settings_of("crawl") if one.name == "sieve_signature_bits"]
    assert [kind for kind in KINDS if re.search(rf"\b{kind}\b", width.help)] == refusing == ["lsm"]


@kinds
def test_stats_tell_how_it_stands(tmp_path: Path, kind: str) -> None:
    sieve = Folder(tmp_path, kind, memory=1 << 20, cache=10_000).open()
    sieve.add(URLS)
    sieve.add(URLS[:1000])
    sieve.flush()
    sieve.take(10)
    stats = sieve.stats()
    assert stats["kind"] == kind
    assert (stats["seen"], stats["waiting"], stats["pending"]) == (3000, 2990, 0)
    assert stats["collisions"] == 0
    assert stats["expected_collisions"] == pytest.approx(3000**2 / 2**65)
    assert 0.2 < stats["cache_hit_rate"] <= 0.25
    assert stats["bytes"] > 0
    if kind in ("mercator", "offline"):
        assert stats["flushes"] >= 1 and stats["flush_seconds"] > 0
    sieve.close()


@kinds
@pytest.mark.parametrize("cache", [0, 8])
def test_the_first_tag_counts(tmp_path: Path, kind: str, cache: int) -> None:
    sieve = Folder(tmp_path, kind, cache=cache).open()
    sieve.add(["http://a/", "http://b/", "http://a/"], [1, 2**32 - 1, 3])
    sieve.add(["http://a/"])
    assert [(tag, url) for _, tag, url in sieve.take(5)] == [(1, "http://a/"), (2**32 - 1, "http://b/")]
    sieve.close()


@kinds
def test_a_batch_that_is_wrong_is_refused_as_a_whole(tmp_path: Path, kind: str) -> None:
    sieve = Folder(tmp_path, kind).open()
    with pytest.raises(InvalidArgument, match="2 URLs and 1 tags"):
        sieve.add(["http://a/", "http://b/"], [1])
    with pytest.raises(TypeError):
        sieve.add(["http://a/", 3])  # type: ignore[list-item]
    assert sieve.take(5) == []
    sieve.add(["http://a/"])
    assert len(sieve.take(5)) == 1
    sieve.close()


@pytest.mark.parametrize("kind", ["mercator", "offline"])
def test_signatures_can_be_fed_directly(tmp_path: Path, kind: str) -> None:
    (tmp_path / "frontier").mkdir()
    sieve = open_sieve(kind, tmp_path, memory=10_000)
    sieve.add_signatures(array.array("Q", [5, 0, 7, 5, 2**64 - 1, 0]))  # type: ignore[attr-defined]
    sieve.flush()
    assert len(sieve) == 4
    sieve.close()


def test_a_sieve_keeps_its_kind(tmp_path: Path) -> None:
    folder = Folder(tmp_path, "mercator")
    sieve = folder.open()
    folder.commit(sieve)
    sieve.close()
    with pytest.raises(InvalidArgument, match="was made as mercator and cannot be opened as offline"):
        Folder(tmp_path, "offline").open()
    with pytest.raises(InvalidArgument, match="no sieve of the kind colander"):
        open_sieve("colander", tmp_path)


def committed(tmp_path: Path, kind: str) -> Folder:
    """A folder with something in every file."""
    folder = Folder(tmp_path, kind)
    sieve = folder.open()
    sieve.add(URLS[:1000])
    sieve.flush()
    sieve.add(URLS[500:1100])
    if kind == "mercator":
        sieve.flush()
        sieve.add(URLS[1000:1050])
    folder.commit(sieve)
    sieve.close()
    return folder


def use(folder: Folder) -> None:
    sieve = folder.open()
    try:
        sieve.flush()
        sieve.take(10_000)
        sieve.add(URLS)
    finally:
        sieve.close()


@kinds
def test_a_file_cut_short_is_named(tmp_path: Path, kind: str) -> None:
    folder = committed(tmp_path, kind)
    use(folder)
    for name, length in folder.files.items():
        file = tmp_path / name
        if not file.is_file():
            continue
        content = file.read_bytes()[:length]
        for cut in (0, 8, len(content) // 2, len(content) - 1):
            file.write_bytes(content[:cut])
            with pytest.raises(CorruptFile) as error:
                use(folder)
            assert error.value.path == file
            state = folder.state("sieve")
            with pytest.raises(CorruptFile) as error:
                open_and_use(kind, tmp_path, folder.files, state)
            assert error.value.path == file
        file.write_bytes(content)
    use(folder)


def open_and_use(kind: str, path: Path, files: dict[str, int], state: dict[str, object]) -> None:
    sieve = open_sieve(kind, path, files, state, memory=5000)
    try:
        sieve.flush()
        sieve.take(10_000)
    finally:
        sieve.close()


@kinds
def test_a_flipped_bit_is_named(tmp_path: Path, kind: str) -> None:
    folder = committed(tmp_path, kind)
    for name, length in folder.files.items():
        file = tmp_path / name
        if not file.is_file():
            continue
        content = file.read_bytes()[:length]
        places = [*range(16), *range(16, length, max(1, length // 40)), length - 1]
        for place in places:
            damaged = bytearray(content)
            damaged[place] ^= 1 << place % 8
            file.write_bytes(damaged)
            with pytest.raises(CrivelloError) as error:
                use(folder)
            assert getattr(error.value, "path", None) == file, (name, place)
        file.write_bytes(content)
    use(folder)


def test_damage_in_rocksdb_is_named(tmp_path: Path) -> None:
    folder = committed(tmp_path, "lsm")
    database = tmp_path / "frontier" / "lsm"
    contents = {file: file.read_bytes() for file in database.iterdir() if file.suffix in (".log", ".sst")}
    assert any(contents.values())
    for file, content in contents.items():
        if content:
            file.write_bytes(content[: len(content) // 2])
            with pytest.raises(CorruptFile, match="lsm") as error:
                use(folder)
            assert error.value.path == database
            file.write_bytes(content)


@pytest.mark.parametrize("kind", ["bloom", "blocked-bloom"])
def test_a_filter_errs_as_often_as_it_says(tmp_path: Path, kind: str) -> None:
    folder = Folder(tmp_path, kind, capacity=20_000, error=0.02)
    sieve = folder.open()
    assert sieve.stats()["fill"] == 0
    for start in range(0, 20_000, 1000):
        sieve.add([f"https://a.example/{number}" for number in range(start, start + 1000)])
    full = sieve.stats()
    assert full["fill"] == pytest.approx(0.5, abs=0.1)
    assert full["false_positive_rate"] == pytest.approx(0.02, rel=0.2)
    assert 19_700 < len(sieve) < 20_000
    for start in range(20_000, 40_000, 1000):
        sieve.add([f"https://a.example/{number}" for number in range(start, start + 1000)])
    assert sieve.stats()["false_positive_rate"] > 0.1
    folder.commit(sieve)
    before = sieve.stats()
    sieve.close()
    again = folder.open()
    assert again.stats()["fill"] == before["fill"]
    assert again.stats()["seen"] == before["seen"]


def test_the_queue_is_the_only_file_of_the_memory_sieve(tmp_path: Path) -> None:
    committed(tmp_path, "memory")
    assert list((tmp_path / "frontier").iterdir()) == [tmp_path / QUEUE]


def run_lab(*arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", "from crivello.cli.lab import app; app()", "sieve", *arguments]
    return subprocess.run(command, input=given, capture_output=True, check=False)


@kinds
def test_the_command_prints_each_line_once(kind: str) -> None:
    lines = [f"https://a.example/{number % 700}" for number in range(2000)]
    done = run_lab("--kind", kind, "--memory", "64k", "--stats", given="\n".join(lines).encode())
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode().split() == list(dict.fromkeys(lines))
    assert json.loads(done.stderr)["seen"] == 700


def test_the_command_reads_files_and_gzip(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("http://a/\nhttp://b/\n\n")
    (tmp_path / "packed").write_bytes(gzip.compress(b"http://b/\nhttp://c/"))
    files = [str(tmp_path / "plain"), str(tmp_path / "packed")]
    assert run_lab(*files).stdout.split() == [b"http://a/", b"http://b/", b"http://c/"]
    assert run_lab(given=(tmp_path / "packed").read_bytes()).stdout.split() == [b"http://b/", b"http://c/"]


def test_lsm_keeps_index_filter_and_write_buffers_within_its_memory(tmp_path: Path) -> None:
    memory = 2 * 2**20
    sieve = Folder(tmp_path, "lsm", memory=memory, cache=0).open()
    for start in range(0, 300_000, 10_000):
        sieve.add([f"https://www.example.org/{number}" for number in range(start, start + 10_000)])
    database = sieve._rocks._database  # type: ignore[attr-defined]
    figures = (
        "estimate-table-readers-mem",
        "block-cache-capacity",
        "cur-size-all-mem-tables",
        "block-cache-usage",
    )
    outside, capacity, buffers, used = (database.property_int_value(f"rocksdb.{name}") for name in figures)
    assert outside < memory / 16, "index and filter blocks are in the cache"
    assert capacity < memory and buffers < memory / 2 and used < 1.5 * memory
    assert len(sieve) == 300_000
    sieve.close()
