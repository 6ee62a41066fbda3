//! The broker of shards of terms: has the documents, asks for posting lists, and answers as one index.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::fetch::{Candidates, Entry, Fetcher, TermOptions, Traffic, Wanted, What};
use super::hot::OfTerm;
use super::message::Message;
use super::vocabulary::OfTerms;
use crate::index::SegmentFile;
use crate::index::format::Piece;
use crate::index::format::lists::Lists;
use crate::index::format::zone::ZoneSet;
use crate::search::answer::arrange::arrange;
use crate::search::answer::explain::explain;
use crate::search::answer::meant::meant;
use crate::search::answer::pinned::{Distinct, Pinned, distinct};
use crate::search::answer::resolve::Pin;
use crate::search::answer::run::Run;
use crate::search::language::tree::{Leaf, Pattern, Query};
use crate::search::matching::Plan;
use crate::search::rank::Ranked;
use crate::search::shards::broker::{Described, Transport};
use crate::search::shards::message::Description;
use crate::search::{Explanation, Hit, Ranking, Request, Searcher};
use crate::{Error, Pulse, Result, Signature};

/// A list is restricted to the documents of the rarest term if it has more than this many times as many postings.
const LONGER: u64 = 4;

/// Searches shards of terms as if they were one index, of one snapshot.
pub struct TermBroker<T> {
    documents: Searcher,
    fetcher: Fetcher<T>,
}

/// The leaves of a query, for which lists are needed.
struct Asked<'q> {
    leaves: Vec<&'q Leaf>,
    zones: Vec<ZoneSet>,
    /// The most terms that a pattern expands to.
    most: usize,
    /// Whether matching needs the positions of each leaf.
    positional: Vec<bool>,
    /// The required leaves.
    required: Vec<usize>,
}

/// The statistics and the posting lists of a query.
struct Gathered {
    pinned: Pinned,
    lists: BTreeMap<String, OfTerm>,
}

impl<'q> Asked<'q> {
    fn new(plan: &Plan<'q>, request: &Request<'_>) -> Asked<'q> {
        let Distinct { leaves, which, most } = distinct(plan);
        let searched = request.options.model.searched();
        let mut positional = vec![false; leaves.len()];
        plan.positional().into_iter().for_each(|slot| positional[which[slot]] = true);
        let required: BTreeSet<usize> = plan.required().into_iter().map(|slot| which[slot]).collect();
        let zones = leaves.iter().map(|leaf| leaf.zones.unwrap_or(searched)).collect();
        Asked { leaves, zones, most, positional, required: required.into_iter().collect() }
    }
}

impl<T: Transport> TermBroker<T> {
    /// A broker of the shards that a transport reaches. `files` are those of the documents, from the oldest to the
    /// newest; `rank_of` returns the static rank of a URL as for [`Searcher::open`].
    pub fn open(
        folder: &Path,
        files: &[SegmentFile],
        rank_of: impl Fn(Signature) -> Result<f32>,
        transport: T,
        options: TermOptions,
        pulse: &Pulse,
    ) -> Result<TermBroker<T>> {
        let number = |file: &SegmentFile| match Piece::parse(&file.name) {
            Some((number, Piece::Whole)) => Ok(number),
            _ => Err(Error::Invalid(format!("{} is no file of documents", file.name))),
        };
        let generations = files.iter().map(number).collect::<Result<_>>()?;
        let documents = Searcher::open(folder, files, rank_of, pulse)?;
        let fetcher = Fetcher::new(generations, documents.documents_by_segment(), transport, options)?;
        Ok(TermBroker { documents, fetcher })
    }

    /// The documents.
    pub fn documents(&self) -> &Searcher {
        &self.documents
    }

    /// How it reaches the shards.
    #[cfg(test)]
    pub(in crate::search) fn fetcher_mut(&mut self) -> &mut Fetcher<T> {
        &mut self.fetcher
    }

    /// How it fetches lists.
    pub(in crate::search) fn fetcher(&self) -> &Fetcher<T> {
        &self.fetcher
    }

    /// What was asked so far.
    pub fn traffic(&self) -> Traffic {
        self.fetcher.traffic()
    }

    /// The memory that the posting lists of hot terms take, in bytes.
    pub fn hot_bytes(&self) -> usize {
        self.fetcher.hot_bytes()
    }

    /// The size of each shard.
    pub fn describe(&self, pulse: &Pulse) -> Result<Described> {
        self.fetcher.ask_all::<Description>(&Message::Describe, &mut BTreeSet::new(), pulse)
    }

