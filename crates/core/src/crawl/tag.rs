//! How a URL was discovered, packed into the 32 bits that travel with it through the sieve.
//!
//! | queue | depth | depth in its site | chain | redirects | level |
//! | --- | --- | --- | --- | --- | --- |
//! | version 1 | 12 bits | | 11 | 6 | 3 |
//! | version 2 | 11 bits | 5 | 7 | 6 | 3 |
//!
//! from the highest bit to the lowest. The version of the sieve's queue tells which [`Layout`] all tags of a
//! collection have, also those in the sieve's other files.
//!
//! An asset has no chain. It is told by the largest number of redirects, which no page has (`max_redirects` is at
//! most 50), and its own are in the bits of the chain.

use std::path::Path;

use crate::collection::layout::URLS;
use crate::sieve::queue;
use crate::{Error, Result};

/// The largest depth that is stored; larger ones saturate.
pub const MAX_DEPTH: u32 = (1 << 11) - 1;
/// The largest depth inside a site that is stored; larger ones saturate.
pub const MAX_SITE_DEPTH: u32 = (1 << 5) - 1;
/// The longest chain of links of one shape that is stored; longer ones saturate.
pub const MAX_CHAIN: u32 = (1 << 7) - 1;
/// The longest redirect chain that is stored; longer ones saturate.
pub const MAX_REDIRECTS: u32 = ASSET - 1;
/// The redirects of an asset.
const ASSET: u32 = (1 << 6) - 1;
/// The lowest priority.
pub const LAST_LEVEL: u8 = (1 << 3) - 1;

const OLD_MAX_DEPTH: u32 = (1 << 12) - 1;
const OLD_MAX_CHAIN: u32 = (1 << 11) - 1;

/// How a URL was discovered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tag {
    /// Its distance from a seed, in links.
    pub depth: u32,
    /// The number of links since its host was entered.
    pub site_depth: u32,
    /// The number of consecutive links, up to this one, that led to a URL of the same shape, to detect
    /// crawler traps.
    pub chain: u32,
    /// The number of consecutive redirects that led to it.
    pub redirects: u32,
    /// Its priority: 0 is served first.
    pub level: u8,
    /// Whether it is no page, but what pages are shown with.
    pub is_asset: bool,
}

/// The layout of tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Version 1: the depth inside a site is not stored.
    WithoutSite,
    /// Version 2.
    WithSite,
}

impl Layout {
    /// The layout of the tags in a collection whose queue has `committed` bytes.
    pub fn of(folder: &Path, committed: u64) -> Result<Layout> {
        if committed == 0 {
            return Ok(Layout::WithSite);
        }
        let version = queue::FORMAT.version_of(&folder.join(URLS))?;
        Ok(if version < 2 { Layout::WithoutSite } else { Layout::WithSite })
    }

    /// Checks that a limit of the depth inside a site can be kept.
    pub fn check(self, max_site_depth: i32) -> Result<()> {
        if self == Layout::WithSite || max_site_depth < 0 {
            return Ok(());
        }
        Err(Error::Invalid(
            "max_site_depth cannot be kept in this collection: it was begun by a version of Crivello that did \
             not know how deep in its site a URL is; leave the setting out, or crawl into a new collection"
                .to_owned(),
        ))
    }
}

impl Tag {
    /// Packs the tag into 32 bits; values too large saturate.
    pub fn pack(self, layout: Layout) -> u32 {
        let redirects = self.redirects.min(MAX_REDIRECTS);
        let (chain, redirects) = if self.is_asset { (redirects, ASSET) } else { (self.chain, redirects) };
        let ways = redirects << 3 | u32::from(self.level.min(LAST_LEVEL));
        match layout {
            Layout::WithoutSite => self.depth.min(OLD_MAX_DEPTH) << 20 | chain.min(OLD_MAX_CHAIN) << 9 | ways,
            Layout::WithSite => {
                self.depth.min(MAX_DEPTH) << 21
                    | self.site_depth.min(MAX_SITE_DEPTH) << 16
                    | chain.min(MAX_CHAIN) << 9
                    | ways
            }
        }
    }

    /// Unpacks a tag.
    pub fn unpack(bits: u32, layout: Layout) -> Tag {
        let (depth, site_depth, chain) = match layout {
            Layout::WithoutSite => (bits >> 20, 0, bits >> 9 & OLD_MAX_CHAIN),
            Layout::WithSite => (bits >> 21, bits >> 16 & MAX_SITE_DEPTH, bits >> 9 & MAX_CHAIN),
        };
        let redirects = bits >> 3 & ASSET;
        let is_asset = redirects == ASSET;
        let (chain, redirects) = if is_asset { (0, chain) } else { (chain, redirects) };
        let level = (bits & u32::from(LAST_LEVEL)) as u8;
        Tag { depth, site_depth, chain, redirects, level, is_asset }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::format::Format;
    use crate::disk::log::LogWriter;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn comes_back(
            depth in 0..=MAX_DEPTH, site_depth in 0..=MAX_SITE_DEPTH, chain in 0..=MAX_CHAIN,
            redirects in 0..=MAX_REDIRECTS, level in 0..=LAST_LEVEL, is_asset in any::<bool>(),
        ) {
            let chain = if is_asset { 0 } else { chain };
            let tag = Tag { depth, site_depth, chain, redirects, level, is_asset };
            prop_assert_eq!(Tag::unpack(tag.pack(Layout::WithSite), Layout::WithSite), tag);
            let without = Tag { site_depth: 0, ..tag };
            prop_assert_eq!(Tag::unpack(tag.pack(Layout::WithoutSite), Layout::WithoutSite), without);
        }
    }

    #[test]
    fn what_is_too_large_is_the_largest() {
        let all = 1 << 20;
        let tag =
            Tag { depth: all, site_depth: all, chain: all, redirects: all, level: 200, is_asset: false };
        let largest = Tag {
            depth: MAX_DEPTH,
            site_depth: MAX_SITE_DEPTH,
            chain: MAX_CHAIN,
            redirects: MAX_REDIRECTS,
            level: LAST_LEVEL,
            is_asset: false,
        };
        assert_eq!(Tag::unpack(tag.pack(Layout::WithSite), Layout::WithSite), largest);
        let one_less_redirect = u32::MAX - (1 << 3);
        assert_eq!(tag.pack(Layout::WithSite), one_less_redirect);
        assert_eq!(tag.pack(Layout::WithoutSite), one_less_redirect);
    }

    #[test]
    fn the_version_of_the_queue_tells_the_layout() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("frontier")).unwrap();
        assert_eq!(Layout::of(folder.path(), 0).unwrap(), Layout::WithSite);
        for (version, layout) in [(1, Layout::WithoutSite), (2, Layout::WithSite)] {
            let format = Format { version, ..queue::FORMAT };
            let length = LogWriter::open(&folder.path().join(URLS), format, 0).unwrap().sync().unwrap();
            assert_eq!(Layout::of(folder.path(), length).unwrap(), layout);
            assert_eq!(layout.check(3).is_err(), version == 1);
            layout.check(-1).unwrap();
        }
    }
}
