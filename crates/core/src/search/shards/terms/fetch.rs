//! Fetching posting lists from shards of terms: whom to ask, what is known already, and what is kept.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::hot::{Hot, OfTerm};
use super::message::{Documents, Found, Message, Published};
use crate::dictionaries::{Approximate, Kept, KeyHash};
use crate::index::format::codes::Codes;
use crate::index::format::lists::Lists;
use crate::index::format::zone::ZoneSet;
use crate::index::read::extract::{Extract, Taken};
use crate::search::answer::resolve::{Counted, Pin};
use crate::search::language::tree::Pattern;
use crate::search::shards::broker::{Transport, all_silent, ask};
use crate::{Error, Pulse, Result};

/// The number of terms and patterns whose statistics are kept.
const KEPT: usize = 10_000;

/// A pattern of this many terms is expanded anew each time, because its statistics take much memory.
const LARGE: usize = 100;

/// How a broker asks.
#[derive(Clone, Copy, Debug)]
pub struct TermOptions {
    /// The bits of a signature in the approximate dictionaries.
    pub bits: u32,
    /// The memory budget for the posting lists of hot terms, in bytes.
    pub hot: usize,
    /// Whether lists are pipelined from the rarest term; otherwise they are gathered.
    pub pipelined: bool,
}

/// What a broker has asked so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Messages to shards.
    pub messages: u64,
    /// The bytes of messages and answers.
    pub bytes: u64,
    /// Terms that were asked of a shard.
    pub asked: u64,
    /// Those of them that the shard did not have.
    pub vain: u64,
    /// Terms that a shard was not asked for, because its dictionary does not have them.
    pub saved: u64,
}

/// Fetches posting lists of one snapshot; any number of threads may do so.
pub struct Fetcher<T> {
    /// The number of the generation of each segment.
    generations: Vec<u64>,
    /// The number of documents of each segment.
    limits: Vec<u64>,
    transport: Counting<T>,
    pub(super) options: TermOptions,
    plain: Arc<Codes>,
    shards: Mutex<Vec<Option<Arc<Shard>>>>,
    hot: Mutex<Hot>,
    known: Mutex<Known>,
}

/// What a shard has published.
struct Shard {
    dictionary: Kept<Approximate>,
    /// The index of each of its segments here, and the codes of its lists.
    segments: Vec<(usize, Arc<Codes>)>,
}

/// What the broker has learnt about the snapshot.
#[derive(Default)]
struct Known {
    entries: HashMap<String, Arc<Entry>>,
    patterns: HashMap<(Pattern, u8, usize), Pin>,
}

/// The dictionary entries of a term: the index of each segment that has it, and its lists there.
pub type Entry = Vec<(usize, Lists)>;

/// Documents by the index of their segment.
pub type Candidates = BTreeMap<usize, Vec<u32>>;

/// Posting lists as a shard sent them: the index of their segment, and their codes.
type Sent = Vec<(usize, Taken, Arc<Codes>)>;

/// Terms to ask for, and what of them.
#[derive(Clone)]
pub struct Wanted<'a> {
    /// The terms.
    pub terms: Vec<&'a str>,
    /// What of them.
    pub what: What<'a>,
}

/// What of some terms.
#[derive(Clone, Copy)]
pub enum What<'a> {
    /// The dictionary entries.
    Entries,
    /// Whole lists; says for each term whether with positions.
    Lists(&'a BTreeMap<&'a str, bool>),
    /// The lists in some documents, with or without positions.
    Among(&'a [Documents], bool),
}

impl What<'_> {
    fn message(self, terms: Vec<&str>) -> Message {
        let owned = || terms.iter().map(|term| (*term).to_owned()).collect();
        match self {
            What::Entries => Message::Entries(owned()),
            What::Lists(positions) => {
                let with = |term: &&str| ((*term).to_owned(), positions.get(term).copied().unwrap_or(false));
                Message::Lists(terms.iter().map(with).collect())
            }
            What::Among(documents, positions) => Message::Among(owned(), documents.to_vec(), positions),
        }
    }

    /// Whether a shard that has nothing was asked in vain: it may have the term, and not in these documents.
    fn is_counted(self) -> bool {
        !matches!(self, What::Among(..))
    }
}

