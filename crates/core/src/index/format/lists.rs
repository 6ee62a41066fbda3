//! The dictionary entry of a term: where its posting lists are.
//!
//! ```text
//! term   2 × its first list's head, plus one if it is not in the body alone; then its zones as bits;
//!        the rest of its first list, and the other lists in full
//! head   2 × (frequency − 1), plus one if there are counts
//! rest   occurrences − frequency, if there are counts
//!        the document, if there is one, relative to the last such document; else the length of the pointers
//!        the length of the counts, if there are any and more than one document
//!        the position, if there is one; else the length of the positions
//!        the length of the skips, if there is more than one block
//! ```
//!
//! all in variable byte code. A list starts where the preceding one ends. A term that occurs once, as 40 % of
//! all do, has its whole posting here: three to six bytes. Rare terms that are neighbours in the dictionary
//! often come from the same document, so its id is encoded relative to the preceding one.

use std::ops::Range;

use super::zone::{Zone, ZoneSet};
use crate::codes::variable_byte as number;

/// The components of a posting list: pointers, counts, positions and skips.
pub const COMPONENTS: usize = 4;

/// The posting list of a term in a zone: its size, and its byte range in each component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    /// The document frequency of the term.
    pub frequency: u32,
    /// The number of occurrences.
    pub occurrences: u64,
    /// Whether counts are stored; if not, the term occurs once in each document.
    pub counted: bool,
    /// The document, if there is only one.
    pub document: u32,
    /// The position, if there is only one.
    pub position: u32,
    /// The byte ranges of pointers, counts, positions and skips in their sections.
    pub ranges: [Range<u64>; COMPONENTS],
    /// The shard whose file these are in, if the segment is divided by terms.
    pub shard: u16,
}

/// The posting lists of a term, by zone.
pub type Lists = Vec<(Zone, List)>;

impl List {
    /// The number of blocks of `quantum` postings.
    pub fn blocks(&self, quantum: u32) -> usize {
        self.frequency.div_ceil(quantum) as usize
    }

    /// Which components are stored; the others take no bytes.
    fn has(&self, quantum: u32) -> [bool; COMPONENTS] {
        let many = self.frequency > 1;
        [many, many && self.counted, self.occurrences > 1, self.frequency > quantum]
    }

    fn head(&self) -> u64 {
        u64::from(self.frequency - 1) * 2 + u64::from(self.counted)
    }

    fn write_rest(&self, quantum: u32, place: &mut Place, bytes: &mut Vec<u8>) {
        if self.counted {
            number::write(self.occurrences - u64::from(self.frequency), bytes);
        }
        for (component, has) in self.has(quantum).into_iter().enumerate() {
            let range = &self.ranges[component];
            match (component, has) {
                (0, false) => number::write(place.distance_to(self.document), bytes),
                (2, false) => number::write(self.position.into(), bytes),
                (_, true) => number::write(range.end - range.start, bytes),
                _ => {}
            }
        }
    }

    fn read(head: u64, quantum: u32, place: &mut Place, bytes: &mut &[u8]) -> Option<List> {
        let frequency = u32::try_from(head / 2).ok()?.checked_add(1)?;
        let mut occurrences = u64::from(frequency);
        let counted = head % 2 == 1;
        if counted {
            occurrences = occurrences.checked_add(number::read(bytes)?)?;
        }
        let ranges = place.ends.map(|end| end..end);
        let mut list = List { frequency, occurrences, counted, document: 0, position: 0, ranges, shard: 0 };
        for (component, has) in list.has(quantum).into_iter().enumerate() {
            match (component, has) {
                (0, false) => list.document = place.at_distance(number::read(bytes)?)?,
                (2, false) => list.position = number::read_u32(bytes)?,
                (_, true) => {
                    let end = &mut place.ends[component];
                    *end = end.checked_add(number::read(bytes)?)?;
                    list.ranges[component].end = *end;
                }
                _ => {}
            }
        }
        Some(list)
    }
}

/// The state that dictionary entries are encoded relative to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Where the next list starts in each component.
    pub ends: [u64; COMPONENTS],
    /// The last document that was the only one of its list.
    document: u32,
}

