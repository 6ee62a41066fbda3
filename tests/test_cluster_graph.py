"""The graph of a cluster's collection: merged from what the agents have, beside that of one collection of all pages."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

import crivello
from crivello import _core
from crivello.cluster import roster as rosters
from crivello.cluster.gather import merge
from crivello.cluster.view import ClusterCollection
from crivello.collection import Collection
from crivello.errors import CollectionError
from crivello.graph import Graph
from crivello.graph.kept import Kept
from crivello.graph.update import standings
from crivello.settings import load
from tests.logged import Logs, Visit
from tests.shell import says
from tests.small_web import Page, SmallWeb, redirect, words

Lists = dict[str, list[str]]


def random_web(chance: random.Random) -> dict[str, dict[str, Page]]:
    """Hosts whose pages link each other anywhere, some of them with the text of another host's page, some with a
    canonical URL or ``nofollow``; and redirects, also to redirects and to what is not there."""
    hosts = [f"{name}.test" for name in ("a", "b", "c-d", "c", "www.a", "e")[: chance.randint(3, 6)]]
    paths = [f"/{number}" for number in range(chance.randint(2, 9))]
    texts = [words(20, f"shared{number}x") for number in range(3)]

    def anywhere() -> str:
        # The port is that of the server, which is not known yet.
        return f"//{chance.choice(hosts)}:PORT{chance.choice([*paths, '/', '/missing'])}"

    def page(number: int) -> Page:
        if chance.random() < 0.15:
            return redirect(f"http:{anywhere()}")
        text = chance.choice(texts) if chance.random() < 0.3 else words(20, f"page{number}x")
        head = f'<link rel=canonical href="http:{anywhere()}">' if chance.random() < 0.15 else ""
        rel = ("", ' rel="nofollow"', ' rel="ugc"')
        links = (f'<a href="{anywhere()}"{chance.choice(rel)}>more</a>' for _ in range(chance.randint(0, 6)))
        return f"<html><head>{head}</head><body><p>{text}</p>{''.join(links)}</body></html>"

    return {
        host: {path: page(place * 100 + number) for number, path in enumerate(["/", *paths])}
        for place, host in enumerate(hosts)
    }


def with_port(web: dict[str, dict[str, Page]], port: int) -> None:
    for pages in web.values():
        for path, page in pages.items():
            if isinstance(page, str):
                pages[path] = page.replace("PORT", str(port))
            elif not callable(page):
                pages[path] = redirect(page.headers["Location"].replace("PORT", str(port)))


def crawled_by(agents: int, folder: Path, chance: random.Random) -> None:
    """Crawls a random web: each agent all pages of its hosts, and some pages of those of others, earlier or later."""
    content = random_web(chance)
    flags = {"crawl": {"delay": 0, "scope": "host", "allow_private": True}}
    with SmallWeb(content) as web, Collection.write(folder, settings=load(flags=flags), create=True):
        with_port(content, web.port)
        roster = rosters.new([web.url(next(iter(content)))]).of(agents, [rosters.LOOPBACK])
        hosts = list(content)
        for agent in range(agents):
            own = [web.url(host, path) for host in hosts[agent::agents] for path in content[host]]
            others = [web.url(host, path) for host in hosts[: agent % 2] for path in content[host]]
            web.crawl(rosters.folder_of(folder, agent), *own, *others[:2], max_depth=0, scope="host")
            roster = roster.begun(agent)
        rosters.write(folder, roster.next())


def lists_of(graph: Graph) -> Lists:
    """The names of the nodes in their order, with those of their successors in theirs."""
    nodes = range(graph.nodes)
    return {graph.name(node): [graph.name(int(to)) for to in graph.successors(node)] for node in nodes}


@pytest.mark.parametrize("seed", range(6))
def test_the_graph_and_the_ranks_are_those_of_the_merged_collection(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    agents = 2 + seed % 3
    folder, out = tmp_path / "divided", tmp_path / "whole"
    crawled_by(agents, folder, chance)
    merge(folder, out)
    with crivello.open(out, write=True) as whole, crivello.open(folder, write=True) as divided:
        assert isinstance(divided, ClusterCollection)
        tables = [agent.table for agent in divided.agents.values()]
        for nofollow in (False, True):
            expected = lists_of(whole.graph(nofollow=nofollow))
            assert expected and list(lists_of(divided.graph(nofollow=nofollow)).items()) == [
                *expected.items()
            ]
            for memory in (1, 20_000):
                found = Graph(*_core.merged_page_graph(tables, True, nofollow, memory=memory))
                assert list(lists_of(found).items()) == [*expected.items()]
        expected = lists_of(whole.graph())
        rankings = [collection.rank(progress=False) for collection in (whole, divided)]
        assert rankings[0].to_dict() == rankings[1].to_dict() and rankings[0].links > 0
        assert dict(rankings[0]) == dict(rankings[1])
        for url in expected:
            assert standings(whole, url) == standings(divided, url)
        # The committed graph is the same, and no page was copied for it.
        assert lists_of(divided.graph()) == expected
        assert Kept.of(divided.state("graph")).base is not None
        own = divided.gathered()
        assert len(own) == 0 and not list((folder / "archive").iterdir())
        assert list(own.check(progress=False)) == []


A, B, C, D = (f"http://{name}.example/" for name in "abcd")


def one_text(number: int) -> str:
    return f"{number:032x}"


FIRST = [Visit(A, [B, C, D], words=one_text(1)), Visit(B, [A], words=one_text(2)), Visit(C, redirect=A)]
SECOND = [Visit(C, [D], words=one_text(3)), Visit(D, [C], words=one_text(2))]


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """Two agents; both have C, and D of the second has the text of B of the first."""
    folder = tmp_path / "divided"
    with Collection.write(folder, create=True):
        roster = rosters.new([A]).of(2, [rosters.LOOPBACK]).begun(0).begun(1)
        rosters.write(folder, roster.next())
    for number, visits in enumerate((FIRST, SECOND)):
        with Collection.write(rosters.folder_of(folder, number), create=True) as agent:
            logs = Logs(agent.folder)
            logs.append(visits)
            logs.commit(agent)
    return folder


def test_pages_of_two_agents_are_folded_into_one(two: Path) -> None:
    """Both versions of C are equally new: that of the first agent counts."""
    with crivello.open(two, write=True) as divided:
        assert lists_of(divided.graph()) == {A: [B], B: [A]}
        assert divided.graph().node(D) == divided.graph().node(B)
        ranking = divided.rank(measure="indegree", progress=False)
        assert dict(ranking) == {A: 1.0, B: 1.0}


def test_a_graph_follows_what_the_agents_commit(two: Path) -> None:
    with crivello.open(two, write=True) as divided:
        divided.rank(progress=False)
        before = Kept.of(divided.state("graph"))
        divided.rank(progress=False)
        again = Kept.of(divided.state("graph"))
        assert again.base == before.base and again.number == before.number + 1  # nothing is new
        new = "http://e.example/"
        with Collection.write(rosters.folder_of(two, 1)) as agent:
            logs = Logs(agent.folder)
            logs.append([*SECOND, Visit(new, [A], words=one_text(4))])
            logs.commit(agent)
        assert lists_of(divided.graph()) == {A: [B], B: [A], new: [A]}
        divided.rank(progress=False)
        assert Kept.of(divided.state("graph")).base != before.base
        files = {name for name in divided.files if name.startswith("graph/")}
        assert files == {f"graph/{file.name}" for file in (two / "graph").iterdir()}
        assert lists_of(divided.graph()) == {A: [B], B: [A], new: [A]}


def test_copies_are_pages_of_their_own_if_nobody_looks_for_them(two: Path) -> None:
    (two / "crivello.toml").write_text('[crawl]\nexact_duplicates = "keep"\n')
    assert lists_of(crivello.open(two).graph()) == {A: [B, D], B: [A], D: [A]}


def test_an_index_ranks_by_the_same_graph(two: Path) -> None:
    with crivello.open(two, write=True) as divided:
        divided.rank(progress=False)
        before = Kept.of(divided.state("graph"))
        assert isinstance(divided, ClusterCollection)
        divided.gather(progress=False)
        divided.rank(progress=False)
        assert Kept.of(divided.state("graph")).base == before.base
        assert lists_of(divided.graph()) == {A: [B], B: [A]}


def test_the_shell_describes_draws_and_converts_it(two: Path, tmp_path: Path) -> None:
    for arguments in (
        ["rank", str(two)],
        ["graph", "info", str(two)],
        ["graph", "draw", str(two), "--out", str(tmp_path / "hosts.svg")],
        ["graph", "convert", str(two), str(tmp_path / "arcs.txt")],
    ):
        done = says(*arguments)
        assert done.returncode == 0, done.stderr
    assert sorted((tmp_path / "arcs.txt").read_text().split()) == sorted([A, B, B, A])


def test_an_agent_that_is_missing_is_named(two: Path) -> None:
    shutil.rmtree(rosters.folder_of(two, 1))
    part = crivello.open(two, write=True)
    with part, pytest.raises(CollectionError, match="the pages of agent 1 are not here"):
        part.rank(progress=False)
    for command in (["rank", str(two)], ["graph", "info", str(two)]):
        done = says(*command)
        assert done.returncode and "the pages of agent 1 are not here" in done.stderr
        assert "Traceback" not in done.stderr
