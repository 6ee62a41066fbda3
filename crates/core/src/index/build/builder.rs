//! The index builder: documents in, a segment out, in bounded memory.
//!
//! Documents are collected in a chunk ([`crate::index::build::chunk`]); a worker thread inverts a full chunk
//! ([`crate::index::build::invert`]) into a compressed run. Runs stay in memory while they fit and spill to
//! disk when they do not; at the end a multiway merge ([`crate::index::build::merge`]) turns all runs into
//! one segment. Chunks and their documents are numbered in order of arrival, so the order does not depend on
//! which thread finishes first. Nothing else in the segment depends on threads or memory either: the same
//! documents in the same order produce the same bytes.
//!
//! A quarter of the memory budget is for runs, the rest for chunks, which take about five times their text
//! while they are inverted, and for the merge buffers.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded, unbounded};

use super::assemble::{Assembly, assemble};
use super::chunk::{Chunk, NewDocument};
use super::invert::{Inverted, Inverter};
use super::phrases;
use super::run::Run;
use super::source::Postings;
use super::writer::SegmentWriter;
use crate::disk::spool::Spool;
use crate::index::format::sites::SiteNumbers;
use crate::index::format::{Card, Piece};
use crate::index::read::replaced::repeated;
use crate::index::read::segment::SegmentFile;
use crate::index::{DocId, Options, Order};
use crate::{Error, Pulse, Result, Signature};

const LARGEST_CHUNK: usize = 32 << 20;
const SMALLEST_CHUNK: usize = 256 << 10;

/// Builds a segment. It must be dropped after an error.
pub struct IndexBuilder {
    folder: PathBuf,
    number: u64,
    piece: Piece,
    options: Options,
    chunk: Chunk,
    chunk_limit: usize,
    workers: Option<Workers>,
    /// Used when there are no worker threads.
    inverter: Inverter,
    /// Chunks whose inversion finished before that of an earlier chunk.
    early: BTreeMap<u64, Inverted>,
    writer: Option<SegmentWriter>,
    runs: Vec<Run>,
    cards: Vec<Card>,
    sites: SiteNumbers,
    phrases: Vec<Spool>,
    /// The URLs of the documents, if they are ordered by URL.
    urls: Vec<Box<str>>,
    /// The memory taken by the runs, in bytes.
    used: usize,
    documents: u64,
    deleted: Vec<Signature>,
}

impl IndexBuilder {
    /// A builder of the segment `number` in `folder`.
    pub fn new(folder: &Path, number: u64, options: Options) -> IndexBuilder {
        IndexBuilder::of_piece(folder, number, Piece::Whole, options)
    }

    /// A builder of a piece of the generation `number` in `folder`.
    pub(super) fn of_piece(folder: &Path, number: u64, piece: Piece, options: Options) -> IndexBuilder {
        let threads = options.threads.max(1);
        let chunk_limit = (options.memory / (18 * threads + 6)).clamp(SMALLEST_CHUNK, LARGEST_CHUNK);
        IndexBuilder {
            folder: folder.to_path_buf(),
            number,
            piece,
            options,
            chunk: Chunk::new(0),
            chunk_limit,
            workers: (threads > 1).then(|| Workers::new(threads)),
            inverter: Inverter::default(),
            early: BTreeMap::new(),
            writer: None,
            runs: Vec::new(),
            cards: Vec::new(),
            sites: SiteNumbers::default(),
            phrases: Vec::new(),
            urls: Vec::new(),
            used: 0,
            documents: 0,
            deleted: Vec::new(),
        }
    }

