//! Retrieval models: the score of a leaf of the query in a document.
//!
//! All have one form: each zone z that contains the leaf contributes x_z, and the leaf's score is a function
//! of the sum.
//!
//! ```text
//! x = Σ f_z · c_z / (a_z + s_z · l_z)
//!
//! bm25f   f = w_z,  a = 1 − b,  s = b / l̄_z;    score = idf (k₁ + 1) x / (k₁ + x)
//! bm25    the same with one bag of words: w = 1, and l, l̄ are those of all zones of the leaf together
//! tfidf   f = a = 1, s = 0;  score = ln((N + 1) / n) (1 + ln(1 + ln x)) / (1 − s' + s' l / l̄)      (pivoted)
//! ql      f = a = 1, s = 0;  score = ln(1 + x / (μ p)), and ln(μ / (μ + l)) for each query leaf (Dirichlet)
//! idf     ln(1 + (N − n + ½) / (n + ½))
//! ```
//!
//! c_z: occurrences of the leaf in the zone (term frequency); l_z, l̄_z: length of the zone in words, in the
//! document and on average; N, n: number of documents, and document frequency of the leaf, in the zone and
//! for the term where it is highest; p: the leaf's share of all words. Lengths are capped at 65,535. x
//! increases with a count and decreases with a length, and so does the score, which is why two corners of a
//! block bound it ([`crate::index::format::maxima`]).
//!
//! (Robertson and Zaragoza, *The probabilistic relevance framework: BM25 and beyond*, 2009; Singhal, Buckley
//! and Mitra, *Pivoted document length normalization*, 1996; Zhai and Lafferty, *A study of smoothing methods
//! for language models*, 2001.)

use serde::{Deserialize, Serialize};

use super::statistics::Statistics;
use crate::index::Zone;
use crate::index::format::zone::{ZONES, ZoneSet};
use crate::settings::choices;
use crate::{Error, Result};

choices! {
    /// The retrieval model.
    #[derive(Serialize)]
    pub enum Scorer, "scorer" {
        /// BM25 over weighted zones.
        Bm25f = "bm25f",
        /// BM25 over one bag of words.
        Bm25 = "bm25",
        /// TF-IDF with pivoted lengths.
        TfIdf = "tfidf",
        /// The likelihood of the query, smoothed by Dirichlet's prior.
        QueryLikelihood = "ql",
    }
}

/// A model with its parameters, named as in the section `[search]` of the settings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// Which one.
    pub(crate) scorer: Scorer,
    /// The saturation of the term frequency.
    pub(crate) k1: f64,
    /// The length normalization of a document, or of a zone of it.
    pub(crate) b: f64,
    /// The weight of an occurrence in a zone; a word without a zone is searched in those whose weight is not
    /// zero.
    pub(crate) body_weight: f64,
    pub(crate) title_weight: f64,
    pub(crate) headings_weight: f64,
    pub(crate) anchors_weight: f64,
    pub(crate) url_weight: f64,
    /// The slope of the pivoted length normalization of TF-IDF.
    pub(crate) slope: f64,
    /// μ of the Dirichlet prior.
    pub(crate) mu: f64,
}

#[cfg(test)]
impl Default for Model {
    fn default() -> Model {
        Model {
            scorer: Scorer::Bm25f,
            k1: 1.2,
            b: 0.75,
            body_weight: 1.0,
            title_weight: 1.0,
            headings_weight: 0.0,
            anchors_weight: 1.0,
            url_weight: 0.0,
            slope: 0.2,
            mu: 1000.0,
        }
    }
}

impl Model {
    /// The weight of an occurrence in a zone.
    pub fn weight(&self, zone: Zone) -> f64 {
        match zone {
            Zone::Body => self.body_weight,
            Zone::Title => self.title_weight,
            Zone::Headings => self.headings_weight,
            Zone::Anchors => self.anchors_weight,
            Zone::Url => self.url_weight,
        }
    }

    /// Fails if a score could be infinite or NaN.
    pub fn check(&self) -> Result<()> {
        let within = |name: &str, value: f64, least: f64, most: f64| {
            if (least..=most).contains(&value) {
                return Ok(());
            }
            Err(Error::Invalid(format!("{name} is {value}, and must be from {least} to {most}")))
        };
        within("k1", self.k1, 0.0, 1000.0)?;
        within("b", self.b, 0.0, 1.0)?;
        within("the slope", self.slope, 0.0, 1.0)?;
        within("mu", self.mu, 1e-3, 1e9)?;
        for zone in Zone::ALL {
            within(&format!("the weight of {}", zone.name()), self.weight(zone), 0.0, 1000.0)?;
        }
        if self.searched().is_empty() {
            return Err(Error::Invalid("every zone weighs nothing: at least one must count".into()));
        }
        Ok(())
    }

    /// The default zones of a word: all with a non-zero weight.
    pub fn searched(&self) -> ZoneSet {
        let mut zones = ZoneSet::default();
        Zone::ALL.into_iter().filter(|zone| self.weight(*zone) > 0.0).for_each(|zone| zones.insert(zone));
        zones
    }

