//! Lists without a model: for a few numbers the ANS state costs too much, and some lists fit no model.
//!
//! The head of a list says in which code its numbers are written. Short lists have a shorter head, and so
//! fewer codes to choose from.

use crate::Result;
use crate::codes::bits::{BitReader, BitWriter, Bits};
use crate::codes::lists;
use crate::codes::words::{Blocks, Delta, Gamma, Rice, Words, Zeta};

/// A way to write a list.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Zeros,
    Gamma,
    Delta,
    Zeta(u32),
    Nibbles,
    Rice(u32),
}

/// The ways to write lists of a size class, indexed by their head values.
pub struct Ways {
    ways: &'static [Way],
    /// The width of a head in bits.
    width: u32,
}

/// For lists of fewer than [`FEW_NUMBERS`].
pub const FEW: Ways = Ways {
    ways: &[
        Way::Zeros,
        Way::Gamma,
        Way::Delta,
        Way::Zeta(3),
        Way::Rice(0),
        Way::Rice(1),
        Way::Rice(2),
        Way::Rice(3),
        Way::Rice(4),
        Way::Rice(5),
        Way::Rice(6),
        Way::Rice(7),
        Way::Rice(8),
        Way::Rice(10),
        Way::Rice(12),
        Way::Rice(14),
    ],
    width: 4,
};

/// From this size on, a list may use a model, and its head says which.
pub const FEW_NUMBERS: usize = 8;

/// For the other lists; the second half of the head values denote models.
pub const MANY: Ways = Ways {
    ways: &{
        let mut ways = [Way::Zeros; 32];
        ways[1] = Way::Gamma;
        ways[2] = Way::Delta;
        ways[3] = Way::Zeta(2);
        ways[4] = Way::Zeta(3);
        ways[5] = Way::Zeta(4);
        ways[6] = Way::Nibbles;
        let mut parameter = 0;
        while parameter < 25 {
            ways[7 + parameter] = Way::Rice(parameter as u32);
            parameter += 1;
        }
        ways
    },
    width: 6,
};

/// From this size on, a model beats any code, except for lists of zeros.
const CLEAR_SHAPE: usize = 64;

impl Ways {
    /// The width of a head in bits.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// The head of the shortest way to write `numbers`, and its total bits including the head; `u64::MAX`
    /// bits if a model is certain to be shorter.
    pub fn best(&self, numbers: &[u32]) -> (u64, u64) {
        let sum: u64 = numbers.iter().map(|number| u64::from(*number)).sum();
        if numbers.len() >= CLEAR_SHAPE && sum > 0 {
            return (0, u64::MAX);
        }
        let mean = (sum / numbers.len().max(1) as u64 + 1).ilog2();
        let near = mean.saturating_sub(2)..=mean + 1;
        let worth_trying = |way: &Way| match way {
            Way::Zeros => sum == 0,
            // δ can encode any number.
            Way::Delta => true,
            Way::Rice(parameter) => near.contains(parameter),
            _ => true,
        };
        let tried = self.ways.iter().enumerate().filter(|(_, way)| worth_trying(way));
        let (bits, head) = tried
            .map(|(head, way)| (way.length(numbers), head as u64))
            .min()
            .unwrap_or((u64::MAX - u64::from(self.width), 0));
        (head, bits + u64::from(self.width))
    }

    /// Appends a list with a head from [`Self::best`].
    pub fn write(&self, head: u64, numbers: &[u32], bytes: &mut Vec<u8>) -> Result<()> {
        let mut bits = BitWriter::new(bytes);
        bits.write(head, self.width);
        match self.ways[head as usize] {
            Way::Zeros => {}
            Way::Gamma => lists::write(Gamma, numbers, &mut bits)?,
            Way::Delta => lists::write(Delta, numbers, &mut bits)?,
            Way::Zeta(k) => lists::write(Zeta(k), numbers, &mut bits)?,
            Way::Nibbles => lists::write(Blocks(4), numbers, &mut bits)?,
            Way::Rice(parameter) => lists::write(Rice(parameter), numbers, &mut bits)?,
        }
        bits.finish();
        Ok(())
    }

    /// Decodes the numbers after a head.
    pub fn read(&self, head: u64, bits: &mut BitReader, places: &mut [u32]) -> Option<()> {
        match *self.ways.get(head as usize)? {
            Way::Zeros => places.fill(0),
            Way::Gamma => lists::fill(Gamma, bits, places)?,
            Way::Delta => lists::fill(Delta, bits, places)?,
            Way::Zeta(k) => lists::fill(Zeta(k), bits, places)?,
            Way::Nibbles => lists::fill(Blocks(4), bits, places)?,
            Way::Rice(parameter) => lists::fill(Rice(parameter), bits, places)?,
        }
        Some(())
    }
}

impl Way {
    /// How many bits `numbers` take; `u64::MAX` if the code cannot encode them.
    fn length(self, numbers: &[u32]) -> u64 {
        match self {
            Way::Zeros => 0,
            Way::Gamma => total(Gamma, numbers),
            Way::Delta => total(Delta, numbers),
            Way::Zeta(k) => total(Zeta(k), numbers),
            Way::Nibbles => total(Blocks(4), numbers),
            Way::Rice(parameter) => total(Rice(parameter), numbers),
        }
    }
}

fn total<W: Words>(words: W, numbers: &[u32]) -> u64 {
    lists::length(words, numbers).unwrap_or(u64::MAX)
}
