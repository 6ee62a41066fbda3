"""Where the results of a deduplication go: what is replaced, what is left alone, and what is refused before work begins."""

from __future__ import annotations

import gzip
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crivello import dedup
from crivello.dedup.outputs import steps_of
from crivello.errors import InvalidArgument, StorageError
from tests.corpora import read_json_lines, write_json_lines
from tests.shell import says

ROWS = [{"text": "a"}, {"text": "b"}, {"text": "a"}]
KEPT = b'{"text": "a"}\n{"text": "b"}\n'


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_json_lines(tmp_path / "in.jsonl", ROWS)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_no_other_file_is_touched(tmp_path: Path) -> None:
    source = write_json_lines(tmp_path / "data.jsonl.new", ROWS)
    (tmp_path / "clusters.new").write_text("another file")
    done = says(
        "dedup", source.name, "--out", "data.jsonl", "--clusters", "clusters", "--method", "exact", folder=tmp_path
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "data.jsonl").read_bytes() == KEPT
    assert read_json_lines(source) == ROWS
    assert (tmp_path / "clusters.new").read_text() == "another file"
    assert names(tmp_path) == ["clusters", "clusters.new", "data.jsonl", "data.jsonl.new"]


def test_of_two_runs_with_one_output_the_last_one_stays_whole(tmp_path: Path, source: Path) -> None:
    out = tmp_path / "out.jsonl"
    other = write_json_lines(tmp_path / "other.jsonl", [{"text": "c"}])
    ran: list[dedup.Report] = []

    def another(stage: str, done: int, total: int) -> None:
        del done, total
        if stage == "writing" and not ran:
            ran.append(dedup.run(other, out=out, method="exact"))
            assert read_json_lines(out) == [{"text": "c"}]

    dedup.run(source, out=out, method="exact", progress=another)
    assert ran and out.read_bytes() == KEPT
    assert names(tmp_path) == ["in.jsonl", "other.jsonl", "out.jsonl"]


def test_a_symbolic_link_stays_and_its_target_is_replaced(tmp_path: Path, source: Path) -> None:
    there, links = tmp_path / "there", {}
    there.mkdir()
    for name in ("out.jsonl", "clusters", "pairs", "report.md"):
        links[name.partition(".")[0]] = tmp_path / name
        (tmp_path / name).symlink_to(there / name)
    (there / "out.jsonl").write_text("old")
    dedup.run(source, method="exact", **links)  # type: ignore[arg-type]
    assert all(link.is_symlink() for link in links.values())
    assert (there / "out.jsonl").read_bytes() == KEPT
    assert read_json_lines(there / "clusters") == [{"keep": "1", "drop": ["3"]}]
    assert names(there) == ["clusters", "out.jsonl", "pairs", "report.md"]


def test_a_pipe_is_written_to(tmp_path: Path, source: Path) -> None:
    received: dict[str, bytes] = {}

    def receive(path: Path) -> None:
        received[path.name] = path.read_bytes()

    pipes = [tmp_path / name for name in ("out.jsonl", "clusters", "report.md")]
    threads = [threading.Thread(target=receive, args=(pipe,), daemon=True) for pipe in pipes]
    for pipe, thread in zip(pipes, threads, strict=True):
        os.mkfifo(pipe)
        thread.start()
    dedup.run(source, out=pipes[0], clusters=pipes[1], report=pipes[2], method="exact")
    assert all(pipe.is_fifo() for pipe in pipes)
    for thread in threads:
        thread.join(60)
    assert received["out.jsonl"] == KEPT and received["clusters"] == b'{"keep":"1","drop":["3"]}\n'
    assert received["report.md"].startswith(b"# Duplicates")
    assert names(tmp_path) == ["clusters", "in.jsonl", "out.jsonl", "report.md"]


