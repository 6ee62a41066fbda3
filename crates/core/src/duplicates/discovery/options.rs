//! What counts as a duplicate.

use serde::{Deserialize, Serialize};

use crate::duplicates::{Measure, MinHash, Normal, Selection, Signals, Unit};
use crate::{Error, Result};

/// How duplicates are found and when two documents are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "method")]
pub enum Method {
    /// By a digest of the normal form.
    Exact {
        /// What is no difference.
        normal: Normal,
        /// Whether only samples of the text are read.
        sampled: bool,
    },
    /// By SimHash: within a Hamming distance.
    Simhash {
        /// 32, 64 or 128.
        bits: u32,
        /// The most bits that differ.
        distance: u32,
        /// set, frequency or tf-idf.
        weights: WeightsName,
        /// Whether the similarity must reach the threshold, too.
        verify: bool,
    },
    /// By n-gram fingerprints.
    Fingerprint {
        /// Keeps signals divisible by it, if more than 1.
        modulus: u64,
        /// Keeps the least of every window of this many, if more than 1.
        window: usize,
    },
    /// By MinHash.
    Minhash {
        /// The numbers of a sketch.
        bins: usize,
        /// The probability with which a pair at the threshold is compared.
        recall: f64,
    },
}

/// The names of weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WeightsName {
    /// 1 for each signal.
    Set,
    /// How often it occurs.
    Frequency,
    /// How often it occurs, times its inverse document frequency.
    TfIdf,
}

/// What clusters are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Linkage {
    /// Every member is similar to the first one.
    Leader,
    /// Every member is similar to every other.
    Complete,
}

/// What the similarity of documents that are compared is measured on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confirm {
    /// Their n-grams.
    #[default]
    Ngrams,
    /// Their words, whatever the n-grams are by which they became candidates.
    Words,
}

/// All of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// The method.
    #[serde(flatten)]
    pub method: Method,
    /// What n-grams are made of.
    pub unit: Unit,
    /// Their size.
    pub size: usize,
    /// The least similarity of duplicates.
    pub threshold: f64,
    /// What it is measured on.
    #[serde(default)]
    pub confirm: Confirm,
    /// The measure of similarity.
    pub measure: Measure,
    /// What clusters are.
    pub linkage: Linkage,
}

const MOST_UNITS: usize = 64;
/// The words that a shingle of characters touches.
const WORDS_OF_SHINGLE: usize = 3;

impl Options {
    /// The options that MessagePack describes.
    pub fn decode(bytes: &[u8]) -> Result<Options> {
        let invalid = |error| {
            Error::Invalid(format!("these options of a search for duplicates are not known: {error}"))
        };
        rmp_serde::from_slice(bytes).map_err(invalid)
    }

    /// Refuses what makes no sense.
    pub fn check(&self) -> Result<()> {
        let invalid = |reason: String| Err(Error::Invalid(reason));
        if !(self.threshold > 0.0 && self.threshold <= 1.0) {
            return invalid(format!(
                "the threshold is more than 0 and at most 1, and not {}",
                self.threshold
            ));
        }
        if !(1..=MOST_UNITS).contains(&self.size) {
            return invalid(format!("an n-gram has 1 to {MOST_UNITS} units, and not {}", self.size));
        }
        match &self.method {
            Method::Simhash { bits, distance, .. } => {
                if ![32, 64, 128].contains(bits) {
                    return invalid(format!("a SimHash has 32, 64 or 128 bits, and not {bits}"));
                }
                if self.confirm == Confirm::Words && self.needs_frequencies() {
                    return invalid("tf-idf weighs the n-grams that are kept, and not words instead".into());
                }
                if *distance > bits / 4 {
                    return invalid(format!("the distance is at most {}, and not {distance}", bits / 4));
                }
            }
            Method::Minhash { bins, recall } => {
                let most = MinHash::MOST_BINS;
                if !(1..=most).contains(bins) {
                    return invalid(format!("a sketch has 1 to {most} numbers, and not {bins}"));
                }
                if !(*recall > 0.0 && *recall < 1.0) {
                    return invalid(format!("the recall is between 0 and 1, and not {recall}"));
                }
            }
            Method::Fingerprint { modulus, window } if *modulus > 1 && *window > 1 => {
                return invalid("fingerprints are kept by a modulus or by winnowing, and not by both".into());
            }
            _ => {}
        }
        Ok(())
    }

    /// The signals of a document.
    pub fn signals(&self) -> Signals {
        Signals { unit: self.unit, size: self.size }
    }

    /// What is kept of a document, to measure similarities.
    pub fn kept(&self) -> Signals {
        match self.confirm {
            Confirm::Ngrams => self.signals(),
            Confirm::Words => Signals::words(1),
        }
    }

    /// The similarity of n-grams from which on documents are compared.
    ///
    /// Where words confirm, it is that of documents that are as similar as the threshold, with other words all over the text: of a
    /// share s = 2 J / (1 + J) of words that both have, sⁿ of the n-grams are left.
    pub fn compared_from(&self) -> f64 {
        match self.confirm {
            Confirm::Ngrams => self.threshold,
            Confirm::Words => {
                let words = match self.unit {
                    Unit::Word => self.size,
                    Unit::Character => self.size.min(WORDS_OF_SHINGLE),
                };
                let left = (2.0 * self.threshold / (1.0 + self.threshold)).powi(words as i32);
                left / (2.0 - left)
            }
        }
    }

    /// Whether a digest says it all.
    pub fn is_exact(&self) -> bool {
        matches!(self.method, Method::Exact { .. })
    }

    /// Whether the keys depend on the document frequencies of the whole corpus.
    pub fn needs_frequencies(&self) -> bool {
        matches!(self.method, Method::Simhash { weights: WeightsName::TfIdf, .. })
    }

    /// The signals that are kept as fingerprints.
    pub fn selection(modulus: u64, window: usize) -> Selection {
        match (modulus, window) {
            (0 | 1, 0 | 1) => Selection::All,
            (0 | 1, window) => Selection::Winnow(window),
            (modulus, _) => Selection::Modulus(modulus),
        }
    }
}
