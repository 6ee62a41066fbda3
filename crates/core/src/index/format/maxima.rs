//! Block-max: an upper bound on the score of a block of postings, valid for any BM25.
//!
//! Whatever its parameters, BM25 increases with the term frequency and decreases with the document length. So
//! only the Pareto frontier of a block matters: the postings for which no other has at least their count in
//! at most their length. The frontier is covered by two corners (a count that is not exceeded, a length that
//! is not undercut), and the greater of their two scores is an upper bound whatever k₁, b and the mean length
//! are. Two corners are a much tighter bound than one, because the document with the highest count is seldom
//! the shortest (Ding and Suel, *Faster top-k document retrieval using block-max indexes*, 2011, store the
//! score itself, which ties the index to one set of parameters).
//!
//! A corner takes up to 16 bits: the count up to 254, where 255 stands for any, and the length, rounded down
//! to three significant bits past 16.

/// The corners of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Maxima(pub [Corner; 2]);

/// A count that is not exceeded and a length that is not undercut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Corner {
    count: u8,
    length: u8,
}

const ANY_COUNT: u8 = u8::MAX;

impl Corner {
    fn new(count: u32, length: u32) -> Corner {
        Corner { count: count.min(u32::from(ANY_COUNT)) as u8, length: rounded(length) }
    }

    /// The upper bound on the count.
    pub fn count(self) -> u32 {
        if self.count == ANY_COUNT { u32::MAX } else { u32::from(self.count) }
    }

    /// The lower bound on the length.
    pub fn length(self) -> u32 {
        shortest(self.length)
    }

    fn covers(self, other: Corner) -> bool {
        self.count >= other.count && self.length <= other.length
    }
}

impl Maxima {
    /// The corners of postings, each given by its count and the length of its document; there is at least
    /// one.
    pub fn of(postings: impl Iterator<Item = (u32, u32)>) -> Maxima {
        let mut frontier: Vec<Corner> = Vec::new();
        for (count, length) in postings {
            let corner = Corner::new(count, length);
            if !frontier.iter().any(|known| known.covers(corner)) {
                frontier.retain(|known| !corner.covers(*known));
                frontier.push(corner);
            }
        }
        Maxima::covering(frontier)
    }

    /// The corners that cover several blocks.
    pub fn joined(blocks: impl Iterator<Item = Maxima>) -> Maxima {
        Maxima::of(blocks.flat_map(|maxima| maxima.0).map(|corner| (corner.count(), corner.length())))
    }

    /// The best two corners that cover a frontier: the cut point decides how tight they are.
    fn covering(mut frontier: Vec<Corner>) -> Maxima {
        frontier.sort_unstable_by_key(|corner| (corner.count, corner.length));
        let Some((first, last)) = frontier.first().zip(frontier.last()) else {
            return Maxima([Corner::default(); 2]);
        };
        // On the frontier a larger count goes with a longer document, so a range of it has the count of its
        // last point and the length of its first.
        let corner = |from: Corner, to: Corner| Corner { count: to.count, length: from.length };
        let cuts =
            (1..frontier.len()).map(|cut| [corner(*first, frontier[cut - 1]), corner(frontier[cut], *last)]);
        let mean = f64::from(first.length()) + 1.0;
        let looseness =
            |corners: &[Corner; 2]| corners.iter().map(|corner| weight(*corner, mean)).fold(0.0, f64::max);
        let best = cuts.min_by(|left, right| looseness(left).total_cmp(&looseness(right)));
        Maxima(best.unwrap_or([corner(*first, *last); 2]))
    }

    /// The upper bound on the score of the block, given the score of a count in a document of a length.
    #[inline]
    pub fn bound(&self, score: impl Fn(u32, u32) -> f32) -> f32 {
        let [first, second] = self.0.map(|corner| score(corner.count(), corner.length()));
        first.max(second)
    }

    /// The corners encoded as four numbers below 256.
    pub fn fields(&self) -> [u64; 4] {
        let [first, second] = self.0;
        [first.count, first.length, second.count, second.length].map(u64::from)
    }

    /// Decodes the corners.
    pub fn from_fields(fields: [u64; 4]) -> Maxima {
        let [count, length, other_count, other_length] = fields.map(|field| field as u8);
        Maxima([Corner { count, length }, Corner { count: other_count, length: other_length }])
    }
}

/// BM25 with its usual parameters, to judge how tight a bound is; the bound itself holds for any.
fn weight(corner: Corner, mean: f64) -> f64 {
    let (count, length) = (f64::from(corner.count()), f64::from(corner.length()));
    count / (count + 1.2 * (0.25 + 0.75 * length / mean))
}

/// A length in a byte, rounded down: exact below 16, then with three bits after the first.
fn rounded(length: u32) -> u8 {
    if length < 16 {
        return length as u8;
    }
    let exponent = length.ilog2() - 3;
    (16 + (exponent - 1) * 8 + (length >> exponent & 7)) as u8
}

/// The shortest length that rounds to this byte.
fn shortest(rounded: u8) -> u32 {
    let rounded = u32::from(rounded);
    if rounded < 16 {
        return rounded;
    }
    let exponent = ((rounded - 16) / 8 + 1).min(28);
    (8 + (rounded - 16) % 8) << exponent
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lengths_are_rounded_down_by_less_than_an_eighth(length in (any::<u32>(), 0u32..32).prop_map(|(length, shift)| length >> shift), other in any::<u32>()) {
            let back = shortest(rounded(length));
            prop_assert!(back <= length && u64::from(length) < u64::from(back) * 9 / 8 + 1);
            prop_assert_eq!(length <= other, length <= other && rounded(length) <= rounded(other));
        }

        #[test]
        fn bounds_every_posting_under_any_parameters(
            blocks in prop::collection::vec(prop::collection::vec((1u32..400, 1u32..3000), 1..130), 1..4),
            k1 in 0f32..10.0, b in 0f32..1.0, mean in 1f32..2000.0,
        ) {
            let score = |count: u32, length: u32| {
                let count = count as f32;
                count * (k1 + 1.0) / (count + k1 * (1.0 - b + b * length as f32 / mean))
            };
            let maxima: Vec<Maxima> = blocks.iter().map(|block| Maxima::of(block.iter().copied())).collect();
            let together = Maxima::joined(maxima.iter().copied());
            for (block, maxima) in blocks.iter().zip(&maxima) {
                prop_assert_eq!(Maxima::from_fields(maxima.fields()), *maxima);
                for (count, length) in block {
                    let true_score = score(*count, *length);
                    prop_assert!(maxima.bound(score) >= true_score * 0.999_999);
                    prop_assert!(together.bound(score) >= true_score * 0.999_999);
                }
            }
        }
    }
}
