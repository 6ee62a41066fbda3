//! Lists of 32-bit numbers in any code of the family.
//!
//! A list is self-contained except for its length, which the reader must know, and is padded to a byte; an
//! empty list takes no bytes. A corrupt list decodes to other numbers or to `None`, never a panic, and
//! allocates at most a kilobyte per byte.

use super::ans::Models;
use super::blocks::{self, Plain128, Plain256};
use super::escape::{Escaped128, Escaped256};
use super::name::Code;
use super::pfor::{Patched128, Patched256};
use super::streamed::Streamed;
use crate::{Error, Result};

/// A code, ready to encode and decode lists.
pub struct Coder {
    code: Code,
    kind: Kind,
}

/// The implementations of the codes.
enum Kind {
    Streamed(Streamed),
    Models(Box<Models>),
    Plain128,
    Plain256,
    Patched128,
    Patched256,
    Escaped128,
    Escaped256,
}

impl Kind {
    fn of(code: Code, models: impl FnOnce() -> Models) -> Option<Kind> {
        match code {
            Code::Ans => Some(Kind::Models(Box::new(models()))),
            Code::Simd128 => Some(Kind::Plain128),
            Code::Simd256 => Some(Kind::Plain256),
            Code::Pfor128 => Some(Kind::Patched128),
            Code::Pfor256 => Some(Kind::Patched256),
            Code::Escape128 => Some(Kind::Escaped128),
            Code::Escape256 => Some(Kind::Escaped256),
            _ => Streamed::of(code).map(Kind::Streamed),
        }
    }
}

impl Coder {
    /// A coder; a code with models gets the default ones.
    pub fn new(code: Code) -> Result<Coder> {
        Coder::with(code, Models::untrained)
    }

    /// A coder whose models, if it has any, are trained on a sample of the lists.
    pub fn train(code: Code, sample: &[Vec<u32>]) -> Result<Coder> {
        Coder::with(code, || Models::train(sample))
    }

    fn with(code: Code, models: impl FnOnce() -> Models) -> Result<Coder> {
        let code = code.check()?;
        let kind = Kind::of(code, models).ok_or_else(|| Error::Invalid(format!("{code} has no lists")))?;
        Ok(Coder { code, kind })
    }

    /// The code.
    pub fn code(&self) -> Code {
        self.code
    }

    /// Appends a list.
    pub fn write(&self, numbers: &[u32], bytes: &mut Vec<u8>) -> Result<()> {
        let start = bytes.len();
        let written = match &self.kind {
            Kind::Streamed(streamed) => streamed.write(numbers, bytes),
            Kind::Models(models) => models.write(numbers, bytes),
            Kind::Plain128 => blocks::write::<Plain128, Plain128>(numbers, bytes),
            Kind::Plain256 => blocks::write::<Plain256, Plain128>(numbers, bytes),
            Kind::Patched128 => blocks::write::<Patched128, Patched128>(numbers, bytes),
            Kind::Patched256 => blocks::write::<Patched256, Patched128>(numbers, bytes),
            Kind::Escaped256 => blocks::write::<Escaped256, Escaped128>(numbers, bytes),
            Kind::Escaped128 => blocks::write::<Escaped128, Escaped128>(numbers, bytes),
        };
        written.inspect_err(|_| bytes.truncate(start))
    }

    /// Decodes `n` numbers off the front of `bytes` into `numbers`, replacing its contents; `None` if the
    /// bytes do not decode.
    pub fn read(&self, bytes: &mut &[u8], n: usize, numbers: &mut Vec<u32>) -> Option<()> {
        match &self.kind {
            Kind::Streamed(streamed) => streamed.read(bytes, n, numbers),
            Kind::Models(models) => models.read(bytes, n, numbers),
            Kind::Plain128 => blocks::read::<Plain128, Plain128>(bytes, n, numbers),
            Kind::Plain256 => blocks::read::<Plain256, Plain128>(bytes, n, numbers),
            Kind::Patched128 => blocks::read::<Patched128, Patched128>(bytes, n, numbers),
            Kind::Patched256 => blocks::read::<Patched256, Patched128>(bytes, n, numbers),
            Kind::Escaped256 => blocks::read::<Escaped256, Escaped128>(bytes, n, numbers),
            Kind::Escaped128 => blocks::read::<Escaped128, Escaped128>(bytes, n, numbers),
        }
    }

    /// The exact number of bits that [`Self::write`] would append, a multiple of 8.
    pub fn bits(&self, numbers: &[u32]) -> Result<u64> {
        let bytes = match &self.kind {
            Kind::Streamed(streamed) => return Ok(streamed.length(numbers)?.next_multiple_of(8)),
            Kind::Models(models) => {
                let mut bytes = Vec::new();
                models.write(numbers, &mut bytes)?;
                bytes.len()
            }
            Kind::Plain128 => blocks::bytes::<Plain128, Plain128>(numbers),
            Kind::Plain256 => blocks::bytes::<Plain256, Plain128>(numbers),
            Kind::Patched128 => blocks::bytes::<Patched128, Patched128>(numbers),
            Kind::Patched256 => blocks::bytes::<Patched256, Patched128>(numbers),
            Kind::Escaped256 => blocks::bytes::<Escaped256, Escaped128>(numbers),
            Kind::Escaped128 => blocks::bytes::<Escaped128, Escaped128>(numbers),
        };
        Ok(bytes as u64 * 8)
    }

    /// The serialised models, to be stored beside the lists; empty if there are none.
    pub fn to_bytes(&self) -> Vec<u8> {
        match &self.kind {
            Kind::Models(models) => models.to_bytes(),
            _ => Vec::new(),
        }
    }

    /// The coder with serialised models; `None` if they are corrupt.
    pub fn from_bytes(code: Code, bytes: &[u8]) -> Option<Coder> {
        if code == Code::Ans {
            let models = Models::from_bytes(bytes)?;
            return Some(Coder { code, kind: Kind::Models(Box::new(models)) });
        }
        bytes.is_empty().then(|| Coder::new(code).ok()).flatten()
    }
}

#[cfg(test)]
mod tests;
