//! A snapshot of the index, open for searching.
//!
//! [`Searcher::rank`] goes from a query to its top-k documents: the query is parsed; its leaves are looked up
//! in every segment ([`resolve`]); each segment is searched by the method that suits the query ([`run`],
//! [`super::rank`]), in several threads where that pays; the top documents are reranked by proximity;
//! near-duplicates are collapsed and sites are mixed ([`arrange`]); matches are counted and facets tallied on
//! request ([`facets`]). [`Searcher::show`] shows some of the hits with snippets, so that paging ranks only
//! once, and [`Searcher::explain`] explains a score.
//!
//! Opening maps the segments, finds the replaced documents (tombstones) and looks up each document's static
//! rank. Memory: one bit and four bytes per document and, computed on first use, two bytes per document for
//! each set of zones whose lengths are needed. Any number of threads may search concurrently.

pub(in crate::search) mod arrange;
pub mod complete;
pub(in crate::search) mod explain;
pub(in crate::search) mod facets;
pub(in crate::search) mod meant;
mod part;
pub(in crate::search) mod pinned;
mod request;
pub(in crate::search) mod resolve;
pub(in crate::search) mod run;
mod show;
pub mod snippet;
pub mod suggest;

pub use arrange::Arrangement;
pub use explain::Explanation;
pub use facets::Facets;
pub use request::{Options, Request};
pub use show::Hit;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::language::tree::Query;
use super::rank::Ranked;
use super::score::Statistics;
use crate::index::format::directory::Totals;
use crate::index::read::extract::Extract;
use crate::index::read::replaced;
use crate::index::{SegmentFile, Zone};
use crate::signature::SignatureSet;
use crate::{Pulse, Result, Signature};
use part::Part;
use suggest::{Segments, Vocabulary};

/// The top-k documents for a query.
#[derive(Clone, Debug)]
pub struct Ranking {
    /// The hits, best first.
    pub hits: Vec<Arrangement>,
    /// The number of matching documents.
    pub matches: u64,
    /// Whether `matches` is exact; otherwise it is a lower bound.
    pub exact: bool,
    /// Whether the time limit ended the search early.
    pub partial: bool,
    /// The number of matches per site, language, type and year.
    pub facets: Option<Facets>,
    /// The shards that did not answer: their documents are not among the hits.
    pub missing: Vec<usize>,
    /// The terms to highlight, each with the number of its leaf.
    pub(in crate::search) terms: Vec<(String, usize)>,
    /// The time the search took.
    pub microseconds: u64,
}

/// A snapshot open for searching.
pub struct Searcher {
    parts: Vec<Part>,
    totals: Totals,
    live: u64,
}

impl Searcher {
    /// Opens segments, given from the oldest to the newest. `rank_of` returns the static rank of a URL: its
    /// mean is 1, and 0 stands for none.
    pub fn open(
        folder: &Path,
        files: &[SegmentFile],
        rank_of: impl Fn(Signature) -> Result<f32>,
        pulse: &Pulse,
    ) -> Result<Searcher> {
        let segments = SegmentFile::open_all(folder, files)?;
        let replaced = replaced::find(&segments, pulse)?;
        let mut totals = Totals::default();
        let mut live = 0;
        let mut parts = Vec::with_capacity(segments.len());
        for (segment, replaced) in segments.into_iter().zip(replaced) {
            totals = sum(&totals, segment.totals());
            live += segment.totals().documents - replaced.count();
            parts.push(Part::new(segment, replaced, &rank_of)?);
        }
        Ok(Searcher { parts, totals, live })
    }

    /// The same documents with the posting lists that were gathered for a query, by segment and term.
    pub(in crate::search) fn with_lists(&self, gathered: Vec<Vec<Arc<Extract>>>) -> Searcher {
        let parts = self.parts.iter().zip(gathered).map(|(part, lists)| part.with_lists(lists));
        Searcher { parts: parts.collect(), totals: self.totals, live: self.live }
    }

    /// The number of documents of each segment, including replaced ones.
    pub(in crate::search) fn documents_by_segment(&self) -> Vec<u64> {
        self.parts.iter().map(|part| part.segment.totals().documents).collect()
    }

    /// The number of live documents, without the replaced ones.
    pub fn documents(&self) -> u64 {
        self.live
    }

