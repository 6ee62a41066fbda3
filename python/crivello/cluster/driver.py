"""Private: a crawl by several agents, as its driver sees it.

The driver starts the actors, shows how they stand, and passes on Ctrl-C. It keeps nothing: what must outlive it is in
``cluster.json`` and in the collections of the agents. If it dies, Ray ends its actors, and the same command goes on.

If the head of the cluster is lost, the actors go on, since they call each other directly, until Ray ends all its processes a
minute later. Before that the driver ends the run, with a checkpoint of every agent that it reaches.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from crivello.cluster import engine
from crivello.cluster import roster as rosters
from crivello.cluster.agent import Agent
from crivello.cluster.counters import renew, summed
from crivello.cluster.register import Limits, Register, View
from crivello.cluster.roster import Roster, is_cluster
from crivello.cluster.supervise import ENDED
from crivello.collection import Collection
from crivello.crawl.crawler import signals_interrupt
from crivello.crawl.report import Report
from crivello.errors import CollectionError, CrawlError, CrivelloError
from crivello.settings import Settings

_BETWEEN_LOOKS = 0.5
_PATIENCE = 60.0
_ANSWER = 10.0
# Ray ends this process a minute after it has lost the head. The register is on this machine, and Ray restarts it in seconds.
_PATIENCE_WITH_HEAD = 10.0
_PATIENCE_WITHOUT_HEAD = 15.0
_PATIENCE_WITH_REGISTER = 120.0
_THREADS = 16
_STOPPED = "stopped"
# What another process asks of the driver: how many agents there should be, 0 to stop. A file, since joining its Ray would take
# seconds, and a minute if the crawl has just ended.
_REQUEST = "agents.request"


def prepare(
    folder: str | Path, count: int, seeds: Sequence[str], machines: Sequence[str], here: str
) -> Roster:
    """The roster with which a run begins, written: of a new cluster, or of one that goes on.

    ``count`` is how many agents are wanted; 0: as many as before. If it is another number than before, the run begins with
    those that there were, and divides anew at once. ``here`` is the machine of the driver.
    """
    folder = Path(folder)
    if is_cluster(folder):
        roster = rosters.read(folder)
    elif (folder / rosters.AGENTS).exists():
        raise CollectionError(f"{folder / rosters.FILE} is missing", hint="restore it, or name a new folder")
    else:
        roster = rosters.new()
    before = len(roster.wanted or roster.members or roster.agents)
    roster = roster.settled_on(machines, here).of(count or before or 1, machines)
    known = dict.fromkeys([*roster.seeds, *seeds])
    roster = msgspec.structs.replace(roster, seeds=tuple(known), counted={})
    if not roster.epoch:
        roster = roster.next()
    rosters.write(folder, roster)
    return roster


class Driver:
    """One run of a cluster's crawl."""

    def __init__(
        self,
        ray: Any,
        folder: str | Path,
        settings: Settings,
        *,
        agents: int = 0,
        seeds: Sequence[str] = (),
        on_progress: Callable[[Report, View], object] | None = None,
        on_event: Callable[[str], object] | None = None,
    ) -> None:
        self._ray = ray
        self._folder = Path(folder).resolve()
        self._settings = settings
        self._on_progress, self._on_event = on_progress, on_event
        machines = engine.machines(ray)
        self._roster = prepare(self._folder, agents, seeds, machines, engine.this_machine(ray))
        if not self._roster.seeds:
            raise CrawlError(f"{folder} has no seeds yet", hint="name at least one URL to start from")
        self._agents: dict[int, Any] = {}
        self._register: Any = None
        self._head = engine.Head(engine.address_of(ray))
        self._heard = time.monotonic()
        self._report = Report(_report_before(self._folder))
        self._lives: dict[int, str] = {}
        self._told: dict[int, str] = {}
        self.view: View | None = None

    def run(self) -> Report:
        """Crawls until nothing is left, a limit is reached, or Ctrl-C, which raises ``KeyboardInterrupt`` after all
        agents have made a checkpoint. If the cluster is lost, this ends with a ``CrawlError``."""
        self._start()
        failure: KeyboardInterrupt | CrawlError | None = None
        patience = _PATIENCE
        try:
            try:
                with signals_interrupt():
                    self._watch()
            except KeyboardInterrupt as error:
                failure = error
                self.stop()
            except CrawlError as error:
                failure = error
                # Without a register agents have paused, and nothing can be learned of them.
                patience = _PATIENCE_WITHOUT_HEAD if self._look() is not None else 0.0
                if patience:
                    self.stop()
            self._settle(patience)
        finally:
            for actor in [*self._agents.values(), self._register]:
                self._ray.kill(actor)
            self._write_address("")
        if failure is not None:
            raise failure
        over = self.view.over if self.view else ""
        self._report.stopped_by = over if over not in (ENDED, _STOPPED) else None
        return self._report

    def stop(self) -> None:
        """Ends the run, with a checkpoint of every agent."""
        self._ask(self._register.finish.remote(_STOPPED))

    def _start(self) -> None:
        (self._folder / _REQUEST).unlink(missing_ok=True)
        crawl, cluster = self._settings.crawl, self._settings.cluster
        self._write_address(engine.address_of(self._ray))
        limits = Limits(
            cluster.lease,
            cluster.grace,
            crawl.max_pages,
            crawl.max_volume,
            time.time() + crawl.max_time if crawl.max_time else 0.0,
        )
        here = self._ray.get_runtime_context().get_node_id()
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        try:
            self._register = self._actor(
                Register,
                engine.register_name(self._roster.name),
                {"scheduling_strategy": NodeAffinitySchedulingStrategy(here, soft=False)},
            ).remote(str(self._folder), msgspec.msgpack.encode(limits))
        except ValueError:
            raise CollectionError(
                f"another driver is crawling into {self._folder}", hint=f"crivello status {self._folder}"
            ) from None
        self._start_agents(self._roster)
        self._heard = time.monotonic()

    def _start_agents(self, roster: Roster) -> None:
        """Starts the agents that have no actor yet."""
        settings = msgspec.msgpack.encode(self._settings)
        for agent in roster.agents:
            if agent.id in self._agents:
                continue
            self._agents[agent.id] = self._actor(
                Agent, engine.agent_name(roster.name, agent.id), engine.placed_on(agent.machine)
            ).remote(agent.id, str(self._folder), roster.name, settings, self._settings.cluster.lease)

    def _actor(self, kind: type, name: str, place: dict[str, Any]) -> Any:
        return self._ray.remote(kind).options(
            name=name,
            namespace=engine.NAMESPACE,
            num_cpus=0,
            max_restarts=-1,
            max_task_retries=0,
            max_concurrency=_THREADS,
            **place,
        )

    def _watch(self) -> None:
        while True:
            self._obey()
            view = self._look()
            if view is not None:
                self._tell(view)
                self._start_agents(view.roster)
                if view.over:
                    return
            self._check_cluster()
            time.sleep(_BETWEEN_LOOKS)

    def _check_cluster(self) -> None:
        """Raises an error if the cluster is lost."""
        if self._head.seconds_away() > _PATIENCE_WITH_HEAD:
            reason = "its head cannot be reached"
        elif time.monotonic() - self._heard > _PATIENCE_WITH_REGISTER:
            reason = "its node on this machine does not answer"
        else:
            return
        raise CrawlError(
            f"the Ray cluster at {self._head.address} is lost: {reason}",
            hint="start its nodes again, the head first; then the same command goes on",
        )

    def _obey(self) -> None:
        """Does what another process asks for; again at the next look if the register is away."""
        request = self._folder / _REQUEST
        try:
            count = int(request.read_text())
        except (FileNotFoundError, ValueError):
            return  # nobody asks, or not yet to the end
        if not count:
            self.stop()
        elif self._ask(self._register.scale.remote(count, engine.machines(self._ray))) is not None:
            request.unlink(missing_ok=True)

    def _settle(self, patience: float) -> None:
        """Waits until every agent has made its last checkpoint, or is known not to be there."""
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            view = self._look()
            if view is not None:
                self._tell(view)
                here = [number for number in self._agents if view.ages.get(number, 0.0) <= view.fence]
                beats = [view.beats.get(number) for number in here]
                if view.over and not any(beat is not None and beat.is_running for beat in beats):
                    return
            time.sleep(_BETWEEN_LOOKS / 2)

    def _look(self) -> View | None:
        told = self._ask(self._register.view.remote())
        if told is None:
            return None
        self._heard = time.monotonic()
        self.view = msgspec.msgpack.decode(told, type=View)
        return self.view

    def _ask(self, call: Any) -> Any:
        """The answer to a call; ``None`` if the register is away, and Ray is about to start it again."""
        try:
            return self._ray.get(call, timeout=_ANSWER)
        except self._ray.exceptions.RayError:
            return None

    def _tell(self, view: View) -> None:
        for event in self._events(view):
            if self._on_event:
                self._on_event(event)
        reports = [beat.report for _, beat in sorted(view.beats.items()) if beat.report]
        if not reports:
            return
        renew(self._report, reports)
        if self._on_progress:
            self._on_progress(self._report, view)

    def _events(self, view: View) -> Iterable[str]:
        """What has happened since the last look that a reader may want to know."""
        for number, beat in sorted(view.beats.items()):
            if self._lives.get(number, beat.life) != beat.life:
                yield f"agent {number} was restarted, and goes on from its last checkpoint"
            self._lives[number] = beat.life
            if beat.failure and self._told.get(number) != beat.failure:
                yield f"agent {number} cannot crawl: {beat.failure}"
            self._told[number] = beat.failure
        before, roster = self._roster, view.roster
        for number in sorted(set(roster.lost) - set(before.lost)):
            yield f"agent {number} is lost: others take over its hosts"
        for number in sorted(set(roster.emptied) - set(before.emptied)):
            yield f"agent {number} has an empty disk: what it had is fetched again"
        if roster.epoch != before.epoch:
            yield f"epoch {roster.epoch} is divided among agents {', '.join(map(str, roster.members))}"
        for number in sorted(set(before.leaving) - set(roster.taking_part) - set(roster.lost)):
            yield f"agent {number} has handed over everything, and has left"
        self._roster = roster

    def _write_address(self, address: str) -> None:
        roster = rosters.read(self._folder)
        rosters.write(self._folder, msgspec.structs.replace(roster, address=address))


