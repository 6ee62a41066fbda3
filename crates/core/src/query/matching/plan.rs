//! From a query to the nodes that find its documents on a segment.

use super::interval::IntervalNode;
use super::or::Or;
use super::phrase::Phrase;
use super::{And, Intersection, Leaves, Node, Test};
use crate::Result;
use crate::index::DocId;
use crate::index::zone::ZoneSet;
use crate::query::interval::Expression;
use crate::query::tree::{Interval, Leaf, Query};

/// A leaf of the query, by its place in a walk: the number of its cursor.
pub type Slot = usize;

/// A query with its leaves in order.
pub struct Plan<'q> {
    query: &'q Query,
    /// Where a word without a zone is looked for.
    searched: ZoneSet,
    kind: Intersection,
    /// The leaves, in the order in which a walk meets them.
    pub leaves: Vec<&'q Leaf>,
}

impl<'q> Plan<'q> {
    /// Plans a query.
    pub fn new(query: &'q Query, searched: ZoneSet, kind: Intersection) -> Plan<'q> {
        let mut leaves = Vec::new();
        query.leaves(&mut leaves);
        Plan { query, searched, kind, leaves }
    }

    /// The documents that match on a segment, whose cursors stand on their first documents.
    pub fn node(&self, leaves: &mut Leaves<'_>) -> Result<Node> {
        Walk { plan: self, leaves, next: 0 }.query(self.query)
    }

    /// Whether the query is any of some leaves, and perhaps a restriction of those: documents that match what does not
    /// score, such as filters and words that are excluded.
    pub fn is_disjunction(&self) -> bool {
        disjunction(self.query).is_some()
    }

    /// Whether the query is all of some leaves.
    pub fn is_conjunction(&self) -> bool {
        let leaves =
            |children: &[Query]| children.iter().all(|child| matches!(unboosted(child), Query::Leaf(_)));
        match self.query {
            Query::And(children) => leaves(children),
            Query::Group { required, optional, excluded } => {
                optional.is_empty() && excluded.is_empty() && leaves(required)
            }
            _ => false,
        }
    }

    /// Whether every document that holds the required leaves matches.
    pub fn is_decided(&self) -> bool {
        decided(self.query)
    }

    /// The leaves without which no document matches.
    pub fn required(&self) -> Vec<Slot> {
        let mut required = Vec::new();
        required_of(self.query, &mut 0, true, &mut required);
        required
    }

    /// Whether the nodes may move the cursor of a leaf past a document that holds it: where any of several things may match
    /// and one of them is more than a leaf, it goes ahead to where all of it matches.
    pub fn runs_ahead(&self) -> bool {
        runs_ahead(self.query)
    }

    /// What restricts a disjunction on a segment, where anything does.
    pub fn restriction(&self, leaves: &mut Leaves<'_>) -> Result<Option<Node>> {
        let Some((slots, rest)) = disjunction(self.query) else { return Ok(None) };
        let mut walk = Walk { plan: self, leaves, next: 0 };
        let mut children = Vec::new();
        for restriction in rest {
            match restriction {
                Restriction::Leaves => walk.next += slots,
                Restriction::Must(query) => children.push(walk.query(query)?),
                Restriction::MustNot(queries) => {
                    let unwanted = walk.any(queries)?;
                    children.push(Node::Except(Box::new((walk.everything(), unwanted))));
                }
            }
        }
        if children.is_empty() { Ok(None) } else { walk.all_of(children).map(Some) }
    }
}

/// A part of a disjunction, in the order of a walk.
enum Restriction<'q> {
    /// The leaves themselves.
    Leaves,
    Must(&'q Query),
    MustNot(&'q [Query]),
}

/// How many leaves the disjunction has, and its parts.
fn disjunction(query: &Query) -> Option<(usize, Vec<Restriction<'_>>)> {
    match query {
        Query::Leaf(_) => Some((1, vec![Restriction::Leaves])),
        Query::Boost(child, _) => disjunction(child),
        Query::Group { required, optional, excluded } if required.is_empty() && !optional.is_empty() => {
            let simple = optional.iter().all(|child| matches!(unboosted(child), Query::Leaf(_)));
            let mut parts = vec![Restriction::Leaves];
            if !excluded.is_empty() {
                parts.push(Restriction::MustNot(excluded));
            }
            simple.then_some((optional.len(), parts))
        }
        Query::And(children) => {
            let mut found = None;
            let mut parts = Vec::new();
            for child in children {
                if scores_nothing(child) {
                    parts.push(Restriction::Must(child));
                } else if found.is_none() {
                    let (slots, of_child) = disjunction(child)?;
                    found = Some(slots);
                    parts.extend(of_child);
                } else {
                    return None;
                }
            }
            found.map(|slots| (slots, parts))
        }
        _ => None,
    }
}

/// Walks a query whose first leaf is `next`; where it must match, so must some of its leaves.
fn required_of(query: &Query, next: &mut Slot, must: bool, required: &mut Vec<Slot>) {
    match query {
        Query::Leaf(_) => {
            required.extend(must.then_some(*next));
            *next += 1;
        }
        Query::Interval(interval) => required_of_interval(interval, next, must, required),
        Query::Filter(_) => {}
        Query::Boost(child, _) => required_of(child, next, must, required),
        Query::Not(child) => required_of(child, next, false, required),
        Query::And(children) => children.iter().for_each(|child| required_of(child, next, must, required)),
        Query::Group { required: wanted, optional, excluded } => {
            wanted.iter().for_each(|child| required_of(child, next, must, required));
            let only = must && wanted.is_empty() && optional.len() == 1;
            optional.iter().for_each(|child| required_of(child, next, only, required));
            excluded.iter().for_each(|child| required_of(child, next, false, required));
        }
    }
}

/// Whether a document matches when it holds all leaves that [`required_of`] finds.
fn decided(query: &Query) -> bool {
    match query {
        Query::Leaf(_) | Query::Interval(Interval::Leaf(_)) => true,
        Query::Boost(child, _) => decided(child),
        Query::And(children) => children.iter().all(decided),
        Query::Group { required, optional, excluded } if excluded.is_empty() => {
            match (required.as_slice(), optional.as_slice()) {
                ([], [only]) => decided(only),
                ([], _) => false,
                (required, _) => required.iter().all(decided),
            }
        }
        _ => false,
    }
}

fn required_of_interval(interval: &Interval, next: &mut Slot, must: bool, required: &mut Vec<Slot>) {
    match interval {
        Interval::Leaf(_) => {
            required.extend(must.then_some(*next));
            *next += 1;
        }
        Interval::Phrase(words) => {
            required.extend((*next..*next + words.len()).filter(|_| must));
            *next += words.len();
        }
        Interval::Any(children) => {
            let only = must && children.len() == 1;
            children.iter().for_each(|child| required_of_interval(child, next, only, required));
        }
        Interval::All(children) | Interval::Ordered(children) => {
            children.iter().for_each(|child| required_of_interval(child, next, must, required));
        }
        Interval::Window(child, _) => required_of_interval(child, next, must, required),
        Interval::Containing(relation) | Interval::Inside(relation) => {
            required_of_interval(&relation.of, next, must, required);
            required_of_interval(&relation.with, next, must && !relation.negated, required);
        }
        Interval::Aligned(both) => {
            required_of_interval(&both.0, next, must, required);
            required_of_interval(&both.1, next, must, required);
        }
    }
}

fn runs_ahead(query: &Query) -> bool {
    match query {
        Query::Leaf(_) | Query::Filter(_) | Query::Not(_) => false,
        Query::Interval(interval) => interval_runs_ahead(interval),
        Query::Boost(child, _) => runs_ahead(child),
        Query::And(children) => children.iter().any(runs_ahead),
        Query::Group { required, optional, .. } if required.is_empty() => {
            let composed = |child: &Query| !matches!(unboosted(child), Query::Leaf(_));
            (optional.len() > 1 && optional.iter().any(composed)) || optional.iter().any(runs_ahead)
        }
        Query::Group { required, .. } => required.iter().any(runs_ahead),
    }
}

fn interval_runs_ahead(interval: &Interval) -> bool {
    match interval {
        Interval::Leaf(_) | Interval::Phrase(_) => false,
        Interval::Any(children) => {
            let composed = |child: &Interval| !matches!(child, Interval::Leaf(_));
            (children.len() > 1 && children.iter().any(composed)) || children.iter().any(interval_runs_ahead)
        }
        Interval::All(children) | Interval::Ordered(children) => children.iter().any(interval_runs_ahead),
        Interval::Window(child, _) => interval_runs_ahead(child),
        Interval::Containing(relation) | Interval::Inside(relation) => {
            interval_runs_ahead(&relation.of) || interval_runs_ahead(&relation.with)
        }
        Interval::Aligned(both) => interval_runs_ahead(&both.0) || interval_runs_ahead(&both.1),
    }
}

fn unboosted(query: &Query) -> &Query {
    match query {
        Query::Boost(child, _) => unboosted(child),
        other => other,
    }
}

fn scores_nothing(query: &Query) -> bool {
    query.scoring_leaves().is_empty()
}

/// A walk that makes nodes.
struct Walk<'w, 'q, 'a> {
    plan: &'w Plan<'q>,
    leaves: &'w mut Leaves<'a>,
    /// The next leaf.
    next: Slot,
}

impl Walk<'_, '_, '_> {
    fn query(&mut self, query: &Query) -> Result<Node> {
        match query {
            Query::Leaf(_) => Ok(self.leaf()),
            Query::Interval(interval) => self.interval(interval),
            Query::Filter(filter) => Ok(match Test::of(filter, self.leaves.segment) {
                Some(test) => Node::Test(test, DocId(0), self.end()),
                None => Node::Nothing,
            }),
            Query::Boost(child, _) => self.query(child),
            Query::Not(child) => {
                let unwanted = self.query(child)?;
                Ok(Node::Except(Box::new((self.everything(), unwanted))))
            }
            Query::And(children) => {
                let (mut wanted, mut unwanted) = (Vec::new(), Vec::new());
                for child in children {
                    match child {
                        Query::Not(child) => unwanted.push(self.query(child)?),
                        child => wanted.push(self.query(child)?),
                    }
                }
                let wanted = self.all_of(wanted)?;
                Ok(self.except(wanted, unwanted))
            }
            Query::Group { required, optional, excluded } => {
                let must = self.each(required)?;
                let nothing_said = required.is_empty() && optional.is_empty() && excluded.is_empty();
                let wanted = if (required.is_empty() && !optional.is_empty()) || nothing_said {
                    self.any(optional)?
                } else {
                    // What only adds to the score has cursors and no nodes, which would move them.
                    let mut passed = Vec::new();
                    optional.iter().for_each(|child| child.leaves(&mut passed));
                    self.next += passed.len();
                    self.all_of(must)?
                };
                let unwanted = self.each(excluded)?;
                Ok(self.except(wanted, unwanted))
            }
        }
    }

