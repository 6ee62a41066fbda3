//! The scratch file of the host queues: blocks of 64 bytes, recycled through a free list, behind a bounded
//! write-back cache.
//!
//! A block is the number of the next one (4 bytes) and ten offsets of 6 bytes, so offsets go up to 2^48. The
//! free blocks are linked through those numbers, so the free list takes no memory.
//!
//! The file is derived from the log of the URLs and rebuilt by every run: it has no name (it disappears with
//! the process, however that ends), no checksums and no sync. It is read and written by position rather than
//! mapped, so that the resident memory is the cache alone: eight-way set-associative, with second-chance
//! replacement within a set; 68.5 bytes per block, allocated as it fills. A hit costs no system call, a miss
//! one or two.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::{Error, Result};

const SIZE: usize = 64;
const NEXT: usize = 4;
const WIDTH: usize = 6;
const WAYS: usize = 8;

/// Offsets per block.
pub const PER_BLOCK: u8 = ((SIZE - NEXT) / WIDTH) as u8;

/// The largest offset.
pub const LARGEST_OFFSET: u64 = (1 << (8 * WIDTH)) - 1;

/// A block in memory.
#[derive(Clone, Copy)]
pub struct Block([u8; SIZE]);

impl Block {
    /// The number of the block after this one.
    pub fn next(&self) -> u32 {
        let [a, b, c, d, ..] = self.0;
        u32::from_le_bytes([a, b, c, d])
    }

    /// Sets the number of the block after this one.
    pub fn set_next(&mut self, block: u32) {
        self.0[..NEXT].copy_from_slice(&block.to_le_bytes());
    }

    /// The offset at an index.
    pub fn offset(&self, place: u8) -> u64 {
        let start = NEXT + usize::from(place) * WIDTH;
        let mut bytes = [0; 8];
        bytes[..WIDTH].copy_from_slice(&self.0[start..start + WIDTH]);
        u64::from_le_bytes(bytes)
    }

    /// Sets the offset at an index.
    pub fn set_offset(&mut self, place: u8, offset: u64) {
        let start = NEXT + usize::from(place) * WIDTH;
        self.0[start..start + WIDTH].copy_from_slice(&offset.to_le_bytes()[..WIDTH]);
    }
}

/// The state of the eight blocks of a set, one bit each.
#[derive(Clone, Copy, Default)]
struct Flags {
    used: u8,
    dirty: u8,
    /// The clock hand: where the search for a victim continues.
    hand: u8,
}

/// The blocks of the scratch file.
pub struct Blocks {
    path: PathBuf,
    file: File,
    /// How many blocks the file has ever had; they are numbered from 1.
    pub(super) made: u32,
    /// The first free block, or 0.
    free: u32,
    /// The numbers of the cached blocks; 0 is a free slot.
    numbers: Vec<[u32; WAYS]>,
    flags: Vec<Flags>,
    contents: Vec<[[u8; SIZE]; WAYS]>,
}

impl Blocks {
    /// Creates the file and unlinks it immediately; `cache` is how many blocks are kept in memory, rounded up
    /// to a power of two.
    pub fn create(path: &Path, cache: usize) -> Result<Blocks> {
        let file = File::options().read(true).write(true).create(true).truncate(true).open(path);
        let file = file.map_err(Error::io(path))?;
        fs::remove_file(path).map_err(Error::io(path))?;
        let sets = cache.div_ceil(WAYS).next_power_of_two();
        Ok(Blocks {
            path: path.to_path_buf(),
            file,
            made: 0,
            free: 0,
            numbers: vec![[0; WAYS]; sets],
            flags: vec![Flags::default(); sets],
            contents: vec![[[0; SIZE]; WAYS]; sets],
        })
    }

    /// Allocates a block; its contents are undefined.
    pub fn allocate(&mut self) -> Result<u32> {
        if self.free != 0 {
            let block = self.free;
            self.free = self.read(block)?.next();
            return Ok(block);
        }
        let block = self.made.checked_add(1);
        let block = block.ok_or_else(|| Error::Invalid("the host queues are full".to_owned()))?;
        let (set, way) = self.make_room(block)?;
        self.numbers[set][way] = block;
        self.flags[set].dirty |= 1 << way;
        self.flags[set].used |= 1 << way;
        self.made = block;
        Ok(block)
    }

