//! A segment with what a snapshot knows about its documents: tombstones, static ranks, lengths.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::index::format::zone::ZoneSet;
use crate::index::read::extract::Extract;
use crate::index::read::replaced::Replaced;
use crate::index::{Segment, Zone};
use crate::search::matching::leaf::Lengths;
use crate::search::matching::leaf::WINDOW;
use crate::{Result, Signature};

/// Above ln(1 + rank) for any finite rank.
const GREATEST: f32 = 89.0;

/// A segment with what this snapshot knows about its documents.
pub struct Part {
    pub segment: Segment,
    pub replaced: Arc<Replaced>,
    /// ln(1 + static rank) of each document.
    pub ranks: Arc<Vec<f32>>,
    /// The maximum of `ranks` in each window of documents.
    pub rank_maxima: Arc<Vec<f32>>,
    /// Cached document lengths, by set of zones.
    lengths: Arc<Mutex<HashMap<u8, Lengths>>>,
}

impl Part {
    pub fn new(
        segment: Segment,
        replaced: Replaced,
        rank_of: &impl Fn(Signature) -> Result<f32>,
    ) -> Result<Part> {
        // `max` turns NaN into 0, and `min` keeps an infinite rank from making every sum infinite.
        let rank = |document| Ok(rank_of(segment.signature(document)?)?.max(0.0).ln_1p().min(GREATEST));
        let ranks = segment.documents().map(rank).collect::<Result<Vec<f32>>>()?;
        let greatest = |window: &[f32]| window.iter().copied().fold(0.0, f32::max);
        let rank_maxima = ranks.chunks(WINDOW as usize).map(greatest).collect();
        Ok(Part {
            segment,
            replaced: Arc::new(replaced),
            ranks: Arc::new(ranks),
            rank_maxima: Arc::new(rank_maxima),
            lengths: Arc::default(),
        })
    }

    /// The same documents with posting lists that were gathered for a query.
    pub fn with_lists(&self, gathered: Vec<Arc<Extract>>) -> Part {
        Part {
            segment: self.segment.with_lists(gathered),
            replaced: self.replaced.clone(),
            ranks: self.ranks.clone(),
            rank_maxima: self.rank_maxima.clone(),
            lengths: self.lengths.clone(),
        }
    }

    /// The number of documents, including replaced ones.
    pub fn documents(&self) -> u32 {
        self.segment.totals().documents as u32
    }

    /// The length of each document in words, summed over `zones`.
    pub fn lengths(&self, zones: ZoneSet) -> Result<Lengths> {
        let mut known = self.lengths.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lengths) = known.get(&zones.bits()) {
            return Ok(lengths.clone());
        }
        let zones_in_order: Vec<Zone> = zones.zones().collect();
        let mut lengths = Vec::with_capacity(self.documents() as usize);
        for document in self.segment.documents() {
            let mut words = 0u32;
            for zone in &zones_in_order {
                words = words.saturating_add(self.segment.words(document, *zone)?);
            }
            lengths.push(words.min(u32::from(u16::MAX)) as u16);
        }
        let lengths = Arc::new(lengths);
        known.insert(zones.bits(), lengths.clone());
        Ok(lengths)
    }
}
