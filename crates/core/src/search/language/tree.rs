//! The query tree, whose words are analysed to terms.
//!
//! A query denotes a set of documents: those that contain a leaf, those with an interval, those that pass a
//! filter, and their combinations by AND, OR and NOT. The score of a document is separate: the sum over the
//! leaves it contains that are not negated ([`Query::scoring_leaves`]).

use serde::{Deserialize, Serialize};

use crate::index::format::zone::ZoneSet;

/// A query, or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub enum Query {
    /// A term.
    Leaf(Leaf),
    /// At least one interval of words.
    Interval(Interval),
    /// A condition on the document's metadata; does not score.
    Filter(Filter),
    /// All of these.
    And(Vec<Query>),
    /// The complement. [`Query::everything`] is the complement of an empty union.
    Not(Box<Query>),
    /// All of the required ones or, if there are none, any of the optional ones; and none of the excluded
    /// ones. With only excluded ones it is the complement of their union.
    Group {
        /// What must match.
        required: Vec<Query>,
        /// What may match and then adds to the score.
        optional: Vec<Query>,
        /// What must not match.
        excluded: Vec<Query>,
    },
    /// The same documents; the scores of the leaves are multiplied by this factor.
    Boost(Box<Query>, f32),
}

/// A set of terms, in some zones, that counts as a single term.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Leaf {
    /// Which terms.
    pub pattern: Pattern,
    /// The zones to search; `None` stands for the default zones.
    pub zones: Option<ZoneSet>,
}

/// A term, or many.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Pattern {
    /// This term.
    Term(String),
    /// All terms with a prefix, and this term.
    Prefix {
        /// The prefix: a word in lower case, not stemmed.
        start: String,
        /// The term of the word itself.
        term: String,
    },
    /// All terms within an edit distance of this one (insertion, deletion, substitution, transposition).
    Fuzzy {
        /// The term.
        term: String,
        /// The maximum edit distance, 1 or 2.
        changes: u8,
    },
}

/// A condition on a document's metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filter {
    /// Its host is this one or a subdomain of it.
    Site(String),
    /// Its language.
    Language(String),
    /// Its type: html, text, pdf, feed, office or other.
    Kind(String),
    /// It is older than this day, counted from 1970-01-01.
    Before(u32),
    /// It is of this day or newer.
    After(u32),
}

/// An expression whose value, in a zone of a document, is a set of minimal intervals of positions: none of
/// them contains another.
#[derive(Clone, Debug, PartialEq)]
pub enum Interval {
    /// The positions of the terms; each interval has length 1.
    Leaf(Leaf),
    /// Leaves at these offsets from the start of the phrase; the offsets increase from 0.
    Phrase(Vec<(u32, Leaf)>),
    /// The union.
    Any(Vec<Interval>),
    /// The shortest intervals that contain one of each operand, in any order; they may overlap.
    All(Vec<Interval>),
    /// The shortest intervals that contain one of each operand, in this order, without overlap.
    Ordered(Vec<Interval>),
    /// Those of at most this many positions.
    Window(Box<Interval>, u32),
    /// The intervals of one expression that have a relation to those of another.
    Related(Box<Relation>),
}

/// Two expressions; the first is filtered by the second.
#[derive(Clone, Debug, PartialEq)]
pub struct Relation {
    /// The expression that is filtered.
    pub of: Interval,
    /// The expression it is compared with.
    pub with: Interval,
    /// The relation.
    pub comparison: Comparison,
    /// The number of positions by which the intervals of `with` are extended to the left and to the right.
    pub margins: (u32, u32),
    /// Whether to keep those for which the relation does not hold.
    pub negated: bool,
}

/// A relation between the intervals of two expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// They contain one of the other.
    Containing,
    /// They are contained in one of the other.
    Inside,
    /// They are equal to one of the other.
    Aligned,
}

impl Query {
    /// Any of `queries`.
    pub fn any(queries: Vec<Query>) -> Query {
        Query::Group { required: Vec::new(), optional: queries, excluded: Vec::new() }
    }

    /// Every document: the complement of an empty union.
    pub fn everything() -> Query {
        Query::Not(Box::new(Query::any(Vec::new())))
    }

    /// The scoring leaves, i.e. those that are not under a NOT, with their boosts; repeated leaves are
    /// repeated.
    pub fn scoring_leaves(&self) -> Vec<(&Leaf, f32)> {
        let mut leaves = Vec::new();
        self.gather(1.0, &mut leaves);
        leaves
    }

    /// All leaves, including negated ones, in the order of a depth-first, left-to-right traversal.
    pub fn leaves<'a>(&'a self, leaves: &mut Vec<&'a Leaf>) {
        match self {
            Query::Leaf(leaf) => leaves.push(leaf),
            Query::Interval(interval) => interval.leaves(leaves),
            Query::Filter(_) => {}
            Query::And(children) => children.iter().for_each(|child| child.leaves(leaves)),
            Query::Group { required, optional, excluded } => {
                required.iter().chain(optional).chain(excluded).for_each(|child| child.leaves(leaves));
            }
            Query::Not(child) | Query::Boost(child, _) => child.leaves(leaves),
        }
    }

    fn gather<'a>(&'a self, boost: f32, leaves: &mut Vec<(&'a Leaf, f32)>) {
        match self {
            Query::Leaf(leaf) => leaves.push((leaf, boost)),
            Query::Interval(interval) => interval.gather(boost, leaves),
            Query::Filter(_) | Query::Not(_) => {}
            Query::And(children) => children.iter().for_each(|child| child.gather(boost, leaves)),
            Query::Group { required, optional, .. } => {
                required.iter().chain(optional).for_each(|child| child.gather(boost, leaves));
            }
            Query::Boost(child, factor) => child.gather(boost * factor, leaves),
        }
    }
}

impl Interval {
    /// All leaves, in the order of the traversal.
    pub fn leaves<'a>(&'a self, leaves: &mut Vec<&'a Leaf>) {
        match self {
            Interval::Leaf(leaf) => leaves.push(leaf),
            Interval::Phrase(words) => leaves.extend(words.iter().map(|(_, leaf)| leaf)),
            Interval::Any(children) | Interval::All(children) | Interval::Ordered(children) => {
                children.iter().for_each(|child| child.leaves(leaves));
            }
            Interval::Window(child, _) => child.leaves(leaves),
            Interval::Related(relation) => {
                relation.of.leaves(leaves);
                relation.with.leaves(leaves);
            }
        }
    }

    fn gather<'a>(&'a self, boost: f32, leaves: &mut Vec<(&'a Leaf, f32)>) {
        match self {
            Interval::Leaf(leaf) => leaves.push((leaf, boost)),
            Interval::Phrase(words) => leaves.extend(words.iter().map(|(_, leaf)| (leaf, boost))),
            Interval::Any(children) | Interval::All(children) | Interval::Ordered(children) => {
                children.iter().for_each(|child| child.gather(boost, leaves));
            }
            Interval::Window(child, _) => child.gather(boost, leaves),
            Interval::Related(relation) => {
                relation.of.gather(boost, leaves);
                if !relation.negated {
                    relation.with.gather(boost, leaves);
                }
            }
        }
    }
}
