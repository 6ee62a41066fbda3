//! Asymmetric numeral systems: the smallest lists.
//!
//! A list's symbols (see [`buckets`]) are pushed, the last one first, on a number that grows by a factor of
//! 1/p at each, p being what a static [`model`] gives the symbol; so the list takes as many bits as the
//! entropy says, also fractions of a bit a number. Reading pops them, the first one first. Which of the
//! models is best is said in the list, and so is which other code is better than all of them: for few
//! numbers the state is too much to write.
//!
//! ```text
//! n = 1     variable byte code
//! 6 bits    below 32: how the list is written without a model (0 zeros, 1 γ, 2 δ, 3 to 5 ζ₂ to ζ₄, 6 nibbles,
//!           from 7 on Rice with parameter 0 to 24); from 32 on: the model, less 32
//! 11 bits   the slot from which the first number is popped
//! then, for each number, its raw bits and, but for the last one, the bits to the next slot
//! ```
//!
//! filled up with zeros to a byte for every 128 numbers. Popping the last number needs no slot after it, so the
//! list begins in a slot of that number's symbol, and the state costs 11 bits less what that symbol would
//! have: about nine. A number is decoded with one look-up and one window, in about 4 ns.

pub mod buckets;
pub mod model;
pub mod training;

use buckets::{SYMBOLS, bucket, symbol};
use model::{COST_OF_BIT, LOG, Model, SLOTS};

use super::bits::{BitReader, BitWriter, Bits, WINDOW, lowest, window};
use super::words::{Blocks, Delta, Gamma, Rice, Words, Zeta};
use super::{lists, variable_byte};
use crate::Result;

const WIDTH_OF_HEAD: u32 = 6;
const FIRST_MODEL: u64 = 32;
const ZEROS: u64 = 0;
const FIRST_RICE: u64 = 7;
const LAST_RICE: u32 = 24;
/// From so many numbers on, the models do better than any code but, at times, Rice's.
const MANY: usize = 64;
/// How many numbers a byte stands for at most, so that a nonsensical length does not become an allocation.
const NUMBERS_PER_BYTE: usize = 128;

/// The models of a kind of lists.
pub struct Models(Vec<Model>);

impl Models {
    /// Models for any lists.
    pub fn untrained() -> Models {
        Models(training::untrained())
    }

    /// Models fitted to a sample.
    pub fn train(sample: &[Vec<u32>]) -> Models {
        Models(training::train(sample))
    }

    /// How many there are, and the frequencies of each, in variable byte code.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![self.0.len() as u8];
        for model in &self.0 {
            model
                .frequencies()
                .iter()
                .for_each(|frequency| variable_byte::write(u64::from(*frequency), &mut bytes));
        }
        bytes
    }

    /// Models from what [`Self::to_bytes`] gave; `None` where that is damaged.
    pub fn from_bytes(mut bytes: &[u8]) -> Option<Models> {
        let (&count, rest) = bytes.split_first()?;
        bytes = rest;
        if count == 0 || usize::from(count) > training::MODELS {
            return None;
        }
        let mut models = Vec::with_capacity(usize::from(count));
        for _ in 0..count {
            let mut frequencies = [0; SYMBOLS];
            for frequency in &mut frequencies {
                *frequency = variable_byte::read(&mut bytes)?.try_into().ok()?;
            }
            models.push(Model::new(frequencies)?);
        }
        bytes.is_empty().then_some(Models(models))
    }

    /// Appends `numbers`.
    pub fn write(&self, numbers: &[u32], bytes: &mut Vec<u8>) -> Result<()> {
        if numbers.len() < 2 {
            numbers.iter().for_each(|number| variable_byte::write(u64::from(*number), bytes));
            return Ok(());
        }
        let start = bytes.len();
        let (plain, bits_of_plain) = without_model(numbers);
        let (best, cost) = training::best(&self.0, &training::counts(numbers));
        let state_and_numbers = u64::from(LOG) + (cost as f64 / COST_OF_BIT) as u64;
        // The cost counts the last number's symbol, which is free: at most the width of a slot.
        if state_and_numbers < bits_of_plain + 2 * u64::from(LOG) {
            self.write_with(best, numbers, bytes);
        }
        let written = bytes.len() - start;
        let plain_bytes = (u64::from(WIDTH_OF_HEAD) + bits_of_plain).div_ceil(8) as usize;
        if written == 0 || plain_bytes <= written {
            bytes.truncate(start);
            write_plain(plain, numbers, bytes)?;
        }
        let least = start + numbers.len().div_ceil(NUMBERS_PER_BYTE);
        if bytes.len() < least {
            bytes.resize(least, 0);
        }
        Ok(())
    }

    fn write_with(&self, number_of_model: usize, numbers: &[u32], bytes: &mut Vec<u8>) {
        let model = &self.0[number_of_model];
        let Some((last, others)) = numbers.split_last() else { return };
        let known = model.known(symbol(*last));
        let mut slot = model.first(known);
        let mut pieces = Vec::with_capacity(numbers.len());
        let (base, raw) = bucket(known);
        pieces.push((u64::from(last - base), raw));
        for number in others.iter().rev() {
            let known = model.known(symbol(*number));
            let (base, raw) = bucket(known);
            let (next, low, bits) = model.push(slot, known);
            pieces.push((low << raw | u64::from(number - base), raw + bits));
            slot = next;
        }
        let mut bits = BitWriter::new(bytes);
        bits.write(FIRST_MODEL + number_of_model as u64, WIDTH_OF_HEAD);
        bits.write(u64::from(slot), LOG);
        pieces.iter().rev().for_each(|(piece, width)| bits.write(*piece, *width));
        bits.finish();
    }

    /// Takes `n` numbers off the front of `bytes` into `numbers`, whose content they replace.
    pub fn read(&self, bytes: &mut &[u8], n: usize, numbers: &mut Vec<u32>) -> Option<()> {
        numbers.clear();
        let least = n.div_ceil(NUMBERS_PER_BYTE);
        if least > bytes.len() {
            return None;
        }
        if n < 2 {
            for _ in 0..n {
                numbers.push(variable_byte::read_u32(bytes)?);
            }
            return Some(());
        }
        numbers.resize(n, 0);
        let mut bits = BitReader::new(bytes);
        let head = bits.read(WIDTH_OF_HEAD)?;
        match head.checked_sub(FIRST_MODEL) {
            None => read_plain(head, &mut bits, numbers)?,
            Some(model) => read_with(self.0.get(model as usize)?, &mut bits, numbers)?,
        }
        let after = bits.end()?;
        let taken = (bytes.len() - after.len()).max(least);
        *bytes = &bytes[taken..];
        Some(())
    }
}