    fn each(&mut self, queries: &[Query]) -> Result<Vec<Node>> {
        queries.iter().map(|query| self.query(query)).collect()
    }

    fn any(&mut self, queries: &[Query]) -> Result<Node> {
        let children = self.each(queries)?;
        Ok(self.any_of(children))
    }

    fn interval(&mut self, interval: &Interval) -> Result<Node> {
        let first = self.next;
        match interval {
            Interval::Leaf(_) => Ok(self.leaf()),
            Interval::Phrase(words) => {
                let children = words.iter().map(|_| self.leaf()).collect();
                let places =
                    words.iter().enumerate().map(|(place, (distance, _))| (first + place, *distance));
                let and = And::of(children, self.plan.kind, self.leaves)?;
                let zones = self.zones(first);
                Ok(Node::Phrase(Box::new(Phrase::of(and, places.collect(), zones, self.leaves))))
            }
            _ => {
                let candidates = self.candidates(interval)?;
                let (zones, expression) = (self.zones(first), Expression::new(interval));
                Ok(Node::Interval(Box::new(IntervalNode::new(candidates, first, zones, expression))))
            }
        }
    }

    /// The documents that hold enough for an interval.
    fn candidates(&mut self, interval: &Interval) -> Result<Node> {
        match interval {
            Interval::Leaf(_) => Ok(self.leaf()),
            Interval::Phrase(words) => {
                let children = words.iter().map(|_| self.leaf()).collect();
                self.all_of(children)
            }
            Interval::Any(children) => {
                let children = children.iter().map(|child| self.candidates(child)).collect::<Result<_>>()?;
                Ok(self.any_of(children))
            }
            Interval::All(children) | Interval::Ordered(children) => {
                let children = children.iter().map(|child| self.candidates(child)).collect::<Result<_>>()?;
                self.all_of(children)
            }
            Interval::Window(child, _) => self.candidates(child),
            Interval::Containing(relation) | Interval::Inside(relation) => {
                let of = self.candidates(&relation.of)?;
                let with = self.candidates(&relation.with)?;
                if relation.negated { Ok(of) } else { self.all_of(vec![of, with]) }
            }
            Interval::Aligned(both) => {
                let children = vec![self.candidates(&both.0)?, self.candidates(&both.1)?];
                self.all_of(children)
            }
        }
    }

