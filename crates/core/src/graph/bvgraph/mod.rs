//! Graphs in the files of WebGraph: `NAME.graph`, `NAME.properties`, `NAME.offsets`.
//!
//! The lists are coded as ours ([`super::coding`]), in one bit stream without chunks, each part in a code that the
//! properties name (by default γ, unary for references, ζ₃ for residuals); the offsets are the lengths of the lists
//! in bits, in γ, the first 0. Bits are numbered from the highest of a byte, or from the lowest if the properties
//! say `endianness=little`.
//!
//! Reading is sequential, into memory or to a visitor, and checks all that these files allow: the numbers of nodes
//! and arcs, every number of a list, the length of the stream, and the offsets if there are any. Files written here
//! have three more properties, the CRC-32 of the graph, of the offsets and of the lines before, which other
//! programs ignore: with these no changed bit goes unnoticed.
//!
//! Writing chooses references as for our own files, in parallel, with the default codes, big-endian: every version
//! of WebGraph reads the result. It keeps arcs only, no weights.
//!
//! Source: Paolo Boldi and Sebastiano Vigna, "The WebGraph framework I: compression techniques", 2004.

mod bits;
mod properties;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use reader::BvGraph;
pub use writer::BvGraphWriter;

use std::path::{Path, PathBuf};

/// The file of a graph with an extension.
fn file(basename: &Path, extension: &str) -> PathBuf {
    let mut path = basename.as_os_str().to_owned();
    path.push(".");
    path.push(extension);
    PathBuf::from(path)
}
