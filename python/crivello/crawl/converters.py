"""User-defined converters from media types to text, and the command line of the processes that run them."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec

from crivello._core import reading
from crivello.errors import InvalidArgument
from crivello.extend import Extensions, label_of, load
from crivello.settings import Crawl

_SCRIPT = str(Path(__file__).parents[1] / "convert" / "worker.py")
_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+-]+")


def load_converters(extensions: Extensions, setting: str) -> dict[str, str]:
    """The user-defined converters: a mapping from media type to ``module:Class``."""
    given = extensions.named("crawl.converters", setting)
    named = _read(given) if isinstance(given, str) else given
    if not isinstance(named, Mapping):
        raise InvalidArgument("crawl.converters must map media types to classes")
    for media_type, own in named.items():
        if not _TYPE.fullmatch(media_type):
            raise InvalidArgument(f"crawl.converters: {media_type!r} is not a media type in lower case")
        if reading(media_type) == "html":
            raise InvalidArgument(
                f"crawl.converters: {media_type} is parsed for its links, too",
                hint="change what is kept of a page with index.extractor",
            )
        load("crawl.converters", own)
        if not isinstance(own, str) and label_of(own).startswith("__main__:"):
            raise InvalidArgument(
                f"crawl.converters: {label_of(own)} cannot be imported by the process that converts",
                hint="put it into a module",
            )
    return {media_type: label_of(own) for media_type, own in named.items()}


def _read(setting: str) -> dict[str, str]:
    pairs = [pair.partition("=") for pair in setting.replace(",", " ").split()]
    if wrong := ["".join(pair) for pair in pairs if not pair[1]]:
        raise InvalidArgument(
            f"crawl.converters: {wrong[0]} is not a converter",
            hint="name them as in application/epub+zip=module:Class",
        )
    return {media_type.lower(): name for media_type, _, name in pairs}


def command(converters: Mapping[str, str], settings: Crawl) -> list[str]:
    """The command line of a worker process."""
    told = {
        "path": sys.path,
        "converters": converters,
        "time": settings.convert_time,
        "memory": settings.convert_memory,
        "output": settings.convert_output,
    }
    return [sys.executable, "-P", _SCRIPT, msgspec.json.encode(told).decode()]
