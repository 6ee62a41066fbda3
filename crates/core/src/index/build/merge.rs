//! The multiway merge of sorted postings from many sources into one segment.
//!
//! The terms come in order from a heap with one iterator per source, and the posting lists of a term are read
//! in source order. If documents keep their order, so do the lists, and a posting is written as it is read;
//! if they are renumbered ([`crate::index::build::order`]), the postings of a term are collected and sorted
//! first. Threads merge disjoint term ranges, and their outputs are concatenated. Every byte is read and
//! written once. Memory: buffers, and 4 bytes per occurrence of the longest posting list if it has to be
//! sorted.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::choose::{self, CodeChoice, Sample};
use super::postings::{Numbers, PostingsWriter};
use super::source::{Source, SourceList, SourceTerms};
use crate::codes::variable_byte as number;
use crate::disk::spool::Spool;
use crate::index::DocId;
use crate::index::format::Card;
use crate::index::format::codes::Codes;
use crate::index::format::lists;
use crate::index::format::lists::{COMPONENTS, Place};
use crate::index::format::zone::Zone;
use crate::{Error, Pulse, Result};

/// The sources of a merge, and the numbering of their documents.
pub struct Merge<'a> {
    /// The sources, from the oldest to the newest.
    pub sources: &'a [Source<'a>],
    /// One card per document, by its new id.
    pub cards: &'a [Card],
    /// Whether the new ids increase with the old ones, from source to source.
    pub in_order: bool,
}

/// A merged range of terms.
pub struct Stretch {
    /// Pointers, counts, positions and skips.
    pub components: [Spool; COMPONENTS],
    /// For each term: its length, the term, the length of its entry, and the entry of
    /// [`crate::index::format::lists`].
    pub entries: Spool,
}

/// Term ranges per thread: enough to balance the load.
const STRETCHES_A_THREAD: usize = 6;

/// Term ranges per shard, if the segment is divided by terms: shards differ by about one of them.
const STRETCHES_A_SHARD: usize = 16;

/// How many consecutive terms are sampled at each chosen place, and at how many places.
const SAMPLE_TERMS: usize = 12;
const SAMPLE_PLACES: usize = 1200;
/// The maximum number of postings sampled from one list.
const SAMPLE_POSTINGS: usize = 1 << 14;

impl<'a> Merge<'a> {
    /// The codes for the merged posting lists, chosen on a sample of them.
    pub fn choose_codes(&self, choice: &CodeChoice, threads: usize, pulse: &Pulse) -> Result<Codes> {
        choose::choose(choice, &self.sample(choice.quantum, pulse)?, threads)
    }

    /// A sample of the posting lists, cut into blocks of `quantum` postings.
    pub fn sample(&self, quantum: u32, pulse: &Pulse) -> Result<Sample> {
        let mut sample = Sample::default();
        let places = self.samples();
        for place in places.iter().step_by(places.len().div_ceil(SAMPLE_PLACES).max(1)) {
            let mut left = SAMPLE_TERMS;
            self.each_term(place, None, pulse, |term| {
                for zone in Zone::ALL {
                    self.sample_list(zone, term, quantum as usize, &mut sample)?;
                }
                left -= 1;
                Ok(left > 0)
            })?;
        }
        Ok(sample)
    }

    /// Calls `visit` with the documents of each term of a zone, in no particular order.
    pub fn each_list(
        &self,
        zone: Zone,
        pulse: &Pulse,
        mut visit: impl FnMut(&[DocId]) -> Result<()>,
    ) -> Result<()> {
        let mut documents = Vec::new();
        self.each_term(&[], None, pulse, |term| {
            documents.clear();
            self.each_posting(term.lists(zone), |document, _| {
                documents.push(document);
                Ok(true)
            })?;
            visit(&documents)?;
            Ok(true)
        })
    }

