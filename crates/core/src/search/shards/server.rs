//! The side of the shard: from a message to its answer.

use std::collections::HashMap;
use std::time::Instant;

use serde::Serialize;

use super::message::{Best, Description, Holding, Message, Place, Question, decode, encode_answer};
use crate::analysis::{Analyzer, Language};
use crate::search::Searcher;
use crate::search::answer::arrange::{Arrangement, Known};
use crate::search::answer::explain::explain;
use crate::search::answer::pinned::{Pinned, distinct};
use crate::search::answer::resolve::{self, Counted};
use crate::search::answer::run::Run;
use crate::search::answer::suggest::Vocabulary;
use crate::search::matching::Plan;
use crate::search::rank::Ranked;
use crate::search::{Explanation, Hit};
use crate::{Error, Pulse, Result};

/// The answer of a shard to a message. An error of the search is part of the answer; only a stop is an error
/// here.
pub fn answer(searcher: &Searcher, message: &[u8], pulse: &Pulse) -> Result<Vec<u8>> {
    let message: Message = match decode(message) {
        Ok(message) => message,
        Err(error) => return encode_answer::<()>(Err(error)),
    };
    match message {
        Message::Describe => done(Ok(describe(searcher))),
        Message::Count(question) => done(count(searcher, &question)),
        Message::Rank(question, pinned) => done(rank(searcher, &question, &pinned, pulse)),
        Message::Near(question, pinned, places) => done(near(searcher, &question, &pinned, &places, pulse)),
        Message::Show(places, terms, passages) => done(show(searcher, &places, &terms, passages)),
        Message::Explain(question, pinned, place) => {
            done(explanation(searcher, &question, &pinned, &place, pulse))
        }
        Message::Frequencies(terms) => {
            done(terms.iter().map(|term| searcher.documents_with(term)).collect::<Result<Vec<u64>>>())
        }
        Message::Spelt(terms) => done(searcher.vocabulary().documents(&terms)),
        Message::Alike(start, term) => done(searcher.vocabulary().alike(&start, &term)),
        Message::Adjacent(first, second) => done(searcher.vocabulary().adjacent(&first, &second)),
        Message::Written(term, typed, language) => {
            let analyzer = Analyzer::new(Language::of(Some(&language)));
            done(searcher.vocabulary().written(&term, &typed, &analyzer))
        }
    }
}

fn done<T: Serialize>(answer: Result<T>) -> Result<Vec<u8>> {
    encode_answer(answer)
}

fn describe(searcher: &Searcher) -> Description {
    let totals = searcher.totals();
    Description {
        live: searcher.documents(),
        documents: totals.documents,
        terms: totals.terms,
        postings: totals.postings,
        words: totals.words,
        bytes: searcher.bytes(),
    }
}

fn count(searcher: &Searcher, question: &Question) -> Result<Holding> {
    let request = question.request();
    let query = request.parsed()?;
    let searched = request.options.model.searched();
    let plan = Plan::new(&query, searched, request.options.intersection);
    let leaves = distinct(&plan).leaves.into_iter().map(|leaf| resolve::count(searcher, leaf, searched));
    let leaves = leaves.collect::<Result<Vec<Counted>>>()?;
    Ok(Holding { documents: searcher.totals().documents, words: searcher.totals().words, leaves })
}

fn rank(searcher: &Searcher, question: &Question, pinned: &Pinned, pulse: &Pulse) -> Result<Best> {
    let request = question.request();
    let query = request.parsed()?;
    let mut run = Run::new(searcher, &query, &request, Instant::now(), pulse, Some(pinned))?;
    let (depth, ranked) = match request.depth {
        0 => (0, Vec::new()),
        _ => (run.depth(), run.candidates()?),
    };
    let mut best = Best { matches: ranked.len() as u64, ..Best::default() };
    best.whole = ranked.len() < depth && !run.partial();
    if request.facets > 0 || !best.whole && request.count > request.depth as u64 {
        let (matches, whole, tally) = run.count(request.count.max(request.depth as u64))?;
        (best.matches, best.whole) = (matches.max(best.matches), whole);
        best.counts = tally.map(|tally| tally.counts());
    }
    best.partial = run.partial();
    best.hits = ranked.iter().map(Place::from).collect();
    if request.options.collapse.is_some() {
        best.fingerprints = ranked.iter().map(|ranked| searcher.fingerprint(ranked)).collect();
    }
    if request.options.per_site > 0 {
        name_sites(searcher, &ranked, &mut best);
    }
    Ok(best)
}

fn name_sites(searcher: &Searcher, ranked: &[Ranked], best: &mut Best) {
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    for ranked in ranked {
        let name = searcher.site(ranked);
        let number = *numbers.entry(name).or_insert(best.names.len() as u32);
        if number as usize == best.names.len() {
            best.names.push(name.to_owned());
        }
        best.sites.push(number);
    }
}

fn near(
    searcher: &Searcher,
    question: &Question,
    pinned: &Pinned,
    places: &[Place],
    pulse: &Pulse,
) -> Result<Vec<f64>> {
    let request = question.request();
    let query = request.parsed()?;
    let run = Run::new(searcher, &query, &request, Instant::now(), pulse, Some(pinned))?;
    let hits = hits(searcher, places)?;
    let mut ranked: Vec<Ranked> = hits.iter().map(|hit| hit.ranked).collect();
    if let Some(mut nearness) = run.nearness() {
        run.add_nearness(&mut ranked, &mut nearness)?;
    }
    let scores: HashMap<(usize, u32), f64> =
        ranked.iter().map(|ranked| ((ranked.segment, ranked.document.0), ranked.score)).collect();
    let score = |hit: &Arrangement| scores.get(&(hit.ranked.segment, hit.ranked.document.0)).copied();
    Ok(hits.iter().map(|hit| score(hit).unwrap_or(hit.ranked.score)).collect())
}

fn show(
    searcher: &Searcher,
    places: &[Place],
    terms: &[(String, usize)],
    passages: bool,
) -> Result<Vec<Hit>> {
    searcher.shown(&hits(searcher, places)?, terms, passages)
}

fn explanation(
    searcher: &Searcher,
    question: &Question,
    pinned: &Pinned,
    place: &Place,
    pulse: &Pulse,
) -> Result<Explanation> {
    let request = question.request();
    let query = request.parsed()?;
    let run = Run::new(searcher, &query, &request, Instant::now(), pulse, Some(pinned))?;
    let hits = hits(searcher, std::slice::from_ref(place))?;
    hits.first().map_or_else(|| Err(misplaced()), |hit| explain(&run, &hit.ranked))
}

/// The hits at these places, all of which must be documents of the shard.
fn hits(searcher: &Searcher, places: &[Place]) -> Result<Vec<Arrangement>> {
    let hit = |place: &Place| {
        let hit = place.hit(0);
        if searcher.has(&hit.ranked)? { Ok(hit) } else { Err(misplaced()) }
    };
    places.iter().map(hit).collect()
}

fn misplaced() -> Error {
    Error::Invalid("the shard has no such document: it serves another commit".into())
}
