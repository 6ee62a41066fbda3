"""Topics, runs and judgments, and what is made of them: end to end, and against figures worked out by hand."""

from __future__ import annotations

import gzip
import itertools
import json
import math
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crivello.collection import Collection
from crivello.errors import CrivelloError, InvalidArgument
from crivello.evaluate import compare, evaluate, p_of_randomisation, p_of_t_test, read_judgments
from crivello.evaluate.compare import EXACT_UP_TO
from crivello.evaluate.plot import draw
from crivello.index import Document, Index
from crivello.search import Hit, Snippet
from crivello.search.runs import lines_of_run, read_run
from crivello.search.topics import Topic, hits_of, read_topics
from crivello.search.words import words_of_text
from tests import cranfield
from tests.searching import opened
from tests.shell import CRIVELLO
from tests.test_shell import complaint, crivello

# Five are the same but for their names, so their scores are equal.
DOCUMENTS = [
    {"id": "wind-1", "title": "Solar wind", "body": "the wind of the sun blows through space"},
    *({"id": f"same-{letter}", "body": "wind and sails of ships"} for letter in "abcde"),
    {"id": "sails", "body": "sails sails sails"},
    {"id": "bees", "title": "Bees", "body": "a queen, her swarm and their honey at -5 degrees"},
]
TOPICS = "1\tsolar wind\n2\tsails AND NOT wind\n3\thoney at -5 degrees: title:bees\n4\txyzzy\n"
# Of equal scores the lower signature of the URL comes first.
TIED = "cadbe"
QRELS = "1 0 wind-1 1\n1 0 same-d 1\n2 0 sails 1\n2 0 bees 0\n3 0 bees 1\n5 0 bees 1\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection of a few documents, with topics and judgments beside it."""
    folder = tmp_path_factory.mktemp("eval")
    (folder / "documents.jsonl").write_text("\n".join(map(json.dumps, DOCUMENTS)))
    (folder / "topics.tsv").write_text(TOPICS)
    (folder / "qrels.txt").write_text(QRELS)
    done = crivello("index", folder / "collection", "--from", folder / "documents.jsonl")
    assert done.returncode == 0, done.stderr
    done = crivello(
        *("search", folder / "collection", "--batch", folder / "topics.tsv", "--run", folder / "run.txt")
    )
    assert done.returncode == 0 and done.stdout == ""
    assert "4 topics" in done.stderr and "for 1 of them nothing was found" in done.stderr
    return folder


def json_of(*arguments: str | Path) -> dict[str, Any]:
    done = crivello(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    decoded: dict[str, Any] = json.loads(done.stdout)
    return decoded


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


TREC = """
<top>
<num> Number: 301
<title> Topic: International &amp; Organized Crime
<desc> Description:
Identify organizations: which?

<narr> Narrative:
A relevant document names one.
</top>
<top><num>302</num><title></title><desc> Description: Poliomyelitis
</desc></top>
"""
SMART = "<DOC>\n<DOCNO> 1 </DOCNO>\n\n What articles exist\n about TSS?\n</DOC>\n<DOC>\n<DOCNO>2</DOCNO>\nEither\n</DOC>\n"


@pytest.mark.parametrize(
    ("text", "topics"),
    [
        ("7\tsolar  wind \n\nq-8\tbees\n", [Topic("7", "solar  wind"), Topic("q-8", "bees")]),
        (
            TREC,
            [Topic("301", "International & Organized Crime"), Topic("302", "Poliomyelitis")],
        ),
        (
            TREC.replace("</top>", ""),
            [Topic("301", "International & Organized Crime"), Topic("302", "Poliomyelitis")],
        ),
        (SMART, [Topic("1", "What articles exist about TSS?"), Topic("2", "Either")]),
    ],
)
def test_topics_in_all_forms(tmp_path: Path, text: str, topics: list[Topic]) -> None:
    assert read_topics(str(written(tmp_path, "topics", text))) == topics
    packed = tmp_path / "packed"
    packed.write_bytes(gzip.compress(text.encode()))
    assert read_topics(str(packed)) == topics


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1\ta\nno tab here\n", ", line 2: there is no tab"),
        ("1\ta\n1\tb\n", ", line 2: topic 1 was there before"),
        ("a b\tc\n", ", line 1: 'a b' is no id of a topic"),
        ("<top>\n<title> a\n</top>\n", ", line 1: '' is no id"),
        ("<title> a\n", ", line 1: a topic begins with <top> or <DOC>"),
        ("\n", "there is no topic in "),
    ],
)
def test_wrong_topics_are_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        read_topics(str(written(tmp_path, "topics", text)))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("What of C++ and C#?", "What of C++ and C#"),
        ("wings at -5 degrees (AND more), title:x", "wings at 5 degrees and more title x"),
        ("“quoted” 'e-mail' U.S.A. snake_case", "quoted e mail U.S.A snake_case"),
        ("हिन्दी खोज, 東京都!", "हिन्दी खोज 東京都"),
        ("+ - * NOT", "not"),
        ("...", ""),
    ],
)
def test_words_of_text(text: str, words: str) -> None:
    assert words_of_text(text) == words


