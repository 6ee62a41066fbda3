"""Private: Ray, started or joined, and the actors of a cluster in it.

A cluster of our own on this machine listens on the loopback interface only, without a dashboard, with a small object
store (batches of URLs are all that goes through it), and sends no usage statistics. Its folder is temporary and removed
at the end.
"""

from __future__ import annotations

import atexit
import ipaddress
import os
import shutil
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from crivello.errors import CrawlError

NAMESPACE = "crivello"
MACHINE = "crivello-machine"
"""The label of a node that names its machine, so that agents return to its disk whatever its address."""

_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    # What became of an agent is told by us; Ray prints the death of a worker to standard output.
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".*",
}
_OWN = {
    # Ray takes 127.0.0.1 for a mistake on Linux unless it is told that it is not part of a cluster.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    # Workers of Ray have a niceness of 15; on a busy machine the beats of such an agent come too late.
    "RAY_worker_niceness": "0",
}
_OBJECT_STORE = 128 << 20
_TRIES = 3
_SECONDS_TO_ANSWER = 5.0
_SECONDS_TO_LEAVE = 5.0
_LEAVING = "leaving Ray"
_BETWEEN_TRIES = 2.0


def require() -> Any:
    """The module ``ray``; an error that says what to install if it is missing."""
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError:
        raise CrawlError(
            "a cluster needs Ray, which is not installed", hint="pip install 'crivello[cluster]'"
        ) from None
    return ray


@contextmanager
def connected(address: str = "") -> Iterator[Any]:
    """Ray, with this process as a driver: of the cluster at an address, or of one started on this machine."""
    if not address:
        os.environ.update(_OWN)
    ray = require()
    if ray.is_initialized():
        _check_joined(ray, address)
        yield ray
        return
    # Ray tells of a start that takes long in its own words; we try again, and say it in ours.
    quiet = {"logging_level": "CRITICAL", "log_to_driver": False, "namespace": NAMESPACE}
    folder = "" if address else tempfile.mkdtemp(prefix="crivello-ray-", dir=_short_temporary())
    try:
        if address:
            _join(ray, address, quiet)
        else:
            _start(ray, folder, quiet)
        yield ray
    finally:
        _leave(ray, address)
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def _leave(ray: Any, address: str) -> None:
    """Disconnects this process. If the head is cut off, Ray would wait for it without end, now and when the interpreter
    exits."""

    def shut_down() -> None:
        with suppress(Exception):
            ray.shutdown()

    try:
        check_reachable(address)
        shut_down()
    except CrawlError:
        leaving = threading.Thread(target=shut_down, name=_LEAVING, daemon=True)
        leaving.start()
        leaving.join(_SECONDS_TO_LEAVE)
        if leaving.is_alive():
            atexit.unregister(ray.shutdown)


def is_leaving() -> bool:
    """Whether a thread of Ray still waits for a head that is cut off: the interpreter cannot exit in order then."""
    return any(thread.name == _LEAVING for thread in threading.enumerate())


def _check_joined(ray: Any, address: str) -> None:
    """Raises an error if the caller has joined another cluster than the one at an address: a process is in one at a time."""
    joined = address_of(ray)
    if (wanted := _split(address)) is None or _same(wanted, _split(joined)):
        return
    check_reachable(address)
    raise CrawlError(
        f"this process has joined the Ray cluster at {joined}, and cannot join the one at {address} beside it",
        hint="`ray.shutdown()` leaves it",
    )


def _split(address: str) -> tuple[str, int] | None:
    """The host and the port of ``host:port``; ``None`` for an empty address, "auto", and what else Ray understands."""
    host, colon, port = address.rpartition(":")
    if not colon or "://" in address or not port.isdecimal():
        return None
    return host.strip("[]"), int(port)


def _same(wanted: tuple[str, int], joined: tuple[str, int] | None) -> bool:
    """Whether two addresses are the same; Ray knows a head by the IP address of its machine, which may be asked for as localhost."""
    if joined is None or wanted[1] != joined[1]:
        return False
    with suppress(OSError):
        host = str(socket.getaddrinfo(wanted[0], None, type=socket.SOCK_STREAM)[0][4][0])
        return host == joined[0] or ipaddress.ip_address(host).is_loopback
    return wanted[0] == joined[0]


