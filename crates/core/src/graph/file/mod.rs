//! Our graph file: compressed lists with random access, verified, memory-mapped.
//!
//! Nodes are in chunks of 4096, which are compressed independently (no list copies from another chunk), so that
//! they are written and read in parallel and the bytes do not depend on the number of threads. A chunk has codes
//! of its own, the best for its numbers (see [`super::coding`]). After the header (see [`crate::disk::format`]):
//!
//! ```text
//! chunks      each: its lists, a little-endian bit stream padded to bytes; where they start (see [`offsets`]);
//!             the weights of its arcs − 1, if the graph has weights
//! directory   for each chunk: u64 offset, u64 arcs before it, u64 bits of its lists, 11 bytes the codes,
//!             a zero, u32 CRC-32 of the chunk
//! footer      u64 nodes, u64 arcs, 11 × u64 bits of the parts, 4 bytes: weighted, window, chain, interval;
//!             u32 CRC-32 of the directory and of all before this in the footer
//! ```
//!
//! all little-endian. Beside its lists a node costs about 2.3 + log₂ of the mean bits a list for its offset, and
//! 40/4096 bytes of the directory. Opening reads the directory only; a chunk (tens of kilobytes) is verified when
//! it is first read, once per opening. What does not match its checksum is an error with its offset, never an
//! arc. The file is written completely under a temporary name, synced and renamed.
//!
//! Writing takes the memory of a few chunks per thread. Random access decodes one list and those it copies
//! from, at most `chain`.

mod chunk;
mod offsets;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use reader::GraphFile;
#[cfg(test)]
pub(super) use tests::webs;
pub use writer::{GraphWriter, Written, bits_of};

use super::coding::Part;
use crate::disk::format::Format;

const GRAPH: Format = Format { kind: *b"GRPH", version: 2 };

/// The number of nodes per chunk; the last one may have fewer.
pub const CHUNK: usize = 4096;

const PARTS: usize = Part::ALL.len();
/// The bytes of an entry of the directory.
const ENTRY: usize = 3 * 8 + PARTS + 1 + 4;
/// The bytes of the footer.
const FOOTER: usize = 2 * 8 + PARTS * 8 + 4 + 4;
