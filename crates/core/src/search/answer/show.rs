//! Hits as they are shown: a document's stored fields, its metadata, and its best snippet.

use std::ops::Range;

use super::snippet::{Fragment, snippet};
use super::{Ranking, Searcher};
use crate::Result;
use crate::analysis::{Analyzer, Language};
use crate::index::format::facts::language_tag;

/// A document that matches.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// Its score.
    pub score: f64,
    /// Its URL.
    pub url: String,
    /// The identifier given by its owner; may be empty.
    pub id: String,
    /// Its title.
    pub title: String,
    /// A snippet of its text.
    pub snippet: Vec<Fragment>,
    /// Its host; may be empty.
    pub site: String,
    /// Its language tag; may be empty.
    pub language: String,
    /// Its type; may be empty.
    pub kind: &'static str,
    /// Its day, counted from 1970-01-01; 0 if unknown.
    pub day: u32,
    /// The number of near-duplicates collapsed under it.
    pub similar: u32,
    /// The number of hits of its site that were moved to later pages.
    pub more_from_site: u32,
}

impl Searcher {
    /// Shows the hits of a ranking at these places; `passages` selects whether they have snippets.
    pub fn show(&self, ranking: &Ranking, places: Range<usize>, passages: bool) -> Result<Vec<Hit>> {
        let places = places.start.min(ranking.hits.len())..places.end.min(ranking.hits.len());
        let terms: Vec<(&str, usize)> =
            ranking.terms.iter().map(|(term, number)| (term.as_str(), *number)).collect();
        let show = |place: usize| {
            let hit = &ranking.hits[place];
            let segment = &self.parts[hit.ranked.segment].segment;
            let facts = segment.facts(hit.ranked.document);
            segment.stored(hit.ranked.document, |stored| {
                let passage = || {
                    let analyzer = Analyzer::new(Language::of(Some(stored.language)));
                    snippet(stored.body, &analyzer, &terms)
                };
                Hit {
                    score: hit.ranked.score,
                    url: stored.url.to_owned(),
                    id: stored.id.to_owned(),
                    title: stored.title.to_owned(),
                    snippet: if passages { passage() } else { Vec::new() },
                    site: segment.site_name(facts.site).to_owned(),
                    language: language_tag(facts.language),
                    kind: if facts.kind == crate::index::format::facts::Kind::Unknown {
                        ""
                    } else {
                        facts.kind.name()
                    },
                    day: facts.day,
                    similar: hit.similar,
                    more_from_site: hit.more_from_site,
                }
            })
        };
        places.map(show).collect()
    }
}
