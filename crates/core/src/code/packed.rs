//! Lists of integers, packed: every full block of 128 with the width of its largest, the rest by
//! [`variable_byte`].
//!
//! ```text
//! block   u8 width w, then 16 w bytes: 128 integers of w bits, interleaved in four lanes
//! rest    fewer than 128 integers in variable byte code
//! ```
//!
//! A block costs w + 1/16 bits an integer and decodes four integers an instruction, about 0.2 ns each
//! (Lemire and Boytsov, *Decoding billions of integers per second through vectorization*, 2015; crate
//! `bitpacking`). How many integers there are is not written: the reader knows.

use bitpacking::{BitPacker, BitPacker4x};

use super::variable_byte;

/// How many integers make a full block.
pub const BLOCK: usize = BitPacker4x::BLOCK_LEN;

/// The widest integer.
const WIDEST: u8 = 32;

/// Appends `numbers` to `bytes`.
pub fn write(numbers: &[u32], bytes: &mut Vec<u8>) {
    let packer = BitPacker4x::new();
    let mut blocks = numbers.chunks_exact(BLOCK);
    for block in &mut blocks {
        let width = packer.num_bits(block);
        bytes.push(width);
        let start = bytes.len();
        bytes.resize(start + BitPacker4x::compressed_block_size(width), 0);
        packer.compress(block, &mut bytes[start..], width);
    }
    for number in blocks.remainder() {
        variable_byte::write(u64::from(*number), bytes);
    }
}

/// Takes `n` integers off the front of `bytes` into `numbers`, which is cleared first; `None` where the
/// bytes do not hold them.
pub fn read(bytes: &mut &[u8], n: usize, numbers: &mut Vec<u32>) -> Option<()> {
    numbers.clear();
    // Each integer takes at least 1/128 of a byte, so a nonsensical `n` does not become an allocation.
    if n.div_ceil(BLOCK) > bytes.len() {
        return None;
    }
    let packer = BitPacker4x::new();
    let full = n / BLOCK;
    numbers.resize(full * BLOCK, 0);
    for block in numbers.chunks_exact_mut(BLOCK) {
        let (&width, rest) = bytes.split_first()?;
        if width > WIDEST {
            return None;
        }
        let (packed, rest) = rest.split_at_checked(BitPacker4x::compressed_block_size(width))?;
        packer.decompress(packed, block, width);
        *bytes = rest;
    }
    for _ in full * BLOCK..n {
        numbers.push(variable_byte::read_u32(bytes)?);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn gives_back_what_was_written(numbers in prop::collection::vec((any::<u32>(), 0u32..32), 0..600), trailing in any::<u8>()) {
            let numbers: Vec<u32> = numbers.into_iter().map(|(number, shift)| number >> shift).collect();
            let mut bytes = Vec::new();
            write(&numbers, &mut bytes);
            bytes.push(trailing);
            let mut rest = bytes.as_slice();
            let mut decoded = vec![7; 3];
            prop_assert_eq!(read(&mut rest, numbers.len(), &mut decoded), Some(()));
            prop_assert_eq!(decoded, numbers);
            prop_assert_eq!(rest, &[trailing]);
        }

        #[test]
        fn any_bytes_give_numbers_or_nothing(bytes in prop::collection::vec(any::<u8>(), 0..700), n in prop_oneof![0usize..600, any::<usize>()]) {
            let mut numbers = Vec::new();
            if read(&mut bytes.as_slice(), n, &mut numbers).is_some() {
                prop_assert_eq!(numbers.len(), n);
            }
        }
    }
}