def test_any_text_is_searched_as_words(tmp_path: Path) -> None:
    searcher = opened(tmp_path, Index(tmp_path).add([Document("a", "", "a b")]))
    signs = st.text(alphabet="aB3 \"'()[]{}<>-+*~^:/\\?!&|=ANDORTO.,_#@½é東ह्", max_size=25)

    @settings(max_examples=300, deadline=None)
    @given(st.one_of(st.text(max_size=20), signs))
    def check(text: str) -> None:
        if words := words_of_text(text):
            searcher.search(words)

    check()


def test_a_run_has_the_order_of_the_search(folder: Path) -> None:
    lines = [line.split() for line in (folder / "run.txt").read_text().splitlines()]
    assert {(line[1], line[5], len(line)) for line in lines} == {("Q0", "crivello", 6)}
    collection = Collection(folder / "collection")
    for topic, query in (
        ("1", "solar wind"),
        ("2", "sails and not wind"),
        ("3", "honey at 5 degrees title bees"),
    ):
        found = [line for line in lines if line[0] == topic]
        assert [line[2] for line in found] == [
            hit.url for hit in hits_of(Topic(topic, query), collection.searcher(), top=1000)
        ]
        assert [int(line[3]) for line in found] == list(range(1, len(found) + 1))
        scores = [np.float32(line[4]) for line in found]
        assert all(above > below for above, below in itertools.pairwise(scores))
    # trec_eval would take the last of the equal ones first, were their scores written as they are.
    assert [line[2] for line in lines if line[0] == "1"] == [
        "wind-1",
        *(f"same-{letter}" for letter in TIED),
    ]


@given(st.lists(st.floats(-1e3, 1e3, width=32), max_size=30))
def test_scores_fall_in_32_bits_whatever_they_were(scores: list[float]) -> None:
    scores.sort(reverse=True)
    hits = [Hit(rank, score, f"u{rank}", "", Snippet(())) for rank, score in enumerate(scores, 1)]
    read = [np.float32(line.split()[4]) for line in lines_of_run("1", hits)]
    assert len(read) == len(scores)
    assert all(above > below for above, below in itertools.pairwise(read))
    assert all(now <= np.float32(score) for now, score in zip(read, scores, strict=True))
    if len(set(scores)) == len(scores):
        assert read == [np.float32(score) for score in scores]


def test_a_document_goes_by_its_id_then_by_its_url() -> None:
    empty = Snippet(())
    hits = [
        Hit(1, 2.0, "https://a.example/", "", empty, "a"),
        Hit(2, 1.5, "https://b.example/", "", empty),
        Hit(3, 1.0, "https://c.example/", "", empty, "a"),
        Hit(4, 0.5, "https://d.example/", "", empty, "d e"),
    ]
    assert list(lines_of_run("7", hits, "me")) == [
        "7 Q0 a 1 2 me",
        "7 Q0 https://b.example/ 2 1.5 me",
        "7 Q0 d%20e 3 0.5 me",
    ]


