//! Several words at a look-up.
//!
//! A table has an entry for every beginning of [`PREFIX`] bits: which numbers the whole words in it are, at
//! most [`MOST`] of them, and how many bits these take. Where not even the first word is whole, the word is
//! decoded by hand. An entry is eight bytes (the lowest: how many numbers, and above them how many bits; then
//! the numbers, a byte each), so that a table takes 16 KiB, half of the fastest cache, and all numbers of an
//! entry are stored at once.

use std::sync::OnceLock;

use super::bits::BitReader;
use super::words::{Delta, FixedZeta, Gamma, Omega, Unary, Words, Zeta};

/// How many bits are looked up.
pub const PREFIX: u32 = 11;
/// How many numbers an entry has at most.
pub const MOST: usize = 7;
/// The largest parameter of ζ that has a table.
const ZETAS: usize = 8;

/// The words that begin with the bits of an entry's place.
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

    /// What the first bits of `window` hold: the numbers, and how many they are and how many bits they take.
    #[inline(always)]
    pub fn look(&self, window: u64) -> ([u8; MOST], usize, u32) {
        let entry = self.0[window as usize % self.0.len()];
        let [_, numbers @ ..] = entry.to_le_bytes();
        (numbers, (entry & 0xf) as usize, (entry >> 4 & 0xf) as u32)
    }
}

/// A code that may have a table, made when it is first asked for.
pub trait Tabled: Words {
    /// Words that are no longer on average, in bits, are decoded faster by the table than by hand.
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

impl Tabled for super::words::Minimal {}
impl Tabled for super::words::Golomb {}
impl Tabled for super::words::Rice {}
impl Tabled for super::words::Blocks {}
impl Tabled for super::words::Prefixed {}
