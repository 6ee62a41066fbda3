//! Betweenness: the share of shortest paths that pass through a node.
//!
//! b(x) = Σ σ_yz(x) / σ_yz over the ordered pairs of other nodes y ≠ z with a path, where σ_yz is the number
//! of shortest paths from y to z, and σ_yz(x) the number of those through x. By Brandes' algorithm: from each
//! source a breadth-first search counts the paths, and the dependencies δ(x) = Σ σ(x) / σ(v) (1 + δ(v)), over
//! the successors v of x one level deeper, are summed from the deepest level up. One value per node holds
//! first σ, then (1 + δ) / σ, so that neither lists of predecessors nor the transpose are needed.
//!
//! O(n m) time. Sources are processed in chunks whose number depends on the graph alone, and the sums of
//! chunks are added in order: the result has the same bits on any number of threads. Each thread takes 20 n
//! bytes for its search, and 64 n for finished chunks. Path counts are floating-point numbers: exact up to
//! 2^53, then correct to 53 bits; a source from which they exceed 2^960 is searched again with exponents of
//! 64 bits.
//!
//! Source: Ulrik Brandes, "A faster algorithm for betweenness centrality", 2001.

use rayon::prelude::*;

use super::super::View;
use super::components::{STEPS_PER_BEAT, room};
use crate::{Pulse, Result};

/// The number of chunks of a large graph.
const CHUNKS: usize = 512;
/// How many finished chunks each thread may have before they are added up.
const CHUNKS_PER_THREAD: usize = 8;

/// The betweenness of each node. With `multiplicity`, parallel arcs (weights) make different paths.
pub fn betweenness(graph: View, multiplicity: bool, pulse: &Pulse) -> Result<Vec<f64>> {
    let nodes = graph.nodes();
    room(nodes)?;
    let graph = View { weights: graph.weights.filter(|_| multiplicity), ..graph };
    let sources: Vec<u32> =
        (0..nodes).filter(|node| graph.outdegree(*node) > 0).map(|node| node as u32).collect();
    pulse.set(0, sources.len() as u64);
    let chunks: Vec<&[u32]> = sources.chunks(sources.len().div_ceil(CHUNKS).max(1)).collect();
    let mut values = vec![0.0; nodes];
    for wave in chunks.chunks(CHUNKS_PER_THREAD * rayon::current_num_threads()) {
        let sums: Vec<Vec<f64>> = wave
            .par_iter()
            .with_max_len(1)
            .map(|sources| match graph.weights {
                None => dependencies(graph, sources, |_| 1.0, pulse),
                Some(weights) => dependencies(graph, sources, |at| f64::from(weights[at]), pulse),
            })
            .collect::<Result<_>>()?;
        for part in sums {
            values.iter_mut().zip(part).for_each(|(value, sum)| *value += sum);
        }
    }
    Ok(values)
}

/// The sums of the dependencies of some sources; an arc counts as many times as its weight.
fn dependencies(
    graph: View,
    sources: &[u32],
    times: impl Fn(usize) -> f64 + Copy,
    pulse: &Pulse,
) -> Result<Vec<f64>> {
    let mut sums = vec![0.0; graph.nodes()];
    let mut search = Search::<f64>::new(graph);
    let mut wide = None;
    for source in sources {
        pulse.beat()?;
        if !search.add(*source, times, &mut sums, pulse)? {
            wide.get_or_insert_with(|| Search::<Wide>::new(graph)).add(*source, times, &mut sums, pulse)?;
        }
        pulse.add(1);
    }
    Ok(sums)
}

/// What a search knows of a node: `level` is its distance and 1, or 0 if it is not reached.
#[derive(Clone, Copy)]
struct Visit<C> {
    value: C,
    level: u32,
}

/// Breadth-first searches, one at a time.
struct Search<'a, C> {
    graph: View<'a>,
    visits: Vec<Visit<C>>,
    order: Vec<u32>,
}

impl<'a, C: Count> Search<'a, C> {
    fn new(graph: View<'a>) -> Self {
        Search { graph, visits: vec![Visit { value: C::ZERO, level: 0 }; graph.nodes()], order: Vec::new() }
    }

