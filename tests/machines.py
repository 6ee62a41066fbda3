"""Machines on this one: namespaces with processes and a network of their own, joined by a router that can be cut.

The router is a namespace, too. It has the addresses of the web, which every machine reaches, and forwards what machines
send to each other until it is told not to: then packets are dropped without a word, as when a cable is cut. No address
is added outside of these namespaces, and they are gone when the processes in them are.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Self

import pytest

WEB = 10
"""The first number of the addresses of the web, which are 10.1.y.z."""

_TOOLS = ("ip", "nsenter", "setpriv", "unshare")
_NEW_NETWORK = 0x40000000  # CLONE_NEWNET


class Network:
    """Machines that are named, each with an address, and the router between them."""

    def __init__(self, *names: str) -> None:
        self._numbers = {name: number for number, name in enumerate(names, 1)}
        self._pids: dict[str, int] = {}
        self._ends = ExitStack()

    def __enter__(self) -> Self:
        missing = [tool for tool in _TOOLS if shutil.which(tool) is None]
        if missing or os.geteuid() != 0:
            pytest.skip(f"no namespaces can be made here: {', '.join(missing) or 'root'} is missing")
        try:
            self._build()
        except subprocess.CalledProcessError as error:
            self.__exit__()
            pytest.skip(f"no namespaces can be made here: {error.stderr.strip()}")
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.close()

    def address(self, name: str) -> str:
        """The address of a machine, where the others reach it."""
        return f"10.77.{self._numbers[name]}.2"

    def on(self, name: str) -> list[str]:
        """What comes before a command that is to run on a machine."""
        return ["nsenter", f"--target={self._pids[name]}", "--net", "--pid", "--mount"]

    @contextmanager
    def sockets_at(self, name: str) -> Iterator[None]:
        """Sockets that this thread makes meanwhile belong to a machine, or to the web (an empty name)."""
        with (
            Path("/proc/thread-self/ns/net").open() as own,
            Path(f"/proc/{self._pids[name]}/ns/net").open() as there,
        ):
            _enter(there.fileno())
            try:
                yield
            finally:
                _enter(own.fileno())

    @contextmanager
    def cut(self) -> Iterator[None]:
        """Machines reach the web, and do not reach each other."""
        self._forward(False)
        try:
            yield
        finally:
            self._forward(True)

    def _build(self) -> None:
        self._add("")
        self._ip("", "link set lo up")
        self._ip("", f"route add local {WEB}.1.0.0/16 dev lo")
        for name, number in self._numbers.items():
            self._add(name)
            self._ip("", f"link add to{number} type veth peer name eth0 netns {self._pids[name]}")
            self._ip("", f"address add 10.77.{number}.1/24 dev to{number}")
            self._ip("", f"link set to{number} up")
            self._ip(name, "link set lo up")
            self._ip(name, f"address add {self.address(name)}/24 dev eth0")
            self._ip(name, "link set eth0 up")
            self._ip(name, f"route add default via 10.77.{number}.1")
        self._forward(True)

    def _add(self, name: str) -> None:
        """Makes the namespaces of a machine, with a process that holds them. When it ends, all others there do; and it ends
        with this one."""
        command = [
            "setpriv",
            "--pdeathsig=KILL",
            "unshare",
            "--net",
            "--pid",
            "--fork",
            "--mount-proc",
            "--kill-child",
        ]
        holder = subprocess.Popen(
            [*command, "sh", "-c", "echo; exec sleep infinity"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert holder.stdout is not None and holder.stderr is not None
        self._ends.callback(_end, holder)
        if not holder.stdout.readline():
            raise subprocess.CalledProcessError(1, command, stderr=holder.stderr.read())
        self._pids[name] = int(Path(f"/proc/{holder.pid}/task/{holder.pid}/children").read_text())

    def _ip(self, name: str, arguments: str) -> None:
        self._run(name, "ip", *arguments.split())

    def _forward(self, is_on: bool) -> None:
        self._run("", "sh", "-c", f"echo {is_on:d} > /proc/sys/net/ipv4/ip_forward")

    def _run(self, name: str, *command: str) -> None:
        enter = ["nsenter", f"--target={self._pids[name]}", "--net"]
        subprocess.run([*enter, *command], capture_output=True, text=True, check=True)


def _end(holder: subprocess.Popen[str]) -> None:
    holder.send_signal(signal.SIGKILL)
    holder.communicate()


def _enter(namespace: int) -> None:
    if ctypes.CDLL(None, use_errno=True).setns(namespace, _NEW_NETWORK):
        raise OSError(ctypes.get_errno(), "setns")
