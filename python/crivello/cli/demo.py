"""crivello demo: the complete system on the sample web."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from crivello.cli.graphs import registry
from crivello.cli.live import CrawlProgress
from crivello.cli.options import InGroups, with_settings
from crivello.cli.output import print_report, say, stderr_console
from crivello.cli.results import print_hit
from crivello.cli.units import counted

if TYPE_CHECKING:
    from rich.console import Console

    from crivello.collection import Collection
    from crivello.crawl import Report
    from crivello.graph.graph import Graph
    from crivello.lab.web import SampleWeb
    from crivello.settings import Settings

DELAY = 0.02
_OPINIONS = ("pagerank", "harmonic", "indegree", "betweenness")
_MORE_QUERIES = ('title:bee AND (swarm OR "queen honey"~20) -wax', "lighthuose lens")


def register(app: typer.Typer) -> None:
    """Adds the verb."""
    app.command("demo", cls=InGroups)(with_settings("serve")(demo))


def demo(
    once: Annotated[bool, typer.Option("--once", help="exit instead of serving until Ctrl-C")] = False,
    into: Annotated[
        str,
        typer.Option(
            "--into", metavar="DIR", help="keep the collection in this folder (default: a temporary one)"
        ),
    ] = "",
    agents: Annotated[
        int,
        typer.Option(
            "--agents", min=1, metavar="N", help="divide the crawl among N agents, on Ray", show_default=False
        ),
    ] = 1,
    *,
    flags: dict[str, Any],
) -> None:
    """Crawl, index, rank and search a miniature web that runs inside this process.

    It takes about twenty seconds, then serves the search page until Ctrl-C.

    \b
    Examples:
      crivello demo
      crivello demo --once
      crivello demo --once --agents 3
    """
    with tempfile.TemporaryDirectory(prefix="crivello-demo-") as temporary:
        _demo(Path(into) if into else Path(temporary) / "demo", into, once, agents, flags)


def _demo(folder: Path, into: str, once: bool, agents: int, flags: dict[str, Any]) -> None:
    from crivello import settings, web
    from crivello.collection import Collection
    from crivello.crawl.story import verdict
    from crivello.index.stats import stats
    from crivello.lab.web import SampleWeb

    console = stderr_console()
    loaded = settings.load(
        flags={
            **flags,
            "crawl": {"delay": DELAY, "scope": "any", "allow_private": True, "user_agent": "crivello-demo"},
        }
    )
    with SampleWeb() as sample, ExitStack() as opened:
        hosts = len(sample.hosts)
        say(
            f"1. a miniature web: {hosts} hosts on {sample.hosts[0]} to {sample.hosts[-1]}, port {sample.port}"
        )
        among = f" by {agents} agents" if agents > 1 else ""
        say(f"2. crawling it{among} from {sample.seeds[0]}, {DELAY} s between requests to a host …")
        progress = CrawlProgress(console, loaded.crawl)
        if agents > 1:
            report = _by_agents(folder, loaded, sample, agents, progress)
            collection = opened.enter_context(Collection.write(folder, settings=loaded))
        else:
            collection = opened.enter_context(Collection.write(folder, settings=loaded, create=True))
            with progress.shown():
                report = collection.crawl(sample.seeds, progress=progress)
        print_report("", report)
        say(_reprints(sample, collection))
        for url in _told(collection):
            say()
            say(f"$ crivello why {into or 'DIR'} {url}")
            say(f"  {verdict(collection.why(url))}")
        say()
        done = collection.index()
        ranking = collection.rank()
        say(
            f"3. indexed {done.documents:,} pages: {done.terms:,} terms, {done.postings:,} postings, {done.bytes:,} bytes"
        )
        say(f"   {_costs(stats(collection))}")
        say(
            f"4. ranked {ranking.pages:,} pages by {ranking.links:,} links, {ranking.bits_per_link:.1f} bits a link"
        )
        for line in _opinions(collection.graph(), ranking.measure):
            say(f"   {line}")
        for query in (*sample.queries[:2], *_MORE_QUERIES):
            _show_search(console, collection, query, into)
        if agents == 1:
            say()
            _follow(sample, collection)
    say()
    if once:
        return
    host, port = loaded.serve.host, loaded.serve.port
    served = Collection(folder, settings=loaded)
    web.serve(
        served,
        host,
        port if flags["serve"]["port"] else web.free_port(host, port),
        doors=web.Doors(served, loaded.serve),
        on_ready=lambda url: say(
            f"{'7' if agents == 1 else '5'}. the search page is at {url} (Ctrl-C ends it)"
        ),
        settings=loaded.serve,
    )


def _by_agents(
    folder: Path, loaded: Settings, sample: SampleWeb, agents: int, progress: CrawlProgress
) -> Report:
    """Crawls with several agents, and shows how they divided the hosts."""
    from crivello.cluster.driver import crawl
    from crivello.cluster.view import ClusterCollection

    with progress.shown():
        report = crawl(
            folder,
            loaded,
            seeds=sample.seeds,
            agents=agents,
            on_progress=lambda report, _: progress(report),
            on_event=say,
        )
    status = ClusterCollection(folder).status()
    for agent in status.agents if status else ():
        say(
            f"   agent {agent.number}: {counted(agent.pages, 'page')}, {agent.exchanged('urls_sent'):,} URLs sent, "
            f"{agent.exchanged('urls_received'):,} received"
        )
    return report


def _follow(sample: SampleWeb, collection: Collection) -> None:
    """Follows the feeds that the crawl found, and visits the pages of one of them again."""
    feeds = collection.feeds.add(found=True)
    entries = sum(len(polled.new) for polled in collection.feeds.poll())
    note = sample.publish_note("The keeper lit the lamp an hour before dusk.")
    new = [url for polled in collection.feeds.poll(every=True) for url in polled.new]
    say(
        f"5. followed {counted(len(feeds), 'feed')}: {entries:,} entries, and then {len(new)} new: {', '.join(new)}"
    )
    sample.publish_note("The keeper lit the lamp at dusk.")
    ends = collection.revisit(all=True, site=urlsplit(note).hostname, progress=False).of_run()["revisits"]
    visited = ", ".join(f"{count:,} {how}" for how, count in sorted(ends.items()))
    say(f"6. visited the pages of {urlsplit(note).hostname} again: {visited}")
    changed = collection.diff(note)
    for line in str(changed or "").splitlines():
        say(f"   {line}")
    collection.index()


def _opinions(graph: Graph, first: str) -> Iterator[str]:
    """The best page by the measure that ranks answers, and those that other measures prefer."""
    from crivello.graph.compare import kendall, rounded

    measures = registry()
    scores = {name: measures[name](graph) for name in dict.fromkeys((first, *_OPINIONS)) if name in measures}
    best: dict[str, list[str]] = {}
    for name, values in scores.items():
        best.setdefault(graph.name(values.top(1)[0][0]), []).append(name)
    for page, names in best.items():
        yield f"the best page by {', '.join(names)}: {page}"
    mine = rounded(scores.pop(first))
    agreements = [f"{kendall(mine, rounded(values)):.2f} with {name}" for name, values in scores.items()]
    yield f"how far {first} agrees, Kendall's τ: {', '.join(agreements)}"


def _costs(found: dict[str, Any]) -> str:
    """The size of an index by component."""
    sections, postings, occurrences = found["sections"], found["postings"], found["occurrences"]
    function, signatures = found["rank_bits"]
    return (
        f"{sections['pointers'] * 8 / postings:.1f} bits a pointer, {sections['counts'] * 8 / postings:.1f} a count, "
        f"{sections['positions'] * 8 / occurrences:.1f} a position; {function + signatures:.1f} bits from a term to its rank"
    )


def _reprints(sample: SampleWeb, collection: Collection) -> str:
    """Which of the sample web's reprints were found as near-duplicates of their originals, and what else was."""
    pairs = {frozenset(pair) for pair in sample.near_duplicates}
    found = [
        frozenset((row.url, row.near_duplicate_of)) for row in collection.pages() if row.near_duplicate_of
    ]
    right = sum(pair in pairs for pair in found)
    others = counted(len(found) - right, "other page") if len(found) > right else "no other page"
    return f"the near-duplicates are {right} of the {len(pairs)} reprints with changed words, and {others}"