def test_a_batch_by_pipes(folder: Path) -> None:
    done = subprocess.run(
        [CRIVELLO, "search", folder / "collection", "--batch", "-", "--run", "-", "--top", "2"],
        input=TOPICS,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0
    assert [line.split()[:4] for line in done.stdout.splitlines()][:2] == [
        ["1", "Q0", "wind-1", "1"],
        ["1", "Q0", f"same-{TIED[0]}", "2"],
    ]


def test_a_run_is_whole_or_not_there(folder: Path, tmp_path: Path) -> None:
    topics = tmp_path / "topics"
    topics.write_text(
        "".join(f"{number}\twind sails solar ships space {number}\n" for number in range(50_000))
    )
    run = tmp_path / "run.txt"
    command: list[str | Path] = [CRIVELLO, "search", folder / "collection", "--batch", topics, "--run", run]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as search:
        while not (tmp_path / "run.txt.tmp").exists():
            assert search.poll() is None
            time.sleep(0.01)
        search.send_signal(signal.SIGINT)
        said = search.communicate(timeout=60)
    assert search.returncode == 130 and b"Traceback" not in said[1]
    assert [file.name for file in tmp_path.iterdir()] == ["topics"]


def test_a_batch_reports_in_json_and_finds_nothing(folder: Path, tmp_path: Path) -> None:
    collection, run = folder / "collection", tmp_path / "run"
    report = json_of("search", collection, "--batch", folder / "topics.tsv", "--run", run)
    assert report == {"run": str(run), "topics": 4, "lines": 14, "nothing_found": ["4"]}
    nothing = written(tmp_path, "nothing", "1\t...\n2\txyzzy\n")
    done = crivello("search", collection, "--batch", nothing, "--run", run)
    assert done.returncode == 1 and run.read_text() == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "there is nothing to look for"),
        (["words", "--run", "x"], "--run is for the results of --batch"),
        (["words", "--batch", "x"], "--batch has its own queries"),
        (["--json", "--batch", "x"], "would share standard output"),
    ],
)
def test_contradictions_of_a_batch(folder: Path, arguments: list[str], said: str) -> None:
    assert said in complaint("search", folder / "collection", *arguments, code=2)


def test_measures_by_hand(folder: Path) -> None:
    found = crivello("evaluate", folder / "qrels.txt", folder / "run.txt", "--json", "--per-query")
    assert "1 queries that nobody judged" not in found.stderr  # topic 4 found nothing, and is not in the run
    assert "nothing for 1 of the 4 judged queries, and they count as 0: 5" in found.stderr
    evaluation = json.loads(found.stdout)
    # Topic 1: relevant at ranks 1 and 4, of two. Topic 2: one, wherever it came.
    first = evaluation["queries"]["1"]
    assert first["AP"] == pytest.approx((1 / 1 + 2 / 4) / 2)
    assert first["nDCG@10"] == pytest.approx((1 + 1 / math.log2(5)) / (1 + 1 / math.log2(3)))
    assert (first["P@5"], first["P@10"], first["RR"], first["Rprec"]) == pytest.approx((0.4, 0.2, 1, 0.5))
    ranking = list(read_run(str(folder / "run.txt"))["2"])
    second = 1 / (1 + ranking.index("sails"))
    assert len(ranking) == 7 and evaluation["queries"]["2"]["AP"] == pytest.approx(second)
    assert evaluation["queries"]["3"]["AP"] == 1
    assert set(evaluation["queries"]["5"].values()) == {0}
    assert evaluation["mean"]["AP"] == pytest.approx((0.75 + second + 1 + 0) / 4)
    assert evaluation["mean"]["NumQ"] == 4
    assert json_of("evaluate", folder / "qrels.txt", folder / "run.txt") == evaluation["mean"]


def test_equal_scores_are_ordered_as_trec_eval_does(tmp_path: Path) -> None:
    judgments = read_judgments(str(written(tmp_path, "qrels", "1 0 a 1\n")))
    run = read_run(str(written(tmp_path, "run", "1 Q0 a 1 2.5 x\n1 Q0 b 2 2.5 x\n")))
    assert evaluate(judgments, run, ["AP"]).means == {"AP": 0.5}


def test_grades(tmp_path: Path) -> None:
    run = read_run(str(written(tmp_path, "run", "1 Q0 a 1 3 x\n1 Q0 b 2 2 x\n1 Q0 c 3 1 x\n")))
    three = str(written(tmp_path, "three", "1 a 1\n1 b 3\n1 c -1\n"))
    four = str(written(tmp_path, "four", "1 0 a 1\n1 0 b 3\n1 0 c -1\n"))
    assert read_judgments(three) == {"1": {"a": 1, "b": 1, "c": 0}}
    assert read_judgments(four) == read_judgments(three, graded=True) == {"1": {"a": 1, "b": 3, "c": -1}}
    gain = (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))
    assert evaluate(read_judgments(four), run, ["nDCG@10"]).means["nDCG@10"] == pytest.approx(gain)
    assert evaluate(read_judgments(four), run, ["P(rel=2)@2"]).means == {"P(rel=2)@2": 0.5}


