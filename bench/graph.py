"""The link graph: every part of ``bench.graphs``."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

from bench import Measurement, graphs


def measure() -> Iterator[Measurement]:
    for part in pkgutil.iter_modules(graphs.__path__, f"{graphs.__name__}."):
        module = importlib.import_module(part.name)
        if hasattr(module, "measure"):
            yield from module.measure()