    /// Totals over all segments, including replaced documents; a term counts once for each segment it is in.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// The size of the segments in bytes.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.segment.bytes()).sum()
    }

    /// Reads everything and checks every checksum.
    pub fn verify(&self, pulse: &Pulse) -> Result<()> {
        self.parts.iter().try_for_each(|part| part.segment.verify(pulse))
    }

    /// The top-k documents for a query.
    pub fn rank(&self, request: &Request<'_>, pulse: &Pulse) -> Result<Ranking> {
        let begun = Instant::now();
        request.options.check()?;
        let query = self.parsed(request)?;
        let mut run = run::Run::new(self, &query, request, begun, pulse, None)?;
        let best = run.best()?;
        let (matches, exact, facets) = run.count_past(best.len())?;
        let hits = arrange::arrange(self, best, request);
        let (partial, terms) = (run.partial(), run.terms());
        let microseconds = begun.elapsed().as_micros() as u64;
        Ok(Ranking { hits, matches, exact, partial, facets, missing: Vec::new(), terms, microseconds })
    }

    /// The number of matching documents, counted up to the request's limit, and whether the count is exact.
    pub fn count(&self, request: &Request<'_>, pulse: &Pulse) -> Result<(u64, bool)> {
        request.options.check()?;
        let query = self.parsed(request)?;
        let mut run = run::Run::new(self, &query, request, Instant::now(), pulse, None)?;
        let (matches, exact, _) = run.count(request.count)?;
        Ok((matches, exact))
    }

    /// Explains the score of a hit; the request must be the one that found it.
    pub fn explain(&self, request: &Request<'_>, hit: &Ranked, pulse: &Pulse) -> Result<Explanation> {
        request.options.check()?;
        let query = self.parsed(request)?;
        let run = run::Run::new(self, &query, request, Instant::now(), pulse, None)?;
        explain::explain(&run, hit)
    }

    fn parsed(&self, request: &Request<'_>) -> Result<Query> {
        request.parsed()
    }

    /// Whether a hit is a document of this snapshot.
    pub(in crate::search) fn has(&self, hit: &Ranked) -> Result<bool> {
        match self.parts.get(hit.segment) {
            Some(part) if hit.document.0 < part.documents() => {
                Ok(part.segment.signature(hit.document)? == hit.signature)
            }
            _ => Ok(false),
        }
    }

    /// What a text may be completed to, at most `top` queries, the best first.
    pub fn complete(&self, text: &str, top: usize) -> Result<Vec<String>> {
        complete::complete(self.parts.iter().map(|part| &part.segment), text, top)
    }

    /// The document frequency of each of these terms, including replaced documents.
    pub fn frequencies(&self, terms: &[String]) -> Result<Vec<u64>> {
        self.vocabulary().documents(terms)
    }

    /// The vocabulary of the snapshot, for spelling correction.
    pub(in crate::search) fn vocabulary(&self) -> Segments<'_> {
        Segments::new(self.parts.iter().map(|part| (&part.segment, &*part.replaced)))
    }

    pub(in crate::search) fn statistics(&self) -> Statistics {
        Statistics::of(&self.totals)
    }

    /// The signatures of documents that now have more than twice as much anchor text as they were indexed
    /// with; `bytes_of` returns its size in bytes.
    pub fn stale_anchors(&self, bytes_of: impl Fn(Signature) -> usize) -> Result<Vec<Signature>> {
        let mut stale = Vec::new();
        for part in &self.parts {
            for document in part.segment.documents().filter(|document| !part.replaced.contains(*document)) {
                let signature = part.segment.signature(document)?;
                let indexed = part.segment.words(document, Zone::Anchors)? as usize;
                // A word of anchor text takes about six bytes.
                if bytes_of(signature) / 6 > indexed * 2 {
                    stale.push(signature);
                }
            }
        }
        Ok(stale)
    }

    /// The signatures of all live documents.
    pub fn signatures(&self) -> Result<SignatureSet> {
        let mut signatures = SignatureSet::default();
        for part in &self.parts {
            for document in part.segment.documents().filter(|document| !part.replaced.contains(*document)) {
                signatures.insert(part.segment.signature(document)?);
            }
        }
        Ok(signatures)
    }
}

fn sum(left: &Totals, right: &Totals) -> Totals {
    Totals {
        documents: left.documents + right.documents,
        terms: left.terms + right.terms,
        postings: left.postings + right.postings,
        occurrences: left.occurrences + right.occurrences,
        words: std::array::from_fn(|zone| left.words[zone] + right.words[zone]),
    }
}

#[cfg(test)]
mod tests;
