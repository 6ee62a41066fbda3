//! Models of relevance: what a leaf of the query adds to a document's score.
//!
//! All have one form: each zone z that holds the leaf gives x_z, and the leaf's score is a function of the sum.
//!
//! ```text
//! x = Σ f_z · c_z / (a_z + s_z · l_z)
//!
//! bm25f   f = w_z,  a = 1 − b,  s = b / l̄_z;    score = idf (k₁ + 1) x / (k₁ + x)
//! bm25    the same with one bag of words: w = 1, and l, l̄ are those of all zones of the leaf together
//! tfidf   f = a = 1, s = 0;  score = ln((N + 1) / n) (1 + ln(1 + ln x)) / (1 − s' + s' l / l̄)      (pivoted)
//! ql      f = a = 1, s = 0;  score = ln(1 + x / (μ p)), and ln(μ / (μ + l)) for each leaf said     (Dirichlet)
//! idf     ln(1 + (N − n + ½) / (n + ½))
//! ```
//!
//! c_z: occurrences of the leaf in the zone; l_z, l̄_z: words of the zone in the document, and in the mean document; N,
//! n: documents, and those that hold the leaf, by the zone and term where they are most; p: the share of the leaf in
//! all words. Lengths count up to 65,535. x grows with a count and falls with a length, and so does a score, which is
//! why two corners of a block bound it ([`crate::index::format::maxima`]).
//!
//! (Robertson and Zaragoza, *The probabilistic relevance framework: BM25 and beyond*, 2009; Singhal, Buckley and
//! Mitra, *Pivoted document length normalization*, 1996; Zhai and Lafferty, *A study of smoothing methods for language
//! models*, 2001.)

use serde::Deserialize;

use super::statistics::Statistics;
use crate::index::Zone;
use crate::index::format::zone::{ZONES, ZoneSet};
use crate::settings::choices;
use crate::{Error, Result};

choices! {
    /// Which model.
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
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct Model {
    /// Which one.
    pub(crate) scorer: Scorer,
    /// How soon more occurrences stop to matter.
    pub(crate) k1: f64,
    /// How much length is held against a document, or against a zone of it.
    pub(crate) b: f64,
    /// What an occurrence weighs in a zone; a word without a zone is looked for where this is not zero.
    pub(crate) body_weight: f64,
    pub(crate) title_weight: f64,
    pub(crate) headings_weight: f64,
    pub(crate) anchors_weight: f64,
    pub(crate) url_weight: f64,
    /// The pivoted slope of TF-IDF.
    pub(crate) slope: f64,
    /// μ.
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
    /// What an occurrence in a zone weighs.
    pub fn weight(&self, zone: Zone) -> f64 {
        match zone {
            Zone::Body => self.body_weight,
            Zone::Title => self.title_weight,
            Zone::Headings => self.headings_weight,
            Zone::Anchors => self.anchors_weight,
            Zone::Url => self.url_weight,
        }
    }

    /// Fails where a score could be infinite or no number.
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

    /// Where a word without a zone is looked for: in all zones that weigh something.
    pub fn searched(&self) -> ZoneSet {
        let mut zones = ZoneSet::default();
        Zone::ALL.into_iter().filter(|zone| self.weight(*zone) > 0.0).for_each(|zone| zones.insert(zone));
        zones
    }

    /// Whether the lengths of a leaf's zones count as one.
    pub fn is_bag(&self) -> bool {
        self.scorer != Scorer::Bm25f
    }

    /// From the counts of a leaf to its score.
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
                    // A zone that is asked for by name counts, even where it weighs nothing for plain words.
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

    /// What a document's length takes off its score, whatever it holds, for leaves with these boosts together.
    pub fn of_length(&self, boosts: f64, words: f64) -> f64 {
        match self.scorer {
            Scorer::QueryLikelihood => boosts * (self.mu / (self.mu + words)).ln(),
            _ => 0.0,
        }
    }
}

/// What is known about a leaf in the whole collection.
#[derive(Clone, Copy, Debug, Default)]
pub struct Found {
    /// Where it is looked for.
    pub zones: ZoneSet,
    /// In how many documents it is, by the zone and term where it is in most.
    pub documents: u64,
    /// How often it is there, in all zones and terms.
    pub occurrences: u64,
}

/// How a leaf is scored.
#[derive(Clone, Copy, Debug)]
pub struct LeafScore {
    /// What each zone adds to x.
    pub parts: [Part; ZONES],
    /// From x to the score.
    pub shape: Shape,
    /// How rare the leaf is.
    pub idf: f64,
}

/// What a zone adds to x: factor · count / (base + slope · length).
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// What an occurrence weighs.
    pub factor: f64,
    /// What a length of nothing divides by.
    pub base: f64,
    /// What each word adds to that.
    pub slope: f64,
}

impl Part {
    /// What so many occurrences in a zone of so many words add.
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
        /// What x without end scores.
        weight: f64,
        /// The x that scores half of it.
        k1: f64,
    },
    /// weight · (1 + ln(1 + ln x)) / (base + slope · length).
    Pivoted {
        /// What one occurrence in a mean document scores.
        weight: f64,
        /// What a length of nothing divides by.
        base: f64,
        /// What each word adds to that.
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
    /// The score for x in a document with so many words in the zones of the leaf.
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
