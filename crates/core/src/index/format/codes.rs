//! Which integer code each component of a segment uses, and how that is stored.
//!
//! The components have different distributions: gaps between documents follow the frequency of the term,
//! counts are mostly one, first positions are spread over the document, gaps between positions are small.
//! Each has its own code, all from one family ([`crate::codes`]).

use crate::codes::{Code, Coder, variable_byte as number};
use crate::{Error, Result};

/// The components that have a code, in the order of [`Codes`].
pub const CODED: [&str; 4] = ["pointers", "counts", "first positions", "position gaps"];

/// The codes of a segment, ready to encode and decode.
pub struct Codes {
    /// Postings per block.
    pub quantum: u32,
    /// Gaps between documents.
    pub pointers: Coder,
    /// Counts.
    pub counts: Coder,
    /// The first position of each document.
    pub firsts: Coder,
    /// Gaps between positions.
    pub gaps: Coder,
}

impl Codes {
    /// Codes that any numbers go into, for lists that are encoded to be sent.
    pub fn plain() -> Result<Codes> {
        let coder = || Coder::new(Code::Pfor128);
        Ok(Codes { quantum: 128, pointers: coder()?, counts: coder()?, firsts: coder()?, gaps: coder()? })
    }

    /// Appends numbers of a component, by its index in [`CODED`].
    pub fn write(&self, component: usize, numbers: &[u32], bytes: &mut Vec<u8>) -> Result<()> {
        let coder = self.coders()[component];
        coder.write(numbers, bytes).map_err(|error| match error {
            Error::Invalid(reason) => {
                Error::Invalid(format!("the {} do not go into {}: {reason}", CODED[component], coder.code()))
            }
            other => other,
        })
    }

    /// The coders, in the order of [`CODED`].
    pub fn coders(&self) -> [&Coder; 4] {
        [&self.pointers, &self.counts, &self.firsts, &self.gaps]
    }

    /// The serialised codes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        number::write(self.quantum.into(), &mut bytes);
        for coder in self.coders() {
            number::write_bytes(coder.code().to_string().as_bytes(), &mut bytes);
            number::write_bytes(&coder.to_bytes(), &mut bytes);
        }
        bytes
    }

    /// Deserialises the codes; `None` if the bytes do not decode.
    pub fn from_bytes(mut bytes: &[u8]) -> Option<Codes> {
        let quantum = number::read_u32(&mut bytes).filter(|quantum| *quantum > 0)?;
        let mut coder = || {
            let name = std::str::from_utf8(number::read_bytes(&mut bytes)?).ok()?;
            Coder::from_bytes(name.parse().ok()?, number::read_bytes(&mut bytes)?)
        };
        let (pointers, counts, firsts, gaps) = (coder()?, coder()?, coder()?, coder()?);
        Some(Codes { quantum, pointers, counts, firsts, gaps })
    }
}
