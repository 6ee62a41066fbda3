//! The syntax tree of a query: every node knows its byte range in the text.
//!
//! Nothing is analysed yet: a word is the text that was typed. [`super::meaning`] converts the tree to a
//! [`Query`](super::tree::Query), and [`super::text`] edits the query's text by it.

use std::ops::Range;

use super::field::Known;
use super::operator::Operator;
use crate::index::format::zone::Zone;

/// A node and its byte range.
#[derive(Clone, Debug, PartialEq)]
pub struct Syntax<'a> {
    pub span: Range<usize>,
    pub node: Node<'a>,
}

/// A node of the syntax tree.
#[derive(Clone, Debug, PartialEq)]
pub enum Node<'a> {
    /// A missing operand: the query does not parse.
    Missing,
    Word(&'a str),
    /// A word before a `*`.
    Prefix(&'a str),
    /// A word before a `~`, and the number after it.
    Fuzzy(&'a str, Option<u32>),
    /// The text between two quotes.
    Phrase(&'a str),
    /// A phrase or parentheses before a `~`, and the number after it.
    Window(Box<Syntax<'a>>, Option<u32>),
    Parentheses(Box<Syntax<'a>>),
    Zone(Zone, Box<Syntax<'a>>),
    Boost(Box<Syntax<'a>>, f32),
    /// The name of a filter, and its value as written.
    Filter(Known, &'a str),
    /// A `*` on its own.
    Everything,
    /// `+`.
    Required(Box<Syntax<'a>>),
    /// `-` or NOT.
    Excluded(Box<Syntax<'a>>),
    /// Operands of positional operators, from left to right.
    Chain(Box<Syntax<'a>>, Vec<Link<'a>>),
    And(Vec<Syntax<'a>>),
    /// One or more juxtaposed parts.
    Group(Vec<Syntax<'a>>),
    Or(Vec<Syntax<'a>>),
}

/// An operator and its right operand.
#[derive(Clone, Debug, PartialEq)]
pub struct Link<'a> {
    /// The byte range of the operator, with its NOT and its margins.
    pub span: Range<usize>,
    pub operator: &'static Operator,
    pub margins: (u32, u32),
    pub negated: bool,
    pub right: Syntax<'a>,
}
