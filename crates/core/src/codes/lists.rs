//! Lists of naturals as concatenated codewords.

use super::bits::{BitReader, BitWriter, WINDOW, window};
use super::table::{MOST, Table, Tabled};
use super::words::Words;
use crate::{Error, Result};

/// An unsigned integer that lists are made of.
pub trait Natural: Copy + Default {
    /// As 64 bits.
    fn widened(self) -> u64;
    /// From 64 bits; `None` if it does not fit.
    fn narrowed(number: u64) -> Option<Self>;
    /// From eight bits.
    fn small(number: u8) -> Self;
}

impl Natural for u32 {
    #[inline(always)]
    fn widened(self) -> u64 {
        u64::from(self)
    }

    #[inline(always)]
    fn narrowed(number: u64) -> Option<u32> {
        u32::try_from(number).ok()
    }

    #[inline(always)]
    fn small(number: u8) -> u32 {
        u32::from(number)
    }
}

impl Natural for u64 {
    #[inline(always)]
    fn widened(self) -> u64 {
        self
    }

    #[inline(always)]
    fn narrowed(number: u64) -> Option<u64> {
        Some(number)
    }

    #[inline(always)]
    fn small(number: u8) -> u64 {
        u64::from(number)
    }
}

/// How many bits the codewords of `numbers` take in total.
pub fn length<W: Words, T: Natural>(words: W, numbers: &[T]) -> Result<u64> {
    numbers.iter().try_fold(0, |sum, number| Ok(sum + length_of(words, number.widened())?))
}

/// How many bits the codeword of `number` takes.
#[inline]
fn length_of<W: Words>(words: W, number: u64) -> Result<u64> {
    words.length(number).ok_or_else(|| {
        Error::Invalid(format!("{number} has no word in this code, or one that is far too long"))
    })
}

/// Appends the codewords of `numbers`.
pub fn write<W: Words, T: Natural>(words: W, numbers: &[T], bits: &mut BitWriter) -> Result<()> {
    for number in numbers {
        let number = number.widened();
        length_of(words, number)?;
        words.write(number, bits);
    }
    Ok(())
}

/// Decodes `n` codewords into `numbers`, replacing its contents.
#[inline]
pub fn read<W: Tabled, T: Natural>(
    words: W,
    bits: &mut BitReader,
    n: usize,
    numbers: &mut Vec<T>,
) -> Option<()> {
    numbers.clear();
    // A codeword takes at least a bit, so a corrupt `n` cannot cause a huge allocation.
    if n > bits.left() {
        return None;
    }
    numbers.resize(n, T::default());
    fill(words, bits, numbers)
}

/// Decodes as many codewords as there are `places`.
#[inline]
pub fn fill<W: Tabled, T: Natural>(words: W, bits: &mut BitReader, places: &mut [T]) -> Option<()> {
    let (bytes, start) = bits.position();
    let mut run = Run { words, bytes, at: start };
    let mut rest = places;
    let table = if rest.len() > MOST { words.table() } else { None };
    // The codeword length is estimated from the first codeword, then from the preceding ones.
    let mut average = words.peek(bits.window()).1 as usize;
    while !rest.is_empty() {
        let before = run.at;
        let group = rest.len().min(GROUP);
        let read = match (average, table) {
            (..FIRST_OF_PAIRS, Some(table)) if average <= W::SHORT && rest.len() > MOST => {
                run.by_table(table, rest)?
            }
            (..FIRST_OF_PAIRS, _) => run.by_hand::<3, T>(&mut rest[..group])?,
            (..FIRST_OF_SINGLES, _) => run.by_hand::<2, T>(&mut rest[..group])?,
            _ => run.by_hand::<1, T>(&mut rest[..group])?,
        };
        average = (run.at - before) / read;
        rest = &mut rest[read..];
    }
    bits.skip(run.at - start);
    bits.end().map(|_| ())
}

/// How many numbers are decoded one way before the choice is reconsidered.
const GROUP: usize = 32;
/// From this mean codeword length on, two codewords per window are decoded without a table, not three: more
/// rarely fit.
const FIRST_OF_PAIRS: usize = 18;
/// From this mean codeword length on, one codeword per window.
const FIRST_OF_SINGLES: usize = 26;

/// A position in a sequence of codewords; passed by value, so that it stays in a register.
struct Run<'a, W> {
    words: W,
    bytes: &'a [u8],
    at: usize,
}

impl<W: Words> Run<'_, W> {
    /// Decodes about [`GROUP`] numbers by table, as many as fit; returns how many.
    #[inline(always)]
    fn by_table<T: Natural>(&mut self, table: &Table, places: &mut [T]) -> Option<usize> {
        let mut at = self.at;
        let mut read = 0;
        while read < GROUP
            && let Some(some_places) = places.get_mut(read..read + MOST)
        {
            let seen = window(self.bytes, at);
            let (some, count, length) = table.look(seen);
            if count > 0 {
                for (place, number) in some_places.iter_mut().zip(some) {
                    *place = T::small(number);
                }
                at += length as usize;
                read += count;
                continue;
            }
            self.at = at;
            some_places[0] = self.one(seen)?;
            at = self.at;
            read += 1;
        }
        self.at = at;
        Some(read)
    }

    /// Decodes `TOGETHER` numbers per window, or one if their codewords do not fit; returns how many, which
    /// is all.
    #[inline(always)]
    fn by_hand<const TOGETHER: usize, T: Natural>(&mut self, places: &mut [T]) -> Option<usize> {
        let mut at = self.at;
        let mut read = 0;
        while let Some(some_places) = places.get_mut(read..read + TOGETHER) {
            let seen = window(self.bytes, at);
            let (mut rest, mut length) = (seen, 0);
            let mut numbers = [0; TOGETHER];
            for number in &mut numbers {
                let (found, its_length) = self.words.peek(rest);
                *number = found;
                rest = rest.wrapping_shr(its_length);
                length += its_length;
            }
            if length <= WINDOW {
                for (place, number) in some_places.iter_mut().zip(numbers) {
                    *place = T::narrowed(number)?;
                }
                at += length as usize;
                read += TOGETHER;
                continue;
            }
            self.at = at;
            some_places[0] = self.one(seen)?;
            at = self.at;
            read += 1;
        }
        self.at = at;
        for place in &mut places[read..] {
            *place = self.one(window(self.bytes, self.at))?;
        }
        Some(places.len())
    }

    #[inline(always)]
    fn one<T: Natural>(&mut self, seen: u64) -> Option<T> {
        let (number, length) = self.words.peek(seen);
        if length > WINDOW {
            return self.long();
        }
        self.at += length as usize;
        T::narrowed(number)
    }

    #[cold]
    fn long<T: Natural>(&mut self) -> Option<T> {
        let mut bits = BitReader::new(self.bytes);
        bits.skip(self.at);
        let number = T::narrowed(self.words.read(&mut bits)?);
        self.at = bits.position().1;
        number
    }
}
