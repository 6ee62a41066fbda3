"""Private: where pages are kept: raw in the archive (``Record``), described in the table (``Row``).

Both are native: see ``crates/core/src/collection``.
"""

from crivello._core import Outcome, Record, Row, Table
from crivello.store.cached import CachedPage

__all__ = ["CachedPage", "Outcome", "Record", "Row", "Table"]
