//! The compacted vector: only the nonzero variables of a solved system, with a rank structure.
//!
//! Peeling sets one variable for each of n keys and leaves the others of the c n variables 0: a bit per
//! variable says whether its value is stored, and the rank of that bit where. With 9 words for every 512
//! variables, the cumulative count and then the bits, the vector takes
//!
//! ```text
//! n b (1 - 2^-b) + (1 + 1/8) c n bits
//! ```
//!
//! for values of b bits, instead of c n b: it pays when (c - 1) b > 1.125 c, from 6 bits on with c = 1.23 and
//! from 11 on with c = 1.12. A lookup takes two cache misses instead of one.

use super::bits::{PADDING, Writer, packed_length, unpack};

/// The number of variables per cumulative count: the quantum of the rank structure.
const QUANTUM: u64 = 512;

/// The bytes of a block: a count and its bits.
const BLOCK: usize = 8 + QUANTUM as usize / 8;

/// The offsets of the parts of a compacted vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compact {
    blocks: usize,
    values: usize,
    width: u32,
    nonzero: u64,
}

impl Compact {
    /// Appends the vector of `variables` numbers of `width` bits, `value(i)` each; returns the nonzero count.
    pub fn write(variables: u64, width: u32, value: impl Fn(u64) -> u64, bytes: &mut Vec<u8>) -> u64 {
        let mut values = Vec::new();
        let mut writer = Writer::new(width);
        let mut nonzero = 0u64;
        for start in (0..variables).step_by(QUANTUM as usize) {
            bytes.extend_from_slice(&nonzero.to_le_bytes());
            let mut words = [0u64; (QUANTUM / 64) as usize];
            for offset in 0..QUANTUM.min(variables - start) {
                let value = value(start + offset);
                if value != 0 {
                    words[(offset / 64) as usize] |= 1 << (offset % 64);
                    writer.push(value, &mut values);
                    nonzero += 1;
                }
            }
            words.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
        }
        writer.finish(&mut values);
        bytes.append(&mut values);
        bytes.extend_from_slice(&[0; PADDING]);
        nonzero
    }

    /// The vector that begins at byte `start`, and its end.
    pub fn place(start: usize, variables: u64, width: u32, nonzero: u64) -> Option<(Compact, usize)> {
        let blocks = usize::try_from(variables.div_ceil(QUANTUM)).ok()?;
        let values = blocks.checked_mul(BLOCK)?.checked_add(start)?;
        let end = values.checked_add(packed_length(nonzero, width)?)?.checked_add(PADDING)?;
        Some((Compact { blocks: start, values, width, nonzero }, end))
    }

    /// The offset of the block with a variable's bit.
    #[inline]
    pub fn offset(&self, variable: u64) -> usize {
        self.blocks + (variable / QUANTUM) as usize * BLOCK
    }

    /// The offset of a variable's value; `None` if it is 0, or the bytes are damaged.
    #[inline]
    pub fn value_offset(&self, bytes: &[u8], variable: u64) -> Option<usize> {
        let rank = self.rank(bytes, variable)??;
        Some(self.values + (rank * u64::from(self.width) / 8) as usize)
    }

    /// The value of a variable; `None` if the bytes are damaged.
    #[inline]
    pub fn get(&self, bytes: &[u8], variable: u64) -> Option<u64> {
        match self.rank(bytes, variable)? {
            None => Some(0),
            Some(rank) => unpack(bytes, self.values, rank, self.width),
        }
    }

    /// The rank of a nonzero variable, `Some(None)` if it is 0; `None` if the bytes are damaged.
    #[inline]
    fn rank(&self, bytes: &[u8], variable: u64) -> Option<Option<u64>> {
        let block = bytes.get(self.offset(variable)..)?.first_chunk::<BLOCK>()?;
        let (words, _) = block.as_chunks::<8>();
        let (count, words) = words.split_first()?;
        let (word, bit) = ((variable % QUANTUM / 64) as usize, variable % 64);
        let own = u64::from_le_bytes(words[word]);
        if own >> bit & 1 == 0 {
            return Some(None);
        }
        let ones = |word: u64| u64::from(word.count_ones());
        let before: u64 = words[..word].iter().map(|word| ones(u64::from_le_bytes(*word))).sum();
        let rank = u64::from_le_bytes(*count).checked_add(before + ones(own & ((1 << bit) - 1)))?;
        (rank < self.nonzero).then_some(Some(rank))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn gives_back_what_was_written(values in prop::collection::vec(prop_oneof![Just(0u64), any::<u64>()], 0..1700), width in 1u32..=64, start in 0usize..9) {
            let values: Vec<u64> = values.into_iter().map(|value| value >> (64 - width)).collect();
            let mut bytes = vec![1; start];
            let nonzero = Compact::write(values.len() as u64, width, |index| values[index as usize], &mut bytes);
            prop_assert_eq!(nonzero as usize, values.iter().filter(|value| **value != 0).count());
            let (compact, end) = Compact::place(start, values.len() as u64, width, nonzero).unwrap();
            prop_assert_eq!(end, bytes.len());
            for (index, value) in values.iter().enumerate() {
                prop_assert_eq!(compact.get(&bytes, index as u64), Some(*value));
            }
        }

        #[test]
        fn any_bytes_give_a_value_or_none(bytes in prop::collection::vec(any::<u8>(), 0..300), variables in any::<u64>(), width in 1u32..=64, nonzero in any::<u64>(), variable in prop_oneof![0u64..2000, any::<u64>()]) {
            if let Some((compact, _)) = Compact::place(0, variables, width, nonzero) {
                compact.get(&bytes, variable % variables.max(1));
            }
            if let Some((compact, _)) = Compact::place(0, 512, width, 30) {
                compact.get(&bytes, variable % 512);
            }
        }
    }
}
