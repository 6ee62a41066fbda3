//! Kendall's τ: how far two measures agree about the order of the nodes.
//!
//! With s(i, j) = sgn(xᵢ − xⱼ) and t(i, j) = sgn(yᵢ − yⱼ), and a weight w(i, j) for every pair,
//!
//! ```text
//! ⟨s, t⟩ = Σ_{i<j} s(i, j) t(i, j) w(i, j),      τ = ⟨s, t⟩ / √(⟨s, s⟩ ⟨t, t⟩)
//! ```
//!
//! 1 is the same order, −1 the opposite one; a pair that is tied on one side counts on neither. With w = 1 this
//! is τ-b (Kendall 1945). On the web most nodes are unimportant and their order is noise, so the weighted form
//! (Vigna, "A weighted correlation index for rankings with ties", 2015) counts a pair by the ranks of its nodes,
//! w(i, j) = 1/(rᵢ + 1) + 1/(rⱼ + 1) with ranks from 0; the result is the mean over the ranks by x (ties by y)
//! and by y (ties by x). Both weights are sums of one share per node, so discordant pairs are weighed while
//! merge sorting (Knight 1966): O(n log n), 44 bytes a node. Without two different values on each side there is
//! no order, and τ is not a number.

use std::cmp::Ordering;

use rayon::prelude::*;

use crate::{Error, Pulse, Result};

/// Lists up to this length are sorted by one thread, between two beats of the pulse.
const ALONE: usize = 1 << 14;

/// Kendall's τ-b of two lists of values, one for each node.
pub fn kendall(one: &[f64], other: &[f64], pulse: &Pulse) -> Result<f64> {
    check(one, other)?;
    // Half a pair for each of its nodes: the sums are exact up to 2^53 pairs.
    correlate(one, other, |_| 0.5, pulse)
}

/// Kendall's τ with hyperbolic weights of two lists of values, one for each node.
pub fn weighted_kendall(one: &[f64], other: &[f64], pulse: &Pulse) -> Result<f64> {
    check(one, other)?;
    let share = |rank: usize| 1.0 / (rank as f64 + 1.0);
    Ok((correlate(one, other, share, pulse)? + correlate(other, one, share, pulse)?) / 2.0)
}

fn check(one: &[f64], other: &[f64]) -> Result<()> {
    if one.len() != other.len() {
        let reason = format!("there are {} values to compare with {}", one.len(), other.len());
        return Err(Error::Invalid(reason));
    }
    if one.len() as u64 > 1 << 32 {
        return Err(Error::Invalid(format!("a graph has at most 2^32 nodes, not {}", one.len())));
    }
    match one.iter().chain(other).any(|value| value.is_nan()) {
        true => Err(Error::Invalid("a value that is not a number has no rank".into())),
        false => Ok(()),
    }
}

/// A node while it is sorted: its second value, and its share of the weight of a pair.
#[derive(Clone, Copy, Default)]
struct Item {
    value: f64,
    share: f64,
}

/// τ with the weight `share(rᵢ) + share(rⱼ)`, where r are the ranks by `one`, ties by `other`.
fn correlate(one: &[f64], other: &[f64], share: impl Fn(usize) -> f64 + Sync, pulse: &Pulse) -> Result<f64> {
    let down = |values: &[f64], a: u32, b: u32| descending(values[a as usize], values[b as usize]);
    let mut order: Vec<u32> = (0..one.len() as u32).collect();
    pulse.beat()?;
    order.par_sort_unstable_by(|a, b| down(one, *a, *b).then_with(|| down(other, *a, *b)).then(a.cmp(b)));
    pulse.beat()?;
    let ranked = order.iter().enumerate();
    let mut items: Vec<Item> =
        ranked.map(|(rank, node)| Item { value: other[*node as usize], share: share(rank) }).collect();
    let same_one = |a: usize, b: usize| one[order[a] as usize] == one[order[b] as usize];
    let tied_one = tied(&items, same_one);
    let tied_both = tied(&items, |a, b| same_one(a, b) && items[a].value == items[b].value);
    let discordant = sort(&mut items, &mut vec![Item::default(); order.len()], pulse)?;
    let tied_other = tied(&items, |a, b| items[a].value == items[b].value);
    let all = within(&items);
    let agreement = all - tied_one - tied_other + tied_both - 2.0 * discordant;
    Ok((agreement / ((all - tied_one).sqrt() * (all - tied_other).sqrt())).clamp(-1.0, 1.0))
}

fn descending(one: f64, other: f64) -> Ordering {
    other.partial_cmp(&one).unwrap_or(Ordering::Equal)
}

/// The weight of all pairs among some nodes.
fn within(items: &[Item]) -> f64 {
    items.len().saturating_sub(1) as f64 * items.iter().map(|item| item.share).sum::<f64>()
}

