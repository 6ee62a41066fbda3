//! Generated graphs that resemble the web: the copying model, with hosts.
//!
//! Nodes are pages in the order of their URLs. A host is a range of pages; the sizes of hosts follow a power law
//! with exponent 2. A page copies each link of a *prototype*, one of the last [`WINDOW`] pages of its host, with
//! probability c, as pages made from one template do, and adds links of its own: their number follows a power
//! law with exponent 2.5, and is 1 − c of the mean degree on average. One page in 64, and the first of a host, has
//! no prototype. Of a page's own links one in eight goes to another host, where the host of rank r in a random
//! order is chosen with probability proportional to 1 / r and its first pages are preferred; three go to the first pages
//! of its own host (its menu), and four to pages nearby.
//!
//! Copying makes indegrees follow a power law, many small dense subgraphs, and lists that resemble those before
//! them; 2 to 4 bits per link with reference coding, as in crawls of real sites.
//!
//! The graph depends on its seed alone, and is made in node order: in memory are the lists of the window and 4
//! bytes per host. Time: O(m).
//!
//! Source: Ravi Kumar, Prabhakar Raghavan, Sridhar Rajagopalan, D. Sivakumar, Andrew Tomkins and Eli Upfal,
//! "Stochastic models for the web graph", 2000.

use std::collections::VecDeque;

use super::forms::Sink;
use crate::signature::hash::{random, reduce};
use crate::{Error, Pulse, Result};

/// How many pages back a prototype may be.
const WINDOW: usize = 6;
/// One page in this many begins a new template.
const RESET: u64 = 64;
/// Draws per link, since some are drawn twice: measured.
const DISTINCT: f64 = 1.43;
const NODES_PER_BEAT: usize = 1 << 10;
/// The largest host has at most this share of all nodes.
const LARGEST_HOST: u64 = 50;
/// The largest number of own links, in mean degrees.
const LARGEST_DEGREE: f64 = 400.0;

/// A graph to generate.
#[derive(Clone, Copy, Debug)]
pub struct Recipe {
    /// The number of nodes.
    pub nodes: usize,
    /// What the random choices depend on.
    pub seed: u64,
    /// The mean outdegree, about.
    pub degree: f64,
    /// The probability that a link of the prototype is copied.
    pub copying: f64,
}

/// A sequence of random numbers.
struct Random {
    state: u64,
    drawn: u64,
}

impl Random {
    fn next(&mut self) -> u64 {
        self.drawn += 1;
        random(self.state, self.drawn)
    }

    /// A number from 0 to `range` − 1.
    fn below(&mut self, range: u64) -> u64 {
        reduce(self.next(), range)
    }

