"""Writes down what became of each URL: the record, the row, the links, and which texts are known already."""

from __future__ import annotations

import array
import sys
from collections.abc import Sequence
from typing import Any

from crivello import _core
from crivello.collection import Collection
from crivello.crawl.fetch import Response
from crivello.crawl.frontier import Visit
from crivello.crawl.page import Page
from crivello.graph import LINKS
from crivello.store import Outcome, Row, Table
from crivello.store import table as tables
from crivello.store.archive import ArchiveWriter


class Recorder:
    """The writing end of the archive, the table and the links."""

    def __init__(self, collection: Collection, software: str, near_distance: int) -> None:
        folder = collection.folder
        self.table = Table(folder, collection.length(tables.NAME), write=True)
        self._links = _core.Log(folder / LINKS, "links", collection.length(LINKS), write=True)
        self._archive = ArchiveWriter(folder, dict(collection.files), software)
        self._near_distance = near_distance
        self._originals: dict[str, str] = {}
        self._near = _core.NearTable()
        for row in self.table:
            if row.duplicate_of is None:
                self._remember(row)

    def failure(self, visit: Visit, when: float, outcome: Outcome, status: int | None = None) -> Row:
        """A URL that was not fetched, or could not be."""
        return self._write(Row(visit.url, outcome, visit.depth, when, status))

    def redirect(self, visit: Visit, when: float, response: Response, page: Page, target: str | None) -> Row:
        """A URL that leads to another."""
        self._write_links(visit.url, [target] if target else [])
        return self._write(self._row(visit, when, response, page, Outcome.REDIRECTED, redirect=target))

    def page(self, visit: Visit, when: float, response: Response, page: Page) -> Row:
        """A URL that was answered; tells in its row whether the text is a duplicate."""
        parsed = page.parsed
        if parsed is None:
            outcome = Outcome.BAD_ENCODING if page.undecodable else Outcome.FETCHED
            return self._write(self._row(visit, when, response, page, outcome))
        self._write_links(visit.url, parsed.links)
        original = self._originals.get(parsed.digest)
        near = self._near_original(parsed.simhash) if original is None else None
        row = self._row(
            visit,
            when,
            response,
            page,
            Outcome.FETCHED,
            digest=parsed.digest,
            simhash=parsed.simhash,
            language=parsed.language,
            title=page.title,
            noindex=parsed.noindex,
            duplicate_of=original,
            near_duplicate_of=near,
        )
        if original is None:
            self._remember(row)
        return self._write(row)

    def sync(self) -> dict[str, int]:
        """Makes everything durable; gives the files with the lengths to commit."""
        return {**self._archive.sync(), tables.NAME: self.table.sync(), LINKS: self._links.sync()}

    def close(self) -> None:
        """Lets go of the files."""
        self._archive.close()

    def _row(
        self, visit: Visit, when: float, response: Response, page: Page, outcome: Outcome, **known: Any
    ) -> Row:
        number, offset = self._archive.append(page.record)
        if page.conversion is not None:
            text_number, text_offset = self._archive.append(page.conversion)
            known |= {
                "text_file": text_number,
                "text_offset": text_offset,
                "text_length": len(page.conversion),
            }
        return Row(
            visit.url,
            outcome,
            visit.depth,
            when,
            response.status,
            response.content_type,
            file=number,
            offset=offset,
            length=len(page.record),
            **known,
        )

    def _write(self, row: Row) -> Row:
        self.table.append([row])
        return row

    def _write_links(self, url: str, targets: Sequence[str]) -> None:
        signatures = array.array("Q", _core.signatures(list(targets)))
        if sys.byteorder == "big":
            signatures.byteswap()
        self._links.append([(_core.signature(url), signatures.tobytes())])

    def _remember(self, row: Row) -> None:
        if row.digest is not None and row.simhash is not None:
            self._originals.setdefault(row.digest, row.url)
            self._near.add([row.simhash], [_core.signature(row.url)])

    def _near_original(self, simhash: int) -> str | None:
        if self._near_distance == 0:
            return None
        [found] = self._near.nearest([simhash], self._near_distance)
        row = self.table.by_signature(found[0]) if found else None
        return row.url if row else None
