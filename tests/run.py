"""Runs every test, Python and Rust; ends with the slowest tests and one line with the totals of both.

python -m tests.run [NAME]      NAME: only the tests whose name holds it
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from subprocess import PIPE, STDOUT

ROOT = Path(__file__).parent.parent

SLOWEST = 20

# Most tests wait more than they compute: for a server, for a process, for a host to have rested.
WORKERS = (os.cpu_count() or 1) + 1

_ALONE = "pytest.mark.alone"


def run(command: list[str]) -> tuple[int, str]:
    """Runs a command, shows its output as it comes, and gives its exit code and the output."""
    print("$", *command, flush=True)
    process = subprocess.Popen(command, cwd=ROOT, stdout=PIPE, stderr=STDOUT, text=True)
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        sys.stdout.write(line)
        sys.stdout.flush()
        lines.append(line)
    return process.wait(), "".join(lines)


def totals(output: str) -> Counter[str]:
    """The tests that passed, failed and were skipped, from the closing lines of cargo test and pytest."""
    counts: Counter[str] = Counter()
    closing = [line for line in output.splitlines() if "test result:" in line]
    closing += [line for line in output.splitlines()[-3:] if re.search(r"\bin \d+\.\d+s", line)]
    for line in closing:
        for number, word in re.findall(r"(\d+) (passed|failed|errors?|skipped|ignored)", line):
            counts[{"error": "failed", "errors": "failed", "ignored": "skipped"}.get(word, word)] += int(
                number
            )
    return counts


def slowest(output: str) -> list[tuple[float, str]]:
    """Each test's seconds and name, from pytest's list of durations."""
    found = re.findall(r"^ *(\d+\.\d+)s (?:call|setup|teardown) +(\S+)", output, re.MULTILINE)
    return sorted(((float(seconds), test) for seconds, test in found), reverse=True)


def main() -> int:
    name = sys.argv[1] if len(sys.argv) > 1 else None
    cargo = ["cargo", "test", "--package", "crivello-core", "--lib", "--quiet"]
    rust_code, rust = run([*cargo, *([name] if name else [])])
    alone = [str(file) for file in sorted((ROOT / "tests").glob("test_*.py")) if _ALONE in file.read_text()]
    pytest = [
        sys.executable,
        "-m",
        "pytest",
        "-rs",
        f"--durations={SLOWEST}",
        *(["-k", name] if name else []),
    ]
    workers = [f"--numprocesses={WORKERS}", "--dist=loadfile", "--no-loadscope-reorder"]
    together_code, at_once = run([*pytest, *workers, "-m", "not alone"])
    alone_code, one_by_one = run([*pytest, "-m", "alone", *alone])
    print(f"the {SLOWEST} slowest Python tests, in seconds:")
    for seconds, test in slowest(at_once + one_by_one)[:SLOWEST]:
        print(f"{seconds:8.1f}  {test}")
    counts = totals(rust) + totals(at_once) + totals(one_by_one)
    print(f"total: {counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    # 5: no Python test has that name.
    return 1 if rust_code or {together_code, alone_code} - {0, 5 if name else 0} else 0


if __name__ == "__main__":
    sys.exit(main())
