//! Where the lists of a chunk start: a monotone sequence in Elias–Fano representation, with constant-time select.
//!
//! The sequence x₁ ≤ x₂ ≤ … ≤ x_n of numbers at most u is split at l = ⌊log₂(u/n)⌋ bits (0 if u < n):
//!
//! ```text
//! high       bit (x_i >> l) + i − 1 is set for every i: at most n + (u >> l) ≤ 3 n bits, padded to bytes
//! low        the low l bits of each number, padded to bytes
//! samples    for every 64th set bit from the first, its place among the high bits: u16 each
//! ```
//!
//! A number costs at most 2.25 + log₂(u/n) bits. It is found by reading a sample and the high bits up to the set
//! bit of its own: at most 64 set bits further, two words on average.
//!
//! Source: Sebastiano Vigna, "Quasi-succinct indices", 2013.

use crate::codes::bits::{BitWriter, Bits, WINDOW, lowest, window};

/// Set bits per sample.
const SAMPLED: usize = 64;

/// The sizes of the sections, in bytes, and the number of low bits.
struct Shape {
    low: u32,
    high_bytes: usize,
    low_bytes: usize,
    samples: usize,
}

impl Shape {
    fn of(n: usize, universe: u64) -> Option<Shape> {
        let low = (universe / n.max(1) as u64).checked_ilog2().unwrap_or(0);
        let high_bits = n + (universe >> low) as usize + 1;
        Some(Shape {
            low,
            high_bytes: high_bits.div_ceil(8),
            low_bytes: n.checked_mul(low as usize)?.div_ceil(8),
            samples: n.div_ceil(SAMPLED),
        })
    }

    fn bytes(&self) -> usize {
        self.high_bytes + self.low_bytes + 2 * self.samples
    }
}

/// Appends a sequence of fewer than 2^14 numbers, none greater than `universe`.
pub fn write(numbers: &[u64], universe: u64, bytes: &mut Vec<u8>) {
    let low = Shape::of(numbers.len(), universe).map_or(0, |shape| shape.low);
    let mut samples = Vec::new();
    let mut bits = BitWriter::new(bytes);
    let mut next = 0;
    for (index, number) in numbers.iter().enumerate() {
        let place = (number >> low) + index as u64;
        bits.write_unary(place - next);
        next = place + 1;
        if index.is_multiple_of(SAMPLED) {
            samples.extend((place as u16).to_le_bytes());
        }
    }
    let end = numbers.len() as u64 + (universe >> low) + 1;
    for _ in next..end {
        bits.write(0, 1);
    }
    bits.finish();
    let mut bits = BitWriter::new(bytes);
    numbers.iter().for_each(|number| bits.write(lowest(*number, low), low));
    bits.finish();
    bytes.extend(samples);
}

/// A sequence in bytes that are not trusted.
pub struct Offsets<'a> {
    high: &'a [u8],
    low: &'a [u8],
    samples: &'a [u8],
    width: u32,
    universe: u64,
    n: usize,
}

impl<'a> Offsets<'a> {
    /// The sequence of `n` numbers at the front of `bytes`, and the bytes after it; `None` if it is cut off.
    #[inline]
    pub fn read(bytes: &'a [u8], n: usize, universe: u64) -> Option<(Offsets<'a>, &'a [u8])> {
        let shape = Shape::of(n, universe)?;
        if shape.bytes() > bytes.len() {
            return None;
        }
        let (all, rest) = bytes.split_at(shape.bytes());
        let (high, after) = all.split_at(shape.high_bytes);
        let (low, samples) = after.split_at(shape.low_bytes);
        Some((Offsets { high, low, samples, width: shape.low, universe, n }, rest))
    }

    /// Where list `index` of n + 1 starts and ends: the first starts at 0, the last ends at the universe.
    #[inline]
    pub fn range(&self, index: usize) -> Option<(usize, usize)> {
        let (start, place) = match index.checked_sub(1) {
            None => (0, None),
            Some(before) => {
                let place = self.select(before)?;
                (self.number(before, place)?, Some(place))
            }
        };
        let end = if index == self.n {
            self.universe
        } else {
            let place = self.next(place.map_or(0, |place| place + 1))?;
            self.number(index, place)?
        };
        (start <= end && end <= self.universe).then_some((start as usize, end as usize))
    }

    /// The number with this index, whose set bit is at `place`.
    #[inline]
    fn number(&self, index: usize, place: usize) -> Option<u64> {
        let high = place.checked_sub(index)? as u64;
        let low = lowest(window(self.low, index * self.width as usize), self.width);
        Some(high << self.width | low)
    }

    /// The place of a set bit.
    #[inline]
    fn select(&self, index: usize) -> Option<usize> {
        let sample = self.samples.get(index / SAMPLED * 2..)?.first_chunk()?;
        let mut at = usize::from(u16::from_le_bytes(*sample));
        let mut left = (index % SAMPLED) as u32;
        while at < self.high.len() * 8 {
            let mut bits = lowest(window(self.high, at), WINDOW);
            let set = bits.count_ones();
            if left < set {
                for _ in 0..left {
                    bits &= bits - 1;
                }
                return Some(at + bits.trailing_zeros() as usize);
            }
            left -= set;
            at += WINDOW as usize;
        }
        None
    }

    /// The place of the first set bit from `at` on.
    #[inline]
    fn next(&self, mut at: usize) -> Option<usize> {
        while at < self.high.len() * 8 {
            let bits = lowest(window(self.high, at), WINDOW);
            if bits != 0 {
                return Some(at + bits.trailing_zeros() as usize);
            }
            at += WINDOW as usize;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn gives_back_every_range(gaps in prop::collection::vec(prop_oneof![0u64..3, 0u64..2000, 0u64..1 << 40], 1..500)) {
            let ends: Vec<u64> = gaps.iter().scan(0, |sum, gap| { *sum += gap; Some(*sum) }).collect();
            let universe = *ends.last().unwrap();
            let mut bytes = Vec::new();
            write(&ends[..ends.len() - 1], universe, &mut bytes);
            prop_assert!(bytes.len() as f64 * 8.0 <= (ends.len() as f64) * (2.3 + (1.0 + universe as f64 / ends.len() as f64).log2()) + 80.0);
            bytes.push(7);
            let (offsets, rest) = Offsets::read(&bytes, ends.len() - 1, universe).unwrap();
            prop_assert_eq!(rest, &[7][..]);
            for index in 0..ends.len() {
                let start = if index == 0 { 0 } else { ends[index - 1] };
                prop_assert_eq!(offsets.range(index), Some((start as usize, ends[index] as usize)));
            }
        }

        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200), n in 0usize..300, universe in 0u64..1 << 50) {
            if let Some((offsets, _)) = Offsets::read(&bytes, n, universe) {
                for index in 0..=n {
                    if let Some((start, end)) = offsets.range(index) {
                        prop_assert!(start <= end && end as u64 <= universe);
                    }
                }
            }
        }
    }
}
