//! The files of the work folder: what was added, as long as it is committed, and what was found.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::options::Options;
use super::verify::Pair;
use crate::disk::file::DurableFile;
use crate::disk::new_file::NewFile;
use crate::{Error, Result};

const BUFFER: usize = 1 << 20;
const STATE: &str = "state";
const LEADERS: &str = "leaders";
const PAIRS: usize = 5;
/// The files that grow, by the number of their column.
const NAMES: [&str; 6] = ["digests", "signals", "keys", "ends", "simhashes", "pairs"];
const DIGEST: usize = 16;
const ENDS: usize = 16;
const SIGNAL: usize = 4;
/// The documents that are read together.
const DOCUMENTS: u64 = 1 << 12;

/// What is committed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    options: Option<Options>,
    /// The length of each file.
    lengths: [u64; NAMES.len()],
    /// The number of documents.
    pub documents: u64,
    /// How many of them, the first ones, are references.
    pub references: u64,
    /// Where the input stands.
    pub position: Option<Vec<u8>>,
    /// The number of passes over the keys that are done.
    pub passes: u64,
    /// Whether everything is found.
    pub is_found: bool,
}

/// What is kept of some documents, as it is written.
#[derive(Default)]
pub struct Kept {
    digests: Vec<u8>,
    signals: Vec<u8>,
    keys: Vec<u8>,
    /// The number of signals and of keys of each.
    counts: Vec<[u32; 2]>,
    simhashes: Vec<u8>,
}

impl Kept {
    /// Adds a document; its keys are in order.
    pub fn push(&mut self, digest: u128, signals: &[u32], keys: &[u32], simhash: u128) {
        self.digests.extend(digest.to_le_bytes());
        push_numbers(&mut self.signals, signals);
        push_numbers(&mut self.keys, keys);
        self.counts.push([signals.len() as u32, keys.len() as u32]);
        self.simhashes.extend(simhash.to_le_bytes());
    }

    /// The signals of all, as [`numbers_in`] reads them.
    pub fn signals(&self) -> &[u8] {
        &self.signals
    }

    /// The keys of all.
    pub fn keys(&self) -> impl Iterator<Item = u32> {
        numbers_in(&self.keys)
    }

    /// The SimHash of the first.
    pub fn simhash(&self) -> u128 {
        self.simhashes.first_chunk().map_or(0, |bytes| u128::from_le_bytes(*bytes))
    }
}

/// The files that are written.
pub struct Files {
    folder: PathBuf,
    files: [BufWriter<DurableFile>; NAMES.len()],
    lengths: [u64; NAMES.len()],
    /// The signals and the keys so far.
    ends: [u64; 2],
}

