"""Private: where pages are kept: raw in the archive, described in the table."""

from crivello.store.archive import Archive, Record
from crivello.store.cached import CachedPage
from crivello.store.table import Outcome, Row, Table

__all__ = ["Archive", "CachedPage", "Outcome", "Record", "Row", "Table"]
