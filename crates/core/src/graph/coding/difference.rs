//! What a list adds to the list it copies from: blocks, intervals and residuals.

use std::cmp::Ordering;

use super::Part;

/// The difference between a list and its reference; reused from list to list.
#[derive(Default)]
pub struct Difference {
    outdegree: usize,
    /// The distance to the reference.
    reference: usize,
    /// The lengths of the blocks, copied and skipped in turns.
    blocks: Vec<u32>,
    /// The intervals: first node, length.
    intervals: Vec<(u32, u32)>,
    residuals: Vec<u32>,
}

/// Maps integers to naturals: 0, −1, 1, −2, 2 … to 0, 1, 2, 3, 4 …
#[inline]
fn zigzag(integer: i64) -> u64 {
    (integer << 1 ^ integer >> 63) as u64
}

impl Difference {
    /// Computes the difference of `list` from the list at distance `reference`; an empty one at distance 0.
    pub fn compute(&mut self, list: &[u32], reference: (usize, &[u32]), interval: u8) {
        self.outdegree = list.len();
        self.reference = reference.0;
        self.blocks.clear();
        self.intervals.clear();
        self.residuals.clear();
        if reference.0 == 0 {
            self.residuals.extend_from_slice(list);
        } else {
            self.copy(list, reference.1);
        }
        if interval > 0 {
            self.take_intervals(u32::from(interval));
        }
    }

    /// Splits `list` into blocks of `reference` and the rest.
    fn copy(&mut self, list: &[u32], reference: &[u32]) {
        let (mut at, mut length, mut copying) = (0, 0, true);
        let mut rest = list.iter().copied().peekable();
        while let (Some(next), Some(other)) = (rest.peek().copied(), reference.get(at).copied()) {
            let order = next.cmp(&other);
            if order == Ordering::Less {
                self.residuals.push(next);
                rest.next();
                continue;
            }
            if copying != (order == Ordering::Equal) {
                self.blocks.push(length);
                length = 0;
                copying = !copying;
            }
            at += 1;
            length += 1;
            if order == Ordering::Equal {
                rest.next();
            }
        }
        // The last block is implied if it reaches the end of the reference, or if it is skipped.
        if copying && at < reference.len() {
            self.blocks.push(length);
        }
        self.residuals.extend(rest);
    }

    /// Moves runs of consecutive nodes from the residuals to the intervals.
    fn take_intervals(&mut self, interval: u32) {
        let mut kept = 0;
        let mut start = 0;
        while start < self.residuals.len() {
            let first = self.residuals[start];
            let rest = self.residuals[start..].iter().enumerate();
            let length = rest.take_while(|(ahead, node)| first as usize + ahead == **node as usize).count();
            if length >= interval as usize {
                self.intervals.push((first, length as u32));
            } else {
                self.residuals.copy_within(start..start + length, kept);
                kept += length;
            }
            start += length;
        }
        self.residuals.truncate(kept);
    }

    /// Passes on the numbers of the list of `node`, in order.
    #[inline]
    pub fn numbers(&self, node: usize, options: &super::Options, mut emit: impl FnMut(Part, u64)) {
        emit(Part::Outdegree, self.outdegree as u64);
        if self.outdegree == 0 {
            return;
        }
        if options.window > 0 {
            emit(Part::Reference, self.reference as u64);
        }
        if self.reference > 0 {
            emit(Part::BlockCount, self.blocks.len() as u64);
            for (index, length) in self.blocks.iter().enumerate() {
                emit(Part::Block, u64::from(*length) - u64::from(index > 0));
            }
        }
        let node = node as i64;
        if options.interval > 0 && self.residuals.len() + self.intervals.len() > 0 {
            emit(Part::IntervalCount, self.intervals.len() as u64);
            let mut end = None;
            for (start, length) in &self.intervals {
                match end {
                    None => emit(Part::FirstInterval, zigzag(i64::from(*start) - node)),
                    Some(end) => emit(Part::Interval, u64::from(*start) - end - 1),
                }
                emit(Part::IntervalLength, u64::from(*length) - u64::from(options.interval));
                end = Some(u64::from(*start) + u64::from(*length));
            }
        }
        if let Some(first) = self.residuals.first() {
            emit(Part::FirstResidual, zigzag(i64::from(*first) - node));
            for pair in self.residuals.windows(2) {
                emit(Part::Residual, u64::from(pair[1] - pair[0] - 1));
            }
        }
    }
}
