//! Options of index construction.

use serde::Deserialize;

use super::choose::CodeChoice;
use super::order::Order;
use crate::dictionaries::Construction;
use crate::settings::{section, threads};
use crate::{Error, Result};

/// The section `[index]` of the settings: how segments are built.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// About how many bytes of memory building may take.
    pub(crate) memory: usize,
    /// How many threads there are.
    #[serde(deserialize_with = "threads")]
    pub(crate) threads: usize,
    /// How documents are numbered.
    pub(crate) order: Order,
    /// How postings are written.
    pub(crate) codes: CodeChoice,
    /// How ranks of terms are computed.
    pub(crate) ranks: Construction,
    /// How many bits a term's signature has.
    pub(crate) signature_bits: u32,
}

impl Options {
    /// The memory budget and the number of threads, for whoever prepares the documents.
    pub fn memory_and_threads(&self) -> (usize, usize) {
        (self.memory, self.threads)
    }

    /// Reads the section from JSON.
    pub fn from_json(json: &[u8]) -> Result<Options> {
        let options: Options = section("[index]", json)?;
        // Below, a block has next to nothing; above, its positions do not fit the formats.
        if !(16..=4096).contains(&options.codes.quantum) {
            let quantum = options.codes.quantum;
            return Err(Error::Invalid(format!("a block of {quantum} postings: it must be 16 to 4096")));
        }
        Ok(options)
    }
}

#[cfg(test)]
impl Default for Options {
    fn default() -> Options {
        Options {
            memory: 256 << 20,
            threads: 1,
            order: Order::Arrival,
            codes: CodeChoice::default(),
            ranks: Construction::Fuse,
            signature_bits: 4,
        }
    }
}
