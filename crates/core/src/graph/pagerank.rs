//! PageRank: the stationary distribution of a random surfer who follows links and now and then jumps to a
//! random page.
//!
//! With n nodes, damping α, outdegree d⁺ and D the nodes without successors, the ranks are the one solution of
//!
//! ```text
//! r(v) = (1 − α)/n + α ( Σ_{u → v} r(u)/d⁺(u) + Σ_{u ∈ D} r(u)/n ),      Σ r(v) = 1
//! ```
//!
//! and the power method finds it: r₀ = 1/n, and each iteration replaces the ranks by the right-hand side.
//! Each iteration shrinks the error by a factor α in the norm ℓ₁, so if an iteration changes the ranks by δ =
//! Σ |r'(v) − r(v)|, they are within δ α/(1 − α) of the solution; it stops at a threshold on δ.
//!
//! Each node pushes its share to its successors, so the lists are read in order and no transposed graph is
//! needed: 16 bytes per node, and an iteration is one pass over the graph. One thread and a fixed order of
//! summation: the same graph has the same ranks, bit for bit.
//!
//! Source: Lawrence Page, Sergey Brin, Rajeev Motwani and Terry Winograd, "The PageRank citation ranking",
//! 1998; the dangling nodes as in Paolo Boldi, Massimo Santini and Sebastiano Vigna, "PageRank: functional
//! dependencies", 2009.

use super::Successors;
use crate::{Error, Pulse, Result};

/// How PageRank is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The damping factor α: the probability of following a link rather than jumping, at least 0 and below 1.
    pub damping: f64,
    /// The change δ of an iteration (in the norm ℓ₁, the ranks summing to 1) at which to stop.
    pub threshold: f64,
    /// The maximum number of iterations.
    pub iterations: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { damping: 0.85, threshold: 1e-9, iterations: 200 }
    }
}

impl Settings {
    fn check(&self) -> Result<()> {
        if !(0.0..1.0).contains(&self.damping) {
            return Err(Error::Invalid(format!(
                "the damping is {}, and must be at least 0 and below 1",
                self.damping
            )));
        }
        if self.threshold.is_nan() || self.threshold < 0.0 {
            return Err(Error::Invalid(format!(
                "the threshold is {}, and must not be below 0",
                self.threshold
            )));
        }
        if self.iterations == 0 {
            return Err(Error::Invalid("there must be at least one iteration".into()));
        }
        Ok(())
    }
}

/// The ranks of a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct PageRank {
    /// The rank of each node; they sum to 1.
    pub ranks: Vec<f64>,
    /// The number of iterations done.
    pub iterations: u32,
    /// The change δ of the last iteration.
    pub residual: f64,
}

/// Computes PageRank.
pub fn pagerank(graph: &impl Successors, settings: &Settings, pulse: &Pulse) -> Result<PageRank> {
    settings.check()?;
    let nodes = graph.nodes();
    let mut outcome = PageRank { ranks: vec![1.0 / nodes as f64; nodes], iterations: 0, residual: 0.0 };
    if nodes == 0 {
        return Ok(outcome);
    }
    let mut received = vec![0.0; nodes];
    while outcome.iterations < settings.iterations {
        let dangling = push(graph, &outcome.ranks, &mut received, pulse)?;
        let everywhere = (1.0 - settings.damping + settings.damping * dangling) / nodes as f64;
        outcome.residual = 0.0;
        for (rank, received) in outcome.ranks.iter_mut().zip(&received) {
            let new = everywhere + settings.damping * received;
            outcome.residual += (new - *rank).abs();
            *rank = new;
        }
        outcome.iterations += 1;
        if outcome.residual <= settings.threshold {
            break;
        }
    }
    Ok(outcome)
}

/// Distributes every node's rank equally among its successors; returns the rank of the dangling nodes.
fn push(graph: &impl Successors, ranks: &[f64], received: &mut [f64], pulse: &Pulse) -> Result<f64> {
    received.fill(0.0);
    let mut dangling = 0.0;
    graph.scan(pulse, |node, successors| {
        if successors.is_empty() {
            dangling += ranks[node.index()];
            return;
        }
        let share = ranks[node.index()] / successors.len() as f64;
        for successor in successors {
            received[successor.index()] += share;
        }
    })?;
    Ok(dangling)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Node;
    use proptest::prelude::*;

    impl Successors for Vec<Vec<Node>> {
        fn nodes(&self) -> usize {
            self.len()
        }

        fn scan(&self, _: &Pulse, mut visit: impl FnMut(Node, &[Node])) -> Result<()> {
            self.iter().enumerate().for_each(|(node, list)| visit(Node(node as u32), list));
            Ok(())
        }
    }

    /// The same, from the transition matrix in dense form.
    fn dense(graph: &[Vec<Node>], damping: f64) -> Vec<f64> {
        let n = graph.len();
        let row = |list: &Vec<Node>| -> Vec<f64> {
            let mut row = vec![if list.is_empty() { 1.0 / n as f64 } else { 0.0 }; n];
            list.iter().for_each(|node| row[node.index()] = 1.0 / list.len() as f64);
            row.iter().map(|step| damping * step + (1.0 - damping) / n as f64).collect()
        };
        let matrix: Vec<Vec<f64>> = graph.iter().map(row).collect();
        let mut ranks = vec![1.0 / n as f64; n];
        for _ in 0..500 {
            ranks = (0..n).map(|v| (0..n).map(|u| ranks[u] * matrix[u][v]).sum()).collect();
        }
        ranks
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn agrees_with_the_dense_matrix(
            lists in prop::collection::vec(prop::collection::btree_set(0u32..30, 0..8), 1..30),
            damping in 0.0..0.95,
        ) {
            let n = lists.len() as u32;
            let keep = |list: std::collections::BTreeSet<u32>| list.into_iter().filter(|v| *v < n).map(Node).collect();
            let graph: Vec<Vec<Node>> = lists.into_iter().map(keep).collect();
            let settings = Settings { damping, threshold: 1e-12, iterations: 1000 };
            let outcome = pagerank(&graph, &settings, &Pulse::STEADY).unwrap();
            prop_assert!(outcome.residual <= 1e-12);
            prop_assert!((outcome.ranks.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            for (rank, expected) in outcome.ranks.iter().zip(dense(&graph, damping)) {
                prop_assert!((rank - expected).abs() < 1e-6, "{rank} {expected}");
            }
        }
    }

    #[test]
    fn stops_at_the_cap_and_says_how_far_it_came() {
        let graph = vec![vec![Node(1)], vec![Node(2)], vec![]];
        let settings = Settings { threshold: 0.0, iterations: 3, ..Settings::default() };
        let outcome = pagerank(&graph, &settings, &Pulse::STEADY).unwrap();
        assert_eq!(outcome.iterations, 3);
        assert!(outcome.residual > 0.0);
    }

    #[test]
    fn an_empty_graph_has_no_ranks() {
        let outcome = pagerank(&Vec::new(), &Settings::default(), &Pulse::STEADY).unwrap();
        assert_eq!(outcome, PageRank { ranks: vec![], iterations: 0, residual: 0.0 });
    }

    #[test]
    fn refuses_settings_that_do_not_converge() {
        let usual = Settings::default();
        for wrong in [
            Settings { damping: 1.0, ..usual },
            Settings { damping: -0.1, ..usual },
            Settings { damping: f64::NAN, ..usual },
            Settings { threshold: f64::NAN, ..usual },
            Settings { iterations: 0, ..usual },
        ] {
            assert!(matches!(pagerank(&vec![vec![]], &wrong, &Pulse::STEADY), Err(Error::Invalid(_))));
        }
    }
}
