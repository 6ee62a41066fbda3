//! Which documents of a snapshot are replaced by newer ones with the same URL.
//!
//! Nothing is written when a document is replaced. Opening a snapshot walks the signatures from the newest
//! document of the newest segment to the oldest: whatever was seen before is replaced. Time: some 50 ns a
//! document; memory: 10.7 to 21.3 bytes a document while it runs, one bit a document afterwards.

use super::{DocId, Segment};
use crate::sieve::SignatureSet;
use crate::{Pulse, Result};

/// The replaced documents of one segment.
pub struct Replaced {
    bits: Vec<u64>,
    count: u64,
}

impl Replaced {
    /// Whether a document is replaced.
    #[inline]
    pub fn contains(&self, document: DocId) -> bool {
        self.bits[document.0 as usize / 64] >> (document.0 % 64) & 1 == 1
    }

    /// How many documents are replaced.
    pub fn count(&self) -> u64 {
        self.count
    }

    fn none(documents: u64) -> Replaced {
        Replaced { bits: vec![0; documents.div_ceil(64) as usize], count: 0 }
    }

    fn insert(&mut self, document: DocId) {
        self.bits[document.0 as usize / 64] |= 1 << (document.0 % 64);
        self.count += 1;
    }
}

/// The replaced documents of each of `segments`, which are in order from the oldest to the newest.
pub fn find(segments: &[Segment], pulse: &Pulse) -> Result<Vec<Replaced>> {
    let mut seen = SignatureSet::default();
    let mut found: Vec<Replaced> =
        segments.iter().map(|segment| Replaced::none(segment.totals().documents)).collect();
    for (segment, replaced) in segments.iter().zip(&mut found).rev() {
        for document in segment.documents().rev() {
            if document.0.is_multiple_of(1 << 14) {
                pulse.beat()?;
            }
            if !seen.insert(segment.signature(document)?) {
                replaced.insert(document);
            }
        }
    }
    Ok(found)
}
