//! The broker: asks the shards, and answers as one index.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::merge::Merged;
use super::message::{Best, Description, Holding, Message, Place, Question, decode_answer, encode};
use super::vocabulary::OfShards;
use crate::search::answer::arrange::arrange;
use crate::search::answer::meant::meant;
use crate::search::answer::pinned::{Distinct, Pinned, distinct, scoring, terms};
use crate::search::answer::resolve::{Counted, Pin};
use crate::search::language::tree::Leaf;
use crate::search::matching::Plan;
use crate::search::rank::Ranked;
use crate::search::score::Statistics;
use crate::search::{Explanation, Hit, Ranking, Request};
use crate::{Error, Pulse, Result};

/// The number of leaves whose statistics are kept.
const KEPT: usize = 10_000;

/// A pattern of this many terms is counted anew each time, because its statistics take much memory.
const LARGE: usize = 100;

/// How messages reach the shards.
pub trait Transport {
    /// The number of shards.
    fn shards(&self) -> usize;

    /// Sends each message to its shard, all at the same time, and returns the answers in the same order; `None`
    /// if a shard did not answer in time.
    fn exchange(&self, messages: Vec<(usize, Vec<u8>)>, pulse: &Pulse) -> Result<Vec<Option<Vec<u8>>>>;
}

/// The sizes of all shards, by their numbers; `None` for one that does not answer.
pub type Described = Vec<Option<Description>>;

/// A leaf of a query as it is searched: the leaf, the default zones, and the most terms it expands to.
type Key = (Leaf, u8, usize);

/// Searches shards as if they were one index, of one snapshot.
pub struct Broker<T> {
    transport: T,
    known: Mutex<Known>,
}

/// What the broker has learnt about the snapshot.
#[derive(Default)]
struct Known {
    statistics: Option<Statistics>,
    leaves: HashMap<Key, LeafStatistics>,
}

/// A leaf of a query in the collection.
#[derive(Clone, Default)]
struct LeafStatistics {
    pin: Pin,
    /// Whether each shard holds it.
    held: Vec<bool>,
}

/// The statistics of a query.
struct Learnt {
    pinned: Pinned,
    /// For each distinct leaf, whether each shard holds it.
    held: Vec<Vec<bool>>,
}

impl Learnt {
    fn new(statistics: Statistics, leaves: Vec<LeafStatistics>) -> Learnt {
        let (leaves, held) = leaves.into_iter().map(|leaf| (leaf.pin, leaf.held)).unzip();
        Learnt { pinned: Pinned { statistics, leaves }, held }
    }

    /// The shards that may have a match: those that hold every required leaf.
    fn shards(&self, plan: &Plan<'_>, which: &[usize], all: usize) -> Vec<usize> {
        let required: Vec<usize> = plan.required().into_iter().map(|slot| which[slot]).collect();
        (0..all).filter(|shard| required.iter().all(|leaf| self.held[*leaf][*shard])).collect()
    }
}

impl<T: Transport> Broker<T> {
    /// A broker of the shards that a transport reaches.
    pub fn new(transport: T) -> Broker<T> {
        Broker { transport, known: Mutex::default() }
    }

    /// How it reaches the shards.
    #[cfg(test)]
    pub(in crate::search) fn transport_mut(&mut self) -> &mut T {
        &mut self.transport
    }

    /// The size of each shard.
    pub fn describe(&self, pulse: &Pulse) -> Result<Described> {
        let mut missing = BTreeSet::new();
        let mut described = vec![None; self.transport.shards()];
        for (shard, description) in self.ask_all(&Message::Describe, &mut missing, pulse)? {
            described[shard] = Some(description);
        }
        Ok(described)
    }

