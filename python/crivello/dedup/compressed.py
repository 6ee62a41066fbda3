"""Files of lines, plain, gzip or Zstandard: recognised by their first bytes, and written as their name says.

The reader of ``zstandard`` takes a file that is cut off for one that ends there, so that the frames are walked through before: their
headers alone, three bytes for each block of up to 128 KiB (RFC 8878, section 3.1).
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, cast

import zstandard

from crivello.errors import InvalidArgument, StorageError

GZIP, ZSTANDARD, SKIPPABLE = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\x2a\x4d\x18"
MARK = b"\xef\xbb\xbf"
_BLOCK = 2 << 20
_CUT_OFF = "its last Zstandard frame does not end"
# The types of Zstandard blocks: the content of one that repeats a byte is this byte, whatever its size.
_REPEATED = 1


class Input:
    """An open file: its content, and how many bytes of the file itself were read."""

    def __init__(self, raw: IO[bytes], content: IO[bytes]) -> None:
        self._raw, self.content = raw, content

    @property
    def done(self) -> int:
        return self._raw.tell()


@contextmanager
def reading(path: Path) -> Iterator[Input]:
    """Opens a file; damage and what the system refuses become one sentence."""
    try:
        with ExitStack() as open_files:
            raw = open_files.enter_context(path.open("rb"))
            first = raw.read(4)
            raw.seek(0)
            content: IO[bytes] = raw
            if first.startswith(GZIP):
                content = cast("IO[bytes]", open_files.enter_context(gzip.GzipFile(fileobj=raw)))
            elif first == ZSTANDARD:
                _check_frames(raw)
                packed = zstandard.ZstdDecompressor(max_window_size=1 << 31)
                content = open_files.enter_context(packed.stream_reader(raw, read_across_frames=True))
            yield Input(raw, content)
    except (EOFError, gzip.BadGzipFile, zlib.error, zstandard.ZstdError) as error:
        raise InvalidArgument(f"{path} is damaged or cut off: {error}") from None
    except OSError as error:
        raise StorageError.of(error, path) from None


def _check_frames(raw: IO[bytes]) -> None:
    """Raises ``EOFError`` if the last frame of a file is cut off; what is no frame is left for the reader to refuse."""
    size = raw.seek(0, 2)
    raw.seek(0)
    while magic := raw.read(4):
        if magic[1:] == SKIPPABLE and magic[0] >> 4 == 5:
            raw.seek(int.from_bytes(_exactly(raw, 4), "little"), 1)
        elif magic == ZSTANDARD:
            _pass_over_frame(raw)
        elif len(magic) == 4:
            break
        if raw.tell() > size or len(magic) < 4:
            raise EOFError(_CUT_OFF)
    raw.seek(0)


def _pass_over_frame(raw: IO[bytes]) -> None:
    """Moves from behind the magic number of a frame to its end, which may be behind the end of the file."""
    described = _exactly(raw, 1)[0]
    is_single, has_checksum = described >> 5 & 1, described >> 2 & 1
    size_of_content = (is_single, 2, 4, 8)[described >> 6]
    size_of_dictionary_id = (0, 1, 2, 4)[described & 3]
    raw.seek((not is_single) + size_of_dictionary_id + size_of_content, 1)
    is_last = False
    while not is_last:
        header = int.from_bytes(_exactly(raw, 3), "little")
        is_last, kind, size = bool(header & 1), header >> 1 & 3, header >> 3
        raw.seek(1 if kind == _REPEATED else size, 1)
    raw.seek(4 * has_checksum, 1)


def _exactly(raw: IO[bytes], count: int) -> bytes:
    data = raw.read(count)
    if len(data) < count:
        raise EOFError(_CUT_OFF)
    return data


def head(path: Path, size: int = 1 << 16) -> bytes:
    """The first bytes of the content of a file, whatever damage there is later."""
    try:
        with path.open("rb") as file:
            raw = file.read(size)
    except OSError as error:
        raise StorageError.of(error, path) from None
    try:
        if raw.startswith(GZIP):
            return zlib.decompressobj(31).decompress(raw, size)
        if raw.startswith(ZSTANDARD):
            return zstandard.ZstdDecompressor().stream_reader(raw).read(size)
    except (zlib.error, zstandard.ZstdError):
        return b""
    return raw


@contextmanager
def writing(out: IO[bytes], name: str) -> Iterator[IO[bytes]]:
    """Compresses what is written to an open file, if its name says so."""
    if name.endswith(".gz"):
        with gzip.GzipFile("", "wb", 6, out, mtime=0) as packed:
            yield cast("IO[bytes]", packed)
    elif name.endswith(".zst"):
        with zstandard.ZstdCompressor(level=3, write_checksum=True).stream_writer(
            out, closefd=False
        ) as packing:
            yield cast("IO[bytes]", packing)
    else:
        yield out


class LineTooLong(Exception):
    """The line after the last block is longer than the limit."""


def blocks(path: Path, start: int, limit: int) -> Iterator[tuple[bytes, int, int]]:
    """Whole lines from an offset of the content on, in blocks; each with the offset after it and the bytes of the file read.

    Only a line longer than a block makes it larger; one of more than ``limit`` bytes is ``LineTooLong``.
    """
    with reading(path) as file:
        _skip(file.content, start)
        rest: list[bytes] = []
        size = 0
        while chunk := file.content.read(_BLOCK):
            if not start and not rest:
                chunk, start = chunk.removeprefix(MARK), len(MARK) * chunk.startswith(MARK)
            cut = chunk.rfind(b"\n") + 1
            if cut:
                block = b"".join([*rest, chunk[:cut]])
                start += len(block)
                yield block, start, file.done
                rest, size = [], 0
            rest.append(chunk[cut:])
            size += len(chunk) - cut
            if size > limit:
                raise LineTooLong
        if last := b"".join(rest):
            yield last, start + len(last), file.done


def _skip(content: Any, count: int) -> None:
    """Moves forward; a compressed file is decompressed up to there."""
    if content.seekable() and not isinstance(content, zstandard.ZstdDecompressionReader):
        content.seek(count)
        return
    while count and (chunk := content.read(min(count, _BLOCK))):
        count -= len(chunk)
