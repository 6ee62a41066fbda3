"""Fingerprints of texts in batches, on all threads; the same for every size of batch and number of threads."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from crivello import _core
from crivello.dedup.arguments import whole
from crivello.dedup.options import IGNORED, Options, Weights
from crivello.dedup.source import Text, comparable
from crivello.errors import InvalidArgument

if TYPE_CHECKING:
    from numpy.typing import NDArray


def simhash(
    texts: Iterable[Text],
    *,
    bits: int = 64,
    signals: str = "words",
    ngram: int | None = None,
    weights: str = "frequency",
) -> NDArray[np.uint64]:
    """The SimHash of each text; with 128 bits an array of two columns, the lower half first.

    The document frequencies of ``tf-idf`` are those of the texts themselves. With these weights the SimHashes are others than those that
    ``run`` compares, which keeps 32 bits of the hash of each n-gram.

        >>> simhash(["a b c d", "a b c e"])
    """
    given = comparable_texts(texts)
    options = Options(method="simhash", bits=bits, signals=signals, ngram=ngram, weights=weights)
    (unit, size), bits = options.shingle, options.hash_bits
    frequencies = None
    if options.weighing is Weights.TF_IDF:
        frequencies = _core.DocumentFrequencies(unit, size, options.most_memory)
        frequencies.add(given)
    hashes = np.asarray(_core.simhashes(given, unit, size, str(options.weighing), bits, frequencies))
    return hashes.reshape(-1, 2) if bits == 128 else hashes


def minhash(
    texts: Iterable[Text],
    *,
    bins: int = 128,
    signals: str = "words",
    ngram: int | None = None,
    bits: int = 32,
) -> NDArray[np.uint32]:
    """The MinHash sketch of each text: a row of ``bins`` numbers of ``bits`` bits.

    The share of equal numbers of two rows estimates the Jaccard similarity J of the texts; with few bits J + (1 - J) / 2^bits, since
    unequal numbers agree by chance.

        >>> one, other = minhash(["a b c d e f", "a b c d e g"])
        >>> (one == other).mean()
    """
    given = comparable_texts(texts)
    options = Options(method="minhash", bins=bins, signals=signals, ngram=ngram)
    columns = options.sketch_bins
    found = _core.minhashes(given, *options.shingle, columns, whole("bits", bits, 1, 32))
    return np.asarray(found).reshape(len(given), columns)


def fingerprints(
    texts: Iterable[Text],
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
    ends, found = _core.fingerprints(
        comparable_texts(texts), *options.shingle, options.modulus or 1, options.window or 1
    )
    return _split_at(found, ends)


def digest(texts: Iterable[Text], *, ignore: str | Iterable[str] = ()) -> NDArray[np.void]:
    """The digest of each text, 16 bytes; ``ignore`` leaves out markup, case, digits, dates or space before.

    >>> one, other = digest(["Page 1", "page 2"], ignore=["case", "digits"])
    >>> one == other
    """
    return digests(comparable_texts(texts), Options(method="exact", ignore=ignore))


def digests(texts: list[str], options: Options) -> NDArray[np.void]:
    """The digest of each text, without what the options ignore."""
    found = _core.digests(texts, **{name: name in (options.ignore or ()) for name in IGNORED})
    return np.frombuffer(found, dtype="V16")


def similarity(
    pairs: Iterable[tuple[Text, Text]],
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
    return np.asarray(
        _core.similarities(
            list(map(_comparable_pair, _listed(pairs))), *options.shingle, str(options.measured)
        )
    )


def _comparable_pair(pair: Iterable[Text]) -> tuple[str, str]:
    given = comparable_texts(pair)
    if len(given) != 2:
        raise InvalidArgument(f"a pair has two texts, and not {len(given)}")
    return given[0], given[1]


def _split_at(values: _core.Array, ends: _core.Array) -> list[NDArray[np.uint64]]:
    """The values of each text, given where they end."""
    return np.split(np.asarray(values), np.asarray(ends)[:-1].astype(np.int64)) if len(ends) else []


def comparable_texts(texts: Iterable[Any], *, empty: bool = False) -> list[str]:
    """Texts for the engine; with ``empty``, a missing value is one without content.

    Missing are ``None``, NaN, ``pandas.NA`` and nulls of pyarrow.
    """
    return [
        comparable(text if isinstance(text, str | bytes) else _text(text, empty)) for text in _listed(texts)
    ]


def _listed(given: Any) -> list[Any]:
    if isinstance(given, str | bytes):
        raise InvalidArgument("one text was given, and not several", hint="put it into a list")
    if hasattr(given, "to_pylist"):
        given = given.to_pylist()
    try:
        several = iter(given)
    except TypeError:
        raise InvalidArgument(
            f"{given!r} is no list of texts", hint="give a list of strings, or of bytes of UTF-8"
        ) from None
    return list(several)


def _text(given: Any, empty: bool) -> Text:
    """The text of a scalar of pyarrow, and of a missing value."""
    value = given.as_py() if hasattr(given, "as_py") else given
    if isinstance(value, str | bytes):
        return value
    if empty and _is_missing(value):
        return ""
    raise InvalidArgument(f"{value!r} is no text", hint="give strings, or bytes of UTF-8")


def _is_missing(value: object) -> bool:
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    pandas = sys.modules.get("pandas")
    return value is None or (pandas is not None and value is pandas.NA)
