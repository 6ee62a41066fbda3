//! Splitting bytes into complete lines, in one buffer of fixed size.

use std::io::{self, Read};

/// A longer line, in bytes, is not judged.
pub const LONGEST: usize = 1 << 20;

/// The result of a read.
pub enum Block<'a> {
    /// Complete lines; the last one of the stream may lack its terminator.
    Lines(&'a [u8]),
    /// A piece of a line that is too long.
    Long {
        /// The bytes.
        piece: &'a [u8],
        /// Whether the line ends with them.
        ends: bool,
    },
}

/// The buffer between a source and its lines.
pub struct Lines {
    buffer: Vec<u8>,
    /// The bytes read and not yet returned.
    start: usize,
    filled: usize,
    inside_long: bool,
    ended: bool,
}

impl Lines {
    /// An empty buffer.
    pub fn new() -> Self {
        let buffer = vec![0; LONGEST + 1];
        Lines { buffer, start: 0, filled: 0, inside_long: false, ended: false }
    }

    /// The next lines of the source, as soon as there are any; `None` at the end.
    pub fn next(&mut self, source: &mut impl Read) -> io::Result<Option<Block<'_>>> {
        loop {
            let waiting = self.start..self.filled;
            if self.inside_long && (!waiting.is_empty() || self.ended) {
                let newline = memchr::memchr(b'\n', &self.buffer[waiting.clone()]);
                self.start = newline.map_or(waiting.end, |newline| waiting.start + newline + 1);
                self.inside_long = newline.is_none() && !self.ended;
                let piece = &self.buffer[waiting.start..self.start];
                return Ok(Some(Block::Long { piece, ends: !self.inside_long }));
            }
            if self.ended {
                self.start = self.filled;
                return Ok((!waiting.is_empty()).then(|| Block::Lines(&self.buffer[waiting])));
            }
            if let Some(newline) = memchr::memrchr(b'\n', &self.buffer[waiting.clone()]) {
                self.start = waiting.start + newline + 1;
                return Ok(Some(Block::Lines(&self.buffer[waiting.start..self.start])));
            }
            if waiting.len() > LONGEST {
                self.inside_long = true;
                continue;
            }
            self.buffer.copy_within(waiting.clone(), 0);
            let read = source.read(&mut self.buffer[waiting.len()..])?;
            (self.start, self.filled) = (0, waiting.len() + read);
            self.ended = read == 0;
        }
    }
}
