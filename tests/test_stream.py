"""Streams, through the real command: formats, verdicts, reports, and everything that can be wrong with a line."""

from __future__ import annotations

import gzip
import json
import os
import random
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard

from crivello.errors import InvalidArgument
from crivello.stream import JudgeOptions, Kind
from crivello.stream.truth import ENTRY, check
from tests import shell
from tests.shell import CRIVELLO

DATA = Path(os.environ.get("CRIVELLO_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
SMALL = ("--memory", "64k")
LONGEST = 1 << 20


def stream(*arguments: str | Path, lines: bytes = b"", code: int = 0) -> tuple[bytes, str]:
    """Runs the command; gives its output, and what it said."""
    done = shell.run("stream", *arguments, given=lines)
    said = done.stderr.decode()
    assert done.returncode == code and "Traceback" not in said, said
    return done.stdout, said


def report(*arguments: str | Path, lines: bytes = b"") -> dict[str, Any]:
    output, said = stream(*arguments, "--json", lines=lines)
    assert said == "" and output.count(b"\n") == 1
    found: dict[str, Any] = json.loads(output)
    return found


def first_ones(lines: Sequence[bytes]) -> bytes:
    return b"".join(dict.fromkeys(lines))


@pytest.fixture(scope="module")
def lines() -> list[bytes]:
    source = random.Random(4)
    return [b"https://www.example.org/%d\n" % source.randrange(3000) for _ in range(5000)]


def compressed(content: bytes, kind: str) -> bytes:
    halves = content[:1000], content[1000:]
    if kind == "gzip":
        return b"".join(map(gzip.compress, halves))
    if kind == "zstd":
        skippable = b"\x52\x2a\x4d\x18\x03\x00\x00\x00abc"
        compressor = zstandard.ZstdCompressor(write_checksum=True)
        return skippable + b"".join(map(compressor.compress, halves)) + skippable
    return content


@pytest.mark.parametrize("kind", ["plain", "gzip", "zstd"])
def test_each_line_comes_out_once(kind: str, lines: list[bytes], tmp_path: Path) -> None:
    content = compressed(b"".join(lines), kind)
    file = tmp_path / "lines"
    file.write_bytes(content)
    for output, said in (stream(lines=content), stream(file), stream("-", lines=content)):
        assert output == first_ones(lines)
        assert "5,000" in said and "lines a second" in said


@pytest.mark.parametrize("filter", ["exact", "bloom", "blocked-bloom"])
def test_every_filter_can_judge(filter: str, lines: list[bytes]) -> None:
    assert stream("--filter", filter, lines=b"".join(lines))[0] == first_ones(lines)


def test_lines_are_marked_listed_or_withheld(lines: list[bytes]) -> None:
    content = b"".join(lines)
    seen: set[bytes] = set()
    marked, duplicates = b"", b""
    for line in lines:
        marked += (b"dup\t" if line in seen else b"new\t") + line
        duplicates += line if line in seen else b""
        seen.add(line)
    assert stream("--mark", lines=content)[0] == marked
    assert stream("--duplicates", lines=content)[0] == duplicates
    assert stream("--quiet", lines=content)[0] == b""
    stream("--mark", "--duplicates", lines=content, code=2)


def test_a_real_index_is_compared_by_its_urls(tmp_path: Path) -> None:
    index = DATA / "warc" / "iana.cdxj"
    if not index.exists():
        pytest.skip(f"iana.cdxj is not in {DATA}: set CRIVELLO_DATA to the folder with the real data")
    urls = [json.loads(line[line.index("{") :])["url"] for line in index.read_text().splitlines()]
    found = report(index, "--filter", "stable", "--truth")
    assert (found["lines"], found["malformed"], found["truth"]["distinct"]) == (len(urls), 0, len(set(urls)))
    assert found["truth"]["f1"] == 1 and found["duplicates"] == len(urls) - len(set(urls))
    packed = tmp_path / "cdx-00000.gz"
    packed.write_bytes(gzip.compress(index.read_bytes()))
    assert report(packed)["duplicates"] == found["duplicates"]
    assert report(lines=index.read_bytes())["duplicates"] == found["duplicates"]
    assert report(index, "--format", "lines")["duplicates"] == 0


def test_malformed_lines_are_counted_and_passed_on() -> None:
    good, bad = b'a 1 {"url": "http://a.example/"}\n', [b"\n", b"a 1 {\n", b'a 1 {"url": 3}\n', b"\xff\xfe\n"]
    content = good + b"".join(bad) + good + bad[1]
    found = report("--format", "cdxj", lines=content)
    assert (found["lines"], found["new"], found["duplicates"], found["malformed"]) == (7, 1, 1, 5)
    assert stream("--format", "cdxj", lines=content)[0] == good + b"".join(bad) + bad[1]
    assert stream("--format", "cdxj", "--duplicates", lines=content)[0] == good
    assert stream("--format", "cdxj", "--mark", lines=bad[1])[0] == b"bad\t" + bad[1]


def test_a_line_may_be_any_bytes() -> None:
    odd = [b"\n", b"\0\n", b"\xff\xfe\x80\n", b" a\n", b"a \n", "è\n".encode()]
    assert stream(lines=b"".join(odd * 2))[0] == b"".join(odd)
    assert stream(lines=b"")[0] == b""
    assert report(lines=b"")["lines"] == 0
    assert stream(lines=b"a\nb")[0] == b"a\nb\n"
    assert stream(lines=b"a\r\na\nb\r\n")[0] == b"a\r\nb\r\n"


def test_a_line_that_is_too_long_is_passed_on_and_counted() -> None:
    longest, longer = b"x" * LONGEST + b"\n", b"x" * (3 * LONGEST) + b"\n"
    content = b"a\n" + longer + longest + longer + longest + b"a\n"
    assert stream(lines=content)[0] == b"a\n" + longer + longest + longer
    assert stream("--mark", lines=longer)[0] == b"bad\t" + longer
    found = report(lines=content)
    assert (found["long"], found["new"], found["duplicates"], found["bytes"]) == (2, 2, 2, len(content))


def test_inputs_are_one_stream_even_without_a_last_newline(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"a\nb")
    (tmp_path / "two").write_bytes(b"b\nc")
    assert stream(tmp_path / "one", "-", tmp_path / "two", lines=b"a\nd")[0] == b"a\nb\nd\nc\n"


def test_the_truth_is_what_a_set_says(lines: list[bytes]) -> None:
    content = b"".join(lines)
    marks = stream("--mark", "--memory", "200", "--k", "2", "--p", "4", lines=content)[0].splitlines()
    counts = dict.fromkeys(("tp", "fp", "fn", "tn"), 0)
    seen: set[bytes] = set()
    for mark, line in zip(marks, lines, strict=True):
        judged = mark.startswith(b"dup")
        counts[("tp" if judged else "fn") if line in seen else ("fp" if judged else "tn")] += 1
        seen.add(line)
    assert all(counts.values())
    truth = report("--truth", "--memory", "200", "--k", "2", "--p", "4", lines=content)["truth"]
    assert {name: truth[name] for name in counts} == counts
    tp, fp, fn, tn = counts.values()
    assert truth["precision"] == pytest.approx(tp / (tp + fp)) and truth["recall"] == pytest.approx(
        tp / (tp + fn)
    )
    assert truth["f1"] == pytest.approx(2 * tp / (2 * tp + fp + fn))
    assert truth["fpr"] == pytest.approx(fp / (fp + tn)) and truth["fnr"] == pytest.approx(fn / (tp + fn))
    assert truth["seconds"] > 0 and truth["distinct"] == len(seen)
    assert report("--truth", lines=b"")["truth"]["f1"] is None


def test_filters_take_the_memory_and_parameters_they_are_given() -> None:
    found = report(*SMALL, "--k", "3", "--p", "7", "--max", "3", "--seed", "5")["filter"]
    chosen = {name: found[name] for name in ("kind", "bytes", "k", "p", "max", "seed")}
    assert chosen == {"kind": "stable", "bytes": 65536, "k": 3, "p": 7, "max": 3, "seed": 5}
    found = report(*SMALL, "--error", "0.05")["filter"]
    assert found["bound"] <= 0.05
    found = report(*SMALL, "--filter", "bloom", "--capacity", "1000", "--error", "0.001")["filter"]
    assert found["bits"] / 1000 == pytest.approx(14.4, abs=0.1) and found["k"] == 10
    assert report(*SMALL, "--filter", "bloom", "--error", "0.001")["filter"]["bits"] == 8 * 65536
    found = report(*SMALL, "--filter", "bloom", "--capacity", "100000")["filter"]
    assert (found["bits"], found["k"]) == (8 * 65536, 4), "ln 2 * 524,288 / 100,000 = 3.6"
    lines = b"".join(b"%d\n" % (number % 900) for number in range(2000))
    flags = ("--mark", *SMALL, "--k", "4")
    as_bloom = stream(*flags, "--filter", "bloom", "--hashing", "double", lines=lines)[0]
    assert (
        stream(*flags, "--p", "0", "--hashing", "double", "--decay", "independent", lines=lines)[0]
        == as_bloom
    )
    assert JudgeOptions(Kind.BLOCKED_BLOOM, memory=1 << 10, k=5).make().bits == 8 << 10  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing.txt"], "missing.txt"),
        ([*SMALL, "--filter", "bloom", "--capacity", "1000000", "--error", "0.01"], "take"),
        (["--decay", "slowly"], "there is no decay"),
        (["--filter", "bloom", "--decay", "independent"], "--decay has no meaning"),
        (["--filter", "blocked-bloom", "--hashing", "double"], "independently"),
        (["--hashing", "triple"], "there is no hashing"),
        (["--filter", "bloom", "--p", "3"], "--p has no meaning"),
        (["--filter", "exact", "--error", "0.1"], "--error has no meaning"),
        (["--capacity", "10"], "--capacity has no meaning"),
        (["--filter", "sieve"], "take one of stable"),
        (["--memory", "much"], "is not a size"),
        (["--error", "2"], "between 0 and 1"),
        (["--p", "3", "--error", "0.01"], "--p is derived from --error"),
        (["--filter", "bloom", "--k", "3", "--error", "0.01"], "--k is derived from --error"),
        (["--k", "65"], "from 1 to 64\nhint: "),
        (["--format", "xml"], "take one of auto"),
    ],
)
def test_misuse_is_one_sentence(arguments: list[str], said: str) -> None:
    code = 3 if "missing.txt" in arguments else 2
    output, complaint = stream(*arguments, code=code)
    assert output == b"" and complaint.startswith("crivello: ") and said in complaint


