//! Asymmetric numeral systems (tANS): the smallest encoding of lists.
//!
//! The symbols of a list (see [`buckets`]) are pushed, the last one first, onto a state that grows by a
//! factor of 1/p at each push, where p is the probability of the symbol in a static [`model`]; so the list
//! takes as many bits as its entropy under the model, including fractions of a bit per number. Decoding pops
//! them, the first one first. The head of a list says which of the models was used, or which other code was
//! shorter than all of them: for a few numbers the state costs too much.
//!
//! ```text
//! n = 1     variable byte code
//! n < 8     4 bits that say the code (0 zeros, 1 γ, 2 δ, 3 ζ₃, then Rice with 0 to 8, 10, 12, 14), and the
//!           codewords
//! 6 bits    below 32: how the list is written without a model (0 zeros, 1 γ, 2 δ, 3 to 5 ζ₂ to ζ₄, 6 nibbles,
//!           from 7 on Rice with parameter 0 to 24); from 32 on: the model, less 32
//! 11 bits   the slot from which the first number is popped
//! then, for each number, its raw bits and, but for the last one, the bits to the next slot
//! ```
//!
//! padded with zeros to one byte for every 128 numbers. Popping the last number needs no slot after it, so
//! the list begins in a slot of that number's symbol, and the state costs 11 bits less the bits of that
//! symbol: about nine. A number is decoded with one table lookup and one window, in about 4 ns.

pub mod buckets;
pub mod model;
mod plain;
pub mod training;

use buckets::{SYMBOLS, bucket, symbol};
use model::{COST_OF_BIT, LOG, Model, SLOTS};
use plain::{FEW, FEW_NUMBERS, MANY};

use super::bits::{BitReader, BitWriter, Bits, WINDOW, lowest, window};
use super::variable_byte;
use crate::Result;

/// The first head value that denotes a model.
const FIRST_MODEL: u64 = 32;
/// The maximum of numbers per byte, so that a corrupt length cannot cause a huge allocation.
const NUMBERS_PER_BYTE: usize = 128;

/// The models for one kind of lists.
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

    /// Serialises the models: their number and the frequencies of each, in variable byte code.
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

    /// Deserialises models written by [`Self::to_bytes`]; `None` if the bytes are corrupt.
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
        if numbers.len() < FEW_NUMBERS {
            let (head, _) = FEW.best(numbers);
            return FEW.write(head, numbers, bytes);
        }
        let start = bytes.len();
        let (head, plain) = MANY.best(numbers);
        let (best, cost) = training::best(&self.0, &training::counts(numbers));
        // With its head and its state a list takes more than `cost`, though the last number's symbol is free.
        if (cost as f64 / COST_OF_BIT) as u64 <= plain {
            self.write_with(best, numbers, bytes);
        }
        let written = bytes.len() - start;
        if written == 0 || plain.div_ceil(8) <= written as u64 {
            bytes.truncate(start);
            MANY.write(head, numbers, bytes)?;
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
        bits.write(FIRST_MODEL + number_of_model as u64, MANY.width());
        bits.write(u64::from(slot), LOG);
        pieces.iter().rev().for_each(|(piece, width)| bits.write(*piece, *width));
        bits.finish();
    }

    /// Decodes `n` numbers off the front of `bytes` into `numbers`, replacing its contents.
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
        let ways = if n < FEW_NUMBERS { FEW } else { MANY };
        let head = bits.read(ways.width())?;
        match head.checked_sub(FIRST_MODEL) {
            None => ways.read(head, &mut bits, numbers)?,
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