    /// The top-k documents for a query.
    pub fn rank(&self, request: &Request<'_>, pulse: &Pulse) -> Result<Ranking> {
        let begun = Instant::now();
        request.options.check()?;
        let query = request.parsed()?;
        let plan = Plan::new(&query, request.options.model.searched(), request.options.intersection);
        let distinct = distinct(&plan);
        let scoring = scoring(&query, &plan, &distinct.which);
        let mut missing = BTreeSet::new();
        let learnt = self.learn(request, &distinct, &mut missing, pulse)?;
        let asked = learnt.shards(&plan, &distinct.which, self.transport.shards());
        let pinned = learnt.pinned;
        let proximity = &request.options.proximity;
        let reranked = if proximity.weight != 0.0 && scoring.len() > 1 { proximity.depth } else { 0 };
        let question = Question::of(request);
        let answers: Vec<(usize, Best)> =
            self.ask_some(asked, &Message::Rank(question.clone(), pinned.clone()), &mut missing, pulse)?;
        let mut merged = Merged::new(answers, request.depth.max(reranked));
        let mut best = std::mem::take(&mut merged.best);
        if reranked > 0 && request.depth > 0 {
            let depth = reranked.min(best.len());
            self.bring_together(&mut best[..depth], &question, &pinned, &mut missing, pulse)?;
        }
        best.truncate(request.depth);
        let (matches, exact, facets) = merged.count_past(best.len(), request);
        Ok(Ranking {
            hits: arrange(&merged, best, request),
            matches,
            exact: exact && missing.is_empty(),
            partial: merged.partial,
            facets,
            missing: missing.into_iter().collect(),
            terms: terms(&scoring, |which| &pinned.leaves[which].terms),
            microseconds: begun.elapsed().as_micros() as u64,
        })
    }

    /// The number of matching documents, counted up to the request's limit, and whether the count is exact.
    pub fn count(&self, request: &Request<'_>, pulse: &Pulse) -> Result<(u64, bool)> {
        let request = Request { depth: 0, facets: 0, ..request.clone() };
        request.options.check()?;
        let query = request.parsed()?;
        let plan = Plan::new(&query, request.options.model.searched(), request.options.intersection);
        let distinct = distinct(&plan);
        let mut missing = BTreeSet::new();
        let learnt = self.learn(&request, &distinct, &mut missing, pulse)?;
        let asked = learnt.shards(&plan, &distinct.which, self.transport.shards());
        let message = Message::Rank(Question::of(&request), learnt.pinned);
        let merged = Merged::new(self.ask_some(asked, &message, &mut missing, pulse)?, 0);
        let (matches, exact) = merged.count(request.count);
        Ok((matches, exact && missing.is_empty()))
    }

    /// Shows the hits of a ranking at these places; `None` for a hit whose shard does not answer.
    pub fn show(
        &self,
        ranking: &Ranking,
        places: Range<usize>,
        passages: bool,
        pulse: &Pulse,
    ) -> Result<Vec<Option<Hit>>> {
        let places = places.start.min(ranking.hits.len())..places.end.min(ranking.hits.len());
        let hits = &ranking.hits[places];
        let groups = by_shard(hits.iter().map(|hit| hit.ranked.shard as usize));
        let message = |(_, places): &(usize, Vec<usize>)| {
            let places = places.iter().map(|place| Place::of(&hits[*place])).collect();
            Message::Show(places, ranking.terms.clone(), passages)
        };
        let messages = groups.iter().map(|group| (group.0, message(group))).collect::<Vec<_>>();
        let mut shown: Vec<Option<Hit>> = vec![None; hits.len()];
        let answers = self.ask::<Vec<Hit>>(&messages, &mut BTreeSet::new(), pulse)?;
        for ((_, places), answer) in groups.into_iter().zip(answers) {
            for (place, hit) in places.into_iter().zip(answer.into_iter().flatten()) {
                shown[place] = Some(hit);
            }
        }
        Ok(shown)
    }

    /// Explains the score of a hit; the request must be the one that found it.
    pub fn explain(&self, request: &Request<'_>, hit: &Ranked, pulse: &Pulse) -> Result<Explanation> {
        request.options.check()?;
        let query = request.parsed()?;
        let plan = Plan::new(&query, request.options.model.searched(), request.options.intersection);
        let mut missing = BTreeSet::new();
        let learnt = self.learn(request, &distinct(&plan), &mut missing, pulse)?;
        let message = Message::Explain(Question::of(request), learnt.pinned, Place::from(hit));
        let explained = self.ask(&[(hit.shard as usize, message)], &mut missing, pulse)?;
        explained.into_iter().flatten().next().ok_or_else(|| silent(hit.shard as usize))
    }

