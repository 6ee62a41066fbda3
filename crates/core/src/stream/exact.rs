//! The exact set of a stream's keys, in bounded memory: the overflow is in sorted runs on disk.
//!
//! New keys go to a [`SignatureSet`] (10.5 bytes each). When that has filled the memory it is written to a
//! temporary file as a sorted run and cleared. Two runs of similar size are merged into one, as in an LSM
//! tree, so n keys are in at most log₂ n runs and each key is written at most that often; a run takes 8 bytes
//! per key. A key that is not in memory is searched in the runs by interpolation, in about log log n probes
//! each: the set slows down when the memory is full, but does not stop. It errs only if two keys share a
//! signature (n keys: n² / 2^65 times). The files are unnamed, so nothing is left behind however the process
//! ends.

use std::fs::File;
use std::io::{BufWriter, Write};

use memmap2::Mmap;

use super::Judge;
use crate::signature::{SignatureSet, interpolation};
use crate::{Error, Pulse, Result, Signature};

/// How many keys are inserted between two checks of the memory.
const BETWEEN_LOOKS: usize = 1 << 10;
const WORD: usize = size_of::<u64>();

/// The exact set, in bounded memory.
pub struct Exact {
    recent: SignatureSet,
    runs: Vec<Run>,
    memory: usize,
}

impl Exact {
    /// An empty set with a memory budget in bytes.
    pub fn new(memory: usize) -> Exact {
        Exact { recent: SignatureSet::default(), runs: Vec::new(), memory }
    }

    /// The number of distinct keys.
    pub fn len(&self) -> usize {
        self.recent.len() + self.runs.iter().map(Run::len).sum::<usize>()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The memory used, in bytes.
    pub fn bytes(&self) -> usize {
        self.recent.bytes()
    }

    /// Spills the keys in memory to disk, and merges runs of similar size.
    fn spill(&mut self, pulse: &Pulse) -> Result<()> {
        let recent = std::mem::take(&mut self.recent);
        self.runs.push(Run::write(recent.into_sorted(), pulse)?);
        while let [.., larger, smaller] = &self.runs[..]
            && larger.len() <= 2 * smaller.len()
        {
            let merged = Run::write(merge(larger, smaller), pulse)?;
            self.runs.truncate(self.runs.len() - 2);
            self.runs.push(merged);
        }
        Ok(())
    }
}

impl Judge for Exact {
    fn judge(&mut self, keys: &[Signature], seen: &mut [bool], pulse: &Pulse) -> Result<()> {
        for (keys, seen) in keys.chunks(BETWEEN_LOOKS).zip(seen.chunks_mut(BETWEEN_LOOKS)) {
            pulse.beat()?;
            if self.runs.is_empty() {
                self.recent.insert_all(keys, seen);
            } else {
                for (key, seen) in keys.iter().zip(seen) {
                    *seen = self.recent.contains(*key)
                        || self.runs.iter().any(|run| run.contains(*key))
                        || !self.recent.insert(*key);
                }
            }
            if self.recent.bytes() > self.memory {
                self.spill(pulse)?;
            }
        }
        Ok(())
    }
}

/// Signatures in ascending order, in an unnamed file.
struct Run(Mmap);

impl Run {
    fn write(signatures: impl Iterator<Item = u64>, pulse: &Pulse) -> Result<Run> {
        let failed = || Error::io(std::env::temp_dir());
        let mut file = BufWriter::with_capacity(1 << 18, tempfile::tempfile().map_err(failed())?);
        for (count, signature) in signatures.enumerate() {
            if count.is_multiple_of(1 << 16) {
                pulse.beat()?;
            }
            file.write_all(&signature.to_le_bytes()).map_err(failed())?;
        }
        let file: File = file.into_inner().map_err(|error| failed()(error.into_error()))?;
        // SAFETY: the file is unnamed, so only this process can change it, and it never does.
        let map = unsafe { Mmap::map(&file) };
        map.map(Run).map_err(failed())
    }

    fn len(&self) -> usize {
        self.0.len() / WORD
    }

    fn get(&self, place: usize) -> u64 {
        let mut word = [0; WORD];
        word.copy_from_slice(&self.0[place * WORD..][..WORD]);
        u64::from_le_bytes(word)
    }

    fn contains(&self, key: Signature) -> bool {
        interpolation::find(self.len(), |place| Signature(self.get(place)), key).is_some()
    }

    fn iter(&self) -> impl Iterator<Item = u64> {
        (0..self.len()).map(|place| self.get(place))
    }
}

/// The signatures of two disjoint runs, in ascending order.
fn merge(left: &Run, right: &Run) -> impl Iterator<Item = u64> {
    let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
    std::iter::from_fn(move || match (left.peek(), right.peek()) {
        (Some(from_left), Some(from_right)) if from_left > from_right => right.next(),
        (Some(_), _) => left.next(),
        (None, _) => right.next(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    proptest! {
        /// Compared with a set, with so little memory that most keys are on disk.
        #[test]
        fn answers_as_a_set_does(keys in prop::collection::vec(prop_oneof![0u64..3000, Just(u64::MAX), any::<u64>()], 0..12_000), batch in 1usize..5000) {
            let mut exact = Exact::new(0);
            let mut model = HashSet::new();
            for keys in keys.chunks(batch) {
                let keys: Vec<Signature> = keys.iter().map(|key| Signature(*key)).collect();
                let expected: Vec<bool> = keys.iter().map(|key| !model.insert(key.0)).collect();
                let mut seen = vec![false; keys.len()];
                exact.judge(&keys, &mut seen, &Pulse::STEADY).unwrap();
                prop_assert_eq!(seen, expected);
                prop_assert_eq!(exact.len(), model.len());
            }
        }
    }

    #[test]
    fn its_memory_is_bounded_and_its_runs_are_few() {
        let memory = 1 << 17;
        let keys: Vec<Signature> = (0..300_000u64).map(|key| Signature::of(&key.to_le_bytes())).collect();
        let mut exact = Exact::new(memory);
        for expected in [false, true] {
            for keys in keys.chunks(1000) {
                let mut seen = vec![!expected; keys.len()];
                exact.judge(keys, &mut seen, &Pulse::STEADY).unwrap();
                assert!(seen.iter().all(|seen| *seen == expected));
                assert!(exact.bytes() <= memory);
            }
        }
        assert_eq!(exact.len(), keys.len());
        let on_disk: usize = exact.runs.iter().map(Run::len).sum();
        assert!(on_disk >= keys.len() - memory / 8);
        assert!(exact.runs.len() <= 8, "{} runs", exact.runs.len());
    }
}