    /// Merges all terms; returns the term ranges in order, enough of them to be divided between `shards`.
    pub fn run(
        &self,
        folder: &Path,
        codes: &Codes,
        threads: usize,
        shards: usize,
        pulse: &Pulse,
    ) -> Result<Vec<Stretch>> {
        let mut firsts = self.boundaries(threads, shards);
        let stretches = firsts.len();
        firsts.push(Vec::new());
        let done: Vec<Mutex<Option<Result<Stretch>>>> = (0..stretches).map(|_| Mutex::new(None)).collect();
        let next = AtomicUsize::new(0);
        let stop = AtomicBool::new(false);
        let work = |pulse: &Pulse| {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= stretches || stop.load(Ordering::Relaxed) {
                    return;
                }
                let end = (number + 1 < stretches).then(|| firsts[number + 1].as_slice());
                let merged = self.stretch(folder, codes, &firsts[number], end, pulse);
                stop.fetch_or(merged.is_err(), Ordering::Relaxed);
                *done[number].lock().unwrap_or_else(PoisonError::into_inner) = Some(merged);
            }
        };
        // Only the calling thread can receive a stop request; it signals the others.
        let go_on = || !stop.load(Ordering::Relaxed);
        std::thread::scope(|scope| {
            for _ in 1..threads.min(stretches) {
                scope.spawn(|| work(&Pulse::new(&go_on)));
            }
            work(pulse);
        });
        let mut merged = Vec::with_capacity(stretches);
        let mut failure = None;
        for stretch in done {
            match stretch.into_inner().unwrap_or_else(PoisonError::into_inner) {
                Some(Ok(stretch)) => merged.push(stretch),
                // Of all failures, report the one that made the others stop.
                Some(Err(error)) if !matches!(failure, Some(Error::Io { .. })) => failure = Some(error),
                _ => {}
            }
        }
        if merged.len() == stretches { Ok(merged) } else { Err(failure.unwrap_or(Error::Stopped)) }
    }

    /// Merges the terms from `first` (inclusive) to `end` (exclusive).
    fn stretch(
        &self,
        folder: &Path,
        codes: &Codes,
        first: &[u8],
        end: Option<&[u8]>,
        pulse: &Pulse,
    ) -> Result<Stretch> {
        let mut writer = PostingsWriter::new(codes, std::array::from_fn(|_| Spool::new(folder)));
        let mut entries = Spool::new(folder);
        let (mut bytes, mut entry, mut written) = (Vec::new(), Vec::new(), Vec::new());
        self.each_term(first, end, pulse, |term| {
            written.clear();
            for zone in Zone::ALL {
                self.write_list(zone, term, &mut writer)?;
                written.extend(writer.end()?.map(|list| (zone, list)));
            }
            if written.is_empty() {
                return Ok(true);
            }
            bytes.clear();
            entry.clear();
            lists::write(&written, codes.quantum, &mut Place::default(), &mut entry);
            number::write_bytes(term.term(), &mut bytes);
            number::write_bytes(&entry, &mut bytes);
            entries.append(&bytes)?;
            Ok(true)
        })?;
        Ok(Stretch { components: writer.components, entries })
    }

    fn write_list(&self, zone: Zone, term: &Standing<'_, 'a>, writer: &mut PostingsWriter<'_>) -> Result<()> {
        writer.begin(term.lists(zone).any(|(_, list)| list.repeats()));
        let length = |document: DocId| self.cards[document.0 as usize].words[zone as usize];
        if self.in_order {
            return self.each_posting(term.lists(zone), |document, positions| {
                writer.push(document, length(document), positions)?;
                Ok(true)
            });
        }
        let mut gathered = Gathered::default();
        self.each_posting(term.lists(zone), |document, positions| {
            gathered.push(document, positions);
            Ok(true)
        })?;
        gathered.sort();
        gathered.each(|document, positions| writer.push(document, length(document), positions))
    }

    fn sample_list(
        &self,
        zone: Zone,
        term: &Standing<'_, 'a>,
        quantum: usize,
        sample: &mut Sample,
    ) -> Result<()> {
        let mut gathered = Gathered::default();
        self.each_posting(term.lists(zone), |document, positions| {
            gathered.push(document, positions);
            Ok(gathered.postings.len() < SAMPLE_POSTINGS)
        })?;
        gathered.sort();
        let mut numbers = Numbers::default();
        gathered.each(|document, positions| {
            numbers.push(document, 0, positions);
            if numbers.pointers.len() == quantum {
                sample.push(&numbers);
                numbers.clear();
            }
            Ok(())
        })?;
        // A term with one document is stored in the dictionary entry and needs no code.
        if gathered.postings.len() > 1 && !numbers.pointers.is_empty() {
            sample.push(&numbers);
        }
        Ok(())
    }

    /// Calls `visit` with every posting that is kept, by its new id, until it returns false.
    fn each_posting(
        &self,
        lists: impl Iterator<Item = (usize, SourceList<'a>)>,
        mut visit: impl FnMut(DocId, &[u32]) -> Result<bool>,
    ) -> Result<()> {
        let mut positions = Vec::new();
        let mut go_on = true;
        for (source, list) in lists {
            if !go_on {
                break;
            }
            list.each(&mut positions, |document, positions| {
                let document = self.sources[source].number(document)?;
                if document != DocId::END && go_on {
                    go_on = visit(document, positions)?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Calls `visit` with every term from `first` (inclusive) to `end` (exclusive), until it returns false.
    fn each_term(
        &self,
        first: &[u8],
        end: Option<&[u8]>,
        pulse: &Pulse,
        mut visit: impl FnMut(&Standing<'_, 'a>) -> Result<bool>,
    ) -> Result<()> {
        let mut walks: Vec<SourceTerms<'a>> =
            self.sources.iter().map(|source| source.terms_from(first)).collect();
        let mut heap = Heap::default();
        for number in 0..walks.len() {
            // An iterator starts at the nearest sampled term before the first one.
            while walks[number].advance()? {
                if walks[number].term() >= first {
                    heap.push(number, &walks);
                    break;
                }
            }
        }
        let mut count = 0u64;
        let mut at = Vec::new();
        while let Some(number) = heap.top() {
            if end.is_some_and(|end| walks[number].term() >= end) {
                return Ok(());
            }
            if count.is_multiple_of(1 << 10) {
                pulse.beat()?;
            }
            count += 1;
            at.clear();
            while let Some(next) = heap.top()
                && (at.is_empty() || walks[next].term() == walks[number].term())
            {
                at.push(next);
                heap.pop(&walks);
            }
            if !visit(&Standing { walks: &walks, at: &at })? {
                return Ok(());
            }
            for number in &at {
                if walks[*number].advance()? {
                    heap.push(*number, &walks);
                }
            }
        }
        Ok(())
    }

    /// The first terms of the ranges, in order; the first range starts before all terms.
    fn boundaries(&self, threads: usize, shards: usize) -> Vec<Vec<u8>> {
        let samples = self.samples();
        let for_shards = if shards > 1 { shards * STRETCHES_A_SHARD } else { 1 };
        let stretches = (threads * STRETCHES_A_THREAD).max(for_shards).min(samples.len()).max(1);
        let mut firsts = vec![Vec::new()];
        firsts.extend((1..stretches).map(|number| samples[number * samples.len() / stretches].to_vec()));
        firsts.dedup();
        firsts
    }

    /// Sampled terms of all sources, in order, preceded by the empty term.
    fn samples(&self) -> Vec<&'a [u8]> {
        let mut samples: Vec<&[u8]> = vec![&[]];
        samples.extend(self.sources.iter().flat_map(Source::samples));
        samples.sort_unstable();
        samples.dedup();
        samples
    }
}

/// The source iterators that are positioned on the current term.
struct Standing<'w, 'a> {
    walks: &'w [SourceTerms<'a>],
    /// Their indices, in order.
    at: &'w [usize],
}

impl<'w, 'a> Standing<'w, 'a> {
    /// The current term.
    fn term(&self) -> &'w [u8] {
        self.at.first().map_or(&[], |number| self.walks[*number].term())
    }

    /// The posting lists of the term in a zone, each with the index of its source.
    fn lists(&self, zone: Zone) -> impl Iterator<Item = (usize, SourceList<'a>)> {
        self.at.iter().filter_map(move |number| Some((*number, self.walks[*number].list(zone)?)))
    }
}

/// The iterators ordered by current term, then by index: a binary heap of indices, because the terms
/// themselves are held by the iterators.
#[derive(Default)]
struct Heap(Vec<usize>);

impl Heap {
    fn top(&self) -> Option<usize> {
        self.0.first().copied()
    }

    fn push(&mut self, number: usize, walks: &[SourceTerms<'_>]) {
        self.0.push(number);
        let mut place = self.0.len() - 1;
        while place > 0 && Heap::comes_before(self.0[place], self.0[(place - 1) / 2], walks) {
            self.0.swap(place, (place - 1) / 2);
            place = (place - 1) / 2;
        }
    }

    fn pop(&mut self, walks: &[SourceTerms<'_>]) {
        if self.0.is_empty() {
            return;
        }
        self.0.swap_remove(0);
        let mut place = 0;
        loop {
            let mut least = place;
            for child in [2 * place + 1, 2 * place + 2] {
                if child < self.0.len() && Heap::comes_before(self.0[child], self.0[least], walks) {
                    least = child;
                }
            }
            if least == place {
                return;
            }
            self.0.swap(place, least);
            place = least;
        }
    }

    fn comes_before(one: usize, other: usize, walks: &[SourceTerms<'_>]) -> bool {
        (walks[one].term(), one) < (walks[other].term(), other)
    }
}

/// Postings to be sorted before they are written.
#[derive(Default)]
struct Gathered {
    /// Document, start of its positions, number of positions.
    postings: Vec<(DocId, usize, u32)>,
    positions: Vec<u32>,
}

impl Gathered {
    fn push(&mut self, document: DocId, positions: &[u32]) {
        self.postings.push((document, self.positions.len(), positions.len() as u32));
        self.positions.extend_from_slice(positions);
    }

    fn sort(&mut self) {
        self.postings.sort_by_key(|(document, _, _)| *document);
    }

    fn each(&self, mut visit: impl FnMut(DocId, &[u32]) -> Result<()>) -> Result<()> {
        let mut postings = self.postings.iter();
        postings.try_for_each(|(document, start, count)| {
            visit(*document, &self.positions[*start..*start + *count as usize])
        })
    }
}
