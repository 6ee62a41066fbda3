//! Which lines go to the standard output, and how.

use std::io::{self, Write};

use super::descriptor::Descriptor;
use crate::{Error, Pulse, Result};

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emit {
    /// The lines that are not duplicates, unchanged.
    New,
    /// Every line, prefixed by `new`, `dup` or `bad` and a tab.
    Marked,
    /// Only the duplicates.
    Duplicates,
    /// Nothing.
    Nothing,
}

/// The verdict on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Its key was not seen before.
    New,
    /// Its key was seen before.
    Duplicate,
    /// It has no key that could be judged.
    Malformed,
}

impl Verdict {
    fn mark(self) -> &'static [u8] {
        match self {
            Verdict::New => b"new\t",
            Verdict::Duplicate => b"dup\t",
            Verdict::Malformed => b"bad\t",
        }
    }
}

/// The buffered standard output.
pub struct Output<'a> {
    emit: Emit,
    waiting: Vec<u8>,
    descriptor: Descriptor<'a>,
    inside_piece: bool,
}

impl<'a> Output<'a> {
    /// The standard output.
    pub fn new(emit: Emit, pulse: &'a Pulse<'a>) -> Result<Self> {
        let descriptor = Descriptor::standard(io::stdout(), pulse).map_err(explain)?;
        Ok(Output { emit, waiting: Vec::new(), descriptor, inside_piece: false })
    }

    /// Writes a line; adds a terminator if it has none.
    #[inline]
    pub fn line(&mut self, line: &[u8], verdict: Verdict) {
        match self.emit {
            Emit::Marked => self.waiting.extend_from_slice(verdict.mark()),
            Emit::New if verdict != Verdict::Duplicate => {}
            Emit::Duplicates if verdict == Verdict::Duplicate => {}
            _ => return,
        }
        self.waiting.extend_from_slice(line);
        if !line.ends_with(b"\n") {
            self.waiting.push(b'\n');
        }
    }

    /// A piece of a line that cannot be judged, and whether it is the last.
    pub fn piece(&mut self, piece: &[u8], ends: bool) {
        let first = !std::mem::replace(&mut self.inside_piece, !ends);
        match self.emit {
            Emit::Marked if first => self.waiting.extend_from_slice(Verdict::Malformed.mark()),
            Emit::Marked | Emit::New => {}
            Emit::Duplicates | Emit::Nothing => return,
        }
        self.waiting.extend_from_slice(piece);
        if ends && !piece.ends_with(b"\n") {
            self.waiting.push(b'\n');
        }
    }

    /// Flushes the buffer.
    pub fn flush(&mut self) -> Result<()> {
        self.descriptor.write_all(&self.waiting).map_err(explain)?;
        self.waiting.clear();
        Ok(())
    }
}

fn explain(error: io::Error) -> Error {
    match error.downcast::<Error>() {
        Ok(own) => own,
        Err(system) => Error::io("standard output")(system),
    }
}
