//! Properties of codes: codeword lengths, codewords as text, the Kraft sum, intended distributions.
//!
//! In an instantaneous (prefix-free) code no codeword is a prefix of another, and then ∑ 2^−|w| ≤ 1 over its
//! codewords w (Kraft and McMillan), with equality if it is complete. So its lengths define a distribution,
//! the intended one: P(n) = 2^−|w(n)|, for which the code is optimal. Conversely, any lengths whose sum is at
//! most one are those of an instantaneous code: [`canonical`] returns its codewords.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use super::bits::Bits;
use super::fitted;
use super::name::Code;
use super::streamed::Single;
use super::words::blocks;
use crate::{Error, Pulse, Result};

/// How many numbers are processed between two beats of the pulse.
const BETWEEN_BEATS: u64 = 1 << 16;
/// The maximum total length of the codewords of a canonical code, in characters.
const MOST_CHARACTERS: u64 = 1 << 26;

fn single(code: Code) -> Result<Single> {
    Single::of(code.check()?).ok_or_else(|| {
        Error::Invalid(format!(
            "{code} has no word for a lone number: how long one gets depends on its whole list"
        ))
    })
}

/// The codeword length of each number.
pub fn lengths(code: Code, numbers: &[u64]) -> Result<Vec<u64>> {
    let words = single(code)?;
    let length = |number: &u64| {
        words.length(*number).ok_or_else(|| {
            Error::Invalid(format!(
                "{number} has no word in {code}, or one of more than {} bits",
                super::words::LONGEST
            ))
        })
    };
    numbers.iter().map(length).collect()
}

/// The intended probability of each number; zero if it has no codeword or one that is never written.
///
/// If the code is incomplete, 2^−length is divided by the Kraft sum, so that the probabilities add up to one.
pub fn intended(code: Code, numbers: &[u64]) -> Result<Vec<f64>> {
    let words = single(code)?;
    let all = total(code);
    let probability =
        |number: &u64| words.length(*number).map_or(0.0, |length| (-(length as f64)).exp2() / all);
    Ok(numbers.iter().map(probability).collect())
}

/// The Kraft sum over all naturals: one if the code is complete. Codes with blocks of b bits lack 2^−b of it,
/// since a number never begins with a block of zeros.
fn total(code: Code) -> f64 {
    match code {
        Code::Nibble | Code::NibblePrefix => 1.0 - 1.0 / 16.0,
        Code::Byte | Code::BytePrefix => 1.0 - 1.0 / 256.0,
        _ => 1.0,
    }
}

/// The Kraft sum over the numbers below `upto`.
pub fn kraft(code: Code, upto: u64, pulse: &Pulse) -> Result<f64> {
    let words = single(code)?;
    let mut sum = 0.0;
    for number in 0..upto {
        if number % BETWEEN_BEATS == 0 {
            pulse.beat()?;
        }
        match words.length(number) {
            Some(length) => sum += (-(length as f64)).exp2(),
            // Lengths never decrease, so all later codewords are too long as well.
            None => break,
        }
    }
    Ok(sum)
}

/// The codewords of the numbers below `upto` as text: each field with its highest bit first.
pub fn words(code: Code, upto: u64, pulse: &Pulse) -> Result<Vec<String>> {
    let mut made = Vec::new();
    let mut characters = 0;
    for number in 0..upto {
        pulse.beat()?;
        let word = word(code, number)?;
        characters += word.len() as u64;
        within(characters)?;
        made.push(word);
    }
    Ok(made)
}

/// The codeword of a number as text.
pub fn word(code: Code, number: u64) -> Result<String> {
    let words = single(code)?;
    lengths(code, &[number])?;
    let mut paper = Paper(String::new());
    match code {
        Code::Nibble => write_blocks(number, 4, &mut paper),
        Code::Byte => write_blocks(number, 8, &mut paper),
        _ => words.write(number, &mut paper),
    }
    Ok(paper.0)
}

