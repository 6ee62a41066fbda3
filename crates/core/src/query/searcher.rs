//! A snapshot of the index, open for searching.
//!
//! Opening maps the segments, finds what is replaced ([`replaced`]) and looks up each document's static
//! rank. Memory: one bit and four bytes a document, beside what a segment takes. A search goes through the
//! segments one after the other and scores every match; any number of threads may search.

use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

use super::bm25::{Parameters, Scorer, Statistics};
use super::iterator::{Documents, documents};
use super::parse::parse;
use super::snippet::{Fragment, snippet};
use super::top::{Ranked, Top};
use super::tree::Query;
use crate::analysis::{Analyzer, Language};
use crate::index::directory::Totals;
use crate::index::replaced::{self, Replaced};
use crate::index::zone::ZONES;
use crate::index::{DocId, Segment, SegmentFile, TermCursor, Zone};
use crate::sieve::SignatureSet;
use crate::{Error, Pulse, Result, Signature};

/// What is asked.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The query, as typed.
    pub query: &'a str,
    /// The tag of the language of its words.
    pub language: &'a str,
    /// How many hits to show.
    pub top: usize,
    /// How many of the best to pass over first.
    pub offset: usize,
    /// The knobs of BM25.
    pub bm25: Parameters,
    /// What ln(1 + rank) is multiplied with before it is added to the score.
    pub rank_weight: f32,
}

/// What is answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// How many documents match.
    pub matches: u64,
    /// How long it took.
    pub microseconds: u64,
    /// The best of them.
    pub hits: Vec<Hit>,
}

/// A document that matches.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// Its score.
    pub score: f32,
    /// Its URL.
    pub url: String,
    /// Its title.
    pub title: String,
    /// A passage of its text.
    pub snippet: Vec<Fragment>,
}

/// A segment with what this snapshot knows about its documents.
struct Part {
    segment: Segment,
    replaced: Replaced,
    ranks: Vec<f32>,
}

/// A snapshot open for searching.
pub struct Searcher {
    parts: Vec<Part>,
    totals: Totals,
    live: u64,
}

/// A term of the query on one segment, ready to score.
struct Scored<'a> {
    weight: f32,
    cursor: TermCursor<'a>,
}

impl Searcher {
    /// Opens segments, given from the oldest to the newest. `rank_of` gives the static rank of a URL: its
    /// mean is 1, and 0 stands for none.
    pub fn open(
        folder: &Path,
        files: &[SegmentFile],
        rank_of: impl Fn(Signature) -> Result<f32>,
        pulse: &Pulse,
    ) -> Result<Searcher> {
        let segments = files.iter().map(|file| file.open(folder)).collect::<Result<Vec<Segment>>>()?;
        let replaced = replaced::find(&segments, pulse)?;
        let mut totals = Totals::default();
        let mut live = 0;
        let mut parts = Vec::with_capacity(segments.len());
        for (segment, replaced) in segments.into_iter().zip(replaced) {
            totals = sum(&totals, segment.totals());
            live += segment.totals().documents - replaced.count();
            // `max` turns a rank that is no number into none, too.
            let rank = |document| Ok(rank_of(segment.signature(document)?)?.max(0.0));
            let ranks = segment.documents().map(rank).collect::<Result<Vec<f32>>>()?;
            parts.push(Part { segment, replaced, ranks });
        }
        Ok(Searcher { parts, totals, live })
    }

    /// How many documents there are, without the replaced ones.
    pub fn documents(&self) -> u64 {
        self.live
    }