impl<T: Transport> Fetcher<T> {
    /// Fetches from the shards that a transport reaches; of each segment the number of its generation and that of its
    /// documents are given.
    pub fn new(
        generations: Vec<u64>,
        limits: Vec<u64>,
        transport: T,
        options: TermOptions,
    ) -> Result<Fetcher<T>> {
        Ok(Fetcher {
            generations,
            limits,
            shards: Mutex::new(vec![None; transport.shards()]),
            transport: Counting {
                transport,
                messages: AtomicU64::new(0),
                bytes: AtomicU64::new(0),
                terms: Mutex::default(),
            },
            options,
            plain: Arc::new(Codes::plain()?),
            hot: Mutex::new(Hot::new(options.hot)),
            known: Mutex::default(),
        })
    }

    /// How it reaches the shards.
    #[cfg(test)]
    pub fn transport_mut(&mut self) -> &mut T {
        &mut self.transport.transport
    }

    /// The number of segments.
    pub fn segments(&self) -> usize {
        self.generations.len()
    }

    /// Forgets everything that it has learnt.
    #[cfg(test)]
    pub fn forget(&self) {
        *locked(&self.known) = Known::default();
        *locked(&self.hot) = Hot::new(self.options.hot);
        locked(&self.shards).fill(None);
    }

    /// What was asked so far.
    pub fn traffic(&self) -> Traffic {
        let of_terms = *locked(&self.transport.terms);
        let (messages, bytes) = (&self.transport.messages, &self.transport.bytes);
        Traffic {
            messages: messages.load(Ordering::Relaxed),
            bytes: bytes.load(Ordering::Relaxed),
            ..of_terms
        }
    }

    /// The memory that the posting lists of hot terms take, in bytes.
    pub fn hot_bytes(&self) -> usize {
        locked(&self.hot).bytes()
    }

    /// Whether the lists of a term are worth having whole, with or without positions: they are kept, or their parts
    /// have cost as much.
    pub fn worth(&self, term: &str, positions: bool, entry: Option<&Arc<Entry>>) -> bool {
        let mut hot = locked(&self.hot);
        hot.get(term, positions).is_some()
            || entry.is_some_and(|entry| hot.is_worth(term, price(entry, positions)))
    }

    /// The answers of all shards that are not missing; those that do not answer are missing from then on.
    pub fn ask_all<A: serde::de::DeserializeOwned>(
        &self,
        message: &Message,
        missing: &mut BTreeSet<usize>,
        pulse: &Pulse,
    ) -> Result<Vec<Option<A>>> {
        let shards = (0..self.transport.shards()).filter(|shard| !missing.contains(shard));
        let messages: Vec<_> = shards.map(|shard| (shard, message.clone())).collect();
        ask(&self.transport, &messages, missing, pulse)
    }

    /// Documents as they are sent.
    pub fn sent(&self, candidates: &Candidates) -> Vec<Documents> {
        candidates.iter().map(|(segment, ids)| Documents::new(self.generations[*segment], ids)).collect()
    }

