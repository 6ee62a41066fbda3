"""Crawls of a generated web by agents on Ray, with what is done to them meanwhile."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from crivello.cluster import engine
from crivello.cluster.driver import Driver
from crivello.cluster.gather import merge
from crivello.cluster.register import View
from crivello.cluster.view import held
from crivello.collection import Collection
from crivello.crawl import Report
from crivello.settings import Settings, load
from crivello.store import Outcome
from tests.crawling import CRIVELLO
from tests.many_hosts import ManyHosts
from tests.politeness import too_close

LEASE = 3.0


def settings_for(web: ManyHosts, folder: Path, **crawl: Any) -> Settings:
    """The settings for a crawl of a generated web."""
    return load(
        flags={
            "crawl": {
                "hosts_file": str(web.write_hosts_file(folder / "hosts")),
                "scope": "any",
                "allow_private": True,
                "sitemaps": False,
                "checkpoint": 2.0,
                **crawl,
            },
            "cluster": {"lease": LEASE},
        }
    )


def command_for(
    web: ManyHosts, folder: Path, *arguments: str, delay: float, address_delay: float, lease: float = LEASE
) -> list[str]:
    """The command that crawls a generated web into ``folder / "c"``, with seeds and flags beside."""
    return [
        *(str(CRIVELLO), "crawl", *arguments, "--into", str(folder / "c")),
        *("--hosts-file", str(web.write_hosts_file(folder / "hosts")), "--scope", "any", "--allow-private"),
        *("--delay", str(delay), "--address-delay", str(address_delay), "--contact", "a@example.org"),
        *("--checkpoint", "2", "--lease", str(lease), "--json"),
    ]


def until(condition: Callable[[], object], timeout: float = 90) -> None:
    """Waits until something has happened."""
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, f"it did not happen in {timeout:g} s"
        time.sleep(0.05)


class Crawl:
    """A crawl by agents in a thread of its own, so that a test can interfere."""

    def __init__(self, ray: Any, folder: Path, settings: Settings, agents: int, seeds: list[str]) -> None:
        self.ray, self.folder, self.settings = ray, folder, settings
        self.events: list[tuple[float, str]] = []
        self.view: View | None = None
        self.report: Report | None = None
        self.error: BaseException | None = None
        self._agents, self._seeds = agents, seeds
        self._thread = threading.Thread(target=self._run, name="driver", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        def progress(_: Report, view: View) -> None:
            self.view = view

        try:
            with held(self.folder, self.settings):
                driver = Driver(
                    self.ray,
                    self.folder,
                    self.settings,
                    agents=self._agents,
                    seeds=self._seeds,
                    on_progress=progress,
                    on_event=lambda event: self.events.append((time.time(), event)),
                )
                self.report = driver.run()
        except BaseException as error:
            self.error = error

    @property
    def is_going_on(self) -> bool:
        """Whether the driver still runs."""
        return self._thread.is_alive()

    def pages(self) -> int:
        """How many pages the agents have told of."""
        view = self.view
        return sum(beat.report.get("pages", 0) for beat in view.beats.values()) if view else 0

    def until(self, condition: Callable[[View], object], timeout: float = 120) -> View:
        """Waits until something is seen, or the crawl ends."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline and self.is_going_on:
            if self.view is not None and condition(self.view):
                return self.view
            time.sleep(0.05)
        assert self.view is not None and condition(self.view), f"not seen in {timeout:g} s: {self.events}"
        return self.view

    def end(self, timeout: float = 300) -> Report:
        """Waits for the end of the crawl."""
        self._thread.join(timeout)
        assert not self._thread.is_alive(), f"not over after {timeout:g} s: {self.view} {self.events}"
        if self.error is not None:
            raise self.error
        assert self.report is not None
        return self.report

    def kill_one(self, chance: random.Random) -> float | None:
        """Kills the process of an agent; returns when, or ``None`` if there is none to kill."""
        view = self.view
        running = [beat for beat in view.beats.values() if beat.is_running] if view else []
        if not running:
            return None
        with suppress(ProcessLookupError):
            os.kill(chance.choice(running).pid, signal.SIGKILL)
            return time.time()
        return None

    def scale(self, count: int) -> None:
        """Asks for another number of agents."""
        self.ray.get(self.register().scale.remote(count, engine.machines(self.ray)))

    def register(self) -> Any:
        """The register's actor."""
        assert self.view is not None
        return self.ray.get_actor(engine.register_name(self.view.roster.name), namespace=engine.NAMESPACE)


def check(web: ManyHosts, folder: Path, out: Path, delay: float, address_delay: float) -> Counter[str]:
    """Every page once in the merged collection, and a polite log; returns the pages that were asked for more than once,
    and how often more."""
    merge(folder, out)
    whole = Collection(out)
    found = [row.url for row in whole.pages() if row.outcome is Outcome.FETCHED and row.status == 200]
    assert len(found) == len(set(found)), "a page is twice in the merged collection"
    missing = web.urls() - set(found)
    assert not missing, f"{len(missing)} pages are missing: {sorted(missing)[:5]}"
    impolite = too_close(web.hits(), delay, address_delay)
    assert impolite == [], f"{len(impolite)} requests were impolite: {impolite[:5]}"
    asked = Counter(url for url, _ in web.requested())
    return Counter({url: count - 1 for url, count in asked.items() if count > 1})
