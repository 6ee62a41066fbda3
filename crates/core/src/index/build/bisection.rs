//! Recursive graph bisection: a document reordering that makes documents with the same terms neighbours.
//!
//! The documents are halved, and pairs are swapped between the halves as long as that shortens the gaps; then
//! each half is bisected in turn, down to a few documents. A term in d of n documents is estimated to cost d
//! log₂(n / (d + 1)) bits, so the gain of moving a document is a sum over its terms. After Dhulipala and
//! others, *Compressing graphs and indexes with recursive graph bisection*, 2016.
//!
//! Time: a few dozen passes over all postings for each of log₂ n levels, which is several times the rest of
//! the build. Memory: 4 bytes per posting, and 8 bytes per term for each thread.

use rayon::prelude::*;

use super::merge::Merge;
use crate::index::DocId;
use crate::index::format::zone::Zone;
use crate::{Error, Pulse, Result};

/// Parts with fewer documents are not bisected further.
const SMALLEST: usize = 32;
/// The maximum number of swap rounds per level.
const ROUNDS: usize = 8;
/// Terms in fewer documents carry no signal about similarity.
const RAREST: usize = 4;

/// The forward index: the terms of each document, concatenated.
struct Forward {
    terms: Vec<u32>,
    ends: Vec<usize>,
    /// The number of different terms.
    distinct: usize,
}

impl Forward {
    fn of(&self, document: u32) -> &[u32] {
        let start = (document as usize).checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.terms[start..self.ends[document as usize]]
    }

    /// The body terms of each document of a merge.
    fn new(merge: &Merge<'_>, pulse: &Pulse) -> Result<Forward> {
        let documents = merge.cards.len();
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        let mut distinct = 0;
        merge.each_list(Zone::Body, pulse, |list| {
            if (RAREST..=documents / 2).contains(&list.len()) {
                pairs.extend(list.iter().map(|document: &DocId| (document.0, distinct)));
                distinct += 1;
            }
            Ok(())
        })?;
        let mut ends = vec![0; documents];
        pairs.iter().for_each(|(document, _)| ends[*document as usize] += 1);
        let mut start = 0;
        for end in &mut ends {
            (start, *end) = (start + *end, start);
        }
        let mut terms = vec![0; pairs.len()];
        for (document, term) in pairs {
            terms[ends[document as usize]] = term;
            ends[document as usize] += 1;
        }
        Ok(Forward { terms, ends, distinct: distinct as usize })
    }
}

/// Reorders the documents of a merge so that similar ones are neighbours.
pub fn bisect(merge: &Merge<'_>, threads: usize, pulse: &Pulse) -> Result<Vec<u32>> {
    let forward = Forward::new(merge, pulse)?;
    let mut documents: Vec<u32> = (0..merge.cards.len() as u32).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.max(1)).build();
    let pool = pool.map_err(|error| Error::Invalid(format!("no threads: {error}")))?;
    let logarithms: Vec<f32> = (0..documents.len() + 3).map(|number| libm::log2f(number as f32)).collect();
    // Level by level, so that the calling thread can check for a stop request after each.
    let mut parts: Vec<&mut [u32]> = vec![&mut documents];
    while parts.iter().any(|part| part.len() > SMALLEST) {
        pulse.beat()?;
        parts = pool.install(|| {
            let halve = |degrees: &mut Degrees, part| halve(part, &forward, &logarithms, degrees);
            parts.into_par_iter().map_init(|| Degrees::new(forward.distinct), halve).flatten_iter().collect()
        });
    }
    Ok(documents)
}

/// The number of documents in each half that contain a term.
struct Degrees {
    left: Vec<u32>,
    right: Vec<u32>,
}

impl Degrees {
    fn new(terms: usize) -> Degrees {
        Degrees { left: vec![0; terms], right: vec![0; terms] }
    }
}

