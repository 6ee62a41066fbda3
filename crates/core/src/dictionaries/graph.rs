//! The random hypergraph of a shard: which three variables, or two, occur in the equation of a key.
//!
//! The equations w_a ⊕ w_b ⊕ w_c = f(x) can be solved by back substitution if the hypergraph, whose vertices
//! are the variables and whose edges are the keys, can be peeled (see [`super::peel`]). Except for a
//! vanishing fraction of graphs, that depends only on the number of vertices per edge and on how edges are
//! drawn:
//!
//! * `peeling`: every edge has one vertex in each third of the graph. The threshold is 1.2218 vertices per
//!   edge; 1.23 are used, as in the notes (Majewski, Wormald, Havas and Czech, "A family of perfect hashing
//!   methods", 1996).
//! * `fuse`: the vertices are split into many short segments, and an edge has one vertex in each of three
//!   consecutive ones. The segments at both ends have fewer edges, so peeling starts there and proceeds
//!   inwards, at densities where it could not start elsewhere: asymptotically 1.0894 vertices per edge are
//!   enough (Dietzfelbinger and Walzer, "Dense peelable random uniform hypergraphs", 2019; Graf and Lemire,
//!   "Binary fuse filters", 2022). The two underused segments at the ends make small graphs need more: 1.15
//!   with 100,000 edges. But some edges may be left out of peeling (see [`super::augment`]), and then nearly
//!   the same number of vertices is enough for any number of edges. Below 4,000 edges segments gain nothing,
//!   and there is a single start.
//!
//! * `pairs`: an edge has two vertices, one in each half, and peeling is possible if the graph has no cycle.
//!   Below 2 vertices per edge there is one almost surely; at c > 2 there is none with probability
//!   √(1 − 4/c²) (Botelho, Pagh and Ziviani, "Simple and space-efficient minimal perfect hash functions",
//!   2007): with the 2.09 of the notes 0.29, so that three or four graphs are drawn. A lookup takes two cache
//!   misses instead of three.
//!
//! ```text
//! edges                         100   1,000   10,000   100,000   1,000,000   2,000,000
//! vertices per edge, peeling   1.41    1.26     1.24      1.23        1.23        1.23
//! vertices per edge, fuse      1.17    1.12     1.12      1.12        1.118       1.113
//! ```
//!
//! The factors of `fuse` were found empirically: some hundred edges are left out at most.

use crate::settings::choices;
use crate::signature::hash::reduce;

choices! {
    /// How the edges of a graph are drawn.
    pub enum Construction, "construction" {
        /// One vertex in each of three consecutive segments: 1.12 variables per key.
        Fuse = "fuse",
        /// One vertex in each third: 1.23 variables per key.
        Peeling = "peeling",
        /// Two vertices per key instead of three: 2.09 variables per key.
        Pairs = "pairs",
    }
}

/// The vertices of an edge, all different: three, or two and a meaningless third.
pub struct Edge {
    vertices: [u32; 3],
    size: usize,
}

impl Edge {
    /// Its vertices.
    #[inline]
    pub fn vertices(&self) -> impl Iterator<Item = u32> {
        self.vertices.into_iter().take(self.size)
    }
}

/// The maximum number of vertices: an edge is drawn from 64 bits, which must be enough for three vertices.
const MOST_VERTICES: u32 = 1 << 24;

/// From this number of edges on, a fuse graph needs fewer vertices with segments than without.
const FEWEST_IN_SEGMENTS: f64 = 4000.0;

/// The shape of a graph, one for all shards of a function.
///
/// Consecutive segments of `length` vertices each; an edge of size s begins in one of the first `starts` of
/// them and has a vertex in each of s consecutive ones, so that there are `starts` + s − 1. With one start these
/// are the thirds of `peeling`, or the halves of `pairs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Graph {
    starts: u32,
    length: u32,
    /// The number of vertices of an edge: 2 or 3.
    size: u32,
}

impl Construction {
    /// The number of vertices of an edge: how many variables occur in an equation.
    pub fn edge_size(self) -> u32 {
        if self == Construction::Pairs { 2 } else { 3 }
    }
}