def test_a_device_is_written_to(tmp_path: Path, source: Path) -> None:
    device = tmp_path / "null.jsonl"
    try:
        os.mknod(device, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
        device.write_bytes(b"")
    except OSError as error:
        pytest.skip(f"no device can be made here: {error}")
    dedup.run(source, out=device, method="exact")
    assert device.is_char_device()
    device.unlink()
    os.mknod(device, 0o600 | stat.S_IFCHR, os.makedev(1, 7))
    with pytest.raises(StorageError, match="No space left on device"):
        dedup.run(source, out=device, method="exact")
    assert device.is_char_device()


def test_compressed_outputs_have_the_same_bytes_under_every_name(tmp_path: Path, source: Path) -> None:
    for name in ("one.jsonl.gz", "other.jsonl.gz"):
        dedup.run(source, out=tmp_path / name, method="exact")
    one, other = (tmp_path / name for name in ("one.jsonl.gz", "other.jsonl.gz"))
    assert gzip.decompress(one.read_bytes()) == KEPT and one.read_bytes() == other.read_bytes()


def write_files(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def files_of(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()
    }


def test_an_input_folder_beside_the_output_is_not_touched(tmp_path: Path) -> None:
    files = {"a.txt": "one", "sub/b.txt": "two", "sub/c.txt": "one"}
    source = write_files(tmp_path / "sites.new", files)
    done = says("dedup", source.name, "--out", "sites/", "--method", "exact", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert files_of(source) == files
    assert files_of(tmp_path / "sites") == {"a.txt": "one", "sub/b.txt": "two"}
    assert names(tmp_path) == ["sites", "sites.new"]


def test_several_folders_are_copied_each_below_its_name(tmp_path: Path, source: Path) -> None:
    one = write_files(tmp_path / "in" / "one", {"sub/a.txt": "one", "sub/b.txt": "two"})
    two = write_files(tmp_path / "in" / "two", {"sub/a.txt": "three", "sub/b.txt": "one"})
    done = says("dedup", one, f"{two}/", "--out", f"{tmp_path}/clean/", "--method", "exact")
    assert done.returncode == 0, done.stderr
    clean = {"one/sub/a.txt": "one", "one/sub/b.txt": "two", "two/sub/a.txt": "three"}
    assert files_of(tmp_path / "clean") == clean
    dedup.run([one, source], out=f"{tmp_path}/mixed/", method="exact")
    assert sorted(files_of(tmp_path / "mixed")) == ["in.jsonl", "one/sub/a.txt", "one/sub/b.txt"]
    files = sorted((one / "sub").iterdir())
    dedup.run(files, out=f"{tmp_path}/files/", format="files", method="exact")
    assert files_of(tmp_path / "files") == {"a.txt": "one", "b.txt": "two"}
    same = write_files(tmp_path / "other" / "one", {"c.txt": "four"})
    with pytest.raises(InvalidArgument, match="two inputs have the same name, one"):
        dedup.run([one, same], out=f"{tmp_path}/same/", method="exact")
    assert names(tmp_path) == ["clean", "files", "in", "in.jsonl", "mixed", "other"]


VICTIM = """
import os, signal, sys
from pathlib import Path
from crivello import dedup

*sources, out, last = sys.argv[1:]
place = Path.replace
moved = []

def replaced(path, target):
    place(path, target)
    if out.rstrip("/") in str(target) and ".dedup-" not in str(target):
        moved.append(target)
        if len(moved) == int(last):
            os.kill(os.getpid(), signal.SIGKILL)

Path.replace = replaced
dedup.run(sources, out=out, method="exact")
"""


@pytest.mark.parametrize("count", [1, 2])
def test_a_folder_is_finished_after_a_kill(tmp_path: Path, count: int) -> None:
    files = {f"{number}/{name}.txt": f"{name} {number % 3}" for number in range(9) for name in "abc"}
    sources = [write_files(tmp_path / f"in{number}", files) for number in range(count)]
    dedup.run(sources, out=f"{tmp_path}/wanted/", method="exact")
    wanted = files_of(tmp_path / "wanted")
    out = tmp_path / "out"
    for last in ("5", "2", "9"):
        command = [sys.executable, "-c", VICTIM, *map(str, sources), f"{out}/", last]
        assert subprocess.run(command, timeout=60).returncode == -signal.SIGKILL
        assert 0 < len(files_of(out)) <= len(wanted)
    with pytest.raises(InvalidArgument, match="is not empty"):
        dedup.run(sources, out=f"{out}/", method="exact", keep="longest")
    dedup.run(sources, out=f"{out}/", method="exact")
    assert files_of(out) == wanted
    assert [name for name in names(tmp_path) if not name.startswith("in")] == ["out", "wanted"]


def test_one_run_at_a_time_fills_a_folder(tmp_path: Path) -> None:
    one = write_json_lines(tmp_path / "one.jsonl", ROWS)
    two = write_json_lines(tmp_path / "two.jsonl", ROWS)

    def another(stage: str, done: int, total: int) -> None:
        del done, total
        if stage == "writing":
            dedup.run([one, two], out=f"{tmp_path}/clean/", method="exact", ignore=["case"])

    with pytest.raises(StorageError, match="another process is writing to"):
        dedup.run([one, two], out=f"{tmp_path}/clean/", method="exact", progress=another)
    dedup.run([one, two], out=f"{tmp_path}/clean/", method="exact")
    assert read_json_lines(tmp_path / "clean" / "one.jsonl") == ROWS[:2]


def test_a_reference_is_not_overwritten(tmp_path: Path, source: Path) -> None:
    (tmp_path / "clean").mkdir()
    reference = write_json_lines(tmp_path / "clean" / "in.jsonl", [{"text": "a"}])
    with pytest.raises(InvalidArgument, match="would be overwritten"):
        dedup.run(source, against=[reference], out=f"{tmp_path}/clean/")
    assert read_json_lines(reference) == [{"text": "a"}]


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--out", "/"), "there is no room for temporary files beside /"),
        (("--clusters", "/"), "/ is a folder"),
        (("--pairs", "."), ". is a folder"),
        (("--clusters", "clusters/"), "clusters/ is a folder"),
        (("--out", "."), "in.jsonl would be overwritten"),
        (("--out", "file/"), "file is a file"),
        (("--out", "socket"), "socket is a socket, which is not written to"),
        (("--clusters", "socket"), "socket is a socket, which is not written to"),
        (("--pairs", "block"), "block is a block device, which is not written to"),
        (("--report", "file"), "file is no name for a report"),
    ],
)
def test_what_is_no_output_is_one_sentence(
    tmp_path: Path, source: Path, flags: tuple[str, ...], said: str
) -> None:
    (tmp_path / "file").write_text("")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
    if "block" in flags:
        try:
            os.mknod(tmp_path / "block", 0o600 | stat.S_IFBLK, os.makedev(7, 99))
        except OSError as error:
            pytest.skip(f"no device can be made here: {error}")
    before = names(tmp_path)
    done = says("dedup", source.name, *flags, folder=tmp_path)
    assert done.returncode == 2 and done.stderr.startswith(f"crivello: {said}"), done.stderr
    assert names(tmp_path) == before


def test_a_folder_may_be_this_one(tmp_path: Path, source: Path) -> None:
    (tmp_path / "here").mkdir()
    done = says("dedup", source, "--out", ".", "--method", "exact", folder=tmp_path / "here")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "here" / "in.jsonl").read_bytes() == KEPT
    assert names(tmp_path) == ["here", "in.jsonl"]


