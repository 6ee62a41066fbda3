//! The coding of successor lists: what our own graph files and those of WebGraph have in common.
//!
//! A list is a sequence of numbers ([`Part`]s), each in the code of its part:
//!
//! ```text
//! outdegree        d; a list of d = 0 ends here
//! reference        r: the list copies from that of node − r; 0: from none. Absent if the window is 0
//! block count      if r > 0: the reference list is cut into blocks, copied and skipped in turns; the last
//!                  block, up to the end, is not written
//! blocks           the length of the first, then the lengths − 1 of the others
//! interval count   if some successors are not copied, and intervals are used: runs of at least `interval`
//!                  consecutive nodes among them
//! intervals        start (the first: its difference from the node, zigzag; else from the end of the one
//!                  before, − 1) and length − `interval`
//! residuals        the rest: the first as its difference from the node, zigzag; then gaps − 1
//! ```
//!
//! Pages of a site share most of their links, so that copying from one of the last `window` lists, in the order
//! of the URLs, leaves 2 to 4 bits a link. Reading a list takes those it copies from: at most `chain` of them.
//!
//! Source: Paolo Boldi and Sebastiano Vigna, "The WebGraph framework I: compression techniques", 2004.

mod codes;
mod decode;
mod difference;
mod references;

pub use codes::{CODES, Codes, Lengths, Tally};
pub use decode::{Buffers, Head, Source, body, head};
pub use difference::Difference;
pub use references::{Lists, choose};

use crate::{Error, Result};

/// What the numbers of a list mean; each has a code of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The number of successors.
    Outdegree,
    /// The distance to the list copied from.
    Reference,
    /// The number of blocks.
    BlockCount,
    /// The length of a block.
    Block,
    /// The number of intervals.
    IntervalCount,
    /// The start of the first interval.
    FirstInterval,
    /// The start of another interval.
    Interval,
    /// The length of an interval.
    IntervalLength,
    /// The first residual.
    FirstResidual,
    /// The gap before another residual.
    Residual,
    /// The weight of an arc, less 1: not among the numbers of a list.
    Weight,
}

impl Part {
    /// All parts, in this order.
    pub const ALL: [Part; 11] = [
        Part::Outdegree,
        Part::Reference,
        Part::BlockCount,
        Part::Block,
        Part::IntervalCount,
        Part::FirstInterval,
        Part::Interval,
        Part::IntervalLength,
        Part::FirstResidual,
        Part::Residual,
        Part::Weight,
    ];

    /// The name of the part.
    pub fn name(self) -> &'static str {
        match self {
            Part::Outdegree => "outdegrees",
            Part::Reference => "references",
            Part::BlockCount => "block counts",
            Part::Block => "blocks",
            Part::IntervalCount => "interval counts",
            Part::FirstInterval => "first intervals",
            Part::Interval => "other intervals",
            Part::IntervalLength => "interval lengths",
            Part::FirstResidual => "first residuals",
            Part::Residual => "other residuals",
            Part::Weight => "weights",
        }
    }
}

/// How lists refer to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How many of the preceding lists a list may copy from; 0: none.
    pub window: u8,
    /// The maximum length of a chain of references.
    pub chain: u8,
    /// The minimum length of an interval; 0: no intervals.
    pub interval: u8,
}

impl Options {
    /// The longest chain that can be asked for.
    pub const LONGEST_CHAIN: u8 = 32;

    /// Checks the limits.
    pub fn check(self) -> Result<Options> {
        if self.chain > Self::LONGEST_CHAIN {
            let reason = format!(
                "a chain of references has at most {} lists, not {}",
                Self::LONGEST_CHAIN,
                self.chain
            );
            return Err(Error::Invalid(reason));
        }
        Ok(self)
    }
}

impl Default for Options {
    fn default() -> Options {
        Options { window: 7, chain: 3, interval: 4 }
    }
}