/// Blocks as they are drawn: the highest first, and in each the continuation bit first.
fn write_blocks(number: u64, block: u32, paper: &mut Paper) {
    let payload = block - 1;
    for place in (0..blocks(number, block)).rev() {
        paper.write(u64::from(place > 0), 1);
        paper.write(number >> (place * payload) & ((1 << payload) - 1), payload);
    }
}

/// Bits as characters.
struct Paper(String);

impl Bits for Paper {
    fn write(&mut self, value: u64, width: u32) {
        self.0.extend((0..width).rev().map(|place| if value >> place & 1 == 1 { '1' } else { '0' }));
    }

    fn write_unary(&mut self, zeros: u64) {
        self.0.extend((0..zeros).map(|_| '0'));
        self.0.push('1');
    }
}

fn within(characters: u64) -> Result<()> {
    if characters > MOST_CHARACTERS {
        return Err(Error::Invalid(format!(
            "the words would have more than {MOST_CHARACTERS} characters together"
        )));
    }
    Ok(())
}

/// The canonical code with some lengths: by length, then by index, each codeword is the next free one.
///
/// The intervals of the codewords fill \[0, 1) from the left without a gap; the proof of Kraft's theorem in
/// the notes is this loop. An error if the lengths do not satisfy the inequality.
pub fn canonical(lengths: &[u64]) -> Result<Vec<String>> {
    within(lengths.iter().fold(0u64, |sum, length| sum.saturating_add(*length)))?;
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|place| lengths[*place]);
    let mut made = vec![String::new(); lengths.len()];
    let mut word: Vec<u8> = Vec::new();
    for (rank, place) in order.into_iter().enumerate() {
        if rank > 0 {
            // The next codeword of the same length: a carry past the first bit is the end of the interval.
            let kept = word.iter().rposition(|bit| *bit == b'0').ok_or_else(|| {
                Error::Invalid(
                    "no instantaneous code has these lengths: the sum of 2^-length is more than 1".into(),
                )
            })?;
            word[kept] = b'1';
            word[kept + 1..].fill(b'0');
        }
        word.resize(lengths[place] as usize, b'0');
        made[place] = word.iter().map(|bit| char::from(*bit)).collect();
    }
    Ok(made)
}

/// The optimal modulus of the Golomb code for a geometric distribution with ratio `p`: ⌈−log(2−p) /
/// log(1−p)⌉.
pub fn golomb_modulus(p: f64) -> Result<u64> {
    fitted::golomb_modulus(p)
}

