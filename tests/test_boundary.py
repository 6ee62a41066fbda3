"""The boundary: every failure of native code arrives as the right exception, and Ctrl-C gets through."""

from __future__ import annotations

import errno
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from crivello import _core, errors


def test_each_error_of_the_core_has_its_exception() -> None:
    with pytest.raises(errors.StorageError) as storage:
        _core.fail("io")
    assert storage.value.path == Path("some/file")
    assert storage.value.errno == errno.ENOSPC
    assert "full" in (storage.value.hint or "")

    with pytest.raises(errors.CorruptFile) as corrupt:
        _core.fail("corrupt")
    assert (corrupt.value.path, corrupt.value.offset) == (Path("some/file"), 42)
    assert str(corrupt.value) == "some/file is damaged at byte 42: on purpose"

    with pytest.raises(errors.NewerFormat, match="format version 2"):
        _core.fail("newer")
    with pytest.raises(
        errors.NotACollection, match="some/file is not a collection: it has no manifest"
    ) as none:
        _core.fail("not a collection")
    assert "crivello crawl" in (none.value.hint or "")
    with pytest.raises(errors.CollectionInUse, match="process 7 is writing to it") as held:
        _core.fail("in use")
    assert "wait until it ends" in (held.value.hint or "")
    with pytest.raises(errors.QuerySyntaxError) as query:
        _core.fail("query")
    assert query.value.position == 3
    with pytest.raises(errors.InvalidArgument, match="on purpose"):
        _core.fail("invalid")


def test_a_panic_is_an_exception_that_asks_to_be_reported() -> None:
    with pytest.raises(errors.InternalError, match="the native core failed: on purpose") as panic:
        _core.fail("panic")
    assert "report" in (panic.value.hint or "")
    assert _core.signature("") == 0x2D06800538D394C2  # the process goes on


def test_every_exception_is_a_crivello_error() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    assert len(kinds) > 10
    assert all(issubclass(kind, errors.CrivelloError) for kind in kinds)
    drawn = errors.__doc__ or ""
    assert all(kind.__name__ in drawn for kind in kinds)


@pytest.mark.alone
def test_ctrl_c_stops_a_long_native_call_within_a_second() -> None:
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.2, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        _core.fail("loop")
    assert time.monotonic() - sent[0] < 1.0
    timer.join()


@pytest.mark.alone
def test_other_threads_run_during_a_native_call() -> None:
    counted = 0
    ended = threading.Event()

    def count() -> None:
        nonlocal counted
        while not ended.is_set():
            counted += 1
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=count)
    timer = threading.Timer(0.3, ended.set)
    thread.start()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        _core.fail("loop")
    thread.join()
    assert counted > 20
