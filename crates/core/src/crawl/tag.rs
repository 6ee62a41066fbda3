//! How a URL was discovered, packed into the 32 bits that travel with it through the sieve.

/// The largest depth that is stored; larger ones saturate.
pub const MAX_DEPTH: u32 = (1 << 12) - 1;
/// The longest chain of links of one shape that is stored; longer ones saturate.
pub const MAX_CHAIN: u32 = (1 << 11) - 1;
/// The longest redirect chain that is stored; longer ones saturate.
pub const MAX_REDIRECTS: u32 = (1 << 6) - 1;
/// The lowest priority.
pub const LAST_LEVEL: u8 = (1 << 3) - 1;

/// How a URL was discovered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tag {
    /// Its distance from a seed, in links.
    pub depth: u32,
    /// The number of consecutive links, up to this one, that led to a URL of the same shape, to detect
    /// crawler traps.
    pub chain: u32,
    /// The number of consecutive redirects that led to it.
    pub redirects: u32,
    /// Its priority: 0 is served first.
    pub level: u8,
}

impl Tag {
    /// Packs the tag into 32 bits; values too large saturate.
    pub fn pack(self) -> u32 {
        self.depth.min(MAX_DEPTH) << 20
            | self.chain.min(MAX_CHAIN) << 9
            | self.redirects.min(MAX_REDIRECTS) << 3
            | u32::from(self.level.min(LAST_LEVEL))
    }

    /// Unpacks a tag.
    pub fn unpack(bits: u32) -> Tag {
        Tag {
            depth: bits >> 20,
            chain: bits >> 9 & MAX_CHAIN,
            redirects: bits >> 3 & MAX_REDIRECTS,
            level: (bits & u32::from(LAST_LEVEL)) as u8,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn comes_back(depth in 0..=MAX_DEPTH, chain in 0..=MAX_CHAIN, redirects in 0..=MAX_REDIRECTS, level in 0..=LAST_LEVEL) {
            let tag = Tag { depth, chain, redirects, level };
            prop_assert_eq!(Tag::unpack(tag.pack()), tag);
        }
    }

    #[test]
    fn what_is_too_large_is_the_largest() {
        let tag = Tag { depth: 1 << 20, chain: 1 << 20, redirects: 1 << 20, level: 200 };
        let largest = Tag { depth: MAX_DEPTH, chain: MAX_CHAIN, redirects: MAX_REDIRECTS, level: LAST_LEVEL };
        assert_eq!(Tag::unpack(tag.pack()), largest);
    }
}
