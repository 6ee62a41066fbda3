"""The studies of assignments and of clusters, through the real commands."""

from __future__ import annotations

import json
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crivello.assignment import METHODS, Assignment
from crivello.errors import InvalidArgument
from crivello.lab.assign import generate, hosts_of, study
from crivello.lab.cluster import Costs, Scenario, model
from crivello.lab.cluster.web import names, zipf_sizes
from tests.shell import says

COSTS = Costs(assign=1e-8, parse=1e-4, sieve=1e-7, url_bytes=20.0)


def lab(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return says("lab", *arguments)


def test_every_method_is_as_the_theory_says(tmp_path: Path) -> None:
    file, plot = tmp_path / "urls", tmp_path / "assign.svg"
    made = generate(20_000)
    assert len(set(made)) == 20_000
    file.write_text("".join(f"https://{host}/page\n{host}\n" for host in made))
    done = lab("assign", file, "--agents", "1,20", "--plot", plot, "--json")
    assert done.returncode == 0 and plot.stat().st_size > 10_000, done.stderr
    found = json.loads(done.stdout)
    assert found["hosts"] == 20_000 and found["replicas"] == 300
    assert [(row["method"], row["agents"]) for row in found["rows"]] == [
        (method, agents) for agents in (1, 20) for method in METHODS
    ]
    for row in found["rows"]:
        if row["agents"] == 1:
            assert row["deviation"] == 0 and row["lost"] == 0
            continue
        assert 0.4 < row["deviation"] / row["expected_deviation"] < 1.8, row
        assert 0.7 < row["added"] / row["expected_added"] < 1.3, row
        assert 0.7 < row["lost"] / row["expected_lost"] < 1.3, row
        assert (row["astray"] > 0.5) if row["method"] == "modulo" else (row["astray"] == 0), row


def test_the_table_has_every_method() -> None:
    done = lab("assign", "--hosts", "2000", "--agents", "3", "--replicas", "10", "--by", "domain")
    assert done.returncode == 0 and all(method in done.stdout for method in METHODS)


@pytest.mark.parametrize(
    "flags",
    [
        ["assign", "--agents", "0"],
        ["assign", "--agents", "a"],
        ["assign", "--by", "path", "--hosts", "10"],
        ["assign", "x", "--hosts", "3"],
        ["assign", "--plot", "x.txt"],
        ["cluster", "--pages", "many"],
        ["cluster", "--pages", "10", "--agents", "100"],
        ["cluster", "--method", "dice"],
        ["cluster", "--pages", "1e6", "--max-per-host", "1"],
    ],
)
def test_misuse_is_one_sentence(flags: list[str]) -> None:
    done = lab(*flags)
    assert done.returncode == 2 and done.stdout == ""


def test_hosts_are_distinct_and_in_order() -> None:
    assert hosts_of(["http://b.example/x", "a.example", "https://b.example:80/", ""]) == [
        "b.example",
        "a.example",
    ]
    assert hosts_of(["www.a.co.uk", "a.co.uk"], "domain") == ["a.co.uk"]
    with pytest.raises(InvalidArgument):
        study([])


def test_sizes_follow_zipf() -> None:
    for count, total, exponent, most in ((1000, 50_000, 1.0, 10_000), (100, 100, 1.0, 5), (10, 500, 0.0, 50)):
        sizes = zipf_sizes(count, total, exponent, most)
        assert sizes.sum() == total and sizes.min() >= 1 and sizes.max() <= most
    sizes = zipf_sizes(10_000, 1_000_000, 1.0, 10**6).astype(float)
    assert abs(sizes[9] / sizes[99] - 10) < 0.1
    bytes_, offsets = names(np.array([7, 1234567890]))
    assert bytes_[offsets[1] :].tobytes() == b"www.site-1234567890.example"


def scenario(**changes: Any) -> Scenario:
    usual: dict[str, Any] = {
        "agents": 1,
        "pages": 20_000,
        "hosts": 100,
        "zipf": 0.0,
        "hosts_per_address": 1.0,
        "delay": 1.5,
        "fetch": 0.5,
        "slots": 200,
        "address_rest": 0.0,
        "lost": 0.0,
    }
    return Scenario(**{**usual, **changes})


def test_one_agent_with_equal_hosts_has_closed_forms() -> None:
    # 100 hosts of 200 pages, each a page per request and rest, all at the same time.
    found = model(scenario(), COSTS)
    expected = 200 * 0.5 + 199 * 1.5
    assert found.speed.seconds["100 %"] == pytest.approx(expected, rel=0.01)
    assert found.saturation.bound == pytest.approx(100 / 2.0)
    assert found.saturation.bound_slots == pytest.approx(50 / 2, rel=0.01)
    assert found.load.pages_deviation == 0 and found.load.largest == 1 and found.loss is None
    assert found.exchange.urls_per_page == 0
    # Ten slots, each busy for half a second and the processor's time.
    found = model(scenario(slots=10), COSTS)
    assert found.speed.seconds["100 %"] == pytest.approx(
        20_000 * COSTS.process(scenario()) + 20_000 * 0.5 / 10, rel=0.02
    )
    assert found.speed.slot_use > 0.95
    # All hosts on one address, a request at a time.
    found = model(scenario(hosts_per_address=100.0, address_rest=0.1), COSTS)
    assert found.addresses == 1
    assert found.speed.seconds["100 %"] == pytest.approx(20_000 * 0.6, rel=0.01)


def test_agents_that_share_an_address_take_turns() -> None:
    apart = model(scenario(agents=4, hosts_per_address=100.0, address_rest=0.1, replicas=2000), COSTS)
    # Each of four agents may ask every 0.4 seconds: with requests of half a second they are not slower than one.
    assert apart.shared_addresses == 1
    assert apart.speed.seconds["100 %"] < 20_000 * 0.6
    assert apart.speed.seconds["100 %"] > 20_000 * 0.9 / 4 * 0.9


def test_a_cluster_is_divided_evenly_and_survives_a_loss(tmp_path: Path) -> None:
    report = tmp_path / "report"
    flags = ("--agents", "20", "--pages", "2e4", "--sample", "20", "--max-per-host", "200", "--lost", "0.1")
    done = lab("cluster", *flags, "--into", report, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    load, loss, exchange = found["load"], found["loss"], found["exchange"]
    assert 0.6 < load["hosts_deviation"] / load["expected_hosts_deviation"] < 1.5
    assert 0.5 < load["pages_deviation"] / load["expected_pages_deviation"] < 1.6
    # Of ten links to other hosts one in twenty stays, and more at agents with more pages.
    assert exchange["urls_per_page"] == pytest.approx(9.45, rel=0.02)
    assert loss["agents"] == 2 and 0.05 < loss["hosts_moved"] / found["hosts"] < 0.2
    assert (
        loss["takeover_seconds"] >= 10
        and loss["redone_seconds"]["100 %"] >= loss["redone_seconds"]["50 %"] > 10
    )
    assert 0 < loss["pages_lost"] < 0.2 * 20_000
    rates = [rate for _, rate in found["saturation"]["rates"]]
    assert all(more >= 0.99 * less for less, more in pairwise(rates))
    assert rates[-1] <= 1.05 * found["saturation"]["bound"]
    text = (report / "report.md").read_text()
    assert "## Saturation" in text and all(
        (report / name).stat().st_size > 5000 for name in ("rate.svg", "slots.svg")
    )
    again = lab("cluster", *flags, "--costs", report / "model.json", "--json")
    assert {**json.loads(again.stdout), "seconds": 0} == {**found, "seconds": 0}
    assert lab("cluster", *flags, "--costs", report / "report.md").returncode == 2


def test_every_page_is_fetched_once_without_a_loss() -> None:
    found = model(Scenario(agents=20, pages=50_000, sample=20, most_per_host=300, lost=0.05), COSTS)
    assert found.loss is not None
    swept = sum(round(rate * found.speed.seconds["50 %"] * 20) for _, rate in found.saturation.rates)
    before = round(found.loss.pages_lost)
    # All pages once; what the lost agent had, and then all again by the others.
    assert found.events - swept - before == 2 * 50_000


def test_names_are_really_assigned() -> None:
    numbers = np.arange(1000)
    listed = [f"www.site-{number:010}.example" for number in numbers]
    assignment = Assignment(30)
    assert assignment.agent(names(numbers)).tolist() == assignment.agent(listed).tolist()
