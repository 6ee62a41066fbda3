//! What is asked.

use std::time::Duration;

use crate::search::matching::Intersection;
use crate::search::rank::Method;
use crate::search::score::{Model, Proximity};
use crate::{Error, Result};

/// What is asked.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The query, as typed.
    pub query: &'a str,
    /// The tag of the language of its words.
    pub language: &'a str,
    /// How many of the best documents to find.
    pub depth: usize,
    /// How leaves are scored.
    pub model: Model,
    /// How closeness counts.
    pub proximity: Proximity,
    /// What ln(1 + rank) is multiplied with before it is added to the score.
    pub rank_weight: f64,
    /// How the best are found.
    pub method: Method,
    /// How lists are intersected.
    pub intersection: Intersection,
    /// How many matches are counted before it is enough, beside those that were ranked.
    pub count: u64,
    /// How many values of each facet to give; 0: no facets.
    pub facets: usize,
    /// When to stop.
    pub time_limit: Option<Duration>,
    /// How many threads may search.
    pub threads: usize,
    /// How many postings are worth a thread: for fewer, fewer search.
    pub worth_a_thread: u64,
    /// How the hits are shown.
    pub showing: Showing,
}

/// How hits are arranged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Showing {
    /// Documents whose SimHashes differ in at most so many bits of a better one's are folded under it; `None`: none.
    pub collapse: Option<u32>,
    /// How many hits of one site there are among any ten in a row, as long as there are others; 0: any number.
    pub per_site: usize,
}

impl Default for Request<'_> {
    fn default() -> Self {
        Request {
            query: "",
            language: "en",
            depth: 10,
            model: Model::default(),
            proximity: Proximity::default(),
            rank_weight: 0.0,
            method: Method::default(),
            intersection: Intersection::default(),
            count: 0,
            facets: 0,
            time_limit: None,
            threads: 1,
            worth_a_thread: 1 << 20,
            showing: Showing::default(),
        }
    }
}

impl Request<'_> {
    /// Fails where a score could be infinite or no number.
    pub fn check(&self) -> Result<()> {
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
