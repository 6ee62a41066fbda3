//! Augmented peeling: solves the equations that peeling had to leave out.
//!
//! Peeling sets one variable for every equation on its stack, whatever the values of the others: a variable
//! that is no edge's leaf is free. So k equations that were removed from a graph to let peeling continue can
//! still be satisfied by choosing the values of somewhat more than k free variables, the parameters. Each
//! variable is the exclusive or of a constant and of some of the p parameters: a set of p bits for each
//! vertex, computed in one pass over the part of the stack pushed after the first removal (the rest is
//! independent of the removed equations). These then form a dense system of k equations in p unknowns, which
//! Gaussian elimination solves in k² p / 64 steps.
//!
//! Graphs may thus be denser than the peelability threshold, nearly as dense as the densest whose equations
//! are independent: if some hundred equations are removed, 1.11 to 1.12 variables per key are enough, for a
//! thousand keys as for a million. It takes p / 8 bytes per vertex, at most 64. All other free variables stay
//! 0, so that a compacted vector does not grow.
//!
//! The name and the idea are from the crate `sux`, by Sebastiano Vigna.

use super::graph::Graph;
use super::peel::{Equation, Peeled, substitute, sum};

/// The maximum number of removed equations.
pub const MOST_REMOVED: usize = 480;

/// How many more parameters than equations: each extra one halves the probability of an unsolvable system.
const SPARE: usize = 32;

/// Sets free variables (all variables are 0) so that the removed equations hold once those on the stack are
/// solved; `None` if no values achieve that.
pub fn set_free(graph: &Graph, equations: &[Equation], peeled: &Peeled, variables: &mut [u64]) -> Option<()> {
    let parameters = parameters(graph, equations, peeled);
    let words = parameters.len().div_ceil(64);
    let mut sets = vec![0; variables.len() * words];
    for (index, vertex) in parameters.iter().enumerate() {
        sets[*vertex as usize * words + index / 64] |= 1 << (index % 64);
    }
    let core = &peeled.stack[peeled.before..];
    for (leaf, edge) in core.iter().rev() {
        let set = set_of(graph, equations[*edge as usize], &sets, words);
        sets[*leaf as usize * words..][..words].copy_from_slice(&set[..words]);
    }
    substitute(graph, equations, core, variables);
    let rows = peeled.removed.iter().map(|edge| {
        let equation = equations[*edge as usize];
        let value = equation.value ^ sum(graph, equation, variables);
        Row { set: set_of(graph, equation, &sets, words), value }
    });
    let values = solve_dense(rows.collect(), parameters.len())?;
    variables.fill(0);
    for (vertex, value) in parameters.iter().zip(values) {
        variables[*vertex as usize] = value;
    }
    Some(())
}

/// A set of parameters.
type Set = [u64; (MOST_REMOVED + SPARE) / 64];

/// An equation in parameters alone.
struct Row {
    set: Set,
    value: u64,
}

/// The parameters that the sum of an equation's variables depends on.
#[inline]
fn set_of(graph: &Graph, equation: Equation, sets: &[u64], words: usize) -> Set {
    let mut set = Set::default();
    for vertex in graph.edge(equation.random).vertices() {
        let other = &sets[vertex as usize * words..][..words];
        set.iter_mut().zip(other).for_each(|(word, other)| *word ^= other);
    }
    set
}

/// Free variables of the edges that were peeled last: through a chain of leaves, those peeled earlier depend
/// on these.
fn parameters(graph: &Graph, equations: &[Equation], peeled: &Peeled) -> Vec<u32> {
    let mut is_known = vec![false; graph.vertices() as usize];
    peeled.stack.iter().for_each(|(leaf, _)| is_known[*leaf as usize] = true);
    let wanted = peeled.removed.len() + SPARE;
    let mut parameters = Vec::with_capacity(wanted + 2);
    for (_, edge) in peeled.stack[peeled.before..].iter().rev() {
        for vertex in graph.edge(equations[*edge as usize].random).vertices() {
            if !std::mem::replace(&mut is_known[vertex as usize], true) {
                parameters.push(vertex);
            }
        }
        if parameters.len() >= wanted {
            break;
        }
    }
    parameters.truncate(wanted);
    parameters
}

