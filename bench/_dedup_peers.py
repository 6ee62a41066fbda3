"""Pipelines that find the near-duplicates of a list of texts, each run in a process of its own.

    python -m bench._dedup_peers NAME CORPUS COUNT      the first texts of a list in MessagePack

prints as JSON the seconds from the texts to the result (n-grams of words are made within), the rise of the peak memory
over that with the texts loaded, and the numbers of the flagged documents.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np

from crivello import _core

THRESHOLD = 0.7
SIZE = 3
BINS = 128
BATCH = 10_000
MEMORY = 56 << 20

_WORD = re.compile(r"\w+")


def crivello(texts: list[str]) -> list[int]:
    options = {
        "method": "minhash",
        "bins": BINS,
        "recall": 0.99,
        "unit": "word",
        "size": SIZE,
        "threshold": THRESHOLD,
        "measure": "jaccard",
        "linkage": "leader",
    }
    with tempfile.TemporaryDirectory() as folder:
        discovery = _core.Discovery(folder, msgspec.msgpack.encode(options), MEMORY, 0)
        for start in range(0, len(texts), BATCH):
            discovery.add(texts[start : start + BATCH])
        discovery.find()
        leaders = np.asarray(discovery.leaders())
        return [int(place) for place in np.flatnonzero(leaders != np.arange(len(leaders)))]


def rensa_rho(texts: list[str]) -> list[int]:
    """The fastest pipeline of rensa, on n-grams."""
    return _rensa(texts, _ngrams)


def rensa_words(texts: list[str]) -> list[int]:
    """The fastest pipeline of rensa as it is documented: its tokens are words, and order has no effect."""
    return _rensa(texts, str.split)


def _rensa(texts: list[str], tokens_of: Callable[[str], list[str]]) -> list[int]:
    from rensa import RMinHash, RMinHashLSH

    # One by one: the n-grams of a million documents do not fit into memory.
    tokens = (tokens_of(text) for text in texts)
    matrix = RMinHash.digest_matrix_from_token_sets_rho(tokens, BINS, 42)
    lsh = RMinHashLSH(THRESHOLD, BINS, _bands())
    flags = lsh.query_duplicate_flags_matrix_one_shot(matrix)
    return [place for place, flag in enumerate(flags) if flag]


def rensa_verified(texts: list[str]) -> list[int]:
    """rensa with all tokens and with verification by the sketches."""
    from rensa import RMinHashDeduplicator

    deduplicator = RMinHashDeduplicator(threshold=THRESHOLD, num_perm=BINS, use_lsh=True)
    keep = deduplicator.add_pairs((str(place), _ngrams(text)) for place, text in enumerate(texts))
    return [place for place, kept in enumerate(keep) if not kept]


def datasketch(texts: list[str]) -> list[int]:
    from datasketch import MinHash, MinHashLSH

    lsh = MinHashLSH(threshold=THRESHOLD, num_perm=BINS)
    flagged = []
    ngrams = ([ngram.encode() for ngram in _ngrams(text)] for text in texts)
    for place, sketch in enumerate(MinHash.generator(ngrams, num_perm=BINS)):
        if lsh.query(sketch):
            flagged.append(place)
        else:
            lsh.insert(place, sketch)
    return flagged


def _ngrams(text: str) -> list[str]:
    words = _WORD.findall(text.lower())
    return [" ".join(words[start : start + SIZE]) for start in range(max(1, len(words) - SIZE + 1))]


def _bands() -> int:
    """The bands that divide the sketch and find a pair at the threshold with a probability of 0.99 or more."""
    rows = [rows for rows in (1, 2, 4, 8, 16) if 1 - (1 - THRESHOLD**rows) ** (BINS // rows) >= 0.99]
    return BINS // max(rows)


PIPELINES: dict[str, Callable[[list[str]], list[int]]] = {
    "crivello": crivello,
    "rensa, rho on words": rensa_words,
    "rensa, rho on triples": rensa_rho,
    "rensa, verified": rensa_verified,
    "datasketch": datasketch,
}


def _resident() -> dict[str, int]:
    """The fields of the process's memory in bytes; VmHWM is the peak since it was reset."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines if line.startswith("Vm")}


def main() -> None:
    name, corpus, count = sys.argv[1:]
    texts = msgspec.msgpack.decode(Path(corpus).read_bytes(), type=list[str])[: int(count)]
    # Imports and tables that are made once are outside the clock.
    PIPELINES[name](texts[:10])
    Path("/proc/self/clear_refs").write_text("5")
    before = _resident()["VmRSS"]
    started = time.perf_counter()
    flagged = PIPELINES[name](texts)
    seconds = time.perf_counter() - started
    print(json.dumps({"seconds": seconds, "bytes": _resident()["VmHWM"] - before, "flagged": flagged}))


if __name__ == "__main__":
    main()
