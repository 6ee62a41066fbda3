//! BM25: how well a document answers a query, by the words they share.
//!
//! ```text
//! score = Σ idf(t) · c (k₁ + 1) / (c + k₁ (1 − b + b · l / l̄))        over the terms t of the query
//! idf   = ln(1 + (N − n + ½) / (n + ½))
//! ```
//!
//! c: occurrences of t in the document; l, l̄: words of the document, and of the mean document; N, n:
//! documents, and those that hold t, in all segments. Replaced documents count in N, n and l̄ until a merge
//! drops them, so that n never passes N. k₁ says how soon more occurrences stop to matter, b how much length
//! is held against a document. (Robertson and Zaragoza, *The probabilistic relevance framework*, 2009.)

use crate::{Error, Result};

/// The two knobs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// k₁.
    pub k1: f32,
    /// b.
    pub b: f32,
}

impl Default for Parameters {
    fn default() -> Self {
        Parameters { k1: 1.2, b: 0.75 }
    }
}

impl Parameters {
    /// Fails where a score could be infinite or no number.
    pub fn check(&self) -> Result<()> {
        if !(self.k1.is_finite() && self.k1 >= 0.0) {
            return Err(Error::Invalid(format!("k1 is {}, and must be a number from 0 up", self.k1)));
        }
        if !(0.0..=1.0).contains(&self.b) {
            return Err(Error::Invalid(format!("b is {}, and must be from 0 to 1", self.b)));
        }
        Ok(())
    }
}

/// What is known about the whole collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// N.
    pub documents: u64,
    /// The words of all documents.
    pub words: u64,
}

/// Scores documents of one collection.
#[derive(Clone, Copy, Debug)]
pub struct Scorer {
    documents: f32,
    k1: f32,
    /// What k₁ (1 − b + b · l / l̄) is for l = 0, and by how much it grows with each word.
    base: f32,
    slope: f32,
}

impl Scorer {
    /// A scorer.
    pub fn new(Parameters { k1, b }: Parameters, statistics: Statistics) -> Scorer {
        let mean = (statistics.words as f32 / statistics.documents.max(1) as f32).max(1.0);
        Scorer { documents: statistics.documents as f32, k1, base: k1 * (1.0 - b), slope: k1 * b / mean }
    }

    /// What a term in `frequency` documents weighs: idf (k₁ + 1).
    pub fn weight(&self, frequency: u64) -> f32 {
        let n = frequency as f32;
        (1.0 + (self.documents - n + 0.5) / (n + 0.5)).ln() * (self.k1 + 1.0)
    }

    /// What is added to the count of every term in a document of so many words.
    #[inline]
    pub fn norm(&self, words: u32) -> f32 {
        self.base + self.slope * words as f32
    }

    /// What a term adds to the score.
    #[inline]
    pub fn score(weight: f32, count: u32, norm: f32) -> f32 {
        let count = count as f32;
        weight * count / (count + norm)
    }
}
