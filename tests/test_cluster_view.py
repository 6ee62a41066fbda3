"""The collection of a cluster, used like any other: beside one collection of the same pages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import crivello
from crivello.cluster import roster as rosters
from crivello.cluster.gather import merge, split
from crivello.cluster.view import ClusterCollection
from crivello.collection import Collection
from crivello.errors import CollectionError, CrivelloError
from crivello.graph import Graph
from crivello.lab.web import SampleWeb
from crivello.settings import load
from tests.shell import says

AGENTS = 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The collection of a cluster, whose agents have crawled disjoint hosts of the sample web, and one more page that
    two of them have."""
    folder = tmp_path_factory.mktemp("cluster") / "divided"
    settings = load(flags={"crawl": {"delay": 0, "scope": "host", "allow_private": True}})
    with SampleWeb() as web, Collection.write(folder, settings=settings, create=True):
        hosts = web.hosts
        roster = rosters.new(web.seeds).of(AGENTS, [rosters.LOOPBACK])
        for agent in range(AGENTS):
            seeds = [f"http://{host}:{web.port}/" for host in hosts[agent::AGENTS]]
            with Collection.write(
                rosters.folder_of(folder, agent), settings=settings, create=True
            ) as collection:
                collection.crawl(seeds)
                if agent == 1:
                    collection.crawl(f"http://{hosts[0]}:{web.port}/", max_depth=0)
            roster = roster.begun(agent)
        rosters.write(folder, roster.next())
    yield folder


@pytest.fixture(scope="module")
def view(folder: Path) -> ClusterCollection:
    found = crivello.open(folder)
    assert isinstance(found, ClusterCollection)
    return found


def crivello_says(*arguments: object, code: int = 0) -> str:
    done = says(*map(str, arguments))
    assert done.returncode == code, done.stderr
    return done.stdout


def agents_of(folder: Path) -> list[Collection]:
    return [Collection(rosters.folder_of(folder, agent)) for agent in range(AGENTS)]


def test_pages_are_those_of_all_agents_each_once(folder: Path, view: ClusterCollection) -> None:
    newest: dict[str, float] = {}
    total = 0
    for agent in agents_of(folder):
        for row in agent.pages():
            total += 1
            newest[row.url] = max(newest.get(row.url, 0.0), row.fetched_at)
    assert total > len(newest)  # some page is with two agents
    rows = list(view.pages())
    assert {row.url: row.fetched_at for row in rows} == newest
    assert len(rows) == len(newest) == len(view) == len(view.pages())


def test_a_page_is_read_where_it_is(folder: Path, view: ClusterCollection) -> None:
    for agent in agents_of(folder):
        rows = [row for row in agent.pages() if row.status == 200 and row.digest][:5]
        assert rows
        for row in rows:
            found = view.page(row.url)
            assert found is not None and found.digest == row.digest
            assert view.text(row.url) == agent.text(row.url) and view.links(row.url) == agent.links(row.url)
            assert view.record(found).body == agent.record(row).body
    assert view.page("http://127.9.9.9/") is None


def test_a_site_is_listed_in_the_order_of_one_collection(view: ClusterCollection) -> None:
    for agent in view.agents.values():
        host = next(iter(agent.pages())).url.split("/")[2]
        expected = [row.url for row in agent.pages(site=host.split(":")[0])]
        found = [row.url for row in view.pages(site=host.split(":")[0])]
        assert set(expected) <= set(found) and found == sorted(found, key=found.index)


def test_why_asks_the_agent_that_knows(folder: Path, view: ClusterCollection) -> None:
    for agent in agents_of(folder):
        row = next(row for row in agent.pages() if row.status == 200)
        story = view.why(row.url)
        assert story.state == "done" and story.row is not None
    assert view.why("http://nowhere.test/").state == "unknown"


def test_merged_is_what_one_collection_of_all_pages_would_be(
    folder: Path, view: ClusterCollection, tmp_path: Path
) -> None:
    records, pages = merge(folder, tmp_path / "whole")
    whole = Collection(tmp_path / "whole")
    assert not isinstance(whole, ClusterCollection) and records >= pages == len(whole)
    expected = {row.url: row.digest for row in view.pages() if row.length}
    assert {row.url: row.digest for row in whole.pages()} == expected
    # Nothing is new: nothing is read, and nothing changes.
    assert merge(folder, tmp_path / "whole") == (0, pages)


