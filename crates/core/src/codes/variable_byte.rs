//! Variable byte code (varint): seven bits of the number per byte, the lowest first; the top bit says that
//! more follow.
//!
//! A number x takes ⌊log₂ x⌋ / 7 + 1 bytes (1 for zero): one below 128, two below 16,384, ten at most.
//! It is the code to choose for isolated numbers, if a simple decoder matters more than bytes (Witten, Moffat
//! and Bell, *Managing Gigabytes*, 1999).

/// Appends `number` to `bytes`.
#[inline]
pub fn write(mut number: u64, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Decodes a number off the front of `bytes`; `None` if they end too early or hold more than 64 bits.
#[inline]
pub fn read(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    let mut shift = 0;
    loop {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        if shift == 63 && byte > 1 {
            return None;
        }
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
        shift += 7;
    }
}

/// Decodes a number that must fit in 32 bits off the front of `bytes`.
#[inline]
pub fn read_u32(bytes: &mut &[u8]) -> Option<u32> {
    read(bytes).and_then(|number| u32::try_from(number).ok())
}

/// Decodes a length and reads that many bytes off the front of `bytes`.
#[inline]
pub fn read_bytes<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(read(bytes)?).ok()?;
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

/// Appends a length and that many bytes.
pub fn write_bytes(taken: &[u8], bytes: &mut Vec<u8>) {
    write(taken.len() as u64, bytes);
    bytes.extend_from_slice(taken);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn some_number() -> impl Strategy<Value = u64> {
        (any::<u64>(), 0u32..64).prop_map(|(number, shift)| number >> shift)
    }

    proptest! {
        #[test]
        fn gives_back_what_was_written(numbers in prop::collection::vec(some_number(), 0..200)) {
            let mut bytes = Vec::new();
            for number in &numbers {
                let before = bytes.len();
                write(*number, &mut bytes);
                let bits = (64 - number.leading_zeros()).max(1) as usize;
                prop_assert_eq!(bytes.len() - before, bits.div_ceil(7));
            }
            let mut rest = bytes.as_slice();
            for number in &numbers {
                prop_assert_eq!(read(&mut rest), Some(*number));
            }
            prop_assert!(rest.is_empty());
            prop_assert_eq!(read(&mut rest), None);
        }

        #[test]
        fn any_bytes_give_a_number_or_nothing(bytes in prop::collection::vec(any::<u8>(), 0..30)) {
            let mut rest = bytes.as_slice();
            while read(&mut rest).is_some() {}
            read_bytes(&mut bytes.as_slice());
        }
    }
}
