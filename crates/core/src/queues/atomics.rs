//! What [`super::michael_scott`] stands on: the atomic numbers of the machine. Its tests compile it once more
//! over those of loom, which run through the interleavings that the memory model allows.

pub use std::sync::atomic::{AtomicU64, Ordering};

/// The longest wait is 2^6 spins; from then on the thread gives up its turn.
const MOST_SPINS: u32 = 6;

/// Exponential backoff: after each failure the wait is twice as long.
#[derive(Default)]
pub struct Backoff {
    failures: u32,
}

impl Backoff {
    /// Waits after a failure.
    #[inline]
    pub fn wait(&mut self) {
        if self.failures > MOST_SPINS {
            std::thread::yield_now();
            return;
        }
        for _ in 0..1 << self.failures {
            std::hint::spin_loop();
        }
        self.failures += 1;
    }
}
