//! Betweenness estimated from random shortest paths, with a guarantee.
//!
//! A sample is a pair of nodes and one of its shortest paths, all equally likely; a node's betweenness is the
//! probability that the path passes through it, times the number of pairs. Pairs are drawn from the sources
//! with a successor and the targets with a predecessor. The path comes from a breadth-first search from both
//! ends, level by level, the side whose frontier has fewer arcs first.
//!
//! The number of samples is as small as the counts allow. After τ of them, a node on the fraction p of the
//! paths has a true probability outside p ± λ with probability at most 2 exp(-τ c(p)), by Chernoff's bound,
//! where c(p) = min(kl(p, p + λ), kl(p, p - λ)) and kl is the relative entropy of two coins. The probability
//! of failure δ is divided among the nodes: a node on many paths, which needs more samples, gets more of it, as
//! preliminary samples suggest, which are not used again; half of it is divided equally. The samples are
//! checked at sizes that are fixed then, the i-th check with δ / (i (i + 1)). So all estimates are within the
//! error together with probability 1 - δ. For a largest probability b, τ ≈ 2 (b + λ) ln(8 / δ) / λ².
//!
//! Each sample has a random sequence of its own: the result has the same bits on any number of threads.
//! Memory: 32 n bytes per thread, and 8 n.
//!
//! Sources: Matteo Riondato and Evgenios Kornaropoulos, "Fast approximation of betweenness centrality through
//! sampling", 2014; Michele Borassi and Emanuele Natale, "KADABRA is an adaptive algorithm for betweenness via
//! random approximation", 2016.

use std::collections::BTreeMap;
use std::sync::Mutex;

use rayon::prelude::*;

use super::super::View;
use super::components::{STEPS_PER_BEAT, room};
use crate::signature::hash::{random, reduce};
use crate::{Error, Pulse, Result};

/// How many samples are drawn in one go.
const SAMPLES_PER_CHUNK: u64 = 64;
/// The first check is a little later than the preliminary samples suggest.
const SAFETY: f64 = 1.05;
/// The growth from one check to the next.
const GROWTH: f64 = 1.25;
/// Path counts of a level are scaled down when they exceed this: only their ratios matter.
const LARGE: f64 = 1e100;

/// An estimate of betweenness.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampled {
    /// The estimate for each node.
    pub values: Vec<f64>,
    /// The number of shortest paths drawn.
    pub samples: u64,
}

/// Estimates betweenness: all values divided by (n - 1)(n - 2) are within `error` of the exact ones with
/// probability `confidence`.
pub fn sampled_betweenness(
    forward: View,
    backward: View,
    multiplicity: bool,
    (error, confidence): (f64, f64),
    seed: u64,
    pulse: &Pulse,
) -> Result<Sampled> {
    let nodes = forward.nodes();
    room(nodes)?;
    if !(error > 0.0 && confidence > 0.0 && confidence < 1.0) {
        let reason = format!("an error of {error} with confidence {confidence} cannot be promised");
        return Err(Error::Invalid(reason));
    }
    let with_arcs = |lists: View| -> Vec<u32> {
        (0..nodes).filter(|node| lists.outdegree(*node) > 0).map(|node| node as u32).collect()
    };
    let (sources, targets) = (with_arcs(forward), with_arcs(backward));
    let between: Vec<u32> =
        sources.iter().copied().filter(|node| backward.outdegree(*node as usize) > 0).collect();
    if nodes < 3 || between.is_empty() {
        return Ok(Sampled { values: vec![0.0; nodes], samples: 0 });
    }
    let sampler = Sampler {
        forward: View { weights: forward.weights.filter(|_| multiplicity), ..forward },
        backward: View { weights: backward.weights.filter(|_| multiplicity), ..backward },
        sources: &sources,
        targets: &targets,
        seed,
        idle: Mutex::new(Vec::new()),
    };
    let pairs = sources.len() as f64 * targets.len() as f64;
    let error = error * (nodes as f64 - 1.0) * (nodes as f64 - 2.0) / pairs;
    let mut counts = vec![0u64; nodes];
    let preliminary =
        ((2.0 * between.len() as f64 / (1.0 - confidence)).ln() / entropy(0.0, error.min(0.5))).ceil();
    sampler.draw(0..preliminary as u64, &mut counts, pulse)?;
    let fractions = between.iter().map(|node| counts[*node as usize] as f64 / preliminary);
    let Plan { first, certainties } = Plan::new(fractions.collect(), error, 1.0 - confidence);
    counts.fill(0);
    let mut samples = 0;
    for check in 1u32.. {
        let size = (first * GROWTH.powi(check as i32 - 1)).ceil() as u64;
        pulse.set(samples, size);
        sampler.draw(preliminary as u64 + samples..preliminary as u64 + size, &mut counts, pulse)?;
        samples = size;
        let more = (f64::from(check) * f64::from(check + 1)).ln();
        let known = |(node, needed): (&u32, &f64)| {
            size as f64 * certainty(counts[*node as usize] as f64 / size as f64, error) >= needed + more
        };
        if between.par_iter().zip(&certainties).all(known) {
            break;
        }
    }
    let values = counts.into_iter().map(|count| count as f64 / samples as f64 * pairs).collect();
    Ok(Sampled { values, samples })
}

