"""What a check finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from crivello.errors import CorruptFile, StorageError

Severity = Literal["note", "damaged", "lost"]
"""A ``note`` needs no action; what is ``damaged`` can be rebuilt; what is ``lost`` is in no other place."""

Progress = Callable[[str, int, int], object]
"""Called with what is being checked, how much of it was, and how much there is."""

_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it should be: which part of the collection, what, where, how bad, what to do."""

    part: str
    what: str
    file: str
    offset: int | None
    severity: Severity
    advice: str

    def to_dict(self) -> dict[str, Any]:
        """The form of ``crivello doctor DIR --json``."""
        return asdict(self)

    def __str__(self) -> str:
        where = self.file if self.offset is None else f"{self.file} at byte {self.offset:,}"
        return f"{self.severity}: {self.part}: {where}: {self.what}"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a collection, with what damage to it means and what to do about it."""

    folder: Path
    name: str
    severity: Severity
    advice: str

    def finding(self, what: str, file: str, offset: int | None = None) -> Finding:
        """A finding about this part."""
        return Finding(self.name, what, file, offset, self.severity, self.advice)

    def of(self, error: StorageError) -> Finding:
        """The finding of a reader that stopped at damage."""
        file = error.path
        if file.is_relative_to(self.folder):
            file = file.relative_to(self.folder)
        offset = error.offset if isinstance(error, CorruptFile) else None
        return self.finding(str(error), str(file), offset)


def shortened(findings: Iterable[Finding]) -> Iterator[Finding]:
    """At most ``_SHOWN`` findings of the same kind about the same file, and the number of the others."""
    counts: dict[tuple[str, str, Severity], int] = {}
    last: dict[tuple[str, str, Severity], Finding] = {}
    for finding in findings:
        key = (finding.part, finding.file, finding.severity)
        counts[key] = counts.get(key, 0) + 1
        last[key] = finding
        if counts[key] <= _SHOWN:
            yield finding
    for key, finding in last.items():
        if (more := counts[key] - _SHOWN) > 0:
            what = f"{more:,} more findings like these, to byte {finding.offset or 0:,}"
            yield Finding(finding.part, what, finding.file, None, finding.severity, finding.advice)