/// Values of `count` parameters that make all rows true.
fn solve_dense(mut rows: Vec<Row>, count: usize) -> Option<Vec<u64>> {
    let mut solved: Vec<usize> = Vec::with_capacity(rows.len());
    for at in 0..rows.len() {
        let (above, below) = rows.split_at_mut(at + 1);
        let pivot = &above[at];
        let Some(column) = first_of(&pivot.set) else {
            if pivot.value == 0 {
                solved.push(count);
                continue;
            }
            return None;
        };
        for row in below.iter_mut().filter(|row| has(&row.set, column)) {
            row.set.iter_mut().zip(&pivot.set).for_each(|(word, other)| *word ^= other);
            row.value ^= pivot.value;
        }
        solved.push(column);
    }
    // An extra value, in no set, for the rows that are trivially true.
    let mut values = vec![0; count + 1];
    for (row, column) in rows.iter().zip(solved).rev() {
        // The row's parameter is still 0 and does not contribute.
        let others = (0..count).filter(|index| has(&row.set, *index)).map(|index| values[index]);
        values[column] = others.fold(row.value, |value, other| value ^ other);
    }
    values.truncate(count);
    Some(values)
}

fn has(set: &Set, index: usize) -> bool {
    set[index / 64] >> (index % 64) & 1 == 1
}

fn first_of(set: &Set) -> Option<usize> {
    let word = set.iter().position(|word| *word != 0)?;
    Some(64 * word + set[word].trailing_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dictionaries::graph::Construction;
    use crate::dictionaries::peel::solve;
    use crate::signature::hash::random;
    use proptest::prelude::*;

    fn sum_of(set: &Set, values: &[u64]) -> u64 {
        (0..values.len()).filter(|index| has(set, *index)).fold(0, |value, index| value ^ values[index])
    }

    proptest! {
        #[test]
        fn a_dense_system_is_solved_if_it_can_be(
            sets in prop::collection::vec(any::<u8>(), 0..12), secret in prop::collection::vec(any::<u64>(), 8), wrong in any::<bool>()
        ) {
            let row = |bits: &u8| {
                let mut set = Set::default();
                set[0] = u64::from(*bits);
                Row { value: sum_of(&set, &secret), set }
            };
            let rows = || sets.iter().map(row).collect::<Vec<Row>>();
            let found = solve_dense(rows(), 8).unwrap();
            prop_assert!(rows().iter().all(|row| sum_of(&row.set, &found) == row.value));
            let mut contradiction = rows();
            contradiction.extend(sets.first().map(row).map(|row| Row { value: row.value ^ u64::from(wrong), ..row }));
            prop_assert_eq!(solve_dense(contradiction, 8).is_none(), wrong && !sets.is_empty());
        }
    }

    #[test]
    fn graphs_that_cannot_be_peeled_are_solved() {
        for edges in [300, 3000, 20_000] {
            let graph = Graph::for_edges(Construction::Fuse, edges, 0);
            let mut solutions = 0;
            for seed in 0..8 {
                let equation = |index| Equation { random: random(seed, index), value: random(index, seed) };
                let mut equations: Vec<Equation> = (0..edges as u64).map(equation).collect();
                equations.sort_unstable_by_key(|equation| equation.random);
                assert!(solve(&graph, &equations, 0).is_none() || edges == 300);
                let Some(variables) = solve(&graph, &equations, MOST_REMOVED) else { continue };
                solutions += 1;
                assert!(equations.iter().all(|one| sum(&graph, *one, &variables) == one.value));
                let set = variables.iter().filter(|value| **value != 0).count();
                assert!(set <= edges + SPARE);
            }
            assert!(solutions >= 4, "{solutions} of 8 with {edges} edges");
        }
    }
}