impl Graph {
    /// A graph that very probably can be peeled with up to `edges` edges.
    ///
    /// `growth`: how many smaller sizes have failed.
    pub fn for_edges(construction: Construction, edges: usize, growth: u32) -> Graph {
        let edges = edges.max(1) as f64;
        let (factor, starts) = match construction {
            Construction::Peeling => (1.23 + 5.0 * edges.powf(-0.75), 1),
            Construction::Pairs => (2.09, 1),
            Construction::Fuse if edges < FEWEST_IN_SEGMENTS => (1.105 + 0.9 * edges.powf(-0.6), 1),
            Construction::Fuse => {
                let factor = 1.0894 + 1.02 * edges.powf(-0.26);
                (factor.min(1.12), (4.0 * edges.powf(0.3)) as u32)
            }
        };
        let vertices = factor * edges * (1.0 + f64::from(growth) / 16.0);
        let size = construction.edge_size();
        Graph { starts, length: (vertices / f64::from(starts + size - 1)).ceil() as u32, size }
    }

    /// This graph with the number of vertices rounded up to a multiple of 8.
    pub fn in_eights(self) -> Graph {
        Graph { length: self.length.next_multiple_of(8), ..self }
    }

    /// The graph with these parameters; `None` if they are invalid.
    pub fn from_parts(construction: Construction, starts: u32, length: u32) -> Option<Graph> {
        let size = construction.edge_size();
        let vertices = starts.checked_add(size - 1)?.checked_mul(length)?;
        (starts > 0 && length > 0 && vertices <= MOST_VERTICES).then_some(Graph { starts, length, size })
    }

    /// The parameters for [`Graph::from_parts`].
    pub fn parts(&self) -> (u32, u32) {
        (self.starts, self.length)
    }

    /// The number of vertices.
    pub fn vertices(&self) -> u32 {
        (self.starts + self.size - 1) * self.length
    }

    /// The edge drawn by a random number.
    ///
    /// The number is a fraction of 2^64; its product with a range has the pick in its high half and the
    /// remaining fraction in its low half, so that no bit is used twice.
    #[inline]
    pub fn edge(&self, random: u64) -> Edge {
        let mut fraction = random;
        let mut pick = |range: u32| {
            let picked = reduce(fraction, u64::from(range));
            fraction = fraction.wrapping_mul(u64::from(range));
            picked as u32
        };
        let start = pick(self.starts) * self.length;
        let vertices = [0, 1, 2].map(|segment| start + segment * self.length + pick(self.length));
        Edge { vertices, size: self.size as usize }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_edge_has_a_vertex_in_each_of_its_segments(
            starts in 1u32..400, length in 1u32..40_000, random in any::<u64>()
        ) {
            for construction in [Construction::Fuse, Construction::Pairs] {
                let graph = Graph::from_parts(construction, starts, length).unwrap();
                let segments: Vec<u32> = graph.edge(random).vertices().map(|vertex| vertex / length).collect();
                prop_assert!(segments[0] < starts);
                let expected: Vec<u32> = (segments[0]..segments[0] + construction.edge_size()).collect();
                prop_assert_eq!(segments, expected);
            }
        }

        #[test]
        fn edges_in_the_order_of_their_numbers_begin_in_the_order_of_segments(one in any::<u64>(), other in any::<u64>()) {
            let graph = Graph::from_parts(Construction::Fuse, 100, 1000).unwrap();
            let segment = |random| graph.edge(random).vertices().next().unwrap() / 1000;
            prop_assert!(segment(one.min(other)) <= segment(one.max(other)));
        }

        #[test]
        fn any_numbers_make_a_graph_or_none(
            starts in prop_oneof![0u32..9, any::<u32>()], length in prop_oneof![0u32..9, any::<u32>()], random in any::<u64>()
        ) {
            for (_, construction) in Construction::ALL {
                if let Some(graph) = Graph::from_parts(*construction, starts, length) {
                    prop_assert!(graph.edge(random).vertices().all(|vertex| vertex < graph.vertices()));
                }
            }
        }
    }

    #[test]
    fn what_is_made_for_edges_is_a_graph() {
        for (_, construction) in Construction::ALL {
            let construction = *construction;
            for edges in [0, 1, 2, 10, 3999, 4000, 100_000, 3 << 20] {
                let graph = Graph::for_edges(construction, edges, 3).in_eights();
                let (starts, length) = graph.parts();
                assert_eq!(Graph::from_parts(construction, starts, length), Some(graph));
                assert_eq!(graph.vertices() % 8, 0);
            }
            assert_eq!(construction.to_string().parse::<Construction>().unwrap(), construction);
        }
        assert!("fused".parse::<Construction>().is_err());
    }
}
