"""Documents from a Python program: mappings with the fields of JSON lines, or ``Document``."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from crivello.errors import InvalidArgument
from crivello.index import Document
from crivello.index.jsonl import FIELDS, JsonLines, document_in

Given = Document | Mapping[str, Any]
"""A document as a program passes it."""


def documents_of(given: Given | Iterable[Given]) -> Iterable[Document]:
    """One document or many. A misspelt field is an error; other unknown fields are ignored."""
    if isinstance(given, JsonLines):
        return given
    several = [given] if isinstance(given, Document | Mapping) else given
    return _documents(several)


def _documents(given: Iterable[Given]) -> Iterator[Document]:
    for number, one in enumerate(given, start=1):
        if isinstance(one, Document):
            yield one
        elif isinstance(one, Mapping):
            document = document_in(_encoded(one, number), f"document {number}")
            if document is None:
                raise InvalidArgument(f"document {number} has neither text nor URL nor id")
            yield document
        else:
            raise InvalidArgument(
                f"document {number} is {one!r}",
                hint='give mappings such as {"url": …, "title": …, "body": …}, or crivello.Document',
            )


def _encoded(document: Mapping[str, Any], number: int) -> bytes:
    for name in document.keys() - set(FIELDS):
        if close := difflib.get_close_matches(str(name), FIELDS, 1):
            raise InvalidArgument(f"document {number} has a field {name!r}", hint=f"did you mean {close[0]}?")
    try:
        return msgspec.json.encode({name: document[name] for name in FIELDS if name in document})
    except (TypeError, ValueError) as error:
        raise InvalidArgument(f"document {number}: {error}") from None
