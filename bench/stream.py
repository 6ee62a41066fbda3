"""Lines through a pipe, from standard input to standard output, compared with awk and a Python set.

Both peers are exact and store every line: their memory grows with the stream, ours does not. The target of 1
M lines per second is listed as a peer.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench import Measurement, seconds

LINES = 3_000_000
ASKED = 1_000_000
CRIVELLO = Path(sys.executable).parent / "crivello"
PYTHON_SET = "import sys; seen = set(); w = sys.stdout.buffer.write\nfor l in sys.stdin.buffer:\n if l not in seen: seen.add(l); w(l)"


def measure() -> Iterator[Measurement]:
    source = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "urls.txt")
        with file.open("w") as urls:
            for _ in range(LINES):
                key = source.randrange(LINES * 2 // 3)
                urls.write(f"https://www.host{key % 5000}.example/path/{key % 97}/page-{key}.html\n")

        def speed(*command: str | Path, times: int = 1) -> float:
            def run() -> None:
                with subprocess.Popen(["cat", file], stdout=subprocess.PIPE) as feeder:
                    subprocess.run(
                        command,
                        stdin=feeder.stdout,
                        stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL,
                        check=True,
                    )

            return LINES / seconds(run, times)

        awk = speed("awk", "!seen[$0]++")
        python = speed(sys.executable, "-c", PYTHON_SET)
        for filter in ("stable", "bloom", "exact"):
            ours = speed(CRIVELLO, "stream", "--filter", filter, times=2)
            yield Measurement(f"drop duplicates, {filter}", ours, "asked", ASKED, "lines/s", asked=1)
            yield Measurement(f"drop duplicates, {filter}", ours, "awk '!seen[$0]++'", awk, "lines/s")
            yield Measurement(f"drop duplicates, {filter}", ours, "a set in Python", python, "lines/s")
