"""The study of duplicates: streams as stated, the published rates, and the real command."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import duckdb
import numpy as np
import pytest
from matplotlib import pyplot as plt

from crivello.errors import InvalidArgument
from crivello.filters import StableBloom
from crivello.lab.duplicates import Combination, Grid, generate, generate_at_distance, read, study
from crivello.lab.duplicates.grid import bound_of
from crivello.lab.duplicates.plots import PLOTS
from crivello.lab.duplicates.runs import run_all, truth_of
from tests.shell import CRIVELLO, says

FILES = {"f1-over-k.png", "f1-over-m.png", "false-positives.png", "f1-along.png", "effect-of-p.png"}


@pytest.mark.parametrize("skew", [0.0, 0.5, 0.8, 1.0, 1.2])
@pytest.mark.parametrize("distinct", [0.05, 0.49, 0.76])
def test_a_stream_has_the_share_of_new_elements_that_was_asked_for(skew: float, distinct: float) -> None:
    if skew > 1 and distinct > 0.2:
        with pytest.raises(InvalidArgument, match="at most"):
            generate(200_000, distinct, skew)
        return
    stream = generate(200_000, distinct, skew, seed=3)
    assert len(stream) == 200_000
    assert len(np.unique(stream.signatures)) / 200_000 == pytest.approx(distinct, abs=0.006)
    counts = np.sort(np.unique(stream.signatures, return_counts=True)[1])[::-1]
    assert counts[0] > 100 if skew >= 0.8 else counts[0] < 1000
    assert (generate(200_000, distinct, skew, seed=3).signatures == stream.signatures).all()
    assert (generate(200_000, distinct, skew, seed=4).signatures != stream.signatures).any()


def test_streams_that_cannot_be_are_refused() -> None:
    assert len(np.unique(generate(1000, 1.0).signatures)) == 1000
    for elements, distinct, skew in (
        (0, 0.5, 0.0),
        (10, 0.0, 0.0),
        (10, 1.1, 0.0),
        (10, 0.5, -1.0),
        (10, 0.5, 9.0),
    ):
        with pytest.raises(InvalidArgument):
            generate(elements, distinct, skew)
    with pytest.raises(InvalidArgument):
        Grid(cells=())


@pytest.mark.parametrize(("distinct", "distance"), [(0.9, 100), (0.5, 5000), (1.0, 10)])
def test_duplicates_have_the_share_and_the_distance_that_was_asked_for(
    distinct: float, distance: int
) -> None:
    stream = generate_at_distance(200_000, distinct, distance, seed=2)
    duplicates = truth_of(stream)
    assert duplicates.mean() == pytest.approx(1 - distinct, abs=0.02)
    last: dict[int, int] = {}
    gaps = []
    for place, key in enumerate(stream.signatures.tolist()):
        if key in last:
            gaps.append(place - last[key])
        last[key] = place
    # A key that is repeated twice has its second repetition nearer than what that was drawn from.
    if gaps:
        assert 0.5 * distance < float(np.mean(gaps)) < 1.1 * distance
    with pytest.raises(InvalidArgument):
        generate_at_distance(10, 0.5, 0)


def test_the_order_over_k_depends_on_the_share_and_the_distance_of_duplicates() -> None:
    """What docs/stream.md says: with P = 4, few and near duplicates favour many hash functions, others few."""

    def f1(distinct: float, distance: int, k: int) -> float:
        stream = generate_at_distance(200_000, distinct, distance)
        [run] = run_all(stream, truth_of(stream), [Combination("stable", 100_000, k, 1, 4)], 0, lambda: None)
        return run.whole.f1 or 0

    assert f1(0.95, 100, 8) > f1(0.95, 100, 4)
    assert f1(0.49, 5000, 8) < f1(0.49, 5000, 4)
    # The bound of the study, 0.05, is broken by P = 4 with K = 4, and kept with 6 and 8.
    assert [bound_of(40_000_000, k, 1, 4) > 0.05 for k in (4, 6, 8)] == [True, False, False]
    assert bound_of(100_000, 4, 1, 4) == pytest.approx(StableBloom(bits=100_000, k=4, p=4).bound)


def test_the_truth_is_position_aware() -> None:
    stream = generate(50_000, 0.3, 0.8)
    expected = np.ones(len(stream), dtype=np.bool_)
    expected[np.unique(stream.signatures, return_index=True)[1]] = False
    assert (truth_of(stream) == expected).all()


@pytest.mark.parametrize(
    ("elements", "distinct", "bits", "false_negatives", "false_positives"),
    [(10_000_000, 0.49, 262_144, 0.881, 0.1086), (100_000, 0.76, 65_536, 0.742, 0.082)],
)
def test_the_published_rates_are_reproduced(
    elements: int, distinct: float, bits: int, false_negatives: float, false_positives: float
) -> None:
    """Dutta and Narang, tables 13.2 to 13.4: K = 2, P = 4, Max = 1, evenly drawn."""
    stream = generate(elements, distinct, skew=0)
    [run] = run_all(stream, truth_of(stream), [Combination("stable", bits, 2, 1, 4)], 0, lambda: None)
    assert run.whole.false_negative_rate == pytest.approx(false_negatives, abs=0.01)
    assert run.whole.false_positive_rate == pytest.approx(false_positives, abs=0.01)


def test_bloom_saturates_and_stable_bloom_stays_level(tmp_path: Path) -> None:
    grid = Grid(cells=(20_000,), k=(4,), p=(), max=(1,), bounds=(0.05,))
    outcome = study(generate(300_000, 0.49, 0.0), grid, tmp_path)
    rates = {
        run.combination.filter: [window.false_positive_rate or 0 for window in run.windows]
        for run in outcome.runs
    }
    assert rates["bloom"][0] < 0.3 and min(rates["bloom"][-50:]) > 0.99
    assert max(rates["stable"]) < 0.08
    assert np.mean(rates["stable"][-30:]) == pytest.approx(np.mean(rates["stable"][20:50]), abs=0.01)


def test_every_filter_of_the_grid_runs_once() -> None:
    combinations = Grid().combinations(4_900_000)
    assert len(combinations) == len(set(combinations))
    for bits in (500_000, 40_000_000):
        wanted = Combination("stable", bits, 8, 1, 4, 0.05)
        assert wanted in combinations, "the best combination of the study"
    assert {one.cells for one in combinations} == {500_000, 1_000_000, 5_000_000, 10_000_000, 40_000_000}
    blooms = [one for one in combinations if one.filter == "bloom"]
    assert len(blooms) == 20 + 4, "K = ln 2 * m / n: 1 for all sizes but the largest"
    assert {one.k for one in blooms if one.cells == 500_000} == {1, 2, 4, 6, 8}
    assert {one.k for one in blooms if one.cells == 40_000_000} == {2, 4, 6, 8}, "ln 2 * 40 / 4.9 = 5.7"


def lab(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return says("lab", "duplicates", *arguments)


def test_the_command_leaves_its_report_its_plots_and_its_database(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    flags = ("--elements", "100000", "--cells", "10k,100k,1M", "--k", "2,4", "--into", folder)
    done = lab(*flags, "--json")
    assert done.returncode == 0 and done.stderr == "", done.stderr
    found = json.loads(done.stdout)
    assert found["elements"] == 100_000 and found["distinct"] / 100_000 == pytest.approx(0.49, abs=0.01)
    assert {file.name for file in folder.iterdir()} == FILES | {"report.md", "duplicates.duckdb"}
    text = (folder / "report.md").read_text()
    assert all(f"]({plot})" in text and (folder / plot).stat().st_size > 10_000 for plot in FILES)
    with duckdb.connect(str(folder / "duplicates.duckdb"), read_only=True) as database:
        runs = database.execute(
            "SELECT count(*), max(f1), bool_and(tp + fp + fn + tn = 100000) FROM runs"
        ).fetchone()
        whole = "SELECT count(*) FROM runs r WHERE fp != (SELECT sum(fp) FROM series s WHERE s.run = r.run)"
        assert database.execute(whole).fetchone() == (0,)
        windows = database.execute("SELECT count(*) FROM series").fetchone()
    assert runs == (found["combinations"], max(one["f1"] for one in found["best"].values()), True)
    assert windows == (100 * found["combinations"],)
    again = lab(*flags)
    assert again.returncode == 0 and again.stdout.strip() == str(folder / "report.md")


def test_a_stream_of_one_element_has_plots(tmp_path: Path) -> None:
    done = lab("--elements", "1", "--cells", "5k", "--k", "2", "--max", "1", "--into", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "report.md").exists()


def test_a_stream_without_duplicates_has_no_rates(tmp_path: Path) -> None:
    """The grid has a row of the study, for which the report has a table."""
    file = tmp_path / "different.txt"
    file.write_text("".join(f"{number}\n" for number in range(1000)))
    done = lab(file, "--cells", "40M", "--k", "4", "--p", "4", "--max", "1", "--into", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    text = (tmp_path / "report.md").read_text()
    rows = [line.split(" | ") for line in text.partition("Beside the study")[2].splitlines()]
    assert [row[3] for row in rows if row[0] == "| 4"] == ["-"]
    assert "None" not in text and "nan" not in text


def test_the_plots_show_the_smallest_max_of_the_grid(tmp_path: Path) -> None:
    """Also if it is not 1, with which Bloom filters are stored."""
    grid = Grid(cells=(5000,), k=(2,), p=(1, 2), max=(3, 7), bounds=())
    outcome = study(generate(2000), grid, tmp_path)
    with duckdb.connect(str(outcome.database), read_only=True) as database:
        shown = {plot.file: plot.draw(database).axes[-1].get_lines() for plot in PLOTS}
    plt.close("all")
    # F1 over K beside the baseline; Bloom and Stable Bloom; F1 and two rates.
    assert {file: len(lines) for file, lines in shown.items() if file != "f1-over-m.png"} == {
        "f1-over-k.png": 2,
        "false-positives.png": 2,
        "f1-along.png": 2,
        "effect-of-p.png": 3,
    }


def test_a_file_is_a_stream_too(tmp_path: Path) -> None:
    file = tmp_path / "urls.txt"
    file.write_text("".join(f"http://a.example/{number % 700}\n" for number in range(1000)))
    stream = read(file)
    assert len(stream) == 1000 and int((~truth_of(stream)).sum()) == 700
    done = lab(
        file, "--cells", "1k,10k", "--k", "3", "--p", "2", "--fps", "", "--into", tmp_path / "out", "--json"
    )
    assert done.returncode == 0 and json.loads(done.stdout)["distinct"] == 700, done.stderr
    done = lab(file, "--elements", "10")
    assert done.returncode == 2 and "generated stream" in done.stderr
    file.write_text("")
    assert "no lines to study" in lab(file).stderr


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--cells", "many"], "not a list of whole numbers"),
        (["--cells", "1.5"], "not a list of whole numbers"),
        (["--k", "0"], "the least is 1"),
        (["--p", "0,4"], "the least is 1"),
        (["--distance", "0"], "the least is 1"),
        (["--distance", "5,6"], "not one whole number"),
        (["--distance", ","], "not one whole number"),
        (["--fps", "a"], "not a list of shares"),
        (["--p", "", "--fps", ""], "the grid is empty"),
        (["--skew", "2.5"], "at most"),
        (["--parts", "1"], "--parts and --base-url are for the index of a crawl"),
        (["--base-url", "https://data.commoncrawl.org/"], "add --common-crawl"),
        (["--cells", "3", "--k", "4"], "too few"),
        (
            ["--cells", "500k", "--k", "300", "--max", "300"],
            "Max must be from 1 to 255, and 300 was asked for",
        ),
        (["--cells", "500k", "--k", "300"], "from 1 to 64"),
        (["--cells", "9" * 30], "out of range"),
        (["--cells", "9" * 400], "out of range"),
        (["--k", "9" * 30, "--fps", ""], "out of range"),
    ],
)
def test_misuse_is_one_sentence(flags: list[str], said: str, tmp_path: Path) -> None:
    done = lab(*flags, "--elements", "1000", "--into", tmp_path / "out")
    assert done.returncode == 2 and said in done.stderr and done.stdout == ""


def test_a_server_in_the_environment_is_not_asked_for(tmp_path: Path) -> None:
    done = says(
        *("lab", "duplicates", "--elements", "100", "--cells", "5k", "--k", "2", "--into", tmp_path),
        environment={**os.environ, "CRIVELLO_COMMON_CRAWL": "http://127.0.0.1:9"},
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.alone
def test_ctrl_c_ends_a_study(tmp_path: Path) -> None:
    command = [str(CRIVELLO), "lab", "duplicates", "--elements", "3000000", "--into", str(tmp_path / "out")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 30
        while not (tmp_path / "out").exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        try:
            _, errors = process.communicate(timeout=5)
        finally:
            process.kill()  # one that does not end fails the test, and does not hold it up
    assert process.returncode == 130 and "Traceback" not in errors
    assert list((tmp_path / "out").iterdir()) == []