    /// Adds the dependencies of a source to the sums; `false`, with nothing added, if the path counts are
    /// too large.
    fn add(
        &mut self,
        source: u32,
        times: impl Fn(usize) -> f64,
        sums: &mut [f64],
        pulse: &Pulse,
    ) -> Result<bool> {
        let Search { graph, visits, order } = self;
        visits[source as usize] = Visit { value: C::ONE, level: 1 };
        order.push(source);
        let mut done = 0;
        let mut fits = true;
        while let Some(node) = order.get(done) {
            let node = *node as usize;
            done += 1;
            if done % STEPS_PER_BEAT == 0 {
                pulse.beat()?;
            }
            let Visit { value, level } = visits[node];
            fits &= value.fits();
            let range = graph.range(node);
            for (at, successor) in (range.start..).zip(&graph.targets[range]) {
                let visit = &mut visits[*successor as usize];
                if visit.level == 0 {
                    *visit = Visit { value: value.times(times(at)), level: level + 1 };
                    order.push(*successor);
                } else if visit.level == level + 1 {
                    visit.value = visit.value.plus(value.times(times(at)));
                }
            }
        }
        if fits {
            let deepest = order.last().map_or(0, |node| visits[*node as usize].level);
            for (step, node) in order[1..].iter().rev().enumerate() {
                if step % STEPS_PER_BEAT == 0 {
                    pulse.beat()?;
                }
                let node = *node as usize;
                let Visit { value: paths, level } = visits[node];
                let mut dependency = 0.0;
                if level < deepest {
                    let mut sum = C::ZERO;
                    let range = graph.range(node);
                    for (at, successor) in (range.start..).zip(&graph.targets[range]) {
                        let visit = visits[*successor as usize];
                        if visit.level == level + 1 {
                            sum = sum.plus(visit.value.times(times(at)));
                        }
                    }
                    dependency = paths.product(sum);
                    sums[node] += dependency;
                }
                visits[node].value = paths.divide(1.0 + dependency);
            }
        }
        order.drain(..).for_each(|node| visits[node as usize].level = 0);
        Ok(fits)
    }
}

/// A number of paths, or its inverse.
trait Count: Copy {
    const ZERO: Self;
    const ONE: Self;
    fn plus(self, other: Self) -> Self;
    fn times(self, factor: f64) -> Self;
    fn product(self, other: Self) -> f64;
    /// `dividend` / self.
    fn divide(self, dividend: f64) -> Self;
    /// Whether this number, the products with it and its inverse can be represented.
    fn fits(self) -> bool;
}

impl Count for f64 {
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;

    #[inline]
    fn plus(self, other: f64) -> f64 {
        self + other
    }

    #[inline]
    fn times(self, factor: f64) -> f64 {
        self * factor
    }

    #[inline]
    fn product(self, other: f64) -> f64 {
        self * other
    }

    #[inline]
    fn divide(self, dividend: f64) -> f64 {
        dividend / self
    }

    #[inline]
    fn fits(self) -> bool {
        self < f64::from_bits((1023 + 960) << 52)
    }
}

/// mantissa 2^exponent; the mantissa is 0 or between 1 and 2.
#[derive(Clone, Copy)]
struct Wide {
    mantissa: f64,
    exponent: i64,
}

/// 2^exponent; 0 if it is too small.
fn power(exponent: i64) -> f64 {
    if exponent < -1022 { 0.0 } else { f64::from_bits(((exponent.min(1023) + 1023) as u64) << 52) }
}

impl Wide {
    fn new(mantissa: f64, exponent: i64) -> Wide {
        if mantissa == 0.0 {
            return Wide::ZERO;
        }
        let own = ((mantissa.to_bits() >> 52) & 0x7ff) as i64 - 1023;
        Wide { mantissa: mantissa * power(-own), exponent: exponent + own }
    }
}

impl Count for Wide {
    const ZERO: Wide = Wide { mantissa: 0.0, exponent: i64::MIN / 2 };
    const ONE: Wide = Wide { mantissa: 1.0, exponent: 0 };

    fn plus(self, other: Wide) -> Wide {
        let (large, small) = if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        Wide::new(large.mantissa + small.mantissa * power(small.exponent - large.exponent), large.exponent)
    }