    /// Whether the zones of a leaf are scored as one bag of words.
    pub fn is_bag(&self) -> bool {
        self.scorer != Scorer::Bm25f
    }

    /// The score function of a leaf.
    pub fn leaf(&self, statistics: &Statistics, leaf: &Found, boost: f64) -> LeafScore {
        let (documents, n) = (statistics.documents as f64, leaf.documents as f64);
        let idf = (1.0 + (documents - n + 0.5).max(0.0) / (n + 0.5)).ln();
        let mean = statistics.mean(leaf.zones);
        let flat = Part { factor: 1.0, base: 1.0, slope: 0.0 };
        let (parts, shape) = match self.scorer {
            Scorer::Bm25 => {
                let part = Part { factor: 1.0, base: 1.0 - self.b, slope: self.b / mean };
                ([part; ZONES], Shape::Saturating { weight: boost * idf * (self.k1 + 1.0), k1: self.k1 })
            }
            Scorer::Bm25f => {
                let part = |zone: Zone| {
                    let (weight, b) = (self.weight(zone), self.b);
                    // A zone that the query names counts even if its weight for plain words is zero.
                    let factor = if weight > 0.0 { weight } else { 1.0 };
                    let mut alone = ZoneSet::default();
                    alone.insert(zone);
                    Part { factor, base: 1.0 - b, slope: b / statistics.mean(alone) }
                };
                let shape = Shape::Saturating { weight: boost * idf * (self.k1 + 1.0), k1: self.k1 };
                (Zone::ALL.map(part), shape)
            }
            Scorer::TfIdf => {
                let weight = boost * ((documents + 1.0) / n.max(1.0)).ln().max(0.0);
                let shape = Shape::Pivoted { weight, base: 1.0 - self.slope, slope: self.slope / mean };
                ([flat; ZONES], shape)
            }
            Scorer::QueryLikelihood => {
                let words = statistics.words(leaf.zones).max(1) as f64;
                let share = leaf.occurrences.max(1) as f64 / words;
                ([flat; ZONES], Shape::Dirichlet { weight: boost, inverse: 1.0 / (self.mu * share) })
            }
        };
        LeafScore { parts, shape, idf }
    }

    /// The length penalty of a document, whatever it contains, for leaves with this sum of boosts.
    pub fn of_length(&self, boosts: f64, words: f64) -> f64 {
        match self.scorer {
            Scorer::QueryLikelihood => boosts * (self.mu / (self.mu + words)).ln(),
            _ => 0.0,
        }
    }
}

/// The statistics of a leaf over the collection.
#[derive(Clone, Copy, Debug, Default)]
pub struct Found {
    /// The zones that are searched.
    pub zones: ZoneSet,
    /// Its document frequency, in the zone and for the term where it is highest.
    pub documents: u64,
    /// Its number of occurrences, in all zones and terms.
    pub occurrences: u64,
}

/// The score function of a leaf.
#[derive(Clone, Copy, Debug)]
pub struct LeafScore {
    /// The contribution of each zone to x.
    pub parts: [Part; ZONES],
    /// From x to the score.
    pub shape: Shape,
    /// Its inverse document frequency.
    pub idf: f64,
}

/// The contribution of a zone to x: factor · count / (base + slope · length).
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The weight of an occurrence.
    pub factor: f64,
    /// The divisor at length 0.
    pub base: f64,
    /// The increase of the divisor per word.
    pub slope: f64,
}

impl Part {
    /// The contribution of `count` occurrences in a zone of `length` words.
    #[inline(always)]
    pub fn of(&self, count: u32, length: u16) -> f64 {
        self.factor * f64::from(count) / (self.base + self.slope * f64::from(length))
    }
}

/// From x to the score of a leaf.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// weight · x / (k₁ + x).
    Saturating {
        /// The limit of the score for large x.
        weight: f64,
        /// The x that scores half of it.
        k1: f64,
    },
    /// weight · (1 + ln(1 + ln x)) / (base + slope · length).
    Pivoted {
        /// The score of one occurrence in a document of average length.
        weight: f64,
        /// The divisor at length 0.
        base: f64,
        /// The increase of the divisor per word.
        slope: f64,
    },
    /// weight · ln(1 + x · inverse).
    Dirichlet {
        /// The boost.
        weight: f64,
        /// 1 / (μ p).
        inverse: f64,
    },
}

impl Shape {
    /// The score for x in a document with this number of words in the zones of the leaf.
    #[inline(always)]
    pub fn score(&self, x: f64, length: u16) -> f64 {
        match *self {
            Shape::Saturating { weight, k1 } => weight * x / (k1 + x),
            Shape::Pivoted { weight, base, slope } => {
                weight * (1.0 + x.ln().max(0.0).ln_1p()) / (base + slope * f64::from(length))
            }
            Shape::Dirichlet { weight, inverse } => weight * (x * inverse).ln_1p(),
        }
    }
}

#[cfg(test)]
mod tests;
