"""Private: who the agents of a cluster are, in ``cluster.json``.

A cluster's collection is a folder like any other, with ``cluster.json`` and a collection for each agent in
``agents/N``. On many machines every agent's collection is on the disk of its machine, under the same path; the copy
of ``cluster.json`` on the machine of the driver is the one that counts.

An **epoch** is a division of the web: its members, and how hosts are assigned to them. The file is written whole,
synced and renamed, so there is always exactly one epoch on disk, and numbers only grow.

A change of members is *announced* first (``wanted``); the next epoch begins when all agents have stopped fetching and
have committed what was written for them. An agent that is no member any more is *leaving* until it has handed over what
it had. One that was taken for *lost* is listed with the epoch that began without it, so that one that left properly is
never taken for lost. One that is there with another collection than before has lost its disk: what it had is lost, and the
next epoch begins with an empty one.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from crivello.collection import CLUSTER
from crivello.errors import CollectionError, CorruptFile, NewerFormat, StorageError

FILE = CLUSTER
AGENTS = "agents"
HERE = ""
"""The machine of an agent whose collection is on that of the driver, before it is known."""
LOOPBACK = "node:127.0.0.1"
"""The only machine of a cluster that was started on this one."""
_VERSION = 3


class Member(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An agent: its number, the machine that it lives on, its share of the hosts relative to the others, whether it
    has ever crawled, and the number of its collection, which an empty disk would not have."""

    id: int
    machine: str = ""
    weight: float = 1.0
    has_begun: bool = False
    incarnation: int = 0


