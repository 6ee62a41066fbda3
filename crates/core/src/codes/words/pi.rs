//! The π codes, for numbers with a power-law distribution of exponent near 1: ≈ 1/x^(1+2^−k).

use super::{LONGEST, Rice, TOO_LONG, Words};
use crate::codes::bits::{BitSource, Bits, WINDOW, lowest};

/// Apostolico and Drovandi's π with parameter k, below 6.
#[derive(Clone, Copy)]
pub struct Pi(pub u32);

impl Words for Pi {
    #[inline]
    fn length(self, number: u64) -> Option<u64> {
        let log = u64::from(number.checked_add(1)?.ilog2());
        Rice(self.0).length(log).map(|length| length + log).filter(|length| *length <= LONGEST)
    }

    #[inline]
    fn write(self, number: u64, bits: &mut impl Bits) {
        let log = (number + 1).ilog2();
        Rice(self.0).write(u64::from(log), bits);
        bits.write((number + 1) ^ (1 << log), log);
    }

    #[inline(always)]
    fn peek(self, window: u64) -> (u64, u32) {
        let (log, length) = Rice(self.0).peek(window);
        if length + log as u32 > WINDOW || log > u64::from(WINDOW) {
            return (0, TOO_LONG);
        }
        let log = log as u32;
        ((1 << log | lowest(window >> length, log)) - 1, length + log)
    }

    #[inline]
    fn read(self, bits: &mut impl BitSource) -> Option<u64> {
        let log = Rice(self.0).read(bits)?;
        if log > 63 {
            return None;
        }
        Some((1 << log | bits.read(log as u32)?) - 1)
    }
}
