"""Steering a crawl from outside: what it is told to do, and what became of that.

Whoever tells a crawl something is no writer of the collection: often a server in another process. So a command is
appended to a log of its own (``commands.jsonl``) and synced before it is answered. The crawl reads on from the position
that it committed last, at every beat of its driver, and commits the next position together with its answers. A command
is never lost, and is carried out twice only if the crawl crashes between doing it and committing that.

A line of the log is a command, between two newlines: what a crash cut off is a line of its own, which does not decode,
was not answered, and is passed over.
"""

from __future__ import annotations

import os
import re
import secrets
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec

from crivello import _core, settings
from crivello._core import Layout
from crivello.crawl.decisions import STEERED, Decision, appended
from crivello.errors import CrivelloError, InvalidArgument, StorageError

if TYPE_CHECKING:
    from crivello.collection import Collection

Kind = Literal[
    "pause", "resume", "stop", "seeds", "scope", "delay", "block", "unblock", "refresh", "refresh-host"
]
KINDS: tuple[str, ...] = get_args(Kind)
ONLY_NOW = frozenset({"pause", "resume", "stop"})
"""These are meant for the run that is going on when they are given."""
MOST_SEEDS = 1_000
"""The most seeds of a command."""
MOST_PAGES = 10_000
"""The most pages of a host that are refreshed by one command."""
_FILE = "commands.jsonl"
_MOST_BYTES = 16 << 20
# From this size on a log that was read to its end is emptied.
_LONG = 1 << 20
_MOST_ANSWERS = 50
_HOST = re.compile(r"[a-z0-9._-]+(:[0-9]{1,5})?|\[[0-9a-f:.]+\](:[0-9]{1,5})?")
_SHOWN_SEEDS = 3


