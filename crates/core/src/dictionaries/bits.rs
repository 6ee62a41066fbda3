//! Bit-packed arrays: numbers of one fixed width, from 0 to 64 bits, without gaps.
//!
//! Number i of width w starts at bit i w, counted from the lowest bit of each byte, and is read in place with
//! one load of eight bytes (and of a ninth if it is wider than 57 bits and begins late in its first byte).
//! The writer of an array appends [`PADDING`], so that no load is out of bounds.

/// The number of bytes after an array; their content does not matter.
pub const PADDING: usize = 8;

/// The length in bytes of `count` numbers, without padding; `None` if it overflows.
pub fn packed_length(count: u64, width: u32) -> Option<usize> {
    let bits = count.checked_mul(u64::from(width))?;
    usize::try_from(bits.div_ceil(8)).ok()
}

/// Appends `numbers` of `width` bits, without padding.
pub fn pack(numbers: impl Iterator<Item = u64>, width: u32, bytes: &mut Vec<u8>) {
    let mut writer = Writer::new(width);
    numbers.for_each(|number| writer.push(number, bytes));
    writer.finish(bytes);
}

/// Packs numbers one by one.
pub struct Writer {
    width: u32,
    pending: u128,
    filled: u32,
}

impl Writer {
    /// A writer of numbers of `width` bits.
    pub fn new(width: u32) -> Writer {
        Writer { width, pending: 0, filled: 0 }
    }

    /// Appends a number.
    #[inline]
    pub fn push(&mut self, number: u64, bytes: &mut Vec<u8>) {
        self.pending |= u128::from(number) << self.filled;
        self.filled += self.width;
        if self.filled >= 64 {
            bytes.extend_from_slice(&(self.pending as u64).to_le_bytes());
            self.pending >>= 64;
            self.filled -= 64;
        }
    }

    /// Flushes the remaining bits.
    pub fn finish(self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.pending.to_le_bytes()[..self.filled.div_ceil(8) as usize]);
    }
}

/// The number at `index` of an array that begins at byte `start`; `None` if out of bounds.
#[inline]
pub fn unpack(bytes: &[u8], start: usize, index: u64, width: u32) -> Option<u64> {
    if width == 0 {
        return Some(0);
    }
    let bit = index.checked_mul(u64::from(width))?;
    let at = start.checked_add(usize::try_from(bit / 8).ok()?)?;
    let shift = (bit % 8) as u32;
    let (word, rest) = bytes.get(at..)?.split_first_chunk::<8>()?;
    let mut number = u64::from_le_bytes(*word) >> shift;
    if shift + width > 64 {
        number |= u64::from(*rest.first()?) << (64 - shift);
    }
    Some(number & (u64::MAX >> (64 - width)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn gives_back_what_was_packed(numbers in prop::collection::vec(any::<u64>(), 0..100), width in 0u32..=64, start in 0usize..20) {
            let numbers: Vec<u64> = numbers.iter().map(|number| number.checked_shr(64 - width).unwrap_or(0)).collect();
            let mut bytes = vec![0xff; start];
            pack(numbers.iter().copied(), width, &mut bytes);
            prop_assert_eq!(Some(bytes.len() - start), packed_length(numbers.len() as u64, width));
            bytes.extend([0xff; PADDING]);
            for (index, number) in numbers.iter().enumerate() {
                prop_assert_eq!(unpack(&bytes, start, index as u64, width), Some(*number));
            }
        }

        #[test]
        fn no_place_is_outside(length in 0usize..40, start in any::<usize>(), index in prop_oneof![0u64..50, any::<u64>()], width in 0u32..=64) {
            unpack(&vec![7; length], start, index, width);
            unpack(&vec![7; length], start % 50, index, width);
        }
    }
}