    fn times(self, factor: f64) -> Wide {
        Wide::new(self.mantissa * factor, self.exponent)
    }

    fn product(self, other: Wide) -> f64 {
        self.mantissa * other.mantissa * power(self.exponent + other.exponent)
    }

    fn divide(self, dividend: f64) -> Wide {
        Wide::new(dividend / self.mantissa, -self.exponent)
    }

    fn fits(self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Adjacency;
    use crate::graph::measures::slow::{arcs, distances, shortest_paths};
    use proptest::prelude::*;

    /// Every shortest path of every pair, one by one.
    fn model(nodes: usize, arcs: &[(u32, u32)]) -> Vec<f64> {
        let distances = distances(nodes, arcs);
        let mut values = vec![0.0; nodes];
        for source in 0..nodes {
            for target in (0..nodes).filter(|target| *target != source) {
                let paths = shortest_paths(nodes, arcs, &distances, source, target);
                for path in &paths {
                    path[1..path.len() - 1].iter().for_each(|node| values[*node] += 1.0 / paths.len() as f64);
                }
            }
        }
        values
    }

    fn assert_close(found: &[f64], expected: &[f64]) {
        for (node, (one, other)) in found.iter().zip(expected).enumerate() {
            assert!((one - other).abs() <= 1e-9 * other.max(1.0), "node {node}: {one} is not {other}");
        }
    }

    proptest! {
        #[test]
        fn is_that_of_the_definition((nodes, arcs) in arcs(10, 30)) {
            let graph = Adjacency::from_arcs(nodes, arcs.clone(), true, &Pulse::STEADY).unwrap();
            assert_close(&betweenness(graph.view(), true, &Pulse::STEADY).unwrap(), &model(nodes, &arcs));
            let mut distinct = arcs;
            distinct.sort_unstable();
            distinct.dedup();
            assert_close(&betweenness(graph.view(), false, &Pulse::STEADY).unwrap(), &model(nodes, &distinct));
        }

        #[test]
        fn wide_counts_give_the_same((nodes, arcs) in arcs(10, 30)) {
            let graph = Adjacency::from_arcs(nodes, arcs, false, &Pulse::STEADY).unwrap();
            let (mut narrow, mut wide) = (vec![0.0; nodes], vec![0.0; nodes]);
            for source in 0..nodes as u32 {
                Search::<f64>::new(graph.view()).add(source, |_| 1.0, &mut narrow, &Pulse::STEADY).unwrap();
                Search::<Wide>::new(graph.view()).add(source, |_| 1.0, &mut wide, &Pulse::STEADY).unwrap();
            }
            assert_close(&narrow, &wide);
        }
    }

    #[test]
    fn more_paths_than_a_double_can_count() {
        // A ladder of 1,500 diamonds has 2^1500 shortest paths from end to end; beside it a single path, of
        // which each node is on one path of as many pairs as there are nodes before and after it.
        let diamonds = 1500u32;
        let mut arcs = Vec::new();
        for at in 0..diamonds {
            let (start, end) = (3 * at, 3 * at + 3);
            arcs.extend([(start, start + 1), (start, start + 2), (start + 1, end), (start + 2, end)]);
        }
        let ladder = 3 * diamonds + 1;
        arcs.extend((0..2 * diamonds).map(|at| (if at == 0 { 0 } else { ladder + at - 1 }, ladder + at)));
        let nodes = (ladder + 2 * diamonds) as usize;
        let graph = Adjacency::from_arcs(nodes, arcs, false, &Pulse::STEADY).unwrap();
        let found = betweenness(graph.view(), false, &Pulse::STEADY).unwrap();
        for at in 0..diamonds as usize {
            let rest = (ladder as usize - 1 - 3 * at - 3) as f64 + 1.0;
            // Sources: all before, half of whose paths pass here.
            assert_close(&found[3 * at + 1..3 * at + 2], &[(3 * at + 1) as f64 * rest / 2.0]);
        }
        for at in 0..2 * diamonds as usize {
            let expected = (at + 1) as f64 * (2 * diamonds as usize - at - 1) as f64;
            assert_close(&found[ladder as usize + at..ladder as usize + at + 1], &[expected]);
        }
    }
}
