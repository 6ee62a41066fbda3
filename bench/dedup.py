"""Near-duplicates: MinHash and SimHash compared with their peers from raw text to result, search among SimHashes, and every
method on real pages.

``CRIVELLO_BENCH_DEDUP`` names the parts that are measured, with commas between them: minhash, simhash, hamming, pages, crawl,
growth (default all; hamming and growth need no sites). The last two are parts of their own, too: dedup_crawl, dedup_growth.
``CRIVELLO_BENCH_DOCUMENTS`` is the number of documents with planted copies (default 50,000). The slowest peers get the
first ones of them: their rates per document do not fall with the size.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
import numpy as np

from bench import Measurement, _hamming, _text_dedup, dedup_crawl, dedup_growth, seconds
from bench._dedup_corpus import Planted, guides, planted
from bench._dedup_peers import BINS, PIPELINES, SIZE, THRESHOLD
from bench._pages import sites
from crivello import _core
from crivello.lab.near import METHODS, SHARES
from crivello.lab.near.study import search

DOCUMENTS = int(os.environ.get("CRIVELLO_BENCH_DOCUMENTS", "50000"))
FASTEST = "rensa, rho on words"
TURNS = 3
# The part of the documents that the slowest get.
SLOW = {"datasketch": 5, "text-dedup": 10}
ASKED = {"rensa": 2.0, "datasketch": 20.0}
SIMHASHED = 1000
SAMPLED = 20_000
CONFIRMED = 0.9


@dataclass(frozen=True)
class Run:
    """What a pipeline did with a number of documents."""

    documents: int
    seconds: float
    bytes: int
    flagged: set[int]

    def recall(self, corpus: Planted, share: float) -> float:
        first = len(corpus.texts) - len(corpus.copies)
        copies = [
            copy for copy in corpus.copies if copy.share == share and self.documents == len(corpus.texts)
        ]
        found = [copy for copy in copies if {copy.original, first + copy.original} & self.flagged]
        return len(found) / max(1, len(copies))

    def precision(self, corpus: Planted) -> float:
        first = len(corpus.texts) - len(corpus.copies)
        right = {place for copy in corpus.copies for place in (copy.original, first + copy.original)}
        return len(self.flagged & right) / max(1, len(self.flagged))


def measure() -> Iterator[Measurement]:
    parts = {
        "hamming": _hamming.measure,
        "minhash": minhash,
        "command": command,
        "simhash": simhash,
        "pages": real_pages,
        "crawl": dedup_crawl.measure,
        "growth": dedup_growth.measure,
    }
    wanted = [name for name in os.environ.get("CRIVELLO_BENCH_DEDUP", "").split(",") if name] or list(parts)
    if unknown := [name for name in wanted if name not in parts]:
        sys.exit(f"dedup: no such part: {', '.join(unknown)} (there are: {', '.join(parts)})")
    for name in wanted:
        if name not in ("hamming", "crawl", "growth") and not sites().is_dir():
            print(
                f"dedup: there are no sites in {sites()}: name them in CRIVELLO_BENCH_SITES", file=sys.stderr
            )
            return
        yield from parts[name]()


def minhash() -> Iterator[Measurement]:
    corpus = planted(DOCUMENTS)
    with tempfile.NamedTemporaryFile() as file:
        # Once, and durable: what is still to be written slows down whoever writes.
        file.write(msgspec.msgpack.encode(corpus.texts))
        file.flush()
        os.fsync(file.fileno())
        yield from compared(corpus, file.name)


def compared(corpus: Planted, file: str) -> Iterator[Measurement]:
    """Ours and the fastest peer in turns, the best of three each; the others once. text-dedup has a process for each core."""
    turns = [[run(name, file, DOCUMENTS) for name in ("crivello", FASTEST)] for _ in range(TURNS)]
    ours, fastest = (min(runs, key=lambda one: one.seconds) for runs in zip(*turns, strict=True))
    what = f"MinHash, {DOCUMENTS:,} documents"
    for share in SHARES:
        asked = 1.0 if share <= 0.05 else None
        name = f"{what}: recall of {share:.0%} edits"
        yield Measurement(name, ours.recall(corpus, share), "asked", 0.98, "share", asked)
    yield Measurement(f"{what}: precision", ours.precision(corpus), "asked", 0.99, "share", 1.0)
    for name in PIPELINES:
        if name == "crivello":
            continue
        theirs = fastest if name == FASTEST else run(name, file, DOCUMENTS // SLOW.get(name, 1))
        rate = theirs.documents / theirs.seconds
        asked = ASKED.get(name.split(",")[0])
        yield Measurement(what, ours.documents / ours.seconds, name, rate, "documents/s", asked)
        ratio = (ours.bytes / ours.documents, theirs.bytes / theirs.documents)
        yield Measurement(f"{what}: peak memory", ratio[0], name, ratio[1], "bytes/document", None, True)
        if name not in SLOW:
            for share in SHARES[:2]:
                recall = theirs.recall(corpus, share)
                what_recall = f"{what}: recall of {share:.0%} edits"
                yield Measurement(what_recall, ours.recall(corpus, share), name, recall, "share")
            precision = theirs.precision(corpus)
            yield Measurement(f"{what}: precision", ours.precision(corpus), name, precision, "share")
    few = corpus.texts[: DOCUMENTS // SLOW["text-dedup"]]
    theirs_rate = len(few) / _text_dedup.seconds(few, THRESHOLD, SIZE, BINS)
    yield Measurement(what, ours.documents / ours.seconds, "text-dedup", theirs_rate, "documents/s")


def run(name: str, file: str, count: int) -> Run:
    command = [sys.executable, "-m", "bench._dedup_peers", name, file, str(count)]
    done = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return Run(count, done["seconds"], done["bytes"], set(done["flagged"]))


def command() -> Iterator[Measurement]:
    """The command from JSON lines to clean JSON lines, with the memory above that for an empty corpus."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "in.jsonl")
        source.touch()
        _, idle = resources(source, Path(folder, "none.jsonl"))
        with source.open("wb") as lines:
            encode = msgspec.json.Encoder().encode
            for number, text in enumerate(planted(DOCUMENTS).texts):
                lines.write(encode({"id": number, "text": text}) + b"\n")
        processor, peak = resources(source, Path(folder, "clean.jsonl"))
    what = f"crivello dedup, {DOCUMENTS:,} documents"
    yield Measurement(f"{what}: processor time", 1e6 * processor / DOCUMENTS, "", 0, "µs/document")
    least = (peak - idle) / DOCUMENTS
    # A batch and the least budget do not grow with the corpus.
    asked = 1.0 if DOCUMENTS >= 1_000_000 else None
    yield Measurement(f"{what}: peak memory", least, "asked", 100, "bytes/document", asked, True)


