//! A table of fingerprints in memory, made at once.
//!
//! Each table of the layout has the permuted fingerprints in order, 8 bytes each, and a *directory*: where those with each
//! value of the first d bits begin, with d = min(p, ⌊log₂ n⌋ − 1), at most 2 bytes a fingerprint. The first table has the
//! numbers of the fingerprints beside it, 4 bytes each: what another table finds is looked up there, which is seldom,
//! because few candidates are near. Making it takes the space of two of its tables more.
//!
//! A search reads the directory, then the candidates, of all its probes; the addresses of many probes are prefetched
//! before the first is needed.

use rayon::prelude::*;

use super::distance::near;
use super::layout::{Costs, Layout, MAX_DISTANCE, directory_bits};
use super::permutation::Permutation;
use super::sort::sorted;
use crate::prefetch::Prefetch;
use crate::{Error, Pulse, Result};

/// The fingerprints that a thread searches for at a time.
const ASKED: usize = 1 << 10;
/// The probes that are under way at a time.
const PROBES: usize = 64;

/// A fingerprint that was found: its number, and its distance.
pub type Found = (u32, u32);

/// Fingerprints of 64 bits, searchable within a distance.
pub struct Table {
    layout: Layout,
    parts: Vec<Part>,
    /// The numbers of the fingerprints, in the order of the first part.
    numbers: Vec<u32>,
}

/// A table of the layout.
struct Part {
    permutation: Permutation<u64>,
    keys: Vec<u64>,
    /// Where the keys with each value of the first bits begin, and where the last of them end.
    directory: Vec<u32>,
    /// The number of those bits.
    bits: u32,
    /// What the values within the radius differ in, those with fewer differences first.
    flips: Vec<u32>,
    /// The number of those with at most 0, 1, … differences.
    ends: Vec<usize>,
}

/// A place to look at.
struct Probe {
    asked: u32,
    part: u32,
    /// The permuted fingerprint.
    key: u64,
    /// First an entry of the directory, then a range of keys.
    start: u32,
    end: u32,
}

impl Table {
    /// A table of fingerprints, numbered in their order; on all threads.
    pub fn new(words: &[u64], distance: u32) -> Result<Table> {
        let layout = Layout::choose(u64::BITS, words.len() as u64, check(distance)?, &Costs::MEMORY);
        Table::with_layout(words, layout)
    }

    /// A table with a layout for 64 bits.
    pub fn with_layout(words: &[u64], layout: Layout) -> Result<Table> {
        if u32::try_from(words.len()).is_err() {
            return Err(Error::Invalid("a table has at most 2^32 − 1 fingerprints".into()));
        }
        let permutations = layout.permutations::<u64>();
        let make = |(place, (permutation, lead)): (usize, (&Permutation<u64>, &super::Lead))| {
            let bits = lead.prefix().min(directory_bits(words.len() as u64));
            let (keys, numbers) = if place == 0 {
                let entries = sorted(words.len(), |number| (permutation.apply(words[number]), number as u32));
                entries.into_iter().unzip()
            } else {
                (sorted(words.len(), |number| permutation.apply(words[number])), Vec::new())
            };
            let directory = directory(&keys, bits);
            let (flips, ends) = flips(bits, lead.radius);
            (Part { permutation: permutation.clone(), keys, directory, bits, flips, ends }, numbers)
        };
        let leads: Vec<_> = permutations.iter().zip(&layout.leads).enumerate().collect();
        let (parts, numbers): (Vec<Part>, Vec<Vec<u32>>) = leads.into_par_iter().map(make).unzip();
        Ok(Table { layout, parts, numbers: numbers.into_iter().flatten().collect() })
    }

