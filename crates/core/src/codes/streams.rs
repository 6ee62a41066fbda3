//! One long list of 64-bit numbers in any code, for users who want to see what a code does with their data.
//!
//! A bit-oriented code writes them as it writes a list. The codes of 32-bit numbers (blocks, PFOR-DELTA, ANS)
//! write lists of [`PIECE`] numbers:
//!
//! ```text
//! u8       1 if some number has more than 32 bits, plus 2 if models follow
//! models   their length in bytes, in variable byte code, and the models
//! lists    for every piece the low halves of its numbers, then, if there are any, the high halves
//! ```
//!
//! The models of ANS are trained on the numbers themselves if that makes the result shorter.

use super::coder::Coder;
use super::name::Code;
use super::streamed::Streamed;
use super::variable_byte;
use crate::{Error, Pulse, Result};

/// Numbers per list.
const PIECE: usize = 1024;
/// The maximum number of lists that models are trained on.
const SAMPLE: usize = 2048;
const HIGH_HALVES: u8 = 1;
const MODELS: u8 = 2;

/// Encodes `numbers`.
pub fn encode(code: Code, numbers: &[u64], pulse: &Pulse) -> Result<Vec<u8>> {
    let code = code.check()?;
    let mut bytes = Vec::new();
    if let Some(streamed) = Streamed::of(code) {
        pulse.beat()?;
        streamed.write(numbers, &mut bytes)?;
        return Ok(bytes);
    }
    if numbers.is_empty() {
        return Ok(bytes);
    }
    encode_pieces(&Coder::new(code)?, 0, numbers, &mut bytes, pulse)?;
    if code == Code::Ans {
        let lists = numbers.len().div_ceil(PIECE);
        let sample: Vec<Vec<u32>> =
            numbers.chunks(PIECE).step_by(lists.div_ceil(SAMPLE)).map(|piece| halves(piece, 0)).collect();
        let fitted = Coder::train(code, &sample)?;
        let mut others = Vec::new();
        encode_pieces(&fitted, MODELS, numbers, &mut others, pulse)?;
        if others.len() < bytes.len() {
            return Ok(others);
        }
    }
    Ok(bytes)
}

fn encode_pieces(coder: &Coder, head: u8, numbers: &[u64], bytes: &mut Vec<u8>, pulse: &Pulse) -> Result<()> {
    let high = numbers.iter().any(|number| number >> 32 > 0);
    bytes.push(head | if high { HIGH_HALVES } else { 0 });
    if head & MODELS > 0 {
        variable_byte::write_bytes(&coder.to_bytes(), bytes);
    }
    for piece in numbers.chunks(PIECE) {
        pulse.beat()?;
        coder.write(&halves(piece, 0), bytes)?;
        if high {
            coder.write(&halves(piece, 32), bytes)?;
        }
    }
    Ok(())
}

fn halves(piece: &[u64], shift: u32) -> Vec<u32> {
    piece.iter().map(|number| (number >> shift) as u32).collect()
}

/// Decodes the `n` numbers that [`encode`] wrote.
pub fn decode(code: Code, bytes: &[u8], n: usize, pulse: &Pulse) -> Result<Vec<u64>> {
    let code = code.check()?;
    let mut numbers = Vec::new();
    let found = match Streamed::of(code) {
        Some(streamed) => {
            pulse.beat()?;
            streamed.read(&mut &*bytes, n, &mut numbers)
        }
        None => decode_pieces(code, bytes, n, &mut numbers, pulse)?,
    };
    found.ok_or_else(|| {
        Error::Invalid(format!("these {} bytes do not hold {n} numbers in {code}", bytes.len()))
    })?;
    Ok(numbers)
}

fn decode_pieces(
    code: Code,
    mut bytes: &[u8],
    n: usize,
    numbers: &mut Vec<u64>,
    pulse: &Pulse,
) -> Result<Option<()>> {
    if n == 0 {
        return Ok(Some(()));
    }
    let Some((&head, rest)) = bytes.split_first() else { return Ok(None) };
    bytes = rest;
    let coder = if head & MODELS > 0 {
        variable_byte::read_bytes(&mut bytes).and_then(|models| Coder::from_bytes(code, models))
    } else {
        Some(Coder::new(code)?)
    };
    let Some(coder) = coder else { return Ok(None) };
    let mut half = Vec::new();
    while numbers.len() < n {
        pulse.beat()?;
        let length = PIECE.min(n - numbers.len());
        if coder.read(&mut bytes, length, &mut half).is_none() {
            return Ok(None);
        }
        let start = numbers.len();
        numbers.extend(half.iter().map(|low| u64::from(*low)));
        if head & HIGH_HALVES > 0 {
            if coder.read(&mut bytes, length, &mut half).is_none() {
                return Ok(None);
            }
            numbers[start..]
                .iter_mut()
                .zip(&half)
                .for_each(|(number, high)| *number |= u64::from(*high) << 32);
        }
    }
    Ok(Some(()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STEADY: Pulse = Pulse::STEADY;

    fn some_numbers() -> impl Strategy<Value = Vec<u64>> {
        let length = prop_oneof![0usize..4, 0usize..300, 1000usize..2100];
        (length, 0u32..64).prop_flat_map(|(length, shift)| {
            let number = (any::<u64>(), 0u32..64)
                .prop_map(move |(number, more)| (number >> shift.max(more)).min(u64::MAX - 1));
            prop::collection::vec(number, length)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn gives_back_what_was_written(numbers in some_numbers(), flip in any::<(prop::sample::Index, u8)>()) {
            for code in Code::all() {
                let mut bytes = match encode(code, &numbers, &STEADY) {
                    Ok(bytes) => bytes,
                    Err(_) => {
                        let sum: u128 = numbers.iter().map(|number| u128::from(*number)).sum();
                        prop_assert!(code == Code::EliasFano && sum > u128::from(u64::MAX), "{} refused", code);
                        continue;
                    }
                };
                prop_assert_eq!(&decode(code, &bytes, numbers.len(), &STEADY).unwrap(), &numbers, "{}", code);
                if !bytes.is_empty() {
                    let place = flip.0.index(bytes.len());
                    bytes[place] ^= flip.1;
                    if let Ok(others) = decode(code, &bytes, numbers.len(), &STEADY) {
                        prop_assert_eq!(others.len(), numbers.len());
                    }
                }
            }
        }

        #[test]
        fn any_bytes_give_numbers_or_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..100), n in any::<usize>()) {
            for code in Code::all() {
                if let Ok(numbers) = decode(code, &bytes, n, &STEADY) {
                    prop_assert_eq!(numbers.len(), n);
                }
            }
        }
    }

    #[test]
    fn models_are_fitted_where_that_is_shorter() {
        let numbers: Vec<u64> = (0..50_000u64).map(|number| 7 + number % 3 * 1000).collect();
        let bytes = encode(Code::Ans, &numbers, &STEADY).unwrap();
        assert_eq!(bytes[0], MODELS);
        assert!(bytes.len() * 8 < numbers.len() * 8, "{} bytes", bytes.len());
        assert_eq!(encode(Code::Ans, &numbers[..3], &STEADY).unwrap()[0], 0);
    }
}
