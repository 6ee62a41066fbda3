//! The blocked Bloom filter: an array of small Bloom filters of one cache line each.
//!
//! A first hash picks one of B blocks of 512 bits, and d others pick bits in it: one cache miss per key
//! instead of d. Blocks fill unevenly, so for the same false-positive rate it needs more bits than a Bloom
//! filter:
//!
//! ```text
//! error               10^-1   10^-2   10^-3   10^-4   10^-5
//! bits per key        4.84    9.92    15.5    22.0    29.7
//! of a Bloom filter   4.81    9.59    14.4    19.2    24.0
//! ```
//!
//! The number of bits and the best d are computed from the exact rate (see [`super::block_error`]), so the
//! stated rate is the actual one. Beyond its capacity it still accepts keys, at a rising false-positive rate.
//!
//! Double hashing does not work inside a block: two hashes have only 2^18 combinations, and a block with 30
//! keys would have a rate of at least 30 / 2^18. So each bit is picked by 9 fresh bits from SplitMix64, seven
//! picks per 64-bit number.
//!
//! Source: Felix Putze, Peter Sanders, Johannes Singler, "Cache-, hash-, and space-efficient Bloom filters",
//! 2009.

use std::path::Path;

use super::block_error::{BLOCK_BITS, blocks_for, hashes_for};
use super::bloom::bits_for;
use super::probe::{Hashing, in_order};
use super::stability::Decay;
use super::storage::{Kind, LINE, Parameters, Storage, ones};
use super::{Filter, MOST_BITS, MOST_HASHES, Size, check_bits};
use crate::disk::format::Format;
use crate::prefetch::Prefetch;
use crate::signature::hash::{random, reduce};
use crate::{Pulse, Result, Signature};

const KIND: Kind = Kind { format: Format { kind: *b"BBLM", version: 1 }, length };

/// How many bits of a block one 64-bit number picks.
const PER_NUMBER: u32 = 64 / BLOCK_BITS.ilog2();

type Block = [u8; LINE];

fn length(parameters: &Parameters) -> Option<usize> {
    let possible = (1..=MOST_BITS).contains(&parameters.places)
        && parameters.places.is_multiple_of(BLOCK_BITS as u64)
        && (1..=MOST_HASHES).contains(&parameters.hashes);
    possible.then_some(parameters.places as usize / 8)
}

fn parameters(size: Size) -> Result<Parameters> {
    let (blocks, hashes) = match size.checked()? {
        Size::Bits { bits, hashes } => (bits.div_ceil(BLOCK_BITS as u64), hashes),
        Size::Load { bits, capacity } => {
            let blocks = bits.div_ceil(BLOCK_BITS as u64);
            (blocks, hashes_for(capacity, blocks, MOST_HASHES))
        }
        Size::Keys { capacity, error } => {
            // Uneven blocks call for fewer hashes than a Bloom filter, never more.
            let most = (-error.log2()).ceil().clamp(1.0, f64::from(MOST_HASHES)) as u32;
            let solve = |hashes| {
                let bits = bits_for(capacity, error, hashes).ceil() as u64;
                check_bits(bits)?;
                let least = (bits / BLOCK_BITS as u64).max(1);
                Ok((blocks_for(capacity, error, hashes, least), hashes))
            };
            let solved = (1..=most).map(solve).collect::<Result<Vec<_>>>()?;
            solved.into_iter().min().unwrap_or((1, 1))
        }
    };
    let places = blocks * BLOCK_BITS as u64;
    check_bits(places)?;
    // Neither is used: see above.
    let (hashing, decay) = (Hashing::Enhanced, Decay::Consecutive);
    Ok(Parameters { places, hashes, decrements: 0, seed: 0, max: 1, hashing, decay })
}

/// A blocked Bloom filter.
pub struct BlockedBloom {
    storage: Storage,
    blocks: u64,
    hashes: u32,
}

impl BlockedBloom {
    /// An empty filter in memory.
    pub fn new(size: Size) -> Result<BlockedBloom> {
        let parameters = parameters(size)?;
        Ok(BlockedBloom::with(Storage::in_memory(&KIND, &parameters)?, parameters))
    }

    /// An empty filter in a new file.
    pub fn create(path: &Path, size: Size) -> Result<BlockedBloom> {
        let parameters = parameters(size)?;
        Ok(BlockedBloom::with(Storage::in_file(&KIND, &parameters, path)?, parameters))
    }

