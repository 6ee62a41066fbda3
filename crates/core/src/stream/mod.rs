//! Streams: lines in, lines out, with duplicates marked or dropped on the way, in fixed memory.
//!
//! Each line has a key (see [`key`](self::key)) and each key a 64-bit [`Signature`]. A [`Judge`], which is
//! any filter or the exact set, decides for each in turn whether it was seen before. Memory is that of the
//! judge and of one block: at most 1 MiB of lines as read, as much to write, and 25 bytes per line of it.
//!
//! Lines that cannot be judged are never lost. A line without a key (malformed) or longer than [`LONGEST`] is
//! neither new nor a duplicate: it is emitted where new lines are, marked as such, and counted.
//!
//! The bytes of one read (64 KiB from a pipe) are judged as one batch and written immediately, so that a slow
//! stream is passed on without delay. A line costs about 100 ns, most of it for its signature and the judge.

mod descriptor;
mod exact;
mod input;
mod judge;
mod key;
mod lines;
mod output;
mod record;

use std::path::Path;

use crate::{Pulse, Result, Signature};

pub use exact::Exact;
pub use input::{Input, Source};
pub use judge::Judge;
pub use key::KeyOf;
pub use lines::LONGEST;
pub use output::Emit;

use lines::{Block, Lines};
use output::{Output, Verdict};
use record::Record;

/// The counts of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All lines.
    pub lines: u64,
    /// Those whose key was not seen before, as judged.
    pub new: u64,
    /// Those whose key was seen before, as judged.
    pub duplicates: u64,
    /// Those that were compared by their URL.
    pub by_url: u64,
    /// Those without a key.
    pub malformed: u64,
    /// Those that were too long.
    pub long: u64,
    /// Bytes of lines, decompressed.
    pub bytes: u64,
}

/// Passes the lines of the inputs, in order, through a judge.
///
/// With `record`, the signature and verdict of every judged line also go to a file of that name (see
/// [`record`](self::record)).
pub fn sift(
    inputs: &[Input],
    judge: &mut dyn Judge,
    emit: Emit,
    record: Option<&Path>,
    pulse: &Pulse,
) -> Result<Counts> {
    let mut sifter = Sifter {
        judge,
        output: Output::new(emit, pulse)?,
        record: record.map(Record::create).transpose()?,
        pulse,
        counts: Counts::default(),
        spans: Vec::new(),
        keys: Vec::new(),
        seen: Vec::new(),
    };
    for input in inputs {
        let mut source = input.open(pulse)?;
        let mut lines = Lines::new();
        let mut key = None;
        loop {
            match lines.next(&mut source).map_err(|error| source.explain(error))? {
                Some(Block::Lines(block)) => {
                    if key.is_none() {
                        key = input.key_of(block)?;
                    }
                    sifter.lines(block, key.unwrap_or(KeyOf::Line))?;
                }
                Some(Block::Long { piece, ends }) => sifter.long(piece, ends)?,
                None => break,
            }
        }
    }
    if let Some(record) = sifter.record {
        record.finish()?;
    }
    Ok(sifter.counts)
}

struct Sifter<'a> {
    judge: &'a mut dyn Judge,
    output: Output<'a>,
    record: Option<Record>,
    pulse: &'a Pulse<'a>,
    counts: Counts,
    /// The ends of a block's lines, and whether each has a key.
    spans: Vec<(usize, bool)>,
    /// The keys of the lines that have one, and their verdicts.
    keys: Vec<Signature>,
    seen: Vec<bool>,
}

impl Sifter<'_> {
    /// Judges and writes the lines of a block, of which only the last may lack its terminator.
    fn lines(&mut self, block: &[u8], key: KeyOf) -> Result<()> {
        self.split(block, key);
        self.seen.clear();
        self.seen.resize(self.keys.len(), false);
        self.judge.judge(&self.keys, &mut self.seen, self.pulse)?;
        if let Some(record) = &mut self.record {
            record.append(&self.keys, &self.seen)?;
        }
        let mut start = 0;
        let mut seen = self.seen.iter();
        for (end, keyed) in &self.spans {
            let verdict = match keyed.then(|| seen.next()).flatten() {
                None => Verdict::Malformed,
                Some(false) => Verdict::New,
                Some(true) => Verdict::Duplicate,
            };
            self.output.line(&block[start..*end], verdict);
            start = *end;
        }
        let duplicates = self.seen.iter().filter(|seen| **seen).count();
        self.counts.lines += self.spans.len() as u64;
        self.counts.duplicates += duplicates as u64;
        self.counts.new += (self.seen.len() - duplicates) as u64;
        self.counts.by_url += if key == KeyOf::Cdxj { self.keys.len() as u64 } else { 0 };
        self.counts.malformed += (self.spans.len() - self.seen.len()) as u64;
        self.counts.bytes += block.len() as u64;
        self.output.flush()
    }

    fn split(&mut self, block: &[u8], key: KeyOf) {
        self.spans.clear();
        self.keys.clear();
        let mut start = 0;
        let ends = memchr::memchr_iter(b'\n', block).map(|newline| newline + 1);
        let unended = (!block.ends_with(b"\n")).then_some(block.len());
        for end in ends.chain(unended) {
            let found = key.signature(&block[start..end]);
            self.spans.push((end, found.is_some()));
            self.keys.extend(found);
            start = end;
        }
    }

    /// Passes on a piece of a line that is too long.
    fn long(&mut self, piece: &[u8], ends: bool) -> Result<()> {
        self.counts.bytes += piece.len() as u64;
        self.output.piece(piece, ends);
        if ends {
            self.counts.lines += 1;
            self.counts.long += 1;
        }
        self.output.flush()
    }
}

#[cfg(test)]
mod tests;
