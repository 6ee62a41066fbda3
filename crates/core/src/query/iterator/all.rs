//! All documents of a segment, or none.

use super::Documents;
use crate::Result;
use crate::index::{DocId, Segment};

/// The documents from `next` up to `end`.
pub struct All {
    next: u32,
    end: u32,
}

impl All {
    /// Every document, replaced ones too.
    pub fn of(segment: &Segment) -> All {
        All { next: 0, end: segment.totals().documents as u32 }
    }

    /// No document.
    pub fn none() -> All {
        All { next: 0, end: 0 }
    }
}

impl Documents for All {
    fn document(&self) -> DocId {
        if self.next < self.end { DocId(self.next) } else { DocId::END }
    }

    fn next(&mut self) -> Result<DocId> {
        self.next = self.next.saturating_add(1);
        Ok(self.document())
    }

    fn skip_to(&mut self, target: DocId) -> Result<DocId> {
        self.next = self.next.max(target.0);
        Ok(self.document())
    }

    fn estimate(&self) -> u64 {
        u64::from(self.end)
    }
}
