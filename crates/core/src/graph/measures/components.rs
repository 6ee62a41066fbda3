//! Strong and weak components: which nodes reach each other, and which are joined at all.
//!
//! Strong components by Pearce's algorithm: Tarjan's depth-first search with one number per node instead of
//! two, iterative, so that a path of a billion nodes needs no deep recursion. O(n + m) time; 4 n bytes, and
//! at most 20 n more for the stacks. Weak components by union-find with path halving, where the smaller node
//! becomes the root: O(m α(n)) time, 4 n bytes. Components are numbered by decreasing size, ties by their
//! smallest node; that takes 16 bytes per component.
//!
//! Sources: Robert Tarjan, "Depth-first search and linear graph algorithms", 1972; David Pearce, "A
//! space-efficient algorithm for finding strongly connected components", 2016.

use super::super::View;
use crate::{Error, Pulse, Result};

/// How many nodes or arcs are processed between two beats of the pulse.
pub(super) const STEPS_PER_BEAT: usize = 1 << 16;

/// A partition of the nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Components {
    /// The component of each node.
    pub labels: Vec<u32>,
    /// The number of nodes of each component, decreasing.
    pub sizes: Vec<u64>,
}

/// A node whose successors are being visited.
struct Frame {
    next: usize,
    node: u32,
    root: bool,
}

/// The strong components: the largest sets in which each node reaches each other.
pub fn strong_components(graph: View, pulse: &Pulse) -> Result<Components> {
    let labels = strong_labels(graph, pulse)?;
    // The labels descend from n - 1.
    let last = graph.nodes().wrapping_sub(1) as u32;
    numbered(labels.into_iter().map(|label| last - label).collect(), pulse)
}

/// Labels that descend from n - 1 in the order in which components are completed: a component is completed
/// after all that it reaches.
pub(super) fn strong_labels(graph: View, pulse: &Pulse) -> Result<Vec<u32>> {
    let nodes = graph.nodes();
    room(nodes)?;
    // 0: not visited. While a node is active, the smallest visit number that it is known to reach; then the
    // label of its component. Labels exceed the numbers of all active nodes.
    let mut reached = vec![0u32; nodes];
    let (mut frames, mut waiting): (Vec<Frame>, Vec<u32>) = (Vec::new(), Vec::new());
    let (mut visits, mut label) = (1u32, nodes as u32);
    let mut steps = 0;
    pulse.set(0, nodes as u64);
    for start in 0..nodes {
        if reached[start] != 0 {
            continue;
        }
        reached[start] = visits;
        visits += 1;
        frames.push(Frame { next: graph.range(start).start, node: start as u32, root: true });
        'deeper: while let Some(frame) = frames.last_mut() {
            let node = frame.node as usize;
            let successors = &graph.targets[frame.next..graph.range(node).end];
            let mut own = reached[node];
            for (at, successor) in successors.iter().enumerate() {
                let other = &mut reached[*successor as usize];
                if *other == 0 {
                    *other = visits;
                    visits += 1;
                    reached[node] = own;
                    frame.next += at + 1;
                    let next = graph.range(*successor as usize).start;
                    frames.push(Frame { next, node: *successor, root: true });
                    continue 'deeper;
                }
                if *other < own {
                    own = *other;
                    frame.root = false;
                }
            }
            let root = frame.root;
            frames.pop();
            if root {
                label -= 1;
                visits -= 1;
                while let Some(member) = waiting.pop_if(|member| reached[*member as usize] >= own) {
                    reached[member as usize] = label;
                    visits -= 1;
                }
                reached[node] = label;
            } else {
                reached[node] = own;
                waiting.push(node as u32);
                if let Some(parent) = frames.last_mut()
                    && own < reached[parent.node as usize]
                {
                    reached[parent.node as usize] = own;
                    parent.root = false;
                }
            }
            steps += 1;
            if steps % STEPS_PER_BEAT == 0 {
                pulse.beat()?;
                pulse.add(STEPS_PER_BEAT as u64);
            }
        }
    }
    Ok(reached)
}

/// The weak components: the largest sets whose nodes are joined by arcs of any direction.
pub fn weak_components(graph: View, pulse: &Pulse) -> Result<Components> {
    let nodes = graph.nodes();
    room(nodes)?;
    let mut parents: Vec<u32> = (0..nodes as u32).collect();
    pulse.set(0, nodes as u64);
    for node in 0..nodes {
        if node.is_multiple_of(STEPS_PER_BEAT) {
            pulse.beat()?;
            pulse.set(node as u64, nodes as u64);
        }
        let mut root = root_of(&mut parents, node as u32);
        for successor in graph.successors(node) {
            if parents[*successor as usize] != root {
                let other = root_of(&mut parents, *successor);
                let (small, large) = (root.min(other), root.max(other));
                parents[large as usize] = small;
                root = small;
            }
        }
    }
    // A parent is never larger than its child, so its own root is known.
    for node in 0..nodes {
        parents[node] = parents[parents[node] as usize];
    }
    numbered(parents, pulse)
}

