//! The log of links: what each page links to, by signature.
//!
//! ```text
//! key      the page with the links
//! payload  the signatures of the targets that the page vouches for, u64 each, in page order; then, only if
//!          there are others, the signatures of those, u64 each, and their number, u32
//! ```
//!
//! all little-endian. A page does not vouch for links with `rel=nofollow`, `ugc` or `sponsored`, nor for any of
//! its links if its robots directives say `nofollow`. Version 1 had no such links; its records are read as they are,
//! so that a crawl begun with it goes on in the same file.

use std::path::Path;

use crate::disk::format::Format;
use crate::disk::log::Record;
use crate::{Error, Result, Signature};

/// The format of the log of links.
pub const LINKS: Format = Format { kind: *b"LINK", version: 2 };

const SIGNATURE: usize = 8;
const NUMBER: usize = 4;

/// The links of a page, by signature, as they are written to the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageLinks {
    /// The targets that the page vouches for.
    pub followed: Vec<Signature>,
    /// The others.
    pub nofollow: Vec<Signature>,
}

impl PageLinks {
    /// The number of links.
    pub fn len(&self) -> usize {
        self.followed.len() + self.nofollow.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The payload of the page's record.
    pub fn encode(&self) -> Vec<u8> {
        let mut payload = Vec::with_capacity(self.len() * SIGNATURE + NUMBER);
        let targets = self.followed.iter().chain(&self.nofollow);
        payload.extend(targets.flat_map(|target| target.0.to_le_bytes()));
        if !self.nofollow.is_empty() {
            payload.extend((self.nofollow.len() as u32).to_le_bytes());
        }
        payload
    }
}

/// The targets of a record of the log at `path`: those that the page vouches for, and the others.
pub fn targets_of<'a>(
    path: &Path,
    record: &Record<'a>,
) -> Result<(impl Iterator<Item = Signature> + use<'a>, impl Iterator<Item = Signature> + use<'a>)> {
    let (targets, rest) = record.payload.as_chunks::<SIGNATURE>();
    let nofollow = match *rest {
        [] => 0,
        [a, b, c, d] => u32::from_le_bytes([a, b, c, d]) as usize,
        _ => targets.len() + 1,
    };
    let Some(followed) = targets.len().checked_sub(nofollow) else {
        return Err(Error::corrupt(path, record.offset, "a record of links ends within a signature"));
    };
    let (followed, nofollow) = targets.split_at(followed);
    let signature = |target: &[u8; SIGNATURE]| Signature(u64::from_le_bytes(*target));
    Ok((followed.iter().map(signature), nofollow.iter().map(signature)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(payload: &[u8]) -> Result<PageLinks> {
        let record = Record { offset: 16, key: Signature(1), payload };
        let (followed, nofollow) = targets_of(Path::new("links.log"), &record)?;
        Ok(PageLinks { followed: followed.collect(), nofollow: nofollow.collect() })
    }

    proptest! {
        #[test]
        fn a_record_gives_back_its_links(followed in prop::collection::vec(any::<u64>(), 0..9), nofollow in prop::collection::vec(any::<u64>(), 0..9)) {
            let signatures = |given: &[u64]| given.iter().copied().map(Signature).collect();
            let links = PageLinks { followed: signatures(&followed), nofollow: signatures(&nofollow) };
            prop_assert_eq!(decode(&links.encode()).unwrap(), links);
        }
    }

    #[test]
    fn a_record_that_ends_within_a_signature_is_damage() {
        for payload in [&[0; 3][..], &[0; 13], &[1, 0, 0, 0], &[&[0; 16][..], &[3, 0, 0, 0]].concat()] {
            assert!(matches!(decode(payload), Err(Error::Corrupt { offset: 16, .. })), "{payload:?}");
        }
    }

    #[test]
    fn the_records_of_version_1_are_links_that_are_vouched_for() {
        let links = decode(&[7u64.to_le_bytes(), 8u64.to_le_bytes()].concat()).unwrap();
        assert_eq!(links.followed, [Signature(7), Signature(8)]);
        assert!(links.nofollow.is_empty());
    }
}
