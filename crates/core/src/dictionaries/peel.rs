//! The solution of a shard's equations by peeling.
//!
//! A vertex of one edge only, a leaf, is a variable that no other equation has: whatever the others come to be, it can
//! make that equation true. So leaf and edge go onto a stack and out of the graph, which may leave
//! new leaves. If this empties the graph, the stack has one variable for every equation; taken from its top, each
//! variable is set when all others of its equation are final. Otherwise there is a core without leaves. Then either the
//! graph is drawn again, or an edge is taken out, which most often lets peeling go on, and its equation is
//! left for later (see [`super::augment`]).
//!
//! A vertex keeps its degree and the exclusive or of its edges, which is the edge when only one is left
//! (Belazzougui, Boldi, Ottaviano, Venturini and Vigna, "Cache-oblivious peeling of random hypergraphs", 2014). With
//! the stack this takes 8 bytes a vertex and 8 a key, and linear time.

use super::augment;
use super::graph::Graph;

/// An equation: the random number that draws its edge, and the value.
#[derive(Clone, Copy)]
pub struct Equation {
    /// What [`Graph::edge`] takes.
    pub random: u64,
    /// What the three variables give.
    pub value: u64,
}

/// How a graph was taken apart.
pub struct Peeled {
    /// Leaves with their edges, in the order in which they came off.
    pub stack: Vec<(u32, u32)>,
    /// The edges that were taken out.
    pub removed: Vec<u32>,
    /// How many leaves came off before the first of these: no such leaf is a variable of theirs.
    pub before: usize,
}

/// The values of all variables of `graph`; `None` if that takes more than `most_removed` edges out, or is impossible.
///
/// The equations are in the order of their random numbers, so that peeling stays near where it is.
pub fn solve(graph: &Graph, equations: &[Equation], most_removed: usize) -> Option<Vec<u64>> {
    let peeled = peel(graph, equations, most_removed)?;
    let mut variables = vec![0; graph.vertices() as usize];
    if !peeled.removed.is_empty() {
        augment::set_free(graph, equations, &peeled, &mut variables)?;
    }
    substitute(graph, equations, &peeled.stack, &mut variables);
    Some(variables)
}

/// Sets the leaves, which are 0, so that their equations are true.
pub fn substitute(graph: &Graph, equations: &[Equation], stack: &[(u32, u32)], variables: &mut [u64]) {
    for (leaf, edge) in stack.iter().rev() {
        let equation = equations[*edge as usize];
        // The leaf is still 0 and does not disturb.
        variables[*leaf as usize] = equation.value ^ sum(graph, equation, variables);
    }
}

/// The exclusive or of an equation's variables.
#[inline]
pub fn sum(graph: &Graph, equation: Equation, variables: &[u64]) -> u64 {
    let [one, two, three] = graph.edge(equation.random).map(|vertex| variables[vertex as usize]);
    one ^ two ^ three
}

#[derive(Clone, Copy, Default)]
struct Vertex {
    degree: u32,
    edges: u32,
}

/// A graph that is being taken apart.
struct Peeling<'a> {
    graph: &'a Graph,
    equations: &'a [Equation],
    vertices: Vec<Vertex>,
    leaves: Vec<u32>,
    stack: Vec<(u32, u32)>,
    /// Which edges are no longer there.
    gone: Vec<bool>,
}

fn peel(graph: &Graph, equations: &[Equation], most_removed: usize) -> Option<Peeled> {
    let mut vertices = vec![Vertex::default(); graph.vertices() as usize];
    for (edge, equation) in equations.iter().enumerate() {
        for vertex in graph.edge(equation.random) {
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
        for vertex in self.graph.edge(self.equations[edge as usize].random) {
            let there = &mut self.vertices[vertex as usize];
            there.degree -= 1;
            there.edges ^= edge;
            if there.degree == 1 {
                self.leaves.push(vertex);
            }
        }
    }
}
