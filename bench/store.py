"""The store: every part of ``bench.stores``."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

from bench import Measurement, stores


def measure() -> Iterator[Measurement]:
    for part in pkgutil.iter_modules(stores.__path__):
        if not part.name.startswith("_"):
            yield from importlib.import_module(f"{stores.__name__}.{part.name}").measure()
