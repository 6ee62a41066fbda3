//! Bit-packed rows of integers, each column as wide as its largest value: a small table read in place.
//!
//! ```text
//! widths   one byte per column
//! rows     the columns of each row one after the other, the lowest bit first, without any padding
//! ```
//!
//! A field costs the bits of the largest value in its column; reading one is a load, a shift and a mask.

/// The widest column, so that one load of eight bytes always contains a complete field.
const WIDEST: u32 = 57;

/// Appends rows to `bytes`, in two passes; no field may have more than 57 bits.
pub fn write_rows<const COLUMNS: usize>(
    rows: impl Iterator<Item = [u64; COLUMNS]> + Clone,
    bytes: &mut Vec<u8>,
) {
    let mut widths = [0; COLUMNS];
    for row in rows.clone() {
        for (width, field) in widths.iter_mut().zip(row) {
            *width = (*width).max(u64::BITS - field.leading_zeros());
        }
    }
    debug_assert!(widths.iter().all(|width| *width <= WIDEST));
    bytes.extend(widths.map(|width| width as u8));
    let (mut buffer, mut filled) = (0u128, 0);
    for row in rows {
        for (width, field) in widths.iter().zip(row) {
            buffer |= u128::from(field) << filled;
            filled += width;
            while filled >= 64 {
                bytes.extend_from_slice(&(buffer as u64).to_le_bytes());
                buffer >>= 64;
                filled -= 64;
            }
        }
    }
    bytes.extend_from_slice(&(buffer as u64).to_le_bytes()[..filled.div_ceil(8) as usize]);
}

/// The layout of a table; the bytes are passed to each read.
#[derive(Clone, Copy, Debug)]
pub struct Rows<const COLUMNS: usize> {
    widths: [u8; COLUMNS],
    starts: [u32; COLUMNS],
    row: u64,
}

impl<const COLUMNS: usize> Rows<COLUMNS> {
    /// The table of `rows` rows at the beginning of `bytes`; `None` if it does not fit.
    pub fn open(bytes: &[u8], rows: usize) -> Option<Rows<COLUMNS>> {
        let widths = *bytes.first_chunk::<COLUMNS>()?;
        if widths.iter().any(|width| u32::from(*width) > WIDEST) {
            return None;
        }
        let mut row = 0;
        let starts = widths.map(|width| {
            row += u32::from(width);
            row - u32::from(width)
        });
        let table = Rows { widths, starts, row: u64::from(row) };
        (table.bytes(rows) <= bytes.len() as u64).then_some(table)
    }

    /// The size in bytes of a table of `rows` rows.
    pub fn bytes(&self, rows: usize) -> u64 {
        COLUMNS as u64 + self.row.saturating_mul(rows as u64).div_ceil(8)
    }

    /// A field of a row, from the bytes of the table; 0 past their end.
    #[inline]
    pub fn get(&self, bytes: &[u8], row: usize, column: usize) -> u64 {
        let bit = row as u64 * self.row + u64::from(self.starts[column]);
        let start = COLUMNS + (bit / 8) as usize;
        let word = match bytes.get(start..).and_then(|rest| rest.first_chunk::<8>()) {
            Some(word) => u64::from_le_bytes(*word),
            None => short_word(bytes, start),
        };
        word >> (bit % 8) & ((1 << self.widths[column]) - 1)
    }
}

#[cold]
fn short_word(bytes: &[u8], start: usize) -> u64 {
    let mut word = [0; 8];
    if let Some(rest) = bytes.get(start..) {
        let length = rest.len().min(8);
        word[..length].copy_from_slice(&rest[..length]);
    }
    u64::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn gives_back_what_was_written(rows in prop::collection::vec((0u64..1 << 57, 0u64..2, 0u64..1, 0u64..1 << 20), 0..50), shift in 0u32..57) {
            let rows: Vec<[u64; 4]> = rows.into_iter().map(|(a, b, c, d)| [a >> shift, b, c, d]).collect();
            let mut bytes = Vec::new();
            write_rows(rows.iter().copied(), &mut bytes);
            let table = Rows::<4>::open(&bytes, rows.len()).unwrap();
            prop_assert_eq!(table.bytes(rows.len()), bytes.len() as u64);
            for (number, row) in rows.iter().enumerate() {
                for (column, field) in row.iter().enumerate() {
                    prop_assert_eq!(table.get(&bytes, number, column), *field);
                }
            }
            prop_assert!(rows.is_empty() || bytes.len() == 4 || Rows::<4>::open(&bytes[..bytes.len() - 1], rows.len()).is_none());
        }

        #[test]
        fn any_bytes_are_read_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..40), rows in 0usize..1000, row in 0usize..2000) {
            if let Some(table) = Rows::<3>::open(&bytes, rows) {
                (0..3).for_each(|column| { table.get(&bytes, row, column); });
            }
        }
    }
}
