//! The codes whose lists are a single bit stream, for numbers of 32 or 64 bits.

use super::bits::{BitReader, BitSource, BitWriter, Bits};
use super::elias_fano;
use super::fitted::{self, Fitted};
use super::lists::{self, Natural};
use super::name::Code;
use super::words::{
    Blocks, Delta, FixedZeta, Gamma, Golomb, Minimal, Omega, Pi, Prefixed, Rice, Unary, UnaryOrdered, Words,
    Zeta,
};
use crate::Result;

/// The code of single-number lists if the code is fitted to its list: a parameter would be as long as the
/// number.
const LONE: Blocks = Blocks(8);

/// A code whose lists are a single bit stream, with the constants derived from its parameter.
#[derive(Clone, Copy)]
pub enum Streamed {
    /// A codeword for each number.
    Words(Single),
    /// Codewords of a code that is chosen for each list.
    Fitted(Fitted),
    /// The Golomb code of the modulus for as many numbers as a list has out of so many.
    Of(u64),
    /// Elias–Fano, of the prefix sums.
    EliasFano,
}

/// A code with a codeword for every single number.
#[derive(Clone, Copy)]
pub enum Single {
    /// Unary.
    Unary,
    /// Unary in ones.
    UnaryOrdered,
    /// Elias's γ.
    Gamma,
    /// Elias's δ.
    Delta,
    /// ζ of some parameter.
    Zeta(Zeta),
    /// π of some parameter: a code of WebGraph's files only.
    Pi(Pi),
    /// Elias's ω.
    Omega,
    /// Golomb's code of some modulus.
    Golomb(Golomb),
    /// Rice's code of some parameter.
    Rice(Rice),
    /// Minimal binary code of some bound.
    Minimal(Minimal),
    /// Blocks of four bits.
    Nibble,
    /// Blocks of eight bits.
    Byte,
    /// Blocks of four bits, preceded by their number.
    NibblePrefix,
    /// Blocks of eight bits, preceded by their number.
    BytePrefix,
}

/// Evaluates `$work` for the codewords of a [`Single`]: once per type, so that its loops are monomorphised.
macro_rules! each {
    ($single:expr, $words:ident => $work:expr) => {
        match $single {
            Single::Unary => each!(@ $words, Unary, $work),
            Single::UnaryOrdered => each!(@ $words, UnaryOrdered, $work),
            Single::Gamma => each!(@ $words, Gamma, $work),
            Single::Delta => each!(@ $words, Delta, $work),
            Single::Zeta(Zeta(3)) => each!(@ $words, FixedZeta::<3>, $work),
            Single::Zeta(zeta) => each!(@ $words, zeta, $work),
            Single::Pi(pi) => each!(@ $words, pi, $work),
            Single::Omega => each!(@ $words, Omega, $work),
            Single::Golomb(golomb) => each!(@ $words, golomb, $work),
            Single::Rice(rice) => each!(@ $words, rice, $work),
            Single::Minimal(minimal) => each!(@ $words, minimal, $work),
            Single::Nibble => each!(@ $words, Blocks(4), $work),
            Single::Byte => each!(@ $words, Blocks(8), $work),
            Single::NibblePrefix => each!(@ $words, Prefixed(4), $work),
            Single::BytePrefix => each!(@ $words, Prefixed(8), $work),
        }
    };
    (@ $words:ident, $value:expr, $work:expr) => {{
        let $words = $value;
        $work
    }};
}

impl Single {
    /// The codewords of a code, if it has one for every single number. Its parameter has been checked.
    pub fn of(code: Code) -> Option<Single> {
        Some(match code {
            Code::Unary => Single::Unary,
            Code::UnaryOrdered => Single::UnaryOrdered,
            Code::Gamma => Single::Gamma,
            Code::Delta => Single::Delta,
            Code::Zeta(k) => Single::Zeta(Zeta(u32::from(k))),
            Code::Omega => Single::Omega,
            Code::Golomb(Some(modulus)) => Single::Golomb(Golomb::new(modulus)),
            Code::Rice(Some(parameter)) => Single::Rice(Rice(u32::from(parameter))),
            Code::Minimal(bound) => Single::Minimal(Minimal::new(bound)),
            Code::Nibble => Single::Nibble,
            Code::Byte => Single::Byte,
            Code::NibblePrefix => Single::NibblePrefix,
            Code::BytePrefix => Single::BytePrefix,
            _ => return None,
        })
    }

