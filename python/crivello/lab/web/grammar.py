"""A small grammar for varied sentences.

``[a|b]`` is one of its alternatives, ``{100..200/10}`` a number in that range in steps of ten, and
``{name}`` the word bound to that name, capitalised if the name is (``{Name}``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from random import Random

_SLOT = re.compile(
    r"\[(?P<choice>[^\]]*)\]"
    r"|\{(?P<low>\d+)\.\.(?P<high>\d+)(?:/(?P<step>\d+))?\}"
    r"|\{(?P<name>\w+)\}"
)


def expand(template: str, words: Mapping[str, str], random: Random) -> str:
    """A random sentence of the template."""

    def fill(slot: re.Match[str]) -> str:
        if (choice := slot["choice"]) is not None:
            return expand(random.choice(choice.split("|")), words, random)
        if slot["low"] is not None:
            return str(random.randrange(int(slot["low"]), int(slot["high"]) + 1, int(slot["step"] or 1)))
        name = slot["name"]
        return words[name] if name.islower() else capitalised(words[name.lower()])

    return _SLOT.sub(fill, template)


def capitalised(phrase: str) -> str:
    """The phrase with its first letter in upper case, and the rest unchanged."""
    return phrase[:1].upper() + phrase[1:]