    /// The filter in a file; if `mapped`, changes go to the file.
    pub fn open(path: &Path, mapped: bool) -> Result<BlockedBloom> {
        let (storage, parameters) = Storage::open(&KIND, path, mapped)?;
        Ok(BlockedBloom::with(storage, parameters))
    }

    fn with(storage: Storage, parameters: Parameters) -> BlockedBloom {
        let blocks = parameters.places / BLOCK_BITS as u64;
        BlockedBloom { storage, blocks, hashes: parameters.hashes }
    }

    fn blocks(&self) -> &[Block] {
        self.storage.contents().as_chunks().0
    }

    /// Sets the bits of the keys, and calls `answer` for each with whether they were all set before.
    fn set(&mut self, keys: &[Signature], pulse: &Pulse, mut answer: impl FnMut(usize, bool)) -> Result<()> {
        let (blocks, hashes) = (self.blocks, self.hashes);
        let contents = self.storage.contents_mut()?;
        let lines = Prefetch::of(contents);
        let contents: &mut [Block] = contents.as_chunks_mut().0;
        let mut new = 0;
        let outcome = in_order(
            keys,
            pulse,
            |_, key| prepare(lines, key, blocks),
            |index, (block, mut picks)| {
                let block = &mut contents[block];
                let mut all = 1;
                for _ in 0..hashes {
                    let bit = picks.next();
                    let byte = &mut block[bit >> 3];
                    all &= *byte >> (bit & 7);
                    *byte |= 1 << (bit & 7);
                }
                new += u64::from(all & 1 == 0);
                answer(index, all & 1 == 1);
            },
        );
        self.storage.count_more(new);
        outcome
    }
}

/// The block of a key, prefetched, and the bits in it.
#[inline]
fn prepare(lines: Prefetch, key: Signature, blocks: u64) -> (usize, Picks) {
    let block = reduce(random(key.0, 0), blocks) as usize;
    lines.line(block * LINE);
    (block, Picks::new(key))
}

/// Iterates over the bits of a key in its block.
#[derive(Clone, Copy)]
struct Picks {
    key: Signature,
    numbers: u64,
    number: u64,
    left: u32,
}

impl Picks {
    #[inline]
    fn new(key: Signature) -> Picks {
        Picks { key, numbers: 1, number: random(key.0, 1), left: PER_NUMBER }
    }

    #[inline]
    fn next(&mut self) -> usize {
        if self.left == 0 {
            self.numbers += 1;
            self.number = random(self.key.0, self.numbers);
            self.left = PER_NUMBER;
        }
        let bit = self.number as usize % BLOCK_BITS;
        self.number >>= BLOCK_BITS.ilog2();
        self.left -= 1;
        bit
    }
}

impl Filter for BlockedBloom {
    fn add(&mut self, keys: &[Signature], seen: &mut [bool], pulse: &Pulse) -> Result<()> {
        self.set(keys, pulse, |index, there| seen[index] = there)
    }

    fn update(&mut self, keys: &[Signature], pulse: &Pulse) -> Result<()> {
        self.set(keys, pulse, |_, _| ())
    }

    fn contains(&self, keys: &[Signature], seen: &mut [bool], pulse: &Pulse) -> Result<()> {
        let (contents, blocks) = (self.blocks(), self.blocks);
        let lines = Prefetch::of(self.storage.contents());
        in_order(
            keys,
            pulse,
            |_, key| prepare(lines, key, blocks),
            |index, (block, mut picks)| {
                let block = &contents[block];
                let mut all = 1;
                for _ in 0..self.hashes {
                    let bit = picks.next();
                    all &= block[bit >> 3] >> (bit & 7);
                }
                seen[index] = all & 1 == 1;
            },
        )
    }

    fn bits(&self) -> u64 {
        self.blocks * BLOCK_BITS as u64
    }

    fn hashes(&self) -> u32 {
        self.hashes
    }

    fn fill(&self) -> f64 {
        ones(self.storage.contents()) as f64 / self.bits() as f64
    }

    fn expected_error(&self) -> f64 {
        let error = |block: &Block| (ones(block) as f64 / BLOCK_BITS as f64).powi(self.hashes as i32);
        self.blocks().iter().map(error).sum::<f64>() / self.blocks as f64
    }

    fn storage(&self) -> &Storage {
        &self.storage
    }

    fn storage_mut(&mut self) -> &mut Storage {
        &mut self.storage
    }

    fn copy(&self) -> Result<Box<dyn Filter>> {
        Ok(Box::new(BlockedBloom { storage: self.storage.copy()?, ..*self }))
    }
}
