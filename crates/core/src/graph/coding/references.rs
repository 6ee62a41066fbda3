//! The choice of references: which list each list copies from.
//!
//! The cost of every list is computed for every reference in the window. The best ones, without a limit on
//! chains, form a forest; a dynamic program finds the subset of its arcs that saves the most bits and has no
//! path longer than the limit. Lists that lost their reference then take the best one that still fits. This
//! takes O(window) differences a list, and beats the greedy choice in node order, which spends short chains on
//! the first lists.
//!
//! Source: Luca Versari et al., "Zuckerli: a new compressed representation for graphs", 2020.

use super::{Difference, Lengths, Options};

/// Consecutive lists of a graph.
#[derive(Clone, Copy)]
pub struct Lists<'a> {
    /// The first node.
    pub first: usize,
    /// Where each list starts, and the end of the last; the first list starts at the first target.
    pub offsets: &'a [u64],
    /// The successors.
    pub targets: &'a [u32],
    /// The weights of the arcs.
    pub weights: Option<&'a [u32]>,
}

impl<'a> Lists<'a> {
    /// The number of lists.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The number of arcs.
    pub fn arcs(&self) -> usize {
        (self.offsets[self.len()] - self.offsets[0]) as usize
    }

    /// A list.
    #[inline]
    pub fn list(&self, index: usize) -> &'a [u32] {
        let start = self.offsets[0];
        &self.targets[(self.offsets[index] - start) as usize..(self.offsets[index + 1] - start) as usize]
    }

    /// A list with its distance from another, as that one's reference.
    #[inline]
    pub fn reference(&self, index: usize, distance: usize) -> (usize, &'a [u32]) {
        if distance == 0 { (0, &[]) } else { (distance, self.list(index - distance)) }
    }
}

/// For each list the distance to the one it copies from.
pub fn choose(lists: Lists, lengths: &Lengths, options: &Options) -> Vec<u8> {
    let costs = costs(lists, lengths, options);
    let width = usize::from(options.window) + 1;
    let savings = |index: usize, distance: u8| {
        let costs = &costs[index * width..][..width];
        costs[0] - costs[usize::from(distance)].min(costs[0])
    };
    let best: Vec<u8> = costs
        .chunks(width)
        .map(|costs| (0..width as u8).min_by_key(|distance| costs[usize::from(*distance)]).unwrap_or(0))
        .collect();
    let mut chosen = limited(&best, |index| savings(index, best[index]), usize::from(options.chain));
    refill(&mut chosen, savings, options);
    chosen
}

/// What every list costs with every reference; those without one come first.
fn costs(lists: Lists, lengths: &Lengths, options: &Options) -> Vec<u64> {
    let window = usize::from(options.window);
    let mut costs = vec![u64::MAX; lists.len() * (window + 1)];
    let mut difference = Difference::default();
    for (index, costs) in costs.chunks_mut(window + 1).enumerate() {
        let list = lists.list(index);
        let most = if list.is_empty() || options.chain == 0 { 0 } else { window.min(index) };
        for (distance, cost) in costs.iter_mut().enumerate().take(most + 1) {
            let reference = lists.reference(index, distance);
            if distance > 0 && reference.1.is_empty() {
                continue;
            }
            difference.compute(list, reference, options.interval);
            *cost = 0;
            difference
                .numbers(lists.first + index, options, |part, number| *cost += lengths.length(part, number));
        }
    }
    costs
}

/// The references of `best` that save the most bits in total with no chain longer than `chain`.
fn limited(best: &[u8], savings: impl Fn(usize) -> u64, chain: usize) -> Vec<u8> {
    // most[index][left]: the most that the lists that copy from this one, directly or not, can save if chains
    // may go on for `left` more references.
    let mut most = vec![0u64; best.len() * (chain + 1)];
    let cut = |most: &[u64], index: usize| most[index * (chain + 1) + chain];
    for index in (0..best.len()).rev() {
        if best[index] == 0 {
            continue;
        }
        let reference = index - usize::from(best[index]);
        let without = cut(&most, index);
        for left in 0..=chain {
            let with = if left == 0 { 0 } else { savings(index) + most[index * (chain + 1) + left - 1] };
            most[reference * (chain + 1) + left] += with.max(without);
        }
    }
    let mut left = vec![chain; best.len()];
    let mut chosen = vec![0; best.len()];
    for index in 0..best.len() {
        if best[index] == 0 {
            continue;
        }
        let before = left[index - usize::from(best[index])];
        if before > 0 && savings(index) + most[index * (chain + 1) + before - 1] >= cut(&most, index) {
            chosen[index] = best[index];
            left[index] = before - 1;
        }
    }
    chosen
}

/// Gives the lists without a reference the best one that makes no chain too long.
fn refill(chosen: &mut [u8], savings: impl Fn(usize, u8) -> u64, options: &Options) {
    let chain = usize::from(options.chain);
    let mut below = vec![0usize; chosen.len()];
    for index in (0..chosen.len()).rev().filter(|index| chosen[*index] > 0) {
        let reference = index - usize::from(chosen[index]);
        below[reference] = below[reference].max(below[index] + 1);
    }
    let mut above = vec![0usize; chosen.len()];
    for index in 0..chosen.len() {
        if chosen[index] == 0 {
            let fits = |distance: &u8| above[index - usize::from(*distance)] + 1 + below[index] <= chain;
            let distances = (1..=options.window.min(index.min(255) as u8)).filter(fits);
            let found = distances.max_by_key(|distance| (savings(index, *distance), u8::MAX - distance));
            chosen[index] = found.filter(|distance| savings(index, *distance) > 0).unwrap_or(0);
        }
        if chosen[index] > 0 {
            above[index] = above[index - usize::from(chosen[index])] + 1;
        }
    }
}