    /// Adds documents. A document whose URL was added before replaces the earlier one.
    pub fn add(&mut self, documents: &[NewDocument<'_>], pulse: &Pulse) -> Result<()> {
        for document in documents {
            if self.options.order == Order::Url {
                self.urls.push(document.url.into());
            }
            self.chunk.push(document);
            self.documents += 1;
            if self.chunk.is_full(self.chunk_limit) {
                self.invert_chunk(pulse)?;
            }
        }
        pulse.beat()
    }

    /// Deletes the documents of these URLs from all older segments.
    pub fn delete(&mut self, urls: impl Iterator<Item = Signature>) {
        self.deleted.extend(urls);
    }

    /// The number of documents added.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Writes the segment; `None` if there is nothing to write. If it is divided by terms, only
    /// [`IndexBuilder::finish_all`] returns its other files.
    pub fn finish(&mut self, pulse: &Pulse) -> Result<Option<SegmentFile>> {
        Ok(self.finish_all(pulse)?.into_iter().next())
    }

    /// Writes the segment; returns its files, of which there are none if there is nothing to write.
    pub fn finish_all(&mut self, pulse: &Pulse) -> Result<Vec<SegmentFile>> {
        if !self.chunk.is_empty() {
            self.invert_chunk(pulse)?;
        }
        self.receive_while(Workers::busy, pulse)?;
        self.workers = None;
        self.inverter = Inverter::default();
        give_back_memory();
        if self.cards.is_empty() && self.deleted.is_empty() {
            return Ok(Vec::new());
        }
        let writer = match self.writer.take() {
            Some(writer) => writer,
            None => SegmentWriter::create(&self.folder, self.number, self.piece)?,
        };
        // Of several documents with the same URL the last one wins.
        let dropped = repeated(self.cards.iter().map(|card| card.signature));
        let mut kept = Vec::with_capacity(self.cards.len());
        let mut places = Vec::new();
        let mut numbers = Vec::with_capacity(self.cards.len());
        let mut urls = std::mem::take(&mut self.urls);
        for (place, (card, dropped)) in self.cards.iter().zip(dropped).enumerate() {
            if dropped {
                numbers.push(DocId::END);
                continue;
            }
            numbers.push(DocId(kept.len() as u32));
            kept.push(*card);
            places.push(place as u32);
        }
        if !urls.is_empty() {
            urls = places.iter().map(|place| std::mem::take(&mut urls[*place as usize])).collect();
        }
        self.cards = Vec::new();
        let mut parts = Vec::with_capacity(self.runs.len());
        let mut first = 0;
        for run in &self.runs {
            let next = first + run.documents as usize;
            parts.push((Postings::Run(run), numbers[first..next].to_vec()));
            first = next;
        }
        let mut deleted = std::mem::take(&mut self.deleted);
        deleted.sort_unstable();
        deleted.dedup();
        let sites = std::mem::take(&mut self.sites);
        let phrases = std::mem::take(&mut self.phrases).into_iter().map(phrases::Source::Run).collect();
        let assembly = Assembly { writer, cards: kept, sites, places, urls, parts, deleted, phrases };
        assemble(assembly, &self.options, pulse)
    }

    fn invert_chunk(&mut self, pulse: &Pulse) -> Result<()> {
        let next = Chunk::new(self.chunk.number + 1);
        let chunk = std::mem::replace(&mut self.chunk, next);
        let Some(workers) = &self.workers else {
            let inverted = self.inverter.invert(&chunk, pulse)?;
            return self.take(inverted);
        };
        workers.send(chunk)?;
        self.receive_while(Workers::full, pulse)
    }

    fn receive_while(&mut self, wait: impl Fn(&Workers) -> bool, pulse: &Pulse) -> Result<()> {
        while let Some(workers) = &self.workers
            && wait(workers)
        {
            let inverted = workers.receive(pulse)?;
            self.take(inverted)?;
        }
        Ok(())
    }

    /// Takes an inverted chunk, in chunk order.
    fn take(&mut self, inverted: Inverted) -> Result<()> {
        self.early.insert(inverted.number, inverted);
        while let Some(Inverted { mut run, mut cards, sites, stored, phrases, .. }) =
            self.early.remove(&(self.runs.len() as u64))
        {
            let writer = match &mut self.writer {
                Some(writer) => writer,
                none => none.insert(SegmentWriter::create(&self.folder, self.number, self.piece)?),
            };
            stored.iter().try_for_each(|block| writer.store(block))?;
            if self.cards.len() + cards.len() >= DocId::END.0 as usize {
                return Err(Error::Invalid("a segment is full at 4 thousand million documents".into()));
            }
            let numbers = self.sites.take_in(sites);
            cards.iter_mut().for_each(|card| card.facts.site = numbers[card.facts.site as usize]);
            self.cards.extend(cards);
            self.phrases.push(phrases.into_run(&self.folder)?);
            if self.used + run.memory() > self.options.memory / 4 {
                run.spill(&self.folder)?;
            }
            self.used += run.memory();
            self.runs.push(run);
        }
        Ok(())
    }
}

/// Returns freed memory to the operating system, so that what the chunks used is available for the merge.
fn give_back_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: takes no pointer, and may be called from any thread at any time.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// The worker threads that invert chunks.
struct Workers {
    chunks: Option<Sender<Chunk>>,
    inverted: Receiver<Result<Inverted>>,
    threads: Vec<JoinHandle<()>>,
    stop: Arc<AtomicBool>,
    /// Chunks that were sent and have not come back.
    under_way: AtomicUsize,
}

impl Workers {
    fn new(threads: usize) -> Workers {
        let (chunks, waiting) = bounded::<Chunk>(1);
        let (done, inverted) = unbounded();
        let stop = Arc::new(AtomicBool::new(false));
        let spawn = |_| {
            let (waiting, done, stop) = (waiting.clone(), done.clone(), stop.clone());
            std::thread::spawn(move || {
                let go_on = || !stop.load(Ordering::Relaxed);
                let mut inverter = Inverter::default();
                for chunk in waiting {
                    if done.send(inverter.invert(&chunk, &Pulse::new(&go_on))).is_err() {
                        return;
                    }
                }
            })
        };
        let threads = (0..threads).map(spawn).collect();
        Workers { chunks: Some(chunks), inverted, threads, stop, under_way: AtomicUsize::new(0) }
    }

    /// Whether any chunk is in flight.
    fn busy(&self) -> bool {
        self.under_way.load(Ordering::Relaxed) > 0
    }

    /// Whether every thread has a chunk and one more is queued.
    fn full(&self) -> bool {
        self.under_way.load(Ordering::Relaxed) > self.threads.len()
    }

    fn send(&self, chunk: Chunk) -> Result<()> {
        self.under_way.fetch_add(1, Ordering::Relaxed);
        let sent = self.chunks.as_ref().map(|chunks| chunks.send(chunk));
        if matches!(sent, Some(Ok(()))) { Ok(()) } else { Err(Error::Stopped) }
    }

    fn receive(&self, pulse: &Pulse) -> Result<Inverted> {
        loop {
            match self.inverted.recv_timeout(Duration::from_millis(50)) {
                Ok(inverted) => {
                    self.under_way.fetch_sub(1, Ordering::Relaxed);
                    return inverted;
                }
                Err(RecvTimeoutError::Timeout) if self.threads.iter().any(JoinHandle::is_finished) => {
                    return Err(Error::Stopped);
                }
                Err(RecvTimeoutError::Timeout) => pulse.beat()?,
                Err(RecvTimeoutError::Disconnected) => return Err(Error::Stopped),
            }
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.chunks = None;
        for thread in self.threads.drain(..) {
            if let Err(panic) = thread.join()
                && !std::thread::panicking()
            {
                resume_unwind(panic);
            }
        }
    }
}

#[cfg(test)]
mod tests;
