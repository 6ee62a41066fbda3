//! Ranges of a map and their sizes, from the indexes of its runs: what a cluster divides.

use std::sync::Arc;

use super::memory::Memory;
use super::run::Run;
use crate::{Error, Result};

/// A range of keys, with its size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tablet {
    /// Its first possible key.
    pub from: Vec<u8>,
    /// The end, exclusive; `None`: there is none.
    pub to: Option<Vec<u8>>,
    /// The bytes on disk, and in memory for what is in no run yet. Indexes and filters are counted too.
    pub bytes: u64,
    /// The number of entries, removals included; a key that is in several runs counts in each.
    pub entries: u64,
}

/// The runs and the memory table to divide.
pub struct Tablets<'a>(pub &'a [Arc<Run>], pub &'a Memory);

impl Tablets<'_> {
    /// The size of a range.
    pub fn size(&self, from: &[u8], to: Option<&[u8]>) -> Result<Tablet> {
        let mut tablet = Tablet { from: from.to_vec(), to: to.map(<[u8]>::to_vec), ..Tablet::default() };
        for run in self.0 {
            let (bytes, entries) = run.size(from, to)?;
            tablet.bytes += bytes;
            tablet.entries += entries;
        }
        for (key, value) in self.1.range(from, to) {
            tablet.bytes += (key.len() + value.map_or(0, <[u8]>::len)) as u64;
            tablet.entries += 1;
        }
        Ok(tablet)
    }

    /// The ranges between keys.
    pub fn split(&self, keys: &[impl AsRef<[u8]>]) -> Result<Vec<Tablet>> {
        if !keys.is_sorted_by(|one, other| one.as_ref() < other.as_ref()) {
            return Err(Error::Invalid("the keys to split a table at must increase".to_owned()));
        }
        let starts = std::iter::once(&[] as &[u8]).chain(keys.iter().map(AsRef::as_ref));
        let ends = keys.iter().map(|key| Some(key.as_ref())).chain([None]);
        starts.zip(ends).map(|(from, to)| self.size(from, to)).collect()
    }

    /// At most `count` ranges of about the same size: cuts where the sum over all runs passes a share of it.
    pub fn cut(&self, count: usize) -> Result<Vec<Tablet>> {
        let mut pieces = Vec::new();
        for run in self.0 {
            run.pieces(|last, pointer| pieces.push((last.to_vec(), pointer.bytes)))?;
        }
        for (key, value) in self.1.range(&[], None) {
            pieces.push((key.to_vec(), (key.len() + value.map_or(0, <[u8]>::len)) as u64));
        }
        pieces.sort();
        let whole: u64 = pieces.iter().map(|(_, bytes)| bytes).sum();
        let share = whole.div_ceil(count.max(1) as u64).max(1);
        let (mut cuts, mut sum) = (Vec::<Vec<u8>>::new(), 0);
        for (mut last, bytes) in pieces {
            sum += bytes;
            last.push(0);
            if sum >= share * (cuts.len() as u64 + 1) && sum < whole && cuts.last() < Some(&last) {
                cuts.push(last);
            }
        }
        self.split(&cuts)
    }
}
