//! The query plan: from a query to the nodes that find its documents on a segment.

use super::interval::Expression;
use super::interval::node::IntervalNode;
use super::or::Or;
use super::phrase::Phrase;
use super::shape::{self, Restriction};
use super::{And, Intersection, Leaves, Node, Test};
use crate::Result;
use crate::index::DocId;
use crate::index::format::zone::ZoneSet;
use crate::search::language::tree::{Interval, Leaf, Query};

/// A leaf of the query, by its place in the traversal: the number of its cursor.
pub type Slot = usize;

/// A query with its leaves in order.
pub struct Plan<'q> {
    query: &'q Query,
    /// The default zones: where a word without a zone is searched.
    searched: ZoneSet,
    kind: Intersection,
    /// The leaves, in traversal order.
    pub leaves: Vec<&'q Leaf>,
}

impl<'q> Plan<'q> {
    /// Plans a query.
    pub fn new(query: &'q Query, searched: ZoneSet, kind: Intersection) -> Plan<'q> {
        let mut leaves = Vec::new();
        query.leaves(&mut leaves);
        Plan { query, searched, kind, leaves }
    }

    /// The matching documents of a segment, whose cursors are on their first documents.
    pub fn node(&self, leaves: &mut Leaves<'_>) -> Result<Node> {
        Walk { plan: self, leaves, next: 0 }.query(self.query)
    }

    /// Whether the query is a disjunction of leaves, possibly restricted by parts that do not score, such as
    /// filters and excluded words.
    pub fn is_disjunction(&self) -> bool {
        shape::disjunction(self.query).is_some()
    }

    /// Whether the query is a conjunction of leaves.
    pub fn is_conjunction(&self) -> bool {
        shape::is_conjunction(self.query)
    }

    /// Whether every document that contains the required leaves matches.
    pub fn is_decided(&self) -> bool {
        shape::is_decided(self.query)
    }

    /// The required leaves: no document matches without all of them.
    pub fn required(&self) -> Vec<Slot> {
        shape::required(self.query)
    }

    /// The leaves whose positions decide whether a document matches.
    pub fn positional(&self) -> Vec<Slot> {
        shape::positional(self.query)
    }

    /// The scoring leaves whose cursors the nodes may move past the tree's current document.
    pub fn ahead(&self) -> Vec<Slot> {
        shape::ahead(self.query)
    }

    /// The restriction of a disjunction on a segment, if there is one.
    pub fn restriction(&self, leaves: &mut Leaves<'_>) -> Result<Option<Node>> {
        let Some((slots, rest)) = shape::disjunction(self.query) else { return Ok(None) };
        let mut walk = Walk { plan: self, leaves, next: 0 };
        let mut children = Vec::new();
        for restriction in rest {
            match restriction {
                Restriction::Leaves => walk.next += slots,
                Restriction::Must(query) => children.push(walk.query(query)?),
                Restriction::MustNot(queries) => {
                    let unwanted = walk.each(queries)?;
                    let unwanted = walk.any_of(unwanted);
                    children.push(Node::Except(Box::new((walk.everything(), unwanted))));
                }
            }
        }
        if children.is_empty() { Ok(None) } else { walk.all_of(children).map(Some) }
    }
}

/// A traversal that builds nodes.
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
                let may = if must.is_empty() { self.each(optional)? } else { self.pass(optional) };
                let unwanted = self.each(excluded)?;
                let wanted = if must.is_empty() && (!may.is_empty() || unwanted.is_empty()) {
                    self.any_of(may)
                } else {
                    self.all_of(must)?
                };
                Ok(self.except(wanted, unwanted))
            }
        }
    }

    fn each(&mut self, queries: &[Query]) -> Result<Vec<Node>> {
        queries.iter().map(|query| self.query(query)).collect()
    }

    /// Parts that only add to the score need no nodes, and their cursors are not moved.
    fn pass(&mut self, queries: &[Query]) -> Vec<Node> {
        self.next += shape::leaves_of(queries);
        Vec::new()
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
                let phrase = Phrase::of(and, places.collect(), self.zones(first), self.leaves);
                Ok(Node::Phrase(Box::new(phrase)))
            }
            _ => {
                let candidates = self.candidates(interval)?;
                let zones = self.zones(first);
                let expression = Expression::new(interval);
                Ok(Node::Interval(Box::new(IntervalNode::new(candidates, first, zones, expression))))
            }
        }
    }

    /// The documents that contain the leaves an interval requires.
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
            Interval::Related(relation) => {
                let of = self.candidates(&relation.of)?;
                let with = self.candidates(&relation.with)?;
                if relation.negated { Ok(of) } else { self.all_of(vec![of, with]) }
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

    /// The intersection of the children; all documents if there are none.
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

    /// The union of the children.
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