/// How the probability of failure is divided among the nodes, and the size of the first check.
struct Plan {
    first: f64,
    /// ln(2 / δ) of each node's share δ: the certainty that it needs.
    certainties: Vec<f64>,
}

impl Plan {
    /// A plan for nodes that are on these fractions of the paths, about.
    fn new(fractions: Vec<f64>, error: f64, failure: f64) -> Plan {
        // The number of nodes with each fraction.
        let mut numbers: BTreeMap<u64, f64> = BTreeMap::new();
        fractions.iter().for_each(|fraction| *numbers.entry(fraction.to_bits()).or_default() += 1.0);
        let kinds: Vec<(f64, f64)> = numbers
            .into_iter()
            .map(|(fraction, number)| (certainty(f64::from_bits(fraction), error), number))
            .collect();
        let failing = |samples: f64| -> f64 {
            kinds.iter().map(|(certainty, number)| number * (-samples * certainty).exp()).sum()
        };
        // The smallest sample for which all nodes together fail with a quarter of the probability: half of
        // it is divided equally, and the first check has half of what remains.
        let (mut low, mut high) = (0.0, 1.0);
        while failing(high) > failure / 8.0 {
            (low, high) = (high, 2.0 * high);
        }
        for _ in 0..40 {
            let middle = (low + high) / 2.0;
            if failing(middle) > failure / 8.0 { low = middle } else { high = middle }
        }
        let (sum, equal) = (failing(high).max(f64::MIN_POSITIVE), 0.5 / fractions.len() as f64);
        let share = |fraction: f64| equal + 0.5 * (-high * certainty(fraction, error)).exp() / sum;
        let certainties = fractions.into_iter().map(|fraction| (2.0 / (failure * share(fraction))).ln());
        Plan { first: SAFETY * high, certainties: certainties.collect() }
    }
}

/// How much each sample adds to the certainty that the truth is within `error` of `fraction`.
fn certainty(fraction: f64, error: f64) -> f64 {
    entropy(fraction, fraction + error).min(entropy(fraction, fraction - error))
}

/// The relative entropy kl(p, q) of coins with probabilities p and q; infinite if q is not a probability.
fn entropy(p: f64, q: f64) -> f64 {
    if q <= 0.0 || q >= 1.0 {
        return f64::INFINITY;
    }
    let term = |p: f64, q: f64| if p == 0.0 { 0.0 } else { p * (p / q).ln() };
    term(p, q) + term(1.0 - p, 1.0 - q)
}

struct Sampler<'a> {
    forward: View<'a>,
    backward: View<'a>,
    sources: &'a [u32],
    targets: &'a [u32],
    seed: u64,
    idle: Mutex<Vec<Search>>,
}