fn halve<'a>(
    part: &'a mut [u32],
    forward: &Forward,
    logarithms: &[f32],
    degrees: &mut Degrees,
) -> Vec<&'a mut [u32]> {
    if part.len() <= SMALLEST {
        return vec![part];
    }
    let (left, right) = part.split_at_mut(part.len() / 2);
    for document in left.iter() {
        forward.of(*document).iter().for_each(|term| degrees.left[*term as usize] += 1);
    }
    for document in right.iter() {
        forward.of(*document).iter().for_each(|term| degrees.right[*term as usize] += 1);
    }
    for _ in 0..ROUNDS {
        if exchange(left, right, forward, logarithms, degrees) == 0 {
            break;
        }
    }
    for document in left.iter().chain(right.iter()) {
        for term in forward.of(*document) {
            degrees.left[*term as usize] = 0;
            degrees.right[*term as usize] = 0;
        }
    }
    vec![left, right]
}

/// Swaps the documents with the largest gains; returns the number of pairs swapped.
fn exchange(
    left: &mut [u32],
    right: &mut [u32],
    forward: &Forward,
    logarithms: &[f32],
    degrees: &mut Degrees,
) -> usize {
    let sizes = (logarithms[left.len()], logarithms[right.len()]);
    let cost = |degree: u32, size: f32| degree as f32 * (size - logarithms[degree as usize + 1]);
    let gain = |document: u32, from: &[u32], to: &[u32], (from_size, to_size): (f32, f32)| -> f32 {
        let of_term = |term: &u32| {
            let (own, other) = (from[*term as usize], to[*term as usize]);
            cost(own, from_size) + cost(other, to_size)
                - cost(own.saturating_sub(1), from_size)
                - cost(other + 1, to_size)
        };
        forward.of(document).iter().map(of_term).sum()
    };
    let sorted = |documents: &[u32], from: &[u32], to: &[u32], sizes| {
        let mut gains: Vec<(f32, usize)> = documents
            .iter()
            .enumerate()
            .map(|(place, document)| (gain(*document, from, to, sizes), place))
            .collect();
        gains.sort_unstable_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        gains
    };
    let from_left = sorted(left, &degrees.left, &degrees.right, sizes);
    let from_right = sorted(right, &degrees.right, &degrees.left, (sizes.1, sizes.0));
    let mut exchanged = 0;
    for ((gain, place), (other_gain, other_place)) in from_left.into_iter().zip(from_right) {
        if gain + other_gain <= 0.0 {
            break;
        }
        let (one, other) = (left[place], right[other_place]);
        for term in forward.of(one) {
            degrees.left[*term as usize] -= 1;
            degrees.right[*term as usize] += 1;
        }
        for term in forward.of(other) {
            degrees.right[*term as usize] -= 1;
            degrees.left[*term as usize] += 1;
        }
        (left[place], right[other_place]) = (other, one);
        exchanged += 1;
    }
    exchanged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn puts_alike_documents_together() {
        // Two kinds of documents, one after the other, each with the terms of its kind.
        let documents = 400;
        let terms: Vec<Vec<u32>> =
            (0..documents).map(|number| (0..6).map(|term| number % 2 * 6 + term).collect()).collect();
        let ends = (1..=documents as usize).map(|number| number * 6).collect();
        let forward = Forward { terms: terms.concat(), ends, distinct: 12 };
        let logarithms: Vec<f32> = (0..documents + 3).map(|number| libm::log2f(number as f32)).collect();
        let mut order: Vec<u32> = (0..documents).collect();
        // Both halves start with equally many of each kind, so the first few must break the tie.
        order.swap(0, 399);
        halve(&mut order, &forward, &logarithms, &mut Degrees::new(12));
        let changes = order.windows(2).filter(|pair| pair[0] % 2 != pair[1] % 2).count();
        assert!(changes <= 3, "{changes}");
        let mut sorted = order;
        sorted.sort_unstable();
        assert_eq!(sorted, (0..documents).collect::<Vec<_>>());
    }
}