fn read_with(model: &Model, bits: &mut BitReader, places: &mut [u32]) -> Option<()> {
    let mut slot = bits.read(LOG)? as usize;
    let (bytes, start) = bits.position();
    let mut at = start;
    let (last, others) = places.split_last_mut()?;
    for place in others {
        let found = model.pop(slot);
        let seen = window(bytes, at);
        let (raw, more) = (u32::from(found.raw), u32::from(found.bits));
        *place = found.base + lowest(seen, raw) as u32;
        slot = usize::from(found.next) + lowest(seen >> raw, more) as usize;
        at += (raw + more) as usize;
    }
    let found = model.pop(slot);
    *last = found.base + lowest(window(bytes, at), u32::from(found.raw)) as u32;
    bits.skip(at - start + usize::from(found.raw));
    Some(())
}

const _: () = assert!(32 + LOG <= WINDOW && SLOTS <= 1 << 15);

/// The shortest way to write `numbers` without a model, and how many bits it takes after the head.
fn without_model(numbers: &[u32]) -> (u64, u64) {
    let sum: u64 = numbers.iter().map(|number| u64::from(*number)).sum();
    if sum == 0 {
        return (ZEROS, 0);
    }
    let mean = (sum / numbers.len() as u64 + 1).ilog2();
    let mut best = (ZEROS, u64::MAX);
    for parameter in mean.saturating_sub(1)..=mean.min(LAST_RICE) {
        let bits = total(Rice(parameter), numbers);
        if bits < best.1 {
            best = (FIRST_RICE + u64::from(parameter), bits);
        }
    }
    // Most ways are for what has no shape that a model could have, a handful of numbers; δ holds whatever comes.
    for way in if numbers.len() < MANY { 1..FIRST_RICE } else { 2..3 } {
        let bits = match way {
            1 => total(Gamma, numbers),
            2 => total(Delta, numbers),
            3..=5 => total(Zeta(way as u32 - 1), numbers),
            _ => total(Blocks(4), numbers),
        };
        if bits < best.1 {
            best = (way, bits);
        }
    }
    best
}

fn total<W: Words>(words: W, numbers: &[u32]) -> u64 {
    lists::length(words, numbers).unwrap_or(u64::MAX)
}

fn write_plain(way: u64, numbers: &[u32], bytes: &mut Vec<u8>) -> Result<()> {
    let mut bits = BitWriter::new(bytes);
    bits.write(way, WIDTH_OF_HEAD);
    match way {
        ZEROS => {}
        1 => lists::write(Gamma, numbers, &mut bits)?,
        2 => lists::write(Delta, numbers, &mut bits)?,
        3..=5 => lists::write(Zeta(way as u32 - 1), numbers, &mut bits)?,
        6 => lists::write(Blocks(4), numbers, &mut bits)?,
        _ => lists::write(Rice((way - FIRST_RICE) as u32), numbers, &mut bits)?,
    }
    bits.finish();
    Ok(())
}

fn read_plain(way: u64, bits: &mut BitReader, places: &mut [u32]) -> Option<()> {
    match way {
        ZEROS => {
            places.fill(0);
            Some(())
        }
        1 => lists::fill(Gamma, bits, places),
        2 => lists::fill(Delta, bits, places),
        3..=5 => lists::fill(Zeta(way as u32 - 1), bits, places),
        6 => lists::fill(Blocks(4), bits, places),
        _ => lists::fill(Rice((way - FIRST_RICE) as u32), bits, places),
    }
}
