//! Adjacency lists in memory: what the measures read.
//!
//! Compressed sparse rows, as SciPy calls them: the successors of node v are
//! `targets[offsets[v]..offsets[v + 1]]`, increasing and distinct. A graph of n nodes and m arcs takes
//! 8 (n + 1) + 4 m bytes, and 4 m more with weights. Parallel arcs are one arc; their number is its weight, if
//! weights are kept. The arrays may belong to someone else (a NumPy array, a mapped file).

use std::ops::Range;
use std::sync::Arc;

use super::Node;
use crate::{Error, Pulse, Result};

/// How many nodes are processed between two beats of the pulse.
const NODES_PER_BEAT: usize = 1 << 14;

/// A shared array, whoever owns it.
pub type Numbers<T> = Arc<dyn AsRef<[T]> + Send + Sync>;

/// A graph whose lists can be read in node order, repeatedly and by several threads.
pub trait Lists: Sync {
    /// The number of nodes.
    fn nodes(&self) -> usize;

    /// The number of arcs.
    fn arcs(&self) -> u64;

    /// Calls `visit` with every node of a range and its successors, increasing and distinct.
    fn scan(&self, range: Range<usize>, pulse: &Pulse, visit: &mut dyn FnMut(Node, &[u32])) -> Result<()>;
}

/// The adjacency lists of a graph.
#[derive(Clone)]
pub struct Adjacency {
    offsets: Numbers<u64>,
    targets: Numbers<u32>,
    weights: Option<Numbers<u32>>,
}

impl Adjacency {
    /// A graph with these arrays, which are checked: one pass over them.
    pub fn new(
        offsets: Numbers<u64>,
        targets: Numbers<u32>,
        weights: Option<Numbers<u32>>,
        pulse: &Pulse,
    ) -> Result<Adjacency> {
        let graph = Adjacency { offsets, targets, weights };
        graph.check(pulse)?;
        Ok(graph)
    }

    /// A graph with these arrays, which fulfil the promise of this type.
    pub fn trusted(offsets: Vec<u64>, targets: Vec<u32>, weights: Option<Vec<u32>>) -> Adjacency {
        debug_assert_eq!(offsets.last().copied(), Some(targets.len() as u64));
        let weights = weights.map(|weights| Arc::new(weights) as Numbers<u32>);
        Adjacency { offsets: Arc::new(offsets), targets: Arc::new(targets), weights }
    }

    /// The graph of `nodes` nodes with these arcs, in any order; with `count` the number of parallel arcs
    /// becomes a weight.
    pub fn from_arcs(
        nodes: usize,
        mut arcs: Vec<(u32, u32)>,
        count: bool,
        pulse: &Pulse,
    ) -> Result<Adjacency> {
        if nodes as u64 > 1 << 32 {
            return Err(Error::Invalid(format!("a graph has at most 2^32 nodes, not {nodes}")));
        }
        if let Some((source, target)) = arcs.iter().find(|arc| arc.0.max(arc.1) as usize >= nodes) {
            let reason = format!("there is no arc from {source} to {target} in a graph of {nodes} nodes");
            return Err(Error::Invalid(reason));
        }
        pulse.beat()?;
        arcs.sort_unstable();
        pulse.beat()?;
        let (mut offsets, mut targets) = (Vec::with_capacity(nodes + 1), Vec::with_capacity(arcs.len()));
        let mut weights = Vec::new();
        for same in arcs.chunk_by(|one, other| one == other) {
            let (source, target) = same[0];
            offsets.resize(source as usize + 1, targets.len() as u64);
            targets.push(target);
            if count {
                weights.push(u32::try_from(same.len()).unwrap_or(u32::MAX));
            }
        }
        offsets.resize(nodes + 1, targets.len() as u64);
        Ok(Adjacency::trusted(offsets, targets, count.then_some(weights)))
    }

