"""Many machines: every module here is a group of measurements with a function ``measure()``, as a part has."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

from bench import Measurement


def measure() -> Iterator[Measurement]:
    """The measurements of all groups, by name; a module whose name begins with ``_`` is none."""
    for module in sorted(module.name for module in pkgutil.iter_modules(__path__)):
        if not module.startswith("_"):
            yield from importlib.import_module(f"{__name__}.{module}").measure()
