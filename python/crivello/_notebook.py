"""Private: progress in a notebook, as one output that is updated in place."""

from __future__ import annotations

import html
import sys
import time
from importlib import import_module
from typing import Any

_BETWEEN_UPDATES = 0.25


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook. IPython is not imported for the answer."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    return getattr(shell, "kernel", None) is not None


class Output:
    """An output of the running cell: shown, replaced a few times a second, and emptied at the end."""

    def __init__(self) -> None:
        display: Any = import_module("IPython.display").display
        self._handle: Any = display({"text/html": ""}, raw=True, display_id=True)
        self._shown_at = 0.0

    def show(self, content: str) -> None:
        """Replaces the output with HTML, unless the last one is too recent."""
        now = time.monotonic()
        if now - self._shown_at >= _BETWEEN_UPDATES:
            self._shown_at = now
            self._replace(content)

    def clear(self) -> None:
        """Empties the output."""
        self._replace("")

    def _replace(self, content: str) -> None:
        self._handle.update({"text/html": content, "text/plain": ""}, raw=True)


def bar(what: str, done: float, total: float | None, note: str = "") -> str:
    """A progress bar; without a total it moves by itself."""
    known = f' value="{done:g}" max="{total:g}"' if total else ""
    label = html.escape(what)
    return f'{label} <progress aria-label="{label}"{known}></progress> <small>{html.escape(note)}</small>'
