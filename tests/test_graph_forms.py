"""The forms of graphs: read, written, detected, converted; and every mistake a clear sentence."""

from __future__ import annotations

import gzip
import os
from collections import Counter
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crivello._core import generate_edge_list
from crivello.errors import CorruptFile, CrivelloError, InvalidArgument, NotACollection, StorageError
from crivello.graph.files import convert, form_of, generate, load
from crivello.graph.graph import Graph
from crivello.graph.ranks import read_ranks, write_ranks

DATA = Path(os.environ.get("CRIVELLO_DATA", Path(__file__).parents[1] / "../shared/data")) / "graph"

ARCS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=40)
NAMES = st.lists(
    st.one_of(
        st.integers(0, 2**70).map(str),
        st.text("abcè./-", min_size=1, max_size=6),
        st.sampled_from(
            ["http://a.example/b,c", "https://www.a.example:81/?d=e f", "a.example", "-1", "x y"]
        ),
    ).filter(lambda name: name == name.strip()),
    min_size=10,
    max_size=10,
    unique=True,
)


def arcs_of(graph: Graph) -> dict[tuple[str, str], int]:
    """The arcs of a graph by the names of their nodes, with their weights."""
    offsets, targets, weights = graph.csr()
    return {
        (graph.name(node), graph.name(int(targets[at]))): 1 if weights is None else int(weights[at])
        for node in range(graph.nodes)
        for at in range(int(offsets[node]), int(offsets[node + 1]))
    }


def made(arcs: list[tuple[int, int]], **options: Any) -> Graph:
    options = {"nodes": 10, **options} if "names" not in options else options
    return Graph.from_arcs([one for one, _ in arcs], [other for _, other in arcs], **options)


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("forms")


@settings(deadline=None, max_examples=40)
@given(ARCS, st.booleans(), st.sampled_from(["a.txt", "a.tsv.gz", "a.edges.zst", "a.csv"]))
def test_edge_lists_of_numbers_round_trip(
    folder: Path, arcs: list[tuple[int, int]], count: bool, name: str
) -> None:
    graph = made(arcs, count=count)
    graph.save(folder / name)
    again = load(folder / name)
    assert (again.nodes, arcs_of(again)) == (10, arcs_of(graph))
    assert again.weighted == (count and bool(arcs))


@settings(deadline=None, max_examples=40)
@given(ARCS, NAMES, st.booleans(), st.sampled_from(["b.txt", "b.tsv.gz"]), st.sampled_from([1, 300, "1M"]))
def test_edge_lists_of_names_round_trip_in_any_memory(
    folder: Path, arcs: list[tuple[int, int]], names: list[str], count: bool, name: str, memory: int | str
) -> None:
    graph = made(arcs, names=names, count=count)
    graph.save(folder / name)
    if all(one.isdigit() or one == "-1" for one in names) and "-1" in names:
        return
    again = load(folder / name, memory=memory)
    assert {again.name(node) for node in range(again.nodes)} == set(names)
    assert arcs_of(again) == arcs_of(graph)
    assert [again.node(again.name(node)) for node in range(10)] == [*range(10)]


@settings(deadline=None, max_examples=40)
@given(ARCS, st.booleans(), st.sampled_from(["c.metis", "c.metis.gz"]), st.sampled_from([1, "1M"]))
def test_metis_round_trips_what_is_undirected(
    folder: Path, arcs: list[tuple[int, int]], count: bool, name: str, memory: int | str
) -> None:
    both = [*arcs, *((other, one) for one, other in arcs if one != other)]
    graph = made(both, count=count)
    graph.save(folder / name)
    again = load(folder / name, memory=memory)
    assert (again.nodes, arcs_of(again)) == (10, arcs_of(graph))
    if set(both) != set(arcs):
        with pytest.raises(InvalidArgument, match="undirected"):
            made(arcs).save(folder / "no.metis")
        assert not (folder / "no.metis").exists()


@settings(deadline=None, max_examples=20)
@given(ARCS)
def test_common_crawl_round_trips_hosts(folder: Path, arcs: list[tuple[int, int]]) -> None:
    names = ["example.org", *(f"{letter}.example.org" for letter in "abcdefghi")]
    graph = made(arcs, names=names)
    graph.save(folder / "hosts", "common-crawl")
    first = gzip.decompress((folder / "hosts-vertices.txt.gz").read_bytes()).splitlines()[1]
    assert first == b"1\torg.example.a"
    for path in (folder / "hosts", folder / "hosts-edges.txt.gz", folder / "hosts-vertices.txt.gz"):
        again = load(path)
        assert [again.name(node) for node in range(10)] == names
        assert arcs_of(again) == arcs_of(graph)


