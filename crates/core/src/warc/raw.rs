//! A range of a file, read forwards through a window, and again from any earlier offset.

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::os::unix::fs::FileExt;

const WINDOW: usize = 1 << 18;

/// The bytes of a file from an offset on, up to an end.
pub(super) struct Raw {
    file: File,
    end: u64,
    /// The offset of the window's first byte that was not read yet.
    position: u64,
    window: Vec<u8>,
    start: usize,
}

impl Raw {
    /// The bytes from `start` to `end`.
    pub fn new(file: File, start: u64, end: u64) -> Raw {
        Raw { file, end, position: start, window: Vec::new(), start: 0 }
    }

    /// The offset of the next byte.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The offset after the last byte.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Goes to an offset.
    pub fn seek(&mut self, offset: u64) {
        let back = self.position - self.start as u64;
        let inside = offset.checked_sub(back).filter(|inside| *inside <= self.window.len() as u64);
        match inside {
            Some(inside) => self.start = inside as usize,
            None => {
                self.window.clear();
                self.start = 0;
            }
        }
        self.position = offset;
    }

    /// Reads as much of what follows as the window has room for.
    pub fn top_up(&mut self) -> io::Result<()> {
        self.window.drain(..self.start);
        self.start = 0;
        let filled = self.window.len();
        let most = self.end.saturating_sub(self.position).min(WINDOW as u64) as usize;
        self.window.resize(most.max(filled), 0);
        let read = read_at_least(&self.file, &mut self.window[filled..], self.position + filled as u64);
        self.window.truncate(filled + *read.as_ref().unwrap_or(&0));
        read.map(drop)
    }

    /// The offset of the next occurrence of `needle`, at or after `from`; `None` if there is none.
    pub fn find(&mut self, needle: &[u8], from: u64) -> io::Result<Option<u64>> {
        let mut from = from;
        let mut bytes = vec![0; WINDOW];
        while from < self.end {
            let most = (self.end - from).min(WINDOW as u64) as usize;
            let read = read_at_least(&self.file, &mut bytes[..most], from)?;
            if let Some(found) = memchr::memmem::find(&bytes[..read], needle) {
                return Ok(Some(from + found as u64));
            }
            if read < most || read < needle.len() || from + read as u64 == self.end {
                break;
            }
            from += (read - needle.len() + 1) as u64;
        }
        Ok(None)
    }
}

fn read_at_least(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read_at(&mut buffer[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

impl BufRead for Raw {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.start == self.window.len() {
            self.top_up()?;
        }
        Ok(&self.window[self.start..])
    }

    fn consume(&mut self, amount: usize) {
        self.start += amount;
        self.position += amount as u64;
    }
}

impl Read for Raw {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut available = self.fill_buf()?;
        let read = available.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}
