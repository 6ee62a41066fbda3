//! The pipeline from the collection's rows to the index.
//!
//! One thread reads rows, drops those that are not indexed, and gathers the anchor texts of the others; the
//! requested number of threads reads their records from the archive and parses them; the caller's thread adds
//! the documents to an index in row order, whichever thread finishes first:
//!
//! ```text
//! rows, anchors ---> read and parse (n threads) ---> extractor ---> ShardedBuilder
//!       \----------- the order of the batches ---------/
//! ```
//!
//! The number of batches in flight is bounded by the channel that carries their order, and the size of each
//! by the compressed bytes of its records, so memory does not grow with the collection. Anchor texts take one
//! pass over their log per slab of rows.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use super::document::{Document, Extractor};
use super::row::{Outcome, Row};
use super::{Snapshot, layout};
use crate::graph::anchors_of;
use crate::index::{NewDocument, ShardedBuilder};
use crate::{Error, Pulse, Result, Signature};

/// The maximum number of rows whose anchors are gathered in one pass, and the memory budgeted per row.
const SLAB: usize = 20_000;
const ROW_MEMORY: usize = 8 << 10;
/// A batch ends at this many rows, or this many compressed bytes of their records.
const BATCH_ROWS: usize = 64;
const BATCH_BYTES: usize = 1 << 20;
const WAIT: Duration = Duration::from_millis(50);

/// Which pages to index.
pub enum Selection {
    /// Those of the rows from this offset on.
    Since(u64),
    /// Those of the URLs with these signatures.
    Of(Vec<Signature>),
}

/// Options of the pipeline.
pub struct DocumentOptions {
    /// The number of threads that read and parse.
    pub threads: usize,
    /// The approximate memory budget of indexing, in bytes; documents in flight take a small part of it.
    pub memory: usize,
    /// The maximum decoded size of a body.
    pub max_bytes: usize,
    /// The language assumed for all documents.
    pub language: Option<String>,
    /// The hook that sees the documents before they are indexed.
    pub extractor: Option<Box<dyn Extractor>>,
}

/// Documents in flight; dropping it ends the threads.
pub struct Documents {
    batches: Option<Receiver<Batch>>,
    current: Option<Batch>,
    threads: Vec<JoinHandle<()>>,
    stop: Arc<AtomicBool>,
    language: Option<String>,
    extractor: Option<Box<dyn Extractor>>,
    fraction: f64,
    end: u64,
}

/// A batch in flight, and the fraction of the rows read at its end.
struct Batch {
    documents: Receiver<Result<Vec<Document>>>,
    fraction: f64,
}

/// Rows to turn into documents, each with its anchor texts, and the channel for the result.
struct Work {
    rows: Vec<(Row, String)>,
    done: Sender<Result<Vec<Document>>>,
}

impl Documents {
    /// Starts the threads.
    pub fn start(
        snapshot: Arc<Snapshot>,
        selection: Selection,
        options: DocumentOptions,
    ) -> Result<Documents> {
        let DocumentOptions { threads: parsers, memory, max_bytes, language, extractor } = options;
        let parsers = parsers.max(1);
        let stop = Arc::new(AtomicBool::new(false));
        let end = snapshot.length(layout::ROWS);
        let (order, batches) = bounded(2 * parsers);
        let (to_parse, work) = bounded::<Work>(2 * parsers);
        let mut threads = Vec::new();
        for _ in 0..parsers {
            let (work, snapshot) = (work.clone(), Arc::clone(&snapshot));
            threads.push(spawn("parse", move || {
                for Work { rows, done } in work {
                    let documents = rows
                        .into_iter()
                        .filter_map(|(row, anchors)| snapshot.document(row, anchors, max_bytes).transpose());
                    // The caller may be gone.
                    drop(done.send(documents.collect()));
                }
            })?);
        }
        let stopping = Arc::clone(&stop);
        threads.push(spawn("rows", move || {
            let batch_bytes = (memory / (64 * parsers)).clamp(BATCH_BYTES / 16, BATCH_BYTES) as u64;
            let slab_rows = (memory / 4 / ROW_MEMORY).clamp(BATCH_ROWS, SLAB);
            let go_on = || !stopping.load(Ordering::Relaxed);
            let slabs = Slabs { snapshot: &snapshot, batch_bytes, slab_rows, order, to_parse };
            if let Err(error) = slabs.run(selection, &Pulse::new(&go_on)) {
                slabs.fail(error);
            }
        })?);
        let (batches, current, fraction) = (Some(batches), None, 0.0);
        Ok(Documents { batches, current, threads, stop, language, extractor, fraction, end })
    }

    /// Adds the documents that arrive within `time` to an index; returns false once all are added.
    pub fn feed(&mut self, builder: &mut ShardedBuilder, time: Duration, pulse: &Pulse) -> Result<bool> {
        let deadline = Instant::now() + time;
        while Instant::now() < deadline {
            pulse.beat()?;
            let Some(batches) = &self.batches else { return Ok(false) };
            let batch = match self.current.take() {
                Some(batch) => batch,
                None => match batches.recv_timeout(WAIT) {
                    Ok(batch) => batch,
                    Err(RecvTimeoutError::Timeout) => continue,
                    Err(RecvTimeoutError::Disconnected) => {
                        self.stop();
                        return Ok(false);
                    }
                },
            };
            match batch.documents.recv_timeout(WAIT) {
                Ok(documents) => {
                    self.add(documents?, builder, pulse)?;
                    self.fraction = batch.fraction;
                }
                Err(RecvTimeoutError::Timeout) => self.current = Some(batch),
                Err(RecvTimeoutError::Disconnected) => {
                    self.stop();
                    return Err(Error::Stopped);
                }
            }
        }
        Ok(true)
    }

