//! Reachability: whether a node reaches another, by a shortest path that shows it.
//!
//! A breadth-first search from both ends, level by level; the next level is that of the side whose frontier
//! has fewer arcs. All nodes of the levels before are known, so the first arc from one side to the other is
//! on a shortest path. O(n + m) time, in practice far less; 8 n bytes.

use super::super::View;
use super::components::{STEPS_PER_BEAT, room};
use crate::{Pulse, Result};

/// A node without a predecessor in the search.
const NONE: u32 = u32::MAX;

/// The search from one end: the node before each on a shortest path from that end.
struct Side<'a> {
    lists: View<'a>,
    before: Vec<u32>,
    frontier: Vec<u32>,
}

impl<'a> Side<'a> {
    fn new(lists: View<'a>, end: u32) -> Side<'a> {
        let mut before = vec![NONE; lists.nodes()];
        before[end as usize] = end;
        Side { lists, before, frontier: vec![end] }
    }

    fn arcs(&self) -> usize {
        self.frontier.iter().map(|node| self.lists.outdegree(*node as usize)).sum()
    }

    /// Searches the next level; returns an arc to a node that the other side knows.
    fn advance(&mut self, other: &Side, pulse: &Pulse) -> Result<Option<(u32, u32)>> {
        let mut next = Vec::new();
        for (step, node) in self.frontier.iter().enumerate() {
            if step % STEPS_PER_BEAT == 0 {
                pulse.beat()?;
            }
            for successor in self.lists.successors(*node as usize) {
                if other.before[*successor as usize] != NONE {
                    return Ok(Some((*node, *successor)));
                }
                if self.before[*successor as usize] == NONE {
                    self.before[*successor as usize] = *node;
                    next.push(*successor);
                }
            }
        }
        self.frontier = next;
        Ok(None)
    }

    /// The nodes from one back to the end of this side.
    fn trace(&self, mut node: u32) -> Vec<u32> {
        let mut nodes = vec![node];
        while self.before[node as usize] != node {
            node = self.before[node as usize];
            nodes.push(node);
        }
        nodes
    }
}

/// A shortest path between two nodes, both included; `None` if there is none.
pub fn shortest_path(
    forward: View,
    backward: View,
    source: u32,
    target: u32,
    pulse: &Pulse,
) -> Result<Option<Vec<u32>>> {
    room(forward.nodes())?;
    if source == target {
        return Ok(Some(vec![source]));
    }
    let (mut ahead, mut behind) = (Side::new(forward, source), Side::new(backward, target));
    while !ahead.frontier.is_empty() && !behind.frontier.is_empty() {
        let met = if ahead.arcs() <= behind.arcs() {
            ahead.advance(&behind, pulse)?
        } else {
            behind.advance(&ahead, pulse)?.map(|(after, before)| (before, after))
        };
        if let Some((last, first)) = met {
            let mut path = ahead.trace(last);
            path.reverse();
            path.extend(behind.trace(first));
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Whether each node is reached from one of these; they reach themselves.
pub(super) fn reached_from(
    graph: View,
    starts: impl Iterator<Item = u32>,
    pulse: &Pulse,
) -> Result<Vec<bool>> {
    let mut reached = vec![false; graph.nodes()];
    let mut waiting: Vec<u32> = starts.inspect(|start| reached[*start as usize] = true).collect();
    let mut steps = 0usize;
    while let Some(node) = waiting.pop() {
        if steps.is_multiple_of(STEPS_PER_BEAT) {
            pulse.beat()?;
        }
        steps += 1;
        for successor in graph.successors(node as usize) {
            if !reached[*successor as usize] {
                reached[*successor as usize] = true;
                waiting.push(*successor);
            }
        }
    }
    Ok(reached)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Adjacency;
    use crate::graph::measures::slow::{arcs, distances};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn is_a_path_as_long_as_the_distance((nodes, arcs) in arcs(12, 24)) {
            let graph = Adjacency::from_arcs(nodes, arcs.clone(), false, &Pulse::STEADY).unwrap();
            let transpose = graph.transpose(&Pulse::STEADY).unwrap();
            let distances = distances(nodes, &arcs);
            for source in 0..nodes as u32 {
                for target in 0..nodes as u32 {
                    let path = shortest_path(graph.view(), transpose.view(), source, target, &Pulse::STEADY).unwrap();
                    let distance = distances[source as usize][target as usize];
                    let Some(path) = path else {
                        prop_assert!(distance >= nodes);
                        continue;
                    };
                    prop_assert_eq!(path.len(), distance + 1);
                    prop_assert_eq!((path.first(), path.last()), (Some(&source), Some(&target)));
                    prop_assert!(path.windows(2).all(|arc| arcs.contains(&(arc[0], arc[1]))));
                }
            }
        }
    }
}
