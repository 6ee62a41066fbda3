//! Graphs made from a graph: its groups of nodes as nodes, and some of its nodes.
//!
//! [`collapse`] makes each group a node, such as a host from its pages; the weight of an arc is the number of
//! links from one group to the other. The links of one group at a time are counted in an array with an entry
//! per group: O(n + m) time, and sorting the successors of each group. Beside the result it takes 4 bytes per
//! node and 20 per group.

use super::{Adjacency, View};
use crate::{Error, Pulse, Result};

/// How many nodes are processed between two beats of the pulse.
const NODES_PER_BEAT: usize = 1 << 14;

/// The graph of the groups: node v is in group `groups[v]`, below `count`. Arcs within a group are left out
/// unless `loops`. A weight that does not fit is 2^32 - 1.
pub fn collapse(graph: View, groups: &[u32], count: usize, loops: bool, pulse: &Pulse) -> Result<Adjacency> {
    let nodes = graph.nodes();
    if groups.len() != nodes {
        return Err(Error::Invalid(format!("there are groups of {} nodes for {nodes} nodes", groups.len())));
    }
    if let Some(group) = groups.iter().find(|group| **group as usize >= count) {
        return Err(Error::Invalid(format!("there is no group {group}: there are {count}")));
    }
    let (starts, members) = members(groups, count);
    let mut links = vec![0u64; count];
    let mut touched: Vec<u32> = Vec::new();
    let (mut offsets, mut targets, mut weights) = (vec![0u64], Vec::new(), Vec::new());
    let mut visited = 0usize;
    for group in 0..count {
        for node in &members[starts[group] as usize..starts[group + 1] as usize] {
            if visited.is_multiple_of(NODES_PER_BEAT) {
                pulse.beat()?;
                pulse.set(visited as u64, nodes as u64);
            }
            visited += 1;
            for at in graph.range(*node as usize) {
                let target = groups[graph.targets[at] as usize];
                let sum = &mut links[target as usize];
                if *sum == 0 {
                    touched.push(target);
                }
                *sum += graph.weights.map_or(1, |weights| u64::from(weights[at]));
            }
        }
        touched.sort_unstable();
        for target in touched.drain(..) {
            let sum = std::mem::take(&mut links[target as usize]);
            if loops || target as usize != group {
                targets.push(target);
                weights.push(u32::try_from(sum).unwrap_or(u32::MAX));
            }
        }
        offsets.push(targets.len() as u64);
    }
    Ok(Adjacency::trusted(offsets, targets, Some(weights)))
}

/// The nodes of each group, increasing, and where those of each start.
fn members(groups: &[u32], count: usize) -> (Vec<u64>, Vec<u32>) {
    let mut starts = vec![0u64; count + 1];
    groups.iter().for_each(|group| starts[*group as usize + 1] += 1);
    for group in 0..count {
        starts[group + 1] += starts[group];
    }
    let mut members = vec![0u32; groups.len()];
    // The start of each group moves to its end, which is the start of the next.
    for (node, group) in groups.iter().enumerate() {
        let place = &mut starts[*group as usize];
        members[*place as usize] = node as u32;
        *place += 1;
    }
    starts.rotate_right(1);
    starts[0] = 0;
    (starts, members)
}

