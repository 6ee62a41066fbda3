"""Codes from Python, against slow models that build the words bit by bit from their definitions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crivello import codes
from crivello.errors import InvalidArgument

LARGEST = 2**64 - 2
numbers_of_any_size = st.integers(0, 64).flatmap(lambda bits: st.integers(0, min(2**bits, LARGEST)))
lists = st.lists(numbers_of_any_size, max_size=300)
WORDS = [
    "unary",
    "unary-ordered",
    "gamma",
    "delta",
    "zeta1",
    "zeta2",
    "zeta3",
    "zeta7",
    "omega",
    "golomb:1",
    "golomb:3",
    "golomb:13",
]
WORDS += ["rice:0", "rice:4", "minimal:1000", "nibble", "byte", "nibble-prefix", "byte-prefix"]


def unary(n: int) -> str:
    return "0" * n + "1"


def reduced(n: int) -> str:
    return bin(n + 1)[3:]


def minimal(n: int, bound: int) -> str:
    s = (bound - 1).bit_length()
    if n < 2**s - bound:
        return format(n, f"0{s - 1}b") if s > 1 else ""
    return format(n - bound + 2**s, f"0{s}b") if s else ""


def gamma(n: int) -> str:
    return unary(len(reduced(n))) + reduced(n)


def delta(n: int) -> str:
    return gamma(len(reduced(n))) + reduced(n)


def omega(n: int) -> str:
    word, block = "0", n + 1
    while block > 1:
        word = bin(block)[2:] + word
        block = block.bit_length() - 1
    return word


def zeta(k: int) -> Callable[[int], str]:
    def word(n: int) -> str:
        h = ((n + 1).bit_length() - 1) // k
        return unary(h) + minimal(n + 1 - 2 ** (h * k), 2 ** ((h + 1) * k) - 2 ** (h * k))

    return word


def golomb(modulus: int) -> Callable[[int], str]:
    return lambda n: unary(n // modulus) + minimal(n % modulus, modulus)


def blocks(n: int, block: int) -> list[str]:
    payload = block - 1
    count = max(1, math.ceil(n.bit_length() / payload))
    bits = format(n, f"0{count * payload}b")
    return [bits[at : at + payload] for at in range(0, len(bits), payload)]


def continued(block: int) -> Callable[[int], str]:
    def word(n: int) -> str:
        pieces = blocks(n, block)
        return "".join(
            ("1" if place < len(pieces) - 1 else "0") + piece for place, piece in enumerate(pieces)
        )

    return word


def prefixed(block: int) -> Callable[[int], str]:
    def word(n: int) -> str:
        pieces = blocks(n, block)
        return "1" * (len(pieces) - 1) + "0" + "".join(pieces)

    return word


MODELS: dict[str, Callable[[int], str]] = {
    "unary": unary,
    "unary-ordered": lambda n: "1" * n + "0",
    "gamma": gamma,
    "delta": delta,
    "omega": omega,
    "zeta1": gamma,
    "zeta2": zeta(2),
    "zeta3": zeta(3),
    "zeta7": zeta(7),
    "golomb:1": unary,
    "golomb:3": golomb(3),
    "golomb:13": golomb(13),
    "rice:0": unary,
    "rice:4": golomb(16),
    "minimal:1000": lambda n: minimal(n, 1000),
    "nibble": continued(4),
    "byte": continued(8),
    "nibble-prefix": prefixed(4),
    "byte-prefix": prefixed(8),
}


@pytest.mark.parametrize("code", WORDS)
def test_the_first_words_are_those_of_the_definition(code: str) -> None:
    assert codes.words(code, 300) == [MODELS[code](n) for n in range(300)]


def test_ordered_unary_words_are_in_the_order_of_their_numbers() -> None:
    ordered = codes.words("unary-ordered", 200)
    assert ordered == sorted(ordered)
    assert codes.words("unary", 200) != sorted(codes.words("unary", 200))


@pytest.mark.parametrize(("kept", "of"), [(1, 10), (50, 1000), (700, 1000), (1000, 1000), (3, 10**9)])
def test_golomb_of_has_the_modulus_of_its_share(kept: int, of: int) -> None:
    """The notes' formula, with p = f/N; nothing but the codewords is written."""
    gaps = [of // kept - 1] * kept
    p = kept / of
    modulus = 1 if p == 1 else math.ceil(-math.log(2 - p) / math.log1p(-p))
    assert codes.encode(f"golomb-of:{of}", gaps) == codes.encode(f"golomb:{modulus}", gaps)
    assert codes.decode(f"golomb-of:{of}", codes.encode(f"golomb-of:{of}", gaps), kept).tolist() == gaps


@pytest.mark.parametrize("code", ["gamma", "delta", "omega", "zeta2", "zeta3", "zeta7", "byte", "nibble"])
@settings(max_examples=20, deadline=None)
@given(numbers=st.lists(numbers_of_any_size, max_size=20))
@example(numbers=[0, LARGEST])
def test_lengths_are_those_of_the_words(code: str, numbers: list[int]) -> None:
    # The last interval of zeta ends at 2^64 and not at a power of 2^k, so its words may be a bit shorter.
    ends = 2**64 if not code.startswith("zeta") else 2 ** (63 // int(code[4:]) * int(code[4:])) - 1
    numbers = [n for n in numbers if n < ends]
    assert codes.lengths(code, numbers).tolist() == [len(MODELS[code](n)) for n in numbers]
    expected = math.ceil(sum(len(MODELS[code](n)) for n in numbers) / 8)
    assert len(codes.encode(code, numbers)) == expected


@pytest.mark.parametrize("code", codes.names())
@settings(max_examples=20, deadline=None)
@given(numbers=lists)
@example(numbers=[])
@example(numbers=[0])
@example(numbers=[LARGEST])
@example(numbers=[7] * 1000)
@example(numbers=[0] * 5000 + [2**40])
@example(numbers=list(range(3000)))
def test_numbers_come_back(code: str, numbers: list[int]) -> None:
    if code == "elias-fano" and sum(numbers) >= 2**64:
        with pytest.raises(InvalidArgument, match="sum"):
            codes.encode(code, numbers)
        return
    decoded = codes.decode(code, codes.encode(code, numbers), len(numbers))
    assert decoded.dtype == np.uint64
    assert decoded.tolist() == numbers


@pytest.mark.parametrize("code", [*codes.names(), *WORDS])
@settings(max_examples=15, deadline=None)
@given(data=st.binary(max_size=200), n=st.integers(0, 2**63 - 1) | st.integers(0, 300))
def test_any_bytes_give_numbers_or_are_refused(code: str, data: bytes, n: int) -> None:
    try:
        assert len(codes.decode(code, data, n)) == n
    except InvalidArgument as error:
        assert "do not hold" in str(error)


@settings(max_examples=60, deadline=None)
@given(lengths=st.lists(st.integers(0, 10), max_size=40))
def test_canonical_codes_are_instantaneous_where_kraft_allows(lengths: list[int]) -> None:
    if sum(2**-length for length in lengths) > 1:
        with pytest.raises(InvalidArgument, match="more than 1"):
            codes.canonical(lengths)
        return
    made = codes.canonical(lengths)
    assert [len(word) for word in made] == lengths
    ordered = sorted(made)
    assert not any(after.startswith(before) for before, after in pairwise(ordered))


def test_canonical_is_the_usual_one() -> None:
    assert codes.canonical([2, 1, 3, 3]) == ["10", "0", "110", "111"]
    assert codes.canonical([]) == []
    assert codes.canonical([0]) == [""]
    assert len(codes.canonical([5000, 1])[0]) == 5000
    with pytest.raises(InvalidArgument, match="characters"):
        codes.canonical([1, 2**60])


def test_kraft_and_intended_agree() -> None:
    for code in WORDS:
        sum_of_all = codes.kraft(code, 900)
        assert 0 < sum_of_all <= 1
        assert sum_of_all == pytest.approx(sum(2.0 ** -len(MODELS[code](n)) for n in range(900)))
        intended = codes.intended(code, np.arange(900))
        total = {"nibble": 15 / 16, "byte": 255 / 256}.get(code.removesuffix("-prefix"), 1.0)
        assert intended.sum() * total == pytest.approx(sum_of_all)
    assert codes.kraft("minimal:1000", 10**9) == 1
    assert codes.intended("minimal:1000", [999, 1000]).tolist() == [2.0**-10, 0.0]


@settings(max_examples=60, deadline=None)
@given(numbers=st.lists(st.integers(0, 9), min_size=1, max_size=200))
def test_entropy(numbers: list[int]) -> None:
    shares = [count / len(numbers) for count in Counter(numbers).values()]
    assert codes.entropy(numbers) == pytest.approx(-sum(p * math.log2(p) for p in shares), abs=1e-9)


def test_the_golomb_modulus_is_the_best_of_all() -> None:
    for p in (0.5, 0.3, 0.1, 0.02):
        probabilities = p * (1 - p) ** np.arange(3000)
        cost = {
            m: float((codes.lengths(f"golomb:{m}", np.arange(3000)) * probabilities).sum())
            for m in range(1, 60)
        }
        assert cost[codes.golomb_modulus(p)] == pytest.approx(min(cost.values()))
    for p in (0, -1, 2, math.nan):
        with pytest.raises(InvalidArgument):
            codes.golomb_modulus(p)


@pytest.mark.parametrize(
    ("code", "numbers"),
    [
        ("unary", [2**16]),
        ("golomb:2", [2**20]),
        ("rice:3", [2**40]),
        ("minimal:1000", [1000]),
        ("gamma", [2**64 - 1]),
        ("elias-fano", [2**63, 2**63]),
    ],
)
def test_what_a_code_cannot_hold_is_refused(code: str, numbers: list[int]) -> None:
    with pytest.raises(InvalidArgument):
        codes.encode(code, numbers)


@pytest.mark.parametrize(
    "code", ["", "huffman", "minimal:1", "golomb:0", "zeta0", "zeta64", "rice:64", "golomb:x"]
)
def test_what_is_no_code_is_refused(code: str) -> None:
    for ask in (lambda: codes.encode(code, [1]), lambda: codes.kraft(code, 5), lambda: codes.words(code, 5)):
        with pytest.raises(InvalidArgument):
            ask()


@pytest.mark.parametrize("code", ["golomb", "rice", "ans", "pfor128", "simd256", "elias-fano"])
def test_codes_of_lists_have_no_lone_words(code: str) -> None:
    with pytest.raises(InvalidArgument, match="no word for a lone number"):
        codes.lengths(code, [1])


@pytest.mark.parametrize("numbers", [[-1], [1.5], ["a"], [[1, 2]], [2**64], [None], np.array([-3])])
def test_what_is_not_natural_is_refused(numbers: list[int]) -> None:
    with pytest.raises(InvalidArgument, match="numbers must be"):
        codes.encode("gamma", numbers)


def test_counts_out_of_range_are_refused() -> None:
    for n in (-1, 2**63):
        with pytest.raises(InvalidArgument):
            codes.decode("gamma", b"", n)


def test_ans_comes_near_the_entropy() -> None:
    numbers = np.random.default_rng(1).geometric(0.05, 200_000) - 1
    bits = 8 * len(codes.encode("ans", numbers)) / len(numbers)
    assert bits < codes.entropy(numbers) * 1.02


def test_measure_says_what_encoding_takes() -> None:
    numbers = np.arange(1000) % 17
    for code in ("delta", "ans", "simd128"):
        measured = codes.measure(code, numbers)
        assert measured.bits == 8 * len(codes.encode(code, numbers)) / 1000
        assert measured.encode > 0 and measured.decode > 0
    with pytest.raises(InvalidArgument, match="no numbers"):
        codes.measure("delta", [])


@settings(max_examples=60, deadline=None)
@given(
    weights=st.lists(st.integers(1, 9), min_size=1, max_size=8),
    symbols=st.lists(st.integers(0, 7), max_size=50),
    x=st.integers(0, 2**80),
)
def test_popping_undoes_pushing(weights: list[int], symbols: list[int], x: int) -> None:
    frequencies = [*weights, 128 - sum(weights)]
    numerals = codes.AsymmetricNumerals(frequencies)
    symbols = [symbol % len(frequencies) for symbol in symbols]
    pushed = x
    for symbol in symbols:
        before, pushed = pushed, numerals.push(pushed, symbol)
        assert pushed >= before and numerals.sym(pushed) == symbol
    for symbol in reversed(symbols):
        pushed, popped = numerals.pop(pushed)
        assert popped == symbol
    assert pushed == x


def test_numerals_are_those_of_the_notes() -> None:
    numerals = codes.AsymmetricNumerals([922, 34, 68])
    assert (numerals.d, numerals.starts) == (10, [0, 922, 956, 1024])
    assert numerals.push(5, 1) == 922 + 5
    assert numerals.push(927, 0) == 1024 + 5
    assert numerals.pop(1029) == (927, 0)
    for frequencies in ([], [3], [-1, 5], [0, 0]):
        with pytest.raises(InvalidArgument):
            codes.AsymmetricNumerals(frequencies)
    with pytest.raises(InvalidArgument):
        numerals.push(1, 3)
