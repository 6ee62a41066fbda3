//! The codes of the parts: chosen by what the numbers of each would take.

use std::sync::OnceLock;

use super::Part;
use crate::codes::Code;
use crate::codes::bits::BitReader;
use crate::codes::streamed::Single;

/// The codes that a part may have; a file has their indices.
pub const CODES: [Code; 14] = [
    Code::Unary,
    Code::Gamma,
    Code::Delta,
    Code::Zeta(2),
    Code::Zeta(3),
    Code::Zeta(4),
    Code::Zeta(5),
    Code::Zeta(6),
    Code::Zeta(7),
    Code::Rice(Some(1)),
    Code::Rice(Some(2)),
    Code::Rice(Some(3)),
    Code::Nibble,
    Code::Omega,
];

const GAMMA: u8 = 1;
const ZETA3: u8 = 4;

/// Numbers below this are looked up.
const SMALL: usize = 512;
/// The length of a codeword that does not exist.
const NEVER: u64 = 1 << 20;

/// The number of bits looked up when a codeword is decoded.
const PREFIX: u32 = 11;

/// For each prefix: the number of the codeword that it begins with and, in the lowest four bits, the codeword's
/// length; 0 if the codeword is longer than the prefix.
type Table = [u16; 1 << PREFIX];

/// A code as the loops use it.
#[derive(Clone, Copy)]
struct Word {
    single: Single,
    table: &'static Table,
}

/// The words of all codes, with their tables.
fn words() -> &'static [Word; CODES.len()] {
    static WORDS: OnceLock<[Word; CODES.len()]> = OnceLock::new();
    WORDS.get_or_init(|| {
        CODES.map(|code| {
            let single = Single::of(code).unwrap_or(Single::Gamma);
            Word { single, table: Box::leak(Box::new(table_of(single))) }
        })
    })
}

fn table_of(single: Single) -> Table {
    std::array::from_fn(|prefix| {
        let bytes = (prefix as u64).to_le_bytes();
        let mut bits = BitReader::new(&bytes);
        let number = single.read(&mut bits);
        let length = bits.position().1;
        match number {
            Some(number) if length <= PREFIX as usize && number < 1 << 12 => {
                (number << 4) as u16 | length as u16
            }
            _ => 0,
        }
    })
}

/// The code of each part.
#[derive(Clone, Copy)]
pub struct Codes {
    /// Indices into [`CODES`].
    pub indices: [u8; Part::ALL.len()],
    words: [Word; Part::ALL.len()],
}

impl Codes {
    /// The codes with these indices; `None` if one does not exist.
    pub fn of(indices: [u8; Part::ALL.len()]) -> Option<Codes> {
        if indices.iter().any(|index| usize::from(*index) >= CODES.len()) {
            return None;
        }
        Some(Codes { indices, words: indices.map(|index| words()[usize::from(index)]) })
    }

    /// The codeword of a number: how it is written.
    #[inline]
    pub fn single(&self, part: Part) -> Single {
        self.words[part as usize].single
    }

    /// Reads a number.
    #[inline(always)]
    pub fn read(&self, part: Part, bits: &mut BitReader) -> Option<u64> {
        let word = &self.words[part as usize];
        let entry = word.table[bits.window() as usize % word.table.len()];
        if entry == 0 {
            return slowly(word.single, bits);
        }
        bits.skip(usize::from(entry & 0xf));
        Some(u64::from(entry >> 4))
    }
}

#[inline(never)]
fn slowly(single: Single, bits: &mut BitReader) -> Option<u64> {
    single.read(bits)
}

impl Default for Codes {
    /// WebGraph's: γ, unary for references, ζ₃ for residuals.
    fn default() -> Codes {
        let mut indices = [GAMMA; Part::ALL.len()];
        indices[Part::Reference as usize] = 0;
        indices[Part::FirstResidual as usize] = ZETA3;
        indices[Part::Residual as usize] = ZETA3;
        Codes { indices, words: indices.map(|index| words()[usize::from(index)]) }
    }
}

/// The length of the codeword of a number; [`NEVER`] if there is none.
fn length_of(code: u8, number: u64) -> u64 {
    words()[usize::from(code)].single.length(number).unwrap_or(NEVER)
}

/// The codeword lengths of the small numbers in every code.
fn small_lengths() -> &'static [[u32; SMALL]; CODES.len()] {
    static LENGTHS: OnceLock<Box<[[u32; SMALL]; CODES.len()]>> = OnceLock::new();
    LENGTHS.get_or_init(|| {
        Box::new(std::array::from_fn(|code| {
            std::array::from_fn(|number| length_of(code as u8, number as u64) as u32)
        }))
    })
}

/// What the numbers of each part cost in the chosen codes.
pub struct Lengths {
    indices: [u8; Part::ALL.len()],
    small: [&'static [u32; SMALL]; Part::ALL.len()],
}

impl Lengths {
    /// The lengths in these codes.
    pub fn of(codes: &Codes) -> Lengths {
        Lengths {
            indices: codes.indices,
            small: codes.indices.map(|index| &small_lengths()[usize::from(index)]),
        }
    }

    /// The length of a number's codeword.
    #[inline]
    pub fn length(&self, part: Part, number: u64) -> u64 {
        match self.small[part as usize].get(number as usize) {
            Some(length) => u64::from(*length),
            None => length_of(self.indices[part as usize], number),
        }
    }
}

/// How often each number occurs in each part.
pub struct Tally {
    small: [Box<[u32; SMALL]>; Part::ALL.len()],
    large: [Vec<u64>; Part::ALL.len()],
}

impl Default for Tally {
    fn default() -> Tally {
        Tally {
            small: std::array::from_fn(|_| Box::new([0; SMALL])),
            large: std::array::from_fn(|_| Vec::new()),
        }
    }
}

impl Tally {
    /// Counts a number.
    #[inline]
    pub fn add(&mut self, part: Part, number: u64) {
        match self.small[part as usize].get_mut(number as usize) {
            Some(count) => *count += 1,
            None => self.large[part as usize].push(number),
        }
    }

    /// How many bits the numbers of a part take in a code.
    fn bits(&self, part: Part, code: u8) -> u64 {
        let small = self.small[part as usize].iter().zip(&small_lengths()[usize::from(code)]);
        let small: u64 = small.map(|(count, length)| u64::from(*count) * u64::from(*length)).sum();
        let large = self.large[part as usize].iter().map(|number| length_of(code, *number));
        small + large.sum::<u64>()
    }

    /// The best code of each part (the first of equals), and how many bits its numbers take in it.
    pub fn best(&self) -> (Codes, [u64; Part::ALL.len()]) {
        let mut bits = [0; Part::ALL.len()];
        let mut indices = [0; Part::ALL.len()];
        for part in Part::ALL {
            let costs = (0..CODES.len() as u8).map(|code| (self.bits(part, code), code));
            (bits[part as usize], indices[part as usize]) = costs.min().unwrap_or_default();
        }
        (Codes { indices, words: indices.map(|index| words()[usize::from(index)]) }, bits)
    }
}