    /// What the segments hold, replaced documents too; a term counts once for each segment it is in.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// How many bytes the segments have.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.segment.bytes()).sum()
    }

    /// Reads everything and checks every checksum.
    pub fn verify(&self, pulse: &Pulse) -> Result<()> {
        self.parts.iter().try_for_each(|part| part.segment.verify(pulse))
    }

    /// The signatures of documents for which there is twice as much text of links as they are indexed with; `bytes_of`
    /// says how many bytes there are.
    pub fn stale_anchors(&self, bytes_of: impl Fn(Signature) -> usize) -> Result<Vec<Signature>> {
        let mut stale = Vec::new();
        for part in &self.parts {
            for document in part.segment.documents().filter(|document| !part.replaced.contains(*document)) {
                let signature = part.segment.signature(document)?;
                let indexed = part.segment.words(document, Zone::Anchors)? as usize;
                // A word of a link has some six bytes.
                if bytes_of(signature) / 6 > indexed * 2 {
                    stale.push(signature);
                }
            }
        }
        Ok(stale)
    }

    /// The signatures of all documents that can be found.
    pub fn signatures(&self) -> Result<SignatureSet> {
        let mut signatures = SignatureSet::default();
        for part in &self.parts {
            for document in part.segment.documents().filter(|document| !part.replaced.contains(*document)) {
                signatures.insert(part.segment.signature(document)?);
            }
        }
        Ok(signatures)
    }

    /// Answers a query.
    pub fn search(&self, request: &Request<'_>, pulse: &Pulse) -> Result<Answer> {
        let begun = Instant::now();
        request.bm25.check()?;
        if !request.rank_weight.is_finite() {
            return Err(Error::Invalid("the weight of the rank must be a number".into()));
        }
        let query = parse(request.query, &Analyzer::new(Language::of(Some(request.language))))?;
        let mut said = Vec::new();
        query.positive_terms(&mut said);
        let mut top = Top::new(request.top.saturating_add(request.offset));
        let matches = self.collect(&query, &said, request, &mut top, pulse)?;
        let best = top.into_sorted();
        said.sort_unstable();
        said.dedup();
        let hits = best.iter().skip(request.offset).map(|ranked| self.show(ranked, &said));
        let hits = hits.collect::<Result<Vec<Hit>>>()?;
        Ok(Answer { matches, microseconds: begun.elapsed().as_micros() as u64, hits })
    }

    /// Offers every match to `top`; returns how many there are.
    fn collect(
        &self,
        query: &Query,
        said: &[&str],
        request: &Request<'_>,
        top: &mut Top,
        pulse: &Pulse,
    ) -> Result<u64> {
        let words = Zone::SEARCHED.iter().map(|zone| self.totals.words[*zone as usize]).sum();
        let statistics = Statistics { documents: self.totals.documents, words };
        let scorer = Scorer::new(request.bm25, statistics);
        let weights = self.weights(said, &scorer)?;
        let mut matches = 0;
        for (number, part) in self.parts.iter().enumerate() {
            let mut scored = part.scored(&weights)?;
            let mut found = documents(query, &part.segment)?;
            let mut document = found.document();
            while document != DocId::END {
                if !part.replaced.contains(document) {
                    matches += 1;
                    if matches % (1 << 13) == 0 {
                        pulse.beat()?;
                    }
                    let rank = part.ranks[document.0 as usize];
                    let norm = scorer.norm(part.words(document)?);
                    let score = text_score(&mut scored, document, norm)? + request.rank_weight * rank.ln_1p();
                    top.push(Ranked { score, segment: number, document });
                }
                document = found.next()?;
            }
        }
        Ok(matches)
    }

    /// The different terms with their weights; one that is said twice weighs twice.
    fn weights<'a>(&self, said: &[&'a str], scorer: &Scorer) -> Result<Vec<(&'a str, f32)>> {
        let mut times: HashMap<&str, f32> = HashMap::new();
        said.iter().for_each(|term| *times.entry(term).or_default() += 1.0);
        let mut weights = Vec::with_capacity(times.len());
        for (term, times) in times {
            // A term counts in the zone where it is most frequent.
            let mut frequencies = [0; ZONES];
            for part in &self.parts {
                for (zone, list) in part.segment.find(term)?.unwrap_or_default() {
                    frequencies[zone as usize] += u64::from(list.frequency);
                }
            }
            let searched = Zone::SEARCHED.iter().map(|zone| frequencies[*zone as usize]);
            let frequency = searched.max().unwrap_or(0);
            weights.push((term, times * scorer.weight(frequency)));
        }
        // The sum of a score does not depend on the order of a hash table.
        weights.sort_unstable_by_key(|(term, _)| *term);
        Ok(weights)
    }

    fn show(&self, ranked: &Ranked, terms: &[&str]) -> Result<Hit> {
        self.parts[ranked.segment].segment.stored(ranked.document, |stored| {
            let analyzer = Analyzer::new(Language::of(Some(stored.language)));
            Hit {
                score: ranked.score,
                url: stored.url.to_owned(),
                title: stored.title.to_owned(),
                snippet: snippet(stored.body, &analyzer, terms),
            }
        })
    }
}

impl Part {
    /// How many words a document has in the zones that are searched.
    fn words(&self, document: DocId) -> Result<u32> {
        Zone::SEARCHED.iter().try_fold(0, |words, zone| Ok(words + self.segment.words(document, *zone)?))
    }

    fn scored(&self, weights: &[(&str, f32)]) -> Result<Vec<Scored<'_>>> {
        let mut scored = Vec::with_capacity(weights.len());
        for (term, weight) in weights {
            if let Some(lists) = self.segment.find(term)? {
                scored.push(Scored { weight: *weight, cursor: TermCursor::new(&self.segment, lists)? });
            }
        }
        Ok(scored)
    }
}

fn text_score(scored: &mut [Scored<'_>], document: DocId, norm: f32) -> Result<f32> {
    let mut score = 0.0;
    for Scored { weight, cursor } in scored {
        if cursor.skip_to(document)? == document {
            score += Scorer::score(*weight, cursor.count()?, norm);
        }
    }
    Ok(score)
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