    /// The query with its misspelt words corrected; `None` if no correction is convincing.
    pub fn suggest(&self, query: &str, language: &str) -> Result<Option<String>> {
        let frequencies = |terms: &[String]| self.summed(&Message::Frequencies(terms.to_vec()), terms.len());
        meant(query, language, frequencies, || {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).statistics;
            let documents = match known {
                Some(statistics) => statistics.documents,
                None => self.describe(&Pulse::STEADY)?.iter().flatten().map(|shard| shard.documents).sum(),
            };
            Ok(OfShards { broker: self, language, documents })
        })
    }

    /// The answers of all shards that answer.
    pub(super) fn gather<A: DeserializeOwned>(&self, message: &Message) -> Result<Vec<A>> {
        let answers = self.ask_all(message, &mut BTreeSet::new(), &Pulse::STEADY)?;
        Ok(answers.into_iter().map(|(_, answer)| answer).collect())
    }

    /// The sums of `length` numbers over all shards.
    pub(super) fn summed(&self, message: &Message, length: usize) -> Result<Vec<u64>> {
        let mut sums = vec![0; length];
        for numbers in self.gather::<Vec<u64>>(message)? {
            sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
        }
        Ok(sums)
    }

    /// The statistics of the collection for the leaves of a query.
    fn learn(
        &self,
        request: &Request<'_>,
        distinct: &Distinct<'_>,
        missing: &mut BTreeSet<usize>,
        pulse: &Pulse,
    ) -> Result<Learnt> {
        let zones = request.options.model.searched().bits();
        let key = |leaf: &Leaf| -> Key { (leaf.clone(), zones, distinct.most) };
        {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            let leaves = distinct.leaves.iter().map(|leaf| known.leaves.get(&key(leaf)).cloned());
            if let (Some(statistics), Some(leaves)) = (known.statistics, leaves.collect()) {
                return Ok(Learnt::new(statistics, leaves));
            }
        }
        let mut statistics = Statistics::default();
        let mut counted = vec![Counted::default(); distinct.leaves.len()];
        let mut held = vec![vec![false; self.transport.shards()]; distinct.leaves.len()];
        let message = Message::Count(Question::of(request));
        for (shard, holding) in self.ask_all::<Holding>(&message, missing, pulse)? {
            statistics.documents += holding.documents;
            statistics.words.iter_mut().zip(holding.words).for_each(|(all, own)| *all += own);
            for ((all, held), own) in counted.iter_mut().zip(&mut held).zip(holding.leaves) {
                held[shard] = own.terms.values().any(|count| count.occurrences > 0);
                all.absorb(own);
            }
        }
        let pins = counted.into_iter().map(|counted| counted.pin(distinct.most));
        let leaves: Vec<LeafStatistics> =
            pins.zip(held).map(|(pin, held)| LeafStatistics { pin, held }).collect();
        if missing.is_empty() {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.statistics = Some(statistics);
            if known.leaves.len() + leaves.len() > KEPT {
                known.leaves.clear();
            }
            for (leaf, found) in distinct.leaves.iter().zip(&leaves) {
                if found.pin.terms.len() < LARGE {
                    known.leaves.insert(key(leaf), found.clone());
                }
            }
        }
        Ok(Learnt::new(statistics, leaves))
    }

    /// Adds proximity to the scores of the top documents and re-sorts them.
    fn bring_together(
        &self,
        near: &mut [Ranked],
        question: &Question,
        pinned: &Pinned,
        missing: &mut BTreeSet<usize>,
        pulse: &Pulse,
    ) -> Result<()> {
        let groups = by_shard(near.iter().map(|ranked| ranked.shard as usize));
        let message = |places: &Vec<usize>| {
            let places = places.iter().map(|place| Place::from(&near[*place])).collect();
            Message::Near(question.clone(), pinned.clone(), places)
        };
        let messages: Vec<_> = groups.iter().map(|(shard, places)| (*shard, message(places))).collect();
        let answers = self.ask::<Vec<f64>>(&messages, missing, pulse)?;
        for ((_, places), scores) in groups.into_iter().zip(answers) {
            for (place, score) in places.into_iter().zip(scores.into_iter().flatten()) {
                near[place].score = score;
            }
        }
        near.sort_by(|left, right| right.cmp(left));
        Ok(())
    }

    /// Asks all shards that are not missing; those that do not answer are missing from then on.
    fn ask_all<A: DeserializeOwned>(
        &self,
        message: &Message,
        missing: &mut BTreeSet<usize>,
        pulse: &Pulse,
    ) -> Result<Vec<(usize, A)>> {
        self.ask_some((0..self.transport.shards()).collect(), message, missing, pulse)
    }

    /// Asks those of some shards that are not missing.
    fn ask_some<A: DeserializeOwned>(
        &self,
        mut asked: Vec<usize>,
        message: &Message,
        missing: &mut BTreeSet<usize>,
        pulse: &Pulse,
    ) -> Result<Vec<(usize, A)>> {
        asked.retain(|shard| !missing.contains(shard));
        let bytes = encode(message)?;
        let messages = asked.iter().map(|shard| (*shard, bytes.clone())).collect();
        let answers = decoded::<A>(&asked, self.transport.exchange(messages, pulse)?, missing)?;
        if missing.len() == self.transport.shards() {
            return Err(all_silent());
        }
        Ok(asked.into_iter().zip(answers).filter_map(|(shard, answer)| Some((shard, answer?))).collect())
    }

    /// Asks some shards, each its own message.
    fn ask<A: DeserializeOwned>(
        &self,
        messages: &[(usize, Message)],
        missing: &mut BTreeSet<usize>,
        pulse: &Pulse,
    ) -> Result<Vec<Option<A>>> {
        ask(&self.transport, messages, missing, pulse)
    }
}