/// The graph of some nodes and the arcs between them; `nodes` is increasing, and node i of the result is
/// `nodes[i]`. O(n + m) time; 4 n bytes beside the result.
pub fn subgraph(graph: View, nodes: &[u32], pulse: &Pulse) -> Result<Adjacency> {
    if !nodes.is_sorted_by(|one, other| one < other) {
        return Err(Error::Invalid("the nodes of a subgraph must be increasing and distinct".into()));
    }
    if let Some(node) = nodes.last().filter(|node| **node as usize >= graph.nodes()) {
        return Err(Error::Invalid(format!("there is no node {node} in a graph of {} nodes", graph.nodes())));
    }
    // 0: not in the subgraph; otherwise its number, from 1.
    let mut numbers = vec![0u32; graph.nodes()];
    nodes.iter().zip(1..).for_each(|(node, number)| numbers[*node as usize] = number);
    let (mut offsets, mut targets) = (vec![0u64], Vec::new());
    let mut weights = graph.weights.map(|_| Vec::new());
    for (place, node) in nodes.iter().enumerate() {
        if place.is_multiple_of(NODES_PER_BEAT) {
            pulse.beat()?;
            pulse.set(place as u64, nodes.len() as u64);
        }
        for at in graph.range(*node as usize) {
            if let Some(target) = numbers[graph.targets[at] as usize].checked_sub(1) {
                targets.push(target);
                if let (Some(weights), Some(given)) = (&mut weights, graph.weights) {
                    weights.push(given[at]);
                }
            }
        }
        offsets.push(targets.len() as u64);
    }
    Ok(Adjacency::trusted(offsets, targets, weights))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn arcs_of(graph: &Adjacency) -> BTreeMap<(u32, u32), u32> {
        let view = graph.view();
        let arcs = (0..view.nodes()).flat_map(|node| {
            view.range(node).map(move |at| {
                ((node as u32, view.targets[at]), view.weights.map_or(1, |weights| weights[at]))
            })
        });
        arcs.collect()
    }

    proptest! {
        #[test]
        fn links_are_counted(
            groups in prop::collection::vec(0u32..5, 1..12),
            pairs in prop::collection::vec((any::<u32>(), any::<u32>()), 0..60),
            count in any::<bool>(),
            loops in any::<bool>(),
        ) {
            let nodes = groups.len() as u32;
            let mut arcs: Vec<(u32, u32)> = pairs.iter().map(|(one, other)| (one % nodes, other % nodes)).collect();
            let graph = Adjacency::from_arcs(groups.len(), arcs.clone(), count, &Pulse::STEADY).unwrap();
            let collapsed = collapse(graph.view(), &groups, 5, loops, &Pulse::STEADY).unwrap();
            if !count {
                arcs.sort_unstable();
                arcs.dedup();
            }
            let mut expected = BTreeMap::new();
            for (source, target) in arcs {
                let arc = (groups[source as usize], groups[target as usize]);
                if loops || arc.0 != arc.1 {
                    *expected.entry(arc).or_insert(0) += 1;
                }
            }
            prop_assert_eq!(collapsed.view().nodes(), 5);
            prop_assert_eq!(arcs_of(&collapsed), expected);
        }

        #[test]
        fn a_subgraph_has_the_arcs_between_its_nodes(
            kept in prop::collection::vec(any::<bool>(), 1..12),
            pairs in prop::collection::vec((any::<u32>(), any::<u32>()), 0..60),
        ) {
            let all = kept.len() as u32;
            let arcs: Vec<(u32, u32)> = pairs.iter().map(|(one, other)| (one % all, other % all)).collect();
            let graph = Adjacency::from_arcs(kept.len(), arcs, true, &Pulse::STEADY).unwrap();
            let nodes: Vec<u32> = (0..all).filter(|node| kept[*node as usize]).collect();
            let part = subgraph(graph.view(), &nodes, &Pulse::STEADY).unwrap();
            let number = |node: u32| nodes.binary_search(&node).ok().map(|number| number as u32);
            let expected: BTreeMap<(u32, u32), u32> = arcs_of(&graph)
                .into_iter()
                .filter_map(|((source, target), weight)| Some(((number(source)?, number(target)?), weight)))
                .collect();
            prop_assert_eq!(part.view().nodes(), nodes.len());
            prop_assert_eq!(arcs_of(&part), expected);
        }
    }

    #[test]
    fn groups_that_do_not_fit_are_refused() {
        let graph = Adjacency::from_arcs(2, vec![(0, 1)], false, &Pulse::STEADY).unwrap();
        assert!(collapse(graph.view(), &[0], 1, false, &Pulse::STEADY).is_err());
        assert!(collapse(graph.view(), &[0, 1], 1, false, &Pulse::STEADY).is_err());
        assert!(subgraph(graph.view(), &[1, 0], &Pulse::STEADY).is_err());
        assert!(subgraph(graph.view(), &[2], &Pulse::STEADY).is_err());
    }
}
