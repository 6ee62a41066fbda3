//! Options of index construction.

use serde::Deserialize;

use super::choose::CodeChoice;
use super::order::Order;
use crate::dictionaries::Construction;
use crate::settings::{choices, section, threads};
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
    /// The number of shards.
    pub(crate) shards: u16,
    /// How the index is divided between them.
    pub(crate) partition: Partition,
    /// How documents are assigned to shards.
    pub(crate) assign: Assign,
}

choices! {
    /// How an index is divided between shards.
    pub enum Partition, "partition" {
        /// Each shard has some of the documents, with all their terms.
        Documents = "documents",
        /// Each shard has a range of the terms, with all their postings.
        Terms = "terms",
    }
}

choices! {
    /// How documents are assigned to shards.
    pub enum Assign, "assignment" {
        /// By the signature of the URL.
        Hashed = "hashed",
        /// Runs of consecutive documents, in turn; a document that is added again stays in its shard.
        Contiguous = "contiguous",
    }
}

impl Options {
    /// The memory budget and the number of threads, for the code that prepares the documents.
    pub fn memory_and_threads(&self) -> (usize, usize) {
        (self.memory, self.threads)
    }

    /// The number of shards that each segment's terms are divided between.
    pub(crate) fn shards_of_terms(&self) -> usize {
        if self.partition == Partition::Terms { self.shards.max(1).into() } else { 1 }
    }

    /// The number of shards that documents are divided between.
    pub(crate) fn shards_of_documents(&self) -> usize {
        if self.partition == Partition::Documents { self.shards.max(1).into() } else { 1 }
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
            shards: 1,
            partition: Partition::Documents,
            assign: Assign::Hashed,
        }
    }
}
