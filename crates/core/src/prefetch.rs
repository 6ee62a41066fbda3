//! Asking for memory before it is needed.
//!
//! A cache miss takes as long as some hundred instructions. A loop over keys that lie anywhere asks for the
//! lines of a later key while it works on one, and so waits for none.

const LINE: usize = 64;

/// Asks for the cache line of an address, whatever it is.
#[inline]
pub fn prefetch(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing that the program sees and cannot fault, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Asks for so many cache lines from an address on.
#[inline]
pub fn prefetch_lines(address: *const u8, lines: usize) {
    for line in 0..lines {
        prefetch(address.wrapping_add(line * LINE));
    }
}

/// Asks for the cache lines of some values by their offsets in bytes, without borrowing them.
#[derive(Clone, Copy)]
pub struct Prefetch(*const u8);

impl Prefetch {
    /// For the lines of `values`.
    pub fn of<T>(values: &[T]) -> Prefetch {
        Prefetch(values.as_ptr().cast())
    }

    /// Asks for the line of the byte at `offset`.
    #[inline]
    pub fn line(self, offset: usize) {
        prefetch(self.0.wrapping_add(offset));
    }
}
