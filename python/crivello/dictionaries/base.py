"""What all dictionaries have in common."""

from __future__ import annotations

from os import PathLike
from typing import ClassVar, Literal, Protocol, Self, TypeAlias

Construction: TypeAlias = Literal["peeling", "fuse"]


class Native(Protocol):
    """What every native dictionary has."""

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    @property
    def count(self) -> int: ...
    @property
    def bytes(self) -> int: ...


class NativeOfFunction(Native, Protocol):
    """What every native dictionary has that is a static function."""

    @property
    def construction(self) -> str: ...
    @property
    def compact(self) -> bool: ...


class Dictionary:
    """A dictionary that never changes; threads may share it."""

    _kind: ClassVar[type[Native]]
    _native: Native

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """The dictionary that was saved at ``path``, checked, and read where it lies."""
        made = cls.__new__(cls)
        made._native = cls._kind.load(path)
        return made

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the dictionary to ``path``: whole, synced, then renamed."""
        self._native.save(path)

    def __len__(self) -> int:
        return self._native.count

    def __bool__(self) -> bool:
        return True

    @property
    def bytes(self) -> int:
        """How many bytes it takes, with its header."""
        return self._native.bytes

    @property
    def bits_per_key(self) -> float:
        """The bits that it takes by its keys."""
        return 8 * self.bytes / len(self) if len(self) else float("inf")


class DictionaryOfFunction(Dictionary):
    """A dictionary that is a static function, whatever its values mean."""

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
        """The dictionary for ``repr``; ``what`` says what its values are."""
        return (
            f"{type(self).__name__}({len(self):,} keys, {what}, {self.construction}"
            f"{', compact' if self.compact else ''}, {self.bits_per_key:.2f} bits per key)"
        )
