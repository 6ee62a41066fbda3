"""Ray nodes that are started by hand on the loopback interface, as docs/cluster.md says, and can be killed whole."""

from __future__ import annotations

import os
import random
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Self

RAY = Path(sys.executable).parent / "ray"
# A cluster of its own has a token of its own; the commands that use it get this environment.
ENVIRONMENT = {
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": secrets.token_hex(32),
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_niceness": "0",
}

_TRIES = 3
# Ray takes 127.0.0.1 for another name of the address that the machine has in its network.
_ADDRESS = "127.0.0.2"
_JOINED = """
import sys, time, ray
ray.init(address=sys.argv[1], logging_level="ERROR", log_to_driver=False)
deadline = time.monotonic() + 40
while sum(node["Alive"] for node in ray.nodes()) < int(sys.argv[2]) and time.monotonic() < deadline:
    time.sleep(0.1)
sys.exit(sum(node["Alive"] for node in ray.nodes()) < int(sys.argv[2]))
"""


class Nodes:
    """A head, and workers that are named by a label."""

    def __init__(self) -> None:
        self.port = 20_000 + random.randrange(12_000)  # below those that the system gives to clients
        self.address = f"{_ADDRESS}:{self.port}"
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._lock = threading.RLock()
        self._folder = tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True)

    def __enter__(self) -> Self:
        self._start(
            "head",
            "--head",
            f"--port={self.port}",
            "--include-dashboard=false",
            f"--temp-dir={self._folder.name}",
        )
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex((_ADDRESS, self.port)) == 0:
                    return self
            time.sleep(0.1)
        self.__exit__()
        raise AssertionError("the head did not start")

    def __exit__(self, *_: object) -> None:
        for name in reversed(list(self._processes)):
            self.kill(name)
        self._folder.cleanup()

    def start(self, name: str) -> None:
        """Starts a worker node, and waits until it has joined; again if it gave up, as on a busy machine."""
        with self._lock:
            self._start_and_join(name)

    def _start_and_join(self, name: str) -> None:
        for tries_left in reversed(range(_TRIES)):
            self._start(name, f"--address={self.address}")
            try:
                subprocess.run(
                    [sys.executable, "-c", _JOINED, self.address, str(len(self._processes))],
                    env={**os.environ, **ENVIRONMENT},
                    capture_output=True,
                    timeout=120,
                    check=True,
                )
                return
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
                self.kill(name)
                if not tries_left:
                    raise

    def kill(self, name: str) -> None:
        """Kills a node with everything that runs on it, as if the power were cut; one that is starting, when it has."""
        with self._lock:
            process = self._processes.pop(name)
        for pid in descendants(process.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait(10)

    def _start(self, name: str, *flags: str) -> None:
        command = [str(RAY), "start", *flags, f"--labels=crivello-machine={name}", "--block", "--num-cpus=1"]
        self._processes[name] = subprocess.Popen(
            [
                *command,
                "--object-store-memory=80000000",
                f"--node-ip-address={_ADDRESS}",
                "--disable-usage-stats",
            ],
            env={**os.environ, **ENVIRONMENT},
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


def descendants(leader: int) -> list[int]:
    """The processes that a process started, and those that they started."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError, IndexError):
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                children.setdefault(parent, []).append(int(entry.name))
    found, rest = [], [leader]
    while rest:
        pid = rest.pop()
        found.append(pid)
        rest += children.get(pid, [])
    return found
