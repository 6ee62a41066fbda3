//! How much of a run is in a range of keys, from its index.

use super::{Pointer, Run};
use crate::Result;
use crate::sorted::block::Place;

/// With fewer index blocks of the lowest level a run is cut between its data blocks.
const FEW: usize = 64;

/// A range of keys, the end exclusive.
type Keys<'a> = (&'a [u8], Option<&'a [u8]>);

impl Run {
    /// The bytes and the entries in a range; the bytes of a data block at its ends are counted in proportion.
    pub fn size(&self, from: &[u8], to: Option<&[u8]>) -> Result<(u64, u64)> {
        let mut size = (0, 0);
        if self.meets(from, to) {
            self.add_size(&self.footer.root, self.footer.height, (from, to), &mut size)?;
        }
        Ok(size)
    }

    fn add_size(&self, pointer: &Pointer, height: u64, keys: Keys<'_>, size: &mut (u64, u64)) -> Result<()> {
        let (from, to) = keys;
        if height == 0 {
            let mut inside = 0;
            self.entries_of(pointer, |key, _| {
                inside += u64::from(key >= from && to.is_none_or(|to| key < to));
                Ok(())
            })?;
            size.0 += pointer.bytes * inside / pointer.entries.max(1);
            size.1 += inside;
            return Ok(());
        }
        // The blocks below an index entry have the keys after `before` up to the entry's, inclusive.
        let mut before: Option<Vec<u8>> = None;
        self.entries_of(pointer, |last, value| {
            let below = Pointer::read(&mut { value }).ok_or_else(|| self.damaged(pointer))?;
            let is_after = to.is_some_and(|to| before.as_deref().is_some_and(|before| before >= to));
            let starts_inside = from.is_empty() || before.as_deref().is_some_and(|before| before >= from);
            if last >= from && !is_after {
                if starts_inside && to.is_none_or(|to| last < to) {
                    size.0 += below.bytes;
                    size.1 += below.entries;
                } else {
                    self.add_size(&below, height - 1, keys, size)?;
                }
            }
            before = Some(last.to_vec());
            Ok(())
        })
    }

    /// Calls `visit` for pieces of the run, in order, with a key that is not less than any of the piece's.
    pub fn pieces(&self, mut visit: impl FnMut(&[u8], &Pointer)) -> Result<()> {
        let mut pieces = vec![(self.footer.last.clone(), self.footer.root)];
        for _ in 0..self.footer.height {
            if pieces.len() >= FEW && pieces[0].1.lines > 0 {
                break;
            }
            let mut below = Vec::new();
            for (_, pointer) in &pieces {
                self.entries_of(pointer, |last, value| {
                    let piece = Pointer::read(&mut { value }).ok_or_else(|| self.damaged(pointer))?;
                    below.push((last.to_vec(), piece));
                    Ok(())
                })?;
            }
            pieces = below;
        }
        pieces.iter().for_each(|(last, pointer)| visit(last, pointer));
        Ok(())
    }

    fn entries_of(&self, pointer: &Pointer, mut visit: impl FnMut(&[u8], &[u8]) -> Result<()>) -> Result<()> {
        let block = self.block(pointer)?;
        let mut place = Place::default();
        while block.advance(&mut place).ok_or_else(|| self.damaged(pointer))? {
            visit(place.key(), block.value(&place).unwrap_or_default())?;
        }
        Ok(())
    }
}
