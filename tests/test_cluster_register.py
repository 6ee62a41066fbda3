"""The register of a cluster and its supervisor, without Ray and with a clock of the test's own."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crivello.cluster import roster as rosters
from crivello.cluster.register import MARGIN, Answer, Beat, Limits, Register, View
from crivello.cluster.roster import Roster
from crivello.cluster.supervise import ENDED, Announce, Begin, Dismiss, Finish, decide
from crivello.errors import CorruptFile, NewerFormat

LEASE = 5.0
LIMITS = Limits(lease=LEASE)


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def begin(folder: Path, agents: int) -> Roster:
    roster = rosters.new(["http://a.example/"]).of(agents, ["m"]).next()
    rosters.write(folder, roster)
    return roster


class Simulated:
    """An agent as the register sees it: it fetches while its permit holds, under the epoch that it runs."""

    def __init__(self, number: int) -> None:
        self.number, self.life, self.beats = number, "a", 0
        self.epoch, self.is_running, self.permitted_until = 0, False, 0.0
        self.target: Roster | None = None

    def beat(self, **more: Any) -> Beat:
        self.beats += 1
        return Beat(self.number, self.life, self.beats, self.epoch, self.is_running, **more)

    def answered(self, answer: Answer, sent_at: float) -> None:
        if answer.roster is not None:
            self.target = answer.roster
        if answer.is_granted and answer.epoch == self.epoch and self.is_running:
            self.permitted_until = max(self.permitted_until, sent_at + LEASE)

    def stop(self) -> None:
        self.is_running, self.permitted_until = False, 0.0

    def start(self) -> None:
        if not self.is_running and self.target is not None:
            self.epoch, self.is_running = self.target.epoch, True

    def die(self) -> None:
        self.stop()
        self.life += "x"
        self.beats = self.epoch = 0
        self.target = None


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32), agents=st.integers(1, 3))
def test_no_two_epochs_are_ever_fetching_at_once(seed: int, agents: int) -> None:
    """Whatever is lost, late, killed or proposed: all permits that hold are of one epoch, and of its members."""
    chance, clock = random.Random(seed), Clock()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        begin(folder, agents)
        register = Register(str(folder), LIMITS, clock=clock)
        crew = [Simulated(number) for number in range(agents)]
        late: list[bytes] = []
        asleep = dict.fromkeys(range(agents), 0.0)
        for _ in range(300):
            clock.now += chance.choice((0.0, 0.1, 0.2, 0.5)) if chance.random() < 0.97 else LEASE
            awake = [agent for agent in crew if asleep[agent.number] <= clock.now]
            if not awake:
                continue
            one = chance.choice(awake)
            if chance.random() < 0.1:
                asleep[one.number] = clock.now + chance.uniform(LEASE - 1, LEASE + MARGIN)
            match chance.randrange(30):
                case 0:
                    one.die()
                case 1:
                    one.stop()
                case 2:
                    roster = rosters.read(folder)
                    if roster.wanted:
                        register.begin(roster.wanted, roster.missing, roster.epoch)
                    else:
                        members = chance.sample(range(agents), chance.randint(1, agents))
                        register.announce(members, chance.choice([(), members[1:]]), roster.epoch)
                case 3:
                    register = Register(str(folder), LIMITS, clock=clock)  # as after its death
                case 4:
                    late.append(msgspec.msgpack.encode(one.beat()))  # on its way for long
                case 5 if late:
                    register.beat(late.pop(0))
                case 6 | 7 | 8 | 9 | 10 | 11 | 12:
                    if one.is_running and one.target and one.target.epoch != one.epoch:
                        one.stop()
                    one.start()
                case _:
                    sent_at = clock.now
                    encoded = msgspec.msgpack.encode(one.beat())
                    clock.now += chance.choice((0.0, 0.0, 0.01, 0.5))
                    answer = msgspec.msgpack.decode(register.beat(encoded), type=Answer)
                    if chance.random() < 0.9:
                        one.answered(answer, sent_at)
            holding = [agent for agent in crew if agent.permitted_until > clock.now]
            assert len({agent.epoch for agent in holding}) <= 1
            if holding:
                roster = rosters.read(folder)
                # A later epoch may have been proposed meanwhile, but nobody fetches under it yet.
                assert holding[0].epoch <= roster.epoch


def test_the_register_goes_on_after_its_death(tmp_path: Path) -> None:
    begin(tmp_path, 2)
    clock = Clock()
    first = Register(str(tmp_path), LIMITS, clock=clock)
    beat = msgspec.msgpack.encode(Beat(0, "life", 1, 1, True))
    assert msgspec.msgpack.decode(first.beat(beat), type=Answer).is_granted
    second = Register(str(tmp_path), LIMITS, clock=clock)
    again = msgspec.msgpack.encode(Beat(0, "life", 2, 1, True))
    assert msgspec.msgpack.decode(second.beat(again), type=Answer).is_granted
    stale = msgspec.msgpack.encode(Beat(0, "life", 3, 2, True))
    assert not msgspec.msgpack.decode(second.beat(stale), type=Answer).is_granted


def quiet(number: int, beat: int, epoch: int = 1, **changes: Any) -> Beat:
    peers = {"9": {"written": 10, "acknowledged": 10, "received_committed": 5, **changes.pop("peer", {})}}
    exchange = {"is_idle": True, "is_drained": True, "handing_over": False, "peers": peers, **changes}
    report = {"pages": 3, "bytes": 30, "requests": 4, "exchange": exchange}
    return Beat(number, "life", beat, epoch, True, report=report)


def viewed(roster: Roster, beats: list[Beat], ages: dict[int, float] | None = None, **limits: Any) -> View:
    known = {beat.agent: beat for beat in beats}
    ages = {**{agent.id: 0.1 for agent in roster.agents}, **(ages or {})}
    return View(roster, msgspec.structs.replace(LIMITS, **limits), known, ages, "", 500.0)


@pytest.fixture
def roster(tmp_path: Path) -> Roster:
    return begin(tmp_path, 3)


def test_the_crawl_is_over_after_two_quiet_looks(roster: Roster) -> None:
    nothing, look = decide(viewed(roster, [quiet(n, 1) for n in range(3)]), None)
    assert nothing is None and look is not None
    # The same beats are the same look.
    assert decide(viewed(roster, [quiet(n, 1) for n in range(3)]), look)[0] is None
    over, _ = decide(viewed(roster, [quiet(n, 2) for n in range(3)]), look)
    assert over == Finish(over=ENDED)


@pytest.mark.parametrize(
    "changed",
    [
        quiet(1, 2, is_idle=False),
        quiet(1, 2, handing_over=True),
        quiet(1, 2, epoch=0),
        quiet(1, 2, peer={"acknowledged": 9}),
        quiet(1, 2, peer={"written": 11, "acknowledged": 11}),
        quiet(1, 2, peer={"received_committed": 6}),
        msgspec.structs.replace(quiet(1, 2), life="another"),
        msgspec.structs.replace(quiet(1, 2), is_running=False),
    ],
)
def test_whatever_changed_between_two_looks_keeps_the_crawl_going(roster: Roster, changed: Beat) -> None:
    _, look = decide(viewed(roster, [quiet(n, 1) for n in range(3)]), None)
    decision, _ = decide(viewed(roster, [quiet(0, 2), changed, quiet(2, 2)]), look)
    assert decision is None


def test_limits_are_those_of_all_agents_together(roster: Roster) -> None:
    counted = msgspec.structs.replace(roster, counted={0: (3, 30), 1: (1, 10), 2: (0, 0)})
    beats = [quiet(n, 1, is_idle=False) for n in range(3)]
    assert decide(viewed(counted, beats, max_pages=6), None)[0] is None
    assert decide(viewed(counted, beats, max_pages=5), None)[0] == Finish(over="max_pages")
    assert decide(viewed(counted, beats, max_volume=50), None)[0] == Finish(over="max_volume")
    assert decide(viewed(counted, beats, deadline=499.0), None)[0] == Finish(over="max_time")


def test_the_list_of_agents_is_written_whole_and_damage_is_named(tmp_path: Path) -> None:
    roster = begin(tmp_path, 2)
    assert rosters.read(tmp_path) == roster and not (tmp_path / "cluster.json.new").exists()
    (tmp_path / rosters.FILE).write_text('{"version": 1, "name": 7}')
    with pytest.raises(CorruptFile, match="is not a list of agents"):
        rosters.read(tmp_path)
    (tmp_path / rosters.FILE).write_text('{"version": 99}')
    with pytest.raises(NewerFormat):
        rosters.read(tmp_path)


def test_a_change_of_members_waits_until_everything_has_arrived(roster: Roster) -> None:
    wanted = roster.of(2, ["m"])
    assert wanted.wanted == (0, 1) and wanted.members == (0, 1, 2) and wanted.epoch == 1
    nothing, look = decide(viewed(wanted, [quiet(n, 1) for n in range(3)]), None)
    assert nothing is None and look is not None
    for late in (quiet(2, 2, is_drained=False), quiet(2, 2, peer={"acknowledged": 9})):
        assert decide(viewed(wanted, [quiet(0, 2), quiet(1, 2), late]), look) == (None, None)
    begin, _ = decide(viewed(wanted, [quiet(n, 2) for n in range(3)]), look)
    assert begin == Begin((0, 1), ())
    begun = wanted.next()
    assert (begun.epoch, begun.members, begun.leaving, begun.wanted) == (2, (0, 1), (2,), ())
    assert begun.lost == {} and not begun.reset
    # The agent that is leaving goes as soon as it has handed over everything, and comes back as it was.
    beats = [quiet(n, 3, 2) for n in range(3)]
    settled = begun.settled()
    assert decide(viewed(settled, [*beats[:2], quiet(2, 3, 2, is_idle=False)]), None)[0] is None
    assert decide(viewed(settled, beats), None)[0] == Dismiss((2,))
    again = settled.without((2,)).of(3, ["m"])
    assert again.wanted == (0, 1, 2) and not again.next().reset


def test_a_silent_agent_is_lost_after_the_grace_time_and_found_again(roster: Roster) -> None:
    beats = [quiet(n, 1, is_idle=False) for n in range(3)]
    assert decide(viewed(roster, beats, {2: 29.0}, grace=30.0), None)[0] is None
    assert decide(viewed(roster, beats, {2: 31.0}, grace=0.0), None)[0] is None
    assert decide(viewed(roster, beats, {0: 31.0, 1: 31.0, 2: 31.0}, grace=30.0), None)[0] is None
    announced, _ = decide(viewed(roster, beats, {2: 31.0}, grace=30.0), None)
    assert announced == Announce((0, 1), (2,))
    without = roster.announced((0, 1), (2,))
    # If it is heard before the epoch begins, it stays.
    assert decide(viewed(without, beats, grace=30.0), None)[0] == Announce((0, 1, 2), ())
    # What was written for it is not waited for.
    for_it = {"2": {"written": 9, "acknowledged": 1, "received_committed": 0}}
    drained = [[quiet(n, number, peers=for_it) for n in range(2)] for number in (2, 3)]
    _, look = decide(viewed(without, drained[0], {2: 40.0}, grace=30.0), None)
    decision, _ = decide(viewed(without, drained[1], {2: 40.0}, grace=30.0), look)
    assert decision == Begin((0, 1), (2,))
    begun = without.next()
    assert begun.lost == {2: 2} and begun.reset == 2 and begun.leaving == () and begun.members == (0, 1)
    later = [quiet(n, 5, 2, is_idle=False) for n in range(2)]
    back = msgspec.structs.replace(quiet(2, 1, 0), is_running=False)
    assert decide(viewed(begun.settled(), [*later, back], grace=30.0), None)[0] == Announce((0, 1, 2), ())
    returned = begun.announced((0, 1, 2)).next()
    assert returned.reset == 3 and returned.lost == {} and returned.members == (0, 1, 2)
    # A number that is lost is not given to a new agent, nor is it taken back by more agents.
    assert begun.of(3, ["m"]).wanted == (0, 1, 3)


def test_an_agent_that_is_back_with_an_empty_disk_is_known_by_the_number_of_its_collection(
    tmp_path: Path,
) -> None:
    begin(tmp_path, 3)
    register, agent = Register(str(tmp_path), LIMITS), Simulated(2)

    def told(incarnation: int) -> Roster:
        register.beat(msgspec.msgpack.encode(agent.beat(incarnation=incarnation)))
        return rosters.read(tmp_path)

    for incarnation in (0, 2**64 - 1, 2**64 - 1, 0):  # before the first checkpoint, and after a restart
        assert told(incarnation).wanted == () and told(incarnation).emptied == ()
    emptied = told(7)
    assert emptied == told(7) and emptied.wanted == emptied.members == (0, 1, 2) and emptied.emptied == (2,)
    register.begin(emptied.wanted, (), emptied.epoch)
    begun = rosters.read(tmp_path)
    assert (begun.epoch, begun.reset, begun.lost_in, begun.emptied) == (2, 2, {2: 2}, ())
    assert begun.members == (0, 1, 2) and told(7).wanted == ()
    # What was lost once stays lost, also when the agent is back.
    later = begun.announced((0, 1), (2,)).next().announced((0, 1, 2)).next()
    assert later.lost == {} and later.lost_in == {2: 3} and later.reset == 4


def test_agents_are_placed_evenly() -> None:
    roster = rosters.new().of(5, ["a", "b"])
    assert [agent.machine for agent in roster.agents] == ["a", "b", "a", "b", "a"]
    begun = roster.next()
    assert begun.members == (0, 1, 2, 3, 4) and begun.of(5, ["c"]) == begun
    grown = begun.of(6, ["a", "b"])
    assert grown.agent(5).machine == "b" and grown.wanted == (0, 1, 2, 3, 4, 5)