def test_one_collection_becomes_that_of_several_agents(folder: Path, tmp_path: Path) -> None:
    merge(folder, tmp_path / "whole")
    pages = split(tmp_path / "whole", tmp_path / "divided", 3)
    whole, divided = Collection(tmp_path / "whole"), crivello.open(tmp_path / "divided")
    assert isinstance(divided, ClusterCollection) and pages == len(whole) == len(divided)
    assert [row.digest for row in divided.pages()] == [row.digest for row in whole.pages()]
    assert list(divided.agents[0].check()) == []
    roster = divided.roster
    assert roster.numbers == (0, 1, 2) and roster.epoch == 0 and roster.seeds
    with pytest.raises(CollectionError, match="exists"):
        split(tmp_path / "whole", tmp_path / "divided", 3)
    with pytest.raises(CollectionError, match="of a cluster itself"):
        split(tmp_path / "divided", tmp_path / "again", 2)
    assert not (tmp_path / "again").exists()


def test_an_index_of_all_pages_answers_like_that_of_the_merged_collection(
    folder: Path, tmp_path: Path
) -> None:
    merge(folder, tmp_path / "whole")
    with crivello.open(tmp_path / "whole", write=True) as whole:
        whole.index(progress=False)
        ranking = whole.rank(progress=False)
    with crivello.open(folder, write=True) as divided:
        assert divided.is_behind
        divided.index(progress=False)
        assert divided.rank(progress=False).links == ranking.links > 0
        assert not divided.is_behind
    for query in ("bee", "lighthouse keeper", "title:bee OR lamp", '"the"'):
        one = [(hit.url, hit.score) for hit in whole.search(query, top=50)]
        assert [(hit.url, hit.score) for hit in crivello.open(folder).search(query, top=50)] == one
    assert crivello.open(folder).graph().nodes == whole.graph().nodes


def test_the_graph_of_all_agents_is_that_of_one_collection(folder: Path, tmp_path: Path) -> None:
    """The same arcs, also those between pages of different agents, and for each URL the same rank."""
    merge(folder, tmp_path / "whole")
    with crivello.open(tmp_path / "whole", write=True) as whole, crivello.open(folder, write=True) as divided:
        rankings = [collection.rank(progress=False) for collection in (whole, divided)]
        assert rankings[0].pages == rankings[1].pages > 50 and rankings[0].links == rankings[1].links > 100
        assert dict(rankings[0]) == dict(rankings[1])
    one, many = Collection(tmp_path / "whole").graph(), crivello.open(folder).graph()

    def arcs(graph: Graph) -> set[tuple[str, str]]:
        named = range(graph.nodes)
        return {(graph.name(node), graph.name(int(to))) for node in named for to in graph.successors(node)}

    def ranks(graph: Graph) -> dict[str, float]:
        found = graph.pagerank(tolerance=1e-14)
        return {graph.name(node): float(found[node]) for node in range(graph.nodes)}

    assert arcs(one) == arcs(many)
    owners = {row.url: number for number, agent in enumerate(agents_of(folder)) for row in agent.pages()}
    assert any(
        owners[source] != owners[target] for source, target in arcs(many) if {source, target} <= owners.keys()
    )
    wanted, found = ranks(one), ranks(many)
    assert wanted.keys() == found.keys() and len(set(wanted.values())) > 20
    assert max(abs(wanted[url] - found[url]) for url in wanted) < 1e-12


def test_the_shell_takes_the_folder_like_any_other(
    folder: Path, view: ClusterCollection, tmp_path: Path
) -> None:
    told = json.loads(crivello_says("status", folder, "--json"))
    assert [agent["agent"] for agent in told["agents"]] == [0, 1, 2]
    assert told["pages"] == sum(agent["pages"] for agent in told["agents"]) > 0
    assert "agents" in crivello_says("status", folder)
    listed = crivello_says("pages", folder, "--json").splitlines()
    assert len(listed) == len(view)
    url = json.loads(listed[0])["url"]
    assert crivello_says("pages", folder, "--url", url)
    assert url in crivello_says("why", folder, url)
    crivello_says("export", folder, "--out", tmp_path / "all.warc.gz")
    assert json.loads(crivello_says("index", folder, "--json"))["documents"] > 0
    assert crivello_says("search", folder, "bee")
    assert crivello_says("rank", folder, "--top", 3)
    with crivello.create(tmp_path / "again") as again:
        again.import_(tmp_path / "all.warc.gz", progress=False)
        assert {row.url for row in again.pages()} == {row.url for row in view.pages() if row.length}


def test_what_a_cluster_cannot_do_is_said(folder: Path, tmp_path: Path) -> None:
    with crivello.open(folder, write=True) as divided, pytest.raises(CrivelloError, match="cluster"):
        divided.crawl("http://127.0.0.1/")
    with pytest.raises(CollectionError, match="not the collection of a cluster"):
        rosters.read(tmp_path)


def test_pages_of_a_machine_that_is_not_here_are_missed(folder: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(folder, tmp_path / "part")
    shutil.rmtree(rosters.folder_of(tmp_path / "part", 1))
    part = crivello.open(tmp_path / "part")
    with pytest.raises(CollectionError, match="the pages of agent 1 are not here"):
        list(part.pages())
    status = part.status()
    assert status is not None and len(status.to_dict()["agents"]) == AGENTS
