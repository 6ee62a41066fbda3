"""A segment merge in a background thread, while documents are added and queries answered."""

from __future__ import annotations

import threading
from collections.abc import Callable

from crivello._core import Cancel
from crivello.index.policy import Segment


class Joining:
    """A merge in progress."""

    def __init__(self, old: list[Segment], work: Callable[[Cancel], list[Segment]]) -> None:
        self.old = old
        self._cancel = Cancel()
        self._work = work
        self._joined: list[Segment] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="merge")
        self._thread.start()

    @property
    def is_done(self) -> bool:
        """Whether it ended, successfully or not."""
        return not self._thread.is_alive()

    def result(self) -> list[Segment]:
        """The files of the merged segment; none if no document was left."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._joined

    def stop(self) -> None:
        """Requests a stop, and waits for the thread to end."""
        self._cancel.cancel()
        self._thread.join()

    def _run(self) -> None:
        try:
            self._joined = self._work(self._cancel)
        except BaseException as error:
            self._error = error
