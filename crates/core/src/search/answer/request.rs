//! What is asked, and how it is answered.

use std::time::Duration;

use serde::{Deserialize, Deserializer};

use crate::search::matching::Intersection;
use crate::search::rank::Method;
use crate::search::score::{Model, Proximity};
use crate::settings::{seconds, section, threads};
use crate::{Error, Result};

/// For how many postings another thread pays.
const WORTH_A_THREAD: u64 = 1 << 20;

/// What is asked.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The query, as typed.
    pub query: &'a str,
    /// How it is answered.
    pub options: Options,
    /// How many of the best documents to find.
    pub depth: usize,
    /// How many matches are counted before it is enough, beside those that were ranked.
    pub count: u64,
    /// How many values of each facet to give; 0: no facets.
    pub facets: usize,
    /// How many postings are worth a thread: for fewer, fewer search.
    pub worth_a_thread: u64,
}

impl<'a> Request<'a> {
    /// A query for so many of the best documents, and nothing else.
    pub fn new(query: &'a str, options: Options, depth: usize) -> Request<'a> {
        Request { query, options, depth, count: 0, facets: 0, worth_a_thread: WORTH_A_THREAD }
    }
}

/// The section `[search]` of the settings: how queries are read, scored and shown.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The tag of the language of the words.
    pub(crate) language: String,
    /// How leaves are scored.
    #[serde(flatten)]
    pub(crate) model: Model,
    /// How closeness counts.
    #[serde(flatten)]
    pub(crate) proximity: Proximity,
    /// What ln(1 + rank) is multiplied with before it is added to the score.
    pub(crate) rank_weight: f64,
    /// How the best are found.
    pub(crate) method: Method,
    /// How lists are intersected.
    pub(crate) intersection: Intersection,
    /// When to stop.
    #[serde(deserialize_with = "time_limit")]
    pub(crate) time_limit: Option<Duration>,
    /// How many threads may search.
    #[serde(deserialize_with = "threads")]
    pub(crate) threads: usize,
    /// Documents whose SimHashes differ in at most so many bits of a better one's are folded under it; `None`: none.
    #[serde(deserialize_with = "collapse")]
    pub(crate) collapse: Option<u32>,
    /// How many hits of one site there are among any ten in a row, as long as there are others; 0: any number.
    pub(crate) per_site: usize,
}

fn time_limit<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Option<Duration>, D::Error> {
    seconds(from).map(|limit| (!limit.is_zero()).then_some(limit))
}

fn collapse<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Option<u32>, D::Error> {
    i32::deserialize(from).map(|bits| u32::try_from(bits).ok())
}

impl Options {
    /// Reads the section from JSON.
    pub fn from_json(json: &[u8]) -> Result<Options> {
        let options: Options = section("[search]", json)?;
        options.check()?;
        Ok(options)
    }

    /// The tag of the language of the words.
    pub fn language(&self) -> &str {
        &self.language
    }

    /// Fails where a score could be infinite or no number.
    pub(crate) fn check(&self) -> Result<()> {
        self.model.check()?;
        for (name, weight) in [("rank", self.rank_weight), ("proximity", self.proximity.weight)] {
            if !(0.0..=1000.0).contains(&weight) {
                return Err(Error::Invalid(format!(
                    "the weight of the {name} is {weight}, and must be from 0 to 1000"
                )));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
impl Default for Options {
    fn default() -> Options {
        Options {
            language: "en".to_owned(),
            model: Model::default(),
            proximity: Proximity { weight: 0.0, depth: 0 },
            rank_weight: 0.0,
            method: Method::Auto,
            intersection: Intersection::Greedy,
            time_limit: None,
            threads: 1,
            collapse: None,
            per_site: 0,
        }
    }
}
