"""Packages that only some parts need: each belongs to an extra of the package, and its absence is one sentence.

>>> with optional():
...     import duckdb
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from crivello.errors import CrivelloError


class Extra(NamedTuple):
    """The name of an extra, and what its package is for."""

    name: str
    purpose: str


EXTRAS: dict[str, Extra] = {
    "matplotlib": Extra("plots", "plots"),
    "duckdb": Extra("duckdb", "Parquet, data frames and the exact study of streams"),
    "rocksdict": Extra("lsm", "the lsm sieve"),
    "pypdfium2": Extra("pdf", "PDF documents"),
    "ir_measures": Extra("eval", "measures of retrieval effectiveness"),
    "ray": Extra("cluster", "several agents"),
}
"""The extra of each package, by the name under which it is imported."""


class MissingPackage(CrivelloError):
    """A package of an extra is not installed."""

    def __init__(self, package: str) -> None:
        extra = EXTRAS[package]
        super().__init__(
            f"the package {package.replace('_', '-')} is not installed; it is needed for {extra.purpose}",
            hint=f"pip install 'crivello[{extra.name}]'",
        )


@contextmanager
def optional() -> Iterator[None]:
    """Raises ``MissingPackage`` if an import of a package of an extra fails inside because it is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        raise MissingPackage(package) from None
