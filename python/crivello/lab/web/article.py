"""Articles: readable prose about one subject, assembled from a theme's sentences."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from random import Random

from crivello.lab.web.grammar import capitalised, expand
from crivello.lab.web.themes import Angle, Subject, Theme, language

_FACTS_IN_BODY = 3
_ASIDES = 4
_FRAMES = 4


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the paragraphs under it."""

    heading: str
    paragraphs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Article:
    """A text without URL, layout or links."""

    title: str
    language: str
    theme: str
    lead: str
    sections: tuple[Section, ...]

    @property
    def slug(self) -> str:
        """The title as a file name."""
        ascii_title = unicodedata.normalize("NFKD", self.title).encode("ascii", "ignore").decode()
        return re.sub(r"[^a-z0-9]+", "-", ascii_title.lower()).strip("-")

    def paragraphs(self) -> Iterator[str]:
        """The lead and the text of the sections."""
        yield self.lead
        for section in self.sections:
            yield from section.paragraphs


def articles_on(theme: Theme, random: Random) -> Iterator[Article]:
    """Endless articles on a theme with distinct titles; those titled like their subject come first."""
    own_title, *other_angles = language(theme.language).angles
    numbered = list(enumerate(theme.subjects))
    for part in count(1):
        for rotation in range(1 + len(other_angles)):
            random.shuffle(numbered)
            for number, subject in numbered:
                angle = own_title if rotation == 0 else other_angles[(number + rotation) % len(other_angles)]
                yield _write(theme, subject, angle, part, random)


def _write(theme: Theme, subject: Subject, angle: Angle, part: int, random: Random) -> Article:
    place, elsewhere = random.sample(theme.places, 2)
    other = random.choice([each for each in theme.subjects if each is not subject])
    words = {
        "subject": subject.name,
        "other": other.name,
        "title": subject.title,
        "place": place,
        "elsewhere": elsewhere,
        "person": random.choice(theme.people),
    }

    def some(templates: tuple[str, ...], most: int) -> list[str]:
        chosen = random.sample(templates, min(most, len(templates)))
        return [capitalised(expand(template, words, random)) for template in chosen]

    def some_in_order(templates: tuple[str, ...], most: int) -> list[str]:
        chosen = sorted(random.sample(range(len(templates)), most))
        return [capitalised(expand(templates[index], words, random)) for index in chosen]

    facts = some(subject.facts, _FACTS_IN_BODY)
    asides = some(theme.asides, _ASIDES)
    frames = some_in_order(angle.sentences, _FRAMES)
    other_facts = [expand(other.about, words, random), *some(other.facts, 1)]
    headings = some_in_order(angle.headings, 3)
    title = capitalised(expand(angle.title, words, random))
    about = expand(subject.about, words, random)
    return Article(
        title=title if part == 1 else f"{title} ({part})",
        language=theme.language,
        theme=theme.slug,
        lead=f"{about} {frames[0]}",
        sections=(
            Section(headings[0], (" ".join(facts[:2]), f"{frames[1]} {asides[0]}")),
            Section(headings[1], (" ".join([*facts[2:], asides[1], frames[2]]),)),
            Section(
                headings[2],
                (" ".join([*other_facts, asides[2]]), " ".join([*frames[3:], *asides[3:]])),
            ),
        ),
    )