impl Sampler<'_> {
    /// Draws the samples with these numbers, and counts the nodes inside their paths.
    fn draw(&self, numbers: std::ops::Range<u64>, counts: &mut [u64], pulse: &Pulse) -> Result<()> {
        let chunks: Vec<u64> = numbers.clone().step_by(SAMPLES_PER_CHUNK as usize).collect();
        let draw = |start: &u64| -> Result<Vec<u32>> {
            let taken = self.idle.lock().ok().and_then(|mut idle| idle.pop());
            let mut search = taken.unwrap_or_else(|| Search::new(self.forward.nodes()));
            let mut inside = Vec::new();
            for number in *start..(*start + SAMPLES_PER_CHUNK).min(numbers.end) {
                pulse.beat()?;
                self.sample(random(self.seed, number), &mut search, &mut inside, pulse)?;
            }
            if let Ok(mut idle) = self.idle.lock() {
                idle.push(search);
            }
            pulse.add(SAMPLES_PER_CHUNK);
            Ok(inside)
        };
        let drawn: Vec<Vec<u32>> = chunks.par_iter().map(draw).collect::<Result<_>>()?;
        drawn.iter().flatten().for_each(|node| counts[*node as usize] += 1);
        Ok(())
    }

    /// Draws a pair and one of its shortest paths, and appends the nodes between the two.
    fn sample(&self, state: u64, search: &mut Search, inside: &mut Vec<u32>, pulse: &Pulse) -> Result<()> {
        let mut draws = (0..).map(|index| random(state, index));
        let mut below = |range: usize| reduce(draws.next().unwrap_or(0), range as u64) as usize;
        let (source, target) =
            (self.sources[below(self.sources.len())], self.targets[below(self.targets.len())]);
        if source == target {
            return Ok(());
        }
        let Search { ahead, behind, meetings } = search;
        ahead.start(source, self.forward);
        behind.start(target, self.backward);
        while meetings.is_empty() && !ahead.frontier.is_empty() && !behind.frontier.is_empty() {
            if ahead.arcs <= behind.arcs {
                ahead.advance(self.forward, behind, meetings, pulse)?;
            } else {
                behind.advance(self.backward, ahead, meetings, pulse)?;
                meetings.iter_mut().for_each(|meeting| std::mem::swap(&mut meeting.0, &mut meeting.1));
            }
        }
        // A random number of 53 bits times the sum of the weights chooses among them.
        let mut fraction = || (draws.next().unwrap_or(0) >> 11) as f64 / (1u64 << 53) as f64;
        let meeting =
            choose(meetings.iter().map(|(before, after, paths)| ((*before, *after), *paths)), &mut fraction);
        if let Some((before, after)) = meeting {
            ahead.trace(before, self.backward, &mut fraction, inside);
            behind.trace(after, self.forward, &mut fraction, inside);
        }
        ahead.clear();
        behind.clear();
        meetings.clear();
        Ok(())
    }
}

/// One of some things, with a probability proportional to its weight.
fn choose<T>(
    weighed: impl Iterator<Item = (T, f64)> + Clone,
    fraction: &mut impl FnMut() -> f64,
) -> Option<T> {
    let sum: f64 = weighed.clone().map(|(_, weight)| weight).sum();
    let mut rest = fraction() * sum;
    let mut chosen = None;
    for (thing, weight) in weighed.filter(|(_, weight)| *weight > 0.0) {
        chosen = Some(thing);
        if rest < weight {
            break;
        }
        rest -= weight;
    }
    chosen
}

/// The state of a search from both ends.
struct Search {
    ahead: Side,
    behind: Side,
    /// The arcs that join the sides (the node ahead, the node behind), and the number of paths through each.
    meetings: Vec<(u32, u32, f64)>,
}

impl Search {
    fn new(nodes: usize) -> Search {
        Search { ahead: Side::new(nodes), behind: Side::new(nodes), meetings: Vec::new() }
    }
}

/// What a side knows of a node: `level` is its distance from the end and 1, or 0 if it is not reached.
#[derive(Clone, Copy)]
struct Visit {
    paths: f64,
    level: u32,
}

struct Side {
    visits: Vec<Visit>,
    reached: Vec<u32>,
    /// The part of `reached` in the last level, and the number of arcs of these nodes.
    frontier: std::ops::Range<usize>,
    arcs: usize,
}

impl Side {
    fn new(nodes: usize) -> Side {
        Side {
            visits: vec![Visit { paths: 0.0, level: 0 }; nodes],
            reached: Vec::new(),
            frontier: 0..0,
            arcs: 0,
        }
    }

    fn start(&mut self, end: u32, lists: View) {
        self.visits[end as usize] = Visit { paths: 1.0, level: 1 };
        self.reached.push(end);
        self.frontier = 0..1;
        self.arcs = lists.outdegree(end as usize);
    }

    /// Searches the next level, or finds all arcs to the other side.
    fn advance(
        &mut self,
        lists: View,
        other: &Side,
        meetings: &mut Vec<(u32, u32, f64)>,
        pulse: &Pulse,
    ) -> Result<()> {
        let (mut arcs, mut most) = (0, 0.0f64);
        for place in self.frontier.clone() {
            if place % STEPS_PER_BEAT == 0 {
                pulse.beat()?;
            }
            let node = self.reached[place];
            let Visit { paths, level } = self.visits[node as usize];
            for at in lists.range(node as usize) {
                let successor = lists.targets[at];
                let paths = lists.weights.map_or(paths, |weights| paths * f64::from(weights[at]));
                let beyond = other.visits[successor as usize];
                if beyond.level != 0 {
                    meetings.push((node, successor, paths * beyond.paths));
                    continue;
                }
                let visit = &mut self.visits[successor as usize];
                if visit.level == 0 {
                    *visit = Visit { paths, level: level + 1 };
                    self.reached.push(successor);
                    arcs += lists.outdegree(successor as usize);
                } else if visit.level == level + 1 {
                    visit.paths += paths;
                }
                most = most.max(visit.paths);
            }
        }
        self.frontier = self.frontier.end..self.reached.len();
        self.arcs = arcs;
        if most > LARGE {
            for node in &self.reached[self.frontier.clone()] {
                self.visits[*node as usize].paths /= most;
            }
        }
        Ok(())
    }

