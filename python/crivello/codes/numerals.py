"""Asymmetric numeral systems (ANS) as on paper: an entire message is one integer of any size.

Symbol s has f_s of the 2^d slots, from c_s on, and so a probability of f_s / 2^d. Pushing it onto a number
multiplies the number by about 2^d / f_s; popping is the exact inverse:

    push(x, s) = (x div f_s) 2^d + c_s + x mod f_s
    sym(x)     = the s with c_s <= x mod 2^d < c_{s+1}
    pop(x)     = (x div 2^d) f_s + x mod 2^d - c_s,  s

The code ``ans`` does the same with a state of twelve bits, which it keeps small by writing its low bits.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from crivello.errors import InvalidArgument


class AsymmetricNumerals:
    """A numeral system whose digits 0, 1, 2 … have given frequencies, which add up to 2^d."""

    def __init__(self, frequencies: Sequence[int]) -> None:
        total = sum(frequencies)
        if any(frequency < 0 for frequency in frequencies) or total < 1 or total & (total - 1):
            raise InvalidArgument("the frequencies must be whole, not negative, and add up to a power of two")
        self.frequencies: list[int] = list(frequencies)
        self.starts: list[int] = [0, *accumulate(self.frequencies)]
        self.d: int = total.bit_length() - 1

    def push(self, x: int, symbol: int) -> int:
        """Pushes a symbol onto x; returns the new number."""
        if x < 0:
            raise InvalidArgument("a numeral is not negative")
        if not 0 <= symbol < len(self.frequencies) or not self.frequencies[symbol]:
            raise InvalidArgument(f"symbol {symbol} has no slot")
        quotient, remainder = divmod(x, self.frequencies[symbol])
        return (quotient << self.d) + self.starts[symbol] + remainder

    def sym(self, x: int) -> int:
        """The symbol that was pushed last."""
        return bisect_right(self.starts, x & ((1 << self.d) - 1)) - 1

    def pop(self, x: int) -> tuple[int, int]:
        """Undoes the last push: the number before it, and its symbol."""
        symbol = self.sym(x)
        slot = x & ((1 << self.d) - 1)
        return (x >> self.d) * self.frequencies[symbol] + slot - self.starts[symbol], symbol
