"""Fitting settings of the search: the ascent, the folds, and the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crivello.collection import Collection
from crivello.errors import InvalidArgument
from crivello.index.jsonl import JsonLines
from crivello.index.update import Indexer
from crivello.lab.tune import Parameter, design, parse_parameter, refine, tune
from crivello.search.topics import Topic
from tests.test_shell import complaint, crivello

K1, B = Parameter("k1", 0.4, 3.0), Parameter("b", 0.0, 1.0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of each subject a long document that answers and a short one that does not: only b = 0 gets them right."""
    folder = tmp_path_factory.mktemp("tune")
    subjects = [f"subject{number}" for number in range(8)]
    with (folder / "documents.jsonl").open("w") as file:
        for subject in subjects:
            long = f"{subject} {subject} " + " ".join(f"{subject}word{number}" for number in range(80))
            for name, body in ((f"{subject}-long", long), (f"{subject}-short", subject)):
                file.write(json.dumps({"id": name, "body": body}) + "\n")
    (folder / "topics.tsv").write_text("".join(f"{subject}\t{subject}\n" for subject in [*subjects, "other"]))
    (folder / "qrels.txt").write_text("".join(f"{subject} 0 {subject}-long 1\n" for subject in subjects))
    with Collection.write(folder / "collection", create=True) as collection:
        Indexer(collection).add(JsonLines(str(folder / "documents.jsonl")))
    return folder


def test_the_command_finds_what_is_better_and_changes_nothing(folder: Path) -> None:
    collection = folder / "collection"
    before = {path: path.stat().st_mtime_ns for path in collection.rglob("*")}
    arguments = ("lab", "tune", collection, folder / "qrels.txt", folder / "topics.tsv", "--folds", "4")
    done = crivello(*arguments, "--budget", "20", "--json")
    assert done.returncode == 0, done.stderr
    study = json.loads(done.stdout)
    assert (study["measure"], study["topics"], study["passed_over"]) == ("AP", 8, ["other"])
    assert study["now"] == 0.5 and study["test"] == study["train"] == 1.0
    assert study["p"] == 2 / 2**8 and study["evaluations"] <= 21
    assert study["values_now"] == {"k1": 1.5, "b": 0.5} and study["fitted"]["b"] < 0.5
    assert [set(fold) for fold in study["folds"]] == [{"values", "train", "test", "now"}] * 4
    done = crivello(*arguments, "--budget", "20", "--parameter", "b", "--measure", "RR")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["fold", "b", "train", "test", "now"]
    assert [line.split()[0] for line in lines[1:6]] == ["1", "2", "3", "4", "mean"]
    assert lines[-2] == "[search]" and lines[-1].startswith("b = 0.")
    assert before == {path: path.stat().st_mtime_ns for path in collection.rglob("*")}


def test_a_fold_learns_nothing_from_its_own_topics(folder: Path) -> None:
    collection = Collection(folder / "collection")
    topics = [Topic(f"subject{number}", f"subject{number}") for number in range(8)]
    right = {topic.id: {f"{topic.id}-long": 1} for topic in topics}
    for odd in topics:
        # One topic wants the opposite of all others, so the fold that it is in must be wrong about it.
        judgments = {**right, odd.id: {f"{odd.id}-short": 1}}
        study = tune(
            collection.searcher(), collection.settings.search, topics, judgments, folds=8, budget=18, top=10
        )
        assert study.test == pytest.approx((7 + 0.5) / 8)
        assert sorted(fold.test for fold in study.folds) == [0.5] + [1.0] * 7


@pytest.mark.parametrize(
    ("text", "parameter"),
    [
        ("k1=0.4:3", K1),
        ("b", B),
        ("rank_weight=0:5", Parameter("rank_weight", 0.0, 5.0)),
    ],
)
def test_parameters(text: str, parameter: Parameter) -> None:
    assert parse_parameter(text) == parameter


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("language=1:2", "is no number among the settings"),
        ("per_site", "is no number among the settings that make a score"),
        ("k9", "is no number among the settings"),
        ("k1=3", "is no range"),
        ("k1=a:b", "is no range"),
        ("b=0:2", "not allowed for b"),
        ("b=0.5:0.5", "ends where it begins"),
    ],
)
def test_wrong_parameters(text: str, said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        parse_parameter(text)


def test_what_cannot_be_fitted(folder: Path) -> None:
    arguments = ("lab", "tune", folder / "collection", folder / "qrels.txt", folder / "topics.tsv")
    assert "8 judged topics cannot be dealt into 9 folds" in complaint(*arguments, "--folds", "9", code=2)
    collection = Collection(folder / "collection")
    topics = [Topic("1", "a"), Topic("2", "b")]
    judgments = {"1": {"a": 1}, "2": {"b": 1}}
    search = collection.searcher(), collection.settings.search, topics, judgments
    with pytest.raises(InvalidArgument, match="a budget of 3 is too small"):
        tune(*search, folds=2, budget=3)
    with pytest.raises(InvalidArgument, match="named twice"):
        tune(*search, folds=2, parameters=[B, B])


@given(st.floats(0, 1), st.floats(-5, 5), st.floats(0.001, 50))
def test_values_stay_in_their_range(share: float, low: float, width: float) -> None:
    parameter = Parameter("x", low, low + width)
    value = parameter.at(share)
    assert low <= value <= low + width
    assert parameter.share_of(value) == pytest.approx(share, abs=0.006)


def test_a_design_is_spread_evenly() -> None:
    points = design([K1, B], 64)
    assert len(points) == 64
    quarters = {(k1 > 1.7, b > 0.5) for k1, b in points}
    counts = [sum((k1 > 1.7, b > 0.5) == quarter for k1, b in points) for quarter in quarters]
    assert len(counts) == 4 and min(counts) >= 14


@settings(max_examples=40, deadline=None)
@given(st.floats(0, 1), st.floats(0, 1))
def test_ascent_climbs_a_hill(top_k1: float, top_b: float) -> None:
    asked = []

    def height(point: tuple[float, ...]) -> float:
        asked.append(point)
        return -((K1.share_of(point[0]) - top_k1) ** 2) - (B.share_of(point[1]) - top_b) ** 2

    start = design([K1, B], 8)
    (k1, b), score = refine([K1, B], start, height, 60)
    assert K1.share_of(k1) == pytest.approx(top_k1, abs=0.02) and b == pytest.approx(top_b, abs=0.02)
    assert score == max(map(height, list(asked))) and len(set(asked)) <= len(start) + 60
    asked.clear()
    refine([K1, B], start, height, 3)
    assert len(asked) == len(set(asked)) <= len(start) + 3
