//! Buffers for ranking: the scores of a block, and those of a window of documents.

use crate::Result;

/// The number of documents in a window, the granularity of score bounds.
pub const WINDOW: u32 = 2048;

/// The scores of the documents of a block.
pub struct BlockScores {
    /// The documents, as numbers.
    pub documents: Vec<u32>,
    /// For each document, the leaf's score.
    pub scores: Vec<f64>,
}

impl BlockScores {
    /// An empty buffer with the capacity of a block.
    pub fn new() -> BlockScores {
        BlockScores { documents: Vec::with_capacity(256), scores: Vec::with_capacity(256) }
    }
}

impl Default for BlockScores {
    fn default() -> BlockScores {
        BlockScores::new()
    }
}

/// Accumulators for the documents of a window.
pub struct Pool {
    /// For each document, the sum of the leaf scores so far.
    pub sums: [f64; WINDOW as usize],
    /// A buffer for one leaf's x: all zeros between leaves.
    pub(super) xs: [f64; WINDOW as usize],
    /// 1 for each document that occurred in a leaf.
    pub met: [u8; WINDOW as usize],
}

impl Pool {
    /// An empty pool.
    pub fn new() -> Box<Pool> {
        Box::new(Pool { sums: [0.0; WINDOW as usize], xs: [0.0; WINDOW as usize], met: [0; WINDOW as usize] })
    }
}

/// Calls `see` with the index of each non-zero entry.
#[inline]
pub fn each_set(bytes: &[u8; WINDOW as usize], mut see: impl FnMut(usize) -> Result<()>) -> Result<()> {
    for (word, bytes) in bytes.chunks_exact(8).enumerate() {
        let mut bits = bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        while bits > 0 {
            let place = bits.trailing_zeros() as usize / 8;
            bits &= !(0xff << (place * 8));
            see(word * 8 + place)?;
        }
    }
    Ok(())
}
