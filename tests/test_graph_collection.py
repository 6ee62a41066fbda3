"""The graph of a collection: folding, growing, ranks, and what is said of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from crivello._core import Layout, Ranks, signature
from crivello.collection import Collection
from crivello.errors import CorruptFile, InvalidArgument
from crivello.graph.kept import Kept
from crivello.graph.update import strengths, update_ranks
from tests.logged import Logs, Visit

A, B, C, D = (f"http://{name}.example/" for name in "abcd")


def arcs(collection: Collection, *, nofollow: bool = False) -> dict[str, set[str]]:
    graph = collection.graph(nofollow=nofollow)
    return {
        graph.name(node): {graph.name(to) for to in graph.successors(node)} for node in range(graph.nodes)
    }


def collection_of(folder: Path, *visits: Visit) -> Collection:
    collection = Collection.write(folder, create=True)
    logs = Logs(folder)
    logs.append(visits)
    logs.commit(collection)
    return collection


def test_nodes_are_pages_in_the_order_of_their_urls(tmp_path: Path) -> None:
    urls = [
        "http://www.a.example/",
        "http://b.example/x",
        "http://a.example/2",
        "http://a.example/1",
        "http://b.example/",
    ]
    with collection_of(tmp_path / "c", *(Visit(url) for url in urls)) as collection:
        graph = collection.graph()
        assert [graph.name(node) for node in range(graph.nodes)] == [
            "http://a.example/1",
            "http://a.example/2",
            "http://www.a.example/",
            "http://b.example/",
            "http://b.example/x",
        ]
        assert graph.node("http://b.example/") == 3
        with pytest.raises(InvalidArgument, match="no node"):
            graph.node("http://c.example/")
        assert graph.names is not None
        with pytest.raises(IndexError):
            graph.names[5]


def test_redirects_copies_and_canonical_urls_are_folded(tmp_path: Path) -> None:
    visits = [
        Visit(A, [B, "http://r.example/1", "http://copy.example/", "http://nowhere.example/", A]),
        Visit(B, [A]),
        Visit(C, []),
        Visit("http://r.example/1", redirect="http://r.example/2"),
        Visit("http://r.example/2", redirect=C),
        Visit("http://copy.example/", [C], duplicate_of=B),
        Visit(D, [B], canonical="http://nowhere.example/"),
        Visit("http://d.example/?session=1", [C], canonical=D),
    ]
    with collection_of(tmp_path / "c", *visits) as collection:
        assert arcs(collection) == {A: {B, C}, B: {A, C}, C: set(), D: {B, C}}
        graph = collection.graph()
        assert graph.node("http://r.example/1") == graph.node(C)
        assert graph.node("http://copy.example/") == graph.node(B)


def test_loops_of_redirects_lead_nowhere_and_loops_of_pages_to_their_first(tmp_path: Path) -> None:
    visits = [
        Visit(A, ["http://r.example/1", C]),
        Visit("http://r.example/1", redirect="http://r.example/2"),
        Visit("http://r.example/2", redirect="http://r.example/1"),
        Visit(B, [D], canonical=C),
        Visit(C, [A], duplicate_of=B),
        Visit(D, []),
    ]
    with collection_of(tmp_path / "c", *visits) as collection:
        assert arcs(collection) == {A: {B}, B: {A, D}, D: set()}


def test_links_that_are_not_vouched_for_count_only_on_request(tmp_path: Path) -> None:
    visits = [Visit(A, [B], [C, B]), Visit(B, [], [A]), Visit(C)]
    with collection_of(tmp_path / "c", *visits) as collection:
        assert arcs(collection) == {A: {B}, B: set(), C: set()}
        assert arcs(collection, nofollow=True) == {A: {B, C}, B: {A}, C: set()}


def test_a_page_that_is_gone_is_no_node_and_may_come_back(tmp_path: Path) -> None:
    with Collection.write(tmp_path / "c", create=True) as collection:
        logs = Logs(tmp_path / "c")
        for visits, expected in (
            ([Visit(A, [B]), Visit(B, [A])], {A: {B}, B: {A}}),
            ([Visit(B, gone=True)], {A: set()}),
            ([Visit(C, [B])], {A: set(), C: set()}),
            ([Visit(B, [C])], {A: {B}, B: {C}, C: {B}}),
        ):
            logs.append(visits)
            logs.commit(collection)
            assert arcs(collection) == expected
            collection.rank(measure="indegree", progress=False)
            assert arcs(collection) == expected


URLS = [f"http://h{number % 3}.example/{number}" for number in range(9)]


def visits() -> SearchStrategy[list[Visit]]:
    url, some = st.sampled_from(URLS), st.lists(st.sampled_from(URLS), max_size=4)
    alias = st.one_of(st.none(), st.none(), url)
    page = st.builds(Visit, url, some, some, canonical=alias, duplicate_of=alias)
    redirect = st.builds(Visit, url, redirect=url)
    return st.lists(st.one_of(page, page, redirect, st.builds(Visit, url, gone=st.just(True))), max_size=8)


@settings(max_examples=40, deadline=None)
@given(st.lists(visits(), min_size=1, max_size=4), st.booleans())
def test_any_sequence_of_additions_gives_the_graph_built_at_once(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[Visit]], nofollow: bool
) -> None:
    folder = tmp_path_factory.mktemp("grown")
    with Collection.write(folder / "c", create=True) as collection:
        logs = Logs(folder / "c")
        for number, batch in enumerate(batches):
            logs.append(batch)
            logs.commit(collection)
            if number % 2 == 0:
                update_ranks(collection, measure="indegree")
        grown = arcs(collection, nofollow=nofollow)
    everything = [visit for batch in batches for visit in batch]
    with collection_of(folder / "at once", *everything) as collection:
        assert arcs(collection, nofollow=nofollow) == grown


def test_a_small_addition_keeps_the_base_and_a_large_one_merges_it(tmp_path: Path) -> None:
    pages = [
        Visit(f"http://a.example/{number}", [A, f"http://a.example/{number + 1}"]) for number in range(40)
    ]
    with Collection.write(tmp_path / "c", create=True) as collection:
        logs = Logs(tmp_path / "c")
        logs.append(pages)
        logs.commit(collection)
        collection.rank(measure="indegree", progress=False)
        base = Kept.of(collection.state("graph")).base
        assert base is not None
        logs.append([Visit(A, ["http://a.example/7"])])
        logs.commit(collection)
        ranking = collection.rank(measure="indegree", progress=False)
        assert Kept.of(collection.state("graph")).base == base
        assert ranking.top(1) == [(A, 40.0)]
        logs.append([Visit(f"http://b.example/{number}", [A]) for number in range(40)])
        logs.commit(collection)
        assert collection.rank(measure="indegree", progress=False).top(1) == [(A, 80.0)]
        merged = Kept.of(collection.state("graph"))
        assert merged.base is not None
        assert merged.base[0] > base[0]
        # What is not needed any more is gone, from the manifest and from the disk.
        kept = {*Layout.graph_files(merged.base[0]), *(file for _, file in merged.ranks())}
        there = {f"graph/{path.name}" for path in (tmp_path / "c/graph").iterdir()}
        assert there == kept | {Layout.LINKS}
        assert {name for name in collection.files if name.startswith("graph/")} == there


def test_the_ranks_of_a_folded_page_are_those_of_the_page_it_stands_for(tmp_path: Path) -> None:
    visits = [
        Visit(A, [B]),
        Visit(C, ["http://r.example/"]),
        Visit(B),
        Visit("http://r.example/", redirect=B),
    ]
    with collection_of(tmp_path / "c", *visits) as collection:
        ranking = collection.rank(measure="indegree", progress=False)
        assert (ranking.pages, ranking.links, ranking.measure) == (3, 2, "indegree")
        assert dict(ranking) == {A: 0.0, B: 2.0, C: 0.0}
        name = Kept.of(collection.state("graph")).ranks_in_use()
        assert name is not None
        ranks = Ranks(tmp_path / "c" / name, collection.length(name))
        assert ranks.get([signature("http://r.example/"), signature(B), signature(D)]) == [2.0, 2.0, None]


def test_why_says_where_a_page_stands_in_each_measure(tmp_path: Path) -> None:
    visits = [Visit(A, [B, C]), Visit(B, [C]), Visit(C, [])]
    with collection_of(tmp_path / "c", *visits) as collection:
        collection.rank(measure="outdegree", progress=False)
        story = collection.why(C)
        first, *others = story.standings
        assert (first.measure, first.value, first.position, first.pages) == ("outdegree", 0.0, 3, 3)
        assert [standing.measure for standing in others] == collection.settings.rank.measures.split()
        assert [(standing.position, standing.percentile) for standing in others] == [(1, 100.0)] * len(others)
        assert "1st of 3" in str(story)
        assert story.to_dict()["ranks"][0]["position"] == 3


def test_the_strength_depends_on_the_order_alone() -> None:
    values = np.array([5.0, 1.0, 1.0, 9.0])
    assert strengths(values).tolist() == [1.0, 0.0, 0.0, 3.0]
    assert strengths(np.exp(values)).tolist() == strengths(values).tolist()
    assert strengths(-values).tolist() == [4 / 3 - 1, 1.0, 1.0, 0.0]
    assert strengths(np.array([])).tolist() == []


def test_an_unknown_measure_is_a_clear_error(tmp_path: Path) -> None:
    with collection_of(tmp_path / "c", Visit(A)) as collection:
        with pytest.raises(InvalidArgument, match="no measure 'indegre'") as error:
            collection.rank(measure="indegre", progress=False)
        assert "did you mean indegree?" in str(
            error.value.__notes__ if hasattr(error.value, "__notes__") else error.value.hint
        )


def test_a_damaged_base_is_an_error_with_its_place(tmp_path: Path) -> None:
    with collection_of(tmp_path / "c", *(Visit(url, [A]) for url in (A, B, C))) as collection:
        collection.rank(measure="indegree", progress=False)
        base = Kept.of(collection.state("graph")).base
        assert base is not None
        for name in Layout.graph_files(base[0]):
            path = tmp_path / "c" / name
            whole = path.read_bytes()
            place = min(40, len(whole) - 5)
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
            with pytest.raises(CorruptFile) as error:
                collection.graph().indegree()
            assert error.value.path == path
            path.write_bytes(whole)
        assert collection.graph().nodes == 3


def test_a_collection_with_nothing_in_it_has_an_empty_graph(tmp_path: Path) -> None:
    with Collection.write(tmp_path / "c", create=True) as collection:
        assert (collection.graph().nodes, collection.graph().arcs) == (0, 0)
        assert collection.rank(measure="indegree", progress=False).pages == 0