def test_measures_that_are_asked_for_and_a_table(folder: Path) -> None:
    arguments = (
        "evaluate",
        folder / "qrels.txt",
        folder / "run.txt",
        "--measure",
        "nDCG@20",
        "--measure",
        "R@2",
    )
    assert set(json_of(*arguments)) == {"nDCG@20", "R@2", "NumQ"}
    done = crivello(*arguments, "--per-query")
    rows = [line.split() for line in done.stdout.splitlines()]
    assert rows[0] == ["query", "nDCG@20", "R@2"] and [row[0] for row in rows[1:]] == [
        "1",
        "2",
        "3",
        "5",
        "mean",
    ]
    assert "4 queries" in done.stderr


def test_values_as_a_picture(tmp_path: Path) -> None:
    evaluation = evaluate({"1": {"a": 1}}, {"1": {"a": 1.0}}, ["AP", "RR"])
    draw(tmp_path / "values.svg", evaluation, None, "a run")
    assert "<svg" in (tmp_path / "values.svg").read_text()
    with pytest.raises(InvalidArgument, match="is no name for a plot"):
        draw(tmp_path / "values.txt", evaluation, None, "a run")


def test_a_query_that_nobody_judged_is_a_warning(folder: Path, tmp_path: Path) -> None:
    run = written(tmp_path, "run", "1 Q0 wind-1 1 1.0 x\n9 Q0 bees 1 1.0 x\n")
    done = crivello("evaluate", folder / "qrels.txt", run)
    assert done.returncode == 0 and "warning: " in done.stderr and "that nobody judged" in done.stderr


def test_two_runs(folder: Path, tmp_path: Path) -> None:
    better = written(tmp_path, "better", "1 Q0 wind-1 1 2 x\n2 Q0 sails 1 1 x\n3 Q0 bees 1 1 x\n")
    worse = written(
        tmp_path, "worse", "1 Q0 bees 1 2 x\n1 Q0 wind-1 2 1 x\n2 Q0 sails 1 1 x\n3 Q0 sails 1 1 x\n"
    )
    arguments = ("evaluate", folder / "qrels.txt", better, worse, "--measure", "AP")
    found = json_of(*arguments)["AP"]
    assert (found["first"], found["second"]) == pytest.approx((0.625, 0.3125))
    assert found["difference"] == pytest.approx(-0.3125)
    assert (found["wins"], found["losses"], found["ties"]) == (0, 2, 2)
    assert found["p_randomisation"] == 0.5  # of the four ways to choose two signs, two are as far from 0
    assert 0 < found["p_t_test"] < 1
    both = json_of(*arguments, "--per-query")
    assert both["mean"]["AP"] == found and both["queries"]["3"] == {"AP": [1.0, 0.0]}
    picture = tmp_path / "difference.png"
    done = crivello(*arguments, "--per-query", "--plot", picture)
    assert done.returncode == 0 and picture.read_bytes().startswith(b"\x89PNG")
    assert "-0.3125" in done.stdout and "0.50000" in done.stdout


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([-0.5, -0.25, 0.0, 0.125, 0.25, 1.0]), min_size=1, max_size=9))
def test_the_exact_randomisation_test_counts_all_signs(differences: list[float]) -> None:
    observed = abs(sum(differences))
    ways = list(itertools.product((-1, 1), repeat=len(differences)))
    as_far = sum(
        abs(sum(sign * value for sign, value in zip(signs, differences, strict=True))) >= observed
        for signs in ways
    )
    assert p_of_randomisation(differences) == pytest.approx(as_far / len(ways))


def test_the_drawn_randomisation_test_agrees_with_the_exact_one() -> None:
    random = np.random.default_rng(1)
    differences = list(random.normal(0.1, 0.3, EXACT_UP_TO))
    exact = p_of_randomisation(differences)
    # A pair of differences that is dwarfed by the others changes little, but makes it too long to count.
    drawn = p_of_randomisation([*differences, 1e-6, 1e-6])
    assert drawn == pytest.approx(exact, abs=0.01)
    assert drawn == p_of_randomisation([*differences, 1e-6, 1e-6])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-1, 1), min_size=3, max_size=20).filter(lambda values: np.std(values) > 1e-3))
