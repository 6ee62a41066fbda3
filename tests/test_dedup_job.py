"""Finding duplicates with many workers: the files of one process, byte for byte, whatever runs the tasks."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from crivello import dedup
from crivello.cluster import engine
from crivello.cluster.jobs import RayMap
from crivello.dedup import job
from crivello.dedup.inputs import open_inputs
from crivello.dedup.job import find_duplicates
from crivello.dedup.options import Options
from crivello.dedup.sketches import ENGINE, Sketches
from crivello.dedup.source import Source
from crivello.errors import InvalidArgument, StorageError
from tests.test_dedup import corpus, page, run_shell

METHODS: tuple[dict[str, Any], ...] = (
    {"method": "minhash"},
    {"method": "minhash", "unit": "paragraph", "threshold": 0.6},
    {"method": "minhash", "boilerplate": "drop", "keep": "longest"},
    {"method": "fingerprint", "linkage": "complete"},
    {"method": "simhash", "distance": 6, "weights": "tf-idf"},
    {"method": "exact", "ignore": ("case", "digits")},
)
LEDGER = ("ids", "ends", "lengths", "units")
COLUMNS = ("digests", "signals", "keys", "ends", "simhashes", "pairs", "leaders")


def texts(count: int, seed: int) -> list[str]:
    """Texts of which a third are copies of others, some of them with words replaced, in two paragraphs under a menu."""
    draw, vocabulary = random.Random(seed), [f"word{number}" for number in range(3000)]
    made: list[list[str]] = []
    for _ in range(count):
        if made and draw.random() < 0.35:
            words = list(draw.choice(made))
            for _ in range(draw.choice((0, 0, 1, 3, 10))):
                words[draw.randrange(len(words))] = draw.choice(vocabulary)
        else:
            words = draw.choices(vocabulary, k=draw.randrange(40, 120))
        made.append(words)
    return ["home\nabout\n\n" + " ".join(words[:30]) + "\n\n" + " ".join(words[30:]) for words in made]


@pytest.fixture
def inputs(tmp_path: Path) -> list[Path]:
    """Inputs of four forms, one of them without documents; copies are in others than their originals."""
    made = texts(400, seed=7)
    random.Random(1).shuffle(made)
    folder = tmp_path / "files"
    for number, text in enumerate(made[:60]):
        place = folder / f"{number % 7}" / f"{number}.txt"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    archive = tmp_path / "pages.warc.gz"
    archive.write_bytes(
        b"".join(
            page(f"https://a.example/{number}", text.replace("\n", "<p>"))
            for number, text in enumerate(made[60:160])
        )
        + b"damage"
    )
    (tmp_path / "empty.jsonl").write_bytes(b"")
    return [
        folder,
        corpus(tmp_path, made[160:300], "one.jsonl"),
        tmp_path / "empty.jsonl",
        archive,
        corpus(tmp_path, made[300:], "two.jsonl"),
    ]


def opened(inputs: list[Path], options: Options, spool: Path) -> list[Source]:
    limit = options.largest_document
    return open_inputs(inputs, format="auto", field="text", id="id", limit=limit, spool=spool)


def ignored(stage: str, tasks: int) -> None:
    del stage, tasks


def stopped(inputs: list[Path], work: Path, chosen: dict[str, Any]) -> Path:
    """The work folder of a run by one process, which found everything and was stopped before it had written it."""

    def stop(stage: str, done: int, total: int) -> None:
        del done, total
        if stage == "writing":
            raise KeyboardInterrupt

    out = work.with_name("clean.jsonl")
    with pytest.raises(KeyboardInterrupt):
        dedup.run(inputs[:4], against=inputs[4:], out=out, work=work, progress=stop, **chosen)
    [folder] = work.iterdir()
    return folder


def read(folder: Path) -> dict[str, Any]:
    """All that is kept and found of documents; but how many passes it took."""
    files = [*(Path(name) for name in LEDGER), *(Path(ENGINE, name) for name in COLUMNS)]
    state = {**msgspec.msgpack.decode((folder / ENGINE / "state").read_bytes()), "passes": 0}
    return {str(file): (folder / file).read_bytes() for file in files} | {"state": state}


@pytest.mark.parametrize("chosen", METHODS, ids=str)
def test_parts_of_many_workers_are_the_files_of_one_process(
    inputs: list[Path], tmp_path: Path, chosen: dict[str, Any]
) -> None:
    options = Options(**chosen)
    wanted = read(stopped(inputs, tmp_path / "one", chosen))
    assert wanted["state"]["documents"] > 300 and wanted["state"]["is_found"]
    assert len(wanted["engine/pairs"]) > 50 * 12
    for workers in (1, 2, 7):
        folder = tmp_path / f"by {workers}"
        folder.mkdir()
        references, sources = (opened(some, options, tmp_path) for some in (inputs[4:], inputs[:4]))
        find_duplicates(folder, options, references, sources, map=map, workers=workers, told=ignored)
        with closing(Sketches(folder, options)) as sketches:
            sketches.engine.find()
        assert read(folder) == wanted


def twice(function: Any, tasks: Any) -> list[Any]:
    """Each task as if its worker had died in the middle of the first attempt, and after the second."""

    def attempts(task: Any) -> Any:
        target = Path(task.target)
        (target.with_name(f"{target.name}.dead")).mkdir(parents=True)
        (target.with_name(f"{target.name}.dead") / "ids").write_text("half")
        function(task)
        return function(task)

    return [attempts(task) for task in tasks]


def test_a_task_may_run_twice_and_a_job_goes_on(inputs: list[Path], tmp_path: Path) -> None:
    options = Options()
    wanted = read(stopped(inputs, tmp_path / "one", {}))
    folder = tmp_path / "many"
    folder.mkdir()
    done: list[str] = []

    def breaks(function: Any, tasks: Any) -> list[Any]:
        tasks = list(tasks)
        twice(function, tasks[: len(tasks) // 2])
        done.append(function.__name__)
        raise KeyboardInterrupt

    def goes_on(function: Any, tasks: Any) -> list[Any]:
        tasks = list(tasks)
        done.append(
            f"{sum(Path(task.target).exists() for task in tasks)} of {len(tasks)} {function.__name__}"
        )
        return twice(function, [task for task in tasks if not Path(task.target).exists()])

    def run(mapped: Any) -> None:
        references, sources = (opened(some, options, tmp_path) for some in (inputs[4:], inputs[:4]))
        find_duplicates(folder, options, references, sources, map=mapped, workers=4, told=ignored)

    with pytest.raises(KeyboardInterrupt):
        run(breaks)

    def breaks_later(function: Any, tasks: Any) -> list[Any]:
        return (goes_on if function is job.sketch else breaks)(function, tasks)

    with pytest.raises(KeyboardInterrupt):
        run(breaks_later)
    run(goes_on)
    assert done == ["sketch", "2 of 5 sketch", "compare", "2 of 4 compare"]
    run(breaks)  # nothing is left to do
    with closing(Sketches(folder, options)) as sketches:
        sketches.engine.find()
    assert read(folder) == wanted


def test_what_a_worker_cannot_see_is_said(inputs: list[Path], tmp_path: Path) -> None:
    options = Options()

    def run(mapped: Any) -> None:
        folder = tmp_path / "work"
        folder.mkdir()
        try:
            find_duplicates(
                folder, options, [], opened(inputs, options, tmp_path), map=mapped, workers=2, told=ignored
            )
        finally:
            shutil.rmtree(folder)

    def elsewhere(function: Any, tasks: Any) -> list[Any]:
        return [None for task in tasks if function and task]

    def another(function: Any, tasks: Any) -> list[Any]:
        tasks = list(tasks)
        inputs[1].write_text('{"text": "another"}')
        return [function(task) for task in tasks]

    def gone(function: Any, tasks: Any) -> list[Any]:
        tasks = list(tasks)
        inputs[1].unlink()
        return [function(task) for task in tasks]

    with pytest.raises(StorageError, match=r"a worker of the cluster wrote .* which is not here"):
        run(elsewhere)
    with pytest.raises(InvalidArgument, match=r"one\.jsonl is another file for a worker"):
        run(another)
    with pytest.raises(StorageError, match=r"one\.jsonl: No such file"):
        run(gone)


def dies_once(function: Any, task: Any) -> Any:
    """The first task of a round, after its work, and the second, before it, lose their worker at the first attempt."""
    mark = Path(f"{task.target}.attempted")
    place = Path(task.target).name[:1]
    if place not in "01" or mark.exists():
        return function(task)
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.touch()
    if place == "0":
        function(task)
    return os.kill(os.getpid(), signal.SIGKILL)


def test_killed_workers_change_nothing(ray: Any, inputs: list[Path], tmp_path: Path) -> None:
    options = Options()
    wanted = read(stopped(inputs, tmp_path / "one", {}))
    folder = tmp_path / "many"
    folder.mkdir()
    mapped = RayMap(ray, None)
    marks: list[str] = []

    def dying(function: Any, tasks: Any) -> list[Any]:
        tasks = list(tasks)
        if function is not job.sketch:  # once is enough: a worker takes seconds to start
            return mapped(function, tasks)
        done = mapped(partial(dies_once, function), tasks)
        marks.extend(file.name for file in Path(tasks[0].target).parent.glob("*.attempted"))
        return done

    references, sources = (opened(some, options, tmp_path) for some in (inputs[4:], inputs[:4]))
    find_duplicates(folder, options, references, sources, map=dying, workers=2, told=ignored)
    assert sorted(marks) == ["0.attempted", "1.attempted"]
    with closing(Sketches(folder, options)) as sketches:
        sketches.engine.find()
    assert read(folder) == wanted


def test_the_result_is_that_of_one_process(ray: Any, inputs: list[Path], tmp_path: Path) -> None:
    del ray
    told: list[tuple[str, int, int]] = []

    def run(name: str, **more: Any) -> list[bytes]:
        out, clusters, pairs = (tmp_path / f"{name}-{kind}.jsonl" for kind in ("out", "clusters", "pairs"))
        report = dedup.run(
            inputs[:4], against=inputs[4:], out=out, clusters=clusters, pairs=pairs, threshold=0.6, **more
        )
        figures = {name: value for name, value in report.to_dict().items() if name != "seconds"}
        return [json.dumps(figures).encode(), *(file.read_bytes() for file in (out, clusters, pairs))]

    def tell(stage: str, done: int, total: int) -> None:
        told.append((stage, done, total))

    wanted = run("one")
    assert run("many", cluster="local", progress=tell) == wanted and wanted[2].count(b"\n") > 10
    assert told[0] == ("reading", 0, 5) and ("reading", 5, 5) in told and ("writing", 4, 4) in told
    assert not [path for path in tmp_path.iterdir() if ".dedup-" in path.name]
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"text": "a"}\n{"text"\n')
    with pytest.raises(InvalidArgument, match=r"broken\.jsonl, line 2 is not JSON"):
        dedup.run([inputs[1], broken], cluster="local", out=tmp_path / "out.jsonl")
    assert not [path for path in tmp_path.iterdir() if ".dedup-" in path.name]


def test_the_shell_takes_the_address_of_a_cluster(ray: Any, tmp_path: Path) -> None:
    made = texts(60, seed=2)
    one, two = corpus(tmp_path, made[:40], "one.jsonl"), corpus(tmp_path, made[30:], "two.jsonl")
    wanted = dedup.run([one, two], out=tmp_path / "wanted.jsonl").to_dict()
    address = engine.address_of(ray)
    done = run_shell(
        "one.jsonl", "two.jsonl", "--out", "out.jsonl", "--json", "--cluster", address, cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert told.pop("seconds") and wanted.pop("seconds") and told == wanted and told["dropped"] >= 10
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "wanted.jsonl").read_bytes()
    assert len(list(tmp_path.iterdir())) == 4


MISUSE: list[tuple[str, dict[str, Any], str]] = [
    ("-", {}, "workers of a cluster read files, and neither standard input nor pipes"),
    ("in.jsonl", {}, "workers of a cluster need a folder to write to"),
    ("in.jsonl", {"method": "substring", "out": "out.jsonl"}, "the method substring takes one pass"),
    ("none.jsonl", {"out": "out.jsonl"}, "there is no file none.jsonl"),
]


@pytest.mark.parametrize(("name", "options", "said"), MISUSE)
def test_misuse_is_said_before_a_cluster_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, options: dict[str, Any], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    corpus(tmp_path, ["a"])
    with pytest.raises(InvalidArgument, match=said):
        dedup.run(name, cluster="127.0.0.1:9", **options)
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_a_cluster_that_is_not_there_leaves_nothing_behind(tmp_path: Path) -> None:
    corpus(tmp_path, ["a"])
    done = run_shell("in.jsonl", "--out", "out.jsonl", "--cluster", "127.0.0.1:9", cwd=tmp_path)
    assert done.returncode == 3 and done.stderr.startswith(
        "crivello: there is no Ray cluster at 127.0.0.1:9: Connection refused\nhint: `ray start --head`"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]
