"""The sections ``[index]`` and ``[index.codes]``: how pages become an index."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from crivello import _core
from crivello.settings.fields.meta import CHOICES, OWN_CLASS, Choices, one_of, setting, size, text

CODES: Choices = {"auto": "chosen by measurement"} | CHOICES["code"]

_SHARDS = "Shards"
_BUILDING = "Building"


def _check_code(name: str) -> None:
    if name != "auto":
        _core.code_checked(name)


def _code(what: str) -> Meta:
    return setting(
        "Codes",
        f"integer code for {what}: auto, or one listed by `crivello lab codes`",
        choices=CODES,
        check=_check_code,
    )


class Index(msgspec.Struct, kw_only=True, frozen=True):
    """How pages become an index."""

    memory: Annotated[
        int, size(_BUILDING, "memory budget in bytes, beyond which postings are spilled to disk", 2**20)
    ] = 512 * 2**20
    threads: Annotated[
        int, setting(_BUILDING, "number of indexing threads; 0: one per core", ge=0, le=256)
    ] = 0
    order: Annotated[str, one_of(_BUILDING, "order in which documents are numbered", CHOICES["order"])] = (
        "arrival"
    )
    language: (
        Annotated[
            str,
            setting(
                _BUILDING,
                "language of all pages, as two letters; unset: each page's own",
                pattern=r"^[a-z]{2}$",
                python=True,
            ),
        ]
        | None
    ) = None
    extractor: Annotated[
        str,
        text(_BUILDING, f"decides what is indexed of a page: {OWN_CLASS}; empty: everything", python=True),
    ] = ""
    fan_in: Annotated[
        int,
        setting(
            _BUILDING, "number of segments of similar size that are merged into one", ge=2, le=64, python=True
        ),
    ] = 8
    ranks: Annotated[
        str,
        one_of(
            _BUILDING,
            "construction of the minimal perfect hash function over the terms",
            CHOICES["construction"],
        ),
    ] = "fuse"
    ranks_compact: Annotated[
        bool,
        setting(
            _BUILDING, "store only the nonzero variables of that function, found by rank: smaller, slower"
        ),
    ] = False
    shards: Annotated[
        int,
        setting(
            _SHARDS,
            "number of shards of the index, which takes a rebuild to change; 0: those it has, at first one",
            ge=0,
            le=1024,
        ),
    ] = 0
    partition: Annotated[
        str, one_of(_SHARDS, "how the index is divided between shards", CHOICES["partition"])
    ] = "documents"
    assign: Annotated[str, one_of(_SHARDS, "how documents are assigned to shards", CHOICES["assign"])] = (
        "hashed"
    )
    signature_bits: Annotated[
        int,
        setting(
            _BUILDING,
            "bits per term signature: with n bits, a lookup of an unknown term is a false positive once in 2^n",
            ge=0,
            le=32,
        ),
    ] = 4


class IndexCodes(msgspec.Struct, kw_only=True, frozen=True):
    """How the integers of an index are coded."""

    prefer: Annotated[str, one_of("Codes", "what auto optimises", CHOICES["preference"], flag="--codes")] = (
        "balanced"
    )
    pointers: Annotated[str, _code("gaps between document numbers")] = "auto"
    counts: Annotated[str, _code("term counts")] = "auto"
    positions: Annotated[str, _code("positions")] = "auto"
    quantum: Annotated[
        int, setting("Codes", "postings per block, the unit that queries skip", ge=16, le=4096)
    ] = 128
