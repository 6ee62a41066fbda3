//! One posting list of a leaf: its cursor, and the contribution of its postings to the leaf's score.

use super::Lengths;
use crate::Result;
use crate::index::read::cursor::Cursor;
use crate::index::{DocId, Zone};
use crate::search::score::grain;
use crate::search::score::model::{Part, Shape};

/// A posting list of a leaf, and its contribution to the leaf's score.
pub struct Stream<'a> {
    /// The cursor over its documents.
    pub cursor: Cursor<'a>,
    pub(super) zone: Zone,
    pub(super) part: Part,
    pub(super) lengths: Lengths,
}

/// The score function of a leaf with a single posting list.
#[derive(Clone, Copy)]
pub(super) enum Alone {
    /// weight · c / (c + base + slope · l): one division instead of the two of [`Shape::Saturating`].
    Saturating { weight: f64, base: f64, slope: f64 },
    /// As for any other leaf.
    Otherwise(Part, Shape),
}

impl Alone {
    pub(super) fn new(part: Part, shape: Shape) -> Alone {
        match shape {
            // A factor close to 0 would make the scale infinite.
            Shape::Saturating { weight, k1 } if (k1 / part.factor).is_finite() => {
                let scale = k1 / part.factor;
                Alone::Saturating { weight, base: scale * part.base, slope: scale * part.slope }
            }
            _ => Alone::Otherwise(part, shape),
        }
    }

    /// The score of `count` occurrences, given the length of the posting list's zone and that of all zones.
    #[inline(always)]
    pub(super) fn score(&self, count: u32, length: u16, bag: impl FnOnce() -> u16) -> f64 {
        match *self {
            Alone::Saturating { weight, base, slope } => {
                let count = f64::from(count);
                grain(weight * count / (count + base + slope * f64::from(length)))
            }
            Alone::Otherwise(part, shape) => grain(shape.score(part.of(count, length), bag())),
        }
    }
}

impl Stream<'_> {
    #[inline]
    pub(super) fn x(&mut self, document: DocId) -> Result<f64> {
        Ok(self.part.of(self.cursor.count()?, self.lengths[document.0 as usize]))
    }

    /// An upper bound on x between two documents.
    pub(super) fn bound(&mut self, start: DocId, end: DocId) -> Result<f64> {
        if self.cursor.document() >= end {
            return Ok(0.0);
        }
        let (part, mut most) = (self.part, 0f64);
        if self.cursor.has_maxima() {
            self.cursor.maxima_between(start, end, |maxima| {
                for corner in maxima.0 {
                    let length = corner.length().min(u32::from(u16::MAX)) as u16;
                    most = most.max(part.of(corner.count(), length));
                }
            })?;
        } else {
            let lengths = self.lengths.clone();
            let (documents, counts) = self.cursor.rest_of_block()?;
            for (document, count) in documents.iter().zip(counts) {
                if *document >= end.0 {
                    break;
                }
                most = most.max(part.of(count + 1, lengths[*document as usize]));
            }
        }
        Ok(most)
    }
}