/// The empirical entropy of `numbers`, in bits per number: a lower bound for any code that encodes them one
/// at a time.
pub fn entropy(numbers: &[u64], pulse: &Pulse) -> Result<f64> {
    let mut counts: HashMap<u64, u64, FxBuildHasher> = HashMap::default();
    for some in numbers.chunks(BETWEEN_BEATS as usize) {
        pulse.beat()?;
        some.iter().for_each(|number| *counts.entry(*number).or_default() += 1);
    }
    let all = numbers.len() as f64;
    let mut counts: Vec<u64> = counts.into_values().collect();
    // Summed in an order that does not depend on the hash table.
    counts.sort_unstable();
    Ok(counts
        .into_iter()
        .map(|count| count as f64 / all)
        .map(|share| -share * share.log2())
        .sum::<f64>()
        .max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STEADY: Pulse = Pulse::STEADY;

    fn code(name: &str) -> Code {
        name.parse().unwrap()
    }

    #[test]
    fn words_are_those_of_the_notes() {
        for (name, expected) in [
            ("unary", "1 01 001 0001"),
            ("gamma", "1 010 011 00100 00101 00110"),
            ("delta", "1 0100 0101 01100 01101"),
            ("golomb:3", "10 110 111 010 0110 0111"),
            ("rice:1", "10 11 010 011 0010"),
            ("omega", "0 100 110 101000 101010 101100 101110 1110000"),
            ("zeta2", "10 110 111 01000 01001 01010 01011 011000"),
            ("minimal:3", "0 10 11"),
            ("nibble", "0000 0001 0010 0011 0100 0101 0110 0111 10010000 10010001"),
            ("nibble-prefix", "0000 0001 0010 0011 0100 0101 0110 0111 10001000 10001001"),
        ] {
            let expected: Vec<&str> = expected.split(' ').collect();
            assert_eq!(words(code(name), expected.len() as u64, &STEADY).unwrap(), expected, "{name}");
        }
    }

    #[test]
    fn words_are_instantaneous_and_of_their_length() {
        let names = [
            "unary",
            "gamma",
            "delta",
            "zeta1",
            "zeta3",
            "omega",
            "golomb:7",
            "rice:3",
            "nibble",
            "byte",
            "nibble-prefix",
            "byte-prefix",
        ];
        for name in names {
            let code = code(name);
            let mut made = words(code, 600, &STEADY).unwrap();
            let expected: Vec<u64> = made.iter().map(|word| word.len() as u64).collect();
            assert_eq!(lengths(code, &(0..600).collect::<Vec<u64>>()).unwrap(), expected, "{name}");
            made.sort();
            // In sorted order, a codeword that is a prefix of others comes just before the first of them.
            assert!(made.windows(2).all(|pair| !pair[1].starts_with(&pair[0])), "{name}");
        }
    }

    #[test]
    fn kraft_reaches_its_total() {
        for (name, upto, total) in [
            ("unary", 60, 1.0),
            ("gamma", 1 << 16, 1.0 - 2f64.powi(-16)),
            ("minimal:1000", 1000, 1.0),
            ("minimal:1000", 5000, 1.0),
            ("golomb:3", 300, 1.0),
            ("nibble", 1 << 15, 15.0 / 16.0 - 7.0 / 8.0 / 32.0),
        ] {
            let sum = kraft(code(name), upto, &STEADY).unwrap();
            assert!((sum - total).abs() < 1e-9, "{name}: {sum}");
        }
        let all: f64 = intended(code("byte"), &(0..1 << 14).collect::<Vec<u64>>()).unwrap().iter().sum();
        assert!((0.7..0.76).contains(&all), "{all}");
    }

    #[test]
    fn lists_have_no_lone_words() {
        for name in ["golomb", "rice", "ans", "pfor128", "elias-fano", "simd256"] {
            assert!(lengths(code(name), &[1]).is_err());
            assert!(kraft(code(name), 1, &STEADY).is_err());
        }
        assert!(lengths(code("gamma"), &[u64::MAX]).is_err());
        assert_eq!(lengths(code("gamma"), &[u64::MAX - 1]).unwrap(), [127]);
        assert!(lengths(code("unary"), &[1 << 16]).is_err());
    }

    #[test]
    fn golomb_moduli_are_those_of_the_formula() {
        for (p, modulus) in [(1.0, 1), (0.5, 1), (0.2, 3), (0.1, 7), (0.001, 693), (1e-9, 693_147_180)] {
            assert_eq!(golomb_modulus(p).unwrap(), modulus, "{p}");
        }
        assert!([0.0, -0.1, 1.1, f64::NAN].into_iter().all(|p| golomb_modulus(p).is_err()));
    }

    #[test]
    fn entropy_is_that_of_shares() {
        assert_eq!(entropy(&[], &STEADY).unwrap(), 0.0);
        assert_eq!(entropy(&[5; 9], &STEADY).unwrap(), 0.0);
        assert_eq!(entropy(&[1, 2, 3, 4], &STEADY).unwrap(), 2.0);
        assert_eq!(entropy(&[1, 1, 7, 9], &STEADY).unwrap(), 1.5);
    }

    proptest! {
        #[test]
        fn canonical_words_are_made_where_kraft_allows(lengths in prop::collection::vec(0u64..12, 0..60)) {
            let sum: u64 = lengths.iter().map(|length| 1 << (12 - length)).sum();
            match canonical(&lengths) {
                Ok(mut made) => {
                    prop_assert!(sum <= 1 << 12);
                    prop_assert_eq!(made.iter().map(|word| word.len() as u64).collect::<Vec<_>>(), lengths);
                    made.sort();
                    prop_assert!(made.windows(2).all(|pair| !pair[1].starts_with(&pair[0])));
                }
                Err(_) => prop_assert!(sum > 1 << 12),
            }
        }
    }
}
