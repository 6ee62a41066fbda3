"""Fingerprints of texts in batches, on all threads; the same for every size of batch and number of threads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from crivello import _core
from crivello.dedup.options import IGNORED, Options
from crivello.errors import InvalidArgument

if TYPE_CHECKING:
    from numpy.typing import NDArray


def simhash(
    texts: Iterable[str],
    *,
    bits: int = 64,
    signals: str = "words",
    ngram: int | None = None,
    weights: str = "frequency",
) -> NDArray[np.uint64]:
    """The SimHash of each text; with 128 bits an array of two columns, the lower half first.

    The document frequencies of ``tf-idf`` are those of the texts themselves.

        >>> simhash(["a b c d", "a b c e"])
    """
    given = _listed(texts)
    options = Options(method="simhash", bits=bits, signals=signals, ngram=ngram, weights=weights)
    unit, size = options.shingle
    frequencies = None
    if weights == "tf-idf":
        frequencies = _core.DocumentFrequencies(unit, size, options.most_memory)
        frequencies.add(given)
    hashes = np.asarray(_core.simhashes(given, unit, size, weights, bits, frequencies))
    return hashes.reshape(-1, 2) if bits == 128 else hashes


def minhash(
    texts: Iterable[str], *, bins: int = 128, signals: str = "words", ngram: int | None = None, bits: int = 32
) -> NDArray[np.uint32]:
    """The MinHash sketch of each text: a row of ``bins`` numbers of ``bits`` bits.

    The share of equal numbers of two rows estimates the Jaccard similarity of the texts.

        >>> one, other = minhash(["a b c d e f", "a b c d e g"])
        >>> (one == other).mean()
    """
    given = _listed(texts)
    unit, size = Options(method="minhash", bins=bins, signals=signals, ngram=ngram).shingle
    return np.asarray(_core.minhashes(given, unit, size, bins, bits)).reshape(len(given), bins)


def fingerprints(
    texts: Iterable[str],
    *,
    signals: str = "words",
    ngram: int | None = None,
    modulus: int | None = None,
    window: int | None = None,
) -> list[NDArray[np.uint64]]:
    """The distinct n-grams of each text as sorted 64-bit hashes: all of them, those that ``modulus`` divides, or by
    winnowing the least of each ``window``.

        >>> all_of_them, some = fingerprints(["a b c d e f"]), fingerprints(["a b c d e f"], window=4)
    """
    options = Options(method="fingerprint", signals=signals, ngram=ngram, modulus=modulus, window=window)
    ends, found = _core.fingerprints(_listed(texts), *options.shingle, modulus or 1, window or 1)
    return split_at(found, ends)


def digest(texts: Iterable[str], *, ignore: Sequence[str] = ()) -> NDArray[np.void]:
    """The digest of each text, 16 bytes; ``ignore`` leaves out markup, case, digits, dates or space before.

    >>> one, other = digest(["Page 1", "page 2"], ignore=["case", "digits"])
    >>> one == other
    """
    Options(method="exact", ignore=ignore)
    found = _core.digests(_listed(texts), **{name: name in ignore for name in IGNORED})
    return np.frombuffer(found, dtype="V16")


def similarity(
    pairs: Iterable[tuple[str, str]],
    *,
    measure: str = "jaccard",
    signals: str = "words",
    ngram: int | None = None,
) -> NDArray[np.float64]:
    """The similarity of the texts of each pair, from 0 to 1, on the sets of their n-grams.

    >>> similarity([("a b c d", "a b c e")], ngram=1)
    array([0.6])
    """
    options = Options(method="minhash", measure=measure, signals=signals, ngram=ngram)
    return np.asarray(_core.similarities(list(pairs), *options.shingle, measure))


def split_at(values: _core.Array, ends: _core.Array) -> list[NDArray[np.uint64]]:
    """The values of each text, given where they end."""
    return np.split(np.asarray(values), np.asarray(ends)[:-1].astype(np.int64)) if len(ends) else []


def _listed(texts: Any) -> list[str]:
    if isinstance(texts, str | bytes):
        raise InvalidArgument("one text was given, and not several", hint="put it into a list")
    return list(texts)
