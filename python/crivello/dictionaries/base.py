"""The common base of all dictionaries."""

from __future__ import annotations

from os import PathLike
from typing import ClassVar, Literal, Protocol, Self, TypeAlias

Construction: TypeAlias = Literal["pairs", "peeling", "fuse"]


class Native(Protocol):
    """The interface of every native dictionary."""

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    @property
    def count(self) -> int: ...
    @property
    def bytes(self) -> int: ...


class NativeOfFunction(Native, Protocol):
    """The interface of every native dictionary based on a static function."""

    @property
    def construction(self) -> str: ...
    @property
    def compact(self) -> bool: ...


class Dictionary:
    """An immutable dictionary; threads may share it."""

    _kind: ClassVar[type[Native]]
    _native: Native

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Loads the dictionary saved at ``path``: memory-mapped and verified."""
        made = cls.__new__(cls)
        made._native = cls._kind.load(path)
        return made

    def save(self, path: str | PathLike[str]) -> None:
        """Saves the dictionary to ``path`` atomically: written, synced, then renamed."""
        self._native.save(path)

    def __len__(self) -> int:
        return self._native.count

    def __bool__(self) -> bool:
        return True

    @property
    def bytes(self) -> int:
        """Its size in bytes, including its header."""
        return self._native.bytes

    @property
    def bits_per_key(self) -> float:
        """Its size in bits per key."""
        return 8 * self.bytes / len(self) if len(self) else float("inf")


class DictionaryOfFunction(Dictionary):
    """A dictionary based on a static function."""

    _native: NativeOfFunction

    @property
    def construction(self) -> str:
        """How it was built: ``peeling`` or ``fuse``."""
        return self._native.construction

    @property
    def compact(self) -> bool:
        """Whether its vector is compacted."""
        return self._native.compact

    def _described(self, what: str) -> str:
        """The text for ``repr``; ``what`` describes its values."""
        return (
            f"{type(self).__name__}({len(self):,} keys, {what}, {self.construction}"
            f"{', compact' if self.compact else ''}, {self.bits_per_key:.2f} bits per key)"
        )