impl Place {
    /// The state at which lists start at `ends`.
    pub fn new(ends: [u64; COMPONENTS]) -> Place {
        Place { ends, document: 0 }
    }

    fn distance_to(&mut self, document: u32) -> u64 {
        let distance = i64::from(document) - i64::from(self.document);
        self.document = document;
        (distance << 1 ^ distance >> 63) as u64
    }

    fn at_distance(&mut self, folded: u64) -> Option<u32> {
        let distance = (folded >> 1) as i64 ^ -((folded & 1) as i64);
        self.document = u32::try_from(i64::from(self.document).checked_add(distance)?).ok()?;
        Some(self.document)
    }
}

/// Appends the entry of a term, which occurs in at least one zone, and advances `place`.
pub fn write(lists: &[(Zone, List)], quantum: u32, place: &mut Place, bytes: &mut Vec<u8>) {
    let mut zones = ZoneSet::default();
    lists.iter().for_each(|(zone, _)| zones.insert(*zone));
    for (count, (_, list)) in lists.iter().enumerate() {
        if count > 0 {
            number::write(list.head(), bytes);
        } else {
            number::write(list.head() * 2 + u64::from(zones != ZoneSet::BODY), bytes);
            if zones != ZoneSet::BODY {
                bytes.push(zones.bits());
            }
        }
        list.write_rest(quantum, place, bytes);
        place.ends = std::array::from_fn(|component| place.ends[component].max(list.ranges[component].end));
    }
}

/// Decodes an entry off the front of `bytes` into `lists`, relative to the `place` at which it was written,
/// and advances `place`; `None` if the bytes do not decode.
pub fn read(bytes: &mut &[u8], quantum: u32, place: &mut Place, lists: &mut Lists) -> Option<()> {
    lists.clear();
    let first = number::read(bytes)?;
    let mut zones = ZoneSet::BODY;
    if first % 2 == 1 {
        let (&bits, rest) = bytes.split_first()?;
        *bytes = rest;
        zones = ZoneSet::from_bits(bits)?;
    }
    for (count, zone) in zones.zones().enumerate() {
        let head = if count == 0 { first / 2 } else { number::read(bytes)? };
        lists.push((zone, List::read(head, quantum, place, bytes)?));
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const QUANTUM: u32 = 16;

    proptest! {
        #[test]
        fn gives_back_what_was_written(
            terms in prop::collection::vec((1u8..32, prop::collection::vec((1u32..100, 0u64..5, any::<u32>(), [0u64..900, 0u64..900, 0u64..900, 0u64..900]), 5)), 1..20),
        ) {
            let mut ends = [7; COMPONENTS];
            let mut place_of = Place::new(ends);
            let mut bytes = Vec::new();
            let mut written: Vec<Lists> = Vec::new();
            for (bits, figures) in terms {
                let mut lists = Vec::new();
                for (zone, (frequency, more, place, lengths)) in ZoneSet::from_bits(bits).unwrap().zones().zip(figures) {
                    let mut list = List {
                        frequency, occurrences: u64::from(frequency) + more, counted: more > 0, document: 0, position: 0,
                        ranges: ends.map(|end| end..end),
                        shard: 0,
                    };
                    let has = list.has(QUANTUM);
                    if !has[0] { list.document = place; }
                    if !has[2] { list.position = place / 2; }
                    for component in 0..COMPONENTS {
                        if has[component] {
                            ends[component] += lengths[component];
                            list.ranges[component].end = ends[component];
                        }
                    }
                    lists.push((zone, list));
                }
                write(&lists, QUANTUM, &mut place_of, &mut bytes);
                prop_assert_eq!(place_of.ends, ends);
                written.push(lists);
            }
            let (mut rest, mut place, mut lists) = (bytes.as_slice(), Place::new([7; COMPONENTS]), Vec::new());
            for expected in &written {
                prop_assert_eq!(read(&mut rest, QUANTUM, &mut place, &mut lists), Some(()));
                prop_assert_eq!(&lists, expected);
            }
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn any_bytes_give_lists_or_nothing(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let (mut rest, mut lists) = (bytes.as_slice(), Vec::new());
            while read(&mut rest, QUANTUM, &mut Place::default(), &mut lists).is_some() {}
        }
    }
}
