//! The external sort of names: any number of them, repeated or not, in a fixed amount of memory.
//!
//! Keys (see [`order`](super::super::order)) are collected until the memory is full, sorted, and written as a
//! run, front-coded; runs are merged, at most [`FAN_IN`] at a time. A cache of hashes drops most repetitions
//! before they are collected: in an edge list a name is repeated once per arc.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::path::{Path, PathBuf};

use rayon::slice::ParallelSliceMut;

use super::super::scratch::{Run, RunReader, RunWriter};
use crate::dictionaries::KeyHash;
use crate::{Pulse, Result};

const FAN_IN: usize = 64;
const KEYS_PER_BEAT: usize = 1 << 14;
/// The memory of a key beside its bytes: its place.
const PLACE: usize = 16;

/// The input side of the sort.
pub struct NameSorter {
    folder: PathBuf,
    bytes: Vec<u8>,
    places: Vec<(usize, usize)>,
    memory: usize,
    recent: Vec<Option<KeyHash>>,
    runs: Vec<(u32, Run)>,
}

impl NameSorter {
    /// A sorter that keeps about `memory` bytes in memory and writes runs without names in `folder`.
    pub fn new(folder: &Path, memory: usize) -> NameSorter {
        // An eighth of the memory, and at most 24 MB, for the cache.
        let recent = (memory / 8 / size_of::<Option<KeyHash>>()).clamp(1, 1 << 20);
        NameSorter {
            folder: folder.to_owned(),
            bytes: Vec::new(),
            places: Vec::new(),
            memory,
            recent: vec![None; recent],
            runs: Vec::new(),
        }
    }

    /// Adds a key with its hash.
    pub fn push(&mut self, key: &[u8], hash: KeyHash) -> Result<()> {
        let slot = hash.slot(self.recent.len());
        if self.recent[slot] == Some(hash) {
            return Ok(());
        }
        self.recent[slot] = Some(hash);
        // Vectors double, so they may be twice as large as what is in them, and both while they grow.
        if 3 * (self.bytes.len() + key.len() + PLACE * (self.places.len() + 1)) > self.memory {
            self.write_run()?;
            let first = |level| self.runs.iter().position(|(other, _)| *other == level);
            if let Some((level, _)) = self.runs.last()
                && let Some(first) = first(*level)
                && self.runs.len() - first == FAN_IN
            {
                self.merge_from(first, &Pulse::STEADY)?;
            }
        }
        self.places.push((self.bytes.len(), self.bytes.len() + key.len()));
        self.bytes.extend_from_slice(key);
        Ok(())
    }

    /// Calls `visit` with each distinct key, in order.
    pub fn finish(mut self, pulse: &Pulse, mut visit: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        self.recent = Vec::new();
        if self.runs.is_empty() {
            return self.visit_sorted(pulse, visit);
        }
        self.write_run()?;
        (self.bytes, self.places) = (Vec::new(), Vec::new());
        while self.runs.len() > FAN_IN {
            self.merge_from(self.runs.len() - FAN_IN, pulse)?;
        }
        merge(self.runs.into_iter().map(|(_, run)| run), pulse, &mut visit)
    }

    fn visit_sorted(&mut self, pulse: &Pulse, mut visit: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let bytes = &self.bytes;
        self.places.par_sort_unstable_by_key(|place| &bytes[place.0..place.1]);
        let mut previous = None;
        for (number, place) in self.places.iter().enumerate() {
            if number.is_multiple_of(KEYS_PER_BEAT) {
                pulse.beat()?;
            }
            let key = &bytes[place.0..place.1];
            if previous != Some(key) {
                visit(key)?;
            }
            previous = Some(key);
        }
        Ok(())
    }

    fn write_run(&mut self) -> Result<()> {
        let mut run = KeyWriter::create(&self.folder)?;
        self.visit_sorted(&Pulse::STEADY, |key| run.push(key))?;
        self.runs.push((0, run.run.finish()?));
        self.bytes.clear();
        self.places.clear();
        Ok(())
    }

    fn merge_from(&mut self, first: usize, pulse: &Pulse) -> Result<()> {
        let level = self.runs[first].0;
        let mut run = KeyWriter::create(&self.folder)?;
        merge(self.runs.drain(first..).map(|(_, run)| run), pulse, &mut |key| run.push(key))?;
        self.runs.push((level + 1, run.run.finish()?));
        Ok(())
    }
}

/// Writes the sorted keys of a run: the length of the shared prefix, the length of the rest, the rest.
struct KeyWriter {
    run: RunWriter,
    previous: Vec<u8>,
}

impl KeyWriter {
    fn create(folder: &Path) -> Result<KeyWriter> {
        Ok(KeyWriter { run: RunWriter::create(folder)?, previous: Vec::new() })
    }

    fn push(&mut self, key: &[u8]) -> Result<()> {
        let shared = self.previous.iter().zip(key).take_while(|(one, other)| one == other).count();
        self.run.number(shared as u64)?;
        self.run.number((key.len() - shared) as u64)?;
        self.run.bytes(&key[shared..])?;
        self.previous.truncate(shared);
        self.previous.extend_from_slice(&key[shared..]);
        Ok(())
    }
}

/// Replaces the previous key of a run by the next; false at its end.
fn advance(run: &mut RunReader, key: &mut Vec<u8>) -> Result<bool> {
    if run.is_at_end() {
        return Ok(false);
    }
    let shared = run.number()? as usize;
    let rest = run.number()? as usize;
    key.truncate(shared);
    run.bytes(rest, key)?;
    Ok(true)
}

fn merge(
    runs: impl Iterator<Item = Run>,
    pulse: &Pulse,
    visit: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut readers = runs.map(Run::read).collect::<Result<Vec<_>>>()?;
    let mut heads = BinaryHeap::with_capacity(readers.len());
    for (index, reader) in readers.iter_mut().enumerate() {
        let mut key = Vec::new();
        if advance(reader, &mut key)? {
            heads.push(Reverse((key, index)));
        }
    }
    let mut previous: Option<Vec<u8>> = None;
    let mut count = 0usize;
    while let Some(mut head) = heads.peek_mut() {
        let Reverse((key, index)) = &mut *head;
        if previous.as_ref() != Some(key) {
            visit(key)?;
            previous.get_or_insert_default().clone_from(key);
        }
        if !advance(&mut readers[*index], key)? {
            drop(PeekMut::pop(head));
        }
        count += 1;
        if count.is_multiple_of(KEYS_PER_BEAT) {
            pulse.beat()?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn sorts_names_in_any_amount_of_memory(
            names in prop::collection::vec("[a-c]{0,5}", 0..300),
            memory in prop_oneof![Just(0usize), 0..2000usize, Just(1 << 20)],
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut sorter = NameSorter::new(folder.path(), memory);
            for name in &names {
                sorter.push(name.as_bytes(), KeyHash::of(name.as_bytes())).unwrap();
            }
            let mut found = Vec::new();
            sorter.finish(&Pulse::STEADY, |key| { found.push(String::from_utf8(key.to_vec()).unwrap()); Ok(()) }).unwrap();
            let expected: BTreeSet<String> = names.into_iter().collect();
            prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
        }
    }
}
