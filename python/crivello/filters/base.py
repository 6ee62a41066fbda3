"""The common base of all filters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import ClassVar, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crivello import _core
from crivello.errors import InvalidArgument

Hashing: TypeAlias = Literal["enhanced", "double"]
Decay: TypeAlias = Literal["consecutive", "independent"]
Keys: TypeAlias = list[str] | list[bytes] | list[str | bytes] | NDArray[np.uint64]


def signatures(keys: list[str]) -> NDArray[np.uint64]:
    """The signatures of keys, for querying several filters with the same keys."""
    return np.array(_core.signatures(keys), dtype=np.uint64)


@contextmanager
def whole_numbers(whose: str = "filter") -> Iterator[None]:
    """Reports parameters that do not fit the native integer types, negative or enormous ones, as
    InvalidArgument."""
    try:
        yield
    except OverflowError as error:
        raise InvalidArgument(f"a parameter of the {whose} is out of range: {error}") from None


class Filter:
    """An approximate set of keys, with false positives; threads may share it."""

    kind: ClassVar[str]
    _native: _core.Filter

    @classmethod
    def _of(cls, native: _core.Filter) -> Self:
        made = cls.__new__(cls)
        made._native = native
        return made

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Loads the filter saved at ``path`` into memory."""
        return cls._of(_core.Filter.open(cls.kind, path, False))

    def save(self, path: str | PathLike[str]) -> None:
        """Saves the filter to ``path`` atomically: written, synced, then renamed."""
        self._native.save(path)

    def flush(self) -> None:
        """Makes a filter in a mapped file durable; closing (or deleting) it does so too."""
        self._native.flush()

    def copy(self) -> Self:
        """A copy of the filter in memory."""
        return self._of(self._native.copy())

    __copy__ = copy

    def __deepcopy__(self, _memo: object) -> Self:
        return self.copy()

    def add(self, keys: Keys) -> NDArray[np.bool_]:
        """Adds keys in order; returns for each whether it was already present, up to false positives."""
        return np.frombuffer(self._native.add(keys), dtype=np.bool_)

    def update(self, keys: Keys) -> None:
        """Adds keys without returning anything: faster."""
        self._native.update(keys)

    def contains(self, keys: Keys) -> NDArray[np.bool_]:
        """Returns for each key whether it is present, up to false positives."""
        return np.frombuffer(self._native.contains(keys), dtype=np.bool_)

    def __contains__(self, key: str | bytes) -> bool:
        return bool(self._native.contains([key])[0])

    @property
    def count(self) -> int:
        """The number of added keys: those that were reported new, and in a stable filter all."""
        return self._native.count

    def __len__(self) -> int:
        return self._native.count

    def __bool__(self) -> bool:
        return True

    @property
    def bits(self) -> int:
        """The size of the filter in bits."""
        return self._native.bits

    @property
    def hashes(self) -> int:
        """The number of hash functions."""
        return self._native.hashes

    @property
    def bits_per_key(self) -> float:
        """The bits of the filter per added key."""
        return self.bits / self.count if self.count else float("inf")

    @property
    def fill(self) -> float:
        """The fraction of the bits (or cells) that are not 0; scans them all."""
        return self._native.fill

    @property
    def expected_error(self) -> float:
        """The current false-positive rate, from the fill; scans all bits."""
        return self._native.expected_error

    def __repr__(self) -> str:
        return f"{type(self).__name__}(bits={self.bits}, hashes={self.hashes}, count={self.count})"
