//! What scoring knows about the whole collection. Replaced documents count until a merge drops them.

use crate::index::format::directory::Totals;
use crate::index::format::zone::{ZONES, ZoneSet};

/// How many documents there are, and how many words in each zone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// N.
    pub documents: u64,
    /// The words of each zone of all documents.
    pub words: [u64; ZONES],
}

impl Statistics {
    /// Those of an index with these totals.
    pub fn of(totals: &Totals) -> Statistics {
        Statistics { documents: totals.documents, words: totals.words }
    }

    /// The words of some zones of all documents.
    pub fn words(&self, zones: ZoneSet) -> u64 {
        zones.zones().map(|zone| self.words[zone as usize]).sum()
    }

    /// The words of some zones of the mean document; 1 where there are none.
    pub fn mean(&self, zones: ZoneSet) -> f64 {
        match self.words(zones) {
            0 => 1.0,
            words => words as f64 / self.documents as f64,
        }
    }
}