impl Files {
    /// Opens the files as they were committed.
    pub fn open(folder: &Path, options: &Options) -> Result<(Files, State)> {
        let path = folder.join(STATE);
        let state = match std::fs::read(&path) {
            Ok(bytes) => {
                let damaged =
                    |_| Error::corrupt(&path, 0, "the state of the search for duplicates does not decode");
                rmp_serde::from_slice(&bytes).map_err(damaged)?
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => State::default(),
            Err(error) => return Err(Error::io(&path)(error)),
        };
        if state.options.as_ref().is_some_and(|before| before != options) {
            let folder = folder.display();
            return Err(Error::Invalid(format!("{folder} has the work of a search with other options")));
        }
        let state = State { options: Some(options.clone()), ..state };
        let mut files = Vec::new();
        for (name, length) in NAMES.iter().zip(state.lengths) {
            let mut file = DurableFile::open(&folder.join(name))?;
            file.cut(length)?;
            files.push(BufWriter::with_capacity(BUFFER, file));
        }
        let ends = [state.lengths[1] / SIGNAL as u64, state.lengths[2] / SIGNAL as u64];
        let files = files.try_into().map_err(|_| Error::Invalid("a file is missing".into()))?;
        Ok((Files { folder: folder.to_path_buf(), files, lengths: state.lengths, ends }, state))
    }

    fn write(&mut self, file: usize, bytes: &[u8]) -> Result<()> {
        self.lengths[file] += bytes.len() as u64;
        self.files[file].write_all(bytes).map_err(Error::io(self.folder.join(NAMES[file])))
    }

    /// Appends what is kept of documents.
    pub fn append(&mut self, kept: &[Kept]) -> Result<()> {
        for Kept { digests, signals, keys, counts, simhashes } in kept {
            self.write(0, digests)?;
            self.write(1, signals)?;
            self.write(2, keys)?;
            for count in counts {
                self.ends[0] += u64::from(count[0]);
                self.ends[1] += u64::from(count[1]);
                let ends = self.ends.map(u64::to_le_bytes);
                self.write(3, ends.as_flattened())?;
            }
            self.write(4, simhashes)?;
        }
        Ok(())
    }

    /// Appends verified pairs.
    pub fn append_pairs(&mut self, pairs: &[Pair]) -> Result<()> {
        pairs.iter().try_for_each(|pair| self.write(PAIRS, &pair.encode()))
    }

    /// Flushes to the operating system.
    pub fn flush(&mut self) -> Result<()> {
        let folder = &self.folder;
        self.files
            .iter_mut()
            .zip(NAMES)
            .try_for_each(|(file, name)| file.flush().map_err(Error::io(folder.join(name))))
    }

    /// Makes everything durable.
    pub fn commit(&mut self, state: &mut State) -> Result<()> {
        self.flush()?;
        self.files.iter().try_for_each(|file| file.get_ref().sync())?;
        state.lengths = self.lengths;
        let encoded = rmp_serde::to_vec_named(state);
        let encoded =
            encoded.map_err(|error| Error::Invalid(format!("the state does not encode: {error}")))?;
        let mut file = NewFile::create(&self.folder.join(STATE))?;
        file.append(&encoded)?;
        file.finish().map(drop)
    }

    /// Commits, unless nothing was ever committed: then nobody goes on after a crash, and gigabytes need not reach the disk.
    pub fn commit_progress(&mut self, state: &mut State) -> Result<()> {
        if state.position.is_some() { self.commit(state) } else { self.flush() }
    }

    /// What was added, for reading.
    pub fn stored(&self, documents: u64) -> Result<Stored> {
        Stored::open(&self.folder, documents)
    }

    /// Writes the SimHashes again.
    pub fn replace_simhashes(&mut self, simhashes: &[u128]) -> Result<()> {
        self.files[4].get_mut().cut(0)?;
        self.lengths[4] = 0;
        simhashes.iter().try_for_each(|simhash| self.write(4, &simhash.to_le_bytes()))?;
        self.flush()
    }

    /// The number of pairs.
    pub fn count_pairs(&self) -> u64 {
        self.lengths[PAIRS] / Pair::BYTES as u64
    }

    /// Pairs from a number on.
    pub fn some_pairs(&self, start: u64, count: usize) -> Result<Vec<Pair>> {
        let count = self.count_pairs().saturating_sub(start).min(count as u64);
        let mut bytes = vec![0; count as usize * Pair::BYTES];
        let path = self.folder.join(NAMES[PAIRS]);
        let file = File::open(&path).map_err(Error::io(&path))?;
        file.read_exact_at(&mut bytes, start * Pair::BYTES as u64).map_err(Error::io(&path))?;
        Ok(bytes.chunks_exact(Pair::BYTES).map(Pair::decode).collect())
    }

    /// Replaces the pairs by those that `write` appends.
    pub fn replace_pairs(
        &mut self,
        mut write: impl FnMut(&Files, &mut dyn FnMut(&[Pair]) -> Result<()>) -> Result<()>,
    ) -> Result<()> {
        self.flush()?;
        let path = self.folder.join(NAMES[PAIRS]);
        let mut file = NewFile::create(&path)?;
        write(self, &mut |pairs| pairs.iter().try_for_each(|pair| file.append(&pair.encode())))?;
        self.lengths[PAIRS] = file.finish()?;
        let mut file = DurableFile::open(&path)?;
        file.cut(self.lengths[PAIRS])?;
        self.files[PAIRS] = BufWriter::with_capacity(BUFFER, file);
        Ok(())
    }

    /// Writes the leader of each document.
    pub fn write_leaders(&self, leaders: &[u32]) -> Result<()> {
        let mut file = NewFile::create(&self.folder.join(LEADERS))?;
        leaders.chunks(BUFFER).try_for_each(|some| file.append(&bytes_of(some)))?;
        file.finish().map(drop)
    }

    /// The leader of each document.
    pub fn leaders(&self) -> Result<Vec<u32>> {
        let path = self.folder.join(LEADERS);
        let bytes = std::fs::read(&path).map_err(Error::io(&path))?;
        Ok(numbers_of(&bytes))
    }
}

fn push_numbers(bytes: &mut Vec<u8>, numbers: &[u32]) {
    let start = bytes.len();
    bytes.resize(start + size_of_val(numbers), 0);
    let (places, _) = bytes[start..].as_chunks_mut();
    places.iter_mut().zip(numbers).for_each(|(place, number)| *place = number.to_le_bytes());
}

fn bytes_of(numbers: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::new();
    push_numbers(&mut bytes, numbers);
    bytes
}

fn numbers_of(bytes: &[u8]) -> Vec<u32> {
    numbers_in(bytes).collect()
}

/// The numbers that were written.
pub fn numbers_in(bytes: &[u8]) -> impl ExactSizeIterator<Item = u32> {
    bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes))
}

fn wide(bytes: &[u8]) -> u128 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u128::from(*byte))
}

/// What was added, for reading from several threads.
pub struct Stored {
    folder: PathBuf,
    files: Vec<File>,
    /// The number of documents.
    pub documents: u64,
}

impl Stored {
    fn open(folder: &Path, documents: u64) -> Result<Stored> {
        let open = |name: &&str| {
            let path = folder.join(name);
            File::open(&path).map_err(Error::io(&path))
        };
        let files = NAMES.iter().map(open).collect::<Result<_>>()?;
        Ok(Stored { folder: folder.to_path_buf(), files, documents })
    }