class Roster(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The agents of a cluster and the current epoch.

    ``before`` are the members of earlier epochs who may still be fetching; it is empty once this epoch has begun.
    ``leaving`` are agents that hand over what they have; ``wanted`` are the members of the next epoch, if one is
    announced, and ``missing`` those that are not waited for any more; ``lost`` has the agents that are lost, with the
    epoch that began without them; ``emptied`` are those whose disk was found to be empty in this epoch; ``lost_in`` has the last
    epoch that began without each agent that was ever lost or emptied, or without what it had;
    ``reset`` is the last epoch in which everybody said again what it had fetched. ``rest`` is the longest rest
    that any agent ever owed a host; ``counted`` are the pages and bytes that each agent had when this run began;
    ``address`` is where Ray listens while a driver runs.
    """

    name: str
    agents: tuple[Member, ...] = ()
    epoch: int = 0
    members: tuple[int, ...] = ()
    before: tuple[int, ...] = ()
    leaving: tuple[int, ...] = ()
    wanted: tuple[int, ...] = ()
    missing: tuple[int, ...] = ()
    lost: dict[int, int] = {}
    emptied: tuple[int, ...] = ()
    lost_in: dict[int, int] = {}
    reset: int = 0
    seeds: tuple[str, ...] = ()
    counted: dict[int, tuple[int, int]] = {}
    rest: float = 0.0
    address: str = ""
    version: int = _VERSION

    def agent(self, number: int) -> Member:
        """The agent with a number."""
        return next(agent for agent in self.agents if agent.id == number)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the agents."""
        return tuple(agent.id for agent in self.agents)

    @property
    def shares(self) -> dict[int, float]:
        """The share of the hosts that each member is to have."""
        weights = {number: self.agent(number).weight for number in self.members}
        total = sum(weights.values())
        return {number: weight / total for number, weight in weights.items()}

    @property
    def taking_part(self) -> tuple[int, ...]:
        """The members, and those that are leaving."""
        return tuple(sorted({*self.members, *self.leaving}))

    def announced(self, members: Iterable[int], missing: Iterable[int] = ()) -> Roster:
        """The same epoch, which is to end: the next one has these members, and ``missing`` are lost then."""
        return msgspec.structs.replace(
            self, wanted=tuple(sorted(set(members))), missing=tuple(sorted(set(missing)))
        )

    def next(self) -> Roster:
        """The next epoch: the one that was announced, or the first, with all agents."""
        epoch, members = self.epoch + 1, self.wanted or self.numbers
        gone = set(self.missing) - set(members)
        lost = {number: since for number, since in self.lost.items() if number not in members}
        is_reset = gone or self.emptied or any(number in self.lost for number in members)
        return msgspec.structs.replace(
            self,
            epoch=epoch,
            members=members,
            leaving=tuple(sorted({*self.taking_part} - gone - {*members})),
            lost={**lost, **dict.fromkeys(sorted(gone), epoch)},
            emptied=(),
            lost_in={**self.lost_in, **dict.fromkeys(sorted({*gone, *self.emptied}), epoch)},
            reset=epoch if is_reset else self.reset,
            wanted=(),
            missing=(),
            before=tuple(sorted({*self.taking_part, *self.before})),
        )

    def without(self, numbers: Iterable[int]) -> Roster:
        """The same epoch, after agents that were leaving have handed over everything."""
        return msgspec.structs.replace(
            self, leaving=tuple(number for number in self.leaving if number not in set(numbers))
        )

    def settled(self) -> Roster:
        """The same epoch, once nobody of an earlier one can be fetching any more."""
        return msgspec.structs.replace(self, before=())

    def settled_on(self, machines: Sequence[str], here: str) -> Roster:
        """The roster with agents that were on the driver's machine on the machine that it is now."""
        agents = [
            msgspec.structs.replace(agent, machine=here)
            if agent.machine not in machines and agent.machine in (HERE, LOOPBACK)
            else agent
            for agent in self.agents
        ]
        return msgspec.structs.replace(self, agents=tuple(agents))

    def begun(self, number: int) -> Roster:
        """The roster after an agent's first crawl has begun: from then on it has a collection."""
        return self._changed(number, has_begun=True)

    def found(self, number: int, incarnation: int) -> Roster:
        """The roster after the number of an agent's collection was seen. If it had another one before, the epoch is to end:
        what it had is to be fetched again."""
        changed = self._changed(number, incarnation=incarnation)
        if not self.agent(number).incarnation:
            return changed
        emptied = tuple(sorted({*self.emptied, number}))
        changed = msgspec.structs.replace(changed, emptied=emptied)
        return changed.announced(self.wanted or self.members, self.missing)

    def _changed(self, number: int, **changes: int) -> Roster:
        agents = list(self.agents)
        _replace(agents, number, **changes)
        return msgspec.structs.replace(self, agents=tuple(agents))

    def of(self, count: int, machines: Sequence[str]) -> Roster:
        """The roster with ``count`` members: from now on if no crawl has begun, otherwise announced for the next epoch.

        Those with the smallest numbers stay; agents that have left come back before new ones are made, each on the machine
        with the fewest.
        """
        if count == len(self.wanted or self.members or self.agents):
            return self
        chosen = list(self.wanted or self.members)[:count]
        here = [number for number in self.numbers if number not in {*chosen, *self.lost, *self.missing}]
        chosen += here[: count - len(chosen)]
        agents = list(self.agents)
        load = {name: sum(self.agent(number).machine == name for number in chosen) for name in machines}
        while len(chosen) < count:
            machine = min(load, key=lambda name: (load[name], machines.index(name)))
            load[machine] += 1
            chosen.append(len(agents))
            agents.append(Member(len(agents), machine))
        grown = msgspec.structs.replace(self, agents=tuple(agents))
        return grown.announced(chosen, self.missing) if self.epoch else grown


def _replace(agents: list[Member], number: int, **changes: int) -> None:
    place = next(place for place, agent in enumerate(agents) if agent.id == number)
    agents[place] = msgspec.structs.replace(agents[place], **changes)


def new(seeds: Iterable[str] = ()) -> Roster:
    """The roster of a new cluster, without agents."""
    return Roster(uuid.uuid4().hex[:12], seeds=tuple(seeds))


def is_cluster(folder: str | Path) -> bool:
    """Whether a folder is the collection of a cluster."""
    return (Path(folder) / FILE).is_file()


def folder_of(folder: str | Path, agent: int) -> Path:
    """The folder of an agent's own collection."""
    return Path(folder) / AGENTS / str(agent)


def read(folder: str | Path) -> Roster:
    """The roster of a cluster's collection."""
    path = Path(folder) / FILE
    try:
        written = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise CollectionError(
            f"{folder} is not the collection of a cluster",
            hint="`crivello crawl URL --into DIR --agents 3` makes one",
        ) from None
    except OSError as error:
        raise StorageError.of(error, path) from None
    try:
        if msgspec.json.decode(written, type=dict)["version"] > _VERSION:
            raise NewerFormat(f"{path} was written by a later version of Crivello", path)
        return msgspec.json.decode(written, type=Roster)
    except (msgspec.MsgspecError, KeyError, TypeError) as error:
        raise CorruptFile(f"{path} is not a list of agents: {error}", path, 0) from None


def write(folder: str | Path, roster: Roster) -> None:
    """Writes the roster whole, synced and renamed."""
    path = Path(folder) / FILE
    temporary = path.with_name(f"{FILE}.new")
    try:
        with temporary.open("wb") as out:
            out.write(msgspec.json.format(msgspec.json.encode(roster)) + b"\n")
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(path)
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
    except OSError as error:
        raise StorageError.of(error, path) from None
