//! What a segment knows of each document, whatever its words are.

use super::facts::Facts;
use super::zone::ZONES;
use crate::Signature;

/// What a segment knows of a document beside its postings and its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Card {
    /// The signature of its URL.
    pub signature: Signature,
    /// How many words each zone has.
    pub words: [u32; ZONES],
    /// What else is known of it; the site by its number among those under way.
    pub facts: Facts,
}