class Command(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a crawl is told. ``value`` is, by kind: URLs, each in a line; the name of a scope; a delay in seconds (empty:
    none); a host; a URL."""

    id: str
    time: float
    kind: Kind
    value: str = ""
    by: str = ""

    @property
    def subject(self) -> str:
        """The URL or the host that it is about; empty if it is about the whole crawl."""
        return self.value if self.kind in ("block", "unblock", "refresh", "refresh-host") else ""

    def __str__(self) -> str:
        match self.kind:
            case "seeds":
                urls = self.value.split("\n")
                more = f" and {len(urls) - _SHOWN_SEEDS:,} more" if len(urls) > _SHOWN_SEEDS else ""
                return f"add {', '.join(urls[:_SHOWN_SEEDS])}{more}"
            case "scope":
                return f"follow links by the scope {self.value}"
            case "delay":
                return f"wait {self.value} s between requests to a host" if self.value else "set no delay"
            case "refresh-host":
                return f"refresh the pages of {self.value}"
            case _:
                return f"{self.kind} {self.value}".rstrip()


class Answer(msgspec.Struct, frozen=True):
    """What became of a command."""

    id: str
    time: float
    is_done: bool
    text: str


def command(kind: str, value: str = "", *, by: str = "") -> Command:
    """A command of now, after its value was checked; raises `InvalidArgument`."""
    if kind not in KINDS:
        raise InvalidArgument(
            f"{kind!r} is not something a crawl can be told", hint=f"one of {', '.join(KINDS)}"
        )
    checked = _CHECKS.get(kind, _nothing)(value.strip())
    return Command(secrets.token_hex(8), round(time.time(), 3), kind, checked, by)  # type: ignore[arg-type]


def _nothing(_value: str) -> str:
    return ""


def _seeds(value: str) -> str:
    from crivello.crawl.crawler import canonical_seeds

    urls = value.split()
    if not urls:
        raise InvalidArgument("there is no URL to start from", hint="as in https://www.example.org/")
    if len(urls) > MOST_SEEDS:
        raise InvalidArgument(f"at most {MOST_SEEDS:,} seeds can be added at once")
    return "\n".join(dict.fromkeys(canonical_seeds(urls)))


def _scope(value: str) -> str:
    return str(settings.checked("crawl", "scope", value, "the scope"))


def _delay(value: str) -> str:
    return f"{settings.checked('crawl', 'delay', value, 'the delay'):g}" if value else ""


def _host(value: str) -> str:
    host = value.lower()
    if "//" in host:
        [canonical] = _core.canonical_urls([host])
        host = canonical.split("/")[2] if canonical else host
    if not _HOST.fullmatch(host):
        raise InvalidArgument(
            f"{value!r} is not a host", hint="as in www.example.org or www.example.org:8080"
        )
    return host


def _url(value: str) -> str:
    from crivello.crawl.crawler import canonical_seeds

    return canonical_seeds([value])[0]


def _origin(value: str) -> str:
    return "/".join(_url(value).split("/")[:3])


_CHECKS = {
    "seeds": _seeds,
    "scope": _scope,
    "delay": _delay,
    "block": _host,
    "unblock": _host,
    "refresh": _url,
    "refresh-host": _origin,
}


class CommandLog:
    """The commands of a collection. Thread-safe, and safe with other processes."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / _FILE

    def add(self, command: Command) -> None:
        """Appends a command durably."""
        line = b"\n" + msgspec.json.encode(command) + b"\n"
        if self._size() + len(line) > _MOST_BYTES:
            raise CrivelloError("too many commands wait to be read", hint="start the crawl: it reads them")
        try:
            out = os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            try:
                os.write(out, line)
                os.fsync(out)
            finally:
                os.close(out)
        except OSError as error:
            raise StorageError.of(error, self._file) from None

    def read(self, start: int = 0) -> tuple[list[Command], int]:
        """The commands after a position, and the position after them."""
        size = self._size()
        start = start if start <= size else 0
        if start == size:
            return [], start
        try:
            with self._file.open("rb") as source:
                source.seek(start)
                text = source.read(size - start)
        except OSError as error:
            raise StorageError.of(error, self._file) from None
        whole = text[: text.rfind(b"\n") + 1]
        return [found for line in whole.splitlines() if (found := _decoded(line))], start + len(whole)

    def empty(self, end: int) -> int:
        """Empties a long log that was read to its end; returns the position from which to go on."""
        if end < _LONG or end != self._size():
            return end
        try:
            os.truncate(self._file, 0)
        except OSError as error:
            raise StorageError.of(error, self._file) from None
        return 0

    def _size(self) -> int:
        try:
            return self._file.stat().st_size
        except FileNotFoundError:
            return 0


def _decoded(line: bytes) -> Command | None:
    try:
        return msgspec.json.decode(line, type=Command) if line else None
    except msgspec.DecodeError:
        return None


class Steering:
    """The commands as the crawl sees them; commits how far they were read, and what became of them."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._log = CommandLog(collection.folder)
        state = collection.state("steering")
        self._position: int = state.get("position", 0)
        self._answers = msgspec.convert(state.get("answers", []), list[Answer])
        self._decisions: list[Decision] = []
        self._is_changed = False
        self._since = time.time()
        self.refreshes: dict[str, float] = state.get("refreshes", {})
        """The URLs to visit again, each with the time at which that was asked for."""

    def commands(self) -> list[Command]:
        """The commands that came since the last call. Those that were meant for an earlier run are answered here."""
        found, self._position = self._log.read(self._position)
        late = [each for each in found if each.kind in ONLY_NOW and each.time < self._since]
        for each in late:
            is_start = each.kind == "resume"
            self.answer(each, "the crawl goes on" if is_start else "no crawl was running", is_done=is_start)
        return [each for each in found if each not in late]

    @property
    def has_news(self) -> bool:
        """Whether something was answered since the last commit."""
        return self._is_changed

    def answer(self, command: Command, text: str, *, is_done: bool = True) -> None:
        """Notes what became of a command, until the next commit; what was done goes to the decision log."""
        answer = Answer(command.id, round(time.time(), 3), is_done, text)
        self._answers = [*self._answers[1 - _MOST_ANSWERS :], answer]
        self._is_changed = True
        if is_done:
            detail = f"{text}, as {command.by or 'somebody'} said"
            self._decisions.append(Decision(answer.time, command.subject, STEERED, detail))

    def commit(self) -> None:
        """Commits the position, the answers and the decisions; no native thread may be writing the log."""
        self._position = self._log.empty(self._position)
        state = {
            "position": self._position,
            "answers": msgspec.to_builtins(self._answers),
            "refreshes": self.refreshes,
        }
        files = appended(self._collection, self._decisions)
        self._collection.commit(files, steering=state)
        self._decisions, self._is_changed = [], False

    def still_to_refresh(self) -> list[str]:
        """The URLs that were not visited since that was asked for."""
        for url, asked in list(self.refreshes.items()):
            row = self._collection.page(url)
            if row is None or row.fetched_at >= asked:
                del self.refreshes[url]
        return list(self.refreshes)


def commands_of(collection: Collection, newest: int) -> list[tuple[Command, Answer | None]]:
    """The newest commands, newest first, each with what became of it; ``None``: it waits to be read."""
    found, _ = CommandLog(collection.folder).read()
    answers = {answer.id: answer for answer in answers_of(collection)}
    return [(each, answers.get(each.id)) for each in reversed(found[-newest:])]


def answers_of(collection: Collection) -> list[Answer]:
    """The newest answers, oldest first."""
    return msgspec.convert(collection.state("steering").get("answers", []), list[Answer])


def waiting_commands(collection: Collection) -> Sequence[Command]:
    """The commands that no crawl has read yet."""
    return CommandLog(collection.folder).read(collection.state("steering").get("position", 0))[0]


def without_port(host: str) -> str:
    """The name of a host that may have a port."""
    return re.sub(r":[0-9]+$", "", host)


def set_in_file(folder: Path, changes: dict[str, Any]) -> None:
    """Writes settings of a crawl into the ``crivello.toml`` of a collection: the lines of these settings alone change, so
    that the next run has them."""
    file = folder / Layout.SETTINGS
    known = {setting.name: setting for setting in settings.settings_of("crawl")}
    try:
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        for name, value in changes.items():
            line = f"# {name} =" if value is None else f"{name} = {known[name].in_toml(value)}"
            lines = _with_line(lines, name, line)
        temporary = file.with_suffix(".toml.new")
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")
        temporary.replace(file)
    except OSError as error:
        raise StorageError.of(error, file) from None


def _with_line(lines: list[str], name: str, line: str) -> list[str]:
    """The lines of a file of settings with one of the section ``crawl`` replaced, or added."""
    if "[crawl]" not in (each.strip() for each in lines):
        return [*lines, "", "[crawl]", line]
    start = next(number for number, each in enumerate(lines) if each.strip() == "[crawl]") + 1
    rest = range(start, len(lines))
    end = next((number for number in rest if lines[number].lstrip().startswith("[")), len(lines))
    is_setting = re.compile(rf"\s*(#\s*)?{re.escape(name)}\s*=")
    places = [number for number in range(start, end) if is_setting.match(lines[number])]
    if not places:
        return [*lines[:start], line, *lines[start:]]
    # A line that is not commented out is the one that counts.
    place = next((number for number in places if not lines[number].lstrip().startswith("#")), places[0])
    return [*lines[:place], line, *lines[place + 1 :]]
