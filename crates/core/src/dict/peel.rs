//! The solution of a shard's equations by peeling.
//!
//! A vertex of one edge only, a leaf, is a variable that no other equation has: whatever the others come to be, it can
//! make that equation true. So leaf and edge go onto a stack and out of the graph, which may leave
//! new leaves. If this empties the graph, the stack has one variable for every equation; taken from its top, each
//! variable is set when all others of its equation are final. Otherwise there is a core without leaves, and
//! the graph must be drawn again.
//!
//! A vertex keeps its degree and the exclusive or of its edges, which is the edge when only one is left
//! (Belazzougui, Boldi, Ottaviano, Venturini and Vigna, "Cache-oblivious peeling of random hypergraphs", 2014). With
//! the stack this takes 8 bytes a vertex and 8 a key, and linear time.

use super::graph::Graph;

/// An equation: the random number that draws its edge, and the value.
#[derive(Clone, Copy)]
pub struct Equation {
    /// What [`Graph::edge`] takes.
    pub random: u64,
    /// What the three variables give.
    pub value: u64,
}

#[derive(Clone, Copy, Default)]
struct Vertex {
    degree: u32,
    edges: u32,
}

/// The values of all variables of `graph`; `None` if it cannot be peeled.
pub fn solve(graph: &Graph, equations: &[Equation]) -> Option<Vec<u64>> {
    let stack = peel(graph, equations)?;
    let mut variables = vec![0; graph.vertices() as usize];
    for (leaf, edge) in stack.into_iter().rev() {
        let equation = equations[edge as usize];
        // The leaf is still 0 and does not disturb.
        let others = graph.edge(equation.random).map(|vertex| variables[vertex as usize]);
        variables[leaf as usize] = others.into_iter().fold(equation.value, |value, other| value ^ other);
    }
    Some(variables)
}

/// Leaves with their edges, in the order in which they come off.
fn peel(graph: &Graph, equations: &[Equation]) -> Option<Vec<(u32, u32)>> {
    let mut vertices = vec![Vertex::default(); graph.vertices() as usize];
    for (edge, equation) in equations.iter().enumerate() {
        for vertex in graph.edge(equation.random) {
            let vertex = &mut vertices[vertex as usize];
            vertex.degree += 1;
            vertex.edges ^= edge as u32;
        }
    }
    let mut stack = Vec::with_capacity(equations.len());
    let mut leaves = Vec::new();
    for start in 0..graph.vertices() {
        leaves.push(start);
        while let Some(leaf) = leaves.pop() {
            let Vertex { degree, edges: edge } = vertices[leaf as usize];
            if degree != 1 {
                continue;
            }
            stack.push((leaf, edge));
            for vertex in graph.edge(equations[edge as usize].random) {
                let there = &mut vertices[vertex as usize];
                there.degree -= 1;
                there.edges ^= edge;
                if there.degree == 1 {
                    leaves.push(vertex);
                }
            }
        }
    }
    (stack.len() == equations.len()).then_some(stack)
}