def check_reachable(address: str) -> None:
    """Raises an error if nothing answers at an address: Ray would try for half a minute, and print what it does."""
    if (endpoint := _split(address)) is None:
        return
    try:
        socket.create_connection(endpoint, _SECONDS_TO_ANSWER).close()
    except (OSError, OverflowError) as error:
        raise _no_cluster(address, getattr(error, "strerror", None) or str(error)) from None


class Head:
    """The head of a cluster, as seen from the driver: how long it has not been reached.

    A minute after Ray's processes have lost it they exit, all at once and the driver with them; and those of a head that was
    started anew in its place are strangers to them.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self._reached = self._tried = time.monotonic()

    def seconds_away(self) -> float:
        """Since when it has not been reached; tries again if the last time is some seconds ago."""
        if time.monotonic() - self._tried > _BETWEEN_TRIES:
            try:
                check_reachable(self.address)
                self._reached = time.monotonic()
            except CrawlError:
                pass
            self._tried = time.monotonic()
        return self._tried - self._reached


def _no_cluster(address: str, reason: str) -> CrawlError:
    return CrawlError(
        f"there is no Ray cluster at {address}: {reason}",
        hint="`ray start --head` starts one, and prints its address; this machine must be one of its nodes",
    )


def _join(ray: Any, address: str, quiet: dict[str, Any]) -> None:
    check_reachable(address)
    try:
        with _own_signals():
            ray.init(address=address, **quiet)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise _no_cluster(address, str(error).splitlines()[0]) from None


@contextmanager
def _own_signals() -> Iterator[None]:
    """Keeps the handler of SIGTERM, which Ray replaces by one that exits without a checkpoint."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, handler)


def _start(ray: Any, folder: str, quiet: dict[str, Any]) -> None:
    """Starts Ray on this machine; again if it was not ready in the time that Ray gives itself, as on a busy machine."""
    for tries_left in reversed(range(_TRIES)):
        try:
            with _own_signals():
                ray.init(
                    include_dashboard=False,
                    object_store_memory=_OBJECT_STORE,
                    _node_ip_address="127.0.0.1",
                    _temp_dir=folder,
                    **quiet,
                )
            return
        except Exception as error:  # Ray raises nothing more particular
            with suppress(Exception):
                ray.shutdown()
            if tries_left:
                continue
            raise CrawlError(
                f"Ray could not be started: {str(error).splitlines()[0]}",
                hint="the machine may be too busy, or short of memory: try again",
            ) from None


def _short_temporary() -> str:
    """The folder for temporary files, or /tmp: names of sockets have at most 107 characters."""
    usual = tempfile.gettempdir()
    return usual if len(usual) < 24 or not Path("/tmp").is_dir() else "/tmp"


def address_of(ray: Any) -> str:
    """Where other processes of this machine reach the cluster."""
    address: str = ray.get_runtime_context().gcs_address
    return address


def machines(ray: Any) -> list[str]:
    """The machines that may run agents: nodes that are alive and have a CPU to give."""
    found = [_machine(node) for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]
    if not found:
        raise CrawlError("the Ray cluster has no node with a CPU for an agent", hint="`ray status` shows it")
    return sorted(dict.fromkeys(found))


def this_machine(ray: Any) -> str:
    """The machine of this process."""
    own = ray.get_runtime_context().get_node_id()
    return next(_machine(node) for node in ray.nodes() if node["NodeID"] == own)


def _machine(node: dict[str, Any]) -> str:
    name = (node.get("Labels") or {}).get(MACHINE)
    return f"{MACHINE}={name}" if name else f"node:{node['NodeManagerAddress']}"


def placed_on(machine: str) -> dict[str, Any]:
    """The options of an actor that must run on a machine: its label, or the resource that Ray gives every address.

    Both name the machine, not the node: an actor that waits for it starts again when the machine is back.
    """
    label, equals, name = machine.partition("=")
    if equals:
        return {"label_selector": {label: name}}
    return {"resources": {machine: 0.001}}


def register_name(cluster: str) -> str:
    """The name of a cluster's register among the actors."""
    return f"{cluster}/register"


def agent_name(cluster: str, number: int) -> str:
    """The name of an agent among the actors."""
    return f"{cluster}/agent/{number}"
