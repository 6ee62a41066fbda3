//! The SimHash of a document's body, at almost no cost: it is computed from the postings, which exist anyway.
//!
//! S is the set of the terms of the body, and bit i is 1 if and only if
//!
//! ```text
//! |{t ∈ S : h(t)[i] = 1}|  >  |{t ∈ S : h(t)[i] = 0}|
//! ```
//!
//! where h is XXH3-64 (Charikar, *Similarity estimation techniques from rounding algorithms*, 2002). The
//! SimHash of a crawled page ([`crate::duplicates`]) is the same function of three-word shingles, which have
//! to be cut, hashed and looked up one by one. A run is sorted by term, so the bits of a term are spread into
//! 64 counters once, and each posting adds those to the counters of its document: 8 vector additions. The two
//! fingerprints are not comparable with each other.
//!
//! Memory: 132 bytes per document of a chunk.

use crate::Signature;

/// Bit counters of the documents of a chunk.
#[derive(Default)]
pub struct Fingerprints {
    documents: Vec<Counters>,
}

#[derive(Clone)]
struct Counters {
    terms: u32,
    ones: [u16; 64],
}

impl Fingerprints {
    /// Resets to `documents` documents.
    pub fn begin(&mut self, documents: usize) {
        self.documents.clear();
        self.documents.resize(documents, Counters { terms: 0, ones: [0; 64] });
    }

    /// Counts a term for the documents that contain it, each of which comes once.
    pub fn count(&mut self, term: &[u8], documents: impl Iterator<Item = u32>) {
        let hash = Signature::of(term).0;
        let bits: [u16; 64] = std::array::from_fn(|bit| (hash >> bit & 1) as u16);
        for document in documents {
            let Counters { terms, ones } = &mut self.documents[document as usize];
            // A document with more distinct terms is fingerprinted by the first of them.
            if *terms < u32::from(u16::MAX) {
                *terms += 1;
                ones.iter_mut().zip(bits).for_each(|(count, bit)| *count += bit);
            }
        }
    }

    /// The SimHash of each document; 0 for one without terms.
    pub fn simhashes(&self) -> impl Iterator<Item = u64> {
        self.documents.iter().map(|Counters { terms, ones }| {
            let majority = |count: &u16| u64::from(2 * u32::from(*count) > *terms);
            ones.iter().rev().fold(0, |simhash, count| simhash << 1 | majority(count))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn is_the_definition(terms in prop::collection::btree_map("[a-z]{1,4}", prop::collection::btree_set(0u32..6, 0..6), 0..80)) {
            let mut fingerprints = Fingerprints::default();
            for _ in 0..2 {
                fingerprints.begin(6);
                terms.iter().for_each(|(term, documents)| fingerprints.count(term.as_bytes(), documents.iter().copied()));
            }
            for (document, simhash) in (0..6).zip(fingerprints.simhashes()) {
                let held = terms.iter().filter(|(_, documents)| documents.contains(&document));
                let hashes: Vec<u64> = held.map(|(term, _)| Signature::of(term.as_bytes()).0).collect();
                for bit in 0..64 {
                    let ones = hashes.iter().filter(|hash| *hash >> bit & 1 == 1).count();
                    prop_assert_eq!(simhash >> bit & 1 == 1, ones > hashes.len() - ones);
                }
            }
        }
    }

    #[test]
    fn more_terms_than_a_counter_holds_do_no_harm() {
        let mut fingerprints = Fingerprints::default();
        fingerprints.begin(1);
        (0..70_000u32).for_each(|term| fingerprints.count(&term.to_le_bytes(), std::iter::once(0)));
        assert_ne!(fingerprints.simhashes().next(), Some(0));
    }
}
