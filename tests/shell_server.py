"""Forks a ``crivello`` command for each connection: the server of ``tests.shell``.

    python -m tests.shell_server SOCKET     until its standard input is closed

A client sends three file descriptors, which become the standard streams, and a line of JSON with the arguments, the
environment and the folder; it gets a line with the process id when the command begins, and one with its exit code,
as ``subprocess`` gives it, when it has ended.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import select
import socket
import sys
import threading
import traceback
from contextlib import suppress
from io import BufferedReader, BufferedWriter, FileIO, TextIOWrapper
from pathlib import Path
from typing import Any

from crivello import cli
from crivello.cli.app import application

# What most commands load. No thread may be started when they are imported: it would not survive a fork.
MODULES = (
    *("pydantic.main", "typer._adapters", "numpy", "rich.live", "rich.progress", "rich.table", "email.parser"),
    *("duckdb", "matplotlib.pyplot", "matplotlib.backends.backend_agg", "matplotlib.backends.backend_svg"),
    *("crivello._core", "crivello.archives", "crivello.collection", "crivello.crawl.crawler", "crivello.dedup"),
    *("crivello.doctor", "crivello.evaluate", "crivello.feeds", "crivello.graph", "crivello.index.update"),
    *("crivello.lab.web", "crivello.plots", "crivello.search", "crivello.stream", "crivello.web"),
)  # fmt: skip


def main(path: str) -> None:
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # NumPy's library starts its threads when it is loaded
    application()
    for module in MODULES:
        importlib.import_module(module)
    gc.freeze()  # a collection in a fork would write to, and so copy, every page of memory that they share
    assert threading.active_count() == 1 and len([*Path("/proc/self/task").iterdir()]) == 1
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(16)
    print("ready", flush=True)
    while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            _keep(connection)
        connection.close()
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _keep(connection: socket.socket) -> None:
    """Starts the command, waits for it and tells its exit code."""
    code = 70
    try:
        _, streams, _, _ = socket.recv_fds(connection, 1, 3)
        with connection.makefile() as lines:
            asked = json.loads(lines.readline())
        if (pid := os.fork()) == 0:
            connection.close()
            os._exit(_run(asked, streams))
        for stream in streams:
            os.close(stream)
        connection.sendall(b"%d\n" % pid)
        _, status = os.waitpid(pid, 0)
        connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
        code = 0
    finally:
        os._exit(code)


def _run(asked: dict[str, Any], streams: list[int]) -> int:
    """The command, as the installed script runs it; gives its exit code."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = TextIOWrapper(BufferedReader(FileIO(0, closefd=False)), encoding="utf-8")
    sys.stdout = TextIOWrapper(BufferedWriter(FileIO(1, "w", closefd=False)), encoding="utf-8")
    sys.stderr = TextIOWrapper(
        BufferedWriter(FileIO(2, "w", closefd=False)),
        encoding="utf-8",
        errors="backslashreplace",
        line_buffering=True,
    )
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["folder"])
    sys.argv = ["crivello", *asked["arguments"]]
    code = 1
    try:
        cli.main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else code
    except BaseException:
        traceback.print_exc()
    # As the interpreter ends.
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    return code


if __name__ == "__main__":
    main(sys.argv[1])