    /// The whole lists of terms, with or without positions, from memory or from the shards; and, in the same round,
    /// parts of the lists of others.
    pub fn whole(
        &self,
        wanted: &BTreeMap<&str, bool>,
        parts: &[Wanted<'_>],
        missing: &mut BTreeSet<usize>,
        pulse: &Pulse,
    ) -> Result<BTreeMap<String, OfTerm>> {
        let mut lists = BTreeMap::new();
        let mut unknown = Vec::new();
        {
            let mut hot = locked(&self.hot);
            for (term, positions) in wanted {
                match hot.get(term, *positions) {
                    Some(kept) => drop(lists.insert((*term).to_owned(), kept)),
                    None => unknown.push(*term),
                }
            }
        }
        let mut all = vec![Wanted { terms: unknown, what: What::Lists(wanted) }];
        all.extend(parts.iter().cloned());
        for (number, (wanted, found)) in all.iter().zip(self.find(&all, missing, pulse)?).enumerate() {
            for (term, sent) in wanted.terms.iter().zip(found) {
                let bytes: usize =
                    sent.iter().flat_map(|(_, taken, _)| &taken.components).map(|part| part.len()).sum();
                let mut of_term = OfTerm::with_capacity(sent.len());
                for (segment, taken, codes) in sent {
                    let codes = if taken.plain { self.plain.clone() } else { codes };
                    let extract = Extract::new(term, taken, codes, self.limits[segment])?;
                    of_term.push((segment, Arc::new(extract)));
                }
                of_term.sort_by_key(|(segment, _)| *segment);
                if number > 0 {
                    locked(&self.hot).pay(term, bytes as u64);
                } else if missing.is_empty() {
                    let entry = of_term.iter().map(|(segment, lists)| (*segment, lists.lists().clone()));
                    self.know(term, Arc::new(entry.collect()));
                    locked(&self.hot).keep(term, &of_term);
                }
                lists.insert((*term).to_owned(), of_term);
            }
        }
        Ok(lists)
    }

    /// The dictionary entries of terms.
    pub fn entries(
        &self,
        terms: &BTreeSet<&str>,
        missing: &mut BTreeSet<usize>,
        pulse: &Pulse,
    ) -> Result<BTreeMap<String, Arc<Entry>>> {
        let (mut entries, mut unknown) = (BTreeMap::new(), Vec::new());
        {
            let known = locked(&self.known);
            for term in terms {
                match known.entries.get(*term) {
                    Some(entry) => drop(entries.insert((*term).to_owned(), entry.clone())),
                    None => unknown.push(*term),
                }
            }
        }
        let wanted = [Wanted { terms: unknown, what: What::Entries }];
        for (wanted, found) in wanted.iter().zip(self.find(&wanted, missing, pulse)?) {
            for (term, sent) in wanted.terms.iter().zip(found) {
                let mut entry = Entry::with_capacity(sent.len());
                for (segment, taken, codes) in sent {
                    let lists = taken.lists(codes.quantum).ok_or_else(|| {
                        Error::Invalid(format!("the entry of {term:?} that a shard sent does not decode"))
                    })?;
                    entry.push((segment, lists));
                }
                entry.sort_by_key(|(segment, _)| *segment);
                let entry = Arc::new(entry);
                if missing.is_empty() {
                    self.know(term, entry.clone());
                }
                entries.insert((*term).to_owned(), entry);
            }
        }
        Ok(entries)
    }

    fn know(&self, term: &str, entry: Arc<Entry>) {
        let mut known = locked(&self.known);
        if known.entries.len() >= KEPT {
            known.entries.clear();
        }
        known.entries.insert(term.to_owned(), entry);
    }

    /// The statistics of patterns, each in some zones, and the terms that they expand to, at most `most` each.
    pub fn expand(
        &self,
        patterns: &[(&Pattern, ZoneSet)],
        most: usize,
        missing: &mut BTreeSet<usize>,
        pulse: &Pulse,
    ) -> Result<Vec<Pin>> {
        let key = |(pattern, zones): &(&Pattern, ZoneSet)| ((*pattern).clone(), zones.bits(), most);
        let known = |pattern| locked(&self.known).patterns.get(&key(pattern)).cloned();
        let mut pins: Vec<Option<Pin>> = patterns.iter().map(known).collect();
        let unknown: Vec<usize> = (0..pins.len()).filter(|number| pins[*number].is_none()).collect();
        if !unknown.is_empty() {
            let pattern = |number: &usize| (patterns[*number].0.clone(), patterns[*number].1.bits());
            let message = Message::Expand(unknown.iter().map(pattern).collect());
            let mut counted = vec![Counted::default(); unknown.len()];
            for answer in self.ask_all::<Vec<Counted>>(&message, missing, pulse)?.into_iter().flatten() {
                counted.iter_mut().zip(answer).for_each(|(all, own)| all.absorb(own));
            }
            for (number, counted) in unknown.into_iter().zip(counted) {
                let pin = counted.pin(most);
                if missing.is_empty() && pin.terms.len() < LARGE {
                    let mut known = locked(&self.known);
                    if known.patterns.len() >= KEPT {
                        known.patterns.clear();
                    }
                    known.patterns.insert(key(&patterns[number]), pin.clone());
                }
                pins[number] = Some(pin);
            }
        }
        Ok(pins.into_iter().map(Option::unwrap_or_default).collect())
    }

    /// What the shards have of terms: for each of `all` and each of its terms, what was sent.
    fn find(
        &self,
        all: &[Wanted<'_>],
        missing: &mut BTreeSet<usize>,
        pulse: &Pulse,
    ) -> Result<Vec<Vec<Sent>>> {
        let mut found: Vec<Vec<Sent>> =
            all.iter().map(|wanted| vec![Sent::new(); wanted.terms.len()]).collect();
        if all.iter().all(|wanted| wanted.terms.is_empty()) {
            return Ok(found);
        }
        let shards = self.published(missing, pulse)?;
        let mut messages = Vec::new();
        let mut of_message: Vec<(usize, usize, Vec<usize>)> = Vec::new();
        let mut traffic = Traffic::default();
        for (number, wanted) in all.iter().enumerate() {
            let hashes: Vec<KeyHash> = wanted.terms.iter().map(|term| KeyHash::of(term.as_bytes())).collect();
            for (shard, published) in shards.iter().enumerate() {
                let Some(published) = published.as_ref().filter(|_| !missing.contains(&shard)) else {
                    continue;
                };
                let dictionary = &published.dictionary;
                let asked: Vec<usize> = (0..hashes.len())
                    .filter(|term| dictionary.contains(dictionary.bytes(), hashes[*term]))
                    .collect();
                if wanted.what.is_counted() {
                    traffic.saved += (hashes.len() - asked.len()) as u64;
                    traffic.asked += asked.len() as u64;
                }
                if !asked.is_empty() {
                    let terms = asked.iter().map(|term| wanted.terms[*term]).collect();
                    messages.push((shard, wanted.what.message(terms)));
                    of_message.push((number, shard, asked));
                }
            }
        }
        let answers = ask::<_, _, Vec<Found>>(&self.transport, &messages, missing, pulse)?;
        for ((number, shard, asked), answer) in of_message.into_iter().zip(answers) {
            let (Some(answer), Some(published)) = (answer, &shards[shard]) else { continue };
            for (term, of_term) in asked.into_iter().zip(answer) {
                traffic.vain += u64::from(all[number].what.is_counted() && of_term.is_empty());
                for (segment, taken) in of_term {
                    let (segment, codes) =
                        published.segments.get(segment as usize).ok_or_else(other_commit)?;
                    found[number][term].push((*segment, taken, codes.clone()));
                }
            }
        }
        let mut all = locked(&self.transport.terms);
        all.asked += traffic.asked;
        all.vain += traffic.vain;
        all.saved += traffic.saved;
        Ok(found)
    }

    /// What each shard has published; `None` for one that does not answer.
    fn published(&self, missing: &mut BTreeSet<usize>, pulse: &Pulse) -> Result<Vec<Option<Arc<Shard>>>> {
        let known = locked(&self.shards).clone();
        let silent = (0..known.len()).filter(|shard| known[*shard].is_none() && !missing.contains(shard));
        let unknown: Vec<(usize, Message)> =
            silent.map(|shard| (shard, Message::Publish(self.options.bits))).collect();
        if unknown.is_empty() {
            return Ok(known);
        }
        let answers = ask::<_, _, Published>(&self.transport, &unknown, missing, pulse)?;
        let mut shards = locked(&self.shards);
        for ((shard, _), answer) in unknown.into_iter().zip(answers) {
            let Some(published) = answer else { continue };
            let mut segments = Vec::with_capacity(published.segments.len());
            for (generation, codes) in published.segments {
                let segment = self.generations.iter().position(|number| *number == generation);
                let codes = Codes::from_bytes(&codes);
                let (Some(segment), Some(codes)) = (segment, codes) else { return Err(other_commit()) };
                segments.push((segment, Arc::new(codes)));
            }
            let dictionary = Kept::built(published.dictionary.into_vec())?;
            shards[shard] = Some(Arc::new(Shard { dictionary, segments }));
        }
        if missing.len() == shards.len() {
            return Err(all_silent());
        }
        Ok(shards.clone())
    }
}

/// The bytes of the whole lists of a term.
fn price(entry: &Entry, positions: bool) -> u64 {
    let lists = entry.iter().flat_map(|(_, lists)| lists);
    let ranges = lists.flat_map(|(_, list)| list.ranges.iter().enumerate());
    ranges.filter(|(part, _)| positions || *part != 2).map(|(_, range)| range.end - range.start).sum()
}

fn other_commit() -> Error {
    Error::Invalid("a shard of terms serves another commit than the broker".into())
}

fn locked<V>(mutex: &Mutex<V>) -> MutexGuard<'_, V> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A transport that counts what it carries.
struct Counting<T> {
    transport: T,
    messages: AtomicU64,
    bytes: AtomicU64,
    terms: Mutex<Traffic>,
}

impl<T: Transport> Transport for Counting<T> {
    fn shards(&self) -> usize {
        self.transport.shards()
    }

    fn exchange(&self, messages: Vec<(usize, Vec<u8>)>, pulse: &Pulse) -> Result<Vec<Option<Vec<u8>>>> {
        if messages.is_empty() {
            return Ok(Vec::new());
        }
        self.messages.fetch_add(messages.len() as u64, Ordering::Relaxed);
        let sent = messages.iter().map(|(_, message)| message.len()).sum::<usize>();
        let answers = self.transport.exchange(messages, pulse)?;
        let received = answers.iter().flatten().map(Vec::len).sum::<usize>();
        self.bytes.fetch_add((sent + received) as u64, Ordering::Relaxed);
        Ok(answers)
    }
}
