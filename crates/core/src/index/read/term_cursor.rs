//! A cursor over a term in the zones of [`Zone::SEARCHED`]: the union of their posting lists, each document
//! once.

use super::cursor::Cursor;
use super::segment::Segment;
use crate::Result;
use crate::index::DocId;
use crate::index::format::lists::Lists;
use crate::index::format::zone::Zone;

/// The offset between the positions of two zones, so that no phrase crosses from one into the other.
const ZONE_SHIFT: u32 = 28;

/// A cursor over the documents of a term; it starts on the first one.
pub struct TermCursor<'a> {
    cursors: Vec<(Zone, Cursor<'a>)>,
    document: DocId,
    in_zone: Vec<u32>,
}

impl<'a> TermCursor<'a> {
    /// A cursor on the first document of a term.
    pub fn new(segment: &'a Segment, lists: Lists) -> Result<TermCursor<'a>> {
        let mut cursors = Vec::with_capacity(lists.len());
        for (zone, list) in lists {
            if Zone::SEARCHED.contains(&zone) {
                cursors.push((zone, segment.cursor(list)?));
            }
        }
        let mut cursor = TermCursor { cursors, document: DocId::END, in_zone: Vec::new() };
        cursor.settle();
        Ok(cursor)
    }

    /// The current document, or [`DocId::END`].
    #[inline]
    pub fn document(&self) -> DocId {
        self.document
    }

    /// An upper bound on the number of documents that contain the term.
    pub fn estimate(&self) -> u64 {
        self.cursors.iter().map(|(_, cursor)| u64::from(cursor.frequency())).sum()
    }

    /// Moves to the next document.
    #[inline]
    pub fn advance(&mut self) -> Result<DocId> {
        for (_, cursor) in &mut self.cursors {
            if cursor.document() == self.document {
                cursor.advance()?;
            }
        }
        self.settle();
        Ok(self.document)
    }

    /// Moves to the first document from the current one on that is not before `target`.
    #[inline]
    pub fn skip_to(&mut self, target: DocId) -> Result<DocId> {
        if self.document < target {
            for (_, cursor) in &mut self.cursors {
                cursor.skip_to(target)?;
            }
            self.settle();
        }
        Ok(self.document)
    }

    /// The term frequency in the current document, over all zones.
    pub fn count(&mut self) -> Result<u32> {
        let mut count = 0;
        for (_, cursor) in &mut self.cursors {
            if cursor.document() == self.document {
                count += cursor.count()?;
            }
        }
        Ok(count)
    }

    /// Puts the positions of the term in the current document into `positions`, in order; those of different
    /// zones are far apart.
    pub fn positions(&mut self, positions: &mut Vec<u32>) -> Result<()> {
        positions.clear();
        for (zone, cursor) in &mut self.cursors {
            if cursor.document() == self.document {
                cursor.positions(&mut self.in_zone)?;
                let first = (*zone as u32) << ZONE_SHIFT;
                positions.extend(self.in_zone.iter().map(|position| first.saturating_add(*position)));
            }
        }
        Ok(())
    }

    fn settle(&mut self) {
        let documents = self.cursors.iter().map(|(_, cursor)| cursor.document());
        self.document = documents.min().unwrap_or(DocId::END);
    }
}
