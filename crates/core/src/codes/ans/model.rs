//! One static model: how frequent each symbol is, and the tables that push and pop it.
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
//! The notes give s consecutive slots, from c_s on. Here a symbol's slots are spread over all of them (as in
//! tANS): with states this small that is what makes x grow by 1/p at every push, whatever x is, so that a
//! symbol costs log₂ 1/p bits. Everything is in tables: popping is one look-up of eight bytes, which have
//! the symbol's numbers, too.
//!
//! Sources: Jarek Duda, "Asymmetric numeral systems", 2013; Yann Collet's Finite State Entropy for the spread.

use super::buckets::{ESCAPE, SYMBOLS, bucket};

/// The binary logarithm of the number of slots.
pub const LOG: u32 = 11;
/// How many slots there are.
pub const SLOTS: usize = 1 << LOG;
/// From one slot of a symbol to the next; odd, so that every slot is met.
const STEP: usize = SLOTS / 8 * 5 + 3;
/// The unit of [`Model::cost`], in bits.
pub const COST_OF_BIT: f64 = 256.0;

/// What a slot's symbol means and where it leads.
#[derive(Clone, Copy, Default)]
pub struct Slot {
    /// The least number of the symbol.
    pub base: u32,
    /// The next slot, when the bits read for it are added.
    pub next: u16,
    /// How many bits are read for the next slot.
    pub bits: u8,
    /// How many bits of the number are read as they are.
    pub raw: u8,
}

/// A model, ready to code.
pub struct Model {
    frequencies: [u16; SYMBOLS],
    costs: [u32; SYMBOLS],
    slots: Box<[Slot; SLOTS]>,
    /// The slots of the first symbol, of the second …
    of_symbols: Box<[u16; SLOTS]>,
    /// Where a symbol's slots begin there.
    starts: [u16; SYMBOLS],
}

impl Model {
    /// A model of frequencies that add up to [`SLOTS`], of which that of the escape is not zero.
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

    /// How frequent each symbol is.
    pub fn frequencies(&self) -> &[u16; SYMBOLS] {
        &self.frequencies
    }

    /// What a number of a symbol costs, with its raw bits, in units of 1/256 bit.
    #[inline]
    pub fn cost(&self, symbol: usize) -> u32 {
        self.costs[symbol]
    }

    /// The symbol itself, or the escape where it has no slot.
    #[inline]
    pub fn known(&self, symbol: usize) -> usize {
        if self.frequencies[symbol] > 0 { symbol } else { ESCAPE }
    }

    /// Some slot of a known symbol: a beginning that costs nothing.
    #[inline]
    pub fn first(&self, symbol: usize) -> u32 {
        u32::from(self.of_symbols[usize::from(self.starts[symbol])])
    }

    /// The slot after a known symbol was pushed on one, and the bits that this writes.
    #[inline]
    pub fn push(&self, slot: u32, symbol: usize) -> (u32, u64, u32) {
        let frequency = u32::from(self.frequencies[symbol]);
        let state = slot + SLOTS as u32;
        let most = LOG - frequency.ilog2();
        let bits = most - u32::from(state >> most < frequency);
        let place = u32::from(self.starts[symbol]) + (state >> bits) - frequency;
        (u32::from(self.of_symbols[place as usize]), u64::from(state & ((1 << bits) - 1)), bits)
    }

    /// What a slot means; of `slot` the lowest bits count.
    #[inline(always)]
    pub fn pop(&self, slot: usize) -> Slot {
        self.slots[slot % SLOTS]
    }
}
