//! Permutations of the bits of a fingerprint that move some of them to the front.

use std::ops::{BitAnd, BitOr, BitXor, Shl, Shr};

/// A fingerprint: 64 or 128 bits.
pub trait Word:
    Copy
    + Ord
    + Send
    + Sync
    + Default
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
{
    /// The number of bits.
    const BITS: u32;

    /// The low bits of a mask.
    fn of_mask(mask: u128) -> Self;

    /// The number of ones.
    fn ones(self) -> u32;

    /// The first `bits` bits, at most 32, as a number.
    fn first(self, bits: u32) -> u32;

    /// With zeros before it.
    fn wide(self) -> u128;
}

macro_rules! word {
    ($type:ty) => {
        impl Word for $type {
            const BITS: u32 = <$type>::BITS;

            fn of_mask(mask: u128) -> Self {
                mask as $type
            }

            #[inline(always)]
            fn ones(self) -> u32 {
                self.count_ones()
            }

            #[inline]
            fn first(self, bits: u32) -> u32 {
                // Two shifts, because one by all bits is not defined.
                (self >> 1 >> (<$type>::BITS - 1 - bits)) as u32
            }

            #[inline]
            fn wide(self) -> u128 {
                self.into()
            }
        }
    };
}

word!(u64);
word!(u128);

/// Some bits of a word, and how far they move.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Move<W> {
    mask: W,
    /// To the left if positive.
    by: i32,
}

/// A permutation of the lowest `bits` bits of a word that puts the bits of a mask first, at the word's upper end, and
/// the other bits behind them; a move for each run of bits that stay together.
#[derive(Clone, Debug, PartialEq)]
pub struct Permutation<W> {
    moves: Vec<Move<W>>,
}

impl<W: Word> Permutation<W> {
    /// Moves the bits of a mask of `bits` bits to the front.
    pub fn leading(mask: u128, bits: u32) -> Permutation<W> {
        let mut moves = Vec::new();
        let mut to = W::BITS;
        for is_leading in [true, false] {
            let mut end = bits;
            while end > 0 {
                let mut start = end;
                while start > 0 && (mask >> (start - 1) & 1 == 1) == is_leading {
                    start -= 1;
                }
                if start < end {
                    to -= end - start;
                    let run = u128::MAX >> (128 - (end - start)) << start;
                    moves.push(Move { mask: W::of_mask(run), by: to as i32 - start as i32 });
                    end = start;
                } else {
                    end -= 1;
                }
            }
        }
        Permutation { moves }
    }

    /// The permuted word.
    #[inline]
    pub fn apply(&self, word: W) -> W {
        self.moves.iter().fold(W::default(), |permuted, one| permuted | shifted(word & one.mask, one.by))
    }

    /// The word that was permuted.
    #[inline]
    pub fn undo(&self, permuted: W) -> W {
        self.moves.iter().fold(W::default(), |word, one| word | (shifted(permuted, -one.by) & one.mask))
    }
}

#[inline]
fn shifted<W: Word>(word: W, by: i32) -> W {
    if by >= 0 { word << by as u32 } else { word >> by.unsigned_abs() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_bits_of_the_mask_come_first_and_all_come_back(word: u128, mask: u128, width in 0usize..3) {
            let bits = [32, 64, 128][width];
            let all = u128::MAX >> (128 - bits);
            let (word, mask) = (word & all, mask & all);
            let permutation = Permutation::<u128>::leading(mask, bits);
            let permuted = permutation.apply(word);
            prop_assert_eq!(permutation.undo(permuted), word);
            let leading = (0..bits).rev().filter(|bit| mask >> bit & 1 == 1);
            let expected = leading.chain((0..bits).rev().filter(|bit| mask >> bit & 1 == 0));
            for (place, bit) in expected.enumerate() {
                prop_assert_eq!(permuted >> (127 - place) & 1, word >> bit & 1);
            }
            if bits <= 64 {
                let narrow = Permutation::<u64>::leading(mask, bits);
                prop_assert_eq!(narrow.apply(word as u64), (permuted >> 64) as u64);
                prop_assert_eq!(narrow.undo((permuted >> 64) as u64), word as u64);
            }
        }
    }
}
