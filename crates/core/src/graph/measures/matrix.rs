//! The adjacency matrix as a linear operator, and sums of vectors: what the spectral measures iterate.
//!
//! A product with the matrix of arcs u → v pulls: (Aᵀx)(v) = Σ_{u → v} w(u, v) x(u), where the lists are those of
//! the transpose, or (Ax)(v) = Σ_{v → u} w(v, u) x(u), where they are those of the graph. Nodes are split into
//! parts of about as many arcs, which threads take one by one; every value is computed by one thread in list
//! order, and sums are made of the sums of fixed chunks, so results do not depend on the number of threads. A
//! product costs O(n + m) and no memory.

use std::ops::Range;

use rayon::prelude::*;

use super::super::View;
use crate::{Error, Pulse, Result};

/// The number of arcs and nodes in a part: long enough for a thread, short enough to stop soon.
const PART: u64 = 1 << 15;
/// The number of values that are summed in order.
const CHUNK: usize = 1 << 14;

/// When an iteration ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    /// It has converged when its change, in the norm that the measure states, is at most this.
    pub tolerance: f64,
    /// The maximum number of iterations.
    pub iterations: u32,
}

impl Stop {
    /// Refuses what cannot be met.
    pub fn check(&self) -> Result<()> {
        if self.tolerance.is_nan() || self.tolerance < 0.0 {
            let reason = format!("the tolerance is {}, and must be at least 0", self.tolerance);
            return Err(Error::Invalid(reason));
        }
        if self.iterations == 0 {
            return Err(Error::Invalid("there must be at least one iteration".into()));
        }
        Ok(())
    }

    /// Whether an iteration that changed the values this much has converged. Shows how many of the digits asked
    /// for there are, as changes shrink about as much each time.
    pub(super) fn reached(&self, change: f64, pulse: &Pulse) -> bool {
        let digits = (change.ln() / self.tolerance.ln()).clamp(0.0, 1.0);
        pulse.residual(change);
        pulse.set((digits * 1000.0) as u64, 1000);
        change <= self.tolerance
    }
}

/// All nodes in consecutive ranges of about `size` arcs and nodes.
pub(super) fn parts(offsets: &[u64], size: u64) -> Vec<Range<usize>> {
    let nodes = offsets.len() - 1;
    let (mut parts, mut start) = (Vec::new(), 0);
    for end in 1..=nodes {
        if end == nodes || offsets[end] - offsets[start] + (end - start) as u64 >= size {
            parts.push(start..end);
            start = end;
        }
    }
    parts
}

/// Values, one per node, split where parts end.
pub(super) fn split<'a, T>(parts: &[Range<usize>], mut values: &'a mut [T]) -> Vec<&'a mut [T]> {
    let mut slices = Vec::with_capacity(parts.len());
    for part in parts {
        let (slice, rest) = values.split_at_mut(part.len());
        slices.push(slice);
        values = rest;
    }
    slices
}

/// The adjacency matrix of a graph, or its transpose.
pub(super) struct Matrix<'a> {
    lists: View<'a>,
    parts: Vec<Range<usize>>,
}

impl<'a> Matrix<'a> {
    /// The matrix whose row v is the list of node v.
    pub fn of(lists: View<'a>) -> Matrix<'a> {
        Matrix { lists, parts: parts(lists.offsets, PART) }
    }

    /// Row v of the matrix, times a vector.
    #[inline]
    fn row(&self, node: usize, vector: &[f64]) -> f64 {
        let range = self.lists.range(node);
        let list = &self.lists.targets[range.clone()];
        match self.lists.weights {
            None => list.iter().map(|target| vector[*target as usize]).sum(),
            Some(weights) => list
                .iter()
                .zip(&weights[range])
                .map(|(target, weight)| f64::from(*weight) * vector[*target as usize])
                .sum(),
        }
    }

    /// Sets `result(v)` to `finish(v, (Mx)(v))`, M being the matrix.
    pub fn multiply(
        &self,
        vector: &[f64],
        result: &mut [f64],
        finish: impl Fn(usize, f64) -> f64 + Sync,
        pulse: &Pulse,
    ) -> Result<()> {
        let work = self.parts.iter().zip(split(&self.parts, result)).collect::<Vec<_>>();
        work.into_par_iter().try_for_each(|(part, result)| {
            pulse.beat()?;
            for (node, result) in part.clone().zip(result) {
                *result = finish(node, self.row(node, vector));
            }
            Ok(())
        })
    }
}

/// The sum of a function of 0, 1, …, `count` − 1.
pub(super) fn sum(count: usize, value: impl Fn(usize) -> f64 + Sync) -> f64 {
    let chunks = (0..count.div_ceil(CHUNK)).into_par_iter();
    let sums = chunks.map(|chunk| (chunk * CHUNK..count.min((chunk + 1) * CHUNK)).map(&value).sum::<f64>());
    sums.collect::<Vec<f64>>().into_iter().sum()
}

/// Multiplies every value by a factor.
pub(super) fn scale(values: &mut [f64], factor: f64) {
    values.par_chunks_mut(CHUNK).for_each(|chunk| chunk.iter_mut().for_each(|value| *value *= factor));
}

/// The sum of the absolute differences of two vectors: the norm ℓ₁ of a change.
pub(super) fn change(one: &[f64], other: &[f64]) -> f64 {
    sum(one.len(), |node| (one[node] - other[node]).abs())
}

/// Weights of the nodes, none negative and not all zero; `what` they are, for the refusal of others.
pub(super) fn check_weights(weights: &[f64], nodes: usize, what: &str) -> Result<()> {
    if weights.len() != nodes {
        let reason = format!("the {what} has {} numbers for {nodes} nodes", weights.len());
        return Err(Error::Invalid(reason));
    }
    if let Some(node) = weights.iter().position(|weight| !weight.is_finite() || *weight < 0.0) {
        let reason = format!(
            "the {what} of node {node} is {}, and must be a number that is at least 0",
            weights[node]
        );
        return Err(Error::Invalid(reason));
    }
    let total = sum(nodes, |node| weights[node]);
    if nodes > 0 && (total == 0.0 || !total.is_finite()) {
        return Err(Error::Invalid(format!("the {what} sums to {total}, and must be above 0 and finite")));
    }
    Ok(())
}

/// Weights of the nodes, scaled to sum to 1.
pub(super) fn distribution(weights: &[f64], nodes: usize, what: &str) -> Result<Vec<f64>> {
    check_weights(weights, nodes, what)?;
    let mut distribution = weights.to_vec();
    scale(&mut distribution, 1.0 / sum(nodes, |node| weights[node]));
    Ok(distribution)
}
