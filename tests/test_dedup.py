"""Duplicates of corpora, held to the slow and obvious definition; and what a run survives."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from crivello import _core, dedup
from crivello.dedup.clusters import Clusters
from crivello.dedup.options import Keep
from crivello.errors import InvalidArgument, StorageError
from tests.corpora import jaccard, leaders, made, read_json_lines, shingles, write_json_lines
from tests.shell import says

LONG = int(os.environ.get("CRIVELLO_TEST_LINE_BYTES", 20 << 20))
MANY = int(os.environ.get("CRIVELLO_TEST_COPIES", 20_000))


def corpus(folder: Path, texts: list[str], name: str = "in.jsonl") -> Path:
    return write_json_lines(
        folder / name, ({"id": f"d{number}", "text": text} for number, text in enumerate(texts))
    )


def clustered(path: Path) -> dict[int, list[int]]:
    return {int(row["keep"][1:]): [int(name[1:]) for name in row["drop"]] for row in read_json_lines(path)}


@pytest.mark.parametrize("threshold", [0.5, 0.8])
def test_minhash_finds_what_all_pairs_find(tmp_path: Path, threshold: float) -> None:
    texts = made(600, seed=round(100 * threshold))
    report = dedup.run(
        corpus(tmp_path, texts),
        threshold=threshold,
        out=tmp_path / "out.jsonl",
        clusters=tmp_path / "clusters.jsonl",
        pairs=tmp_path / "pairs.jsonl",
    )
    found = read_json_lines(tmp_path / "pairs.jsonl")
    for row in found:
        one, other = int(row["a"][1:]), int(row["b"][1:])
        assert row["similarity"] == pytest.approx(jaccard(texts[one], texts[other]), abs=1e-3)
        assert row["similarity"] >= threshold and one < other
    sets = [shingles(text) for text in texts]
    true = {
        (one, other)
        for other in range(len(texts))
        for one in range(other)
        if len(sets[one] & sets[other]) / len(sets[one] | sets[other]) >= threshold
    }
    # Copies of one text are represented by the first of them.
    first = {text: texts.index(text) for text in set(texts)}
    distinct = {
        (min(pair), max(pair))
        for one, other in true
        if len(pair := {first[texts[one]], first[texts[other]]}) == 2
    }
    named = {(int(row["a"][1:]), int(row["b"][1:])) for row in found}
    assert named <= true and len(named & distinct) >= 0.98 * len(distinct) > 50
    obvious = leaders(texts, threshold)
    kept = {int(row["id"][1:]) for row in read_json_lines(tmp_path / "out.jsonl")}
    wanted = {number for number, leader in enumerate(obvious) if number == leader}
    assert len(kept ^ wanted) <= 0.01 * len(texts)
    dropped = clustered(tmp_path / "clusters.jsonl")
    assert sorted(number for some in dropped.values() for number in some) == sorted(set(range(600)) - kept)
    for leader, some in dropped.items():
        assert leader in kept
        assert all(jaccard(texts[leader], texts[number]) >= threshold for number in some)
    assert (report.documents, report.kept, report.clusters) == (600, len(kept), len(dropped))
    assert report.dropped == 600 - len(kept) and report.pairs == len(found) == sum(report.similarities)


def test_complete_linkage_needs_all_pairs_similar(tmp_path: Path) -> None:
    texts = made(400, seed=5, copies=0.6)
    dedup.run(corpus(tmp_path, texts), threshold=0.6, linkage="complete", clusters=tmp_path / "c")
    found = clustered(tmp_path / "c")
    assert found
    for leader, some in found.items():
        members = [leader, *some]
        assert all(
            jaccard(texts[one], texts[other]) >= 0.6 for one in members for other in members if one < other
        )


def test_simhash_finds_what_all_pairs_find(tmp_path: Path) -> None:
    texts = made(500, seed=6)
    hashes = dedup.simhash(texts).tolist()
    dedup.run(
        corpus(tmp_path, texts), method="simhash", distance=5, pairs=tmp_path / "p", clusters=tmp_path / "c"
    )
    first = {text: texts.index(text) for text in set(texts)}
    found = {(int(row["a"][1:]), int(row["b"][1:])) for row in read_json_lines(tmp_path / "p")}
    true = {
        (one, other)
        for other in range(len(texts))
        for one in range(other)
        if (hashes[one] ^ hashes[other]).bit_count() <= 5
    }
    distinct = {
        (one, other) for one, other in true if first[texts[one]] == one and first[texts[other]] == other
    }
    assert distinct <= found <= true and len(found) > 30
    for leader, some in clustered(tmp_path / "c").items():
        assert all((hashes[leader] ^ hashes[number]).bit_count() <= 5 for number in some)


def test_fingerprints_find_texts_with_most_in_common(tmp_path: Path) -> None:
    texts = made(300, seed=7, copies=0)
    texts += [
        f"{text} {' '.join(made(1, seed=number, copies=0))}" for number, text in enumerate(texts[:50], 900)
    ]
    dedup.run(
        corpus(tmp_path, texts),
        method="fingerprint",
        modulus=2,
        measure="overlap",
        threshold=0.9,
        pairs=tmp_path / "p",
    )
    found = {(int(row["a"][1:]), int(row["b"][1:])) for row in read_json_lines(tmp_path / "p")}
    assert {(number, 300 + number) for number in range(50)} - found == set()
    for one, other in found:
        mine, others = shingles(texts[one]), shingles(texts[other])
        assert len(mine & others) / min(len(mine), len(others)) >= 0.9


def test_what_is_in_another_corpus_goes(tmp_path: Path) -> None:
    texts = made(600, seed=8)
    others, mine = texts[:200], texts[200:]
    report = dedup.run(
        corpus(tmp_path, mine),
        against=[corpus(tmp_path, others, "other.jsonl")],
        out=tmp_path / "out.jsonl",
        clusters=tmp_path / "c",
    )
    obvious = leaders(texts, 0.7, references=200)
    wanted = [mine[number - 200] for number in range(200, 600) if obvious[number] == number]
    kept = [row["text"] for row in read_json_lines(tmp_path / "out.jsonl")]
    assert len(set(kept) ^ set(wanted)) <= 4
    assert report.documents == 400 and report.kept == len(kept)
    assert report.against == sum(leader < 200 for leader in obvious[200:]) > 20


def test_duplicates_within_the_other_corpus_are_not_told(tmp_path: Path) -> None:
    words = " ".join(f"w{number}" for number in range(60))
    others = write_json_lines(
        tmp_path / "others.jsonl",
        (
            {"id": name, "text": text}
            for name, text in {"o1": words, "o2": words, "o3": "x", "o4": "x"}.items()
        ),
    )
    mine = write_json_lines(
        tmp_path / "mine.jsonl",
        ({"id": name, "text": text} for name, text in {"m1": words, "m2": f"{words} y", "m3": "z"}.items()),
    )
    for method in ("minhash", "simhash", "fingerprint", "exact"):
        report = dedup.run(mine, method=method, against=others, clusters=tmp_path / "c", pairs=tmp_path / "p")
        near = ["m2"] if method != "exact" else []
        assert read_json_lines(tmp_path / "c") == [{"keep": "o1", "drop": ["m1", *near]}]
        pairs = {(pair["a"], pair["b"]) for pair in read_json_lines(tmp_path / "p")}
        assert pairs == {("o1", name) for name in ("m1", *near)}
        assert (report.kept, report.dropped, report.clusters) == (3 - 1 - len(near), 1 + len(near), 1)
        assert (report.against, report.largest, report.pairs) == (1 + len(near), 2 + len(near), len(pairs))


def test_the_longest_is_kept(tmp_path: Path) -> None:
    words = " ".join(f"w{number}" for number in range(60))
    texts = [words, "alone", f"{words} more words", f"{words} more"]
    report = dedup.run(
        corpus(tmp_path, texts), keep="longest", clusters=tmp_path / "c", out=tmp_path / "out.jsonl"
    )
    assert clustered(tmp_path / "c") == {2: [0, 3]} and report.largest == 3
    assert [row["id"] for row in read_json_lines(tmp_path / "out.jsonl")] == ["d1", "d2"]


def test_the_longest_of_each_cluster_leads_except_references() -> None:
    import numpy as np

    draw = random.Random(3)
    for _ in range(200):
        count, references = draw.randrange(1, 30), draw.randrange(5)
        leaders = np.arange(count, dtype=np.uint32)
        for number in range(references, count):
            kept = [one for one in range(number) if leaders[one] == one]
            if kept and draw.random() < 0.6:
                leaders[number] = draw.choice(kept)
        lengths = np.array([draw.randrange(5) for _ in range(count)], np.uint32)
        found = Clusters.kept_by(Keep.LONGEST, leaders, lengths, min(references, count))
        for leader in set(leaders.tolist()):
            members = np.flatnonzero(leaders == leader).tolist()
            best = leader if leader < references else max(members, key=lambda one: (lengths[one], -one))
            assert {int(found.leaders[one]) for one in members} == {best}
        assert found.stays.sum() == len({one for one in found.leaders.tolist() if one >= found.references})
        rebuilt = {one: leader for leader, some in found for one in some.tolist()}
        assert all(rebuilt.get(one, one) == found.leaders[one] for one in range(count))


def test_one_document_many_times_is_one_cluster(tmp_path: Path) -> None:
    source = tmp_path / "in.txt"
    source.write_text("the same words over and over again\n" * MANY)
    for method in ("exact", "minhash", "simhash", "fingerprint"):
        report = dedup.run(source, method=method, out=tmp_path / "out.txt", clusters=tmp_path / "c")
        assert (report.documents, report.kept, report.clusters, report.largest) == (MANY, 1, 1, MANY)
        assert report.pairs < MANY
        assert (tmp_path / "out.txt").read_text().count("\n") == 1
        assert len(read_json_lines(tmp_path / "c")[0]["drop"]) == MANY - 1


def test_a_long_line_is_a_document_or_too_long(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    with source.open("w") as out:
        out.write('{"text": "short"}\n{"text": "')
        for _ in range(LONG // 100):
            out.write("some words of a long line, " * 4)
        out.write('"}\n{"text": "short"}\n')
    report = dedup.run(source, out=tmp_path / "out.jsonl", memory=16 * LONG)
    assert (report.documents, report.kept) == (3, 2)
    with pytest.raises(InvalidArgument, match=r"in.jsonl, line 2 is longer than 1,398,101 bytes"):
        dedup.run(source, memory=16 << 20)


def run_shell(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return says("dedup", *map(str, arguments), folder=cwd)


def test_the_command_prints_a_summary(tmp_path: Path) -> None:
    source = corpus(tmp_path, made(200, seed=9))
    done = run_shell(
        source, "--method", "minhash", "--threshold", "0.8", "--field", "text", "--out", tmp_path / "clean.jsonl",
        "--clusters", tmp_path / "clusters.jsonl", "--json",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    kept, dropped = read_json_lines(tmp_path / "clean.jsonl"), clustered(tmp_path / "clusters.jsonl")
    assert told["documents"] == 200 == told["kept"] + told["dropped"]
    assert (told["kept"], told["clusters"]) == (len(kept), len(dropped)) and told["seconds"] > 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["clean.jsonl", "clusters.jsonl", "in.jsonl"]
    shown = run_shell(source)
    assert shown.returncode == 0 and shown.stdout == "" and re.search(r"dropped +\d", shown.stderr)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--method", "fuzzy"), "method: 'fuzzy' is not among the choices"),
        (("--threshold", "2"), "threshold must be from 0 to 1, and not 2"),
        (("--method", "exact", "--threshold", "0.5"), "threshold has no meaning for the method exact"),
        (("--method", "exact", "--ignore", "case,colour"), "'colour' is not among what can be ignored"),
        (("--method", "simhash", "--bits", "48"), "a SimHash has 32, 64 or 128 bits, and not 48"),
        (("--out", "-", "--json"), "--json and another output both go to standard output"),
        (("--format", "xml"), "format: 'xml' is not among the choices"),
        (("--report", "report.pdf"), "report.pdf is no name for a report"),
        (("--memory", "1"), "memory must be from 16,777,216"),
    ],
)
def test_misuse_is_one_sentence(tmp_path: Path, flags: tuple[str, ...], said: str) -> None:
    source = corpus(tmp_path, ["a"])
    done = run_shell(source, *flags, cwd=tmp_path)
    assert done.returncode == 2 and done.stderr.startswith(f"crivello: {said}")
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


VICTIM = """
import os, signal, sys
from crivello import dedup

