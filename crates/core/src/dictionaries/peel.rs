//! Solving a shard's equations by peeling.
//!
//! A vertex of degree 1, a leaf, is a variable that occurs in one equation only: whatever the values of the
//! others, it can satisfy that equation. So leaf and edge are pushed onto a stack and removed from the graph,
//! which may create new leaves. If this empties the graph, the stack has one variable for every equation;
//! popped from the top, each variable is set when all others of its equation are final. Otherwise a core
//! without leaves (the 2-core) remains. Then either the graph is drawn again with another seed, or an edge is
//! removed, which usually lets peeling continue, and its equation is solved later (see [`super::augment`]).
//!
//! A vertex stores its degree and the exclusive or of its edges, which is the edge when only one is left
//! (Belazzougui, Boldi, Ottaviano, Venturini and Vigna, "Cache-oblivious peeling of random hypergraphs",
//! 2014). With the stack this takes 8 bytes per vertex and 8 per key, and linear time.

use super::augment;
use super::graph::Graph;

/// An equation: the random number that draws its edge, and the value.
#[derive(Clone, Copy)]
pub struct Equation {
    /// The argument of [`Graph::edge`].
    pub random: u64,
    /// The exclusive or of its variables.
    pub value: u64,
}

/// The result of peeling a graph.
pub struct Peeled {
    /// Leaves with their edges, in peeling order.
    pub stack: Vec<(u32, u32)>,
    /// The removed edges.
    pub removed: Vec<u32>,
    /// How many leaves were peeled before the first removal: none of them occurs in a removed equation.
    pub before: usize,
}

/// The values of all variables of `graph`; `None` if more than `most_removed` edges must be removed, or there
/// is no solution.
///
/// The equations must be sorted by their random numbers, which makes peeling cache-friendly.
pub fn solve(graph: &Graph, equations: &[Equation], most_removed: usize) -> Option<Vec<u64>> {
    let peeled = peel(graph, equations, most_removed)?;
    let mut variables = vec![0; graph.vertices() as usize];
    if !peeled.removed.is_empty() {
        augment::set_free(graph, equations, &peeled, &mut variables)?;
    }
    substitute(graph, equations, &peeled.stack, &mut variables);
    Some(variables)
}

/// Sets the leaves, which are 0, so that their equations hold.
pub fn substitute(graph: &Graph, equations: &[Equation], stack: &[(u32, u32)], variables: &mut [u64]) {
    for (leaf, edge) in stack.iter().rev() {
        let equation = equations[*edge as usize];
        // The leaf is still 0 and does not contribute.
        variables[*leaf as usize] = equation.value ^ sum(graph, equation, variables);
    }
}

/// The exclusive or of an equation's variables.
#[inline]
pub fn sum(graph: &Graph, equation: Equation, variables: &[u64]) -> u64 {
    graph.edge(equation.random).vertices().fold(0, |sum, vertex| sum ^ variables[vertex as usize])
}

#[derive(Clone, Copy, Default)]
struct Vertex {
    degree: u32,
    edges: u32,
}

/// A graph being peeled.
struct Peeling<'a> {
    graph: &'a Graph,
    equations: &'a [Equation],
    vertices: Vec<Vertex>,
    leaves: Vec<u32>,
    stack: Vec<(u32, u32)>,
    /// Which edges are removed.
    gone: Vec<bool>,
}

fn peel(graph: &Graph, equations: &[Equation], most_removed: usize) -> Option<Peeled> {
    let mut vertices = vec![Vertex::default(); graph.vertices() as usize];
    for (edge, equation) in equations.iter().enumerate() {
        for vertex in graph.edge(equation.random).vertices() {
            let vertex = &mut vertices[vertex as usize];
            vertex.degree += 1;
            vertex.edges ^= edge as u32;
        }
    }
    let (leaves, stack) = (Vec::new(), Vec::with_capacity(equations.len()));
    let gone = vec![false; equations.len()];
    let mut peeling = Peeling { graph, equations, vertices, leaves, stack, gone };
    for start in 0..graph.vertices() {
        peeling.leaves.push(start);
        peeling.take_leaves();
    }
    let before = peeling.stack.len();
    let mut removed = Vec::new();
    for edge in 0..equations.len() {
        if peeling.stack.len() + removed.len() == equations.len() {
            break;
        }
        if peeling.gone[edge] {
            continue;
        }
        if removed.len() == most_removed {
            return None;
        }
        removed.push(edge as u32);
        peeling.take_out(edge as u32);
        peeling.take_leaves();
    }
    Some(Peeled { stack: peeling.stack, removed, before })
}

impl Peeling<'_> {
    fn take_leaves(&mut self) {
        while let Some(leaf) = self.leaves.pop() {
            let Vertex { degree, edges: edge } = self.vertices[leaf as usize];
            if degree == 1 {
                self.stack.push((leaf, edge));
                self.take_out(edge);
            }
        }
    }

    #[inline]
    fn take_out(&mut self, edge: u32) {
        self.gone[edge as usize] = true;
        for vertex in self.graph.edge(self.equations[edge as usize].random).vertices() {
            let there = &mut self.vertices[vertex as usize];
            there.degree -= 1;
            there.edges ^= edge;
            if there.degree == 1 {
                self.leaves.push(vertex);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dictionaries::graph::Construction;
    use crate::signature::hash::random;

    /// The fraction of random graphs without a cycle is √(1 − 4/c²), as the comment of `graph` says.
    #[test]
    fn as_many_graphs_of_pairs_are_acyclic_as_theory_says() {
        let (edges, graphs) = (2000u64, 600u64);
        let solved = |length: u32| {
            let graph = Graph::from_parts(Construction::Pairs, 1, length).unwrap();
            let is_solved = |seed: &u64| {
                let equation = |index| Equation { random: random(*seed << 32, index), value: index };
                let equations: Vec<Equation> = (0..edges).map(equation).collect();
                let Some(variables) = solve(&graph, &equations, 0) else { return false };
                assert!(equations.iter().all(|one| sum(&graph, *one, &variables) == one.value));
                true
            };
            (0..graphs).filter(is_solved).count() as f64 / graphs as f64
        };
        for factor in [1.8, 2.09, 2.5, 4.0] {
            let vertices: f64 = factor * edges as f64;
            let expected = (1.0 - 4.0 / (factor * factor)).max(0.0).sqrt();
            // Within 4 standard deviations, and what 2,000 edges differ from infinitely many.
            let tolerance = 4.0 * (expected * (1.0 - expected) / graphs as f64).sqrt() + 0.03;
            let found = solved((vertices / 2.0) as u32);
            assert!((found - expected).abs() <= tolerance, "{factor}: {found} instead of {expected}");
        }
    }
}