@settings(deadline=None, max_examples=30)
@given(ARCS, NAMES, st.booleans(), st.booleans(), st.sampled_from(["crivello", "bvgraph"]))
def test_compressed_graphs_keep_their_names_beside_them(
    folder: Path, arcs: list[tuple[int, int]], names: list[str], named: bool, count: bool, form: str
) -> None:
    graph = made(arcs, count=count, **({"names": names} if named else {}))
    path = folder / ("ours.graph" if form == "crivello" else "theirs")
    graph.save(path, form)
    again = load(path)
    assert [again.name(node) for node in range(10)] == [graph.name(node) for node in range(10)]
    assert set(arcs_of(again)) == set(arcs_of(graph))
    assert again.weighted == (count and form == "crivello")
    convert(path, folder / "text.txt")
    assert set(arcs_of(load(folder / "text.txt"))) == set(arcs_of(graph))


def test_texts_become_compressed_graphs_within_memory(tmp_path: Path) -> None:
    graph = generate(3000)
    graph.save(tmp_path / "a.txt.gz")
    for target in ("b.graph", "c.properties"):
        done = convert(tmp_path / "a.txt.gz", tmp_path / target, memory="64K")
        assert (done.nodes, done.arcs) == (graph.nodes, graph.arcs)
        assert 1 < done.bits_per_link < 12
        assert (load(tmp_path / target).csr()[1] == graph.csr()[1]).all()
    (tmp_path / "d.txt").write_text("http://b.org/ http://a.org/\n")
    convert(tmp_path / "d.txt", tmp_path / "d.graph")
    assert set(arcs_of(load(tmp_path / "d.graph"))) == {("http://b.org/", "http://a.org/")}


@settings(deadline=None, max_examples=20)
@given(st.lists(st.tuples(st.integers(0, 2**32 + 5), st.integers(0, 99)), max_size=30), st.booleans())
def test_numbers_are_nodes_in_order_of_value(folder: Path, arcs: list[tuple[int, int]], count: bool) -> None:
    path = write(folder / "d.txt", "".join(f"{one} {other}\n" for one, other in arcs))
    graph = load(path, count=count, memory=100)
    ids = sorted({end for arc in arcs for end in arc})
    assert [int(graph.name(node)) for node in range(graph.nodes)] == ids
    expected = Counter((str(one), str(other)) for one, other in arcs)
    assert arcs_of(graph) == (expected if count else dict.fromkeys(expected, 1))


def test_urls_are_in_the_order_of_reversed_hosts(tmp_path: Path) -> None:
    text = "http://b.org/ http://www.a.org/x\nhttp://a.org/ http://a-b.org/\nhttp://a.org/z\thttp://b.org/\n"
    graph = load(write(tmp_path / "urls.txt", text))
    urls = ["http://a.org/", "http://a.org/z", "http://www.a.org/x", "http://a-b.org/", "http://b.org/"]
    assert [graph.name(node) for node in range(graph.nodes)] == urls


def test_columns_comments_and_line_ends(tmp_path: Path) -> None:
    same = {("1", "2"): 3, ("2", "1"): 7}
    for text in (
        "1 2 3\n2 1 7",
        "# a\n% b\n\n1\t2\t3\r\n2\t1\t7\r\n",
        "source,target,weight\n1,2,3\n2, 1 ,7\n",
        "\ufeff1 2 1\n2 1 7\n1 2 2\n",
    ):
        graph = load(write(tmp_path / "a", text))
        assert graph.weighted
        assert arcs_of(graph) == same
    names = load(write(tmp_path / "a", "a b\tc, d\nc, d\ta b\n"))
    assert set(arcs_of(names)) == {("a b", "c, d"), ("c, d", "a b")}


