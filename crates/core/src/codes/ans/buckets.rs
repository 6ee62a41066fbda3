//! Numbers as symbols: the leading bits select a symbol, the remaining bits are written raw.
//!
//! A number below 8 is its own symbol. From there on a symbol is the number's binary logarithm and the two
//! bits after its highest one, four symbols per octave; within a symbol all numbers count as equally likely,
//! and for p falling like 1/x^a that costs at most a few thousandths of a bit. The 124 symbols of 32-bit
//! numbers are followed by the [`ESCAPE`], after which the whole number is written: for symbols that a model
//! does not know.

/// The number of symbols.
pub const SYMBOLS: usize = ESCAPE + 1;
/// The symbol of numbers that a model does not know.
pub const ESCAPE: usize = 124;

/// How many bits after the highest one belong to the symbol.
const MANTISSA: u32 = 2;
/// The first number that is not its own symbol.
const EXACT: u32 = 2 << MANTISSA;

/// The symbol of a number.
#[inline(always)]
pub fn symbol(number: u32) -> usize {
    if number < EXACT {
        return number as usize;
    }
    let log = number.ilog2();
    ((log - 1) << MANTISSA | number >> (log - MANTISSA) & ((1 << MANTISSA) - 1)) as usize
}

/// The smallest number of a symbol, and its number of raw bits.
#[inline(always)]
pub const fn bucket(symbol: usize) -> (u32, u32) {
    let symbol = symbol as u32;
    if symbol < EXACT {
        return (symbol, 0);
    }
    if symbol == ESCAPE as u32 {
        return (0, 32);
    }
    let raw = (symbol >> MANTISSA) + 1 - MANTISSA;
    ((1 << MANTISSA | symbol & ((1 << MANTISSA) - 1)) << raw, raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_follow_each_other_to_the_last_number() {
        let mut next = 0u64;
        for one in 0..ESCAPE {
            let (base, raw) = bucket(one);
            assert_eq!(u64::from(base), next);
            next += 1 << raw;
            assert_eq!(symbol(base), one);
            assert_eq!(symbol((next - 1) as u32), one);
        }
        assert_eq!(next, 1 << 32);
    }
}
