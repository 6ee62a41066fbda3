//! What the broker makes of the shards' answers.

use std::collections::{HashMap, HashSet};

use super::message::Best;
use crate::search::Request;
use crate::search::answer::arrange::Known;
use crate::search::answer::facets::{Counts, Facets};
use crate::search::rank::{Ranked, Top};

/// The merged answers of the shards.
#[derive(Default)]
pub struct Merged {
    /// The top documents of all, best first, before they are reranked by proximity.
    pub best: Vec<Ranked>,
    /// Whether the time limit ended the search of some shard early.
    pub partial: bool,
    matches: u64,
    whole: bool,
    counts: Option<Counts>,
    /// The fingerprint and the site of each document, by its signature.
    known: HashMap<u64, (u64, String)>,
}

impl Merged {
    /// Merges answers, each with the number of its shard; keeps the top `depth` documents.
    pub fn new(answers: Vec<(usize, Best)>, depth: usize) -> Merged {
        let mut top = Top::new(depth);
        let mut merged = Merged { whole: true, ..Merged::default() };
        for (shard, answer) in &answers {
            answer.hits.iter().for_each(|place| top.push(place.hit(*shard).ranked));
            merged.partial |= answer.partial;
            merged.matches += answer.matches;
            merged.whole &= answer.whole;
        }
        merged.best = top.into_sorted();
        let kept: HashSet<u64> = merged.best.iter().map(|ranked| ranked.signature.0).collect();
        for (_, answer) in answers {
            for (number, place) in answer.hits.iter().enumerate() {
                if kept.contains(&place.signature) {
                    let fingerprint = answer.fingerprints.get(number).copied().unwrap_or(0);
                    let site = answer.sites.get(number).and_then(|site| answer.names.get(*site as usize));
                    merged.known.insert(place.signature, (fingerprint, site.cloned().unwrap_or_default()));
                }
            }
            if let Some(counts) = answer.counts {
                merged.counts.get_or_insert_default().absorb(counts);
            }
        }
        merged
    }

    /// The number of matches, counted up to `limit`, and whether it is exact.
    pub fn count(&self, limit: u64) -> (u64, bool) {
        (self.matches.min(limit), self.whole && self.matches < limit)
    }

    /// The number of matches, given how many were ranked; whether it is exact; and the facets, if requested.
    pub fn count_past(&mut self, ranked: usize, request: &Request<'_>) -> (u64, bool, Option<Facets>) {
        let all_ranked = ranked < request.depth && !self.partial;
        let ranked = ranked as u64;
        if request.facets == 0 && (all_ranked || request.count <= ranked) {
            return (ranked, all_ranked, None);
        }
        let (matches, whole) = self.count(request.count.max(ranked));
        // No shard counts if none can have a match.
        let counts = self.counts.take().unwrap_or_default();
        let facets = (request.facets > 0).then(|| counts.facets(request.facets));
        (matches.max(ranked), whole || all_ranked, facets)
    }
}

impl Known for Merged {
    fn fingerprint(&self, ranked: &Ranked) -> u64 {
        self.known.get(&ranked.signature.0).map_or(0, |(fingerprint, _)| *fingerprint)
    }

    fn site(&self, ranked: &Ranked) -> &str {
        self.known.get(&ranked.signature.0).map_or("", |(_, site)| site.as_str())
    }
}