def test_empty_graphs_and_single_nodes(tmp_path: Path) -> None:
    for text in ("", "# nothing\n", "# crivello nodes: 0\n"):
        assert load(write(tmp_path / "a.txt", text)).nodes == 0
    assert load(write(tmp_path / "a.metis", "0 0\n")).nodes == 0
    for path, text in (
        ("a.metis", "1 0\n\n"),
        ("a.txt", "# crivello nodes: 1\n"),
        ("b.txt", "# crivello node: x\n"),
    ):
        graph = load(write(tmp_path / path, text))
        assert (graph.nodes, graph.arcs) == (1, 0)
    loop = load(write(tmp_path / "a.txt", "0 0\n"))
    assert (loop.nodes, loop.arcs) == (1, 1)


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.txt", "1 2\n3\n", r"a\.txt:2: expected two names"),
        ("a.txt", "1 2\n" + "7 " * 400_000, r"a\.txt:2: there are more than three fields"),
        ("a.txt", "1 2\n" + "7 " * 1_500_000 + "\n", r"a\.txt:2: the line is longer than"),
        ("a.txt", "1 2\n-3 1\n", r"a\.txt:2: -3 is negative"),
        ("a.txt", "1 2\n1 2 3\n", r"a\.txt:2: the arc has a weight"),
        ("a.txt", "1 2 3\n1 2\n", r"a\.txt:2: the arc has no weight"),
        ("a.txt", "1 2 3\n1 2 -3\n", r"a\.txt:2: the weight \"-3\" is not"),
        ("a.txt", "1 2 3\n1 2 99999999999999999999999\n", r"a\.txt:2: the weight"),
        ("a.txt", "1 2\n\xff 3\n".encode("latin-1"), r"a\.txt:2: the line is not UTF-8"),
        ("a.txt", "# crivello nodes: 2\n1 2\n", "there are 2 nodes, and has node 2"),
        ("a.metis", "3 2\n2\n1 3\n", "header says 3 nodes, and there are lines for 2"),
        ("a.metis", "2 1\n2\n1\n2\n", "header says 2 nodes, and there are more lines"),
        ("a.metis", "3 3\n2\n1 3\n2\n", "header says 3 edges, and there are 2"),
        ("a.metis", "3 2\n2\n1 3\n1\n", "node 3 lists node 1, and node 1 does not list node 3"),
        ("a.metis", "3 1\n2\n3\n\n", "does not list"),
        ("a.metis", "3 2\n2\n1 4\n2\n", r"a\.metis:3: there is no node 4: they go from 1 to 3"),
        ("a.metis", "3 2\n2\n1 0\n2\n", r"a\.metis:3: there is no node 0"),
        ("a.metis", "3 2\n2\n1 -3\n2\n", r"a\.metis:3: -3 is negative"),
        ("a.metis", "3 2\n2\n1 99999999999999999999999\n2\n", r"a\.metis:3: .* too large"),
        ("a.metis", "99999999999 0\n", "at most 2\\^32 nodes"),
        ("a.metis", "2 1 7\n2\n1\n", "there is no format 7"),
        ("a.metis", "2 1 1\n2 5\n1 6\n", "two different weights"),
        ("a.metis", "2 1 1\n2 5\n1\n", "the last edge has no weight"),
        ("a.metis", "2 1 1\n2 0\n1 0\n", "the weight 0 is not"),
        ("a.bin", b"ab\0cd\n", "neither text nor a compressed graph"),
        ("a.txt", "#harmonicc_pos\t#harmonicc_val\n", "it has ranks, not arcs"),
    ],
)
def test_mistakes_are_clear_sentences(tmp_path: Path, name: str, text: str | bytes, says: str) -> None:
    form = "metis" if name.endswith(".metis") else None
    with pytest.raises(InvalidArgument, match=says):
        load(write(tmp_path / name, text), form=form)


def test_common_crawl_files_that_do_not_fit(tmp_path: Path) -> None:
    vertices, edges = tmp_path / "g-vertices.txt", tmp_path / "g-edges.txt"
    write(edges, "0\t1\n")
    for text, says in (
        ("0\torg.a\n2\torg.b\n", r"vertices\.txt:2: expected vertex 1, not 2"),
        ("0\torg.a\n1\n", r"vertices\.txt:2: expected a number and a name"),
        ("0\torg.a\n1\torg.a\n", "two nodes have the name a.org"),
        ("0\torg.a\n", r"edges\.txt:1: there is no node 1: there are 1 vertices"),
    ):
        write(vertices, text)
        with pytest.raises(InvalidArgument, match=says):
            load(edges)
    write(vertices, "0\torg.a\t3\n1\torg.b\t1\n")
    assert arcs_of(load(edges)) == {("a.org", "b.org"): 1}
    with pytest.raises(InvalidArgument, match="collapse"):
        Graph.from_arcs([0], [0], names=["http://a.org/"]).save(tmp_path / "h", "common-crawl")


