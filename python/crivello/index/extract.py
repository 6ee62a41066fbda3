"""Runs an extractor on documents before they are indexed (``crivello.extend.Extractor``)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain

import msgspec

from crivello.errors import ExtensionError, InvalidArgument
from crivello.extend import Extension
from crivello.index import Document, batches

_LAST_DAY = 2**32 - 1


def prepared(
    documents: Iterable[Document], language: str | None, extractor: Extension | None
) -> Iterable[Document]:
    """The documents with the configured language, if there is one, after the extractor."""
    if language is not None:
        documents = (document._replace(language=language) for document in documents)
    if extractor is None:
        return documents
    return chain.from_iterable(map(partial(extracted, extractor), batches(documents)))


def extracted(extractor: Extension, documents: list[Document]) -> list[Document]:
    """The documents to index in place of these; these themselves if the extractor fails."""

    def checked(said: Sequence[Document]) -> list[Document]:
        if len(said) != len(documents):
            raise InvalidArgument(f"it returned {len(said)} documents for {len(documents)}")
        return [_checked(old, new) for old, new in zip(documents, said, strict=True)]

    about = f"{len(documents)} documents from {documents[0].url} on" if documents else "no documents"
    try:
        return extractor.call(documents, check=checked, about=about)
    except ExtensionError:
        return documents


def _checked(old: Document, new: Document) -> Document:
    if not isinstance(new, Document):
        raise InvalidArgument(f"it returned {type(new).__name__} and not Document for {old.url}")
    if new.url != old.url:
        raise InvalidArgument(f"it returned the URL {new.url} for {old.url}")
    try:
        msgspec.convert(tuple(new), Document)
    except msgspec.ValidationError as error:
        raise InvalidArgument(f"it returned a wrong field for {old.url}: {error}") from None
    if not 0 <= new.day <= _LAST_DAY:
        raise InvalidArgument(f"it returned the day {new.day} for {old.url}")
    return new
