"""crivello lab codes through the real command."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from crivello import codes
from crivello.errors import InvalidArgument
from crivello.lab.codes import read, study
from crivello.settings.fields.meta import CHOICES
from tests import shell


def lab_codes(*arguments: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
    done = shell.run("lab", "codes", *arguments, given=stdin)
    result = subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )
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
    fitted = {f"minimal:{numbers.max() + 1}", f"golomb-of:{numbers.sum() + 1}"}
    assert set(measured) == {"unary", "unary-ordered", *fitted, *codes.names()}
    assert measured["unary-ordered"] == measured["unary"]
    families = [
        {re.sub(r":?([KMN]|\d+)$", "", name) for name in names} for names in (measured, CHOICES["code"])
    ]
    assert families[0] == families[1]
    assert measured["delta"] == pytest.approx(8 * len(codes.encode("delta", numbers)) / 3000)
    assert list(measured.values()) == sorted(measured.values())
    assert plot.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(("numbers", "golomb", "minimal"), [([0], 1, 1), ([2**64 - 1, 5], *[2**64 - 1] * 2)])
def test_a_code_is_measured_or_refused(numbers: list[int], golomb: int, minimal: int) -> None:
    outcome = study(np.array(numbers, dtype=np.uint64))
    measured = {measure.code for measure in outcome.measures}
    expected = {"unary", "unary-ordered", *codes.names(), f"golomb-of:{golomb}", f"minimal:{minimal}"}
    assert measured | set(outcome.refused) == expected
    assert f"minimal:{minimal}" in outcome.refused


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
    assert f"golomb-of:{numbers[-1] + 1}" in [row["code"] for row in outcome["measures"]]


def test_a_table_for_people_and_what_is_refused() -> None:
    done = lab_codes("-", stdin=b"1\n99999999\n")
    assert done.returncode == 0
    assert "beside the entropy" in done.stdout and "elias-fano" in done.stdout
    assert "unary does not hold them" in done.stderr


@pytest.mark.parametrize(
    ("format", "data", "said"),
    [
        ("auto", b"", "has no numbers"),
        ("auto", b"1\n2\nthree\n", "line 3 of .* is not a whole number"),
        ("auto", b"-5\n", "line 1 of"),
        ("auto", b"\xff\xfe\n", "line 1 of"),
        ("auto", b"99999999999999999999\n", "line 1 of"),
        ("u32", b"12345", "no multiple of 4"),
        ("npy", b"junk", "not a NumPy array"),
        ("auto", b"\x93NUMPY\x01\x00broken", "not a NumPy array"),
        ("csv", b"1\n", "no format"),
    ],
)
def test_what_is_no_list_of_numbers_is_refused(tmp_path: Path, format: str, data: bytes, said: str) -> None:
    file = tmp_path / "numbers"
    file.write_bytes(data)
    with pytest.raises(InvalidArgument, match=said):
        read(str(file), format)


@pytest.mark.parametrize("array", [np.array([1.5]), np.array([-1]), np.array(["a"])])
def test_an_array_of_other_things_is_refused(tmp_path: Path, array: np.ndarray) -> None:
    np.save(tmp_path / "numbers.npy", array)
    with pytest.raises(InvalidArgument, match="other things"):
        read(str(tmp_path / "numbers.npy"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-", "--gaps"], "not sorted"),
        (["absent.txt"], "absent.txt"),
        (["-", "--plot", "absent/folder.png"], "absent/folder.png"),
        (["-", "--plot", "codes.nonsense"], "codes.nonsense"),
    ],
)
def test_bad_input_gets_one_sentence(arguments: list[str], said: str) -> None:
    done = lab_codes(*arguments, stdin=b"5\n3\n")
    assert done.returncode in (2, 3)
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 2