    fn read(&self, file: usize, bytes: Range<u64>) -> Result<Vec<u8>> {
        let mut read = vec![0; (bytes.end - bytes.start) as usize];
        self.read_into(file, bytes.start, &mut read)?;
        Ok(read)
    }

    fn read_into(&self, file: usize, start: u64, bytes: &mut [u8]) -> Result<()> {
        let path = || self.folder.join(NAMES[file]);
        self.files[file].read_exact_at(bytes, start).map_err(|error| Error::io(path())(error))
    }

    /// Ranges of documents that are read together.
    pub fn ranges(&self) -> impl Iterator<Item = Range<u64>> + use<> {
        let documents = self.documents;
        (0..documents).step_by(DOCUMENTS as usize).map(move |start| start..documents.min(start + DOCUMENTS))
    }

    /// The digests of a range of documents.
    pub fn digests(&self, documents: Range<u64>) -> Result<Vec<u128>> {
        let size = DIGEST as u64;
        let bytes = self.read(0, documents.start * size..documents.end * size)?;
        Ok(bytes.chunks_exact(DIGEST).map(wide).collect())
    }

    /// The SimHashes of all documents.
    pub fn simhashes(&self) -> Result<Vec<u128>> {
        let bytes = self.read(4, 0..self.documents * DIGEST as u64)?;
        Ok(bytes.chunks_exact(DIGEST).map(wide).collect())
    }

    /// Where the signals (0) or keys (1) of documents begin, and where those of the last end.
    fn bounds(&self, documents: Range<u64>, of: usize) -> Result<Vec<u64>> {
        let size = ENDS as u64;
        let first = documents.start.saturating_sub(1);
        let bytes = self.read(3, first * size..documents.end * size)?;
        let ends = bytes.chunks_exact(ENDS).map(|ends| wide(&ends[8 * of..8 * of + 8]) as u64);
        Ok((documents.start == 0).then_some(0).into_iter().chain(ends).collect())
    }

    fn numbers(&self, file: usize, range: Range<u64>) -> Result<Vec<u32>> {
        let size = SIGNAL as u64;
        Ok(numbers_of(&self.read(file, range.start * size..range.end * size)?))
    }

    /// Puts the signals of a document, in their order, into a buffer of [`numbers_in`].
    pub fn read_signals(&self, document: u32, bytes: &mut Vec<u8>) -> Result<()> {
        self.read_numbers(document, 0, bytes)
    }

    /// The same with its keys, in order.
    pub fn read_keys(&self, document: u32, bytes: &mut Vec<u8>) -> Result<()> {
        self.read_numbers(document, 1, bytes)
    }

    /// Puts the signals (0) or keys (1) of a document into a buffer.
    fn read_numbers(&self, document: u32, of: usize, bytes: &mut Vec<u8>) -> Result<()> {
        // Where those of the document before end, and its own; the first one has none before it.
        let mut ends = [0; 2 * ENDS];
        match document.checked_sub(1) {
            Some(before) => self.read_into(3, u64::from(before) * ENDS as u64, &mut ends)?,
            None => self.read_into(3, 0, &mut ends[ENDS..])?,
        }
        let [start, end] =
            [0, ENDS].map(|at| SIGNAL as u64 * wide(&ends[at + 8 * of..at + 8 * of + 8]) as u64);
        // What is read over need not be cleared.
        bytes.resize((end - start) as usize, 0);
        self.read_into(1 + of, start, bytes)
    }

    /// Calls `tell` with the number and the keys of each document of a range, in order.
    pub fn keys(&self, documents: Range<u64>, mut tell: impl FnMut(u32, &[u32])) -> Result<()> {
        let bounds = self.bounds(documents.clone(), 1)?;
        let (Some(start), Some(end)) = (bounds.first(), bounds.last()) else { return Ok(()) };
        let keys = self.numbers(2, *start..*end)?;
        for (document, ends) in documents.zip(bounds.windows(2)) {
            tell(document as u32, &keys[(ends[0] - start) as usize..(ends[1] - start) as usize]);
        }
        Ok(())
    }

    /// The number of all keys.
    pub fn count_keys(&self) -> Result<u64> {
        self.count(1)
    }

    /// The number of all signals, repeated ones too.
    pub fn count_signals(&self) -> Result<u64> {
        self.count(0)
    }

    fn count(&self, of: usize) -> Result<u64> {
        let last = self.documents.saturating_sub(1)..self.documents;
        Ok(self.bounds(last, of)?.last().copied().unwrap_or(0))
    }

    /// Calls `visit` with the signals of each document of a range, in order.
    pub fn for_signals(&self, documents: Range<u64>, mut visit: impl FnMut(&[u32])) -> Result<()> {
        let mut bytes = Vec::new();
        for document in documents {
            self.read_signals(document as u32, &mut bytes)?;
            visit(&numbers_of(&bytes));
        }
        Ok(())
    }
}