    /// The number of fingerprints.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// The layout.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> usize {
        let of_part = |part: &Part| 8 * part.keys.len() + 4 * (part.directory.len() + part.flips.len());
        4 * self.numbers.len() + self.parts.iter().map(of_part).sum::<usize>()
    }

    /// The nearest fingerprint within a distance, at most that of the layout, of each given one; of equally near ones
    /// the first. On all threads.
    pub fn nearest(&self, asked: &[u64], distance: u32, pulse: &Pulse) -> Result<Vec<Option<Found>>> {
        self.check(distance)?;
        let some = |asked: &[u64]| {
            pulse.beat()?;
            let mut found = Vec::with_capacity(asked.len());
            self.nearest_some(asked, distance, &mut found);
            Ok(found)
        };
        Ok(asked.par_chunks(ASKED).map(some).collect::<Result<Vec<_>>>()?.concat())
    }

    /// The same for one.
    pub fn nearest_one(&self, asked: u64, distance: u32) -> Result<Option<Found>> {
        self.check(distance)?;
        let mut found = Vec::with_capacity(1);
        self.nearest_some(&[asked], distance, &mut found);
        Ok(found.pop().flatten())
    }

    /// All fingerprints within a distance, at most that of the layout, of each given one, from the nearest on, and of
    /// equally near ones from the first on. On all threads.
    pub fn within(&self, asked: &[u64], distance: u32, pulse: &Pulse) -> Result<Vec<Vec<Found>>> {
        self.check(distance)?;
        let some = |asked: &[u64]| {
            pulse.beat()?;
            Ok(self.within_some(asked, distance))
        };
        Ok(asked.par_chunks(ASKED).map(some).collect::<Result<Vec<_>>>()?.concat())
    }

    fn check(&self, distance: u32) -> Result<()> {
        let most = self.layout.distance;
        if distance > most {
            let reason = format!("the table was made for a distance of {most}, and not of {distance}");
            return Err(Error::Invalid(reason));
        }
        Ok(())
    }

    fn nearest_some(&self, asked: &[u64], distance: u32, found: &mut Vec<Option<Found>>) {
        // For each the least distance so far, and the fingerprints at that distance.
        let mut nearest: Vec<(u32, Vec<u64>)> = vec![(distance, Vec::new()); asked.len()];
        self.probe(asked, distance, |part, number, keys, key| {
            let (least, words) = &mut nearest[number];
            near(keys.iter().copied(), key, *least, |place, distance| {
                if distance < *least {
                    words.clear();
                    *least = distance;
                }
                let word = part.permutation.undo(keys[place]);
                // An equal one is in every table, and many times.
                if words.last() != Some(&word) {
                    words.push(word);
                }
                distance
            });
        });
        found.extend(nearest.into_iter().map(|(distance, words)| {
            let number = words.into_iter().filter_map(|word| self.numbers_of(word).first().copied()).min();
            number.map(|number| (number, distance))
        }));
    }

    fn within_some(&self, asked: &[u64], distance: u32) -> Vec<Vec<Found>> {
        let mut words: Vec<Vec<(u32, u64)>> = vec![Vec::new(); asked.len()];
        self.probe(asked, distance, |part, number, keys, key| {
            near(keys.iter().copied(), key, distance, |place, found| {
                words[number].push((found, part.permutation.undo(keys[place])));
                distance
            });
        });
        let found = |mut words: Vec<(u32, u64)>| {
            words.sort_unstable();
            words.dedup();
            let numbers =
                |(distance, word)| self.numbers_of(word).iter().map(move |number| (*number, distance));
            let mut found: Vec<Found> = words.into_iter().flat_map(numbers).collect();
            found.sort_unstable_by_key(|(number, distance)| (*distance, *number));
            found
        };
        words.into_iter().map(found).collect()
    }

    /// Calls `visit` with the candidates of each fingerprint within a distance: a part, its number, keys of the part, and
    /// itself permuted.
    fn probe(&self, asked: &[u64], distance: u32, mut visit: impl FnMut(&Part, usize, &[u64], u64)) {
        let mut probes: Vec<Probe> = Vec::with_capacity(PROBES);
        let radii = self.layout.radii(distance);
        for (number, word) in asked.iter().enumerate() {
            for (place, (part, radius)) in self.parts.iter().zip(&radii).enumerate() {
                let Some(radius) = radius else { continue };
                let key = part.permutation.apply(*word);
                let (bucket, lines) = (first(key, part.bits), Prefetch::of(&part.directory));
                for flip in &part.flips[..part.ends[(*radius as usize).min(part.ends.len() - 1)]] {
                    if probes.len() == PROBES {
                        self.visit(&mut probes, &mut visit);
                    }
                    let start = bucket ^ flip;
                    lines.line(size_of::<u32>() * start as usize);
                    probes.push(Probe { asked: number as u32, part: place as u32, key, start, end: 0 });
                }
            }
        }
        self.visit(&mut probes, &mut visit);
    }

    #[inline]
    fn visit(&self, probes: &mut Vec<Probe>, visit: &mut impl FnMut(&Part, usize, &[u64], u64)) {
        for probe in probes.iter_mut() {
            let part = &self.parts[probe.part as usize];
            let bucket = probe.start as usize;
            (probe.start, probe.end) = (part.directory[bucket], part.directory[bucket + 1]);
            Prefetch::of(&part.keys).line(size_of::<u64>() * probe.start as usize);
        }
        for probe in probes.drain(..) {
            let part = &self.parts[probe.part as usize];
            let keys = &part.keys[probe.start as usize..probe.end as usize];
            visit(part, probe.asked as usize, keys, probe.key);
        }
    }

    /// The fingerprints in their order.
    pub fn words(&self) -> Vec<u64> {
        let mut words = vec![0; self.numbers.len()];
        if let Some(part) = self.parts.first() {
            let numbered = part.keys.iter().zip(&self.numbers);
            numbered.for_each(|(key, number)| words[*number as usize] = part.permutation.undo(*key));
        }
        words
    }

    /// The numbers of the fingerprints that are equal to one, in order.
    fn numbers_of(&self, word: u64) -> &[u32] {
        let Some(part) = self.parts.first() else { return &[] };
        let key = part.permutation.apply(word);
        let bucket = first(key, part.bits) as usize;
        let (start, end) = (part.directory[bucket] as usize, part.directory[bucket + 1] as usize);
        let keys = &part.keys[start..end];
        let before = keys.partition_point(|other| *other < key);
        let equal = keys[before..].partition_point(|other| *other == key);
        &self.numbers[start + before..start + before + equal]
    }
}

