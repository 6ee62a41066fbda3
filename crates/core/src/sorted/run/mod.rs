//! A run: an immutable file of sorted entries, with its index and its filter.
//!
//! ```text
//! header     see crate::disk::format, kind "SRUN"
//! blocks     data blocks of about 16 KiB (see super::block); index blocks of about 4 KiB, each after the
//!            blocks it leads to; before each index block of the lowest level its part of the filter
//! footer     varint  entries, removals among them, bytes of keys and values
//!            the pointer to the root; varint height: the number of index levels
//!            the first and the last key, each with its length (varint)
//!            u32     length of the footer so far; u32 CRC-32 of all before
//! ```
//!
//! It is a B+-tree, loaded in key order from the bottom: a block that is full becomes an entry of the index
//! block above it, and a full index block one of the level above that; the last one is the root. The entry has
//! the shortest key that is at least the block's last and less than the next block's first, and a pointer:
//!
//! ```text
//! varint  offset and length of the block; entries and bytes below it, with their indexes and filters
//! varint  offset and number of lines of its filter, 0 except in a pointer to the lowest index level
//! ```
//!
//! Writing takes a block a level and the hashes of one part of the filter in memory; reading takes nothing
//! that grows with the run: index blocks are read through the cache like others, and lines of the filter through a map
//! of the file, without a system call. With rows of 200 bytes a million
//! entries are 12,000 data blocks, and 100 index blocks of 4 KiB.

mod cursor;
mod ranges;
mod verify;
mod writer;

use std::cell::RefCell;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::{Advice, Mmap};

pub use cursor::{Cursor, Reading};
pub use writer::RunWriter;

use super::block::Block;
use super::cache::Cache;
use super::filter::{self, LINE};
use super::{Options, RunState};
use crate::codes::variable_byte;
use crate::disk::format::Format;
use crate::{Error, Result};

const FORMAT: Format = Format { kind: *b"SRUN", version: 1 };
/// The length of the length and the checksum of the footer.
const TRAILER: usize = 8;
/// The first read of a footer: most are shorter.
const GUESS: usize = 512;
/// No tree is higher: with 4 KiB an index block has at least two entries even of the longest keys.
const HIGHEST: u64 = 40;

/// A longer buffer is not kept for the next look-up.
const LONGEST_KEPT: usize = 1 << 17;

thread_local! {
    /// A block as it is in the file; reused between look-ups.
    static SEALED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Where a block is, and what is below it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pointer {
    pub offset: u64,
    pub length: u64,
    pub entries: u64,
    pub bytes: u64,
    pub filter: u64,
    pub lines: u64,
}

impl Pointer {
    fn write(&self, bytes: &mut Vec<u8>) {
        for number in [self.offset, self.length, self.entries, self.bytes, self.filter, self.lines] {
            variable_byte::write(number, bytes);
        }
    }

    fn read(bytes: &mut &[u8]) -> Option<Pointer> {
        let mut next = || variable_byte::read(bytes);
        let (offset, length, entries) = (next()?, next()?, next()?);
        Some(Pointer { offset, length, entries, bytes: next()?, filter: next()?, lines: next()? })
    }
}

/// The contents of a footer.
#[derive(Clone, Debug, Default, PartialEq)]
struct Footer {
    entries: u64,
    removals: u64,
    /// The bytes of keys and values.
    content: u64,
    root: Pointer,
    height: u64,
    first: Vec<u8>,
    last: Vec<u8>,
}

impl Footer {
    fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for number in [self.entries, self.removals, self.content] {
            variable_byte::write(number, &mut bytes);
        }
        self.root.write(&mut bytes);
        variable_byte::write(self.height, &mut bytes);
        variable_byte::write_bytes(&self.first, &mut bytes);
        variable_byte::write_bytes(&self.last, &mut bytes);
        bytes.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
        bytes
    }

    fn decode(mut bytes: &[u8]) -> Option<Footer> {
        let bytes = &mut bytes;
        let mut next = || variable_byte::read(bytes);
        let (entries, removals, content) = (next()?, next()?, next()?);
        let root = Pointer::read(bytes)?;
        let height = variable_byte::read(bytes).filter(|height| (1..=HIGHEST).contains(height))?;
        let first = variable_byte::read_bytes(bytes)?.to_vec();
        let last = variable_byte::read_bytes(bytes)?.to_vec();
        bytes.is_empty().then_some(Footer { entries, removals, content, root, height, first, last })
    }
}

/// A run, open for reading. Thread-safe.
pub struct Run {
    path: PathBuf,
    file: File,
    map: Mmap,
    cache: Arc<Cache>,
    footer: Footer,
    pub state: RunState,
}