def test_the_exact_set_goes_on_past_its_memory() -> None:
    different = b"".join(b"https://a.example/%d\n" % number for number in range(200_000))
    written, _ = stream("--filter", "exact", *SMALL, lines=different + different)
    assert written == different


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_damage_is_named(kind: str, lines: list[bytes], tmp_path: Path) -> None:
    file = tmp_path / "damaged"
    content = compressed(b"".join(lines), kind)
    for damaged in (content[: len(content) * 3 // 4], content + b"rubbish"):
        file.write_bytes(damaged)
        _, said = stream(file, "--quiet", code=3)
        assert f"{file} is damaged at byte" in said
    _, said = stream(tmp_path, "--quiet", code=3)
    assert str(tmp_path) in said


@pytest.mark.alone
def test_ctrl_c_ends_a_stream_that_waits() -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen([CRIVELLO, "stream"], stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        process.stdin.write(b"a\na\nb\n")
        process.stdin.flush()
        assert process.stdout.read(4) == b"a\nb\n"  # at once, while the stream goes on
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=10) == 130
        assert time.monotonic() - sent < 1.5
        assert b"Traceback" not in process.stderr.read()


def test_ctrl_c_ends_the_search_for_the_truth(tmp_path: Path) -> None:
    record = tmp_path / "record"
    entries = np.zeros(4_000_000, ENTRY)
    entries["signature"] = np.random.default_rng(1).integers(0, 1 << 64, len(entries), dtype=np.uint64)
    entries.tofile(record)
    for delay in (0.05, 0.2, 0.4):
        folder = tmp_path / str(delay)
        folder.mkdir()
        timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            check(record, folder)
        timer.join()


@pytest.mark.alone
def test_ctrl_c_ends_a_stream_that_nobody_reads() -> None:
    with (
        subprocess.Popen(["yes", "a line that is repeated"], stdout=subprocess.PIPE) as feeder,
        subprocess.Popen(
            [CRIVELLO, "stream", "--mark"],
            stdin=feeder.stdout,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process,
    ):
        assert process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            assert selector.select(timeout=60), "it has written nothing"
        time.sleep(0.5)  # while the pipe fills up
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=5) == 130
        feeder.kill()


def test_a_closed_pipe_is_no_error() -> None:
    done = subprocess.run(
        f"yes | {CRIVELLO} stream --mark | head -2", shell=True, capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("new\ty\ndup\ty\n", "")


@pytest.mark.parametrize("kind", ["plain", "gzip", "zstd"])
def test_the_first_lines_tell_the_format_whatever_the_name(kind: str, tmp_path: Path) -> None:
    capture = b'org,example)/ 2024010%d000000 {"url": "http://example.org/"}\n'
    index = b"".join(capture % day for day in range(1, 9))
    for name, content, by_url in (("urls.txt", index, 8), ("cdx-00000.cdxj", b"a\nb\na\n", 0)):
        file = tmp_path / name
        file.write_bytes(compressed(content, kind))
        for found in (report(file), report(lines=file.read_bytes())):
            assert (found["by_url"], found["duplicates"]) == (by_url, 7 if by_url else 1)
    assert stream(tmp_path / "urls.txt")[0] == capture % 1
    assert "compared by URL" in stream(tmp_path / "urls.txt")[1]
    # Two inputs of one stream may differ.
    assert stream(*sorted(tmp_path.iterdir()))[0] == b"a\nb\n" + capture % 1


def test_a_warc_file_is_no_stream_of_lines() -> None:
    warc = DATA / "warc" / "iana.warc.gz"
    if not warc.exists():
        pytest.skip(f"iana.warc.gz is not in {DATA}: set CRIVELLO_DATA to the folder with the real data")
    assert f"{warc} is a WARC file" in stream(warc, code=2)[1]
    assert "standard input is a WARC file" in stream(lines=warc.read_bytes(), code=2)[1]
    assert report(warc, "--format", "lines")["duplicates"] > 100


def test_a_judge_refuses_what_it_does_not_have() -> None:
    with pytest.raises(InvalidArgument):
        JudgeOptions(Kind.STABLE, capacity=3).make()