fn root_of(parents: &mut [u32], mut node: u32) -> u32 {
    while parents[node as usize] != node {
        let above = parents[parents[node as usize] as usize];
        parents[node as usize] = above;
        node = above;
    }
    node
}

/// Renumbers labels below the number of nodes by decreasing size, ties by the smallest node.
fn numbered(mut labels: Vec<u32>, pulse: &Pulse) -> Result<Components> {
    pulse.beat()?;
    let mut numbers = vec![u32::MAX; labels.len()];
    let mut sizes: Vec<(u64, u32)> = Vec::new();
    for label in &mut labels {
        let number = &mut numbers[*label as usize];
        if *number == u32::MAX {
            *number = sizes.len() as u32;
            sizes.push((0, *number));
        }
        sizes[*number as usize].0 += 1;
        *label = *number;
    }
    pulse.beat()?;
    sizes.sort_by_key(|(size, _)| std::cmp::Reverse(*size));
    for (place, (_, number)) in sizes.iter().enumerate() {
        numbers[*number as usize] = place as u32;
    }
    labels.iter_mut().for_each(|label| *label = numbers[*label as usize]);
    Ok(Components { labels, sizes: sizes.into_iter().map(|(size, _)| size).collect() })
}

/// One number is needed for "none".
pub(super) fn room(nodes: usize) -> Result<()> {
    if nodes > u32::MAX as usize {
        return Err(Error::Invalid(format!("a graph of {nodes} nodes is too large: at most 2^32 - 1")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Adjacency;
    use crate::graph::measures::slow::{arcs, reachable};
    use proptest::prelude::*;

    /// From the definition: nodes with the same members, in the order that is promised.
    fn model(nodes: usize, same: impl Fn(usize, usize) -> bool) -> Components {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for node in 0..nodes {
            match groups.iter_mut().find(|group| same(group[0], node)) {
                Some(group) => group.push(node),
                None => groups.push(vec![node]),
            }
        }
        groups.sort_by_key(|group| (std::cmp::Reverse(group.len()), group[0]));
        let mut labels = vec![0; nodes];
        for (label, group) in groups.iter().enumerate() {
            group.iter().for_each(|node| labels[*node] = label as u32);
        }
        Components { labels, sizes: groups.iter().map(|group| group.len() as u64).collect() }
    }

    proptest! {
        #[test]
        fn are_those_of_the_definition((nodes, arcs) in arcs(12, 30)) {
            let graph = Adjacency::from_arcs(nodes, arcs.clone(), false, &Pulse::STEADY).unwrap();
            let reach = reachable(nodes, &arcs);
            let strong = strong_components(graph.view(), &Pulse::STEADY).unwrap();
            prop_assert_eq!(strong, model(nodes, |one, other| reach[one][other] && reach[other][one]));
            let both: Vec<(u32, u32)> = arcs.iter().flat_map(|(one, other)| [(*one, *other), (*other, *one)]).collect();
            let joined = reachable(nodes, &both);
            let weak = weak_components(graph.view(), &Pulse::STEADY).unwrap();
            prop_assert_eq!(weak, model(nodes, |one, other| joined[one][other]));
        }

        #[test]
        fn are_labelled_before_what_reaches_them((nodes, arcs) in arcs(12, 30)) {
            let graph = Adjacency::from_arcs(nodes, arcs.clone(), false, &Pulse::STEADY).unwrap();
            let labels = strong_labels(graph.view(), &Pulse::STEADY).unwrap();
            for (source, target) in arcs {
                prop_assert!(labels[source as usize] <= labels[target as usize]);
            }
        }
    }

    #[test]
    fn a_long_path_and_a_long_cycle_need_no_deep_recursion() {
        let nodes = 1 << 20;
        let path: Vec<(u32, u32)> = (1..nodes).map(|node| (node - 1, node)).collect();
        let graph = Adjacency::from_arcs(nodes as usize, path.clone(), false, &Pulse::STEADY).unwrap();
        let strong = strong_components(graph.view(), &Pulse::STEADY).unwrap();
        assert_eq!(strong.labels, (0..nodes).collect::<Vec<u32>>());
        assert_eq!(weak_components(graph.view(), &Pulse::STEADY).unwrap().sizes, [u64::from(nodes)]);
        let cycle = path.into_iter().chain([(nodes - 1, 0)]).collect();
        let graph = Adjacency::from_arcs(nodes as usize, cycle, false, &Pulse::STEADY).unwrap();
        assert_eq!(strong_components(graph.view(), &Pulse::STEADY).unwrap().sizes, [u64::from(nodes)]);
    }
}
