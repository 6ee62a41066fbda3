//! Expressions of intervals: where in a text words stand together.
//!
//! The value of an expression, in one zone of one document, is the set of the minimal intervals of positions
//! that satisfy it: those that contain no other. None of them contains another, so sorted by their left ends
//! they are sorted by their right ends too, and every operator is one pass over its operands that never goes
//! back. All are lazy: [`Intervals::next`] reads no more of the operands than the next interval needs, and
//! whether there is one at all is known at the first.
//!
//! With `m` intervals in `n` operands, `Any` and `All` take O(m log n), `Ordered`, `Window` and
//! `Related` O(m), and a phrase O(n log p) for each place of its rarest word, where the longest
//! list has `p` places. The memory is O(n) a node, made once a query and used for every document.
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

/// The minimal intervals of an expression. The positions are those of the leaves in one zone of one document:
/// from `start` on they must stay the same.
pub trait Intervals {
    /// Goes before the first interval in these positions.
    fn start(&mut self, positions: &[Vec<u32>]);

    /// The next interval: both its ends are greater than those of the one before. After the last it is `None`
    /// as often as it is asked.
    fn next(&mut self, positions: &[Vec<u32>]) -> Option<Span>;
}

/// An expression made ready for evaluation: made once a query, with the memory that its operators need, it
/// serves every document.
pub struct Expression {
    root: Node,
    leaves: usize,
}

impl Expression {
    /// Makes an expression ready.
    pub fn new(interval: &Interval) -> Expression {
        Expression::with_leaves(interval).0
    }

    /// Makes an expression ready, and lists its leaves in the order of their numbers: that in which a walk of
    /// the expression, depth first and from left to right, meets them, each as often as it is said.
    pub fn with_leaves(interval: &Interval) -> (Expression, Vec<&Leaf>) {
        let mut leaves = Vec::new();
        let root = Node::of(interval, &mut leaves);
        (Expression { root, leaves: leaves.len() }, leaves)
    }

    /// How many leaves there are.
    pub fn leaves(&self) -> usize {
        self.leaves
    }

    /// Whether there is an interval in a zone where the leaves have these positions: a list for each leaf,
    /// rising without repetition.
    pub fn matches(&mut self, positions: &[Vec<u32>]) -> bool {
        self.root.start(positions);
        self.root.next(positions).is_some()
    }

    /// Puts all intervals in the place of what `spans` holds; the positions are as for
    /// [`Expression::matches`].
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

    /// One operand is what any, all or the sequence of it is.
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
