"""Duplicates in one pass: batches go in, and which of their documents are new comes out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from crivello import _core
from crivello.dedup.fingerprint import comparable_texts, digests
from crivello.dedup.options import Handling, Keep, Linkage, Method, Options, Unit, Weights
from crivello.errors import InvalidArgument

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Deduplicator:
    """Says of each document whether it is like one before: a document is dropped if it is similar to one that was kept.

    The options are those of ``run``, for the methods ``exact``, ``minhash`` and ``simhash``. Memory grows with the documents that
    are kept: ``exact`` takes 8 bytes for each up to ``memory``, and then the disk; ``minhash`` 160 to 280 bytes for each (more
    for thresholds below 0.7), with its n-grams in a temporary file, and ``simhash`` 60 to 80.

        >>> duplicates = Deduplicator(method="minhash", threshold=0.8)
        >>> duplicates.add(["a b c d e f", "a b c d e f", "other words"])
        array([ True, False,  True])
    """

    def __init__(self, **options: Any) -> None:
        self._options = chosen = Options.named(options)
        if chosen.boilerplate is Handling.DROP:
            raise InvalidArgument(
                "what documents of a site share is known after all of them only",
                hint="take crivello.dedup.run",
            )
        if chosen.unit is not Unit.DOCUMENT or chosen.keep is not Keep.FIRST:
            raise InvalidArgument(
                "in one pass whole documents are compared, and the first one is kept",
                hint="crivello.dedup.run has other units, and keeps the longest",
            )
        if chosen.linkage is Linkage.COMPLETE or chosen.weights is Weights.TF_IDF:
            raise InvalidArgument(
                "complete linkage and tf-idf need the whole corpus", hint="take crivello.dedup.run"
            )
        if chosen.sampled:
            raise InvalidArgument(
                "in one pass documents are in memory, and read whole",
                hint="leave sampled out, or take crivello.dedup.run",
            )
        self._seen: _core.ExactSet | _core.OnePass
        match chosen.method:
            case Method.EXACT:
                self._seen = _core.ExactSet(chosen.most_memory)
            case Method.MINHASH:
                self._seen = _core.OnePass(chosen.native(), chosen.threads or 0)
            case Method.SIMHASH if chosen.bits != 128 and (chosen.threshold, chosen.confirm) == (None, None):
                self._seen = _core.OnePass(chosen.native(), chosen.threads or 0)
            case _:
                raise InvalidArgument(
                    f"the method {chosen.method} with these options needs the whole corpus",
                    hint="take crivello.dedup.run, or the methods exact, minhash or simhash with 32 or 64 bits",
                )
        self._kept = 0

    def add(self, texts: Iterable[Any]) -> NDArray[np.bool_]:
        """Which of the next documents stay.

        A missing value is an empty text: ``None``, NaN, ``pandas.NA`` and nulls of pyarrow. Arrays of pyarrow are lists of texts, too.
        """
        given = comparable_texts(texts, empty=True)
        if not given:
            return np.ones(0, np.bool_)
        if isinstance(self._seen, _core.OnePass):
            stays = np.frombuffer(self._seen.add(given), np.bool_)
        else:
            keys = [one.tobytes() for one in digests(given, self._options)]
            stays = ~np.frombuffer(self._seen.add(keys), np.bool_)
        self._kept += int(stays.sum())
        return stays

    def __len__(self) -> int:
        """The number of documents that were kept."""
        return self._kept
