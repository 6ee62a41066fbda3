//! Bit streams, the first bit of a byte being its highest.

use crate::codes::bits::{BitSource, Bits, WINDOW};

/// Appends bits to bytes.
#[derive(Default)]
pub struct BigEndianWriter {
    bytes: Vec<u8>,
    /// The bits that are not in `bytes` yet, in the high bits.
    buffer: u64,
    filled: u32,
}

impl BigEndianWriter {
    /// Removes the whole bytes written so far.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// Flushes, padding the last word of 64 bits with zeros, as WebGraph's readers want; returns the last bytes.
    pub fn finish(mut self) -> Vec<u8> {
        if self.filled > 0 {
            self.bytes.extend(self.buffer.to_be_bytes());
        }
        self.bytes
    }
}

impl Bits for BigEndianWriter {
    fn write(&mut self, value: u64, width: u32) {
        if width == 0 {
            return;
        }
        let room = 64 - self.filled;
        if width < room {
            self.buffer |= value << (room - width);
            self.filled += width;
            return;
        }
        self.filled = width - room;
        self.bytes.extend((self.buffer | value >> self.filled).to_be_bytes());
        self.buffer = if self.filled == 0 { 0 } else { value << (64 - self.filled) };
    }

    fn write_unary(&mut self, mut zeros: u64) {
        while zeros >= 63 {
            self.write(0, 63);
            zeros -= 63;
        }
        self.write(1, zeros as u32 + 1);
    }
}

/// Reads bits off the front of bytes.
pub struct BigEndianReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> BigEndianReader<'a> {
    /// A stream that begins with the first bit of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        BigEndianReader { bytes, at: 0 }
    }

    /// The next bits, in the high bits; at least [`WINDOW`] are valid.
    #[inline]
    fn window(&self) -> u64 {
        let rest = self.bytes.get(self.at >> 3..).unwrap_or_default();
        let word = rest.first_chunk().copied().unwrap_or_else(|| {
            let mut eight = [0; 8];
            eight[..rest.len()].copy_from_slice(rest);
            eight
        });
        u64::from_be_bytes(word) << (self.at & 7)
    }
}

impl BitSource for BigEndianReader<'_> {
    #[inline]
    fn read(&mut self, width: u32) -> Option<u64> {
        if width > WINDOW {
            let high = self.read(width - 32)?;
            return Some(high << 32 | self.read(32)?);
        }
        let value = if width == 0 { 0 } else { self.window() >> (64 - width) };
        self.at += width as usize;
        (self.at <= self.bytes.len() * 8).then_some(value)
    }

    #[inline]
    fn read_unary(&mut self) -> Option<u64> {
        let mut zeros = 0;
        loop {
            let run = self.window().leading_zeros().min(WINDOW);
            self.at += run as usize;
            zeros += u64::from(run);
            if run < WINDOW {
                self.at += 1;
                return (self.at <= self.bytes.len() * 8).then_some(zeros);
            }
            if self.at > self.bytes.len() * 8 {
                return None;
            }
        }
    }
}

/// A stream that knows its position.
pub trait Positioned: BitSource {
    /// How many bits have been read.
    fn position(&self) -> u64;
}

impl Positioned for BigEndianReader<'_> {
    fn position(&self) -> u64 {
        self.at as u64
    }
}

impl Positioned for crate::codes::bits::BitReader<'_> {
    fn position(&self) -> u64 {
        crate::codes::bits::BitReader::position(self).1 as u64
    }
}
