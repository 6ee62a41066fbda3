"""What all filters have in common."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crivello import _core
from crivello.errors import InvalidArgument

Keys: TypeAlias = list[str] | list[bytes] | list[str | bytes] | NDArray[np.uint64]


def signatures(keys: list[str]) -> NDArray[np.uint64]:
    """The signatures that stand for keys, for whoever asks many filters about the same ones."""
    return np.array(_core.signatures(keys), dtype=np.uint64)


@contextmanager
def whole_numbers(whose: str = "filter") -> Iterator[None]:
    """Turns away the numbers that have no place among parameters: negative or enormous ones."""
    try:
        yield
    except OverflowError as error:
        raise InvalidArgument(f"a parameter of the {whose} is out of range: {error}") from None


class Filter:
    """A set of keys that sometimes says yes where the answer is no; threads may share it."""

    kind: ClassVar[str]
    _native: _core.Filter

    @classmethod
    def _of(cls, native: _core.Filter) -> Self:
        made = cls.__new__(cls)
        made._native = native
        return made

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """The filter that was saved at ``path``, in memory."""
        return cls._of(_core.Filter.open(cls.kind, path, False))

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the filter to ``path``: whole, synced, then renamed."""
        self._native.save(path)

    def flush(self) -> None:
        """Makes a filter that lives in a mapped file durable; closing (or deleting) it does so too."""
        self._native.flush()

    def copy(self) -> Self:
        """The same filter, in memory."""
        return self._of(self._native.copy())

    __copy__ = copy

    def __deepcopy__(self, _memo: object) -> Self:
        return self.copy()

    def add(self, keys: Keys) -> NDArray[np.bool_]:
        """Adds keys in their order; tells of each whether it seemed to be there before."""
        return np.frombuffer(self._native.add(keys), dtype=np.bool_)

    def update(self, keys: Keys) -> None:
        """Adds keys, without answers."""
        self._native.update(keys)

    def contains(self, keys: Keys) -> NDArray[np.bool_]:
        """Tells of each key whether it seems to be there."""
        return np.frombuffer(self._native.contains(keys), dtype=np.bool_)

    def __contains__(self, key: str | bytes) -> bool:
        return bool(self._native.contains([key])[0])

    @property
    def count(self) -> int:
        """How many keys were added: those that seemed new, and in a stable filter all."""
        return self._native.count

    def __len__(self) -> int:
        return self._native.count

    def __bool__(self) -> bool:
        return True

    @property
    def bits(self) -> int:
        """How many bits the filter has."""
        return self._native.bits

    @property
    def hashes(self) -> int:
        """How many hash functions a key has."""
        return self._native.hashes

    @property
    def bits_per_key(self) -> float:
        """The bits of the filter by the keys that were added."""
        return self.bits / self.count if self.count else float("inf")

    @property
    def fill(self) -> float:
        """The fraction of the bits (or cells) that are not 0; reads them all."""
        return self._native.fill

    @property
    def expected_error(self) -> float:
        """The probability that a key that was never added seems to be there now; reads all the bits."""
        return self._native.expected_error

    def __repr__(self) -> str:
        return f"{type(self).__name__}(bits={self.bits}, hashes={self.hashes}, count={self.count})"