    /// The top-k documents for a query.
    pub fn rank(&self, request: &Request<'_>, pulse: &Pulse) -> Result<Ranking> {
        let begun = Instant::now();
        request.options.check()?;
        let query = request.parsed()?;
        let mut missing = BTreeSet::new();
        let gathered = self.gather(&query, request, &mut missing, pulse)?;
        let searcher = self.searcher(&gathered.lists);
        let mut run = Run::new(&searcher, &query, request, begun, pulse, Some(&gathered.pinned))?;
        let mut best = run.candidates()?;
        if let Some(mut nearness) = run.nearness() {
            let depth = request.options.proximity.depth.min(best.len());
            let near = &mut best[..depth];
            let terms: Vec<String> = run.terms().into_iter().map(|(term, _)| term).collect();
            if is_positional(&gathered.lists, &terms) {
                run.add_nearness(near, &mut nearness)?;
            } else {
                let lists = self.positions(&terms, near, &mut missing, pulse)?;
                let searcher = self.searcher(&lists);
                let run = Run::new(&searcher, &query, request, begun, pulse, Some(&gathered.pinned))?;
                run.add_nearness(near, &mut nearness)?;
            }
            near.sort_by(|left, right| right.cmp(left));
            best.truncate(request.depth);
        }
        let (matches, exact, facets) = run.count_past(best.len())?;
        Ok(Ranking {
            hits: arrange(&self.documents, best, request),
            matches,
            exact: exact && missing.is_empty(),
            partial: run.partial(),
            facets,
            missing: missing.into_iter().collect(),
            terms: run.terms(),
            microseconds: begun.elapsed().as_micros() as u64,
        })
    }

    /// The number of matching documents, counted up to the request's limit, and whether the count is exact.
    pub fn count(&self, request: &Request<'_>, pulse: &Pulse) -> Result<(u64, bool)> {
        request.options.check()?;
        let query = request.parsed()?;
        let mut missing = BTreeSet::new();
        let gathered = self.gather(&query, request, &mut missing, pulse)?;
        let searcher = self.searcher(&gathered.lists);
        let mut run = Run::new(&searcher, &query, request, Instant::now(), pulse, Some(&gathered.pinned))?;
        let (matches, exact, _) = run.count(request.count)?;
        Ok((matches, exact && missing.is_empty()))
    }

    /// Shows the hits of a ranking at these places.
    pub fn show(&self, ranking: &Ranking, places: Range<usize>, passages: bool) -> Result<Vec<Hit>> {
        self.documents.show(ranking, places, passages)
    }

    /// Explains the score of a hit; the request must be the one that found it.
    pub fn explain(&self, request: &Request<'_>, hit: &Ranked, pulse: &Pulse) -> Result<Explanation> {
        request.options.check()?;
        let query = request.parsed()?;
        let plan = Plan::new(&query, request.options.model.searched(), request.options.intersection);
        let asked = Asked::new(&plan, request);
        let mut missing = BTreeSet::new();
        let patterns = self.expand(&asked, &mut missing, pulse)?;
        let entries = self.fetcher.entries(&terms_of(&asked, &patterns), &mut missing, pulse)?;
        let pinned = self.pinned(&asked, patterns, &entries);
        let terms: Vec<String> = entries.into_keys().collect();
        let lists = self.positions(&terms, std::slice::from_ref(hit), &mut missing, pulse)?;
        let searcher = self.searcher(&lists);
        let run = Run::new(&searcher, &query, request, Instant::now(), pulse, Some(&pinned))?;
        explain(&run, hit)
    }

    /// The query with its misspelt words corrected; `None` if no correction is convincing.
    pub fn suggest(&self, query: &str, language: &str) -> Result<Option<String>> {
        let documents =
            |lists: &Lists| lists.iter().map(|(_, list)| u64::from(list.frequency)).max().unwrap_or(0);
        let frequencies = |terms: &[String]| self.frequencies(terms, documents);
        meant(query, language, frequencies, || Ok(OfTerms { broker: self }))
    }

    /// The sums of a figure of each term's lists over the segments.
    pub(super) fn frequencies(&self, terms: &[String], figure: impl Fn(&Lists) -> u64) -> Result<Vec<u64>> {
        let asked = terms.iter().map(String::as_str).collect();
        let entries = self.fetcher.entries(&asked, &mut BTreeSet::new(), &Pulse::STEADY)?;
        let sum = |term: &String| {
            entries.get(term).map_or(0, |entry| entry.iter().map(|(_, lists)| figure(lists)).sum())
        };
        Ok(terms.iter().map(sum).collect())
    }