    /// A number in (0, 1].
    fn unit(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// A number from 0 to `range` − 1, where r has a probability of about 1 / (r + 1), up to a factor.
    fn zipf(&mut self, range: u64) -> u64 {
        ((libm::pow(range as f64 + 1.0, self.unit()) as u64).max(1) - 1).min(range - 1)
    }
}

/// Makes a graph and hands its lists to `sink`, in node order; returns the number of arcs.
pub fn generate(recipe: &Recipe, sink: &mut dyn Sink, pulse: &Pulse) -> Result<u64> {
    check(recipe)?;
    let hosts = hosts(recipe, pulse)?;
    let mut window: VecDeque<Vec<u32>> = VecDeque::with_capacity(WINDOW);
    let (mut host, mut arcs) = (0, 0);
    for node in 0..recipe.nodes as u64 {
        if (node as usize).is_multiple_of(NODES_PER_BEAT) {
            pulse.beat()?;
            pulse.set(node, recipe.nodes as u64);
        }
        if hosts.get(host + 1).is_some_and(|next| u64::from(*next) == node) {
            host += 1;
            window.clear();
        }
        let mut list = if window.len() == WINDOW { window.pop_front() } else { None }.unwrap_or_default();
        let mut draws = Random { state: random(recipe.seed, node + 1), drawn: 0 };
        links(node, host, &hosts, recipe, &window, &mut draws, &mut list);
        sink.push(&list, None)?;
        arcs += list.len() as u64;
        window.push_back(list);
    }
    Ok(arcs)
}

fn check(recipe: &Recipe) -> Result<()> {
    let Recipe { nodes, degree, copying, .. } = *recipe;
    let reason = if nodes as u64 > 1 << 32 {
        format!("a graph has at most 2^32 nodes, not {nodes}")
    } else if !(1.0..=1e6).contains(&degree) {
        format!("the mean degree is from 1 to 1,000,000, not {degree}")
    } else if !(0.0..=1.0).contains(&copying) {
        format!("the probability of copying is from 0 to 1, not {copying}")
    } else {
        return Ok(());
    };
    Err(Error::Invalid(reason))
}

/// The first page of each host.
fn hosts(recipe: &Recipe, pulse: &Pulse) -> Result<Vec<u32>> {
    let nodes = recipe.nodes as u64;
    let largest = (nodes / LARGEST_HOST).max(1);
    let mut draws = Random { state: random(recipe.seed, 0), drawn: 0 };
    let (mut starts, mut start) = (Vec::new(), 0);
    while start < nodes {
        if starts.len().is_multiple_of(NODES_PER_BEAT) {
            pulse.beat()?;
        }
        starts.push(start as u32);
        start += ((4.0 / draws.unit()) as u64).clamp(1, largest);
    }
    Ok(starts)
}

/// Replaces `list` by the successors of a node.
fn links(
    node: u64,
    host: usize,
    hosts: &[u32],
    recipe: &Recipe,
    window: &VecDeque<Vec<u32>>,
    draws: &mut Random,
    list: &mut Vec<u32>,
) {
    list.clear();
    let of = |host: usize| {
        let start = u64::from(hosts[host]);
        let end = hosts.get(host + 1).map_or(recipe.nodes as u64, |next| u64::from(*next));
        (start, end - start)
    };
    let (start, size) = of(host);
    let mut mean = recipe.degree * DISTINCT;
    if !window.is_empty() && draws.below(RESET) > 0 {
        let back = draws.zipf(window.len() as u64) as usize;
        let prototype = &window[window.len() - 1 - back];
        list.extend(prototype.iter().filter(|_| draws.unit() <= recipe.copying));
        mean *= 1.0 - recipe.copying;
    }
    // The mean of a power law with exponent 2.5 is three times its least value.
    let own = (mean / 3.0 * libm::pow(draws.unit(), -2.0 / 3.0)).min(recipe.degree * LARGEST_DEGREE);
    for _ in 0..(own + draws.unit()) as usize {
        let target = match draws.below(8) {
            0 => {
                let rank = draws.zipf(hosts.len() as u64);
                let (start, size) = of(reduce(random(recipe.seed ^ 1, rank), hosts.len() as u64) as usize);
                start + draws.zipf(size)
            }
            1..=3 => start + draws.zipf(size),
            _ => {
                let distance = draws.zipf(size) + 1;
                let forth = draws.below(2) == 0;
                if forth { node + distance } else { node.wrapping_sub(distance) }
            }
        };
        if target < recipe.nodes as u64 {
            list.push(target as u32);
        }
    }
    list.sort_unstable();
    list.dedup();
    list.retain(|target| u64::from(*target) != node);
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Kept(Vec<Vec<u32>>);

    impl Sink for Kept {
        fn push(&mut self, successors: &[u32], _weights: Option<&[u32]>) -> Result<()> {
            self.0.push(successors.to_vec());
            Ok(())
        }
    }

    fn made(nodes: usize, seed: u64) -> Vec<Vec<u32>> {
        let mut kept = Kept(Vec::new());
        let recipe = Recipe { nodes, seed, degree: 25.0, copying: 0.92 };
        let arcs = generate(&recipe, &mut kept, &Pulse::STEADY).unwrap();
        assert_eq!(arcs, kept.0.iter().map(|list| list.len() as u64).sum::<u64>());
        kept.0
    }

    #[test]
    fn is_a_graph_that_depends_on_the_seed_alone() {
        for nodes in [0, 1, 2, 100, 5000] {
            let lists = made(nodes, 7);
            assert_eq!(lists.len(), nodes);
            for (node, list) in lists.iter().enumerate() {
                assert!(list.is_sorted_by(|one, other| one < other));
                assert!(list.iter().all(|target| (*target as usize) < nodes && *target as usize != node));
            }
            assert_eq!(lists, made(nodes, 7));
        }
        assert_ne!(made(100, 7), made(100, 8));
    }

    #[test]
    fn has_the_shape_of_the_web() {
        let lists = made(20_000, 1);
        let arcs: usize = lists.iter().map(Vec::len).sum();
        assert!((15..35).contains(&(arcs / lists.len())), "{}", arcs / lists.len());
        let mut indegrees = vec![0usize; lists.len()];
        lists.iter().flatten().for_each(|target| indegrees[*target as usize] += 1);
        indegrees.sort_unstable_by(|one, other| other.cmp(one));
        // The best-known hundredth of the pages has a large share of the links.
        let top: usize = indegrees[..lists.len() / 100].iter().sum();
        assert!(top * 10 > arcs, "{top} of {arcs}");
        let copied =
            lists.windows(2).map(|pair| pair[1].iter().filter(|target| pair[0].contains(target)).count());
        assert!(copied.sum::<usize>() * 4 > arcs);
    }
}
