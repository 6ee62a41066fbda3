"""The study of queues between threads, through the real command."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from crivello.errors import InvalidArgument
from crivello.lab.queues import QUEUES, study
from tests.shell import says


def lab(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return says("lab", "queues", *arguments)


def test_every_queue_is_measured_with_every_number_of_threads(tmp_path: Path) -> None:
    assert list(QUEUES) == ["mutex", "michael-scott", "array"]
    plot = tmp_path / "queues.png"
    done = lab("--threads", "1,3", "--pairs", "6000", "--plot", plot, "--json")
    assert done.returncode == 0 and plot.stat().st_size > 10_000, done.stderr
    found = json.loads(done.stdout)
    assert [(row["queue"], row["threads"]) for row in found["rows"]] == [
        (queue, threads) for threads in (1, 3) for queue in QUEUES
    ]
    for row in found["rows"]:
        assert row["operations"] == 12_000 and row["operations_per_second"] > 0
    table = lab("--threads", "2", "--pairs", "2000")
    assert table.returncode == 0 and all(queue in table.stdout for queue in QUEUES)


@pytest.mark.parametrize(
    "flags", [["--threads", "0"], ["--threads", "a"], ["--threads", ""], ["--plot", "x.txt"]]
)
def test_misuse_is_one_sentence(flags: list[str]) -> None:
    done = lab(*flags, "--pairs", "100")
    assert done.returncode == 2 and done.stdout == ""


def test_a_round_is_much_longer_than_a_time_slice() -> None:
    [one, many] = study((1, 3), queues=("array",)).rows
    assert one.operations > 4 * 400_000 and many.operations > 400_000
    assert many.operations % 6 == 0


def test_each_thread_has_a_pair_at_least() -> None:
    for threads, pairs in (((), 10), ((0,), 10), ((4,), 3)):
        with pytest.raises(InvalidArgument):
            study(threads, pairs=pairs)
