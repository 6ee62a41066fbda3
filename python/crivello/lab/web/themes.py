"""The contents of the sample web: themes, their subjects, and the angles (kinds of article) on a subject.

The texts are the TOML files in ``themes/``, one folder per language; their sentences are templates of
``grammar``.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

ENGLISH_THEMES = (
    "volcanoes",
    "bees",
    "lighthouses",
    "bread",
    "astronomy",
    "chess",
    "tea",
    "cartography",
    "violins",
    "mountain-railways",
    "typography",
    "knots",
)
FOREIGN_THEMES = (("it", "pane"), ("fr", "phares"), ("de", "bergbahnen"))


@dataclass(frozen=True, slots=True)
class Subject:
    """A subject of articles; ``name`` is singular, so that every angle's verbs agree."""

    name: str
    title: str
    about: str
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Theme:
    """A theme with its subjects; the sample web has a dozen in English."""

    slug: str
    language: str
    name: str
    summary: str
    places: tuple[str, ...]
    people: tuple[str, ...]
    asides: tuple[str, ...]
    subjects: tuple[Subject, ...]


@dataclass(frozen=True, slots=True)
class Angle:
    """A kind of article: its title, the headings of its sections, and sentences that fit any subject."""

    title: str
    headings: tuple[str, ...]
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels around an article."""

    read_next: str
    elsewhere: str
    see_also: str


@dataclass(frozen=True, slots=True)
class Language:
    """The angles and labels of one language."""

    code: str
    angles: tuple[Angle, ...]
    labels: Labels


@cache
def theme(slug: str, language: str = "en") -> Theme:
    """The theme in ``themes/<language>/<slug>.toml``."""
    content = _read(language, slug)
    subjects = tuple(Subject(**_frozen(subject)) for subject in content.pop("subjects"))
    return Theme(slug=slug, language=language, subjects=subjects, **_frozen(content))


@cache
def language(code: str) -> Language:
    """The language whose angles are in ``themes/<code>/angles.toml``."""
    content = _read(code, "angles")
    angles = tuple(Angle(**_frozen(angle)) for angle in content["angles"])
    return Language(code, angles, Labels(**content["labels"]))


def _read(language: str, name: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("themes", language, f"{name}.toml").read_text("utf-8"))


def _frozen(table: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