def interrupted(source: Path, **options: Any) -> None:
    """A run that is stopped while it reads."""

    def stopped(stage: str, done: int, total: int) -> None:
        del stage, done, total
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dedup.run(source, progress=stopped, **options)


@pytest.mark.parametrize("where", ["beside", "work"])
def test_the_state_of_an_input_that_has_changed_goes(tmp_path: Path, source: Path, where: str) -> None:
    out = tmp_path / "out.jsonl"
    places: dict[str, Any] = {"out": out} if where == "beside" else {"out": out, "work": tmp_path / "work"}
    folder, begin = (tmp_path, "out.jsonl.dedup-") if where == "beside" else (tmp_path / "work", "dedup-")
    other = write_json_lines(tmp_path / "other.jsonl", ROWS)

    def left() -> list[str]:
        return [name for name in names(folder) if name.startswith(begin)]

    for options in ({"threshold": 0.7}, {"threshold": 0.8}, {"method": "exact"}):
        interrupted(source, **options, **places)
    assert len(left()) == 3
    foreign = folder / f"{begin}0123456789abcdef"
    foreign.mkdir()
    interrupted(other, **places)
    dedup.run(source, threshold=0.7, **places)
    assert len(left()) == 4
    write_json_lines(source, [*ROWS, {"text": "c"}])

    def meanwhile(stage: str, done: int, total: int) -> None:
        del done, total
        if stage == "reading":
            write_json_lines(source, [*ROWS, {"text": "d"}])
            dedup.run(source, threshold=0.9, **places)

    dedup.run(source, threshold=0.9, progress=meanwhile, **places)
    # What has another input, and what is no state.
    assert len(left()) == 2 and foreign.exists()
    dedup.run(other, **places)
    assert left() == [foreign.name]


