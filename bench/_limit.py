"""A limit to the memory that this process takes from the system from now on, the file cache with it: a control group of Linux."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_GROUPS = (
    (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"),
    (Path("/sys/fs/cgroup"), "memory.max"),
)


@contextmanager
def memory_limit(size: int) -> Iterator[bool]:
    """Yields whether there is a limit: it takes root and control groups. What the process has already does not count."""
    name = f"crivello-{os.getpid()}"
    for root, limit in _GROUPS:
        group = root / name
        try:
            group.mkdir()
        except OSError:
            continue
        if not (group / limit).exists():
            group.rmdir()
            continue
        (group / limit).write_text(str(size))
        (group / "cgroup.procs").write_text(str(os.getpid()))
        try:
            yield True
        finally:
            (root / "cgroup.procs").write_text(str(os.getpid()))
            group.rmdir()
        return
    yield False