/// The distance, if there is a layout for it.
pub fn check(distance: u32) -> Result<u32> {
    if distance > MAX_DISTANCE {
        let reason = format!("the distance is at most {MAX_DISTANCE} bits, and not {distance}");
        return Err(Error::Invalid(reason));
    }
    Ok(distance)
}

/// The first bits of a key.
#[inline]
pub fn first(key: u64, bits: u32) -> u32 {
    // Two shifts, because one by all bits is not defined.
    (key >> 1 >> (u64::BITS - 1 - bits)) as u32
}

/// Where the keys with each value of the first bits begin, and where the last of them end.
pub fn directory(keys: &[u64], bits: u32) -> Vec<u32> {
    let mut directory = Vec::with_capacity((1 << bits) + 1);
    for (place, key) in keys.iter().enumerate() {
        let bucket = first(*key, bits) as usize;
        if directory.len() <= bucket {
            directory.resize(bucket + 1, place as u32);
        }
    }
    directory.resize((1 << bits) + 1, keys.len() as u32);
    directory
}

/// All masks of the lowest bits with at most `radius` ones, those with fewer first; and how many have at most 0, 1, … of
/// them.
fn flips(bits: u32, radius: u32) -> (Vec<u32>, Vec<usize>) {
    let (mut flips, mut ends) = (vec![0u32], vec![1]);
    let mut start = 0;
    for _ in 0..radius.min(bits) {
        let end = flips.len();
        for place in start..end {
            let mask = flips[place];
            // Each mask once: by adding a one above its highest.
            flips.extend((u32::BITS - mask.leading_zeros()..bits).map(|bit| mask | 1 << bit));
        }
        start = end;
        ends.push(flips.len());
    }
    (flips, ends)
}
