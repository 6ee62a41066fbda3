//! Measures of importance of the nodes of a graph.
//!
//! Each is a function of the adjacency lists of the graph or of its transpose ([`View`](super::View)), of its
//! parameters, and of a [`Pulse`](crate::Pulse), which shows its progress and stops it. All are deterministic:
//! the same graph has the same values, bit for bit, on any number of threads.

mod betweenness;
mod bow_tie;
mod components;
mod degree;
mod diameter;
mod distances;
mod eigenvector;
mod hits;
mod hyperball;
mod hyperloglog;
mod katz;
mod kendall;
mod many_bfs;
mod matrix;
mod pagerank;
mod random_walk;
mod reach;
mod salsa;
mod sampled_betweenness;
mod seeley;
#[cfg(test)]
mod slow;
mod trim;
mod walk;
mod walks;

pub use betweenness::betweenness;
pub use bow_tie::{Place, bow_tie};
pub use components::{Components, strong_components, weak_components};
pub use degree::degrees;
pub use diameter::diameter;
pub use distances::{DistanceSums, distance_sums, distance_sums_of, distances_from};
pub use eigenvector::eigenvector;
pub use hits::hits;
pub use hyperball::{BallSums, hyperball};
pub use katz::katz;
pub use kendall::{kendall, weighted_kendall};
pub use matrix::Stop;
pub use pagerank::{Dangling, Method, Settings as PageRankSettings, pagerank};
pub use random_walk::random_walk_betweenness;
pub use reach::shortest_path;
pub use salsa::salsa;
pub use sampled_betweenness::{Sampled, sampled_betweenness};
pub use seeley::seeley;
pub use walks::{walk_matrix, walks, walks_from};

/// The values of an iterative measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Iterated {
    /// The value of each node.
    pub values: Vec<f64>,
    /// The number of iterations done.
    pub iterations: u32,
    /// The change of the last iteration, in the norm that the measure states.
    pub residual: f64,
    /// Whether the change fell to the tolerance.
    pub converged: bool,
}
