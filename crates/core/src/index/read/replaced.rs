//! Which documents of a snapshot are dead: replaced by newer ones with the same URL, or deleted by a
//! tombstone.
//!
//! A segment is not modified when one of its documents dies. Opening a snapshot goes through the signatures
//! from the newest segment to the oldest: a signature seen before is dead, and the tombstones of a segment
//! count as seen by all older ones. No URL occurs twice in a segment, so the oldest and largest one is only
//! looked up, not inserted. Time: about 50 ns per document; memory: 10.7 to 21.3 bytes for each document of
//! the newer segments during the pass, one bit per document afterwards.

use crate::index::{DocId, Segment};
use crate::signature::SignatureSet;
use crate::{Pulse, Result, Signature};

/// The dead documents of one segment.
pub struct Replaced {
    bits: Vec<u64>,
    count: u64,
}

impl Replaced {
    /// Whether a document is replaced or deleted.
    #[inline]
    pub fn contains(&self, document: DocId) -> bool {
        self.bits[document.0 as usize / 64] >> (document.0 % 64) & 1 == 1
    }

    /// How many documents are replaced or deleted.
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

/// The dead documents of each of `segments`, which are in order from the oldest to the newest.
pub fn find(segments: &[Segment], pulse: &Pulse) -> Result<Vec<Replaced>> {
    let mut seen = SignatureSet::default();
    let mut found: Vec<Replaced> =
        segments.iter().map(|segment| Replaced::none(segment.totals().documents)).collect();
    for (number, (segment, replaced)) in segments.iter().zip(&mut found).enumerate().rev() {
        for document in segment.documents() {
            if document.0.is_multiple_of(1 << 14) {
                pulse.beat()?;
            }
            let signature = segment.signature(document)?;
            if if number == 0 { seen.contains(signature) } else { !seen.insert(signature) } {
                replaced.insert(document);
            }
        }
        for signature in segment.deleted() {
            seen.insert(signature?);
        }
    }
    Ok(found)
}

/// For each of the documents with these signatures, whether a later one has the same URL.
pub fn repeated(signatures: impl DoubleEndedIterator<Item = Signature>) -> Vec<bool> {
    let mut seen = SignatureSet::default();
    let mut repeated: Vec<bool> = signatures.rev().map(|signature| !seen.insert(signature)).collect();
    repeated.reverse();
    repeated
}
