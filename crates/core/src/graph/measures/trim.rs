//! The nodes outside all cycles: those that no cycle leads to, and those that lead to none.
//!
//! Equations along the arcs of a graph need iteration only where arcs go round. Nodes without predecessors are
//! removed, again and again (Kahn's topological sort), and their values follow from each other in the order
//! of removal; then nodes without successors, whose values follow, in the reverse order, from those of the
//! rest. In a crawl those are the pages seen and not fetched, and their links. Self-loops do not count as
//! arcs. O(n + m) time, 9 bytes per node.
//!
//! Source: Arthur B. Kahn, "Topological sorting of large networks", 1962.

use super::super::View;
use crate::{Pulse, Result};

/// The number of nodes between two beats of the pulse.
const NODES_PER_BEAT: usize = 1 << 12;

/// Where a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Before all cycles: computed first.
    Before,
    /// On a cycle, or between two.
    Core,
    /// After all cycles: computed last.
    After,
}

/// Nodes in rounds: those of a round have no arcs between them.
#[derive(Default)]
pub(super) struct Rounds {
    nodes: Vec<u32>,
    ends: Vec<usize>,
}

impl Rounds {
    /// The rounds in the order of removal.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &[u32]> {
        (0..self.ends.len()).map(|round| {
            let start = if round == 0 { 0 } else { self.ends[round - 1] };
            &self.nodes[start..self.ends[round]]
        })
    }
}

/// A graph without the nodes that are outside all cycles.
pub(super) struct Trim {
    /// Where each node is.
    pub places: Vec<Place>,
    /// The nodes before all cycles: each has predecessors of earlier rounds alone.
    pub before: Rounds,
    /// The nodes after all cycles: each has successors of earlier rounds alone.
    pub after: Rounds,
    /// The number of arcs of each node to others in the core, without its self-loop.
    pub kept: Vec<u32>,
}

impl Trim {
    /// Trims a graph, given its lists and those of its transpose.
    pub fn of(forward: View, backward: View, pulse: &Pulse) -> Result<Trim> {
        let mut places = vec![Place::Core; forward.nodes()];
        let (before, _) = remove(backward, forward, &mut places, Place::Before, pulse)?;
        let (after, kept) = remove(forward, backward, &mut places, Place::After, pulse)?;
        Ok(Trim { places, before, after, kept })
    }

    /// Whether the graph has no cycle, except for self-loops.
    pub fn acyclic(&self) -> bool {
        !self.places.contains(&Place::Core)
    }
}

/// Whether a node is in its own list.
pub(super) fn has_loop(lists: View, node: usize) -> bool {
    lists.successors(node).binary_search(&(node as u32)).is_ok()
}

/// Removes from the core the nodes whose lists in `lists` are empty, and again; `others` has the arcs reversed.
/// Returns them, and the number of arcs that each node has left.
fn remove(
    lists: View,
    others: View,
    places: &mut [Place],
    place: Place,
    pulse: &Pulse,
) -> Result<(Rounds, Vec<u32>)> {
    let mut rounds = Rounds::default();
    // Nodes that were removed before have no arcs from the core in `lists`: nothing to subtract.
    let mut left = Vec::with_capacity(lists.nodes());
    for (node, current) in places.iter_mut().enumerate() {
        if node.is_multiple_of(NODES_PER_BEAT) {
            pulse.beat()?;
        }
        let arcs = (lists.outdegree(node) - usize::from(has_loop(lists, node))) as u32;
        left.push(arcs);
        if arcs == 0 && *current == Place::Core {
            *current = place;
            rounds.nodes.push(node as u32);
        }
    }
    let mut start = 0;
    while start < rounds.nodes.len() {
        let end = rounds.nodes.len();
        rounds.ends.push(end);
        for at in start..end {
            if at.is_multiple_of(NODES_PER_BEAT) {
                pulse.beat()?;
            }
            for next in others.successors(rounds.nodes[at] as usize) {
                // A node that is not in the core may count below 0: its place is looked at last, and rarely.
                let index = *next as usize;
                left[index] = left[index].wrapping_sub(1);
                if left[index] == 0 && places[index] == Place::Core {
                    places[index] = place;
                    rounds.nodes.push(*next);
                }
            }
        }
        start = end;
    }
    Ok((rounds, left))
}

#[cfg(test)]
mod tests {
    use super::super::super::Adjacency;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keeps_the_nodes_on_cycles_and_between_them(
            arcs in prop::collection::vec((0u32..12, 0u32..12), 0..24),
        ) {
            let graph = Adjacency::from_arcs(12, arcs.clone(), false, &Pulse::STEADY).unwrap();
            let transpose = graph.transpose(&Pulse::STEADY).unwrap();
            let mut reached = [[false; 12]; 12];
            arcs.iter().filter(|arc| arc.0 != arc.1).for_each(|arc| reached[arc.0 as usize][arc.1 as usize] = true);
            for middle in 0..12 {
                let onward = reached[middle];
                for row in reached.iter_mut().filter(|row| row[middle]) {
                    row.iter_mut().zip(onward).for_each(|(reached, onward)| *reached |= onward);
                }
            }
            let cyclic = |node: usize| reached[node][node];
            let after = |node: usize| cyclic(node) || (0..12).any(|other| cyclic(other) && reached[other][node]);
            let before = |node: usize| cyclic(node) || (0..12).any(|other| cyclic(other) && reached[node][other]);
            let trim = Trim::of(graph.view(), transpose.view(), &Pulse::STEADY).unwrap();
            for node in 0..12 {
                let place = match (after(node), before(node)) {
                    (true, true) => Place::Core,
                    (true, false) => Place::After,
                    (false, _) => Place::Before,
                };
                prop_assert_eq!(trim.places[node], place);
            }
            for node in (0..12).filter(|node| trim.places[*node] == Place::Core) {
                let to_core = graph.view().successors(node).iter().map(|target| *target as usize);
                let kept = to_core.filter(|target| *target != node && trim.places[*target] == Place::Core).count();
                prop_assert_eq!(trim.kept[node] as usize, kept);
            }
            prop_assert_eq!(trim.acyclic(), (0..12).all(|node| !cyclic(node)));
            let order: Vec<u32> = trim.before.iter().flatten().copied().collect();
            for (at, node) in order.iter().enumerate() {
                let earlier = transpose.view().successors(*node as usize).iter();
                prop_assert!(earlier.filter(|u| *u != node).all(|u| order[..at].contains(u)));
            }
            let order: Vec<u32> = trim.after.iter().flatten().copied().collect();
            for (at, node) in order.iter().enumerate() {
                let earlier = graph.view().successors(*node as usize).iter();
                prop_assert!(earlier.filter(|u| *u != node).all(|u| order[..at].contains(u)));
            }
        }
    }
}
