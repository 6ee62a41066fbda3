"""Whether a URL was found new, which is what the sieve's files say (``crates/core/src/sieve``).

A record of theirs has the URL's signature for a key: length, checksum, key, and for a payload a tag of four
bytes and the URL. It is found by looking for the key's bytes, about 2 GB a second, and told from chance by
the length and the URL.
"""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING

from crivello import _core
from crivello.crawl.decisions import mapped

if TYPE_CHECKING:
    from crivello.collection import Collection

_FILES = "frontier/"
_LENGTH_BEFORE_KEY = 8
_TAG = 4
# The bits of a tag above these are the depth (crates/core/src/crawl/tag.rs).
_DEPTH_SHIFT = 20


def depth_in_frontier(collection: Collection, url: str) -> int | None:
    """How many links away from a seed a URL was found; None where the sieve does not know it."""
    for name, length in sorted(collection.files.items()):
        if name.startswith(_FILES) and not name.endswith("/") and length:
            with mapped(collection.folder / name, length) as content:
                tag = _tag_in(content, url.encode())
            if tag is not None:
                return tag >> _DEPTH_SHIFT
    return None


def _tag_in(content: mmap.mmap, url: bytes) -> int | None:
    key = _core.signature(url.decode()).to_bytes(8, "little")
    wanted = (_TAG + len(url)).to_bytes(4, "little")
    place = content.find(key)
    while place >= 0:
        start, tag = place - _LENGTH_BEFORE_KEY, place + len(key)
        end = tag + _TAG
        if content[start : start + 4] == wanted and content[end : end + len(url)] == url:
            return int.from_bytes(content[tag:end], "little")
        place = content.find(key, place + 1)
    return None
