//! The order in which hits are shown: near-duplicates are collapsed, sites are mixed (result
//! diversification).
//!
//! A document whose SimHash is within a few bits of a better hit's is collapsed under it. Then each page of
//! ten hits shows at most `per_site` hits of a site while other sites have hits that are nearly as good; the
//! surplus moves to later pages. A hit may precede a better one of a site that has reached its limit only if
//! its score is at least [`NEAR`] times the better one's, and only if the hits that good come from three
//! sites or more; otherwise the order is by score. Both steps consider the first [`ARRANGED`] hits.

use std::collections::{HashMap, HashSet};

use super::Searcher;
use super::request::Request;
use crate::search::rank::Ranked;

/// The number of hits that are collapsed and mixed.
pub const ARRANGED: usize = 1000;

/// The number of hits on a page.
const PAGE: usize = 10;

/// The least ratio between the score of a hit and that of a better one it may precede.
const NEAR: f64 = 0.8;

/// With this many sites or fewer, nothing is mixed.
const FEW_SITES: usize = 2;

/// A hit after collapsing and mixing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrangement {
    /// The document and its score.
    pub ranked: Ranked,
    /// The number of near-duplicates collapsed under it.
    pub similar: u32,
    /// The number of hits of its site that were moved to later pages by the limit per site.
    pub more_from_site: u32,
}

/// What is known of a document that can be arranged: its fingerprint, and the name of its site.
pub trait Known {
    /// The SimHash of its text; 0 if it has none.
    fn fingerprint(&self, ranked: &Ranked) -> u64;
    /// Its site; may be empty.
    fn site(&self, ranked: &Ranked) -> &str;
}

impl Known for Searcher {
    fn fingerprint(&self, ranked: &Ranked) -> u64 {
        self.parts[ranked.segment].segment.simhash_of(ranked.document)
    }

    fn site(&self, ranked: &Ranked) -> &str {
        let segment = &self.parts[ranked.segment].segment;
        segment.site_name(segment.site_of(ranked.document))
    }
}

/// Collapses and mixes the top documents.
pub fn arrange(known: &impl Known, best: Vec<Ranked>, request: &Request<'_>) -> Vec<Arrangement> {
    let plain = |ranked: &Ranked| Arrangement { ranked: *ranked, similar: 0, more_from_site: 0 };
    let (arranged, rest) = best.split_at(best.len().min(ARRANGED));
    let mut hits: Vec<Arrangement> = arranged.iter().map(plain).collect();
    if let Some(distance) = request.options.collapse {
        hits = collapse(hits, distance, |hit| known.fingerprint(&hit.ranked));
    }
    if request.options.per_site > 0 {
        hits = mix(hits, request.options.per_site, |hit| known.site(&hit.ranked));
    }
    hits.extend(rest.iter().map(plain));
    hits
}

/// Collapses each hit under the first one whose fingerprint is within `distance` bits; a fingerprint of 0
/// means none.
fn collapse(
    hits: Vec<Arrangement>,
    distance: u32,
    fingerprint: impl Fn(&Arrangement) -> u64,
) -> Vec<Arrangement> {
    let mut kept: Vec<Arrangement> = Vec::with_capacity(hits.len());
    let mut fingerprints: Vec<u64> = Vec::with_capacity(hits.len());
    for hit in hits {
        let own = fingerprint(&hit);
        let near = |other: &u64| *other != 0 && (own ^ other).count_ones() <= distance;
        match fingerprints.iter().position(near).filter(|_| own != 0) {
            Some(better) => kept[better].similar += 1,
            None => {
                kept.push(hit);
                fingerprints.push(own);
            }
        }
    }
    kept
}

/// Limits each page to `per_site` hits of a site while there are others nearly as good. An empty site is not
/// limited.
fn mix<'s>(
    hits: Vec<Arrangement>,
    per_site: usize,
    site: impl Fn(&Arrangement) -> &'s str,
) -> Vec<Arrangement> {
    let mut mixed = Vec::with_capacity(hits.len());
    let mut waiting = hits;
    while !waiting.is_empty() {
        let eligible = eligible(&waiting, per_site, &site);
        let mut on_page: HashMap<&str, usize> = HashMap::new();
        let mut held_back: HashMap<&str, u32> = HashMap::new();
        let mut page = Vec::with_capacity(PAGE);
        let mut later = Vec::with_capacity(waiting.len());
        for (place, hit) in waiting.into_iter().enumerate() {
            let name = site(&hit);
            let so_many = on_page.entry(name).or_default();
            if place < eligible && page.len() < PAGE && (name.is_empty() || *so_many < per_site) {
                *so_many += 1;
                page.push(hit);
            } else {
                *held_back.entry(name).or_default() += u32::from(*so_many >= per_site && !name.is_empty());
                later.push(hit);
            }
        }
        let fill = (PAGE - page.len()).min(later.len());
        for hit in later.drain(..fill) {
            if let Some(count) = held_back.get_mut(site(&hit)) {
                *count = count.saturating_sub(1);
            }
            page.push(hit);
        }
        for place in 0..page.len() {
            let name = site(&page[place]);
            let is_last = page[place + 1..].iter().all(|other| site(other) != name);
            if is_last {
                page[place].more_from_site = held_back.get(name).copied().unwrap_or(0);
            }
        }
        mixed.append(&mut page);
        waiting = later;
    }
    mixed
}

