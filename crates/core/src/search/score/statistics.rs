//! Collection statistics for scoring. Replaced documents count until a segment merge drops them.

use serde::{Deserialize, Serialize};

use crate::index::format::directory::Totals;
use crate::index::format::zone::{ZONES, ZoneSet};

/// The number of documents, and of words in each zone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statistics {
    /// N.
    pub documents: u64,
    /// The total number of words in each zone.
    pub words: [u64; ZONES],
}

impl Statistics {
    /// The statistics of an index with these totals.
    pub fn of(totals: &Totals) -> Statistics {
        Statistics { documents: totals.documents, words: totals.words }
    }

    /// The total number of words in some zones.
    pub fn words(&self, zones: ZoneSet) -> u64 {
        zones.zones().map(|zone| self.words[zone as usize]).sum()
    }

    /// The average length of some zones; 1 if there are no words.
    pub fn mean(&self, zones: ZoneSet) -> f64 {
        match self.words(zones) {
            0 => 1.0,
            words => words as f64 / self.documents as f64,
        }
    }
}
