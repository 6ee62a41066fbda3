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
    /// The approximate memory budget of a build, in bytes.
    pub(crate) memory: usize,
    /// The number of threads.
    #[serde(deserialize_with = "threads")]
    pub(crate) threads: usize,
    /// How document ids are assigned.
    pub(crate) order: Order,
    /// How postings are encoded.
    pub(crate) codes: CodeChoice,
    /// How term ranks are computed.
    pub(crate) ranks: Construction,
    /// Whether their vector is compacted by rank.
    pub(crate) ranks_compact: bool,
    /// The number of bits of a term's signature.
    pub(crate) signature_bits: u32,
}

impl Options {
    /// The memory budget and the number of threads, for the code that prepares the documents.
    pub fn memory_and_threads(&self) -> (usize, usize) {
        (self.memory, self.threads)
    }

    /// Reads the section from JSON.
    pub fn from_json(json: &[u8]) -> Result<Options> {
        let options: Options = section("[index]", json)?;
        // Smaller blocks hold next to nothing; the positions of larger ones do not fit the formats.
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
            ranks_compact: false,
            signature_bits: 4,
        }
    }
}
