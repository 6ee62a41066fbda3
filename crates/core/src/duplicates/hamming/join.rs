//! All pairs within a distance: each table of a layout is made, read once, and dropped.
//!
//! Fingerprints with equal prefixes are compared. A pair that several tables have is told by the first of them. Time,
//! with n fingerprints, t tables and p leading bits: t n (sort + candidate · n / 2^(p+1)); the layout is the one for which
//! that is least. Space: one table, or the part of it with a range of prefixes.

use std::ops::Range;

use rayon::prelude::*;

use super::distance::near;
use super::layout::{Costs, Layout};
use super::permutation::{Permutation, Word};
use crate::{Pulse, Result};

/// Sorting a fingerprint, in nanoseconds.
const SORT: f64 = 30.0;
/// The fingerprints that are compared with the following ones at a time.
const ROWS: usize = 1 << 10;
/// The bits of a prefix by which a table is divided.
const DIVIDED: u32 = 32;

/// The tables of a search for pairs.
pub struct Join<W> {
    layout: Layout,
    permutations: Vec<Permutation<W>>,
}

/// A table, or a part of it: permuted fingerprints in order, and their numbers.
pub struct Sorted<W> {
    table: usize,
    keys: Vec<W>,
    numbers: Vec<u32>,
}

impl<W: Word> Join<W> {
    /// For `count` fingerprints of `bits` bits and a distance.
    pub fn new(bits: u32, count: u64, distance: u32) -> Join<W> {
        let cost = |layout: &Layout| {
            let candidates: f64 = layout.work(count, distance, &Costs::EQUAL).1;
            layout.leads.len() as f64 * SORT + candidates / 2.0 * Costs::EQUAL.candidate
        };
        let layouts = (distance + 1..=bits).map_while(|blocks| Layout::chosen(bits, distance, blocks));
        let layout = layouts.min_by(|one, other| cost(one).total_cmp(&cost(other)));
        let layout = layout.unwrap_or_else(|| Layout::near(bits, distance, distance + 1));
        Join { permutations: layout.permutations(), layout }
    }

    /// The number of tables.
    pub fn tables(&self) -> usize {
        self.layout.leads.len()
    }

    /// The layout.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The part of a table of numbered fingerprints; it is divided into `parts` by ranges of prefixes.
    pub fn part<I>(&self, table: usize, part: u64, parts: u64, words: I) -> Sorted<W>
    where
        I: ParallelIterator<Item = (W, u32)>,
    {
        let bits = self.layout.leads[table].prefix().min(DIVIDED);
        let permutation = &self.permutations[table];
        let permuted = words.map(|(word, number)| (permutation.apply(word), number));
        let of_part = |(key, _): &(W, u32)| (u64::from(key.first(bits)) * parts) >> bits == part;
        let mut entries: Vec<(W, u32)> = permuted.filter(of_part).collect();
        entries.par_sort_unstable();
        let (keys, numbers) = entries.into_iter().unzip();
        Sorted { table, keys, numbers }
    }

    /// Calls `found` with the numbers of two fingerprints, the less first, and their distance, for each pair of which one
    /// is among some rows and the other behind it.
    pub fn pairs(&self, sorted: &Sorted<W>, rows: Range<usize>, mut found: impl FnMut(u32, u32, u32)) {
        let Sorted { table, keys, numbers } = sorted;
        let (before, lead) = (&self.layout.leads[..*table], self.layout.leads[*table]);
        let prefix = |key: W| if lead.mask == 0 { W::default() } else { key >> (W::BITS - lead.prefix()) };
        let most = self.layout.distance;
        let mut end = rows.start;
        for row in rows {
            let key = keys[row];
            if end <= row {
                end = row + 1;
                while end < keys.len() && prefix(keys[end]) == prefix(key) {
                    end += 1;
                }
            }
            near(keys[row + 1..end].iter().copied(), key, most, |place, distance| {
                let (one, other) = (numbers[row], numbers[row + 1 + place]);
                let different = self.permutations[*table].undo(key ^ keys[row + 1 + place]).wide();
                if !before.iter().any(|lead| lead.finds(different)) {
                    found(one.min(other), one.max(other), distance);
                }
                most
            });
        }
    }

    /// All pairs of fingerprints, each with its distance, in their order; on all threads.
    pub fn all(&self, words: &[W], pulse: &Pulse) -> Result<Vec<(u32, u32, u32)>> {
        let mut pairs = Vec::new();
        for table in 0..self.tables() {
            let numbered = words.par_iter().enumerate().map(|(number, word)| (*word, number as u32));
            let sorted = self.part(table, 0, 1, numbered);
            let of_rows = |rows| {
                pulse.beat()?;
                let mut pairs = Vec::new();
                self.pairs(&sorted, rows, |one, other, distance| pairs.push((one, other, distance)));
                Ok(pairs)
            };
            let found: Vec<Vec<_>> = sorted.rows().into_par_iter().map(of_rows).collect::<Result<_>>()?;
            pairs.extend(found.into_iter().flatten());
        }
        pairs.par_sort_unstable();
        Ok(pairs)
    }
}

impl<W> Sorted<W> {
    /// Ranges of rows, for several threads.
    pub fn rows(&self) -> Vec<Range<usize>> {
        let count = self.keys.len();
        (0..count).step_by(ROWS).map(|start| start..count.min(start + ROWS)).collect()
    }
}