def test_the_t_test_is_students(differences: list[float]) -> None:
    from scipy.stats import ttest_1samp

    assert p_of_t_test(differences) == pytest.approx(ttest_1samp(differences, 0).pvalue, rel=1e-6, abs=1e-12)


def test_tests_where_there_is_nothing_to_test() -> None:
    assert p_of_randomisation([0.0, 0.0]) == p_of_t_test([0.0, 0.0]) == 1
    assert p_of_t_test([0.5]) is None and p_of_randomisation([0.5]) == 1


def test_only_what_is_alike_is_compared(tmp_path: Path) -> None:
    judgments = read_judgments(str(written(tmp_path, "qrels", "1 0 a 1\n")))
    with pytest.raises(InvalidArgument, match="same judgments"):
        compare(evaluate(judgments, {}, ["AP"]), evaluate(judgments, {}, ["RR"]))


@pytest.mark.parametrize(
    ("qrels", "run", "said"),
    [
        ("1 0 a 1\n1 a 1\n", "", "qrels, line 2: a judgment has 4 columns, and this one 3"),
        ("1 a\n", "", "qrels, line 1: a judgment has 4 or 3 columns, and this one 2"),
        ("1 0 a good\n", "", "qrels, line 1: 'good' is no grade"),
        ("1 0 a 1\n\n1 0 a 0\n", "", "qrels, line 3: a was judged for query 1 before"),
        ("\n", "", "there is no judgment in "),
        ("1 0 a 1\n", "1 Q0 a 1 2.0\n", "run, line 1: a line of a run has 6 columns, and this one 5"),
        ("1 0 a 1\n", "1 Q0 a 1 high x\n", "run, line 1: 'high' is no score"),
        ("1 0 a 1\n", "1 Q0 a 1 2 x\n1 Q0 a 2 1 x\n", "run, line 2: a was found for topic 1 before"),
    ],
)
def test_wrong_lines_are_named(tmp_path: Path, qrels: str, run: str, said: str) -> None:
    paths = written(tmp_path, "qrels", qrels), written(tmp_path, "run", run)
    with pytest.raises(InvalidArgument) as caught:
        evaluate(read_judgments(str(paths[0])), read_run(str(paths[1])))
    assert said in str(caught.value)


def test_a_wrong_line_is_misuse_and_a_missing_file_a_failure(folder: Path, tmp_path: Path) -> None:
    wrong = written(tmp_path, "wrong", "1 0 a 1\n1 0 b\n")
    assert f"{wrong}, line 2" in complaint("evaluate", wrong, folder / "run.txt", code=2)
    assert "No such file" in complaint("evaluate", tmp_path / "absent", folder / "run.txt", code=3)


@pytest.mark.parametrize("name", ["Foo", "P", "nDCG@x", "P(2)@5", "AP(", "nDCG(depth=3)@5", "RBP"])
def test_what_is_no_measure_here(name: str) -> None:
    with pytest.raises(CrivelloError):
        evaluate({"1": {"a": 1}}, {}, [name])


def test_the_measures_of_cranfield_are_those_of_a_plain_count(tmp_path: Path) -> None:
    searcher = opened(tmp_path, Index(tmp_path).add(cranfield.documents()))
    judgments = read_judgments(str(cranfield.folder() / "cranqrel"))
    queries = cranfield.queries()[:40]
    run, precisions = {}, []
    for number, query in enumerate(queries, 1):
        names = [hit.url for hit in searcher.search(words_of_text(query))]
        run[str(number)] = {name: -float(rank) for rank, name in enumerate(names)}
        relevant = {name for name, grade in judgments[str(number)].items() if grade > 0}
        precisions.append(len(relevant.intersection(names)) / 10)
    judged = {query: judgments[query] for query in run}
    assert evaluate(judged, run, ["P@10"]).means["P@10"] == pytest.approx(sum(precisions) / len(precisions))
    assert cranfield.judgments()[1] == {name for name, grade in judgments["1"].items() if grade > 0}