    fn check(&self, pulse: &Pulse) -> Result<()> {
        let invalid = |reason: String| Err(Error::Invalid(reason));
        let (offsets, targets) = ((*self.offsets).as_ref(), (*self.targets).as_ref());
        let Some(nodes) = offsets.len().checked_sub(1) else {
            return invalid("the offsets of a graph are one more than its nodes, and these are none".into());
        };
        if nodes as u64 > 1 << 32 {
            return invalid(format!("a graph has at most 2^32 nodes, not {nodes}"));
        }
        if offsets[0] != 0 || offsets[nodes] != targets.len() as u64 {
            let (first, last, arcs) = (offsets[0], offsets[nodes], targets.len());
            return invalid(format!(
                "the offsets of {arcs} arcs go from 0 to {arcs}, not from {first} to {last}"
            ));
        }
        if let Some(weights) = &self.weights
            && (**weights).as_ref().len() != targets.len()
        {
            let (weights, arcs) = ((**weights).as_ref().len(), targets.len());
            return invalid(format!("there are {weights} weights for {arcs} arcs"));
        }
        for node in 0..nodes {
            if node.is_multiple_of(NODES_PER_BEAT) {
                pulse.beat()?;
            }
            let (start, end) = (offsets[node], offsets[node + 1]);
            if start > end || end > targets.len() as u64 {
                return invalid(format!("the offsets decrease at node {node}"));
            }
            let list = &targets[start as usize..end as usize];
            if !list.is_sorted_by(|one, other| one < other) {
                return invalid(format!("the successors of node {node} are not increasing and distinct"));
            }
            if let Some(last) = list.last().filter(|last| **last as usize >= nodes) {
                return invalid(format!("node {node} has successor {last}, and there are {nodes} nodes"));
            }
        }
        Ok(())
    }

    /// The arrays themselves.
    pub fn arrays(&self) -> (Numbers<u64>, Numbers<u32>, Option<Numbers<u32>>) {
        (Arc::clone(&self.offsets), Arc::clone(&self.targets), self.weights.clone())
    }

    /// The arrays as slices.
    pub fn view(&self) -> View<'_> {
        View {
            offsets: (*self.offsets).as_ref(),
            targets: (*self.targets).as_ref(),
            weights: self.weights.as_ref().map(|weights| (**weights).as_ref()),
        }
    }

    /// The graph with every arc reversed, by a counting sort: O(n + m).
    pub fn transpose(&self, pulse: &Pulse) -> Result<Adjacency> {
        let view = self.view();
        let nodes = view.nodes();
        let mut offsets = vec![0u64; nodes + 1];
        for chunk in view.targets.chunks(NODES_PER_BEAT) {
            pulse.beat()?;
            chunk.iter().for_each(|target| offsets[*target as usize + 1] += 1);
        }
        for node in 0..nodes {
            offsets[node + 1] += offsets[node];
        }
        let mut next = offsets.clone();
        let mut sources = vec![0u32; view.targets.len()];
        let mut weights = view.weights.map(|_| vec![0u32; view.targets.len()]);
        for node in 0..nodes {
            if node.is_multiple_of(NODES_PER_BEAT) {
                pulse.beat()?;
            }
            for at in view.range(node) {
                let place = &mut next[view.targets[at] as usize];
                sources[*place as usize] = node as u32;
                if let (Some(weights), Some(given)) = (&mut weights, view.weights) {
                    weights[*place as usize] = given[at];
                }
                *place += 1;
            }
        }
        Ok(Adjacency::trusted(offsets, sources, weights))
    }
}

/// The adjacency lists as slices.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// Where the list of each node starts, and the end of the last.
    pub offsets: &'a [u64],
    /// The lists.
    pub targets: &'a [u32],
    /// The weight of each arc; `None`: all 1.
    pub weights: Option<&'a [u32]>,
}

