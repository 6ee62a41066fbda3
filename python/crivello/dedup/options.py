"""What counts as a duplicate, and which of the duplicates stays: the options of a deduplication, with their defaults."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

import msgspec
import numpy as np

from crivello.dedup.arguments import chosen, memory_size, real, whole
from crivello.errors import InvalidArgument


class Method(StrEnum):
    """What makes two documents duplicates."""

    EXACT = "exact"
    SIMHASH = "simhash"
    FINGERPRINT = "fingerprint"
    MINHASH = "minhash"
    SUBSTRING = "substring"


class Signals(StrEnum):
    """The units of the n-grams that stand for a text."""

    WORDS = "words"
    CHARACTERS = "characters"


class Weights(StrEnum):
    """How much an n-gram counts in a SimHash."""

    SET = "set"
    FREQUENCY = "frequency"
    TF_IDF = "tf-idf"


class Measure(StrEnum):
    """How the similarity of two sets of n-grams is measured."""

    JACCARD = "jaccard"
    CONTAINMENT = "containment"
    OVERLAP = "overlap"


class Confirm(StrEnum):
    """What the similarity of documents that are compared is measured on."""

    NGRAMS = "ngrams"
    WORDS = "words"


class Linkage(StrEnum):
    """Whether a document of a cluster is similar to the first one of it, or to all."""

    LEADER = "leader"
    COMPLETE = "complete"


class Keep(StrEnum):
    """Which document of a cluster stays."""

    FIRST = "first"
    LONGEST = "longest"


class Handling(StrEnum):
    """Whether template text, the lines that many documents of a site share, counts."""

    KEEP = "keep"
    DROP = "drop"


class Unit(StrEnum):
    """What is compared and removed."""

    DOCUMENT = "document"
    PARAGRAPH = "paragraph"
    LINE = "line"


IGNORED = ("markup", "case", "digits", "dates", "space")
# The most that is taken where no budget is given.
MOST_MEMORY = 1 << 30
# A document is in memory as bytes, as text, and as n-grams: ten times its size.
_SHARE_OF_DOCUMENT = 12

_NEAR = {Method.SIMHASH, Method.FINGERPRINT, Method.MINHASH}
# The methods for which an option has a meaning.
_MEANT: dict[str, set[Method]] = {
    "threshold": _NEAR,
    "measure": _NEAR,
    "confirm": _NEAR,
    "linkage": _NEAR,
    "signals": _NEAR,
    "ngram": {*_NEAR, Method.SUBSTRING},
    "distance": {Method.SIMHASH},
    "bits": {Method.SIMHASH},
    "weights": {Method.SIMHASH},
    "bins": {Method.MINHASH},
    "recall": {Method.MINHASH},
    "modulus": {Method.FINGERPRINT},
    "window": {Method.FINGERPRINT},
    "ignore": {Method.EXACT},
    "keep": {*_NEAR, Method.EXACT},
    "sampled": {Method.EXACT},
}
_CHARACTERS = 5
_WORDS = {Method.SUBSTRING: 50, Method.SIMHASH: 2}
_OTHER_WORDS = 3
_SHARES = ("threshold", "recall")
_THRESHOLD = 0.7
# "Near-duplicates have more than 90 % of their words in common."
_THRESHOLD_OF_WORDS = 0.9
# Of 64 bits; of others as many in proportion.
_DISTANCE = 5
_BITS = 64
_LEAST_MEMORY = 16 << 20
_BINS = 128
_RECALL = 0.99
_MODULUS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of a deduplication; ``None`` is the default of the method, and what has no meaning for it is refused.

    ``simhash`` takes texts for duplicates within ``distance`` bits, and with a ``threshold`` or ``confirm`` only those that are also
    as similar as that. ``memory`` is in bytes, or a text such as ``1G``; ``None`` adapts it to the corpus: 32 bytes a document, or 24 a
    fingerprint, up to 1 GiB. ``threads`` 0
    is one per core.
    """

    method: Method | str = Method.MINHASH
    threshold: float | None = None
    measure: Measure | str | None = None
    confirm: Confirm | str | None = None
    linkage: Linkage | str | None = None
    signals: Signals | str | None = None
    ngram: int | None = None
    distance: int | None = None
    bits: int | None = None
    weights: Weights | str | None = None
    bins: int | None = None
    recall: float | None = None
    modulus: int | None = None
    window: int | None = None
    ignore: Iterable[str] | None = None
    sampled: bool | None = None
    keep: Keep | str = Keep.FIRST
    unit: Unit | str = Unit.DOCUMENT
    boilerplate: Handling | str = Handling.KEEP
    memory: int | str | None = None
    threads: int = 0

    def __post_init__(self) -> None:
        kinds: dict[str, type[StrEnum]] = {
            "method": Method,
            "measure": Measure,
            "confirm": Confirm,
            "linkage": Linkage,
            "signals": Signals,
            "weights": Weights,
            "keep": Keep,
            "unit": Unit,
            "boilerplate": Handling,
        }
        defaults = {field.name: field.default for field in fields(self)}
        for name, kind in kinds.items():
            value = getattr(self, name)
            if value is not None or defaults[name] is not None:
                object.__setattr__(self, name, chosen(kind, value, name))
        if self.ignore is not None:
            object.__setattr__(self, "ignore", _ignored(self.ignore))
        if not isinstance(self.sampled, bool | np.bool_ | None):
            raise InvalidArgument(f"sampled must be True or False, and not {self.sampled!r}")
        if self.sampled is not None:
            object.__setattr__(self, "sampled", bool(self.sampled))
        for name, methods in _MEANT.items():
            if _is_given(getattr(self, name)) and self.method not in methods:
                raise InvalidArgument(
                    f"{name} has no meaning for the method {self.method}",
                    hint=f"leave it out, or take {' or '.join(sorted(methods))}",
                )
        self._check_numbers()
        if self.confirm is Confirm.WORDS and self.weights is Weights.TF_IDF:
            raise InvalidArgument(
                "tf-idf weighs the n-grams that are kept, and not words instead",
                hint="leave confirm out, or take other weights",
            )
        if self.modulus is not None and self.window is not None:
            raise InvalidArgument("fingerprints are kept by modulus or by window, and not by both")
        if self.boilerplate is Handling.DROP and (
            self.unit is not Unit.DOCUMENT or self.method is Method.SUBSTRING
        ):
            raise InvalidArgument(
                "boilerplate is left out where whole documents are compared",
                hint="leave out boilerplate, or unit and the method substring",
            )
        if self.method is Method.SUBSTRING and self.unit is not Unit.DOCUMENT:
            raise InvalidArgument(
                "the method substring looks inside documents, and takes no other unit", hint="leave unit out"
            )

    def _check_numbers(self) -> None:
        if self.bits is not None:
            object.__setattr__(self, "bits", whole("bits", self.bits))
        if self.bits not in (None, 32, 64, 128):
            raise InvalidArgument(f"a SimHash has 32, 64 or 128 bits, and not {self.bits}")
        if self.memory is not None:
            object.__setattr__(self, "memory", memory_size(self.memory, _LEAST_MEMORY))
        object.__setattr__(self, "threads", whole("threads", self.threads, 0, 1024))
        limits = {
            "ngram": (1, 10_000 if self.method is Method.SUBSTRING else 64),
            "distance": (0, self.hash_bits // 4),
            "bins": (1, 1024),
            "modulus": (1, 1 << 32),
            "window": (1, 1 << 20),
        }
        for name, (least, most) in limits.items():
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, whole(name, value, least, most))
        for name in _SHARES:
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, real(name, value, 0, 1))

    @classmethod
    def named(cls, options: Mapping[str, Any]) -> Options:
        """The options with these names and values."""
        names = [field.name for field in fields(cls)]
        for name in options:
            if name not in names:
                raise InvalidArgument(
                    f"there is no option {name}", hint=f"the options are {', '.join(names)}"
                )
        return cls(**options)

    @property
    def budget(self) -> int | None:
        """The memory budget in bytes, if one is given."""
        assert not isinstance(self.memory, str)
        return self.memory

    @property
    def most_memory(self) -> int:
        """The memory budget, or the most that an adapted one can be."""
        return MOST_MEMORY if self.budget is None else self.budget

    @property
    def largest_document(self) -> int:
        """The size in bytes of the largest document."""
        return self.most_memory // _SHARE_OF_DOCUMENT

    @property
    def shingle(self) -> tuple[str, int]:
        """The unit and the size of the n-grams, in the words of the core."""
        if self.signals == Signals.CHARACTERS:
            return "character", self.ngram or _CHARACTERS
        return "word", self.ngram or _WORDS.get(Method(self.method), _OTHER_WORDS)

    @property
    def least(self) -> float:
        """The least similarity of duplicates."""
        if self.threshold is not None:
            return self.threshold
        return _THRESHOLD_OF_WORDS if self.confirm is Confirm.WORDS else _THRESHOLD

    @property
    def most_bits(self) -> int:
        """The most bits in which the SimHashes of duplicates differ."""
        return _DISTANCE * self.hash_bits // _BITS if self.distance is None else self.distance

    @property
    def hash_bits(self) -> int:
        """The bits of a SimHash, of which a quarter may differ at most."""
        return self.bits or _BITS

    @property
    def weighing(self) -> Weights:
        """How much an n-gram counts in a SimHash."""
        return Weights(self.weights or Weights.FREQUENCY)

    @property
    def measured(self) -> Measure:
        """How similarity is measured."""
        return Measure(self.measure or Measure.JACCARD)

    @property
    def sketch_bins(self) -> int:
        """The numbers of a MinHash sketch."""
        return self.bins or _BINS

    @property
    def found_share(self) -> float:
        """The probability with which a pair at the threshold is compared."""
        return _RECALL if self.recall is None else self.recall

    @property
    def cores(self) -> int:
        """The number of threads."""
        return self.threads or os.cpu_count() or 1

    def native(self) -> bytes:
        """The options of the engine, in MessagePack."""
        unit, size = self.shingle
        chosen: dict[str, Any] = {
            "method": str(self.method),
            "unit": unit,
            "size": size,
            "threshold": self.least,
            "measure": str(self.measured),
            "linkage": str(self.linkage or Linkage.LEADER),
            "bins": self.sketch_bins,
            "recall": self.found_share,
            "bits": self.hash_bits,
            "distance": self.most_bits,
            "weights": str(self.weighing),
            "confirm": str(self.confirm or Confirm.NGRAMS),
            "verify": self.method is Method.SIMHASH and (self.threshold, self.confirm) != (None, None),
            "modulus": self.modulus or (1 if self.window else _MODULUS),
            "window": self.window or 1,
            "normal": {name: name in (self.ignore or ()) for name in IGNORED},
            "sampled": bool(self.sampled),
        }
        return msgspec.msgpack.encode(chosen)


def _is_given(value: object) -> bool:
    if value is None or value is False or value is Keep.FIRST:
        return False
    return bool(value) if isinstance(value, Sequence) else True


def _ignored(names: object) -> tuple[str, ...]:
    if isinstance(names, str):
        names = (names,)
    if isinstance(names, bytes) or not isinstance(names, Iterable):
        raise InvalidArgument(
            f"ignore must be a list of words, and not {names!r}", hint=f"take of {', '.join(IGNORED)}"
        )
    found = tuple(names)
    for name in found:
        if not isinstance(name, str) or name not in IGNORED:
            raise InvalidArgument(f"{name!r} is not among what can be ignored", hint=f"{', '.join(IGNORED)}")
    return found
