//! A search request: the query and how it is evaluated.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::analysis::{Analyzer, Language};
use crate::search::language::parse;
use crate::search::language::tree::Query;
use crate::search::matching::Intersection;
use crate::search::rank::Method;
use crate::search::score::{Model, Proximity};
use crate::settings::{seconds, section, threads};
use crate::{Error, Result};

/// The number of postings for which another thread pays.
const WORTH_A_THREAD: u64 = 1 << 20;

/// A search request.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The query, as typed.
    pub query: &'a str,
    /// How it is evaluated.
    pub options: Options,
    /// k: the number of top documents to find.
    pub depth: usize,
    /// The most matches to count, beyond those that were ranked.
    pub count: u64,
    /// The number of values of each facet to return; 0: no facets.
    pub facets: usize,
    /// The number of postings for each thread: fewer postings, fewer threads.
    pub worth_a_thread: u64,
}

impl<'a> Request<'a> {
    /// A request for the top `depth` documents, without counts or facets.
    pub fn new(query: &'a str, options: Options, depth: usize) -> Request<'a> {
        Request { query, options, depth, count: 0, facets: 0, worth_a_thread: WORTH_A_THREAD }
    }

    /// The query as a tree.
    pub(in crate::search) fn parsed(&self) -> Result<Query> {
        parse(self.query, &Analyzer::new(Language::of(Some(&self.options.language))))
    }
}

/// The section `[search]` of the settings: how queries are parsed, scored and shown.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The language tag by which query words are stemmed.
    pub(crate) language: String,
    /// The scoring model.
    #[serde(flatten)]
    pub(crate) model: Model,
    /// Proximity scoring.
    #[serde(flatten)]
    pub(crate) proximity: Proximity,
    /// The factor by which ln(1 + rank) is multiplied before it is added to the score.
    pub(crate) rank_weight: f64,
    /// How the top k are found.
    pub(crate) method: Method,
    /// How posting lists are intersected.
    pub(crate) intersection: Intersection,
    /// The time limit.
    #[serde(deserialize_with = "time_limit", serialize_with = "in_seconds")]
    pub(crate) time_limit: Option<Duration>,
    /// The maximum number of threads per search.
    #[serde(deserialize_with = "threads")]
    pub(crate) threads: usize,
    /// The most bits by which a SimHash may differ from a better hit's to be collapsed under it; `None`: no
    /// collapsing.
    #[serde(deserialize_with = "collapse", serialize_with = "as_bits")]
    pub(crate) collapse: Option<u32>,
    /// The most hits of one site among ten in a row, while other sites have any; 0: no limit.
    pub(crate) per_site: usize,
}

fn time_limit<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Option<Duration>, D::Error> {
    seconds(from).map(|limit| (!limit.is_zero()).then_some(limit))
}

fn collapse<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Option<u32>, D::Error> {
    i32::deserialize(from).map(|bits| u32::try_from(bits).ok())
}

fn in_seconds<S: Serializer>(limit: &Option<Duration>, to: S) -> std::result::Result<S::Ok, S::Error> {
    limit.unwrap_or_default().as_secs_f64().serialize(to)
}

fn as_bits<S: Serializer>(bits: &Option<u32>, to: S) -> std::result::Result<S::Ok, S::Error> {
    bits.map_or(-1, |bits| bits as i32).serialize(to)
}

impl Options {
    /// Deserializes the section from JSON.
    pub fn from_json(json: &[u8]) -> Result<Options> {
        let options: Options = section("[search]", json)?;
        options.check()?;
        Ok(options)
    }

    /// The language tag by which query words are stemmed.
    pub fn language(&self) -> &str {
        &self.language
    }

    /// Fails if a score could be infinite or NaN.
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
