//! The decoding of a list. Every number is checked: whatever the bits are, the result is an increasing list of
//! nodes or `None`, and the work is bounded by the outdegree.

use super::Part;

/// Where the numbers of a list come from.
pub trait Source {
    /// Reads a number in the code of its part.
    fn number(&mut self, part: Part) -> Option<u64>;

    /// Reads as many gaps between residuals as there are places.
    fn gaps(&mut self, places: &mut [u32]) -> Option<()>;
}

/// What a list begins with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Head {
    /// The number of successors.
    pub outdegree: usize,
    /// The distance to the list copied from; 0 if there is none.
    pub reference: usize,
}

/// Memory that is reused from list to list.
#[derive(Default)]
pub struct Buffers {
    intervals: Vec<(u32, u32)>,
    residuals: Vec<u32>,
}

/// Reads the beginning of a list.
#[inline(always)]
pub fn head(source: &mut impl Source, window: usize) -> Option<Head> {
    let outdegree = source.number(Part::Outdegree)?;
    if outdegree == 0 || window == 0 {
        return Some(Head { outdegree: usize::try_from(outdegree).ok()?, reference: 0 });
    }
    let reference = source.number(Part::Reference)?;
    if outdegree > 1 << 32 || reference > window as u64 {
        return None;
    }
    Some(Head { outdegree: outdegree as usize, reference: reference as usize })
}

/// Reads the rest of a list into `place`, which has room for exactly its successors; `reference` is the list
/// copied from.
#[inline(always)]
pub fn body(
    source: &mut impl Source,
    (node, nodes): (usize, usize),
    interval: u64,
    reference: Option<&[u32]>,
    place: &mut [u32],
    buffers: &mut Buffers,
) -> Option<()> {
    let degree = place.len();
    let copied = match reference {
        Some(reference) => copy(source, reference, place)?,
        None => 0,
    };
    if copied == degree {
        return Some(());
    }
    let mut extra = degree - copied;
    buffers.intervals.clear();
    if interval > 0 {
        extra -= intervals(source, node, (nodes, extra), interval, &mut buffers.intervals)?;
    }
    // What is copied waits at the end, where merging never overwrites what it has not read.
    if copied > 0 {
        place.copy_within(..copied, degree - copied);
    }
    if !buffers.intervals.is_empty() {
        merge_intervals(&buffers.intervals, &mut place[extra..], degree - copied - extra)?;
    }
    if extra == 0 {
        return Some(());
    }
    if extra == degree {
        return residuals(source, (node, nodes), place);
    }
    buffers.residuals.resize(extra, 0);
    residuals(source, (node, nodes), &mut buffers.residuals)?;
    merge(&buffers.residuals, place)
}

/// Copies the blocks of `reference` to the front of `place`; returns how many nodes that are.
#[inline]
fn copy(source: &mut impl Source, reference: &[u32], place: &mut [u32]) -> Option<usize> {
    let count = source.number(Part::BlockCount)?;
    if count == 0 {
        place.get_mut(..reference.len())?.copy_from_slice(reference);
        return Some(reference.len());
    }
    if count > reference.len() as u64 + 1 {
        return None;
    }
    let (mut copied, mut start) = (0, 0);
    for index in 0..count {
        let length = source.number(Part::Block)?.checked_add(u64::from(index > 0))?;
        let end = start + usize::try_from(length).ok().filter(|length| *length <= reference.len())?;
        let block = reference.get(start..end)?;
        if index & 1 == 0 {
            place.get_mut(copied..copied + block.len())?.copy_from_slice(block);
            copied += block.len();
        }
        start = end;
    }
    if count & 1 == 0 {
        let block = &reference[start..];
        place.get_mut(copied..copied + block.len())?.copy_from_slice(block);
        copied += block.len();
    }
    Some(copied)
}

/// Reads the intervals, of at most `most` nodes; returns how many nodes they have.
#[inline]
fn intervals(
    source: &mut impl Source,
    node: usize,
    (nodes, most): (usize, usize),
    least: u64,
    found: &mut Vec<(u32, u32)>,
) -> Option<usize> {
    let count = source.number(Part::IntervalCount)?;
    if count > most as u64 / least {
        return None;
    }
    let (mut end, mut sum) = (0, 0);
    for index in 0..count {
        let start = if index == 0 {
            from_node(node, source.number(Part::FirstInterval)?)?
        } else {
            source.number(Part::Interval)?.checked_add(end + 1)?
        };
        let length = source.number(Part::IntervalLength)?.checked_add(least)?;
        end = start.checked_add(length).filter(|end| *end <= nodes as u64)?;
        sum += length;
        found.push((start as u32, length as u32));
    }
    usize::try_from(sum).ok().filter(|sum| *sum <= most)
}

/// The node at a zigzag difference from another.
#[inline(always)]
fn from_node(node: usize, difference: u64) -> Option<u64> {
    let signed = (difference >> 1) as i64 ^ -((difference & 1) as i64);
    (node as u64).checked_add_signed(signed)
}

/// Reads as many residuals as there are places.
#[inline]
fn residuals(source: &mut impl Source, (node, nodes): (usize, usize), places: &mut [u32]) -> Option<()> {
    let (first, rest) = places.split_first_mut()?;
    let mut last = from_node(node, source.number(Part::FirstResidual)?)?;
    if last >= nodes as u64 {
        return None;
    }
    *first = last as u32;
    source.gaps(rest)?;
    for place in rest {
        last += u64::from(*place) + 1;
        *place = last as u32;
    }
    (last < nodes as u64).then_some(())
}

/// Merges intervals into `place`, whose nodes from `read` on are increasing.
#[inline]
fn merge_intervals(intervals: &[(u32, u32)], place: &mut [u32], mut read: usize) -> Option<()> {
    let mut write = 0;
    for (start, length) in intervals {
        while read < place.len() && place[read] < *start {
            place[write] = place[read];
            write += 1;
            read += 1;
        }
        // The nodes below 2^32 of an interval are checked; the last may be 2^32 − 1.
        let last = start + (length - 1);
        if read < place.len() && place[read] <= last {
            return None;
        }
        for (free, node) in place[write..write + *length as usize].iter_mut().zip(*start..=last) {
            *free = node;
        }
        write += *length as usize;
    }
    Some(())
}

/// Merges residuals into `place`, whose nodes after as many places are increasing.
#[inline]
fn merge(residuals: &[u32], place: &mut [u32]) -> Option<()> {
    let (mut write, mut read) = (0, residuals.len());
    for residual in residuals {
        while read < place.len() && place[read] < *residual {
            place[write] = place[read];
            write += 1;
            read += 1;
        }
        if read < place.len() && place[read] == *residual {
            return None;
        }
        place[write] = *residual;
        write += 1;
    }
    Some(())
}
