"""The figures of a crawl as of now, for readers in other processes.

The driver replaces ``live.json`` once a second; it is not synced and not committed, since nothing rests on it. It has
the report, the gauges, and a sample for each of the last seconds, from which a page draws its plots at once. A process
that waits for commands after its crawl writes it, too. One that a crash left behind is recognised: its process does not
hold the collection any more.
"""

from __future__ import annotations

import contextlib
import os
import resource
import sys
import time
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

if TYPE_CHECKING:
    from crivello.collection import Collection
    from crivello.crawl.report import Report
    from crivello.settings import Crawl

State = Literal["crawling", "paused", "idle"]

SAMPLES = 300
"""The number of samples that are kept: five minutes."""
COLUMNS = ("time", "pages", "bytes", "requests", "errors", "waiting", "active", "memory")
"""What a sample has, in this order."""
_FILE = "live.json"
_BETWEEN = 1.0
_FRESH = 5.0
_SHOWN_SETTINGS = ("scope", "delay", "politeness", "block", "max_pages", "connections")


class Now:
    """Writes the figures; removes them when it is closed."""

    def __init__(self, folder: Path, settings: Crawl) -> None:
        self._file = folder / _FILE
        self._samples: deque[list[float]] = deque(maxlen=SAMPLES)
        self._next = 0.0
        self.settings = settings

    def tell(self, report: Report | None, state: State, *, at_once: bool = False) -> None:
        """Writes the figures if that was not done in this second."""
        now = time.monotonic()
        if now < self._next and not at_once:
            return
        self._next = now + _BETWEEN
        memory = resident_bytes()
        told: dict[str, Any] = {
            "process": os.getpid(),
            "time": round(time.time(), 3),
            "state": state,
            "memory": memory,
            "settings": {name: getattr(self.settings, name) for name in _SHOWN_SETTINGS},
        }
        if report is not None:
            figures = (report.pages, report.bytes, report.requests, sum(report.errors.values()))
            self._samples.append([told["time"], *figures, report.waiting, report.active, memory])
            told |= {
                "report": report.to_dict(),
                "gauges": report.gauges,
                "elapsed": round(report.elapsed, 1),
                "pages_of_run": report.pages_of_run,
                "slowest": [[host.name, host.seconds, host.requests] for host in report.slowest],
                "resting": report.resting,
                "samples": list(self._samples),
            }
        # A full disk is the crawl's to report.
        with contextlib.suppress(OSError):
            temporary = self._file.with_suffix(".json.new")
            temporary.write_bytes(msgspec.json.encode(told))
            temporary.replace(self._file)

    def close(self) -> None:
        """Removes the figures."""
        with contextlib.suppress(OSError):
            self._file.unlink(missing_ok=True)


def read_now(collection: Collection) -> dict[str, Any] | None:
    """The figures of the process that is crawling, or waits to; ``None`` if there is none."""
    try:
        told: dict[str, Any] = msgspec.json.decode((collection.folder / _FILE).read_bytes())
    except (OSError, msgspec.DecodeError):
        return None
    writer = collection.writer
    is_writing = writer is not None and writer[0] == told["process"]
    return told if is_writing or time.time() - told["time"] < _FRESH else None


def resident_bytes() -> int:
    """The memory of this process; where the system does not say, the most that it ever had."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
