//! Fingerprints in memory, of which more come one at a time.
//!
//! The last ones, fewer than [`TAIL`], are compared one by one. When there are as many they become a [`Table`], and as
//! long as a table is not smaller than the one before it, the two are made again as one; so there are at most
//! log₂(n / TAIL) tables, and a fingerprint is sorted that often.

use super::distance::near;
use super::table::{Table, check};
use crate::{Pulse, Result};

/// The most fingerprints that are not in a table.
pub const TAIL: usize = 1 << 11;

/// Fingerprints of 64 bits, numbered in their order.
pub struct Growing {
    distance: u32,
    tail: usize,
    words: Vec<u64>,
    /// Tables, each with the number of its first fingerprint.
    tables: Vec<(usize, Table)>,
}

impl Growing {
    /// For searches within a distance.
    pub fn new(distance: u32) -> Result<Growing> {
        Growing::with_tail(distance, TAIL)
    }

    /// With at most `tail` fingerprints that are not in a table.
    pub fn with_tail(distance: u32, tail: usize) -> Result<Growing> {
        Ok(Growing { distance: check(distance)?, tail: tail.max(1), words: Vec::new(), tables: Vec::new() })
    }

    /// The fingerprints.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Adds a fingerprint.
    pub fn add(&mut self, word: u64) -> Result<()> {
        self.words.push(word);
        let mut start = self.sorted();
        if self.words.len() - start < self.tail {
            return Ok(());
        }
        while let Some((before, table)) = self.tables.last() {
            if table.len() > self.words.len() - start {
                break;
            }
            start = *before;
            self.tables.pop();
        }
        let table = Table::new(&self.words[start..], self.distance)?;
        self.tables.push((start, table));
        Ok(())
    }

    /// The number and the distance of the nearest fingerprint within a distance; of equally near ones the first.
    pub fn nearest(&self, word: u64, distance: u32) -> Result<Option<(usize, u32)>> {
        let mut nearest: Option<(u32, usize)> = None;
        for (start, table) in &self.tables {
            let most = nearest.map_or(distance, |(distance, _)| distance);
            let found = table.nearest_one(word, most)?;
            let found = found.map(|(number, distance)| (distance, start + number as usize));
            nearest = [nearest, found].into_iter().flatten().min();
            if nearest.is_some_and(|(distance, _)| distance == 0) {
                break;
            }
        }
        let (start, most) = (self.sorted(), nearest.map_or(distance, |(distance, _)| distance));
        near(self.words[start..].iter().copied(), word, most, |place, distance| {
            let found = (distance, start + place);
            nearest = Some(nearest.map_or(found, |nearest| nearest.min(found)));
            distance
        });
        Ok(nearest.map(|(distance, number)| (number, distance)))
    }

    /// The distances and numbers of all fingerprints within a distance.
    pub fn within(&self, word: u64, distance: u32) -> Result<Vec<(u32, usize)>> {
        let mut found = Vec::new();
        for (start, table) in &self.tables {
            let of_table = table.within(&[word], distance, &Pulse::STEADY)?;
            let numbered =
                of_table.iter().flatten().map(|(number, distance)| (*distance, start + *number as usize));
            found.extend(numbered);
        }
        let start = self.sorted();
        near(self.words[start..].iter().copied(), word, distance, |place, found_distance| {
            found.push((found_distance, start + place));
            distance
        });
        Ok(found)
    }

    /// Removes all.
    pub fn clear(&mut self) {
        self.words.clear();
        self.tables.clear();
    }

    /// The number of fingerprints in tables.
    fn sorted(&self) -> usize {
        self.tables.last().map_or(0, |(start, table)| start + table.len())
    }
}