    /// The documents with the whole posting lists of some terms.
    pub(super) fn with_terms(&self, terms: &[&str], positions: bool) -> Result<Searcher> {
        let wanted = terms.iter().map(|term| (*term, positions)).collect();
        let lists = self.fetcher.whole(&wanted, &[], &mut BTreeSet::new(), &Pulse::STEADY)?;
        Ok(self.searcher(&lists))
    }

    fn searcher(&self, lists: &BTreeMap<String, OfTerm>) -> Searcher {
        let mut by_segment = vec![Vec::new(); self.fetcher.segments()];
        for (segment, extract) in lists.values().flatten() {
            by_segment[*segment].push(extract.clone());
        }
        self.documents.with_lists(by_segment)
    }

    /// The statistics and the posting lists of a query.
    fn gather(
        &self,
        query: &Query,
        request: &Request<'_>,
        missing: &mut BTreeSet<usize>,
        pulse: &Pulse,
    ) -> Result<Gathered> {
        let plan = Plan::new(query, request.options.model.searched(), request.options.intersection);
        let asked = Asked::new(&plan, request);
        let patterns = self.expand(&asked, missing, pulse)?;
        let mut wanted: BTreeMap<&str, bool> = BTreeMap::new();
        for (number, positional) in asked.positional.iter().enumerate() {
            for term in terms_of_leaf(&asked, &patterns, number) {
                *wanted.entry(term).or_default() |= positional;
            }
        }
        let lists = if self.fetcher.options.pipelined && asked.required.len() > 1 {
            self.pipelined(&asked, &patterns, &wanted, missing, pulse)?
        } else {
            self.fetcher.whole(&wanted, &[], missing, pulse)?
        };
        let entries = self.fetcher.entries(&wanted.keys().copied().collect(), missing, pulse)?;
        let pinned = self.pinned(&asked, patterns.clone(), &entries);
        Ok(Gathered { pinned, lists })
    }

    /// For each leaf that is a pattern, its statistics and the terms it expands to.
    fn expand(
        &self,
        asked: &Asked<'_>,
        missing: &mut BTreeSet<usize>,
        pulse: &Pulse,
    ) -> Result<Vec<Option<Pin>>> {
        let is_pattern = |number: &usize| !matches!(asked.leaves[*number].pattern, Pattern::Term(_));
        let numbers: Vec<usize> = (0..asked.leaves.len()).filter(is_pattern).collect();
        let pattern = |number: &usize| (&asked.leaves[*number].pattern, asked.zones[*number]);
        let patterns: Vec<_> = numbers.iter().map(pattern).collect();
        let mut pins = vec![None; asked.leaves.len()];
        for (number, pin) in numbers.iter().zip(self.fetcher.expand(&patterns, asked.most, missing, pulse)?) {
            pins[*number] = Some(pin);
        }
        Ok(pins)
    }

    /// The statistics of a query.
    fn pinned(
        &self,
        asked: &Asked<'_>,
        patterns: Vec<Option<Pin>>,
        entries: &BTreeMap<String, Arc<Entry>>,
    ) -> Pinned {
        let pin = |(number, pattern): (usize, Option<Pin>)| match (pattern, &asked.leaves[number].pattern) {
            (None, Pattern::Term(term)) => {
                let lists =
                    entries.get(term).into_iter().flat_map(|entry| entry.iter().map(|(_, lists)| lists));
                Pin::of_term(term, asked.zones[number], lists)
            }
            (pattern, _) => pattern.unwrap_or_default(),
        };
        let leaves = patterns.into_iter().enumerate().map(pin).collect();
        Pinned { statistics: self.documents.statistics(), leaves }
    }

