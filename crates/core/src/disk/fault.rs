//! Fault points: places where a test can kill the process.
//!
//! A [`point`] is placed between two steps that a crash must not tear apart. It does nothing (one relaxed
//! load) until [`arm`] names it; then the process kills itself with SIGKILL at the given hit, as if the
//! machine had stopped there: no destructor runs, no buffer is written.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{Error, Result};

/// All fault points.
pub const POINTS: &[&str] = &[
    "direct.add.between-records",
    "direct.checkpoint.before-sync",
    "direct.checkpoint.after-sync",
    "mercator.add.after-append",
    "mercator.rotate.before-new-auxiliary",
    "mercator.rotate.after-new-auxiliary",
    "mercator.collect.before-publish",
    "mercator.collect.after-publish",
    "mercator.checkpoint.before-sync",
    "mercator.checkpoint.after-sync",
    "flush.start",
    "flush.merging",
    "flush.after-merge",
    "flush.copying",
    "flush.after-copy",
    "offline.add.after-append",
    "offline.flush.run-written",
    "offline.flush.before-publish",
    "offline.flush.after-publish",
    "offline.checkpoint.before-sync",
    "offline.checkpoint.after-sync",
    "lsm.add.after-queue",
    "lsm.add.after-write",
    "lsm.checkpoint.before-sync",
    "lsm.checkpoint.after-sync",
    "index.segment.before-sync",
    "index.segment.before-rename",
    "index.segment.after-rename",
];

static ARMED: AtomicBool = AtomicBool::new(false);
static FAULT: Mutex<Option<(String, u32)>> = Mutex::new(None);

/// Kills the process if this point is armed and this is the armed hit.
#[inline]
pub fn point(name: &str) {
    if ARMED.load(Ordering::Relaxed) {
        hit(name);
    }
}

/// Arms one point: the process dies at its `hits`-th hit (from 1).
pub fn arm(name: &str, hits: u32) -> Result<()> {
    if !POINTS.contains(&name) || hits == 0 {
        return Err(Error::Invalid(format!("there is no fault point {name} with {hits} hits")));
    }
    if let Ok(mut fault) = FAULT.lock() {
        *fault = Some((name.to_owned(), hits));
    }
    ARMED.store(true, Ordering::Relaxed);
    Ok(())
}

#[cold]
fn hit(name: &str) {
    debug_assert!(POINTS.contains(&name), "the fault point {name} is not listed");
    let Ok(mut fault) = FAULT.lock() else { return };
    let Some((armed, hits)) = fault.as_mut() else { return };
    if armed == name {
        *hits -= 1;
        if *hits == 0 {
            // SAFETY: both calls take plain numbers and touch no memory of ours.
            unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
        }
    }
}