/// The weight of all pairs of neighbours in the order, and theirs, that are the `same`.
fn tied(items: &[Item], same: impl Fn(usize, usize) -> bool) -> f64 {
    let (mut start, mut weight) = (0, 0.0);
    for end in 1..=items.len() {
        if end == items.len() || !same(start, end) {
            weight += within(&items[start..end]);
            start = end;
        }
    }
    weight
}

/// Sorts by decreasing value; returns the weight of the pairs that were in the other order.
fn sort(items: &mut [Item], spare: &mut [Item], pulse: &Pulse) -> Result<f64> {
    if items.len() < 2 {
        return Ok(0.0);
    }
    let middle = items.len() / 2;
    let ((left, right), (spare_left, spare_right)) = (items.split_at_mut(middle), spare.split_at_mut(middle));
    let (one, other) = if left.len() > ALONE {
        pulse.beat()?;
        rayon::join(|| sort(left, spare_left, pulse), || sort(right, spare_right, pulse))
    } else {
        (sort(left, spare_left, pulse), sort(right, spare_right, pulse))
    };
    let discordant = one? + other? + merge(left, right, spare);
    items.copy_from_slice(spare);
    Ok(discordant)
}

/// Merges two sorted lists into one; returns the weight of the pairs that it reorders.
fn merge(left: &[Item], right: &[Item], merged: &mut [Item]) -> f64 {
    let (mut at, mut next, mut discordant) = (0, 0, 0.0);
    let mut ahead: f64 = left.iter().map(|item| item.share).sum();
    for place in merged {
        if at == left.len() || (next < right.len() && right[next].value > left[at].value) {
            *place = right[next];
            discordant += ahead + right[next].share * (left.len() - at) as f64;
            next += 1;
        } else {
            *place = left[at];
            ahead -= left[at].share;
            at += 1;
            if at == left.len() {
                ahead = 0.0;
            }
        }
    }
    discordant
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sign(one: f64, other: f64) -> f64 {
        if one == other { 0.0 } else { (one - other).signum() }
    }

    /// The definition, pair by pair.
    fn slow(one: &[f64], other: &[f64], weight: impl Fn(usize, usize) -> f64) -> f64 {
        let mut sums = [0.0; 3];
        for i in 0..one.len() {
            for j in 0..i {
                let (s, t) = (sign(one[i], one[j]), sign(other[i], other[j]));
                let products = [s * t, s * s, t * t];
                sums.iter_mut().zip(products).for_each(|(sum, product)| *sum += product * weight(i, j));
            }
        }
        sums[0] / (sums[1] * sums[2]).sqrt()
    }

    fn slow_weighted(one: &[f64], other: &[f64]) -> f64 {
        let mut order: Vec<usize> = (0..one.len()).collect();
        order.sort_by(|a, b| (one[*b], other[*b]).partial_cmp(&(one[*a], other[*a])).unwrap().then(a.cmp(b)));
        let mut rank = vec![0; one.len()];
        order.iter().enumerate().for_each(|(place, node)| rank[*node] = place);
        slow(one, other, |i, j| 1.0 / (rank[i] + 1) as f64 + 1.0 / (rank[j] + 1) as f64)
    }

    fn same(one: f64, other: f64) -> bool {
        (one.is_nan() && other.is_nan()) || (one - other).abs() < 1e-9
    }

    proptest! {
        #[test]
        fn equals_the_definition(pairs in prop::collection::vec((0u8..6, 0u8..6), 0..40)) {
            let one: Vec<f64> = pairs.iter().map(|pair| f64::from(pair.0)).collect();
            let other: Vec<f64> = pairs.iter().map(|pair| f64::from(pair.1)).collect();
            let pulse = &Pulse::STEADY;
            prop_assert!(same(kendall(&one, &other, pulse).unwrap(), slow(&one, &other, |_, _| 1.0)));
            let expected = (slow_weighted(&one, &other) + slow_weighted(&other, &one)) / 2.0;
            prop_assert!(same(weighted_kendall(&one, &other, pulse).unwrap(), expected));
        }
    }

    #[test]
    fn long_lists_are_sorted_by_several_threads() {
        let one: Vec<f64> = (0..100_000).map(f64::from).collect();
        let reversed: Vec<f64> = one.iter().rev().copied().collect();
        assert_eq!(kendall(&one, &one, &Pulse::STEADY).unwrap(), 1.0);
        assert_eq!(kendall(&one, &reversed, &Pulse::STEADY).unwrap(), -1.0);
    }

    #[test]
    fn what_has_no_order_is_refused() {
        assert!(kendall(&[1.0], &[1.0, 2.0], &Pulse::STEADY).is_err());
        assert!(weighted_kendall(&[1.0, f64::NAN], &[1.0, 2.0], &Pulse::STEADY).is_err());
        assert!(kendall(&[1.0, 1.0], &[1.0, 2.0], &Pulse::STEADY).unwrap().is_nan());
    }
}