    /// Appends the nodes of a random path from `node` to the end of this side, which is left out; `back` are
    /// the lists against the direction of the search.
    fn trace(&self, mut node: u32, back: View, fraction: &mut impl FnMut() -> f64, inside: &mut Vec<u32>) {
        while self.visits[node as usize].level > 1 {
            inside.push(node);
            let level = self.visits[node as usize].level - 1;
            let before = back.range(node as usize).filter_map(|at| {
                let Visit { paths, level: own } = self.visits[back.targets[at] as usize];
                let times = back.weights.map_or(1.0, |weights| f64::from(weights[at]));
                (own == level).then_some((back.targets[at], paths * times))
            });
            let Some(chosen) = choose(before, fraction) else { return };
            node = chosen;
        }
    }

    fn clear(&mut self) {
        self.reached.drain(..).for_each(|node| self.visits[node as usize].level = 0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::betweenness;
    use super::*;
    use crate::graph::Adjacency;
    use crate::graph::measures::slow::arcs;
    use proptest::prelude::*;

    fn estimate(graph: &Adjacency, multiplicity: bool, error: f64, seed: u64) -> Sampled {
        let transpose = graph.transpose(&Pulse::STEADY).unwrap();
        let (forward, backward) = (graph.view(), transpose.view());
        sampled_betweenness(forward, backward, multiplicity, (error, 0.9), seed, &Pulse::STEADY).unwrap()
    }

    fn wrong(graph: &Adjacency, multiplicity: bool, error: f64, seed: u64) -> bool {
        let exact = betweenness(graph.view(), multiplicity, &Pulse::STEADY).unwrap();
        let scale = (exact.len() as f64 - 1.0) * (exact.len() as f64 - 2.0);
        let found = estimate(graph, multiplicity, error, seed).values;
        exact.iter().zip(found).any(|(exact, found)| (exact - found).abs() > error * scale)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_third_of_the_error_is_hardly_ever_exceeded((nodes, arcs) in arcs(10, 30), seed in any::<u64>()) {
            prop_assume!(nodes > 2);
            // One error of 0.03 in ten is allowed; of 0.09 with the same samples there is none.
            let graph = Adjacency::from_arcs(nodes, arcs, true, &Pulse::STEADY).unwrap();
            let exact = betweenness(graph.view(), true, &Pulse::STEADY).unwrap();
            let scale = (nodes as f64 - 1.0) * (nodes as f64 - 2.0);
            let found = estimate(&graph, true, 0.03, seed).values;
            for (exact, found) in exact.iter().zip(found) {
                prop_assert!((exact - found).abs() <= 0.09 * scale, "{found} is not {exact}");
            }
        }
    }

    #[test]
    fn the_promise_is_kept() {
        // A ring with chords, parallel arcs, and a tail: several shortest paths between most pairs.
        let mut arcs: Vec<(u32, u32)> =
            (0..60).flat_map(|node| [(node, (node + 1) % 60), (node, (node + 7) % 60)]).collect();
        arcs.extend([(0, 1), (0, 1), (59, 60), (60, 61), (61, 61)]);
        let graph = Adjacency::from_arcs(64, arcs, true, &Pulse::STEADY).unwrap();
        for multiplicity in [false, true] {
            let failures = (0..40).filter(|seed| wrong(&graph, multiplicity, 0.02, *seed)).count();
            assert!(failures <= 4, "{failures} of 40 estimates are wrong");
        }
        assert_eq!(estimate(&graph, true, 0.02, 1), estimate(&graph, true, 0.02, 1));
        assert_ne!(estimate(&graph, true, 0.02, 1).values, estimate(&graph, true, 0.02, 2).values);
    }

    #[test]
    fn an_empty_graph_has_no_paths_to_draw() {
        for nodes in [0, 1, 2, 5] {
            let graph = Adjacency::from_arcs(nodes, vec![], false, &Pulse::STEADY).unwrap();
            assert_eq!(estimate(&graph, false, 0.1, 1), Sampled { values: vec![0.0; nodes], samples: 0 });
        }
    }
}