def _told(collection: Collection) -> list[str]:
    """A URL of each kind that did not become a page."""
    from crivello.store import Outcome

    first: dict[str, str] = {}
    for row in collection.pages():
        near = "near-duplicate" if row.near_duplicate_of else row.outcome
        first.setdefault("duplicate" if row.duplicate_of else near, row.url)
    wanted = ("duplicate", "near-duplicate", Outcome.ROBOTS, Outcome.TRAP)
    return [first[kind] for kind in wanted if kind in first]


def _show_search(console: Console, collection: Collection, query: str, into: str) -> None:
    """Prints the top hits of a query, the explanation of the first score, and the facets of the matches."""
    say()
    say(f"$ crivello search {into or 'DIR'} {query!r}")
    results = collection.search(query, top=2, explain=True, facets=True)
    if results.suggestion:
        say(f"did you mean: {results.suggestion}")
    for hit in results:
        print_hit(console, hit) if console.is_terminal else say(str(hit))
    if results.hits and (explanation := results.hits[0].explanation):
        parts = " + ".join(f"{part.value:.2f} {part.label}" for part in explanation.parts)
        say(f"     the first score: {explanation.value:.2f} = {parts}")
    languages = (results.facets or {})["language"]
    say(f"     {results.counted}: {', '.join(f'{one.count:,} {one.value}' for one in languages)}")
