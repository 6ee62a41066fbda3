//! Hits as they are shown: a document's stored fields, its metadata, and its best snippet.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::snippet::{Fragment, snippet};
use super::{Arrangement, Ranking, Searcher};
use crate::Result;
use crate::analysis::{Analyzer, Language};
use crate::index::format::facts::{Kind, language_tag};

/// A document that matches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    pub kind: String,
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
        self.shown(&ranking.hits[places], &ranking.terms, passages)
    }

    /// Shows hits, in which these terms, each with the number of its leaf, are highlighted.
    pub(crate) fn shown(
        &self,
        hits: &[Arrangement],
        terms: &[(String, usize)],
        passages: bool,
    ) -> Result<Vec<Hit>> {
        let terms: Vec<(&str, usize)> = terms.iter().map(|(term, number)| (term.as_str(), *number)).collect();
        let show = |hit: &Arrangement| {
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
                    kind: match facts.kind {
                        Kind::Unknown => String::new(),
                        kind => kind.name().to_owned(),
                    },
                    day: facts.day,
                    similar: hit.similar,
                    more_from_site: hit.more_from_site,
                }
            })
        };
        hits.iter().map(show).collect()
    }
}
