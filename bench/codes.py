"""Decoding lists of integers as they occur in an index, compared with the target of each code and with
dsi-bitstream.

All of it is native and single-threaded: ``crates/core/benches/codes.rs`` generates the lists and measures
both, alternating between them. The sizes of the smallest code are compared with plain blocks of 128.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

from bench import Measurement

ROOT = Path(__file__).parent.parent
ASKED = {"simd128": 1e9, "simd256": 1e9, "pfor128": 0.7e9, "pfor256": 0.7e9, "ans": 0.1e9}
SLOWER = 1.3


def measure() -> Iterator[Measurement]:
    command = ["cargo", "bench", "--quiet", "-p", "crivello-core", "--bench", "codes"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    for row in rows:
        code, what = row["code"], f"{row['code']}, {row['kind']}"
        if code in ASKED:
            rate = 1e9 / row["decode"]
            yield Measurement(f"decode {what}", rate, "asked", ASKED[code], "numbers/s", 1)
        elif row["peer"] is not None:
            yield Measurement(
                f"decode {what}", row["decode"], "dsi-bitstream", row["peer"], "ns", SLOWER, True
            )
    plain = {row["kind"]: row["bits"] for row in rows if row["code"] == "simd128"}
    for row in rows:
        if row["code"] in ("ans", "pfor128"):
            kind = row["kind"]
            yield Measurement(
                f"size of {row['code']}, {kind}", row["bits"], "simd128", plain[kind], "bits", 1, True
            )