def _report_before(folder: Path) -> dict[str, Any] | None:
    """The counters of earlier runs, of the agents on this machine."""
    from crivello.cluster.view import ClusterCollection

    found = Collection(folder)
    agents = found.local_agents if isinstance(found, ClusterCollection) else {}
    reports = [report for agent in agents.values() if (report := agent.state("crawl").get("report"))]
    return summed(reports) if reports else None


def crawl(
    folder: str | Path,
    settings: Settings,
    *,
    seeds: Sequence[str] = (),
    agents: int = 0,
    address: str = "",
    on_progress: Callable[[Report, View], object] | None = None,
    on_event: Callable[[str], object] | None = None,
) -> Report:
    """Crawls with several agents into a cluster's collection, which is made if it is missing."""
    from crivello.cluster.view import held

    with engine.connected(address) as ray, held(folder, settings):
        return Driver(
            ray,
            folder,
            settings,
            agents=agents,
            seeds=seeds,
            on_progress=on_progress,
            on_event=on_event,
        ).run()


def _not_running(folder: str | Path) -> CrivelloError:
    return CrawlError(
        f"nobody is crawling into {folder}", hint=f"`crivello crawl --into {folder}` goes on with it"
    )


def scale(folder: str | Path, count: int) -> Roster:
    """Changes the number of agents of a crawl that is going on; returns the roster once they are divided anew."""
    roster = rosters.read(folder)
    if not roster.address:
        raise CrawlError(
            f"nobody is crawling into {folder}",
            hint=f"`crivello crawl --into {folder} --agents {count}` goes on with {count} agents",
        )
    with _asked(folder, count) as request:
        _wait(folder, lambda: not request.exists())
        if request.exists():
            raise _not_running(folder)  # it has just ended
    patience = time.monotonic() + _PATIENCE
    while (roster := rosters.read(folder)).wanted and time.monotonic() < patience:
        time.sleep(_BETWEEN_LOOKS)
    return roster


def stop(folder: str | Path) -> None:
    """Ends a crawl that is going on, with a checkpoint of every agent, and waits until its driver has ended."""
    if not rosters.read(folder).address:
        raise _not_running(folder)
    with _asked(folder, 0):
        _wait(folder, lambda: not rosters.read(folder).address)


@contextmanager
def _asked(folder: str | Path, count: int) -> Iterator[Path]:
    """Leaves a request for the driver, which must be there."""
    try:
        engine.check_reachable(rosters.read(folder).address)
    except CrawlError:
        raise _not_running(folder) from None
    request = Path(folder) / _REQUEST
    request.write_text(str(count))
    try:
        yield request
    finally:
        request.unlink(missing_ok=True)


def _wait(folder: str | Path, is_done: Callable[[], bool]) -> None:
    """Waits until the driver has done what it was asked for, or has ended."""
    patience = time.monotonic() + _PATIENCE
    while not is_done() and rosters.read(folder).address:
        if time.monotonic() > patience:
            raise CrawlError(
                f"the crawl into {folder} has not answered within a minute",
                hint=f"crivello status {folder} shows what it does",
            )
        time.sleep(_BETWEEN_LOOKS / 5)
