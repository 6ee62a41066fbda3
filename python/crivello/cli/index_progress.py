"""The progress of indexing on a terminal, with the estimated time left, or in a notebook."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeRemainingColumn

from crivello._notebook import Output, bar, in_notebook


class IndexProgress:
    """A context manager that shows a progress line."""

    def __init__(self, console: Console, *, shown: bool = True) -> None:
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[documents]}"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not (shown and console.is_terminal),
        )
        self._task: TaskID | None = None
        self._output: Output | None = Output() if shown and in_notebook() else None

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()
        if self._output:
            self._output.clear()

    def begin(self, what: str, total: float | None = None) -> None:
        """Starts a step; ``total`` is the final value of ``at``, if known."""
        if self._task is not None:
            self._progress.remove_task(self._task)
        self._task = self._progress.add_task(what, total=total, documents="")
        self._show()

    def at(self, done: float, documents: int, *, what: str | None = None) -> None:
        """Updates the progress of the step, the number of documents and, if given, what is done."""
        if self._task is not None:
            self._progress.update(
                self._task, completed=done, documents=f"{documents:,} documents", description=what
            )
            self._show()

    def told(self, what: str, done: int, total: int) -> None:
        """Shows how much of a step is done; another step begins with another name."""
        if self._task is None or self._progress.tasks[-1].description != what:
            self.begin(what, total)
        if self._task is not None:
            self._progress.update(self._task, completed=done, total=total)
            self._show()

    def _show(self) -> None:
        if self._output:
            task = self._progress.tasks[-1]
            self._output.show(bar(task.description, task.completed, task.total, task.fields["documents"]))
