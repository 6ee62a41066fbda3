//! What leaves put down for whoever ranks: the scores of a block, and those of a window of documents.

use crate::Result;

/// How many documents make a window: bounds are taken for so many at a time.
pub const WINDOW: u32 = 2048;

/// What the documents of a block score.
pub struct BlockScores {
    /// The documents, as numbers.
    pub documents: Vec<u32>,
    /// For each, what the leaf scores.
    pub scores: Vec<f64>,
}

impl BlockScores {
    /// Room for a block.
    pub fn new() -> BlockScores {
        BlockScores { documents: Vec::with_capacity(256), scores: Vec::with_capacity(256) }
    }
}

impl Default for BlockScores {
    fn default() -> BlockScores {
        BlockScores::new()
    }
}

/// What was found of the documents of a window.
pub struct Pool {
    /// For each document, what the leaves score so far.
    pub sums: [f64; WINDOW as usize],
    /// Room for one leaf's x: nothing but zeros between leaves.
    pub(super) xs: [f64; WINDOW as usize],
    /// Whether a document was met, as 1.
    pub met: [u8; WINDOW as usize],
}

impl Pool {
    /// An empty pool.
    pub fn new() -> Box<Pool> {
        Box::new(Pool { sums: [0.0; WINDOW as usize], xs: [0.0; WINDOW as usize], met: [0; WINDOW as usize] })
    }
}

/// Calls `see` with each place where there is not 0.
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
