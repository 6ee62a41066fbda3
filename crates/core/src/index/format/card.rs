//! Per-document metadata, independent of the postings.

use super::facts::Facts;
use super::zone::ZONES;
use crate::Signature;

/// What a segment stores for a document besides its postings and its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Card {
    /// The signature of its URL.
    pub signature: Signature,
    /// The length of each zone in tokens.
    pub words: [u32; ZONES],
    /// Its other metadata; during a build the site is a provisional number.
    pub facts: Facts,
}
