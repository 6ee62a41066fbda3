//! One static model: the frequency of each symbol, and the tables for push and pop.
//!
//! A state x is a number from 2^d to 2^(d+1) − 1 (d = 11), whose low d bits are its slot. Of the 2^d slots f_s
//! belong to symbol s, f_s / 2^d being its probability. In the notes' terms:
//!
//! ```text
//! push(x, s)   low bits of x are written until f_s ≤ x < 2 f_s; then x becomes the (x − f_s)-th slot of s
//! sym(x)       the symbol whose slot x is
//! pop(x)       f_s + how many slots of s are before x; then bits are read until 2^d ≤ x
//! ```
//!
//! The notes give s consecutive slots, from c_s on. Here the slots of a symbol are spread over all of them
//! (as in tANS): with states this small, that is what makes x grow by 1/p at every push, whatever x is, so
//! that a symbol costs log₂ 1/p bits. Everything is in tables: popping is one lookup of eight bytes, which
//! also hold the number range of the symbol.
//!
//! Sources: Jarek Duda, "Asymmetric numeral systems", 2013; Yann Collet's Finite State Entropy for the spread.

use super::buckets::{ESCAPE, SYMBOLS, bucket};

/// The binary logarithm of the number of slots.
pub const LOG: u32 = 11;
/// The number of slots.
pub const SLOTS: usize = 1 << LOG;
/// The distance from one slot of a symbol to the next; odd, so that every slot is visited.
const STEP: usize = SLOTS / 8 * 5 + 3;
/// The unit of [`Model::cost`], in bits.
pub const COST_OF_BIT: f64 = 256.0;

/// The decoding entry of a slot.
#[derive(Clone, Copy, Default)]
pub struct Slot {
    /// The smallest number of the symbol.
    pub base: u32,
    /// The next slot, to which the bits read for it are added.
    pub next: u16,
    /// How many bits are read for the next slot.
    pub bits: u8,
    /// How many raw bits of the number follow.
    pub raw: u8,
}

/// A model, ready to encode and decode.
pub struct Model {
    frequencies: [u16; SYMBOLS],
    costs: [u32; SYMBOLS],
    slots: Box<[Slot; SLOTS]>,
    /// The slots of all symbols, ordered by symbol.
    of_symbols: Box<[u16; SLOTS]>,
    /// Where the slots of each symbol begin in `of_symbols`.
    starts: [u16; SYMBOLS],
}

impl Model {
    /// A model from frequencies that add up to [`SLOTS`]; the escape must have a nonzero one.
    pub fn new(frequencies: [u16; SYMBOLS]) -> Option<Model> {
        let sum: usize = frequencies.iter().map(|frequency| usize::from(*frequency)).sum();
        if sum != SLOTS || frequencies[ESCAPE] == 0 {
            return None;
        }
        let mut model = Model {
            frequencies,
            costs: [0; SYMBOLS],
            slots: Box::new([Slot::default(); SLOTS]),
            of_symbols: Box::new([0; SLOTS]),
            starts: [0; SYMBOLS],
        };
        model.fill();
        Some(model)
    }

    fn fill(&mut self) {
        let mut symbols = [0; SLOTS];
        let (mut slot, mut start) = (0, 0);
        for (symbol, frequency) in self.frequencies.iter().enumerate() {
            self.starts[symbol] = start;
            start += frequency;
            for _ in 0..*frequency {
                symbols[slot] = symbol;
                slot = (slot + STEP) % SLOTS;
            }
        }
        let mut met = [0; SYMBOLS];
        for (slot, symbol) in symbols.into_iter().enumerate() {
            let state = self.frequencies[symbol] + met[symbol];
            self.of_symbols[usize::from(self.starts[symbol] + met[symbol])] = slot as u16;
            met[symbol] += 1;
            let bits = LOG - state.ilog2();
            let (base, raw) = bucket(symbol);
            let next = (usize::from(state) << bits) - SLOTS;
            self.slots[slot] = Slot { base, next: next as u16, bits: bits as u8, raw: raw as u8 };
        }
        for symbol in 0..SYMBOLS {
            let known = if self.frequencies[symbol] > 0 { symbol } else { ESCAPE };
            let bits =
                f64::from(LOG) - libm::log2(f64::from(self.frequencies[known])) + f64::from(bucket(known).1);
            self.costs[symbol] = (bits * COST_OF_BIT) as u32;
        }
    }

    /// The frequency of each symbol.
    pub fn frequencies(&self) -> &[u16; SYMBOLS] {
        &self.frequencies
    }

    /// The cost of a number of a symbol, including its raw bits, in units of 1/256 bit.
    #[inline]
    pub fn cost(&self, symbol: usize) -> u32 {
        self.costs[symbol]
    }

    /// The symbol itself, or the escape if it has no slot.
    #[inline]
    pub fn known(&self, symbol: usize) -> usize {
        if self.frequencies[symbol] > 0 { symbol } else { ESCAPE }
    }

    /// A slot of a known symbol: an initial state that costs nothing.
    #[inline]
    pub fn first(&self, symbol: usize) -> u32 {
        u32::from(self.of_symbols[usize::from(self.starts[symbol])])
    }

    /// Pushes a known symbol: returns the next slot, and the bits written with their width.
    #[inline]
    pub fn push(&self, slot: u32, symbol: usize) -> (u32, u64, u32) {
        let frequency = u32::from(self.frequencies[symbol]);
        let state = slot + SLOTS as u32;
        let most = LOG - frequency.ilog2();
        let bits = most - u32::from(state >> most < frequency);
        let place = u32::from(self.starts[symbol]) + (state >> bits) - frequency;
        (u32::from(self.of_symbols[place as usize]), u64::from(state & ((1 << bits) - 1)), bits)
    }

    /// The decoding entry of a slot; only the lowest bits of `slot` are used.
    #[inline(always)]
    pub fn pop(&self, slot: usize) -> Slot {
        self.slots[slot % SLOTS]
    }
}
