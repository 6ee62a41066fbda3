"""Runs ``crivello crawl`` as a process of its own and tells what came of it: report, rows, time and memory."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crivello import Collection
from crivello.store import Outcome, Row

CRIVELLO = Path(sys.executable).parent / "crivello"
CONTACT = ("--contact", "crawler@example.org")


@dataclass(frozen=True)
class Crawled:
    """What a crawl left behind."""

    folder: Path
    report: dict[str, Any]
    seconds: float
    peak_bytes: int

    def rows(self) -> list[Row]:
        """What became of each URL."""
        return list(Collection(self.folder).pages())

    def fetched(self) -> list[str]:
        """The URLs that were answered with 200."""
        return [row.url for row in self.rows() if row.outcome is Outcome.FETCHED and row.status == 200]


def command(folder: Path, seeds: list[str], *flags: object) -> list[str]:
    """The command line of a crawl."""
    return [str(CRIVELLO), "crawl", *seeds, "--into", str(folder), *CONTACT, *map(str, flags)]


def run_crawl(folder: Path, seeds: list[str], *flags: object, timeout: float = 120) -> Crawled:
    """Crawls to the end; a traceback, a failure, or more time than ``timeout`` is an assertion."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as complaints:
        started = time.monotonic()
        process = subprocess.Popen(
            command(folder, seeds, "--json", *flags), stdout=out, stderr=complaints, start_new_session=True
        )
        try:
            code, peak = _wait(process, timeout)
        finally:
            kill(process)
        seconds = time.monotonic() - started
        out.seek(0)
        complaints.seek(0)
        said = complaints.read().decode(errors="replace")
        assert code == 0 and "Traceback" not in said, f"exit code {code}: {said[-3000:]}"
        return Crawled(folder, json.loads(out.read()), seconds, peak)


def kill(process: subprocess.Popen[bytes]) -> None:
    """Ends a process that was started in a session of its own, and all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    if process.returncode is None:
        process.wait(10)


def _wait(process: subprocess.Popen[bytes], timeout: float) -> tuple[int, int]:
    """The exit code and the largest resident size.

    That is asked for again and again: what the system tells when the process has ended also counts the memory of
    the process that started it.
    """
    deadline = time.monotonic() + timeout
    peak = 0
    while process.poll() is None:
        assert time.monotonic() < deadline, f"the crawl was not over after {timeout:g} s"
        peak = max(peak, _largest_resident(process.pid))
        time.sleep(0.02)
    return process.returncode, peak


def _largest_resident(pid: int) -> int:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0
