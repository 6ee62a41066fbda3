"""crivello lab codes through the real command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from crivello import codes

CRIVELLO = Path(sys.executable).parent / "crivello"


def lab_codes(*arguments: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
    command = [str(CRIVELLO), "lab", "codes", *(str(word) for word in arguments)]
    done = subprocess.run(command, input=stdin, capture_output=True, timeout=100)
    result = subprocess.CompletedProcess(command, done.returncode, done.stdout.decode(), done.stderr.decode())
    assert "Traceback" not in result.stderr
    return result


def test_every_code_stands_beside_the_entropy(tmp_path: Path) -> None:
    numbers = np.random.default_rng(3).geometric(0.1, 3000)
    (tmp_path / "numbers.txt").write_text("\n".join(map(str, numbers)) + "\n\n")
    plot = tmp_path / "codes.png"
    done = lab_codes(tmp_path / "numbers.txt", "--json", "--plot", plot)
    assert done.returncode == 0
    outcome = json.loads(done.stdout)
    assert outcome["numbers"] == 3000 and outcome["largest"] == numbers.max()
    assert outcome["entropy"] == pytest.approx(codes.entropy(numbers))
    measured = {row["code"]: row["bits"] for row in outcome["measures"]}
    assert set(measured) == {"unary", f"minimal:{numbers.max() + 1}", *codes.names()}
    assert measured["delta"] == pytest.approx(8 * len(codes.encode("delta", numbers)) / 3000)
    assert list(measured.values()) == sorted(measured.values())
    assert plot.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("format", ["npy", "u32", "u64"])
def test_gaps_of_a_sorted_array_in_any_format(tmp_path: Path, format: str) -> None:
    numbers = np.cumsum(np.random.default_rng(4).integers(0, 50, 500))
    file = tmp_path / "numbers.bin"
    if format == "npy":
        with file.open("wb") as written:
            np.save(written, numbers)
        done = lab_codes(file, "--gaps", "--json")
    else:
        file.write_bytes(numbers.astype(f"<u{int(format[1:]) // 8}").tobytes())
        done = lab_codes("-", "--format", format, "--gaps", "--json", stdin=file.read_bytes())
    outcome = json.loads(done.stdout)
    assert (outcome["numbers"], outcome["largest"]) == (500, np.diff(numbers, prepend=0).max())


def test_a_table_for_people_and_what_is_refused() -> None:
    done = lab_codes("-", stdin=b"1\n99999999\n")
    assert done.returncode == 0
    assert "beside the entropy" in done.stdout and "elias-fano" in done.stdout
    assert "unary does not hold them" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "stdin", "said"),
    [
        (["-"], b"", "has no numbers"),
        (["-"], b"1\n2\nthree\n", "line 3 of standard input"),
        (["-"], b"-5\n", "line 1 of standard input"),
        (["-"], b"\xff\xfe\n", "line 1 of standard input"),
        (["-"], b"99999999999999999999\n", "line 1 of standard input"),
        (["-", "--gaps"], b"5\n3\n", "not sorted"),
        (["-", "--format", "u32"], b"12345", "no multiple of 4"),
        (["-", "--format", "npy"], b"junk", "not a NumPy array"),
        (["-"], b"\x93NUMPY\x01\x00broken", "not a NumPy array"),
        (["-", "--format", "csv"], b"1\n", "no format"),
        (["absent.txt"], b"", "absent.txt"),
        (["-", "--plot", "absent/folder.png"], b"1\n2\n", "absent/folder.png"),
        (["-", "--plot", "codes.nonsense"], b"1\n2\n", "codes.nonsense"),
    ],
)
def test_bad_input_gets_one_sentence(arguments: list[str], stdin: bytes, said: str) -> None:
    done = lab_codes(*arguments, stdin=stdin)
    assert done.returncode in (2, 3)
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 2
