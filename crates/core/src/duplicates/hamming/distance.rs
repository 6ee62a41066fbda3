//! Counting the differences of many fingerprints to one.
//!
//! The instruction `popcnt` is not part of the baseline of x86-64, and counting bits without it takes four times as long;
//! so it is used where the processor has it.

use super::permutation::Word;

/// Calls `found` with the place and the distance of the keys within `most` differences of one; `found` returns the most
/// differences from then on.
#[inline]
pub fn near<W: Word>(
    keys: impl IntoIterator<Item = W>,
    of: W,
    most: u32,
    found: impl FnMut(usize, u32) -> u32,
) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("popcnt") {
        // SAFETY: the processor has the feature.
        return unsafe { near_popcnt(keys, of, most, found) };
    }
    near_any(keys, of, most, found);
}

/// # Safety
///
/// The processor must have the feature.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
unsafe fn near_popcnt<W: Word>(
    keys: impl IntoIterator<Item = W>,
    of: W,
    most: u32,
    found: impl FnMut(usize, u32) -> u32,
) {
    near_any(keys, of, most, found);
}

#[inline(always)]
fn near_any<W: Word>(
    keys: impl IntoIterator<Item = W>,
    of: W,
    mut most: u32,
    mut found: impl FnMut(usize, u32) -> u32,
) {
    for (place, key) in keys.into_iter().enumerate() {
        let distance = (key ^ of).ones();
        if distance <= most {
            most = found(place, distance);
        }
    }
}
