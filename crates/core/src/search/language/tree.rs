//! A query as a tree, with its words already analysed to terms.
//!
//! A query means a set of documents: those that hold a leaf, those with an interval, those that pass a
//! filter, and what AND, OR and NOT make of them. What a document scores is apart from that: the sum over the
//! leaves that are not negated ([`Query::scoring_leaves`]), whichever of them the document holds.

use crate::index::format::zone::ZoneSet;

/// What a document must hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Query {
    /// A term.
    Leaf(Leaf),
    /// At least one interval of words.
    Interval(Interval),
    /// Something that is known about it beside its text; scores nothing.
    Filter(Filter),
    /// All of them.
    And(Vec<Query>),
    /// Not this. Every document is what [`Query::everything`] makes: not any of nothing.
    Not(Box<Query>),
    /// All of the required or, when there are none, any of the optional; and none of the excluded. With
    /// only excluded ones it is everything else.
    Group {
        /// What must match.
        required: Vec<Query>,
        /// What may match, and then adds to the score.
        optional: Vec<Query>,
        /// What must not match.
        excluded: Vec<Query>,
    },
    /// The same documents, whose leaves score so many times as much.
    Boost(Box<Query>, f32),
}

/// Terms that count as one, in some zones.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Leaf {
    /// Which terms.
    pub pattern: Pattern,
    /// Where they are looked for; `None` stands for wherever a word without a zone is looked for.
    pub zones: Option<ZoneSet>,
}

/// A term, or many.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pattern {
    /// This term.
    Term(String),
    /// All terms that begin so, and this term.
    Prefix {
        /// How they begin: a word in lower case, not stemmed.
        start: String,
        /// What the word itself is as a term.
        term: String,
    },
    /// All terms that so few changes make of this one: a character more, less, other, or two swapped.
    Fuzzy {
        /// The term.
        term: String,
        /// How many changes, 1 or 2.
        changes: u8,
    },
}

/// Something that is known about a document beside its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filter {
    /// Its host is this one or under it.
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

/// An expression whose value, in a zone of a document, is a set of intervals of positions none of which
/// contains another: the minimal ones.
#[derive(Clone, Debug, PartialEq)]
pub enum Interval {
    /// Where the terms are; each interval is one position long.
    Leaf(Leaf),
    /// Leaves at these distances from where the phrase starts; the distances rise from 0.
    Phrase(Vec<(u32, Leaf)>),
    /// The intervals of any.
    Any(Vec<Interval>),
    /// The shortest intervals that contain one of each, in any order; they may overlap.
    All(Vec<Interval>),
    /// The shortest that contain one of each, one after the other without overlap.
    Ordered(Vec<Interval>),
    /// Those that are at most so many positions long.
    Window(Box<Interval>, u32),
    /// Those of one expression that compare in some way with those of another.
    Related(Box<Relation>),
}

/// Two expressions, of which the first is filtered by the second.
#[derive(Clone, Debug, PartialEq)]
pub struct Relation {
    /// Where the intervals come from.
    pub of: Interval,
    /// What they are compared with.
    pub with: Interval,
    /// How.
    pub comparison: Comparison,
    /// By how many positions the intervals of `with` are enlarged to the left and to the right.
    pub margins: (u32, u32),
    /// Whether those stay for which the relation does not hold.
    pub negated: bool,
}

/// How intervals are compared with those of another expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// They contain one.
    Containing,
    /// They lie in one.
    Inside,
    /// They are intervals of it too.
    Aligned,
}

impl Query {
    /// Any of `queries`.
    pub fn any(queries: Vec<Query>) -> Query {
        Query::Group { required: Vec::new(), optional: queries, excluded: Vec::new() }
    }

    /// Every document: all but those that hold any of nothing.
    pub fn everything() -> Query {
        Query::Not(Box::new(Query::any(Vec::new())))
    }

    /// The leaves that score, each as often as it is said, with its boost: all that are not under a NOT.
    pub fn scoring_leaves(&self) -> Vec<(&Leaf, f32)> {
        let mut leaves = Vec::new();
        self.gather(1.0, &mut leaves);
        leaves
    }

    /// All leaves, negated ones too, as a walk meets them: depth first, from left to right.
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
    /// All leaves, as a walk meets them.
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
