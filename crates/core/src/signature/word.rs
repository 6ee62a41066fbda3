//! XXH3-64 of the words of a text, without branches that depend on their length.
//!
//! The function has one formula for 1 to 3 bytes and one for 4 to 8, and the lengths of words cannot be predicted: most
//! of the time that a short word takes is that of a branch taken wrongly. Here both are computed, and one is chosen.
//!
//! Source: Yann Collet, "XXH3 algorithm overview", in the specification of xxHash, section "Small inputs".

use std::hint::select_unpredictable;

use super::Signature;

/// The longest word that is hashed here.
const SHORT: usize = size_of::<u64>();
/// What the default secret has for 1 to 3 bytes, and for 4 to 8: two of its numbers, combined.
const SECRET_1: u64 = 0x396c_feb8 ^ 0xbe4b_a423;
const SECRET_4: u64 = 0x1cad_21f7_2c81_017c ^ 0xdb97_9083_e96d_d4de;

impl Signature {
    /// The signature of `text[start..end]`.
    #[inline]
    pub fn of_word(text: &[u8], start: usize, end: usize) -> Signature {
        let length = end - start;
        match text.get(start..).and_then(|rest| rest.first_chunk()) {
            Some(bytes) if (1..=SHORT).contains(&length) => {
                let bytes = u64::from_le_bytes(*bytes);
                let (few, more) = (of_1_to_3(bytes, length), of_4_to_8(bytes, length));
                Signature(select_unpredictable(length < 4, few, more))
            }
            _ => Signature::of(&text[start..end]),
        }
    }
}

/// Of the first 1 to 3 of eight bytes; of other lengths anything.
#[inline]
fn of_1_to_3(bytes: u64, length: usize) -> u64 {
    let byte = |place: usize| bytes >> (8 * place) & 0xff;
    let combined = byte(length - 1) | (length as u64) << 8 | byte(0) << 16 | byte(length >> 1) << 24;
    let mixed = SECRET_1 ^ combined;
    let mixed = (mixed ^ mixed >> 33).wrapping_mul(0xc2b2_ae3d_27d4_eb4f);
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0x1656_67b1_9e37_79f9);
    mixed ^ mixed >> 32
}

/// Of the first 4 to 8 of eight bytes; of other lengths anything.
#[inline]
fn of_4_to_8(bytes: u64, length: usize) -> u64 {
    const MULTIPLIER: u64 = 0x9fb2_1c65_1e98_df25;
    let last = bytes.wrapping_shr((8 * length as u32).wrapping_sub(32)) as u32;
    let mixed = SECRET_4 ^ (bytes << 32 | u64::from(last));
    let mixed = (mixed ^ mixed.rotate_left(49) ^ mixed.rotate_left(24)).wrapping_mul(MULTIPLIER);
    let mixed = (mixed ^ (mixed >> 35).wrapping_add(length as u64)).wrapping_mul(MULTIPLIER);
    mixed ^ mixed >> 28
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn is_the_signature(before in 0usize..9, word in prop::collection::vec(any::<u8>(), 0..20), after in 0usize..9) {
            let text = [vec![1; before], word.clone(), vec![2; after]].concat();
            let of_word = Signature::of_word(&text, before, before + word.len());
            prop_assert_eq!(of_word, Signature::of(&word));
        }
    }
}
