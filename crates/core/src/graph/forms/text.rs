//! Text input: lines, or the numbers on them, of a plain, gzip or Zstandard file, with the line in every error.
//!
//! Lines end with LF or CR LF. A line is at most [`LONGEST`] bytes; [`Text::token`] has no such limit, since it
//! reads number by number. Memory: one buffer.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::stream::{Input, Source};
use crate::{Error, Pulse, Result};

/// The maximum length of a line in bytes.
pub const LONGEST: usize = 1 << 20;
const BUFFER: usize = 1 << 18;
/// The maximum length of a number, with its sign.
const DIGITS: usize = 40;

/// What is next on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// A number.
    Number(u64),
    /// The end of the line.
    EndOfLine,
    /// The end of the file.
    End,
}

/// An open text file.
pub struct Text<'a> {
    path: PathBuf,
    source: Source<'a>,
    pulse: &'a Pulse<'a>,
    /// The length of the file before decompression, for the progress.
    length: u64,
    buffer: Vec<u8>,
    at: usize,
    ended: bool,
    line: u64,
}

impl<'a> Text<'a> {
    /// Opens a file.
    pub fn open(path: &Path, pulse: &'a Pulse<'a>) -> Result<Text<'a>> {
        let metadata = std::fs::metadata(path).map_err(Error::io(path))?;
        if metadata.is_dir() {
            return Err(Error::Invalid(format!("{} is a folder, not the file of a graph", path.display())));
        }
        let source = Input { path: Some(path.to_owned()), key: None }.open(pulse)?;
        let mut text = Text {
            path: path.to_owned(),
            source,
            pulse,
            length: metadata.len(),
            buffer: Vec::new(),
            at: 0,
            ended: false,
            line: 0,
        };
        text.fill()?;
        if text.buffer.starts_with(b"\xef\xbb\xbf") {
            text.at = 3;
        }
        Ok(text)
    }

    /// The first bytes of the text, at least `wanted` unless it is shorter.
    pub fn sample(&mut self, wanted: usize) -> Result<&[u8]> {
        while self.buffer.len() < wanted && !self.ended {
            self.fill()?;
        }
        Ok(&self.buffer[self.at..])
    }

    /// The number of the current line, from 1.
    pub fn line_number(&self) -> u64 {
        self.line
    }

    /// The error for the current line.
    pub fn malformed(&self, reason: impl AsRef<str>) -> Error {
        self.malformed_at(self.line, reason)
    }

    /// The error for a line.
    pub fn malformed_at(&self, line: u64, reason: impl AsRef<str>) -> Error {
        Error::Invalid(format!("{}:{line}: {}", self.path.display(), reason.as_ref()))
    }

    /// The next line, without its end; `None` at the end of the file.
    pub fn line(&mut self) -> Result<Option<&[u8]>> {
        self.line += 1;
        let mut searched = 0;
        let end = loop {
            if let Some(found) = memchr::memchr(b'\n', &self.buffer[self.at + searched..]) {
                break self.at + searched + found;
            }
            if self.ended {
                break self.buffer.len();
            }
            searched = self.buffer.len() - self.at;
            if searched > LONGEST {
                return Err(self.malformed(format!("the line is longer than {LONGEST} bytes")));
            }
            self.fill()?;
        };
        let start = std::mem::replace(&mut self.at, (end + 1).min(self.buffer.len()));
        if start == self.buffer.len() && self.ended {
            return Ok(None);
        }
        let line = &self.buffer[start..end];
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }

    /// The next number, or the end of the line.
    pub fn token(&mut self) -> Result<Token> {
        loop {
            if self.buffer.len() - self.at < DIGITS && !self.ended {
                self.fill()?;
            }
            let Some(byte) = self.buffer.get(self.at) else { return Ok(Token::End) };
            match byte {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\n' => {
                    self.at += 1;
                    self.line += 1;
                    return Ok(Token::EndOfLine);
                }
                _ => break,
            }
        }
        let rest = &self.buffer[self.at..];
        let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len()).min(DIGITS);
        let word = &rest[..end];
        self.at += end;
        match number(word) {
            Some(number) => Ok(Token::Number(number)),
            None => {
                let word = String::from_utf8_lossy(&self.buffer[self.at - end..self.at]).into_owned();
                Err(self.malformed(not_a_number(&word)))
            }
        }
    }

    /// The first byte of what is next; `None` at the end of the file.
    pub fn peek(&mut self) -> Result<Option<u8>> {
        if self.at == self.buffer.len() && !self.ended {
            self.fill()?;
        }
        Ok(self.buffer.get(self.at).copied())
    }

    /// Skips the rest of the line, however long.
    pub fn skip_line(&mut self) -> Result<()> {
        loop {
            match memchr::memchr(b'\n', &self.buffer[self.at..]) {
                Some(found) => {
                    self.at += found + 1;
                    self.line += 1;
                    return Ok(());
                }
                None => self.at = self.buffer.len(),
            }
            if self.ended {
                return Ok(());
            }
            self.fill()?;
        }
    }

    /// Counts lines for a reader of tokens: the first is begun.
    pub fn begin(&mut self) {
        self.line = 1;
    }

    /// Reads more of the file.
    fn fill(&mut self) -> Result<()> {
        self.pulse.beat()?;
        self.buffer.drain(..self.at);
        self.at = 0;
        let read = (&mut self.source).take(BUFFER as u64).read_to_end(&mut self.buffer);
        match read {
            Ok(0) => self.ended = true,
            Ok(_) => {}
            Err(error) => return Err(self.source.explain(error)),
        }
        self.pulse.set(self.source.position(), self.length);
        Ok(())
    }
}

/// The value of digits; `None` if they are none, or exceed 64 bits.
#[inline]
pub fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 20 {
        return None;
    }
    digits.iter().try_fold(0u64, |number, digit| {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 { None } else { number.checked_mul(10)?.checked_add(u64::from(digit)) }
    })
}

/// Why a word is not a number that a node can have.
pub fn not_a_number(word: &str) -> String {
    let digits = word.strip_prefix('-').unwrap_or(word);
    match digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.is_empty() {
        true if digits.len() < word.len() => format!("{word} is negative"),
        true => format!("{word} is too large a number"),
        false => format!("{word:?} is not a number"),
    }
}