    /// The fraction of the rows that was read.
    pub fn fraction(&self) -> f64 {
        self.fraction
    }

    /// The end of the rows committed when this started, as an offset.
    pub fn end(&self) -> u64 {
        self.end
    }

    fn add(
        &mut self,
        mut documents: Vec<Document>,
        builder: &mut ShardedBuilder,
        pulse: &Pulse,
    ) -> Result<()> {
        if let Some(language) = &self.language {
            documents.iter_mut().for_each(|document| document.language.clone_from(language));
        }
        if let Some(extractor) = &mut self.extractor {
            extractor.extract(&mut documents)?;
        }
        let documents: Vec<NewDocument<'_>> = documents.iter().map(Document::as_new).collect();
        builder.add(&documents, pulse)
    }

    /// Ends the threads; propagates their panics.
    fn stop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.batches = None;
        self.current = None;
        for thread in self.threads.drain(..) {
            if let Err(panic) = thread.join()
                && !thread::panicking()
            {
                resume_unwind(panic);
            }
        }
    }
}

impl Drop for Documents {
    fn drop(&mut self) {
        self.stop();
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    thread::Builder::new().name(name.to_owned()).spawn(work).map_err(Error::io("a thread"))
}

/// The thread that reads rows.
struct Slabs<'a> {
    snapshot: &'a Snapshot,
    batch_bytes: u64,
    slab_rows: usize,
    order: Sender<Batch>,
    to_parse: Sender<Work>,
}

impl Slabs<'_> {
    fn run(&self, selection: Selection, pulse: &Pulse) -> Result<()> {
        let table = self.snapshot.table(pulse)?;
        let mut slab = Vec::new();
        match selection {
            Selection::Since(start) => {
                let whole = table.committed().saturating_sub(start).max(1) as f64;
                for row in table.since(start)? {
                    let (row, next) = row?;
                    if row.outcome == Outcome::NotModified || !table.is_current(&row)? {
                        continue;
                    }
                    self.push(row, next.saturating_sub(start) as f64 / whole, &mut slab, pulse)?;
                }
            }
            Selection::Of(signatures) => {
                let whole = signatures.len().max(1) as f64;
                for (number, signature) in signatures.into_iter().enumerate() {
                    if let Some(row) = table.by_signature(signature)? {
                        self.push(row, (number + 1) as f64 / whole, &mut slab, pulse)?;
                    }
                }
            }
        }
        self.send(slab, pulse)
    }

    fn push(&self, row: Row, fraction: f64, slab: &mut Vec<(Row, f64)>, pulse: &Pulse) -> Result<()> {
        if self.snapshot.stands_for_itself(&row, pulse)? {
            slab.push((row, fraction));
        }
        if slab.len() < self.slab_rows {
            return Ok(());
        }
        self.send(std::mem::take(slab), pulse)
    }

    /// Sends the rows of a slab to the parsers, in batches.
    fn send(&self, slab: Vec<(Row, f64)>, pulse: &Pulse) -> Result<()> {
        let signatures: Vec<Signature> =
            slab.iter().map(|(row, _)| Signature::of(row.url.as_bytes())).collect();
        let anchors = self.anchors(&signatures, pulse)?;
        let (mut rows, mut bytes, mut reached) = (Vec::new(), 0, 0.0);
        for ((row, fraction), anchors) in slab.into_iter().zip(anchors) {
            bytes += row.length;
            reached = fraction;
            rows.push((row, anchors));
            if rows.len() == BATCH_ROWS || bytes >= self.batch_bytes {
                self.send_batch(std::mem::take(&mut rows), fraction)?;
                bytes = 0;
            }
        }
        if rows.is_empty() { Ok(()) } else { self.send_batch(rows, reached) }
    }

    fn send_batch(&self, rows: Vec<(Row, String)>, fraction: f64) -> Result<()> {
        let (done, documents) = bounded(1);
        self.order.send(Batch { documents, fraction }).map_err(|_| Error::Stopped)?;
        self.to_parse.send(Work { rows, done }).map_err(|_| Error::Stopped)
    }

    /// The anchor texts of links to each page.
    fn anchors(&self, pages: &[Signature], pulse: &Pulse) -> Result<Vec<String>> {
        match self.snapshot.manifest.files.get(layout::ANCHORS) {
            Some(committed) if *committed > 0 && !pages.is_empty() => {
                anchors_of(&self.snapshot.folder.join(layout::ANCHORS), *committed, pages, pulse)
            }
            _ => Ok(vec![String::new(); pages.len()]),
        }
    }

    /// Delivers an error to the caller, in batch order.
    fn fail(&self, error: Error) {
        let (done, documents) = bounded(1);
        drop(done.send(Err(error)));
        drop(self.order.send(Batch { documents, fraction: 0.0 }));
    }
}
