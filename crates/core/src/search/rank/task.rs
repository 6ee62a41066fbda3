//! What every method works with: the cursors, the scores, the best so far, and when to stop.

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

/// A leaf that scores.
#[derive(Clone, Copy, Debug)]
pub struct Scored {
    /// Its cursor.
    pub slot: Slot,
}

/// What a document is worth for any query.
pub struct Prior<'a> {
    /// ln(1 + static rank) of each document.
    pub ranks: &'a [f32],
    /// The greatest of each window.
    pub maxima: &'a [f32],
    /// What it is multiplied with.
    pub weight: f64,
    /// Where length alone counts: the words of each document, and what so many take off.
    pub length: Option<(Lengths, &'a (dyn Fn(f64) -> f64 + Sync))>,
}

impl Prior<'_> {
    /// What a document is worth.
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

    /// What any document is worth at most.
    pub fn most(&self) -> f64 {
        let most = self.maxima.iter().copied().fold(0.0, f32::max);
        if self.weight == 0.0 { 0.0 } else { above(self.weight * f64::from(most)) }
    }

    /// What a document of the window that begins with this one is worth at most.
    #[inline]
    pub fn bound(&self, start: DocId) -> f64 {
        if self.weight == 0.0 {
            return 0.0;
        }
        above(self.weight * f64::from(self.maxima[(start.0 / WINDOW) as usize]))
    }
}

/// When a search ends before its end, and what others found.
pub struct Limits<'a> {
    /// When it must.
    pub deadline: Option<Instant>,
    /// Whether the caller wants it to go on.
    pub pulse: &'a Pulse<'a>,
    /// The score that the best of some part of the index all reach, as bits; rises only.
    pub floor: &'a AtomicU64,
}

impl Limits<'_> {
    /// Whether the time is over.
    pub fn is_over(&self) -> Result<bool> {
        self.pulse.beat()?;
        Ok(self.deadline.is_some_and(|deadline| Instant::now() >= deadline))
    }
}

/// A part of a segment, to be searched.
pub struct Task<'a> {
    /// The cursors.
    pub leaves: Leaves<'a>,
    /// The leaves that score, each once.
    pub scoring: Vec<Scored>,
    /// The place of the segment in the snapshot.
    pub number: usize,
    /// Its documents that are gone.
    pub replaced: &'a Replaced,
    /// Which documents to look at.
    pub range: Range<u32>,
    /// What documents are worth for any query.
    pub prior: Prior<'a>,
    /// The best so far.
    pub top: Top,
    /// When to stop.
    pub limits: &'a Limits<'a>,
    /// Whether the time was over before the end.
    pub partial: bool,
    /// What a score must pass by what was found elsewhere.
    pub floor: f64,
}

impl Task<'_> {
    /// What a score must pass to be among the best.
    #[inline(always)]
    pub fn threshold(&self) -> f64 {
        self.top.threshold().max(self.floor)
    }

    /// Whether the time is over; also looks what others found. To be asked once for some hundreds of documents.
    pub fn is_over(&mut self) -> Result<bool> {
        // A document elsewhere with the very same score may come later in the order: the floor must be undercut.
        self.floor = f64::from_bits(self.limits.floor.load(Ordering::Relaxed)).next_down();
        self.partial |= self.limits.is_over()?;
        Ok(self.partial)
    }

    /// Moves every scoring leaf to a document, adds up what they score, and gives up where it cannot pass the threshold;
    /// `rest` bounds, for each leaf, what it and those after it score.
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

    /// Offers a document, whose leaves score `sum`, to the best: unless it is gone or does not match.
    #[inline]
    pub fn offer(&mut self, document: DocId, sum: f64, matches: &mut Matches<'_>) -> Result<()> {
        let score = sum + self.prior.of(document);
        if score > self.threshold() {
            self.take_in(document, score, matches)?;
        }
        Ok(())
    }

    fn take_in(&mut self, document: DocId, score: f64, matches: &mut Matches<'_>) -> Result<()> {
        if self.replaced.contains(document) || !matches.confirm(document, &mut self.leaves)? {
            return Ok(());
        }
        self.top.push(Ranked { score, segment: self.number, document });
        if self.top.is_full() {
            self.raise(self.top.threshold());
        }
        Ok(())
    }

    /// Tells all who search that as many documents as are wanted reach a score.
    pub fn raise(&self, score: f64) {
        let raise = |floor: u64| (f64::from_bits(floor) < score).then_some(score.to_bits());
        let _ = self.limits.floor.fetch_update(Ordering::Relaxed, Ordering::Relaxed, raise);
    }
}

/// What decides whether a document matches.
pub enum Matches<'n> {
    /// Every document does.
    All,
    /// The node that stands on it.
    Here(&'n mut Node),
    /// A node that may have to move there.
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
