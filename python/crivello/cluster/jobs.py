"""Private: independent tasks on the workers of a Ray cluster, as a ``map``.

A job is written once, as pure functions over files, and takes a ``map`` (see ``crivello.sieve.job`` and
``crivello.index.job``, ``crivello.dedup.job``). Here is the one that sends the tasks to Ray. The workers must see the same folders. A task whose
worker or machine dies runs again elsewhere.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from crivello.cluster import engine
from crivello.errors import CollectionError, CrivelloError, InvalidArgument

LOCAL = "local"
_TRIES = 3
_AHEAD = 2


@dataclass(frozen=True, slots=True)
class _Failed:
    """An error of a task, as it travels."""

    message: str
    hint: str | None
    is_of_user: bool

    def error(self) -> CrivelloError:
        kind = InvalidArgument if self.is_of_user else CollectionError
        return kind(self.message, hint=self.hint)


def _attempted(function: Callable[[Any], Any], task: Any) -> Any:
    try:
        return function(task)
    except CrivelloError as error:
        return _Failed(str(error), error.hint, isinstance(error, InvalidArgument))


class RayMap:
    """Runs tasks on the workers of a cluster; ``workers`` is how many run at a time."""

    def __init__(self, ray: Any, on_done: Callable[[int], object] | None) -> None:
        self._ray, self._on_done = ray, on_done
        self._attempt = ray.remote(num_cpus=1, max_retries=_TRIES)(_attempted)

    @property
    def workers(self) -> int:
        """The number of processors of the cluster."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def __call__(self, function: Callable[[Any], Any], tasks: Iterable[Any]) -> list[Any]:
        """The results, in the order of the tasks; the first error ends the others."""
        ray = self._ray
        asked = [self._ask(function, task) for task in tasks]
        waiting = list(asked)
        try:
            while waiting:
                done, waiting = ray.wait(waiting, num_returns=1)
                self._results(done)
                if self._on_done is not None:
                    self._on_done(len(asked) - len(waiting))
            return self._results(asked)
        finally:
            self._cancel(waiting)

    def ordered(self, function: Callable[[Any], Any], tasks: Iterable[Any]) -> Generator[Any, None, None]:
        """The results one by one, in the order of the tasks: twice as many tasks as there are workers are asked for ahead."""
        waiting: deque[Any] = deque()
        try:
            for task in tasks:
                waiting.append(self._ask(function, task))
                if len(waiting) >= _AHEAD * self.workers:
                    yield self._results([waiting.popleft()])[0]
            while waiting:
                yield self._results([waiting.popleft()])[0]
        finally:
            self._cancel(waiting)

    def _ask(self, function: Callable[[Any], Any], task: Any) -> Any:
        return self._attempt.remote(function, task)

    def _results(self, done: list[Any]) -> list[Any]:
        try:
            attempts = self._ray.get(done)
        except self._ray.exceptions.RayError as error:
            raise CollectionError(
                f"a worker of the cluster was lost: {str(error).splitlines()[0]}",
                hint="`ray status` shows the nodes; run the command again",
            ) from None
        for attempt in attempts:
            if isinstance(attempt, _Failed):
                raise attempt.error()
        return list(attempts)

    def _cancel(self, tasks: Iterable[Any]) -> None:
        for task in tasks:
            self._ray.cancel(task, force=True)


@contextmanager
def ray_map(address: str = "", *, on_done: Callable[[int], object] | None = None) -> Iterator[RayMap]:
    """A ``map`` over the workers of the cluster at an address, or of one started on this machine (``local``).

    ``on_done`` is called with the number of tasks of a round that are done.
    """
    with engine.connected("" if address == LOCAL else address) as ray:
        yield RayMap(ray, on_done)
