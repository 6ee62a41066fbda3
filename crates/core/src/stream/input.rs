//! The input of a stream: a file or the standard input, plain, gzip or Zstandard.
//!
//! The compression is detected from the first bytes, never from the name. Multi-member gzip and multi-frame
//! Zstandard files (as parallel compressors write them) are read to the end.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use flate2::read::MultiGzDecoder;

use super::KeyOf;
use super::descriptor::Descriptor;
use crate::encoding::zstandard::Frames;
use crate::{Error, Pulse, Result};

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTANDARD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// The magic number of skippable Zstandard frames (the last four bits are free), which hold no data; a file
/// may begin with one.
const SKIPPABLE: &[u8] = &[0x2a, 0x4d, 0x18];

const BUFFER: usize = 1 << 17;
const WARC: &[u8] = b"WARC/";

/// One input, and how the keys of its lines are extracted.
#[derive(Clone, Debug)]
pub struct Input {
    /// The file; `None` is the standard input.
    pub path: Option<PathBuf>,
    /// The key of a line; `None`: detected from the first lines.
    pub key: Option<KeyOf>,
}

impl Input {
    fn name(&self) -> &Path {
        self.path.as_deref().unwrap_or(Path::new("standard input"))
    }

    /// The kind of key of the lines that begin with this block; `None` if it cannot be detected yet. A WARC
    /// file, whose lines are not worth comparing, is an error unless `lines` was requested.
    pub fn key_of(&self, block: &[u8]) -> Result<Option<KeyOf>> {
        if self.key.is_none() && block.starts_with(WARC) {
            let name = self.name().display();
            return Err(Error::Invalid(format!(
                "{name} is a WARC file, not a stream of lines; --format lines takes it for one all the same"
            )));
        }
        Ok(self.key.or_else(|| KeyOf::of_lines(block)))
    }

    /// Opens it, and detects its compression.
    pub fn open<'a>(&self, pulse: &'a Pulse<'a>) -> Result<Source<'a>> {
        let name = self.name();
        let descriptor = match &self.path {
            Some(path) => File::open(path).map(|file| Descriptor::new(file, pulse)),
            None => Descriptor::standard(io::stdin(), pulse),
        };
        let state = Rc::new(State::default());
        let mut raw = Raw { descriptor: descriptor.map_err(Error::io(name))?, state: Rc::clone(&state) };
        let mut source = Source { decoded: Box::new(io::empty()), state, name: name.to_owned() };
        let mut magic = Vec::new();
        let begun = raw.by_ref().take(ZSTANDARD.len() as u64).read_to_end(&mut magic);
        begun.map_err(|error| source.explain(error))?;
        let whole = Cursor::new(magic.clone()).chain(raw);
        source.decoded = if magic.starts_with(GZIP) {
            Box::new(MultiGzDecoder::new(BufReader::with_capacity(BUFFER, whole)))
        } else if magic == ZSTANDARD || (magic.ends_with(SKIPPABLE) && magic[0] >> 4 == 5) {
            Box::new(Frames::new(BufReader::with_capacity(BUFFER, whole)))
        } else {
            Box::new(whole)
        };
        Ok(source)
    }
}

/// An open input, decompressed.
pub struct Source<'a> {
    decoded: Box<dyn Read + 'a>,
    state: Rc<State>,
    name: PathBuf,
}

impl Source<'_> {
    /// The number of bytes of the file that were read, before decompression.
    pub fn position(&self) -> u64 {
        self.state.bytes.get()
    }

    /// Classifies an error while reading: the system's, Ctrl-C, or corrupt data.
    pub fn explain(&self, error: io::Error) -> Error {
        match self.state.failure.take() {
            Some(failure) => match failure.downcast::<Error>() {
                Ok(own) => own,
                Err(system) => Error::io(&self.name)(system),
            },
            None => Error::corrupt(&self.name, self.state.bytes.get(), error.to_string()),
        }
    }
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.decoded.read(buffer)
    }
}

/// What a decoder must not hide: how far the file was read, and why reading failed.
#[derive(Default)]
struct State {
    bytes: Cell<u64>,
    failure: RefCell<Option<io::Error>>,
}

struct Raw<'a> {
    descriptor: Descriptor<'a>,
    state: Rc<State>,
}

impl Read for Raw<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.descriptor.read(buffer) {
            Ok(read) => {
                self.state.bytes.set(self.state.bytes.get() + read as u64);
                Ok(read)
            }
            Err(error) => {
                self.state.failure.replace(Some(error));
                Err(io::Error::other("it could not be read"))
            }
        }
    }
}
