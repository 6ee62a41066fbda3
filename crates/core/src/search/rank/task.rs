//! The state shared by all methods: the cursors, the score functions, the top k so far, and the limits.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::top::{Ranked, Top};
use crate::index::DocId;
use crate::index::read::replaced::Replaced;
use crate::search::matching::leaf::{Lengths, WINDOW};
use crate::search::matching::{Leaves, Node, Slot};
use crate::search::score::{above, grain};
use crate::{Pulse, Result};

/// A scoring leaf.
#[derive(Clone, Copy, Debug)]
pub struct Scored {
    /// The slot of its cursor.
    pub slot: Slot,
}

/// The query-independent part of a document's score.
pub struct Prior<'a> {
    /// ln(1 + static rank) of each document.
    pub ranks: &'a [f32],
    /// The maximum of `ranks` in each window.
    pub maxima: &'a [f32],
    /// The factor of the ranks.
    pub weight: f64,
    /// If the model has a length prior: the length of each document, and the penalty for a length.
    pub length: Option<(Lengths, &'a (dyn Fn(f64) -> f64 + Sync))>,
}

impl Prior<'_> {
    /// The prior of a document.
    #[inline]
    pub fn of(&self, document: DocId) -> f64 {
        let mut prior = 0.0;
        if self.weight != 0.0 {
            prior = grain(self.weight * f64::from(self.ranks[document.0 as usize]));
        }
        if let Some((lengths, of_length)) = &self.length {
            prior += grain(of_length(f64::from(lengths[document.0 as usize])));
        }
        prior
    }

    /// An upper bound on the prior of any document.
    pub fn most(&self) -> f64 {
        let most = self.maxima.iter().copied().fold(0.0, f32::max);
        if self.weight == 0.0 { 0.0 } else { above(self.weight * f64::from(most)) }
    }

    /// An upper bound on the prior in the window that begins with this document.
    #[inline]
    pub fn bound(&self, start: DocId) -> f64 {
        if self.weight == 0.0 {
            return 0.0;
        }
        above(self.weight * f64::from(self.maxima[(start.0 / WINDOW) as usize]))
    }
}

/// The limits of a search, and the threshold shared between threads.
pub struct Limits<'a> {
    /// The deadline, if there is one.
    pub deadline: Option<Instant>,
    /// Reports whether the caller wants to continue.
    pub pulse: &'a Pulse<'a>,
    /// The score to exceed, since some part of the index has k documents above it, as bits; it only increases.
    pub floor: &'a AtomicU64,
}

impl Limits<'_> {
    /// Whether the deadline has passed.
    pub fn is_over(&self) -> Result<bool> {
        self.pulse.beat()?;
        Ok(self.deadline.is_some_and(|deadline| Instant::now() >= deadline))
    }
}

/// A part of a segment to be searched.
pub struct Task<'a> {
    /// The cursors.
    pub leaves: Leaves<'a>,
    /// The leaves that score, each once.
    pub scoring: Vec<Scored>,
    /// The index of the segment in the snapshot.
    pub number: usize,
    /// Its replaced documents.
    pub replaced: &'a Replaced,
    /// The range of documents to search.
    pub range: Range<u32>,
    /// The query-independent part of the score.
    pub prior: Prior<'a>,
    /// The top k so far.
    pub top: Top,
    /// The limits.
    pub limits: &'a Limits<'a>,
    /// Whether the time limit ended the task early.
    pub partial: bool,
    /// The threshold known from other parts of the index.
    pub floor: f64,
}

impl Task<'_> {
    /// The threshold: a score must exceed it to enter the top k.
    #[inline(always)]
    pub fn threshold(&self) -> f64 {
        self.top.threshold().max(self.floor)
    }

    /// Whether the time is over; also refreshes the shared threshold. To be called once every few hundred
    /// documents.
    pub fn is_over(&mut self) -> Result<bool> {
        self.floor = f64::from_bits(self.limits.floor.load(Ordering::Relaxed));
        self.partial |= self.limits.is_over()?;
        Ok(self.partial)
    }

    /// Moves every scoring leaf to a document and sums their scores; `None` as soon as the sum cannot exceed
    /// the threshold. For each leaf, `rest` bounds the scores of it and those after it.
    pub fn score(&mut self, document: DocId, rest: &[f64], beside: f64) -> Result<Option<f64>> {
        let mut sum = 0.0;
        for (scored, rest) in self.scoring.iter().zip(rest) {
            if sum + rest + beside <= self.threshold() {
                return Ok(None);
            }
            let cursor = &mut self.leaves.cursors[scored.slot];
            if cursor.skip_to(document)? == document {
                sum += cursor.score()?;
            }
        }
        Ok(Some(sum))
    }

    /// Offers a document, whose leaves score `sum`, to the top k, unless it is replaced or does not match.
    #[inline]
    pub fn offer(&mut self, document: DocId, sum: f64, matches: &mut Matches<'_>) -> Result<()> {
        let score = sum + self.prior.of(document);
        if score > self.threshold() {
            self.take_in(document, score, matches)?;
        }
        Ok(())
    }

    fn take_in(&mut self, document: DocId, score: f64, matches: &mut Matches<'_>) -> Result<()> {
        if self.replaced.contains(document) {
            return Ok(());
        }
        let signature = self.leaves.segment.signature(document)?;
        let candidate = Ranked { score, signature, shard: 0, segment: self.number, document };
        if !self.top.admits(&candidate) || !matches.confirm(document, &mut self.leaves)? {
            return Ok(());
        }
        self.top.push(candidate);
        if self.top.is_full() {
            self.raise(self.top.threshold());
        }
        Ok(())
    }

    /// Publishes to all threads a score that k documents exceed.
    pub fn raise(&self, score: f64) {
        let raise = |floor: u64| (f64::from_bits(floor) < score).then_some(score.to_bits());
        let _ = self.limits.floor.fetch_update(Ordering::Relaxed, Ordering::Relaxed, raise);
    }
}

/// How it is decided whether a document matches.
pub enum Matches<'n> {
    /// Every document does.
    All,
    /// By the node, which is on it.
    Here(&'n mut Node),
    /// By a node that may have to move there.
    Elsewhere(&'n mut Node),
}

impl Matches<'_> {
    fn confirm(&mut self, document: DocId, leaves: &mut Leaves<'_>) -> Result<bool> {
        match self {
            Matches::All => Ok(true),
            Matches::Here(node) => node.confirm(leaves),
            Matches::Elsewhere(node) => {
                Ok(node.skip_to(leaves, document)? == document && node.confirm(leaves)?)
            }
        }
    }
}