*sources, out, clusters, last, count = sys.argv[1:]
told = []

def progress(stage, done, total):
    told.append(stage)
    if told.count(last) == int(count):
        os.kill(os.getpid(), signal.SIGKILL)

dedup.run(sources, out=out, clusters=clusters, checkpoint=0, progress=progress)
print(told.count("reading"))
"""


def large(folder: Path, ending: str) -> list[Path]:
    """Two corpora of several blocks."""
    draw, words = random.Random(4), [f"word{number}" for number in range(5000)]
    texts = [" ".join(draw.choices(words, k=900)) for _ in range(1500)]
    halves = (texts, [*texts[:300], *texts[900:1200]])
    if ending == ".jsonl":
        return [corpus(folder, half, f"in{number}.jsonl") for number, half in enumerate(halves)]
    paths = []
    for number, half in enumerate(halves):
        pages = [page(f"https://a.example/{number}/{place}", text) for place, text in enumerate(half)]
        paths.append(folder / f"in{number}.warc.gz")
        paths[-1].write_bytes(b"".join(pages))
    return paths


def page(url: str, text: str) -> bytes:
    """A page as a record of a WARC file."""
    fields = [("WARC-Target-URI", url), ("WARC-Date", "2026-05-01T12:00:00Z")]
    fields.append(("Content-Type", "application/http"))
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    return _core.warc_record("response", fields, head, f"<p>{text}".encode())


@pytest.mark.parametrize("ending", [".jsonl", ".warc.gz"])
def test_the_same_command_goes_on_after_a_kill(tmp_path: Path, ending: str) -> None:
    sources = large(tmp_path, ending)
    report = dedup.run(sources, out=tmp_path / f"wanted{ending}", clusters=tmp_path / "wanted")
    assert (report.documents, report.dropped) == (2100, 600)
    out, clusters = tmp_path / f"out{ending}", tmp_path / "clusters"

    def run(stage: str, count: int) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", VICTIM, *map(str, (*sources, out, clusters, stage, count))]
        return subprocess.run(command, capture_output=True, text=True, timeout=120)

    # After a block is committed, before the next one is, when half of the output is written, and when all but its name is.
    for stage, count in (("reading", 2), ("reading", 1), ("writing", 1), ("writing", 2)):
        assert run(stage, count).returncode == -signal.SIGKILL
        assert not out.exists()
    [left] = [path for path in tmp_path.iterdir() if ".dedup-" in path.name]
    again = run("nothing", 1)
    assert (again.returncode, again.stdout) == (0, "0\n"), again.stderr
    assert out.read_bytes() == (tmp_path / f"wanted{ending}").read_bytes()
    assert clusters.read_bytes() == (tmp_path / "wanted").read_bytes()
    assert not left.exists()


def test_other_input_or_options_begin_anew(tmp_path: Path) -> None:
    source = corpus(tmp_path, made(50, seed=1))

    def stopped(stage: str, done: int, total: int) -> None:
        del stage, done, total
        raise KeyboardInterrupt

    for threshold in (0.7, 0.8):
        with pytest.raises(KeyboardInterrupt):
            dedup.run(source, threshold=threshold, work=tmp_path / "work", progress=stopped)
    assert len(list((tmp_path / "work").iterdir())) == 2
    corpus(tmp_path, made(60, seed=1))
    assert dedup.run(source, threshold=0.8, work=tmp_path / "work").documents == 60


def test_a_second_run_of_the_same_is_refused(tmp_path: Path) -> None:
    source = corpus(tmp_path, made(50, seed=1))

    def again(stage: str, done: int, total: int) -> None:
        del done, total
        if stage == "reading":
            dedup.run(source, work=tmp_path / "work")

    with pytest.raises(StorageError, match="another process is working in"):
        dedup.run(source, work=tmp_path / "work", progress=again)
    assert dedup.run(source, work=tmp_path / "work").documents == 50


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    flags = ["-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    mounted = subprocess.run(["mount", *flags], capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"no small disk can be mounted here: {mounted.stderr.strip()}")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_is_told_and_the_command_goes_on(small_disk: Path, tmp_path: Path) -> None:
    source = corpus(tmp_path, made(2000, seed=2))
    full = run_shell(source, "--out", small_disk / "out.jsonl", "--json")
    assert full.returncode == 3 and "No space left on device\nhint: the disk is full" in full.stderr
    assert not (small_disk / "out.jsonl").exists()
    subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
    again = run_shell(source, "--out", small_disk / "out.jsonl", "--json")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["kept"] == len(read_json_lines(small_disk / "out.jsonl"))
    assert [path.name for path in small_disk.iterdir()] == ["out.jsonl"]


@pytest.mark.parametrize(
    ("flag", "option"),
    [
        *(
            (flag, option)
            for flag in ("--out", "--clusters", "--work")
            for option in ((), ("--boilerplate", "drop"))
        ),
        ("--out", ("--method", "substring")),
    ],
)
def test_a_disk_that_is_full_from_the_start_is_told(
    small_disk: Path, tmp_path: Path, flag: str, option: tuple[str, ...]
) -> None:
    source = corpus(tmp_path, made(200, seed=2))
    place = small_disk / {"--out": "out.jsonl", "--clusters": "clusters", "--work": "work"}[flag]
    fill = small_disk / "fill"
    # A page of memory is the least that a file of this disk takes.
    for free in (0, 1, 2, 3, 5, 8):
        with suppress(OSError), fill.open("wb", buffering=0) as file:
            while file.write(bytes(4096)):
                pass
        os.truncate(fill, max(0, fill.stat().st_size - 4096 * free))
        full = run_shell(source, flag, place, *option)
        assert full.returncode == 3 and "No space left on device\nhint: the disk is full" in full.stderr, free
        assert not place.is_file()
    fill.unlink()
    subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
    again = run_shell(source, flag, place, *option)
    assert again.returncode == 0, again.stderr
    assert [path.name for path in small_disk.iterdir()] == [place.name]


def test_a_report_shows_counts_similarities_and_pairs(tmp_path: Path) -> None:
    words = " ".join(f"w{number}" for number in range(60))
    texts = [words, words.replace("w30", "<changed> *words*"), "alone", words]
    source = corpus(tmp_path, texts)
    dedup.run(source, report=tmp_path / "report")
    assert sorted(path.name for path in (tmp_path / "report").iterdir()) == [
        "report.html",
        "report.md",
        "similarities.svg",
    ]
    markdown = (tmp_path / "report" / "report.md").read_text()
    assert "| documents | 4 |" in markdown and "| 3 | 1 |" in markdown
    assert "~~w30~~**\\<changed\\> \\*words\\***" in markdown
    page = (tmp_path / "report" / "report.html").read_text()
    assert "<del>w30</del>" in page and "<ins>&lt;changed&gt; *words*</ins>" in page and "<svg" in page
    report = dedup.run(source, report=tmp_path / "alone.html")
    assert {(one.kept, one.dropped) for one in report.examples} >= {("d0", "d1")}
    assert (tmp_path / "alone.html").read_text().count("<svg") == 1


@pytest.mark.parametrize("stage", ["reading", "comparing", "writing"])
def test_what_the_progress_raises_ends_the_run(tmp_path: Path, stage: str) -> None:
    def told(name: str, done: int, total: int) -> None:
        assert 0 <= done <= total
        if name == stage:
            raise LookupError(name)

    source = corpus(tmp_path, made(50))
    with pytest.raises(LookupError, match=stage):
        dedup.run(source, out=tmp_path / "out.jsonl", progress=told)
    assert not (tmp_path / "out.jsonl").exists()
    assert dedup.run(source, out=tmp_path / "out.jsonl").documents == 50