@pytest.mark.parametrize("name", ["clean.parquet", "clean.csv", "clean.warc.gz", "CLEAN.TSV"])
def test_a_name_of_another_form_is_refused(tmp_path: Path, source: Path, name: str) -> None:
    with pytest.raises(InvalidArgument, match="would have the form of the input"):
        dedup.run(source, out=tmp_path / name)
    assert not (tmp_path / name).exists()


def test_another_name_of_an_input_is_refused(tmp_path: Path, source: Path) -> None:
    (tmp_path / "link.jsonl").hardlink_to(source)
    with pytest.raises(InvalidArgument, match="is an input, and would be overwritten"):
        dedup.run(source, out=tmp_path / "link.jsonl")


def test_a_report_shows_where_long_texts_differ(tmp_path: Path) -> None:
    text = " ".join(f"w{number}" for number in range(20_000))
    rows = [{"id": 1, "text": f"{text} <b>once</b>"}, {"id": 2, "text": f"{text} twice more"}]
    source = write_json_lines(tmp_path / "long.jsonl", rows)
    dedup.run(source, report=tmp_path / "report")
    assert "<ins>twice more</ins>" in (tmp_path / "report" / "report.html").read_text()
    assert "**twice more**" in (tmp_path / "report" / "report.md").read_text()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"inputs": ""}, "there is no input"),
        ({"inputs": None}, "there is no input"),
        ({"inputs": []}, "there is no input"),
        ({"inputs": 5}, "inputs must be a path or a list of paths, and not 5"),
        ({"inputs": b"in.jsonl"}, "inputs must be a path or a list of paths, and not b'in.jsonl'"),
        ({"inputs": [5]}, "inputs must be a path, and not 5"),
        ({"inputs": ["in.jsonl", ""]}, "inputs has an empty name"),
        ({"inputs": "a\0b"}, "inputs: 'a\\x00b' has a character that no path has"),
        ({"against": ["\ud800"]}, "against: '\\ud800' has a character that no path has"),
        ({"against": 5}, "against must be a path or a list of paths, and not 5"),
        ({"out": 5}, "out must be a path, and not 5"),
        ({"out": False}, "out must be a path, and not False"),
        ({"pairs": ["a"]}, "pairs must be a path, and not ['a']"),
        ({"clusters": 1.5}, "clusters must be a path, and not 1.5"),
        ({"report": "a\0"}, "report: 'a\\x00' has a character that no path has"),
        ({"work": b"w"}, "work must be a path, and not b'w'"),
        ({"field": None}, "field must be a text, and not None"),
        ({"id": 5}, "id must be a text, and not 5"),
        ({"format": ["jsonl"]}, "format must be a text, and not ['jsonl']"),
        ({"cluster": 5}, "cluster must be a text, and not 5"),
        ({"checkpoint": "soon"}, "checkpoint must be a number, and not 'soon'"),
        ({"checkpoint": None}, "checkpoint must be a number, and not None"),
        ({"checkpoint": -1}, "checkpoint must be at least 0, and not -1.0"),
        ({"progress": 5}, "progress must be a function, and not 5"),
    ],
)
def test_wrong_arguments_are_one_sentence(
    source: Path, monkeypatch: pytest.MonkeyPatch, wrong: dict[str, Any], message: str
) -> None:
    monkeypatch.chdir(source.parent)
    with pytest.raises(InvalidArgument) as caught:
        dedup.run(**{"inputs": source, "out": "out.jsonl", **wrong})
    assert str(caught.value) == message
    assert names(source.parent) == [source.name]


def test_none_is_no_output_and_no_other_corpus(source: Path) -> None:
    report = dedup.run(
        source, out=None, pairs=None, clusters=None, report=None, against=None, work=None, cluster=None
    )
    assert report.kept == 2 and names(source.parent) == [source.name]


def test_a_similarity_belongs_to_the_step_that_begins_with_it() -> None:
    shares = np.array([0, 0.05, 0.7, 0.95, 1])
    for given in (shares, shares.astype(np.float32).astype(np.float64)):
        assert steps_of(given).tolist() == [0, 1, 14, 19, 19]
    assert steps_of(np.array([0.0499, 0.6999])).tolist() == [0, 13]
