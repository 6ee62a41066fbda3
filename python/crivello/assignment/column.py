"""Hosts as they are given: lists, hashes, columns of Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import DTypeLike, NDArray

from crivello._tables import _package
from crivello.errors import InvalidArgument
from crivello.filters.base import Keys


@runtime_checkable
class Column(Protocol):
    """A column with the Arrow PyCapsule interface: a chunked array of pyarrow, a series of polars or pandas."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


@runtime_checkable
class Piece(Protocol):
    """A contiguous column: an array of pyarrow."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> object: ...


Bytes: TypeAlias = tuple[NDArray[np.uint8], NDArray[np.int64]]
"""The bytes of all hosts, and where each begins and the last ends."""

Hosts: TypeAlias = Keys | Bytes | Column | Piece
Parts: TypeAlias = tuple[Any] | tuple[Any, NDArray[np.int64]]
"""What the core takes: a list or hashes; or bytes and offsets."""


def parts_of(hosts: Hosts) -> Iterator[Parts]:
    """The parts in which hosts are passed on; a column of Arrow is not copied."""
    if isinstance(hosts, list | np.ndarray):
        yield (hosts,)
        return
    if isinstance(hosts, tuple) and len(hosts) == 2:
        yield hosts
        return
    if not isinstance(hosts, Column | Piece):
        raise InvalidArgument(
            "hosts must be a list of str or bytes, a column of Arrow, arrays of bytes and offsets, or an array of "
            f"uint64, not {type(hosts).__name__}"
        )
    arrow = _package("pyarrow")
    column = (
        arrow.chunked_array(hosts) if isinstance(hosts, Column) else arrow.chunked_array([arrow.array(hosts)])
    )
    if column.null_count:
        raise InvalidArgument(f"the column has {column.null_count:,} rows without a host")
    try:
        column = column.cast(arrow.large_string())
    except arrow.ArrowException as error:
        raise InvalidArgument(f"the column has no text: {error}") from None
    for chunk in column.chunks:
        if len(chunk):
            _, offsets, data = chunk.buffers()
            bounds = np.frombuffer(offsets, np.int64, len(chunk) + 1, 8 * chunk.offset)
            yield np.frombuffer(data, np.uint8) if data else np.empty(0, np.uint8), bounds


def joined(parts: list[NDArray[Any]], kind: DTypeLike) -> NDArray[Any]:
    """The answers for all parts."""
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, kind), *parts])
