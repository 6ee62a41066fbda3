//! The stable Bloom filter: detects duplicates in an unbounded stream, in fixed memory.
//!
//! Its m cells have d bits each, the width of Max. For each key of the stream:
//!
//! 1. it is a duplicate if none of its K cells is 0;
//! 2. P cells are decremented, unless they are 0: a random one and those that follow it (the paper's variant
//!    with one random number per key: each cell is still hit with probability P/m), or P cells drawn
//!    independently of each other;
//! 3. its K cells are set to Max.
//!
//! So the filter never saturates: the false-positive rate stays below a bound, and the oldest keys are
//! forgotten. The formulas for both are in [`super::stability`], and are the same for consecutive and for
//! independent cells. A key costs K + 1 cache misses, or K + P if the cells are independent, and no additional
//! memory. With Max = 1 consecutive cells are cleared as bits of one or two words. With P = 0 and Max = 1 it is
//! a Bloom filter, bit for bit.
//!
//! The first cell that the t-th key decrements is given by the t-th output of SplitMix64, and independent ones
//! by the outputs of another SplitMix64 that has this as its state; so a stream yields the same answers on
//! every machine, in one batch or many, and t is the filter's only further state.
//!
//! Source: Fan Deng and Davood Rafiei, "Approximately detecting duplicates for streaming data using stable
//! Bloom filters", 2006.

use std::path::Path;

use super::probe::{Hashing, Probe, in_order};
use super::storage::{Kind, Parameters, Storage, ones, whole_lines};
use super::{Decay, Filter, Stability};
use crate::disk::format::Format;
use crate::prefetch::Prefetch;
use crate::signature::hash::{random, reduce};
use crate::{Pulse, Result, Signature};

const KIND: Kind = Kind { format: Format { kind: *b"SBLM", version: 2 }, length };

fn length(parameters: &Parameters) -> Option<usize> {
    let bits = parameters.places.checked_mul(u64::from(u8::BITS - parameters.max.leading_zeros()))?;
    Stability::new(bits, parameters.max, parameters.hashes, parameters.decrements).ok()?;
    // A cell is read as part of two bytes, even the last one.
    Some(whole_lines(bits + 8))
}

/// How the cells of a stable Bloom filter are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draws {
    /// The seed of the cells to decrement.
    pub seed: u64,
    /// How they are drawn.
    pub decay: Decay,
    /// How the cells of a key follow from two hashes.
    pub hashing: Hashing,
}

impl Draws {
    /// Consecutive cells to decrement, and enhanced double hashing.
    pub fn of_seed(seed: u64) -> Draws {
        Draws { seed, decay: Decay::Consecutive, hashing: Hashing::Enhanced }
    }
}

/// A stable Bloom filter.
pub struct StableBloom {
    storage: Storage,
    stability: Stability,
    draws: Draws,
}

impl StableBloom {
    /// An empty filter in memory.
    pub fn new(stability: Stability, draws: Draws) -> Result<StableBloom> {
        let storage = Storage::in_memory(&KIND, &parameters(stability, draws))?;
        Ok(StableBloom { storage, stability, draws })
    }

    /// An empty filter in a new file.
    pub fn create(path: &Path, stability: Stability, draws: Draws) -> Result<StableBloom> {
        let storage = Storage::in_file(&KIND, &parameters(stability, draws), path)?;
        Ok(StableBloom { storage, stability, draws })
    }

    /// The filter in a file; if `mapped`, changes go to the file.
    pub fn open(path: &Path, mapped: bool) -> Result<StableBloom> {
        let (storage, Parameters { places, decrements, seed, hashes, max, hashing, decay }) =
            Storage::open(&KIND, path, mapped)?;
        let stability = Stability { cells: places, max, k: hashes, p: decrements };
        Ok(StableBloom { storage, stability, draws: Draws { seed, decay, hashing } })
    }

    /// Adds the keys, and calls `answer` for each with whether it is a duplicate (up to errors).
    fn take(&mut self, keys: &[Signature], pulse: &Pulse, mut answer: impl FnMut(usize, bool)) -> Result<()> {
        let Stability { cells, max, k, p } = self.stability;
        let (first, Draws { seed, decay, hashing }) = (self.storage.count(), self.draws);
        // One at a time if they are independent: the places of the others follow from the first number.
        let (runs, run) = if decay == Decay::Independent { (p, 1) } else { (u64::from(p > 0), p) };
        let start = |number: u64, index: u64| match decay {
            Decay::Consecutive => reduce(number, cells) as usize,
            Decay::Independent => reduce(random(number, index), cells) as usize,
        };
        let width = self.stability.cell_bits() as usize;
        let contents = self.storage.contents_mut()?;
        let lines = Prefetch::of(contents);
        let mut table = Cells { bytes: contents, cells: cells as usize, width };
        let mut taken = 0;
        let outcome = in_order(
            keys,
            pulse,
            |index, key| {
                let number = random(seed, first + index as u64);
                for index in 0..runs {
                    lines.line((start(number, index) * width) >> 3);
                }
                (prepare(lines, Probe::new(key, hashing), cells, k, width), number)
            },
            |index, (mut probe, number)| {
                let mut again = probe;
                answer(index, (0..k).all(|_| table.get(again.next(cells)) != 0));
                for index in 0..runs {
                    table.decrement(start(number, index), run as usize);
                }
                for _ in 0..k {
                    table.set(probe.next(cells), max);
                }
                taken += 1;
            },
        );
        self.storage.count_more(taken);
        outcome
    }
}

fn parameters(stability: Stability, draws: Draws) -> Parameters {
    let Stability { cells, max, k, p } = stability;
    let Draws { seed, decay, hashing } = draws;
    Parameters { places: cells, decrements: p, seed, hashes: k, max, hashing, decay }
}

