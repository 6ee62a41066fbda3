//! Checks a whole run: every checksum, the order of the keys, the counts, and the filter.

use std::sync::Arc;

use super::{Cursor, Footer, Reading, Run};
use crate::sorted::filter;
use crate::{Error, Pulse, Result};

/// The bytes read at a time.
const AHEAD: usize = 1 << 18;
/// The number of entries between two beats.
const ENTRIES_PER_BEAT: u64 = 1 << 12;

impl Run {
    /// Reads everything; the first damage is the error.
    pub fn verify(self: &Arc<Run>, filtered: fn(&[u8]) -> &[u8], pulse: &Pulse) -> Result<()> {
        let mut cursor = Cursor::seek(self, Reading::Ahead(AHEAD), &[])?;
        let mut found = Footer { root: self.footer.root, height: self.footer.height, ..Footer::default() };
        let damaged = |reason: &str| Error::corrupt(&self.path, self.state.bytes, reason);
        while let Some((key, value)) = cursor.entry() {
            if found.entries.is_multiple_of(ENTRIES_PER_BEAT) {
                pulse.beat()?;
            }
            if found.entries == 0 {
                found.first = key.to_vec();
            } else if found.last.as_slice() >= key {
                return Err(damaged("its keys are out of order"));
            }
            found.last.clear();
            found.last.extend_from_slice(key);
            found.entries += 1;
            found.removals += u64::from(value.is_none());
            found.content += (key.len() + value.map_or(0, <[u8]>::len)) as u64;
            let hash = filter::hash(filtered(key));
            if !cursor.is_in_filter(hash)? {
                return Err(damaged("its filter lacks a key"));
            }
            cursor.advance()?;
        }
        if found != self.footer {
            return Err(damaged("its entries are not those that its footer counts"));
        }
        Ok(())
    }
}