/// Asks some shards, each its own message; those that do not answer are missing from then on.
pub(super) fn ask<T: Transport, M: Serialize, A: DeserializeOwned>(
    transport: &T,
    messages: &[(usize, M)],
    missing: &mut BTreeSet<usize>,
    pulse: &Pulse,
) -> Result<Vec<Option<A>>> {
    let asked: Vec<usize> = messages.iter().map(|(shard, _)| *shard).collect();
    let encoded = messages.iter().map(|(shard, message)| Ok((*shard, encode(message)?)));
    let answers = transport.exchange(encoded.collect::<Result<_>>()?, pulse)?;
    decoded(&asked, answers, missing)
}

fn decoded<A: DeserializeOwned>(
    asked: &[usize],
    answers: Vec<Option<Vec<u8>>>,
    missing: &mut BTreeSet<usize>,
) -> Result<Vec<Option<A>>> {
    let mut decoded = Vec::with_capacity(asked.len());
    for (shard, answer) in asked.iter().zip(answers) {
        if answer.is_none() {
            missing.insert(*shard);
        }
        decoded.push(answer.map(|bytes| decode_answer(&bytes)).transpose()?);
    }
    Ok(decoded)
}

pub(super) fn all_silent() -> Error {
    Error::Invalid("no shard of the index answers".into())
}

fn silent(shard: usize) -> Error {
    Error::Invalid(format!("shard {shard} does not answer"))
}

/// The places of each shard, in order of the shards.
fn by_shard(shards: impl Iterator<Item = usize>) -> Vec<(usize, Vec<usize>)> {
    let mut groups: Vec<(usize, Vec<usize>)> = Vec::new();
    for (place, shard) in shards.enumerate() {
        match groups.iter_mut().find(|(known, _)| *known == shard) {
            Some((_, places)) => places.push(place),
            None => groups.push((shard, vec![place])),
        }
    }
    groups
}
