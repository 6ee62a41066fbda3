//! A query as it is written: a tree whose every node knows its place in the text.
//!
//! Nothing is analysed yet: a word is the text that was typed. [`super::meaning`] makes a
//! [`Query`](super::tree::Query) of the tree, and [`super::text`] changes the query's text by it.

use std::ops::Range;

use super::field::Known;
use super::operator::Operator;
use crate::index::format::zone::Zone;

/// A part of a query and the bytes that it takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Syntax<'a> {
    pub span: Range<usize>,
    pub node: Node<'a>,
}

/// What stands there.
#[derive(Clone, Debug, PartialEq)]
pub enum Node<'a> {
    /// Nothing, where something is needed: the query does not parse.
    Missing,
    Word(&'a str),
    /// A word before a `*`.
    Prefix(&'a str),
    /// A word before a `~`, and the number after it.
    Fuzzy(&'a str, Option<u32>),
    /// What stands between two quotes.
    Phrase(&'a str),
    /// A phrase or parentheses before a `~`, and the number after it.
    Window(Box<Syntax<'a>>, Option<u32>),
    Parentheses(Box<Syntax<'a>>),
    Zone(Zone, Box<Syntax<'a>>),
    Boost(Box<Syntax<'a>>, f32),
    /// A filter's name, and its value as it is written.
    Filter(Known, &'a str),
    /// A `*` that stands alone.
    Everything,
    /// `+`.
    Required(Box<Syntax<'a>>),
    /// `-` or NOT.
    Excluded(Box<Syntax<'a>>),
    /// Operands of operators about positions, from left to right.
    Chain(Box<Syntax<'a>>, Vec<Link<'a>>),
    And(Vec<Syntax<'a>>),
    /// One or more that stand side by side.
    Group(Vec<Syntax<'a>>),
    Or(Vec<Syntax<'a>>),
}

/// An operator and what stands to the right of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Link<'a> {
    /// Where the operator is, with its NOT and its margins.
    pub span: Range<usize>,
    pub operator: &'static Operator,
    pub margins: (u32, u32),
    pub negated: bool,
    pub right: Syntax<'a>,
}