    /// The lists of a query with several required leaves: those of the rarest, then the others restricted to its
    /// documents.
    fn pipelined(
        &self,
        asked: &Asked<'_>,
        patterns: &[Option<Pin>],
        wanted: &BTreeMap<&str, bool>,
        missing: &mut BTreeSet<usize>,
        pulse: &Pulse,
    ) -> Result<BTreeMap<String, OfTerm>> {
        let entries = self.fetcher.entries(&wanted.keys().copied().collect(), missing, pulse)?;
        let postings = |term: &str, zones: ZoneSet| -> u64 {
            let lists =
                entries.get(term).into_iter().flat_map(|entry| entry.iter().flat_map(|(_, lists)| lists));
            let in_zones = lists.filter(|(zone, _)| zones.contains(*zone));
            in_zones.map(|(_, list)| u64::from(list.frequency)).sum()
        };
        let of_leaf = |number: &usize| -> u64 {
            let terms = terms_of_leaf(asked, patterns, *number).into_iter();
            terms.map(|term| postings(term, asked.zones[*number])).sum()
        };
        let Some(rarest) = asked.required.iter().copied().min_by_key(of_leaf) else {
            return self.fetcher.whole(wanted, &[], missing, pulse);
        };
        let first = terms_of_leaf(asked, patterns, rarest).into_iter();
        let first: BTreeMap<&str, bool> = first.map(|term| (term, wanted[term])).collect();
        let mut lists = self.fetcher.whole(&first, &[], missing, pulse)?;
        let mut candidates = Candidates::new();
        for (segment, extract) in lists.values().flatten() {
            let documents = extract.documents(asked.zones[rarest])?;
            candidates.entry(*segment).or_default().extend(documents);
        }
        candidates.values_mut().for_each(|documents| {
            documents.sort_unstable();
            documents.dedup();
        });
        let many = candidates.values().map(|documents| documents.len() as u64).sum::<u64>();
        let every_zone = ZoneSet::from_bits(0b11111).unwrap_or_default();
        let mut others: BTreeMap<&str, bool> = BTreeMap::new();
        let mut restricted: Vec<(&str, bool)> = Vec::new();
        for (term, positions) in wanted.iter().filter(|(term, _)| !first.contains_key(*term)) {
            let is_short = postings(term, every_zone) <= LONGER * many;
            if is_short || self.fetcher.worth(term, *positions, entries.get(*term)) {
                others.insert(term, *positions);
            } else {
                restricted.push((term, *positions));
            }
        }
        let documents = self.fetcher.sent(&candidates);
        let positions = restricted.iter().any(|(_, positions)| *positions);
        let terms = restricted.iter().map(|(term, _)| *term).collect();
        let parts = [Wanted { terms, what: What::Among(&documents, positions) }];
        lists.extend(self.fetcher.whole(&others, &parts, missing, pulse)?);
        Ok(lists)
    }

    /// The posting lists of terms, with positions, in some documents.
    fn positions(
        &self,
        terms: &[String],
        hits: &[Ranked],
        missing: &mut BTreeSet<usize>,
        pulse: &Pulse,
    ) -> Result<BTreeMap<String, OfTerm>> {
        let mut candidates = Candidates::new();
        hits.iter().for_each(|hit| candidates.entry(hit.segment).or_default().push(hit.document.0));
        candidates.values_mut().for_each(|documents| documents.sort_unstable());
        let unique: BTreeSet<&str> = terms.iter().map(String::as_str).collect();
        let entries = self.fetcher.entries(&unique, missing, pulse)?;
        let (mut whole, mut restricted) = (BTreeMap::new(), Vec::new());
        for term in unique {
            if self.fetcher.worth(term, true, entries.get(term)) {
                whole.insert(term, true);
            } else {
                restricted.push(term);
            }
        }
        let documents = self.fetcher.sent(&candidates);
        let parts = [Wanted { terms: restricted, what: What::Among(&documents, true) }];
        self.fetcher.whole(&whole, &parts, missing, pulse)
    }
}

/// The terms of a leaf.
fn terms_of_leaf<'a>(asked: &Asked<'a>, patterns: &'a [Option<Pin>], leaf: usize) -> Vec<&'a str> {
    match (&asked.leaves[leaf].pattern, &patterns[leaf]) {
        (Pattern::Term(term), _) => vec![term],
        (_, Some(pin)) => pin.terms.iter().map(String::as_str).collect(),
        (_, None) => Vec::new(),
    }
}

/// The terms of all leaves.
fn terms_of<'a>(asked: &Asked<'a>, patterns: &'a [Option<Pin>]) -> BTreeSet<&'a str> {
    (0..asked.leaves.len()).flat_map(|leaf| terms_of_leaf(asked, patterns, leaf)).collect()
}

/// Whether all lists of some terms have positions.
fn is_positional(lists: &BTreeMap<String, OfTerm>, terms: &[String]) -> bool {
    let of_term =
        |term: &String| lists.get(term).into_iter().flatten().all(|(_, extract)| extract.has_positions());
    terms.iter().all(of_term)
}
