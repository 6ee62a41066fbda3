//! An external merge sort: any number of rows of one or two words, in a fixed amount of memory.
//!
//! Rows are buffered until the memory is full, sorted, and written as a *run*; at the end the runs are merged
//! through a heap. Input that fits into memory never touches the disk.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::PathBuf;

use crate::disk::fault;
use crate::disk::file::remove;
use crate::sieve::words::{WordReader, WordWriter};
use crate::{Error, Result};

/// The input side of the sort.
pub struct ExternalSort<const N: usize> {
    /// The prefix of the runs' file names.
    prefix: PathBuf,
    rows: Vec<[u64; N]>,
    capacity: usize,
    runs: Vec<Run>,
}

/// A run on disk, removed on drop.
struct Run {
    path: PathBuf,
    length: u64,
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = remove(&self.path);
    }
}

impl<const N: usize> ExternalSort<N> {
    /// A sort that keeps `capacity` rows in memory and writes runs whose names begin with `prefix`.
    pub fn new(prefix: PathBuf, capacity: usize) -> Self {
        ExternalSort { prefix, rows: Vec::new(), capacity: capacity.max(1), runs: Vec::new() }
    }

    /// Adds a row.
    pub fn push(&mut self, row: [u64; N]) -> Result<()> {
        if self.rows.len() == self.capacity {
            self.write_run()?;
        }
        self.rows.push(row);
        Ok(())
    }

    /// The rows in order.
    pub fn finish(mut self) -> Result<SortedRows<N>> {
        if !self.runs.is_empty() {
            self.write_run()?;
            self.rows = Vec::new();
        }
        self.rows.sort_unstable_by_key(order);
        let open = |run: &Run| WordReader::open(&run.path, run.length);
        let mut readers = self.runs.iter().map(open).collect::<Result<Vec<_>>>()?;
        let mut heads = BinaryHeap::with_capacity(readers.len());
        for (index, reader) in readers.iter_mut().enumerate() {
            heads.extend(read_row(reader)?.map(|row| Reverse((row, index))));
        }
        Ok(SortedRows { rows: self.rows.into_iter(), readers, heads, _runs: self.runs })
    }

    fn write_run(&mut self) -> Result<()> {
        self.rows.sort_unstable_by_key(order);
        let mut path = self.prefix.clone().into_os_string();
        path.push(format!("-{}", self.runs.len()));
        let path = PathBuf::from(path);
        let mut writer = WordWriter::create(&path)?;
        writer.extend(self.rows.as_flattened())?;
        let length = writer.finish()?.length;
        self.runs.push(Run { path, length });
        self.rows.clear();
        fault::point("offline.flush.run-written");
        Ok(())
    }
}

/// The rows of an external sort, in order.
pub struct SortedRows<const N: usize> {
    rows: std::vec::IntoIter<[u64; N]>,
    readers: Vec<WordReader>,
    heads: BinaryHeap<Reverse<([u64; N], usize)>>,
    _runs: Vec<Run>,
}

impl<const N: usize> SortedRows<N> {
    fn advance(&mut self) -> Result<Option<[u64; N]>> {
        let Some(mut head) = self.heads.peek_mut() else { return Ok(self.rows.next()) };
        let Reverse((row, index)) = *head;
        match read_row(&mut self.readers[index])? {
            Some(next) => *head = Reverse((next, index)),
            None => drop(std::collections::binary_heap::PeekMut::pop(head)),
        }
        Ok(Some(row))
    }
}

impl<const N: usize> Iterator for SortedRows<N> {
    type Item = Result<[u64; N]>;

    fn next(&mut self) -> Option<Result<[u64; N]>> {
        self.advance().transpose()
    }
}

/// The sort key: comparing arrays costs a loop per comparison, which doubles the time.
#[inline]
fn order<const N: usize>(row: &[u64; N]) -> (u64, u64) {
    const { assert!(N == 1 || N == 2) };
    (row[0], row[N - 1])
}

fn read_row<const N: usize>(reader: &mut WordReader) -> Result<Option<[u64; N]>> {
    let mut row = [0; N];
    for (index, word) in row.iter_mut().enumerate() {
        match reader.advance()? {
            Some(read) => *word = read,
            None if index == 0 => return Ok(None),
            None => return Err(Error::Invalid("a run ends within a row".to_owned())),
        }
    }
    Ok(Some(row))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorts_in_any_amount_of_memory(mut rows in prop::collection::vec(any::<[u8; 2]>(), 0..500), capacity in 1usize..600) {
            let dir = tempfile::tempdir().unwrap();
            let mut sort = ExternalSort::new(dir.path().join("run"), capacity);
            for row in &rows {
                sort.push(row.map(u64::from)).unwrap();
            }
            let sorted: Vec<[u64; 2]> = sort.finish().unwrap().collect::<Result<_>>().unwrap();
            rows.sort_unstable();
            prop_assert_eq!(sorted, rows.iter().map(|row| row.map(u64::from)).collect::<Vec<_>>());
            prop_assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        }
    }
}
