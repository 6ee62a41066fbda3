//! Software prefetching.
//!
//! A cache miss takes as long as some hundred instructions. A loop over keys at random addresses prefetches
//! the lines of a later key while it works on the current one, which hides the latency.

const LINE: usize = 64;

/// Prefetches the cache line of any address, valid or not.
#[inline]
pub fn prefetch(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch has no architectural effect and cannot fault, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Prefetches the given number of cache lines from an address on.
#[inline]
pub fn prefetch_lines(address: *const u8, lines: usize) {
    for line in 0..lines {
        prefetch(address.wrapping_add(line * LINE));
    }
}

/// Prefetches cache lines of a slice by byte offset, without borrowing it.
#[derive(Clone, Copy)]
pub struct Prefetch(*const u8);

impl Prefetch {
    /// For the lines of `values`.
    pub fn of<T>(values: &[T]) -> Prefetch {
        Prefetch(values.as_ptr().cast())
    }

    /// Prefetches the line of the byte at `offset`.
    #[inline]
    pub fn line(self, offset: usize) {
        prefetch(self.0.wrapping_add(offset));
    }
}