    /// The codeword length of `number`; `None` if it has no codeword, or one that is absurdly long.
    pub fn length(self, number: u64) -> Option<u64> {
        each!(self, words => words.length(number))
    }

    /// Appends the codeword of `number`, which must have one.
    pub fn write(self, number: u64, bits: &mut impl Bits) {
        each!(self, words => words.write(number, bits));
    }

    /// Reads a codeword.
    pub fn read(self, bits: &mut impl BitSource) -> Option<u64> {
        each!(self, words => words.read(bits))
    }

    /// Decodes as many codewords as there are `places`.
    pub fn fill(self, bits: &mut BitReader, places: &mut [u32]) -> Option<()> {
        each!(self, words => lists::fill(words, bits, places))
    }
}

impl Streamed {
    /// The code, if its lists are bit streams. Its parameter has been checked.
    pub fn of(code: Code) -> Option<Streamed> {
        match code {
            Code::Golomb(None) => Some(Streamed::Fitted(Fitted::Golomb)),
            Code::GolombOf(all) => Some(Streamed::Of(all)),
            Code::Rice(None) => Some(Streamed::Fitted(Fitted::Rice)),
            Code::EliasFano => Some(Streamed::EliasFano),
            _ => Single::of(code).map(Streamed::Words),
        }
    }

    /// How many bits `numbers` take.
    pub fn length<T: Natural>(self, numbers: &[T]) -> Result<u64> {
        match self {
            Streamed::Words(single) => each!(single, words => lists::length(words, numbers)),
            Streamed::Of(all) => lists::length(fitted::golomb_of(numbers.len(), all), numbers),
            _ if numbers.len() == 1 => lists::length(LONE, numbers),
            Streamed::Fitted(fitted) => fitted.length(numbers),
            Streamed::EliasFano => elias_fano::length(numbers),
        }
    }

    /// Appends `numbers`; after an error, `bytes` may contain some of them.
    pub fn write<T: Natural>(self, numbers: &[T], bytes: &mut Vec<u8>) -> Result<()> {
        let mut bits = BitWriter::new(bytes);
        match self {
            Streamed::Words(single) => each!(single, words => lists::write(words, numbers, &mut bits))?,
            Streamed::Of(all) => {
                lists::write(fitted::golomb_of(numbers.len(), all), numbers, &mut bits)?;
            }
            _ if numbers.len() == 1 => lists::write(LONE, numbers, &mut bits)?,
            Streamed::Fitted(fitted) => fitted.write(numbers, &mut bits)?,
            Streamed::EliasFano => elias_fano::write(numbers, &mut bits)?,
        }
        bits.finish();
        Ok(())
    }

    /// Decodes `n` numbers off the front of `bytes` into `numbers`, replacing its contents.
    pub fn read<T: Natural>(self, bytes: &mut &[u8], n: usize, numbers: &mut Vec<T>) -> Option<()> {
        let mut bits = BitReader::new(bytes);
        match self {
            Streamed::Words(single) => each!(single, words => lists::read(words, &mut bits, n, numbers))?,
            Streamed::Of(all) => lists::read(fitted::golomb_of(n, all), &mut bits, n, numbers)?,
            _ if n == 1 => lists::read(LONE, &mut bits, n, numbers)?,
            Streamed::Fitted(fitted) => fitted.read(&mut bits, n, numbers)?,
            Streamed::EliasFano => elias_fano::read(&mut bits, n, numbers)?,
        }
        *bytes = bits.end()?;
        Some(())
    }
}