/// The number of upcoming hits, which are sorted by score, that may precede better ones of a site at its
/// limit.
fn eligible<'s>(hits: &[Arrangement], per_site: usize, site: impl Fn(&Arrangement) -> &'s str) -> usize {
    let mut on_page: HashMap<&str, usize> = HashMap::new();
    let is_too_many = |hit: &&Arrangement| {
        let so_many = on_page.entry(site(hit)).or_default();
        *so_many += 1;
        *so_many > per_site && !site(hit).is_empty()
    };
    let Some(held_back) = hits.iter().take(PAGE).find(is_too_many) else { return PAGE };
    // Scores may be negative.
    let least = held_back.ranked.score - (1.0 - NEAR) * held_back.ranked.score.abs();
    let near = hits.partition_point(|hit| hit.ranked.score >= least);
    let sites: HashSet<&str> = hits[..near].iter().map(site).collect();
    if sites.len() > FEW_SITES { near } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Signature;
    use crate::index::DocId;
    use proptest::prelude::*;

    fn hit(number: u32, score: f64) -> Arrangement {
        let ranked = Ranked {
            score,
            signature: Signature(number.into()),
            shard: 0,
            segment: 0,
            document: DocId(number),
        };
        Arrangement { ranked, similar: 0, more_from_site: 0 }
    }

    /// Hits with scores falling from 100 by 1.
    fn hits(count: u32) -> Vec<Arrangement> {
        (0..count).map(|number| hit(number, 100.0 - f64::from(number))).collect()
    }

    fn numbers(hits: &[Arrangement]) -> Vec<u32> {
        hits.iter().map(|hit| hit.ranked.document.0).collect()
    }

    #[test]
    fn folds_what_is_near_a_better_hit() {
        let fingerprints = [0b0001u64, 0b0011, 0, 0b1111_0000, 0, 0b0111];
        let folded = collapse(hits(6), 1, |hit| fingerprints[hit.ranked.document.0 as usize]);
        let shown: Vec<(u32, u32)> = folded.iter().map(|hit| (hit.ranked.document.0, hit.similar)).collect();
        assert_eq!(shown, [(0, 1), (2, 0), (3, 0), (4, 0), (5, 0)]);
    }

    #[test]
    fn one_or_two_sites_keep_their_order_and_three_are_mixed() {
        let alone = mix(hits(25), 2, |_| "a");
        assert!(alone.iter().map(|hit| hit.ranked.document.0).eq(0..25));
        assert!(alone.iter().all(|hit| hit.more_from_site == 0));
        let two = mix(hits(14), 2, |hit| if hit.ranked.document.0 < 12 { "a" } else { "b" });
        assert!(two.iter().map(|hit| hit.ranked.document.0).eq(0..14));
        let three =
            mix(hits(14), 2, |hit| ["a", "b", "c"][hit.ranked.document.0.saturating_sub(11) as usize % 3]);
        assert_eq!(numbers(&three[..10]), [0, 1, 12, 13, 2, 3, 4, 5, 6, 7]);
        assert_eq!(three[9].more_from_site, 4);
    }

    #[test]
    fn no_hit_gets_before_one_that_is_far_better() {
        let mix = |scores: &[f64], sites: &[&'static str]| {
            let hits = (0..).zip(scores).map(|(number, score)| hit(number, *score)).collect();
            numbers(&mix(hits, 2, |hit| sites[hit.ranked.document.0 as usize]))
        };
        let sites = ["a", "a", "a", "a", "b", "c", "b"];
        assert_eq!(mix(&[20.0, 15.0, 11.0, 10.0, 9.0, 8.9, 4.7], &sites), [0, 1, 4, 5, 2, 3, 6]);
        assert_eq!(mix(&[20.0, 15.0, 11.0, 10.0, 9.0, 8.7, 4.7], &sites), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(mix(&[-1.0, -2.0, -5.0, -5.1, -5.9, -5.95, -6.1], &sites), [0, 1, 4, 5, 2, 3, 6]);
    }

    proptest! {
        #[test]
        fn mixing_loses_and_repeats_nothing(sites in prop::collection::vec(0usize..5, 0..80), per_site in 1usize..4) {
            let names = ["", "a", "b", "c", "d"];
            let mixed = mix(hits(sites.len() as u32), per_site, |hit| names[sites[hit.ranked.document.0 as usize]]);
            let mut numbers = numbers(&mixed);
            numbers.sort_unstable();
            prop_assert!(numbers.into_iter().eq(0..sites.len() as u32));
        }
    }
}
