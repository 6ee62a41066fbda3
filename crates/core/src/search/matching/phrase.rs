//! Phrases: an intersection whose documents must also have the words adjacent, in order.
//!
//! Positions are decoded only to confirm a document that contains all the words: the possible starts of the
//! phrase are the positions of one word minus its offset, and each further word eliminates some.

use super::{And, Leaves};
use crate::Result;
use crate::index::Zone;
use crate::index::format::zone::ZoneSet;

/// The documents that contain a phrase.
pub struct Phrase {
    /// The documents that contain all the words.
    pub words: And,
    /// The leaf of each word and its offset from the start, the rarest first.
    places: Vec<(usize, u32)>,
    zones: ZoneSet,
    starts: Vec<u32>,
    positions: Vec<u32>,
}

impl Phrase {
    /// The documents of `words` in which the leaves at `places` occur at their offsets, all in one of
    /// `zones`.
    pub fn of(words: And, mut places: Vec<(usize, u32)>, zones: ZoneSet, leaves: &Leaves<'_>) -> Phrase {
        places.sort_by_key(|(leaf, _)| leaves.cursors[*leaf].estimate());
        Phrase { words, places, zones, starts: Vec::new(), positions: Vec::new() }
    }

    /// Whether the current document contains the phrase.
    pub fn is_here(&mut self, leaves: &mut Leaves<'_>) -> Result<bool> {
        for zone in self.zones.zones() {
            if self.is_in(zone, leaves)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_in(&mut self, zone: Zone, leaves: &mut Leaves<'_>) -> Result<bool> {
        for (leaf, _) in &self.places {
            if !leaves.cursors[*leaf].is_in(zone)? {
                return Ok(false);
            }
        }
        let document = self.words.document(leaves);
        for (number, (leaf, distance)) in self.places.iter().enumerate() {
            leaves.cursors[*leaf].positions(document, zone, &mut self.positions)?;
            if number == 0 {
                self.starts.clear();
                self.starts.extend(self.positions.iter().filter_map(|place| place.checked_sub(*distance)));
            } else if number + 1 == self.places.len() {
                // One occurrence is enough, so the positions of the last word need not be read to the end.
                return Ok(meet(&self.starts, &self.positions, *distance));
            } else {
                strike_out(&mut self.starts, &self.positions, *distance);
            }
            if self.starts.is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Whether `positions` contains one of the starts plus `distance`.
fn meet(starts: &[u32], positions: &[u32], distance: u32) -> bool {
    if positions.len() / 8 > starts.len() {
        let wanted = |start: &u32| positions.binary_search(&start.saturating_add(distance)).is_ok();
        return starts.iter().any(wanted);
    }
    let (mut start, mut place) = (0, 0);
    while start < starts.len() && place < positions.len() {
        let wanted = starts[start].saturating_add(distance);
        if wanted == positions[place] {
            return true;
        }
        // The comparison is unpredictable: so it is computed, without a branch.
        let behind = wanted < positions[place];
        start += usize::from(behind);
        place += usize::from(!behind);
    }
    false
}

/// Keeps the starts for which `positions` contains the start plus `distance`.
fn strike_out(starts: &mut Vec<u32>, positions: &[u32], distance: u32) {
    if positions.len() / 8 > starts.len() {
        starts.retain(|start| positions.binary_search(&start.saturating_add(distance)).is_ok());
        return;
    }
    let (mut start, mut place, mut kept) = (0, 0, 0);
    while start < starts.len() && place < positions.len() {
        let wanted = starts[start].saturating_add(distance);
        starts[kept] = starts[start];
        kept += usize::from(wanted == positions[place]);
        let behind = wanted <= positions[place];
        start += usize::from(behind);
        place += usize::from(!behind);
    }
    starts.truncate(kept);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn striking_out_is_intersecting(
            starts in prop::collection::btree_set(0u32..60, 0..20),
            positions in prop::collection::btree_set(0u32..70, 0..50),
            distance in 0u32..10,
        ) {
            let mut kept: Vec<u32> = starts.iter().copied().collect();
            let places: Vec<u32> = positions.iter().copied().collect();
            prop_assert_eq!(meet(&kept, &places, distance), kept.iter().any(|start| positions.contains(&(start + distance))));
            strike_out(&mut kept, &places, distance);
            let model: Vec<u32> = starts.into_iter().filter(|start| positions.contains(&(start + distance))).collect();
            prop_assert_eq!(kept, model);
        }
    }
}
