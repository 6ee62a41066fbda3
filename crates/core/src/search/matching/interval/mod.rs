//! Interval expressions: minimal-interval semantics for positional operators.
//!
//! The value of an expression, in one zone of one document, is the set of the minimal intervals of positions
//! that satisfy it, i.e. those that contain no other (an antichain). So, sorted by their left ends, they are
//! sorted by their right ends too, and every operator is a single forward pass over its operands. All are
//! lazy: [`Intervals::next`] reads no more of the operands than the next interval needs, so that a test for
//! existence stops at the first interval.
//!
//! With `m` intervals in `n` operands, `Any` and `All` take O(m log n), `Ordered`, `Window` and `Related`
//! O(m), and a phrase O(n log p) for each position of its rarest word, where the longest position list has
//! `p` entries. The memory is O(n) per node, allocated once per query and reused for every document.
//!
//! The semantics is that of C. L. A. Clarke, G. V. Cormack and F. J. Burkowski, "An algebra for structured
//! text search and a framework for its implementation", The Computer Journal 38(1), 1995; the lazy algorithms
//! are those of P. Boldi and S. Vigna, "Efficient optimally lazy algorithms for minimal-interval semantics",
//! Theoretical Computer Science 648, 2016.

mod all;
mod any;
mod leaf;
pub(crate) mod node;
mod ordered;
mod phrase;
pub mod proximity;
mod relation;
mod scan;
mod window;

use all::All;
use any::Any;
use ordered::Ordered;
use phrase::Phrase;
use relation::Related;
use scan::Scan;
use window::Window;

use crate::search::language::tree::{Interval, Leaf};

/// An interval of positions, both ends included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// The first position.
    pub left: u32,
    /// The last position, not before the first.
    pub right: u32,
}

/// An iterator over the minimal intervals of an expression. The positions are those of the leaves in one zone
/// of one document: after `start` they must stay the same.
pub trait Intervals {
    /// Rewinds to before the first interval in these positions.
    fn start(&mut self, positions: &[Vec<u32>]);

    /// The next interval: both its ends are greater than those of the previous one. After the last it is
    /// `None`, on every call.
    fn next(&mut self, positions: &[Vec<u32>]) -> Option<Span>;
}

/// An expression compiled for evaluation: built once per query, with the memory its operators need, and
/// reused for every document.
pub struct Expression {
    root: Node,
    leaves: usize,
}

impl Expression {
    /// Compiles an expression.
    pub fn new(interval: &Interval) -> Expression {
        Expression::with_leaves(interval).0
    }

    /// Compiles an expression, and returns its leaves in the order of their numbers, that of a depth-first,
    /// left-to-right traversal; repeated leaves are repeated.
    pub fn with_leaves(interval: &Interval) -> (Expression, Vec<&Leaf>) {
        let mut leaves = Vec::new();
        let root = Node::of(interval, &mut leaves);
        (Expression { root, leaves: leaves.len() }, leaves)
    }

    /// The number of leaves.
    pub fn leaves(&self) -> usize {
        self.leaves
    }

    /// Whether there is an interval in a zone where the leaves have these positions: a strictly increasing
    /// list for each leaf.
    pub fn matches(&mut self, positions: &[Vec<u32>]) -> bool {
        self.root.start(positions);
        self.root.next(positions).is_some()
    }

    /// Replaces the content of `spans` by all intervals; the positions are as for [`Expression::matches`].
    pub fn spans(&mut self, positions: &[Vec<u32>], spans: &mut Vec<Span>) {
        spans.clear();
        self.root.start(positions);
        while let Some(span) = self.root.next(positions) {
            spans.push(span);
        }
    }
}

/// An operator with its operands.
enum Node {
    Leaf(leaf::Leaf),
    Phrase(Phrase),
    Any(Any),
    All(All),
    Ordered(Ordered),
    Window(Box<Window>),
    Related(Box<Related>),
}

impl Node {
    fn of<'a>(interval: &'a Interval, leaves: &mut Vec<&'a Leaf>) -> Node {
        match interval {
            Interval::Leaf(leaf) => Node::Leaf(leaf::Leaf::of(number(leaf, leaves))),
            Interval::Phrase(words) => {
                let words = words.iter().map(|(distance, leaf)| (*distance, number(leaf, leaves)));
                Node::Phrase(Phrase::of(words))
            }
            Interval::Any(children) => Node::of_each(children, leaves, |nodes| Node::Any(Any::of(nodes))),
            Interval::All(children) => Node::of_each(children, leaves, |nodes| Node::All(All::of(nodes))),
            Interval::Ordered(children) => {
                Node::of_each(children, leaves, |nodes| Node::Ordered(Ordered::of(nodes)))
            }
            Interval::Window(child, length) => {
                Node::Window(Box::new(Window::of(Node::of(child, leaves), *length)))
            }
            Interval::Related(relation) => {
                let of = Node::of(&relation.of, leaves);
                let with = Scan::of(Node::of(&relation.with, leaves));
                Node::Related(Box::new(Related::of(of, with, relation)))
            }
        }
    }

    /// The union, conjunction or sequence of a single operand is that operand.
    fn of_each<'a>(
        children: &'a [Interval],
        leaves: &mut Vec<&'a Leaf>,
        operator: impl FnOnce(Vec<Node>) -> Node,
    ) -> Node {
        match children {
            [only] => Node::of(only, leaves),
            children => operator(children.iter().map(|child| Node::of(child, leaves)).collect()),
        }
    }
}

fn number<'a>(leaf: &'a Leaf, leaves: &mut Vec<&'a Leaf>) -> usize {
    leaves.push(leaf);
    leaves.len() - 1
}

impl Intervals for Node {
    fn start(&mut self, positions: &[Vec<u32>]) {
        match self {
            Node::Leaf(node) => node.start(positions),
            Node::Phrase(node) => node.start(positions),
            Node::Any(node) => node.start(positions),
            Node::All(node) => node.start(positions),
            Node::Ordered(node) => node.start(positions),
            Node::Window(node) => node.start(positions),
            Node::Related(node) => node.start(positions),
        }
    }

    fn next(&mut self, positions: &[Vec<u32>]) -> Option<Span> {
        match self {
            Node::Leaf(node) => node.next(positions),
            Node::Phrase(node) => node.next(positions),
            Node::Any(node) => node.next(positions),
            Node::All(node) => node.next(positions),
            Node::Ordered(node) => node.next(positions),
            Node::Window(node) => node.next(positions),
            Node::Related(node) => node.next(positions),
        }
    }
}

#[cfg(test)]
mod tests;
