"""Runs every test, Python and Rust; ends with the slowest tests and one line with the totals of both.

python -m tests.run [NAME]      NAME: only the tests whose name holds it

The tests that are left a core (marked ``alone``) mostly wait. Meanwhile the Rust tests are built and run, at the
lowest priority, so that they take what the others leave; what they print comes when they have ended.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from subprocess import PIPE, STDOUT
from typing import IO

ROOT = Path(__file__).parent.parent

SLOWEST = 20

# Most tests wait more than they compute: for a server, for a process, for a host to have rested.
WORKERS = (os.cpu_count() or 1) + 1

# A test that is marked so has a core to itself, beside what runs at the lowest priority.
WORKERS_ALONE = min(os.cpu_count() or 1, 2)

_ALONE = "pytest.mark.alone"


class Beside:
    """A command that runs beside others, at the lowest priority; its output is kept until it is asked for."""

    def __init__(self, command: list[str]) -> None:
        self._command = command
        self._output: IO[str] = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self._process = subprocess.Popen(
            ["nice", "-n", "19", *command], cwd=ROOT, stdout=self._output, stderr=STDOUT
        )

    def end(self) -> tuple[int, str]:
        """Waits for it, shows its output, and gives its exit code and the output."""
        code = self._process.wait()
        with self._output as file:
            file.seek(0)
            output = file.read()
        print("$", *self._command)
        sys.stdout.write(output)
        sys.stdout.flush()
        return code, output


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
    lines = output.splitlines()
    closing = [line for line in lines if "test result:" in line]
    closing = closing or [line for line in lines[-3:] if re.search(r"\bin \d+\.\d+s", line)]
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
    # A shell starts what is in its background with Ctrl-C ignored, and the commands of the tests would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Containers often set it. Every interpreter that a test starts would compile every module that it imports.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    name = sys.argv[1] if len(sys.argv) > 1 else None
    cargo = ["cargo", "test", "--package", "crivello-core", "--lib", "--quiet"]
    beside = Beside([*cargo, *([name] if name else [])])
    alone = [str(file) for file in sorted((ROOT / "tests").glob("test_*.py")) if _ALONE in file.read_text()]
    pytest = [
        sys.executable,
        "-m",
        "pytest",
        "-rs",
        f"--durations={SLOWEST}",
        *(["-k", name] if name else []),
    ]
    by_file = ["--dist=loadfile", "--no-loadscope-reorder"]
    alone_code, few_at_once = run(
        [*pytest, f"--numprocesses={WORKERS_ALONE}", *by_file, "-m", "alone", *alone]
    )
    together_code, at_once = run([*pytest, f"--numprocesses={WORKERS}", *by_file, "-m", "not alone"])
    rust_code, rust = beside.end()
    print(f"the {SLOWEST} slowest Python tests, in seconds:")
    for seconds, test in slowest(at_once + few_at_once)[:SLOWEST]:
        print(f"{seconds:8.1f}  {test}")
    counts = totals(rust) + totals(at_once) + totals(few_at_once)
    print(f"total: {counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    # 5: no Python test has that name.
    return 1 if rust_code or {together_code, alone_code} - {0, 5 if name else 0} else 0


if __name__ == "__main__":
    sys.exit(main())
