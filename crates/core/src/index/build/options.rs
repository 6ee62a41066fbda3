//! How segments are built.

use super::choose::CodeChoice;
use super::order::Order;
use crate::dictionaries::Construction;

/// How segments are built.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// About how many bytes of memory building may take.
    pub memory: usize,
    /// How many threads there are.
    pub threads: usize,
    /// How documents are numbered.
    pub order: Order,
    /// How postings are written.
    pub codes: CodeChoice,
    /// How ranks of terms are computed.
    pub construction: Construction,
    /// How many bits a term's signature has.
    pub signature_bits: u32,
    /// Whether the ranks keep only the variables that are not zero.
    pub compact: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            memory: 256 << 20,
            threads: 1,
            order: Order::default(),
            codes: CodeChoice::default(),
            construction: Construction::Fuse,
            signature_bits: 4,
            compact: false,
        }
    }
}
