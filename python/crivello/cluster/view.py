"""Private: the collection of a cluster, which is used like any other.

Pages are read where the agents have them: a URL is looked up in all tables, lists are merged, and so is the graph, from
the tables and the logs of links of all agents (``crates/core/src/graph/pages/merge.rs``). The cluster's own folder is a
collection, too: it has the settings, the index, the graph and the ranks. ``index`` needs the text of the pages in one
place, and first *gathers*: it imports what the agents have fetched since the last time (:mod:`crivello.cluster.gather`), so
that anchor texts and duplicates are those of all pages together, and everything that searches works as it does without
agents. The price is a second copy of the pages, on the machine that indexes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from crivello._core import ArchivedRecord, Layout, Record, Row, Table
from crivello.cluster import roster as rosters
from crivello.cluster.roster import Roster, folder_of, is_cluster
from crivello.cluster.tables import UnionTable
from crivello.collection import Collection
from crivello.errors import CollectionError
from crivello.settings import Settings

if TYPE_CHECKING:
    from crivello.cluster.status import ClusterStatus
    from crivello.crawl.why import Story
    from crivello.doctor import Finding, Repaired
    from crivello.feeds import Feeds
    from crivello.graph.update import Ranking
    from crivello.index.update import Indexed


@contextmanager
def held(folder: str | Path, settings: Settings) -> Iterator[None]:
    """The folder of a cluster, locked against a second driver; it is made if it is missing."""
    folder = Path(folder)
    if (folder / Layout.MANIFEST).exists() and not is_cluster(folder) and Collection(folder).files:
        raise CollectionError(
            f"{folder} was crawled without agents",
            hint="name a new folder for a crawl by several agents",
        )
    with Collection.write(folder, settings=settings, create=True):
        yield


class ClusterCollection(Collection):
    """What `Collection` is, over the collections of several agents."""

    @property
    def roster(self) -> Roster:
        """The agents, and the current epoch."""
        return rosters.read(self.folder)

    @cached_property
    def agents(self) -> dict[int, Collection]:
        """The collections of the agents by number, open for reading."""
        found = self.local_agents
        for agent in self.roster.agents:
            if agent.has_begun and agent.id not in found:
                raise CollectionError(
                    f"the pages of agent {agent.id} are not here: there is no collection in "
                    f"{folder_of(self.folder, agent.id)}",
                    hint=f"they are on its machine ({agent.machine}); copy or mount that folder",
                )
        return found

    @property
    def local_agents(self) -> dict[int, Collection]:
        """The collections that are on this machine."""
        folders = {agent.id: folder_of(self.folder, agent.id) for agent in self.roster.agents}
        return {
            number: Collection(folder)
            for number, folder in folders.items()
            if (folder / Layout.MANIFEST).exists()
        }

    def refresh(self) -> bool:
        """Reloads what the agents and the index committed since; returns whether anything changed."""
        changed = [agent.refresh() for agent in self.agents.values()]
        return super().refresh() or any(changed)

    @property
    def version(self) -> str:
        """Changes with every commit of the index and of each agent."""
        return " ".join([super().version, *(agent.version for agent in self.agents.values())])

    @property
    def table(self) -> Table:
        """The rows of all agents."""
        return cast(Table, UnionTable([agent.table for agent in self.agents.values()]))

    @property
    def is_behind(self) -> bool:
        """Whether there are rows that ``crivello index`` has not processed yet."""
        from crivello.cluster.gather import is_complete

        own = self.gathered()
        return not is_complete(own, self.agents) or own.is_behind

    def home(self, row: Row) -> Collection:
        """The collection that has a version of a page."""
        for agent in self.agents.values():
            for version in agent.table.versions(row.url):
                if (version.fetched_at, version.file, version.offset) == (
                    row.fetched_at,
                    row.file,
                    row.offset,
                ):
                    return agent
        raise CollectionError(f"no agent has {row.url} as of then")

    def record(self, row: Row) -> Record:
        return self.home(row).record(row)

    def text(self, page: Row | str) -> str:
        row = self._row(page)
        return self.home(row).text(row)

    def links(self, page: Row | str) -> list[tuple[str, str]]:
        row = self._row(page)
        return self.home(row).links(row)

    def captures(self, rows: Sequence[Row], *, of_visits: bool = False) -> list[ArchivedRecord]:
        found: list[ArchivedRecord] = []
        for home, some in groupby(rows, self.home):
            found += home.captures(list(some), of_visits=of_visits)
        return found

    def length(self, name: str) -> int:
        """The committed length of a file of the cluster's own folder; of the rows, that of all agents."""
        if name == Layout.ROWS:
            return sum(agent.length(name) for agent in self.agents.values())
        return super().length(name)

    def state(self, part: str) -> dict[str, Any]:
        """The state of a part; the crawl is that of all agents."""
        if part != "crawl":
            return super().state(part)
        states = [state for agent in self.agents.values() if (state := agent.state("crawl"))]
        if not states:
            return {}
        from crivello.cluster.counters import summed

        reports = [state.get("report", {}) for state in states]
        led_to = [url for state in states for url in state.get("led_to", [])]
        return {
            "seeds": list(self.roster.seeds),
            "led_to": list(dict.fromkeys(led_to)),
            "hosts": sum(state.get("hosts", 0) for state in states),
            "report": summed(reports),
        }

    def index(
        self, *, rebuild: bool = False, merge: bool = False, progress: bool = True, **settings: Any
    ) -> Indexed:
        self.gather(progress=progress)
        return self.gathered().index(rebuild=rebuild, merge=merge, progress=progress, **settings)

    @property
    def parts(self) -> dict[int, Collection]:
        return self.agents

    def rank(self, **options: Any) -> Ranking:
        """See `Collection.rank`; the links are those of all agents as of their last commits."""
        for agent in self.agents.values():
            agent.refresh()
        return super().rank(**options)

    def gather(self, *, progress: bool = True) -> int:
        """Imports what the agents have fetched since the last time into the cluster's own folder; returns how many
        records that were."""
        from crivello.cluster.gather import gather

        self._require_writer()
        with self._progress(progress) as shown:
            shown.begin("gathering", 1.0)
            return gather(self.gathered(), self.agents, on_progress=shown.at)

    def gathered(self) -> Collection:
        """The cluster's own folder as an ordinary collection, of what was gathered."""
        own = _Own(self.folder, settings=self.settings, native=self._native)
        own.extensions = self.extensions
        return own

    def status(self, *, busiest: int = 10) -> ClusterStatus | None:  # type: ignore[override]
        from crivello.cluster.status import read_status

        del busiest  # the logs of decisions are those of the agents
        return read_status(self)

    def why(self, url: str) -> Story:
        """The history of a URL, as the agent that has it tells it."""
        stories = [agent.why(url) for agent in self.agents.values() if agent.state("crawl")]
        if not stories:
            return super().why(url)
        order = {"done": 0, "waits": 1, "left out": 2, "unknown": 3}
        best = min(
            stories, key=lambda story: (order[story.state], -story.row.fetched_at if story.row else 0.0)
        )
        best.linking_pages = sum(story.linking_pages for story in stories)
        best.found = best.found or next((story.found for story in stories if story.found), None)
        best.is_seed = any(story.is_seed for story in stories)
        if best.row is not None:
            from crivello.crawl.why import read_index

            read_index(self.gathered(), best)
        return best

    def check(self, *, progress: bool = True) -> Iterator[Finding]:
        """Reads everything, of the cluster's own folder and of every agent's, and yields what is not as it should be."""
        for part in (self.gathered(), *self.agents.values()):
            yield from part.check(progress=progress)

    def repair(self, **_: Any) -> Repaired:
        raise CollectionError(
            f"{self.folder} is the collection of a cluster, whose parts are repaired one by one",
            hint=f"crivello doctor {self.folder}/{rosters.AGENTS}/0 --repair, and so on",
        )

    @property
    def feeds(self) -> Feeds:
        raise self._require_no_agents("follow feeds")

    def _require_no_agents(self, what: str) -> CollectionError:
        return CollectionError(
            f"{self.folder} is the collection of a cluster, which cannot {what}",
            hint=f"crivello cluster merge {self.folder} OUT makes one collection of it",
        )

    def crawl(self, *_: Any, **__: Any) -> Any:
        raise self._require_no_agents("be crawled by one crawler")

    def revisit(self, **_: Any) -> Any:
        raise self._require_no_agents("visit pages again")

    def import_(self, *_: Any, **__: Any) -> Any:
        raise self._require_no_agents("import")


class _Own(Collection):
    """The cluster's own folder, without its agents."""