def test_damaged_and_missing_files(tmp_path: Path) -> None:
    graph = generate(300)
    graph.save(tmp_path / "a.txt.gz")
    graph.save(tmp_path / "a.txt.zst")
    for name in ("a.txt.gz", "a.txt.zst"):
        whole = (tmp_path / name).read_bytes()
        write(tmp_path / f"cut-{name}", whole[: len(whole) // 2])
        with pytest.raises((CorruptFile, StorageError), match=f"cut-{name}"):
            load(tmp_path / f"cut-{name}")
        flipped = bytearray(whole)
        flipped[len(whole) // 2] ^= 16
        with pytest.raises(CrivelloError, match="flipped"):
            load(write(tmp_path / "flipped", bytes(flipped)))
    with pytest.raises(StorageError):
        load(tmp_path / "nothing")
    with pytest.raises(NotACollection):
        load(tmp_path)
    with pytest.raises(InvalidArgument, match="extension"):
        graph.save(tmp_path / "a.xyz")
    with pytest.raises(InvalidArgument, match="no form of graphs 'x'"):
        graph.save(tmp_path / "a", "x")
    with pytest.raises(InvalidArgument, match="amount of memory"):
        load(tmp_path / "a.txt.gz", memory="lots")


@pytest.mark.skipif(not DATA.exists(), reason="the data of CRIVELLO_DATA is not here")
def test_real_files(tmp_path: Path) -> None:
    votes = load(DATA / "wiki-Vote.txt", memory="100K")
    peer = networkx.read_edgelist(DATA / "wiki-Vote.txt", create_using=networkx.DiGraph)
    assert (votes.nodes, votes.arcs) == (7115, 103_689) == (len(peer), peer.number_of_edges())
    assert set(arcs_of(votes)) == set(peer.edges)
    assert votes.names is not None
    blogs = load(DATA / "polblogs.graph")
    assert (form_of(DATA / "polblogs.graph"), blogs.nodes, blogs.arcs) == ("metis", 1490, 2 * 16_715)
    blogs.save(tmp_path / "again.metis")
    assert form_of(tmp_path / "again.metis") == "metis"
    assert arcs_of(load(tmp_path / "again.metis")) == arcs_of(blogs)


def test_conversion_is_loading_and_saving(tmp_path: Path) -> None:
    graph = generate(2000, degree=8)
    assert generate_edge_list(tmp_path / "a.txt", 2000, 1, 8.0, 0.92) == graph.arcs
    assert arcs_of(load(tmp_path / "a.txt")) == arcs_of(graph)
    done = convert(tmp_path / "a.txt", tmp_path / "b.csv.gz", memory="64K")
    assert (done.nodes, done.arcs, done.bytes) == (2000, graph.arcs, (tmp_path / "b.csv.gz").stat().st_size)
    assert done.bits_per_link > 1
    assert arcs_of(load(tmp_path / "b.csv.gz")) == arcs_of(graph)
    convert(tmp_path / "b.csv.gz", tmp_path / "c", target_form="common-crawl")
    assert arcs_of(load(tmp_path / "c")) == arcs_of(graph)
    both = Graph.from_arcs([0, 1, 1], [1, 0, 1])
    both.save(tmp_path / "d.txt")
    convert(tmp_path / "d.txt", tmp_path / "d.metis")
    assert arcs_of(load(tmp_path / "d.metis")) == arcs_of(both)
    before = {*tmp_path.iterdir()}
    write(tmp_path / "wrong.txt", "1 2\n3\n")
    with pytest.raises(InvalidArgument):
        convert(tmp_path / "wrong.txt", tmp_path / "e.csv", scratch=tmp_path)
    assert {*tmp_path.iterdir()} == before | {tmp_path / "wrong.txt"}


@given(ARCS, st.booleans())
def test_scipy_and_tables_share_and_round_trip(arcs: list[tuple[int, int]], count: bool) -> None:
    graph = made(arcs, count=count)
    matrix = graph.to_scipy()
    assert matrix.shape == (10, 10)
    assert {
        (str(one), str(other)): int(value)
        for one, other, value in zip(*matrix.nonzero(), matrix.data, strict=True)
    } == arcs_of(graph)
    if arcs:
        assert np.shares_memory(matrix.indices, graph.csr()[1])
    assert arcs_of(Graph.from_scipy(matrix)) == arcs_of(graph)
    assert arcs_of(Graph.from_scipy(matrix.tocoo())) == arcs_of(graph)
    offsets, targets, weights = graph.csr()
    again = Graph.from_csr(offsets, targets, weights)
    assert np.shares_memory(again.csr()[1], targets) or not len(targets)
    assert (again.weighted, arcs_of(again)) == (count, arcs_of(graph))


def test_polars_and_pandas_in_and_out() -> None:
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    graph = Graph.from_arcs([0, 0, 2, 0], [1, 2, 2, 1], count=True)
    table = polars.DataFrame(graph)
    assert table.to_dicts()[0] == {"source": 0, "target": 1, "weight": 2}
    assert isinstance(graph.to_pandas(), pandas.DataFrame)
    for frame in (table, graph.to_pandas()):
        assert arcs_of(Graph.from_arrow(frame, weight="weight")) == arcs_of(graph)


def test_tables_in_and_out() -> None:
    graph = Graph.from_arcs([0, 0, 2, 0], [1, 2, 2, 1], count=True)
    table = graph._relation().fetchnumpy()
    assert {name: column.tolist() for name, column in table.items()} == {
        "source": [0, 0, 2],
        "target": [1, 2, 2],
        "weight": [2, 1, 1],
    }
    assert "arrow_array_stream" in repr(graph.__arrow_c_stream__())
    assert not Graph.from_arrow(table).weighted
    again = Graph.from_arrow(table, weight="weight", nodes=3)
    assert arcs_of(again) == arcs_of(graph)
    names = Graph.from_arrow({"from": ["http://b.org/", "10"], "to": ["9", "http://a.org/"]})
    assert [names.name(node) for node in range(4)] == ["9", "10", "http://a.org/", "http://b.org/"]
    assert set(arcs_of(names)) == {("http://b.org/", "9"), ("10", "http://a.org/")}
    with pytest.raises(InvalidArgument, match="no column 'x'"):
        Graph.from_arrow(table, source="x")
    with pytest.raises(InvalidArgument, match="two columns"):
        Graph.from_arrow({"a": [1]})
    with pytest.raises(InvalidArgument, match="whole numbers"):
        Graph.from_arrow({"a": [1], "b": [1], "c": [0.5]}, weight="c")
    with pytest.raises(InvalidArgument, match="square"):
        Graph.from_scipy(graph.to_scipy()[:2])
    with pytest.raises(InvalidArgument, match="from 0 to"):
        Graph.from_csr([0, 1], [-1])


def test_generated_graphs_depend_on_their_arguments_alone() -> None:
    graph = generate(3000)
    assert 12 < graph.arcs / graph.nodes < 40
    assert (generate(3000).csr()[1] == graph.csr()[1]).all()
    assert generate(3000, seed=2).arcs != graph.arcs
    assert generate(0).nodes == 0
    with pytest.raises(InvalidArgument, match="mean degree"):
        generate(10, degree=0)
    with pytest.raises(InvalidArgument, match="probability"):
        generate(10, copying=2)


def test_ranks_of_common_crawl_round_trip(tmp_path: Path) -> None:
    hosts = ["a.example", "b.example", "www.b.example"]
    graph = Graph.from_arcs([0], [1], names=hosts)
    for sizes in (None, [3, 1, 2]):
        write_ranks(tmp_path / "r.txt.gz", graph, [1.5, 2.25, 1.5], [0.125, 1e-9, 0.5], sizes)
        text = gzip.decompress((tmp_path / "r.txt.gz").read_bytes()).decode()
        assert text.startswith("#harmonicc_pos\t#harmonicc_val\t#pr_pos\t#pr_val\t#host_rev")
        assert text.splitlines()[1].split("\t")[:5] == ["1", "2.25", "3", "0.000000001", "example.b"]
        ranks = read_ranks(tmp_path / "r.txt.gz")
        assert ranks.names == ["b.example", "a.example", "www.b.example"]
        assert (ranks.harmonic.tolist(), ranks.positions.tolist()) == ([2.25, 1.5, 1.5], [3, 2, 1])
        assert ranks.pagerank.tolist() == [1e-9, 0.125, 0.5]
        assert (None if ranks.sizes is None else ranks.sizes.tolist()) == (sizes and [1, 3, 2])
    whole = text.splitlines()
    for lines, says in (
        (whole[1:], "expected the header"),
        ([whole[0], whole[2]], ":2: expected position 1, not 2"),
        ([whole[0], whole[1][:-2]], ":2: expected 6 fields"),
        ([whole[0], whole[1].replace("2.25", "x")], ':2: "x" is not a value'),
    ):
        with pytest.raises(InvalidArgument, match=says):
            read_ranks(write(tmp_path / "wrong.txt", "\n".join(lines)))
    with pytest.raises(InvalidArgument, match="3 values"):
        write_ranks(tmp_path / "r.txt", graph, [1.0], [1.0])
