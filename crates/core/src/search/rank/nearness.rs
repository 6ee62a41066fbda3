//! The proximity part of a document's score ([`crate::search::score::proximity`] has the formula), by the
//! cursors of the leaves.

use crate::Result;
use crate::index::format::zone::{ZONES, ZoneSet};
use crate::index::{DocId, Segment, Zone};
use crate::search::matching::interval::proximity::accumulate;
use crate::search::matching::{Leaves, Slot};
use crate::search::score::{LeafScore, Model, Proximity, Statistics, grain};

/// The proximity scorer of a query.
pub struct Nearness {
    weight: f64,
    k1: f64,
    /// 1 − b and b / l̄ of each zone.
    lengths: [(f64, f64); ZONES],
    zones: ZoneSet,
    slots: Vec<Slot>,
    idfs: Vec<f64>,
    positions: Vec<Vec<u32>>,
    sums: Vec<f64>,
}

impl Nearness {
    /// For the leaves at these slots; `None` if proximity does not apply to them.
    pub fn new(
        proximity: &Proximity,
        model: &Model,
        statistics: &Statistics,
        leaves: &[(Slot, LeafScore, ZoneSet)],
    ) -> Option<Nearness> {
        if proximity.weight == 0.0 || proximity.depth == 0 || leaves.len() < 2 {
            return None;
        }
        let mut zones = ZoneSet::default();
        leaves.iter().flat_map(|(.., of_leaf)| of_leaf.zones()).for_each(|zone| zones.insert(zone));
        let lengths = Zone::ALL.map(|zone| {
            let b = model.b;
            let mut alone = ZoneSet::default();
            alone.insert(zone);
            (1.0 - b, b / statistics.mean(alone))
        });
        Some(Nearness {
            weight: proximity.weight,
            k1: model.k1,
            lengths,
            zones,
            slots: leaves.iter().map(|(slot, ..)| *slot).collect(),
            idfs: leaves.iter().map(|(_, score, _)| score.idf).collect(),
            positions: vec![Vec::new(); leaves.len()],
            sums: Vec::new(),
        })
    }

    /// The proximity score of a document, which the cursors must not have passed, by zone.
    pub fn parts(&mut self, document: DocId, leaves: &mut Leaves<'_>) -> Result<Vec<(Zone, f64)>> {
        let mut present = 0;
        for slot in &self.slots {
            present += usize::from(leaves.cursors[*slot].skip_to(document)? == document);
        }
        let mut parts = Vec::new();
        if present < 2 {
            return Ok(parts);
        }
        for zone in self.zones.zones() {
            let part = self.in_zone(zone, document, leaves)?;
            if part > 0.0 {
                parts.push((zone, part));
            }
        }
        Ok(parts)
    }

    fn in_zone(&mut self, zone: Zone, document: DocId, leaves: &mut Leaves<'_>) -> Result<f64> {
        let mut present = 0;
        for slot in &self.slots {
            let cursor = &mut leaves.cursors[*slot];
            present += usize::from(cursor.document() == document && cursor.is_in(zone)?);
        }
        if present < 2 {
            return Ok(0.0);
        }
        for (slot, positions) in self.slots.iter().zip(&mut self.positions) {
            leaves.cursors[*slot].positions(document, zone, positions)?;
        }
        self.sums.clear();
        accumulate(&self.positions, &self.idfs, &mut self.sums);
        let (base, slope) = self.lengths[zone as usize];
        let words = words_of(leaves.segment, document, zone)?;
        let k = self.k1 * (base + slope * words);
        let part = |(sum, idf): (&f64, &f64)| {
            if *sum > 0.0 { idf.min(1.0) * (self.k1 + 1.0) * sum / (k + sum) } else { 0.0 }
        };
        Ok(grain(self.weight * self.sums.iter().zip(&self.idfs).map(part).sum::<f64>()))
    }
}

fn words_of(segment: &Segment, document: DocId, zone: Zone) -> Result<f64> {
    Ok(f64::from(segment.words(document, zone)?.min(u32::from(u16::MAX))))
}