impl Run {
    /// Opens a committed run.
    pub fn open(folder: &Path, options: &Options, cache: &Arc<Cache>, state: RunState) -> Result<Run> {
        let path = folder.join((options.name)(state.number));
        let file = File::open(&path).map_err(Error::io(&path))?;
        let actual = file.metadata().map_err(Error::io(&path))?.len();
        if actual != state.bytes {
            let reason = format!("it has {actual} bytes, and {} were committed", state.bytes);
            return Err(Error::corrupt(&path, actual.min(state.bytes), reason));
        }
        // SAFETY: a run is written completely under another name and renamed, so the bytes under this map never change.
        let map = unsafe { Mmap::map(&file) }.map_err(Error::io(&path))?;
        map.advise(Advice::Random).map_err(Error::io(&path))?;
        let mut run = Run { path, file, map, cache: Arc::clone(cache), footer: Footer::default(), state };
        run.footer = run.read_footer()?;
        Ok(run)
    }

    fn read_footer(&self) -> Result<Footer> {
        let mut header = [0; Format::HEADER];
        self.read(&mut header, 0)?;
        FORMAT.check(&self.path, &header)?;
        let end = self.state.bytes;
        let mut length = GUESS.min(end as usize);
        loop {
            let start = end - length as u64;
            let mut bytes = vec![0; length];
            self.read(&mut bytes, start)?;
            let damaged = |reason: &str| Error::corrupt(&self.path, start, reason);
            let Some((rest, trailer)) = bytes.split_last_chunk::<TRAILER>() else {
                return Err(damaged("its footer is cut off"));
            };
            let footer = u32::from_le_bytes([trailer[0], trailer[1], trailer[2], trailer[3]]) as usize;
            if footer > rest.len() {
                if footer > 2 * super::MAX_KEY + GUESS || (footer + TRAILER) as u64 > end {
                    return Err(damaged("its footer does not match its checksum"));
                }
                length = footer + TRAILER;
                continue;
            }
            let start = rest.len() - footer;
            if trailer[4..] != crc32fast::hash(&bytes[start..bytes.len() - 4]).to_le_bytes() {
                return Err(damaged("its footer does not match its checksum"));
            }
            return Footer::decode(&rest[start..]).ok_or_else(|| damaged("its footer does not decode"));
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it may have keys from `from` on, up to `to`, exclusive.
    pub fn meets(&self, from: &[u8], to: Option<&[u8]>) -> bool {
        self.footer.last.as_slice() >= from && to.is_none_or(|to| self.footer.first.as_slice() < to)
    }

    /// Whether a part of the filter has a hash.
    fn may_have(&self, pointer: &Pointer, hash: u64) -> Result<bool> {
        let offset = pointer.filter + filter::line(hash, pointer.lines) * LINE as u64;
        let damaged = |reason: &str| Error::corrupt(&self.path, offset, reason);
        let line = usize::try_from(offset).ok().and_then(|offset| self.map.get(offset..)?.first_chunk());
        let line = line.ok_or_else(|| damaged("it ends too early"))?;
        filter::has(line, hash).ok_or_else(|| damaged("a line of its filter does not match its checksum"))
    }

    /// A block, through the cache.
    fn block(&self, pointer: &Pointer) -> Result<Arc<Block>> {
        let key = (self.state.number, pointer.offset);
        if let Some(block) = self.cache.get(key) {
            return Ok(block);
        }
        let length = self.checked_length(pointer)?;
        let opened = SEALED.with_borrow_mut(|sealed| {
            sealed.resize(length, 0);
            let block = self.read(sealed, pointer.offset).and_then(|()| self.open_block(pointer, sealed));
            if length > LONGEST_KEPT {
                *sealed = Vec::new();
            }
            block
        });
        let block = Arc::new(opened?);
        self.cache.insert(key, &block);
        Ok(block)
    }

    fn open_block(&self, pointer: &Pointer, sealed: &[u8]) -> Result<Block> {
        Block::open(sealed).map_err(|reason| Error::corrupt(&self.path, pointer.offset, reason))
    }

    /// The length of a block, which must be within the file.
    fn checked_length(&self, pointer: &Pointer) -> Result<usize> {
        match pointer.offset.checked_add(pointer.length) {
            Some(end) if end <= self.state.bytes => Ok(pointer.length as usize),
            _ => Err(self.damaged(pointer)),
        }
    }

    fn damaged(&self, pointer: &Pointer) -> Error {
        Error::corrupt(&self.path, pointer.offset, "a block does not decode")
    }

    fn read(&self, bytes: &mut [u8], offset: u64) -> Result<()> {
        self.file.read_exact_at(bytes, offset).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => Error::corrupt(&self.path, offset, "it ends too early"),
            _ => Error::io(&self.path)(error),
        })
    }
}
