"""The ``crivello`` command in a process of its own, without the time that a fresh interpreter takes to load it.

A server (``tests.shell_server``), started once by each test process, has loaded the modules of the command line; a
command is a fork of it, with arguments, environment, working directory and standard streams of its own. A fresh
interpreter takes most of a second before the command begins, again and again. What only a fresh one proves (the
installed script, what is imported when, pipes, terminals, signals) has tests that start ``CRIVELLO`` itself.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parent.parent
CRIVELLO = Path(sys.executable).with_name("crivello")


def run(
    *arguments: str | bytes | Path,
    given: bytes = b"",
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    timeout: float = 120,
) -> subprocess.CompletedProcess[bytes]:
    """Runs a command to its end, as ``subprocess.run([CRIVELLO, *arguments], input=given, ...)`` does."""
    words = [os.fsdecode(argument) for argument in arguments]
    with (
        socket.socket(socket.AF_UNIX) as connection,
        tempfile.TemporaryFile() as put_in,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as complaints,
    ):
        put_in.write(given)
        put_in.seek(0)
        connection.settimeout(timeout)
        connection.connect(_server())
        asked = {
            "arguments": words,
            "environment": dict(os.environ if environment is None else environment),
            "folder": str(folder or Path.cwd()),
        }
        socket.send_fds(connection, [b"."], [put_in.fileno(), out.fileno(), complaints.fileno()])
        connection.sendall(json.dumps(asked).encode() + b"\n")
        answers = connection.makefile()
        pid = int(answers.readline())
        try:
            code = int(answers.readline())
        except TimeoutError:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            raise subprocess.TimeoutExpired(words, timeout, _content(out), _content(complaints)) from None
        return subprocess.CompletedProcess(words, code, _content(out), _content(complaints))


def says(
    *arguments: str | bytes | Path,
    given: str = "",
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    timeout: float = 120,
) -> subprocess.CompletedProcess[str]:
    """``run`` with text in and out; a traceback is a failure, whatever else the test looks at."""
    done = run(*arguments, given=given.encode(), environment=environment, folder=folder, timeout=timeout)
    out, complaints = done.stdout.decode(), done.stderr.decode()
    assert "Traceback" not in complaints, complaints
    return subprocess.CompletedProcess(done.args, done.returncode, out, complaints)


def _content(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


@functools.cache
def _server() -> str:
    """The socket of this process's server, which ends with it."""
    folder = tempfile.mkdtemp()
    path = f"{folder}/commands"
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.shell_server", path],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdin is not None and server.stdout is not None
    assert server.stdout.readline() == "ready\n"

    def end() -> None:
        server.communicate()
        shutil.rmtree(folder)

    atexit.register(end)
    return path
