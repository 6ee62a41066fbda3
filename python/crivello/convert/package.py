"""Documents that are ZIP files of XML: unpacked within a limit, and parsed without expanding entities."""

from __future__ import annotations

import io
import posixpath
import zipfile
from collections.abc import Callable, Iterable, Iterator
from xml.parsers import expat

from crivello.convert import Unreadable

UNPACKED = 256 * 2**20
"""The most bytes that a document may unpack to."""

_PIECE = 2**16
_COMPOUND = b"\xd0\xcf\x11\xe0"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_ENTITY = 1024


class Budget:
    """Counts the bytes that come out of a document, and stops at the limit."""

    def __init__(self) -> None:
        self._left = UNPACKED

    def take(self, length: int) -> None:
        """Counts bytes."""
        self.expect(length)
        self._left -= length

    def expect(self, length: int) -> None:
        """Refuses a file whose declared length is too large, before it is unpacked."""
        if length > self._left:
            raise Unreadable(f"it unpacks to more than {UNPACKED >> 20} MiB")


class Package:
    """A ZIP file."""

    def __init__(self, body: bytes) -> None:
        if body.startswith(_COMPOUND):
            # Office suites keep an encrypted package in a compound file, as they did all documents before.
            if _ENCRYPTED in body:
                raise Unreadable("it is encrypted")
            raise Unreadable("it is in the binary format of an older office suite")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(body))
        except zipfile.BadZipFile as error:
            raise Unreadable(f"it is damaged ({error})") from None
        self._budget = Budget()
        self.names = dict.fromkeys(self._zip.namelist())

    def pieces(self, name: str) -> Iterator[bytes]:
        """The content of a file, piece by piece; nothing if there is none."""
        if name not in self.names:
            return
        info = self._zip.getinfo(name)
        if info.flag_bits & 1:
            raise Unreadable("it is encrypted")
        self._budget.expect(info.file_size)
        with self._zip.open(info) as file:
            while piece := file.read(_PIECE):
                self._budget.take(len(piece))
                yield piece

    def file(self, name: str) -> bytes:
        """The content of a file; empty if there is none."""
        return b"".join(self.pieces(name))

    def relations(self, part: str) -> dict[str, str]:
        """The targets of the relationships of a part of Office Open XML, by id: files, or absolute URLs."""
        folder, name = posixpath.split(part)
        found: dict[str, str] = {}

        def start(tag: str, attributes: dict[str, str]) -> None:
            if tag == "Relationship":
                target = attributes.get("Target", "")
                if attributes.get("TargetMode") != "External":
                    target = posixpath.normpath(posixpath.join("/", folder, target))[1:]
                found[attributes.get("Id", "")] = target

        parse(self.pieces(f"{folder}/_rels/{name}.rels" if folder else f"_rels/{name}.rels"), start)
        return found


class _LocalNames(dict[str, str]):
    """Names without their prefixes, computed once each."""

    def __missing__(self, name: str) -> str:
        short = self[name] = name.rpartition(":")[2]
        return short


def parse(
    pieces: Iterable[bytes],
    start: Callable[[str, dict[str, str]], object] | None = None,
    end: Callable[[str], object] | None = None,
    text: Callable[[str], object] | None = None,
    charset: str | None = None,
) -> None:
    """Parses XML. Elements and attributes are known by their local names, whatever their namespace.

    Entities that a document declares are expanded if they are short and refer to no others, so that the result is
    never much larger than the document; a document with other ones is refused ("billion laughs").
    """
    parser = expat.ParserCreate(charset)
    parser.buffer_text = True
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    # Elements come by the million, with few names and few sets of attributes.
    names = _LocalNames()
    shapes: dict[tuple[str, ...], tuple[str, ...]] = {}

    if start is not None:
        begin = start

        def started(name: str, attributes: dict[str, str]) -> None:
            if attributes:
                keys = tuple(attributes)
                shape = shapes.get(keys)
                if shape is None:
                    shape = shapes[keys] = tuple(names[key] for key in keys)
                named = dict(zip(shape, attributes.values(), strict=True))
                if len(named) < len(keys):
                    # An id and the id of a relationship: the second one has a prefix, and is meant.
                    named |= {names[key]: value for key, value in attributes.items() if ":" in key}
                begin(names[name], named)
            else:
                begin(names[name], attributes)

        parser.StartElementHandler = started
    if end is not None:
        finish = end

        def ended(name: str) -> None:
            finish(names[name])

        parser.EndElementHandler = ended
    if text is not None:
        parser.CharacterDataHandler = text

    def declared(_: str, parameter: bool, value: str | None, *__: object) -> None:
        if value is not None and (parameter or "&" in value or "%" in value or len(value) > _ENTITY):
            raise Unreadable("it declares XML entities that may expand without end")

    parser.EntityDeclHandler = declared
    try:
        some = False
        for piece in pieces:
            some = True
            parser.Parse(piece, False)
        if some:
            parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise Unreadable(f"it is damaged (XML: {error})") from None


def metadata(pieces: Iterable[bytes]) -> dict[str, str]:
    """The text of each element without children, by its name: the first one of each."""
    found: dict[str, str] = {}
    inside: list[str] = []

    def start(_: str, __: dict[str, str]) -> None:
        inside.clear()

    def end(name: str) -> None:
        value = "".join(inside).strip()
        if value:
            found.setdefault(name, value)
        inside.clear()

    parse(pieces, start, end, inside.append)
    return found