    /// The zones of the leaves from `first` on.
    fn zones(&self, first: Slot) -> ZoneSet {
        let mut zones = ZoneSet::default();
        for leaf in &self.plan.leaves[first..self.next] {
            leaf.zones.unwrap_or(self.plan.searched).zones().for_each(|zone| zones.insert(zone));
        }
        zones
    }

    fn leaf(&mut self) -> Node {
        self.next += 1;
        Node::Leaf(self.next - 1)
    }

    /// The documents in all of the children; all documents when there are none.
    fn all_of(&mut self, mut children: Vec<Node>) -> Result<Node> {
        Ok(match (children.pop(), children.is_empty()) {
            (None, _) => self.everything(),
            (Some(only), true) => only,
            (Some(last), false) => {
                children.push(last);
                Node::And(Box::new(And::of(children, self.plan.kind, self.leaves)?))
            }
        })
    }

    /// The documents in any of the children.
    fn any_of(&self, mut children: Vec<Node>) -> Node {
        match (children.pop(), children.is_empty()) {
            (None, _) => Node::Nothing,
            (Some(only), true) => only,
            (Some(last), false) => {
                children.push(last);
                Node::Or(Box::new(Or::of(children, self.leaves)))
            }
        }
    }

    fn except(&self, wanted: Node, unwanted: Vec<Node>) -> Node {
        if unwanted.is_empty() {
            return wanted;
        }
        Node::Except(Box::new((wanted, self.any_of(unwanted))))
    }

    fn everything(&self) -> Node {
        Node::Everything(DocId(0), self.end())
    }

    fn end(&self) -> DocId {
        DocId(self.leaves.segment.totals().documents as u32)
    }
}
