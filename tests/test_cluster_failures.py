"""What fails around the agents of a crawl: the register, a disk, a slow machine, the driver. Each time every page is fetched,
is once in the merged collection, and no request was impolite."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from crivello.cluster import roster as rosters
from crivello.cluster.register import MARGIN
from crivello.cluster.roster import folder_of
from crivello.cluster.view import held
from crivello.settings import Settings
from tests.cluster_crawl import Crawl, check, command_for, settings_for, until
from tests.many_hosts import ManyHosts
from tests.ray_nodes import descendants

# An agent that gets no processor time for a lease is given up.
pytestmark = pytest.mark.alone

LEASE = 2.0
DELAY, ADDRESS_DELAY = 0.1, 0.1


@pytest.fixture
def web() -> Iterator[ManyHosts]:
    """A web that three agents crawl for some seconds."""
    with ManyHosts(24, 16, addresses=6, words=1000) as web:
        yield web


def settings_of(web: ManyHosts, folder: Path, **crawl: Any) -> Settings:
    settings = settings_for(web, folder, delay=DELAY, address_delay=ADDRESS_DELAY, **crawl)
    return msgspec.structs.replace(settings, cluster=msgspec.structs.replace(settings.cluster, lease=LEASE))


def test_agents_that_are_cut_off_from_the_register_pause_and_go_on(
    ray: Any, web: ManyHosts, tmp_path: Path
) -> None:
    """They run, and reach everything but the register."""
    crawl = Crawl(ray, tmp_path / "c", settings_of(web, tmp_path), 3, web.seeds)
    crawl.until(lambda _: len(web) > 100)
    pid = ray.get(crawl.register().__ray_call__.remote(lambda _: os.getpid()))
    os.kill(pid, signal.SIGSTOP)
    try:
        time.sleep(LEASE + MARGIN)
        asked = len(web)
        time.sleep(2 * DELAY + 1)
        assert len(web) == asked, "an agent went on without a permit"
    finally:
        os.kill(pid, signal.SIGCONT)
    assert asked < 24 * 16, "it was over before"
    crawl.end()
    check(web, tmp_path / "c", tmp_path / "whole", DELAY, ADDRESS_DELAY)


def test_a_full_disk_and_a_slow_machine_hold_up_their_agents_alone(
    ray: Any, web: ManyHosts, tmp_path: Path
) -> None:
    folder = tmp_path / "c"
    settings = settings_of(web, tmp_path)
    with held(folder, settings):  # agents are where a roster is
        rosters.write(folder, rosters.new())
    with small_disk(folder_of(folder, 1), "192k") as resize:
        crawl = Crawl(ray, folder, settings, 3, web.seeds)
        pid = crawl.until(lambda view: {0, 1, 2} <= set(view.beats)).beats[2].pid
        with slow(pid):
            crawl.until(lambda _: any("agent 1 cannot crawl" in event for _, event in crawl.events))
            asked = len(web)
            crawl.until(lambda _: len(web) > asked + 5)
            resize("64m")
            crawl.until(lambda view: view.beats[1].report.get("pages", 0) > 20)
        crawl.end()
        check(web, folder, tmp_path / "whole", DELAY, ADDRESS_DELAY)
    said = [event for _, event in crawl.events if "cannot crawl" in event]
    assert all("agent 1" in event and "No space left on device" in event for event in said), said


def test_what_was_on_a_disk_that_is_replaced_is_fetched_again(
    ray: Any, web: ManyHosts, tmp_path: Path
) -> None:
    settings = settings_of(web, tmp_path, max_pages=150)
    Crawl(ray, tmp_path / "c", settings, 3, web.seeds).end()
    shutil.rmtree(folder_of(tmp_path / "c", 1))
    crawl = Crawl(ray, tmp_path / "c", settings_of(web, tmp_path), 0, [])
    crawl.end()
    check(web, tmp_path / "c", tmp_path / "whole", DELAY, ADDRESS_DELAY)
    assert any("agent 1 has an empty disk" in event for _, event in crawl.events)
    roster = rosters.read(tmp_path / "c")
    assert (
        roster.members == (0, 1, 2) and roster.lost_in == {1: roster.epoch} and roster.reset == roster.epoch
    )


def test_the_same_command_goes_on_after_the_driver_was_killed(web: ManyHosts, tmp_path: Path) -> None:
    command = command_for(
        web, tmp_path, *web.seeds, "--agents", "3", delay=DELAY, address_delay=ADDRESS_DELAY, lease=LEASE
    )
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as driver:
        until(lambda: len(web) > 100)
        left = descendants(driver.pid)
        driver.kill()
    asked = len(web)
    again = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert again.returncode == 0 and "Traceback" not in again.stderr, again.stderr
    assert asked < 24 * 16, "it was over before"
    check(web, tmp_path / "c", tmp_path / "whole", DELAY, ADDRESS_DELAY)
    # Ray's own processes look after their parent every few seconds.
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in left))


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Callable[[str], None]]:
    """A file system of a size, and what gives it another; needs the right to mount."""
    folder.mkdir(parents=True)

    def mount(*flags: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["mount", *flags, str(folder)], capture_output=True, text=True, check=False)

    made = mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs")
    if made.returncode:
        pytest.skip(f"no small disk can be mounted here: {made.stderr.strip()}")

    def resize(size: str) -> None:
        assert mount("-o", f"remount,size={size}").returncode == 0

    try:
        yield resize
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def slow(pid: int) -> Iterator[None]:
    """Lets a process run for a quarter of the time."""
    is_over = threading.Event()

    def pulse() -> None:
        with suppress(ProcessLookupError):
            while not is_over.is_set():
                os.kill(pid, signal.SIGSTOP)
                is_over.wait(0.3)
                os.kill(pid, signal.SIGCONT)
                is_over.wait(0.1)

    pulsing = threading.Thread(target=pulse)
    pulsing.start()
    try:
        yield
    finally:
        is_over.set()
        pulsing.join()