/// The probe of a key, with its cache lines prefetched.
#[inline]
fn prepare(lines: Prefetch, probe: Probe, cells: u64, k: u32, width: usize) -> Probe {
    let mut ahead = probe;
    for _ in 0..k {
        lines.line((ahead.next(cells) * width) >> 3);
    }
    probe
}

impl Filter for StableBloom {
    fn add(&mut self, keys: &[Signature], seen: &mut [bool], pulse: &Pulse) -> Result<()> {
        self.take(keys, pulse, |index, duplicate| seen[index] = duplicate)
    }

    fn update(&mut self, keys: &[Signature], pulse: &Pulse) -> Result<()> {
        self.take(keys, pulse, |_, _| ())
    }

    fn contains(&self, keys: &[Signature], seen: &mut [bool], pulse: &Pulse) -> Result<()> {
        let Stability { cells, k, .. } = self.stability;
        let (width, hashing) = (self.stability.cell_bits() as usize, self.draws.hashing);
        let contents = self.storage.contents();
        let lines = Prefetch::of(contents);
        in_order(
            keys,
            pulse,
            |_, key| prepare(lines, Probe::new(key, hashing), cells, k, width),
            |index, mut probe| {
                seen[index] = (0..k).all(|_| cell(contents, probe.next(cells), width) != 0);
            },
        )
    }

    fn bits(&self) -> u64 {
        self.stability.cells * u64::from(self.stability.cell_bits())
    }

    fn hashes(&self) -> u32 {
        self.stability.k
    }

    fn fill(&self) -> f64 {
        let width = self.stability.cell_bits() as usize;
        let contents = self.storage.contents();
        let used = match width {
            1 => ones(contents),
            _ => {
                (0..self.stability.cells as usize).filter(|at| cell(contents, *at, width) != 0).count() as u64
            }
        };
        used as f64 / self.stability.cells as f64
    }

    fn expected_error(&self) -> f64 {
        self.fill().powi(self.stability.k as i32)
    }

    fn stability(&self) -> Option<Stability> {
        Some(self.stability)
    }

    fn copy(&self) -> Result<Box<dyn Filter>> {
        Ok(Box::new(StableBloom { storage: self.storage.copy()?, ..*self }))
    }

    fn storage(&self) -> &Storage {
        &self.storage
    }

    fn storage_mut(&mut self) -> &mut Storage {
        &mut self.storage
    }
}

/// A cell of at most 8 bits, read from two bytes.
#[inline]
fn cell(bytes: &[u8], at: usize, width: usize) -> u8 {
    let bit = at * width;
    let pair = u16::from_le_bytes([bytes[bit >> 3], bytes[(bit >> 3) + 1]]);
    (pair >> (bit & 7)) as u8 & (u8::MAX >> (8 - width))
}

/// A bit-packed array of cells.
struct Cells<'a> {
    bytes: &'a mut [u8],
    cells: usize,
    width: usize,
}

impl Cells<'_> {
    #[inline]
    fn get(&self, at: usize) -> u8 {
        cell(self.bytes, at, self.width)
    }

    #[inline]
    fn set(&mut self, at: usize, value: u8) {
        let bit = at * self.width;
        let shift = bit & 7;
        let mask = u16::from(u8::MAX >> (8 - self.width)) << shift;
        let pair = &mut self.bytes[bit >> 3..(bit >> 3) + 2];
        let kept = u16::from_le_bytes([pair[0], pair[1]]) & !mask;
        pair.copy_from_slice(&(kept | u16::from(value) << shift).to_le_bytes());
    }

    /// Decrements `count` cells from `start` on, wrapping around at the end.
    #[inline]
    fn decrement(&mut self, start: usize, count: usize) {
        let before_end = count.min(self.cells - start);
        self.decrement_run(start, before_end);
        if before_end < count {
            self.decrement_run(0, count - before_end);
        }
    }

    #[inline]
    fn decrement_run(&mut self, start: usize, count: usize) {
        if self.width == 1 {
            return self.clear_bits(start, start + count);
        }
        for at in start..start + count {
            let value = self.get(at);
            self.set(at, value.saturating_sub(1));
        }
    }

    #[inline]
    fn clear_bits(&mut self, start: usize, end: usize) {
        let (first, last) = (start >> 3, end >> 3);
        let before = !(u8::MAX << (start & 7));
        let after = u8::MAX << (end & 7);
        if first == last {
            self.bytes[first] &= before | after;
            return;
        }
        self.bytes[first] &= before;
        self.bytes[first + 1..last].fill(0);
        self.bytes[last] &= after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn cells_are_a_list_of_small_numbers(
            width in 1usize..=8,
            cells in 1usize..100,
            steps in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), any::<prop::sample::Index>()), 0..50),
        ) {
            let mut bytes = vec![0; whole_lines((cells * width) as u64 + 8)];
            let mut model = vec![0u8; cells];
            let mut table = Cells { bytes: &mut bytes, cells, width };
            for (at, value, count) in steps {
                let (at, value, count) = (at.index(cells), value >> (8 - width), count.index(cells) + 1);
                table.set(at, value);
                model[at] = value;
                table.decrement(at, count);
                for offset in 0..count {
                    let cell = &mut model[(at + offset) % cells];
                    *cell = cell.saturating_sub(1);
                }
                table.set(at, value);
                model[at] = value;
            }
            let found: Vec<u8> = (0..cells).map(|at| table.get(at)).collect();
            prop_assert_eq!(found, model);
            prop_assert!(bytes[(cells * width).div_ceil(8)..].iter().all(|byte| *byte == 0));
        }
    }
}
