//! Documents with the same digest: each is represented by the first of them.
//!
//! In passes over ranges of digests, as many as the memory asks for: 32 bytes a document of the range.

use rayon::prelude::*;

use super::files::Stored;
use crate::{Pulse, Result};

/// The first document with the digest of each.
pub fn representatives(stored: &Stored, memory: usize, pulse: &Pulse) -> Result<Vec<u32>> {
    let mut representatives: Vec<u32> = (0..stored.documents as u32).collect();
    let passes =
        (stored.documents as usize * size_of::<(u128, u32)>()).div_ceil(memory.max(1)).max(1) as u128;
    for pass in 0..passes {
        let mut entries: Vec<(u128, u32)> = Vec::new();
        for documents in stored.ranges() {
            pulse.beat()?;
            let digests = stored.digests(documents.clone())?;
            let numbered = digests.into_iter().zip(documents.map(|document| document as u32));
            entries.extend(numbered.filter(|(digest, _)| ((digest >> 64) * passes) >> 64 == pass));
        }
        entries.par_sort_unstable();
        for equal in entries.chunk_by(|one, other| one.0 == other.0) {
            equal.iter().for_each(|(_, document)| representatives[*document as usize] = equal[0].1);
        }
    }
    Ok(representatives)
}