def resources(source: Path, out: Path) -> tuple[float, int]:
    """The processor time in seconds and the peak memory in bytes of the command, which reports the latter itself: that of
    ``wait4`` is at least the memory of this process."""
    script = (
        "import re, sys; from crivello.cli import main\n"
        "try: main()\n"
        "finally: print(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1], file=sys.stderr)"
    )
    arguments = [sys.executable, "-c", script, "dedup", str(source), "--out", str(out), "--json"]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=said)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        lines = said.read().split()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, arguments)
    return used.ru_utime + used.ru_stime, int(lines[-1]) * 1024


def simhash() -> Iterator[Measurement]:
    from simhash import Simhash

    # The package fails with an overflow where a shingle occurs more than 255 times.
    texts = [text for text in planted(2 * SIMHASHED, seed=2).texts if len(text.split()) < 500][:SIMHASHED]

    def hashed(batch: int) -> list[int]:
        batches = [texts[start : start + batch] for start in range(0, len(texts), batch)]
        parts = [np.asarray(_core.simhashes(part, "character", 4, "frequency", 64)) for part in batches]
        return [int(one) for part in parts for one in part]

    ours = len(texts) / seconds(lambda: hashed(len(texts)))
    few = texts[: len(texts) // 10]
    theirs = len(few) / seconds(lambda: [Simhash(text).value for text in few], times=1)
    what = "SimHash, four characters by frequency"
    yield Measurement(what, ours, "simhash", theirs, "documents/s", 50)
    expected = hashed(len(texts))
    other = sum(hashed(batch) != expected for batch in (1, 7, 100))
    script = (
        "import sys, msgspec, numpy; from crivello import _core; "
        "texts = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=list[str]); "
        "print(numpy.asarray(_core.simhashes(texts, 'character', 4, 'frequency', 64)).tolist())"
    )
    for threads in ("1", "3"):
        environment = {**os.environ, "RAYON_NUM_THREADS": threads}
        command = [sys.executable, "-c", script]
        told = subprocess.run(
            command, input=msgspec.msgpack.encode(texts), check=True, stdout=subprocess.PIPE, env=environment
        ).stdout
        other += json.loads(told) != expected
    yield Measurement(
        "SimHash: runs of other batches or threads with other bits", other, "of", 5, "runs", 0, True
    )


def real_pages() -> Iterator[Measurement]:
    """Each method with each threshold. A found pair is right if it is one of the guides, or if the pages share more
    than 90 % of their words: sites have near-duplicates of their own. Of many pairs a sample is judged."""
    corpus = guides()
    random = np.random.default_rng(1)
    for method in METHODS:
        within = tuple(
            threshold for threshold in method.thresholds if method.family != "simhash" or threshold <= 7
        )
        within = tuple(threshold for threshold in within if method.family == "simhash" or threshold >= 0.5)
        method = replace(method, thresholds=within)
        for threshold in method.searched():
            done = search(corpus.texts, method, threshold, 256 << 20)
            for cut in method.thresholds if not method.sketch_depends else (threshold,):
                found = done.pairs(method, cut)
                right = len(found & corpus.pairs)
                rest = sorted(found - corpus.pairs)
                judged = [rest[place] for place in random.permutation(len(rest))[:SAMPLED]]
                texts = [(corpus.texts[one], corpus.texts[other]) for one, other in judged]
                words = np.asarray(_core.similarities(texts, "word", 1, "jaccard"))
                confirmed = float((words > CONFIRMED).mean()) if judged else 0.0
                precision = (right + confirmed * len(rest)) / max(1, len(found))
                recall = right / len(corpus.pairs)
                f1 = 2 * precision * recall / max(1e-9, precision + recall)
                name = (
                    f"guides, {method.family}, {method.name}, {cut:g}: F1 of P {precision:.3f} R {recall:.3f}"
                )
                yield Measurement(name, f1, "right", 1.0, "F1")
    yield Measurement("guides: pairs", len(corpus.pairs), "pages", len(corpus.texts), "pairs")
