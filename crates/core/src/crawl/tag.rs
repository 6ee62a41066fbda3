//! How a URL was come by, in the 32 bits that travel with it through the sieve.

/// The largest depth that is told apart from the next.
pub const MAX_DEPTH: u32 = (1 << 12) - 1;
/// The longest chain of links of one shape that is told apart from the next.
pub const MAX_CHAIN: u32 = (1 << 11) - 1;
/// The longest chain of redirects that is told apart from the next.
pub const MAX_REDIRECTS: u32 = (1 << 6) - 1;
/// The priority that is served last.
pub const LAST_LEVEL: u8 = (1 << 3) - 1;

/// How a URL was come by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tag {
    /// How many links it is away from a seed.
    pub depth: u32,
    /// How many links in a row, up to this one, led to a URL of the same shape.
    pub chain: u32,
    /// How many redirects in a row led to it.
    pub redirects: u32,
    /// Its priority: 0 is served first.
    pub level: u8,
}

impl Tag {
    /// The tag in 32 bits; what is too large becomes the largest.
    pub fn pack(self) -> u32 {
        self.depth.min(MAX_DEPTH) << 20
            | self.chain.min(MAX_CHAIN) << 9
            | self.redirects.min(MAX_REDIRECTS) << 3
            | u32::from(self.level.min(LAST_LEVEL))
    }

    /// The tag out of 32 bits.
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