    /// Frees a block.
    pub fn release(&mut self, block: u32) -> Result<()> {
        let free = self.free;
        self.write(block, |content| content.set_next(free))?;
        self.free = block;
        Ok(())
    }

    /// Reads a block.
    pub fn read(&mut self, block: u32) -> Result<Block> {
        let (set, way) = self.load(block)?;
        Ok(Block(self.contents[set][way]))
    }

    /// Modifies a block.
    pub fn write<T>(&mut self, block: u32, change: impl FnOnce(&mut Block) -> T) -> Result<T> {
        let (set, way) = self.load(block)?;
        self.flags[set].dirty |= 1 << way;
        let mut content = Block(self.contents[set][way]);
        let answer = change(&mut content);
        self.contents[set][way] = content.0;
        Ok(answer)
    }

    /// The memory of the full cache, in bytes.
    pub fn bytes(&self) -> usize {
        self.numbers.len() * size_of::<([u32; WAYS], Flags, [[u8; SIZE]; WAYS])>()
    }

    /// The cache slot of a block, which is loaded if it is not cached.
    fn load(&mut self, block: u32) -> Result<(usize, usize)> {
        let set = self.set_of(block);
        if let Some(way) = self.numbers[set].iter().position(|&number| number == block) {
            self.flags[set].used |= 1 << way;
            return Ok((set, way));
        }
        let (set, way) = self.make_room(block)?;
        let content = &mut self.contents[set][way];
        self.file.read_exact_at(content, position(block)).map_err(Error::io(&self.path))?;
        self.numbers[set][way] = block;
        self.flags[set].used |= 1 << way;
        Ok((set, way))
    }

    /// A free slot in the set of a block, after write-back of its victim.
    fn make_room(&mut self, block: u32) -> Result<(usize, usize)> {
        let set = self.set_of(block);
        let flags = &mut self.flags[set];
        while flags.used & (1 << flags.hand) != 0 {
            flags.used &= !(1 << flags.hand);
            flags.hand = (flags.hand + 1) % WAYS as u8;
        }
        let way = usize::from(flags.hand);
        flags.hand = (flags.hand + 1) % WAYS as u8;
        if flags.dirty & (1 << way) != 0 {
            let at = position(self.numbers[set][way]);
            self.file.write_all_at(&self.contents[set][way], at).map_err(Error::io(&self.path))?;
            flags.dirty &= !(1 << way);
        }
        self.numbers[set][way] = 0;
        Ok((set, way))
    }

    fn set_of(&self, block: u32) -> usize {
        block as usize & (self.numbers.len() - 1)
    }
}

fn position(block: u32) -> u64 {
    u64::from(block - 1) * SIZE as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compared with a vector of blocks, with a cache so small that most of them are in the file.
        #[test]
        fn blocks_keep_what_was_written(steps in prop::collection::vec((0u8..4, any::<prop::sample::Index>(), 0..=LARGEST_OFFSET), 0..400)) {
            let folder = tempfile::tempdir().unwrap();
            let mut blocks = Blocks::create(&folder.path().join("scratch"), 8).unwrap();
            prop_assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
            let mut model: Vec<(u32, Vec<u64>)> = Vec::new();
            let mut most = 0;
            for (step, index, value) in steps {
                if step < 2 || model.is_empty() {
                    let block = blocks.allocate().unwrap();
                    prop_assert!(model.iter().all(|(other, _)| *other != block));
                    let values: Vec<u64> = (0..u64::from(PER_BLOCK)).map(|place| value ^ place).collect();
                    blocks.write(block, |content| {
                        content.set_next(value as u32);
                        (0..).zip(&values).for_each(|(place, value)| content.set_offset(place, *value));
                    }).unwrap();
                    model.push((block, values));
                    most = most.max(model.len());
                } else if step == 2 {
                    blocks.release(model.swap_remove(index.index(model.len())).0).unwrap();
                } else {
                    let (block, values) = &model[index.index(model.len())];
                    let content = blocks.read(*block).unwrap();
                    prop_assert_eq!(content.next(), values[0] as u32);
                    prop_assert!((0..).zip(values).all(|(place, value)| content.offset(place) == *value));
                }
            }
            prop_assert_eq!(blocks.made as usize, most, "free blocks are used first");
        }
    }
}