impl<'a> View<'a> {
    /// The number of nodes.
    #[inline]
    pub fn nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The place of a node's list.
    #[inline]
    pub fn range(&self, node: usize) -> Range<usize> {
        self.offsets[node] as usize..self.offsets[node + 1] as usize
    }

    /// The successors of a node.
    #[inline]
    pub fn successors(&self, node: usize) -> &'a [u32] {
        &self.targets[self.range(node)]
    }

    /// The number of successors of a node.
    #[inline]
    pub fn outdegree(&self, node: usize) -> usize {
        self.range(node).len()
    }

    /// The sum of the weights of a node's arcs.
    #[inline]
    pub fn weight(&self, node: usize) -> f64 {
        match self.weights {
            Some(weights) => weights[self.range(node)].iter().map(|weight| f64::from(*weight)).sum(),
            None => self.outdegree(node) as f64,
        }
    }
}

impl Lists for View<'_> {
    fn nodes(&self) -> usize {
        View::nodes(self)
    }

    fn arcs(&self) -> u64 {
        self.targets.len() as u64
    }

    fn scan(&self, range: Range<usize>, pulse: &Pulse, visit: &mut dyn FnMut(Node, &[u32])) -> Result<()> {
        for node in range {
            if node.is_multiple_of(NODES_PER_BEAT) {
                pulse.beat()?;
            }
            visit(Node(node as u32), self.successors(node));
        }
        Ok(())
    }
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
        fn has_its_arcs_each_once_and_so_has_its_transpose(
            nodes in 1u32..20,
            pairs in prop::collection::vec((any::<u32>(), any::<u32>()), 0..60),
            count in any::<bool>(),
        ) {
            let arcs: Vec<(u32, u32)> = pairs.iter().map(|(one, other)| (one % nodes, other % nodes)).collect();
            let mut expected = BTreeMap::new();
            arcs.iter().for_each(|arc| *expected.entry(*arc).or_insert(0) += 1);
            if !count {
                expected.values_mut().for_each(|weight| *weight = 1);
            }
            let graph = Adjacency::from_arcs(nodes as usize, arcs, count, &Pulse::STEADY).unwrap();
            graph.check(&Pulse::STEADY).unwrap();
            prop_assert_eq!(&arcs_of(&graph), &expected);
            let transpose = graph.transpose(&Pulse::STEADY).unwrap();
            transpose.check(&Pulse::STEADY).unwrap();
            let reversed: BTreeMap<_, _> = expected.iter().map(|((one, other), weight)| ((*other, *one), *weight)).collect();
            prop_assert_eq!(arcs_of(&transpose), reversed);
        }
    }

    #[test]
    fn arrays_that_are_not_a_graph_are_refused() {
        let new = |offsets: Vec<u64>, targets: Vec<u32>, weights: Option<Vec<u32>>| {
            let weights = weights.map(|weights| Arc::new(weights) as Numbers<u32>);
            Adjacency::new(Arc::new(offsets), Arc::new(targets), weights, &Pulse::STEADY)
        };
        assert!(new(vec![0], vec![], None).is_ok());
        assert!(new(vec![0, 2, 2], vec![0, 1], Some(vec![3, 4])).is_ok());
        for (offsets, targets, weights) in [
            (vec![], vec![], None),
            (vec![1, 1], vec![0], None),
            (vec![0, 1], vec![0, 0], None),
            (vec![0, 2, 1, 2], vec![0, 1], None),
            (vec![0, 9, 2], vec![0, 1], None),
            (vec![0, 2, 2], vec![1, 0], None),
            (vec![0, 2, 2], vec![1, 1], None),
            (vec![0, 1], vec![1], None),
            (vec![0, 1], vec![0], Some(vec![])),
        ] {
            assert!(matches!(new(offsets, targets, weights), Err(Error::Invalid(_))));
        }
        assert!(Adjacency::from_arcs(2, vec![(0, 2)], false, &Pulse::STEADY).is_err());
    }
}
