//! The lock-free queue over loom's atomics, from the same source.

mod atomics {
    pub use loom::sync::atomic::{AtomicU64, Ordering};

    #[derive(Default)]
    pub struct Backoff {}

    impl Backoff {
        pub fn wait(&mut self) {
            loom::thread::yield_now();
        }
    }
}

#[allow(clippy::duplicate_mod)] // the point of it: one source, two kinds of atomics
#[path = "michael_scott.rs"]
pub mod michael_scott;
