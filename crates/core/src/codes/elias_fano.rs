//! The Elias–Fano representation of a monotone sequence, given by its gaps.
//!
//! The prefix sums x₀ ≤ x₁ ≤ … of the n numbers, the last of which is u, are split at l = ⌊log₂(u/n)⌋ bits (0
//! if u < n):
//!
//! ```text
//! 6 bits   l
//! n l      the low l bits of each sum
//! the rest the high bits of each sum less those of the one before, in unary: at most n + u/2^l bits
//! ```
//!
//! A number takes at most 2 + log₂(u/n) bits, within half a bit of the lower bound for any representation of
//! a uniformly drawn sequence, whatever the numbers are. Sums have 64 bits; a list with a larger sum is
//! refused.
//!
//! Sources: Peter Elias, "Efficient storage and retrieval by content and address of static files", 1974; Robert
//! Fano, "On the number of bits required to implement an associative memory", 1971.

use super::bits::{BitReader, BitWriter, Bits, lowest, window};
use super::lists::Natural;
use crate::{Error, Result};

const WIDTH_OF_LOW: u32 = 6;

/// The last prefix sum.
fn universe<T: Natural>(numbers: &[T]) -> Result<u64> {
    numbers.iter().try_fold(0u64, |sum, number| sum.checked_add(number.widened())).ok_or_else(|| {
        Error::Invalid("elias-fano holds lists whose sum is below 2^64, and this one's is more".into())
    })
}

fn width_of_low(universe: u64, n: usize) -> u32 {
    (universe / n.max(1) as u64).checked_ilog2().unwrap_or(0)
}

/// How many bits `numbers` take.
pub fn length<T: Natural>(numbers: &[T]) -> Result<u64> {
    let universe = universe(numbers)?;
    if numbers.is_empty() {
        return Ok(0);
    }
    let low = width_of_low(universe, numbers.len());
    Ok(u64::from(WIDTH_OF_LOW) + numbers.len() as u64 * u64::from(low + 1) + (universe >> low))
}

/// Appends `numbers`.
pub fn write<T: Natural>(numbers: &[T], bits: &mut BitWriter) -> Result<()> {
    let low = width_of_low(universe(numbers)?, numbers.len());
    if numbers.is_empty() {
        return Ok(());
    }
    bits.write(u64::from(low), WIDTH_OF_LOW);
    let mut sum = 0;
    for number in numbers {
        sum += number.widened();
        bits.write(lowest(sum, low), low);
    }
    let (mut sum, mut high) = (0, 0);
    for number in numbers {
        sum += number.widened();
        bits.write_unary((sum >> low) - high);
        high = sum >> low;
    }
    Ok(())
}

/// Decodes `n` numbers into `numbers`, replacing its contents.
pub fn read<T: Natural>(bits: &mut BitReader, n: usize, numbers: &mut Vec<T>) -> Option<()> {
    numbers.clear();
    if n == 0 {
        return Some(());
    }
    let low = bits.read(WIDTH_OF_LOW)? as u32;
    let (bytes, start) = bits.position();
    // A number takes at least a bit, so a corrupt `n` cannot cause a huge allocation.
    let all_low = n.checked_mul(low as usize + 1).filter(|all| *all <= bits.left())? - n;
    bits.skip(all_low);
    numbers.reserve(n);
    let (mut sum, mut high) = (0u64, 0u64);
    let mut at = start;
    for _ in 0..n {
        high = high.checked_add(bits.read_unary()?)?;
        if high > u64::MAX >> low {
            return None;
        }
        let low_part = if low > 57 { wide(bytes, at, low)? } else { lowest(window(bytes, at), low) };
        let next = high << low | low_part;
        numbers.push(T::narrowed(next.checked_sub(sum)?)?);
        sum = next;
        at += low as usize;
    }
    Some(())
}

#[cold]
fn wide(bytes: &[u8], at: usize, width: u32) -> Option<u64> {
    let mut bits = BitReader::new(bytes);
    bits.skip(at);
    bits.read(width)
}
