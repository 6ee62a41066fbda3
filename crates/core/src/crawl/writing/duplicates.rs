//! Duplicate detection during the crawl: exact by digest of the text, near by SimHash.
//!
//! 24 bytes a page for the digests, plus the map's spare capacity, and 44 to 52 for the fingerprints (see
//! [`crate::duplicates`]).

use std::collections::HashMap;

use crate::duplicates::NearTable;
use crate::{Result, Signature};

/// The pages whose text is original.
pub struct Originals {
    digests: HashMap<u128, Signature>,
    near: NearTable,
    distance: u32,
}

/// Whether a page duplicates another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copy {
    /// It is an original.
    None,
    /// It has the same text as this page.
    Exact(Signature),
    /// It is a near-duplicate of this page.
    Near(Signature),
}

impl Originals {
    /// An empty set; pages whose fingerprints differ in at most `distance` bits are near-duplicates; with 0
    /// only exact duplicates are found.
    pub fn new(distance: u32) -> Originals {
        Originals { digests: HashMap::new(), near: NearTable::default(), distance }
    }

    /// Adds a page that was judged before, without a check.
    pub fn remember(&mut self, page: Signature, digest: u128, simhash: u64) -> Result<()> {
        self.digests.entry(digest).or_insert(page);
        if self.distance > 0 {
            self.near.add(simhash, page.0)?;
        }
        Ok(())
    }

    /// Whether a page is a duplicate; originals are added, and so are near-duplicates.
    pub fn judge(&mut self, page: Signature, digest: u128, simhash: u64) -> Result<Copy> {
        if let Some(original) = self.digests.get(&digest) {
            return Ok(Copy::Exact(*original));
        }
        let near = if self.distance > 0 { self.near.nearest(simhash, self.distance)? } else { None };
        self.remember(page, digest, simhash)?;
        Ok(near.map_or(Copy::None, |(id, _)| Copy::Near(Signature(id))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_page_is_the_original() {
        let mut originals = Originals::new(3);
        assert_eq!(originals.judge(Signature(1), 10, 0xff00).unwrap(), Copy::None);
        assert_eq!(originals.judge(Signature(2), 10, 0xff00).unwrap(), Copy::Exact(Signature(1)));
        assert_eq!(originals.judge(Signature(3), 11, 0xff01).unwrap(), Copy::Near(Signature(1)));
        assert_eq!(originals.judge(Signature(4), 12, 0).unwrap(), Copy::None);
        let mut exact_only = Originals::new(0);
        exact_only.judge(Signature(1), 10, 7).unwrap();
        assert_eq!(exact_only.judge(Signature(2), 11, 7).unwrap(), Copy::None);
    }
}
