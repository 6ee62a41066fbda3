"""Ray nodes that are started by hand, as docs/cluster.md says, and can be killed whole: on the loopback interface, or each on
a machine of its own (``tests.machines``)."""

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
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Self

from tests.machines import Network

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
    """A head, and workers that are named by a label; the head runs agents if it has a CPU."""

    def __init__(self, network: Network | None = None, *, head_cpus: int = 1) -> None:
        self.port = 20_000 + random.randrange(12_000)  # below those that the system gives to clients
        self._network, self._head_cpus = network, head_cpus
        self.address = f"{self._address_of('head')}:{self.port}"
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._lock = threading.RLock()
        self._folder = tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True)

    def __enter__(self) -> Self:
        try:
            self.start_head()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for name in reversed(list(self._processes)):
            self.kill(name)
        self._folder.cleanup()

    def start_head(self) -> None:
        """Starts the head, anew if it was killed, and waits until it answers."""
        self._start(
            "head",
            "--head",
            f"--port={self.port}",
            "--include-dashboard=false",
            "--no-monitor",
            cpus=self._head_cpus,
        )
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with self._sockets_at_head(), socket.socket() as probe:
                if probe.connect_ex((self._address_of("head"), self.port)) == 0:
                    return
            time.sleep(0.1)
        raise AssertionError("the head did not start")

    def start(self, *names: str) -> None:
        """Starts worker nodes, and waits until they have joined; again if they or the head gave up, as on a busy machine."""
        with self._lock:
            self._start_and_join(names)

    def _start_and_join(self, names: tuple[str, ...]) -> None:
        for tries_left in reversed(range(_TRIES)):
            if not self.is_running("head"):
                self.kill("head")
                self.start_head()
            for name in names:
                self._start(name, f"--address={self.address}")
            count = str(len(self._processes))
            try:
                subprocess.run(
                    [*self.on(names[0]), sys.executable, "-c", _JOINED, self.address, count],
                    env={**os.environ, **ENVIRONMENT},
                    capture_output=True,
                    timeout=120,
                    check=True,
                )
                return
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
                for name in names:
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

    def is_running(self, name: str) -> bool:
        """Whether a node has not ended by itself."""
        return self._processes[name].poll() is None

    def on(self, name: str) -> list[str]:
        """What comes before a command that is to run on the machine of a node."""
        return self._network.on(name) if self._network else []

    def _address_of(self, name: str) -> str:
        return self._network.address(name) if self._network else _ADDRESS

    def _sockets_at_head(self) -> AbstractContextManager[None]:
        return self._network.sockets_at("head") if self._network else nullcontext()

    def _start(self, name: str, *flags: str, cpus: int = 1) -> None:
        self._processes[name] = subprocess.Popen(
            [
                *(*self.on(name), str(RAY), "start", *flags, f"--labels=crivello-machine={name}", "--block"),
                *(f"--num-cpus={cpus}", "--object-store-memory=80000000", "--disable-usage-stats"),
                *(f"--node-ip-address={self._address_of(name)}", f"--temp-dir={self._folder.name}/{name}"),
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
