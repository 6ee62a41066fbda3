//! A place in a run, which moves forward: the path from the root to an entry.

use std::sync::Arc;

use super::{Pointer, Run};
use crate::Result;
use crate::sorted::block::{Block, Place};

/// How a cursor reads data blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// One at a time, through the cache: for look-ups.
    Cached,
    /// In sequence, in reads of this number of bytes that bypass the cache: for scans.
    Ahead(usize),
}

/// A place in a run: an entry, or the end.
pub struct Cursor {
    run: Arc<Run>,
    reading: Reading,
    /// From the root down to a data block; empty at the end.
    path: Vec<Step>,
    /// What was read ahead, and its offset in the file.
    ahead: Vec<u8>,
    offset: u64,
}

struct Step {
    pointer: Pointer,
    block: Arc<Block>,
    place: Place,
}

impl Cursor {
    /// The first entry whose key is at least `from`.
    pub fn seek(run: &Arc<Run>, reading: Reading, from: &[u8]) -> Result<Cursor> {
        let mut cursor = Cursor::new(run, reading);
        cursor.descend(run.footer.root, from)?;
        Ok(cursor)
    }

    /// The first entry whose key is at least `from`, or the end if the filter says that no key from there up to
    /// `to`, exclusive, has a prefix with this hash.
    pub fn find(run: &Arc<Run>, hash: u64, from: &[u8], to: Option<&[u8]>) -> Result<Cursor> {
        let mut cursor = Cursor::new(run, Reading::Cached);
        let height = run.footer.height as usize;
        let mut lowest = run.footer.root;
        for _ in 1..height {
            match cursor.enter(lowest, from)? {
                Some(below) => lowest = below,
                None => return Ok(cursor.at_end()),
            }
        }
        // Nearly always one part of the filter covers the range.
        while !run.may_have(&lowest, hash)? {
            let is_last = cursor.path.last().is_none_or(|step| to.is_some_and(|to| step.place.key() >= to));
            match if is_last { None } else { cursor.next_lowest()? } {
                Some(next) => lowest = next,
                None => return Ok(cursor.at_end()),
            }
        }
        cursor.descend(lowest, from)?;
        Ok(cursor)
    }

    fn new(run: &Arc<Run>, reading: Reading) -> Cursor {
        Cursor { run: Arc::clone(run), reading, path: Vec::new(), ahead: Vec::new(), offset: 0 }
    }

    fn at_end(mut self) -> Cursor {
        self.path.clear();
        self
    }

    /// The entry: its key, and its value unless the key is removed; `None` at the end.
    pub fn entry(&self) -> Option<(&[u8], Option<&[u8]>)> {
        self.path.last().map(|step| (step.place.key(), step.block.value(&step.place)))
    }

    /// Whether the part of the filter above the entry has a hash.
    pub fn is_in_filter(&self, hash: u64) -> Result<bool> {
        let lowest = self.path.iter().rev().nth(1);
        lowest.map_or(Ok(false), |step| self.run.may_have(&step.pointer, hash))
    }

    /// Moves to the next entry.
    pub fn advance(&mut self) -> Result<()> {
        while let Some(step) = self.path.last_mut() {
            let moved = step.block.advance(&mut step.place);
            if moved.ok_or_else(|| self.run.damaged(&step.pointer))? {
                return self.down_to_data();
            }
            self.path.pop();
        }
        Ok(())
    }

    /// From an index entry down to the first entry below it.
    fn down_to_data(&mut self) -> Result<()> {
        while self.path.len() <= self.run.footer.height as usize {
            let below = self.below()?;
            self.enter(below, &[])?;
        }
        Ok(())
    }

    /// Moves to the first entry from `from` on that is below a block, or after it.
    fn descend(&mut self, mut pointer: Pointer, from: &[u8]) -> Result<()> {
        while self.path.len() < self.run.footer.height as usize {
            match self.enter(pointer, from)? {
                Some(below) => pointer = below,
                None => return self.advance(),
            }
        }
        self.enter(pointer, from)?;
        let Some(step) = self.path.last() else { return Ok(()) };
        // A separator may be larger than the last key of its block.
        if step.place.key() < from { self.advance() } else { Ok(()) }
    }

    /// Adds a block to the path, at its first entry from `from` on; returns where an index entry leads, or `None`
    /// if all entries are before `from`.
    fn enter(&mut self, pointer: Pointer, from: &[u8]) -> Result<Option<Pointer>> {
        let is_data = self.path.len() == self.run.footer.height as usize;
        let block = match self.reading {
            Reading::Ahead(length) if is_data => Arc::new(self.read_ahead(&pointer, length)?),
            _ => self.run.block(&pointer)?,
        };
        let mut place = Place::default();
        let found = block.seek(from, &mut place).ok_or_else(|| self.run.damaged(&pointer))?;
        self.path.push(Step { pointer, block, place });
        if found && !is_data { self.below().map(Some) } else { Ok(None) }
    }

    /// Where the index entry at the end of the path leads.
    fn below(&self) -> Result<Pointer> {
        let step = self.path.last();
        let read = |step: &Step| Pointer::read(&mut step.block.value(&step.place)?);
        let pointer = step.and_then(read);
        pointer.ok_or_else(|| self.run.damaged(&step.map_or(self.run.footer.root, |step| step.pointer)))
    }

    /// From an index block of the lowest level to the next.
    fn next_lowest(&mut self) -> Result<Option<Pointer>> {
        let depth = self.path.len();
        while let Some(step) = self.path.last_mut() {
            let moved = step.block.advance(&mut step.place);
            if !moved.ok_or_else(|| self.run.damaged(&step.pointer))? {
                self.path.pop();
                continue;
            }
            let mut below = self.below()?;
            while self.path.len() < depth {
                let Some(next) = self.enter(below, &[])? else { return Ok(None) };
                below = next;
            }
            return Ok(Some(below));
        }
        Ok(None)
    }

    fn read_ahead(&mut self, pointer: &Pointer, length: usize) -> Result<Block> {
        let wanted = self.run.checked_length(pointer)?;
        let held = pointer.offset.checked_sub(self.offset).filter(|skip| {
            skip.checked_add(pointer.length).is_some_and(|end| end <= self.ahead.len() as u64)
        });
        let start = match held {
            Some(start) => start as usize,
            None => {
                let left = (self.run.state.bytes - pointer.offset) as usize;
                self.ahead.resize(wanted.max(length).min(left), 0);
                self.offset = pointer.offset;
                self.run.read(&mut self.ahead, pointer.offset)?;
                0
            }
        };
        self.run.open_block(pointer, &self.ahead[start..start + wanted])
    }
}
