//! In how many documents each signal occurs, in fixed memory: a count–min sketch with conservative updates.
//!
//! Each signal has a counter in each of two rows, and only the smaller ones are raised; its frequency is the least of
//! them: never too low, and too high by at most ε n with probability 1 − 1/4 for ε = e / (cells of a row).
//!
//! ```text
//! idf(s) = ln(1 + N / f(s))
//! ```
//!
//! Source: Graham Cormode and S. Muthukrishnan, "An improved data stream summary: the count–min sketch", 2005; Cristian
//! Estan and George Varghese, "New directions in traffic measurement and accounting", 2002 (conservative updates).

use super::distinct;
use crate::prefetch::Prefetch;
use crate::signature::hash::{random, reduce};

const ROWS: u64 = 2;
/// How many signals before one its cells are fetched.
pub const AHEAD: usize = 12;

/// The document frequencies of signals.
pub struct Frequencies {
    rows: [Vec<u32>; ROWS as usize],
    documents: u64,
}

impl Frequencies {
    /// No documents yet; takes this many bytes.
    pub fn new(bytes: usize) -> Frequencies {
        let cells = (bytes / (ROWS as usize * size_of::<u32>())).max(1);
        Frequencies { rows: std::array::from_fn(|_| vec![0; cells]), documents: 0 }
    }

    /// Adds a document with these signals, which are sorted.
    pub fn add(&mut self, signals: &mut Vec<u64>) {
        distinct(signals);
        self.documents += 1;
        for (place, signal) in signals.iter().enumerate() {
            self.prefetch(signals.get(place + AHEAD));
            let raised = self.frequency(*signal).saturating_add(1);
            for row in 0..ROWS {
                let cell = self.cell(row, *signal);
                let count = &mut self.rows[row as usize][cell];
                *count = raised.max(*count);
            }
        }
    }

    /// Fetches the cells of a signal that is looked up soon.
    #[inline]
    pub fn prefetch(&self, signal: Option<&u64>) {
        for (row, signal) in signal.into_iter().flat_map(|signal| (0..ROWS).map(move |row| (row, *signal))) {
            Prefetch::of(&self.rows[row as usize]).line(size_of::<u32>() * self.cell(row, signal));
        }
    }

    /// The number of documents.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// The number of documents that have a signal, or a few more.
    pub fn frequency(&self, signal: u64) -> u32 {
        (0..ROWS).map(|row| self.rows[row as usize][self.cell(row, signal)]).min().unwrap_or(0)
    }

    /// The inverse document frequency of a signal; of one that no document has, that of one in a single document.
    pub fn idf(&self, signal: u64) -> f32 {
        (1.0 + self.documents as f64 / f64::from(self.frequency(signal).max(1))).ln() as f32
    }

    #[inline]
    fn cell(&self, row: u64, signal: u64) -> usize {
        reduce(random(signal, row), self.rows[row as usize].len() as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn frequencies_are_never_too_low(documents in prop::collection::vec(prop::collection::vec(0u64..50, 0..20), 0..50)) {
            let (mut small, mut large) = (Frequencies::new(64), Frequencies::new(1 << 16));
            for document in &documents {
                small.add(&mut document.clone());
                large.add(&mut document.clone());
            }
            for signal in 0..50 {
                let truth = documents.iter().filter(|document| document.contains(&signal)).count() as u32;
                prop_assert!(small.frequency(signal) >= truth);
                prop_assert_eq!(large.frequency(signal), truth);
            }
        }
    }
}
