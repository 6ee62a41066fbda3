//! Table-driven decoding of several codewords per lookup.
//!
//! A table has an entry for every prefix of [`PREFIX`] bits: the numbers of the complete codewords in it, at
//! most [`MOST`], and how many bits these take. If not even the first codeword is complete, it is decoded
//! without the table. An entry is eight bytes (the lowest: how many numbers, and above them how many bits;
//! then the numbers, one byte each), so that a table takes 16 KiB, half of the L1 cache, and all numbers of
//! an entry are stored with one write.

use std::sync::OnceLock;

use super::bits::BitReader;
use super::words::{Delta, FixedZeta, Gamma, Omega, Unary, Words, Zeta};

/// The number of bits looked up.
pub const PREFIX: u32 = 11;
/// The maximum of numbers per entry.
pub const MOST: usize = 7;
/// The largest parameter of ζ that has a table.
const ZETAS: usize = 8;

/// For every prefix, the codewords it starts with.
pub struct Table(Box<[u64; 1 << PREFIX]>);

impl Table {
    fn of<W: Words>(words: W) -> Table {
        let mut entries = Box::new([0; 1 << PREFIX]);
        for (prefix, entry) in entries.iter_mut().enumerate() {
            let bytes = (prefix as u64).to_le_bytes();
            let mut reader = BitReader::new(&bytes);
            let (mut count, mut bits) = (0, 0);
            while count < MOST {
                let number = words.read(&mut reader);
                let after = bytes.len() * 8 - reader.left();
                let Some(number) = number.filter(|_| after <= PREFIX as usize) else { break };
                *entry |= number << (8 * (count + 1));
                count += 1;
                bits = after as u64;
            }
            *entry |= bits << 4 | count as u64;
        }
        Table(entries)
    }

    /// The entry of the first bits of `window`: the numbers, how many they are, and how many bits they take.
    #[inline(always)]
    pub fn look(&self, window: u64) -> ([u8; MOST], usize, u32) {
        let entry = self.0[window as usize % self.0.len()];
        let [_, numbers @ ..] = entry.to_le_bytes();
        (numbers, (entry & 0xf) as usize, (entry >> 4 & 0xf) as u32)
    }
}

/// A code that may have a table, built on first use.
pub trait Tabled: Words {
    /// Up to this mean length in bits, codewords are decoded faster by the table than without it.
    const SHORT: usize = 6;

    /// The table of the code.
    fn table(self) -> Option<&'static Table> {
        None
    }
}

macro_rules! tabled {
    ($words:ident, $short:literal) => {
        impl Tabled for $words {
            const SHORT: usize = $short;

            fn table(self) -> Option<&'static Table> {
                static TABLE: OnceLock<Table> = OnceLock::new();
                Some(TABLE.get_or_init(|| Table::of(self)))
            }
        }
    };
}

tabled!(Unary, 4);
tabled!(Gamma, 4);
tabled!(Delta, 5);
tabled!(Omega, 6);

impl Tabled for Zeta {
    fn table(self) -> Option<&'static Table> {
        static TABLES: [OnceLock<Table>; ZETAS] = [const { OnceLock::new() }; ZETAS];
        let table = TABLES.get(self.0 as usize - 1)?;
        Some(table.get_or_init(|| Table::of(self)))
    }
}

impl<const K: u32> Tabled for FixedZeta<K> {
    fn table(self) -> Option<&'static Table> {
        Zeta(K).table()
    }
}

impl Tabled for super::words::UnaryOrdered {}
impl Tabled for super::words::Minimal {}
impl Tabled for super::words::Golomb {}
impl Tabled for super::words::Rice {}
impl Tabled for super::words::Pi {}
impl Tabled for super::words::Blocks {}
impl Tabled for super::words::Prefixed {}
