//! Bit streams, the first bit of a byte being its lowest, as in dsi-bitstream's little-endian order.
//!
//! The writer buffers 64 bits and appends eight bytes at a time. The reader looks at the stream through a
//! window: the next bits, in the low bits of a 64-bit word. A window costs a load and a shift, and at least
//! [`WINDOW`] of its bits are valid, so that nearly every codeword is decoded within one. Past the end of the
//! bytes the stream reads as zeros; skipping past the end is detected by [`BitReader::end`].
//!
//! Why lowest bit first: counting trailing zeros is a fast instruction on every x86-64, counting leading
//! zeros only on CPUs that a portable build may not require, and no byte swap is needed.

/// How many bits of a window are valid, whatever the position.
pub const WINDOW: u32 = 57;

/// A sink for bits: bytes, or text.
pub trait Bits {
    /// Appends the lowest `width` bits of `value`, of which the higher ones are zero.
    fn write(&mut self, value: u64, width: u32);

    /// Appends `zeros` zeros and a one.
    #[inline]
    fn write_unary(&mut self, mut zeros: u64) {
        while zeros >= 63 {
            self.write(0, 63);
            zeros -= 63;
        }
        self.write(1 << zeros, zeros as u32 + 1);
    }
}

/// A source of bits, in the fields that a [`Bits`] wrote.
pub trait BitSource {
    /// Reads `width` bits, at most 64; `None` past the end.
    fn read(&mut self, width: u32) -> Option<u64>;

    /// Reads a unary code: the number of zeros before the next one.
    fn read_unary(&mut self) -> Option<u64>;
}

/// Appends bits to bytes.
pub struct BitWriter<'a> {
    bytes: &'a mut Vec<u8>,
    /// The bits that are not in `bytes` yet, in the low bits.
    buffer: u64,
    filled: u32,
}

impl<'a> BitWriter<'a> {
    /// A stream that is appended to `bytes`.
    pub fn new(bytes: &'a mut Vec<u8>) -> Self {
        BitWriter { bytes, buffer: 0, filled: 0 }
    }

    /// Flushes, padding the last byte with zeros.
    pub fn finish(self) {
        let whole = self.buffer.to_le_bytes();
        self.bytes.extend_from_slice(&whole[..self.filled.div_ceil(8) as usize]);
    }
}

impl Bits for BitWriter<'_> {
    #[inline]
    fn write(&mut self, value: u64, width: u32) {
        debug_assert!(width <= 64 && (width == 64 || value >> width == 0));
        self.buffer |= value << self.filled;
        let room = 64 - self.filled;
        if width < room {
            self.filled += width;
            return;
        }
        self.bytes.extend_from_slice(&self.buffer.to_le_bytes());
        self.filled = width - room;
        self.buffer = if self.filled == 0 { 0 } else { value >> room };
    }
}

/// Reads bits off the front of bytes.
#[derive(Clone)]
pub struct BitReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> BitReader<'a> {
    /// A stream that begins with the first bit of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        BitReader { bytes, at: 0 }
    }

    /// The next bits, in the low bits; at least [`WINDOW`] are valid.
    #[inline(always)]
    pub fn window(&self) -> u64 {
        window(self.bytes, self.at)
    }

    /// The bytes, and how many of their bits have been read.
    #[inline(always)]
    pub fn position(&self) -> (&'a [u8], usize) {
        (self.bytes, self.at)
    }

    /// Skips bits, possibly past the end: see [`Self::end`].
    #[inline(always)]
    pub fn skip(&mut self, bits: usize) {
        self.at += bits;
    }

    /// Goes on at bit `at`, possibly past the end: see [`Self::end`].
    #[inline(always)]
    pub fn seek(&mut self, at: usize) {
        self.at = at;
    }

    /// How many bits are left.
    pub fn left(&self) -> usize {
        (self.bytes.len() * 8).saturating_sub(self.at)
    }

    /// Reads `width` bits, at most 64.
    #[inline]
    pub fn read(&mut self, width: u32) -> Option<u64> {
        if width > WINDOW {
            let low = self.read(32)?;
            return Some(self.read(width - 32)? << 32 | low);
        }
        let value = lowest(self.window(), width);
        self.skip(width as usize);
        self.within().then_some(value)
    }

    /// Reads a unary code: the number of zeros before the next one.
    #[inline]
    pub fn read_unary(&mut self) -> Option<u64> {
        let mut zeros = 0;
        loop {
            let run = self.window().trailing_zeros().min(WINDOW);
            self.skip(run as usize);
            zeros += u64::from(run);
            if run < WINDOW {
                self.skip(1);
                return self.within().then_some(zeros);
            }
            if !self.within() {
                return None;
            }
        }
    }

    /// The bytes after the last one that was started; `None` if the stream was read past its end.
    pub fn end(&self) -> Option<&'a [u8]> {
        self.bytes.get(self.at.div_ceil(8)..)
    }

    #[inline(always)]
    fn within(&self) -> bool {
        self.at <= self.bytes.len() * 8
    }
}

impl BitSource for BitReader<'_> {
    #[inline]
    fn read(&mut self, width: u32) -> Option<u64> {
        BitReader::read(self, width)
    }

    #[inline]
    fn read_unary(&mut self) -> Option<u64> {
        BitReader::read_unary(self)
    }
}

/// The lowest `width` bits, at most 63.
#[inline(always)]
pub fn lowest(value: u64, width: u32) -> u64 {
    value & ((1 << width) - 1)
}

/// The bits of `bytes` from bit `at` on, in the low bits.
#[inline(always)]
pub fn window(bytes: &[u8], at: usize) -> u64 {
    let rest = bytes.get(at >> 3..).unwrap_or_default();
    let word = match rest.first_chunk() {
        Some(eight) => u64::from_le_bytes(*eight),
        None => last_word(rest),
    };
    word >> (at & 7)
}

#[cold]
fn last_word(rest: &[u8]) -> u64 {
    let mut eight = [0; 8];
    eight[..rest.len()].copy_from_slice(rest);
    u64::from_le_bytes(eight)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn gives_back_what_was_written(
            pieces in prop::collection::vec((any::<u64>(), 0u32..=64, prop::option::weighted(0.2, 0u64..300)), 0..60),
            before in prop::collection::vec(any::<u8>(), 0..3),
        ) {
            let mut bytes = before.clone();
            let mut writer = BitWriter::new(&mut bytes);
            let low = |value: u64, width| if width == 0 { 0 } else { value >> (64 - width) };
            let mut bits = 0;
            for (value, width, unary) in &pieces {
                match unary {
                    Some(zeros) => writer.write_unary(*zeros),
                    None => writer.write(low(*value, *width), *width),
                }
                bits += unary.map_or(*width as usize, |zeros| zeros as usize + 1);
            }
            writer.finish();
            prop_assert_eq!(&bytes[..before.len()], &before);
            prop_assert_eq!(bytes.len() - before.len(), bits.div_ceil(8));
            let mut reader = BitReader::new(&bytes[before.len()..]);
            for (value, width, unary) in &pieces {
                match unary {
                    Some(zeros) => prop_assert_eq!(reader.read_unary(), Some(*zeros)),
                    None => prop_assert_eq!(reader.read(*width), Some(low(*value, *width))),
                }
            }
            prop_assert_eq!(reader.end(), Some(&[][..]));
            prop_assert_eq!(reader.read(8), None);
            prop_assert_eq!(reader.read_unary(), None);
            prop_assert_eq!(reader.end(), None);
        }
    }
}
