//! Semantic analysis: from the syntax tree to the tree of terms that is searched.
//!
//! Each method returns `None` for a part without words.

use super::field::Known;
use super::interval::{interval_of, set_zones};
use super::lexer::WIDEST;
use super::operator::Join;
use super::syntax::{Link, Node, Syntax};
use super::tree::{Interval, Query};
use super::words::{Words, phrase, window};
use super::{Fault, MOST_LEAVES, QUOTES};
use crate::analysis::{Analyzer, Language};
use crate::index::format::zone::{Zone, ZoneSet};

/// The number of characters from which a fuzzy word without a number has an edit distance of 2.
const LONG_WORD: usize = 8;

type Result<T> = std::result::Result<T, Fault>;

/// The role of a part in its group.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Required,
    Optional,
    /// A stop word without a sign.
    Stop,
    /// A `*` without a sign.
    Everything,
    Excluded,
}

/// The meaning of a syntax tree whose words are analysed by `analyzer`.
pub fn meaning(tree: &Syntax<'_>, analyzer: &Analyzer) -> Result<Query> {
    let query = Meaning { analyzer: analyzer.clone(), leaves: 0 }.query(tree)?;
    query.ok_or_else(|| fault(0, "there is no word to search for", "a word has a letter or a digit"))
}

struct Meaning {
    /// The analyzer of the innermost group or AND that names a language.
    analyzer: Analyzer,
    leaves: usize,
}

fn fault(at: usize, reason: impl Into<String>, hint: &'static str) -> Fault {
    Fault { at, reason: reason.into(), hint }
}

impl Meaning {
    fn query(&mut self, tree: &Syntax<'_>) -> Result<Option<Query>> {
        match &tree.node {
            Node::Or(groups) => {
                let mut meant = Vec::with_capacity(groups.len());
                for group in groups {
                    let query = self.query(group)?;
                    meant.push(needed(group, query)?);
                }
                Ok(Some(Query::any(meant)))
            }
            Node::Group(members) => self.group(members),
            _ => self.group(std::slice::from_ref(tree)),
        }
    }

    fn group(&mut self, members: &[Syntax<'_>]) -> Result<Option<Query>> {
        let (mut required, mut optional, mut excluded) = (Vec::new(), Vec::new(), Vec::new());
        let (mut stop, mut everything, mut filters) = (Vec::new(), Vec::new(), Vec::new());
        for (role, query) in self.in_its_language(members, Meaning::part)? {
            let Some(query) = query else { continue };
            match role {
                Role::Excluded => excluded.push(query),
                _ if is_filter(&query) => filters.push(query),
                Role::Required => required.push(query),
                Role::Optional => optional.push(query),
                Role::Stop => stop.push(query),
                Role::Everything => everything = vec![query],
            }
        }
        if required.is_empty() && optional.is_empty() {
            optional = stop;
        }
        if required.is_empty() && optional.is_empty() && excluded.is_empty() && filters.is_empty() {
            optional = everything;
        }
        let group = match (required.len(), optional.len(), excluded.len()) {
            (0, 0, 0) => None,
            (1, 0, 0) => required.pop(),
            (0, 1, 0) => optional.pop(),
            _ => Some(Query::Group { required, optional, excluded }),
        };
        filters.splice(0..0, group);
        Ok(if filters.len() > 1 { Some(Query::And(filters)) } else { filters.pop() })
    }

    /// The meanings of parts that all must or may match, in the language that a filter among them requires: a
    /// document was analysed in its own.
    fn in_its_language<T>(
        &mut self,
        parts: &[Syntax<'_>],
        meaning: impl Fn(&mut Meaning, &Syntax<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let outside = self.analyzer.clone();
        if let Some(language) = language_of(parts) {
            self.analyzer = Analyzer::new(Language::of(Some(&language)));
        }
        let meant = parts.iter().map(|part| meaning(self, part)).collect();
        self.analyzer = outside;
        meant
    }

    fn part(&mut self, part: &Syntax<'_>) -> Result<(Role, Option<Query>)> {
        let start = part.span.start;
        let query = match &part.node {
            Node::Required(inside) => return Ok((Role::Required, self.operand(inside)?)),
            Node::Excluded(inside) => return Ok((Role::Excluded, self.operand(inside)?)),
            Node::Everything => return Ok((Role::Everything, Some(Query::everything()))),
            Node::Word(text) => {
                let role = if self.analyzer.is_stop_word(text) { Role::Stop } else { Role::Optional };
                return Ok((role, phrase(self.words(text, start)?.leaves())));
            }
            Node::Missing => None,
            Node::Prefix(text) => self.prefix(text, start)?,
            Node::Fuzzy(text, changes) => self.fuzzy(text, *changes, start)?,
            Node::Phrase(text) => phrase(self.words(text, start)?.leaves()),
            Node::Window(inside, positions) => self.window(inside, *positions)?,
            Node::Parentheses(inside) => {
                let reason = "there is no word between these parentheses";
                let query = self.query(inside)?;
                Some(query.ok_or_else(|| fault(start, reason, "leave them out, or put words between them"))?)
            }
            Node::Zone(zone, inside) => Some(self.zoned(*zone, inside, start)?),
            Node::Boost(inside, boost) => {
                self.part(inside)?.1.map(|query| Query::Boost(Box::new(query), *boost))
            }
            Node::Filter(known, value) => Some(filter(*known, value, start)?),
            Node::Chain(first, links) => Some(Query::Interval(self.chain(first, links)?)),
            Node::And(parts) => {
                let meant = |of: &mut Meaning, part: &Syntax<'_>| needed(part, of.operand(part)?);
                Some(Query::And(self.in_its_language(parts, meant)?))
            }
            Node::Group(_) | Node::Or(_) => self.query(part)?,
        };
        Ok((Role::Optional, query))
    }

    /// A part that stands alone: if excluded, it matches all other documents.
    fn operand(&mut self, part: &Syntax<'_>) -> Result<Option<Query>> {
        let (role, query) = self.part(part)?;
        let negated = role == Role::Excluded;
        Ok(query.map(|query| if negated { Query::Not(Box::new(query)) } else { query }))
    }

    fn chain(&mut self, first: &Syntax<'_>, links: &[Link<'_>]) -> Result<Interval> {
        let mut chain = self.side(links[0].operator.name, first)?;
        let mut chained = false;
        for Link { operator, margins, negated, right, .. } in links {
            let right = self.side(operator.name, right)?;
            chain = operator.join.of(chain, right, *margins, *negated, chained);
            chained = operator.join == Join::Ordered;
        }
        Ok(chain)
    }

    /// The operand on one side of the operator of this name.
    fn side(&mut self, name: &str, side: &Syntax<'_>) -> Result<Interval> {
        let at = side.span.start;
        let (role, query) = self.part(side)?;
        let query = query.ok_or_else(|| fault(at, format!("{name} needs a word on both sides"), QUOTES))?;
        let interval = match role {
            Role::Required | Role::Excluded => Err("a sign or a NOT"),
            _ => interval_of(query),
        };
        interval.map_err(|held| {
            let reason = format!("{held} cannot stand on a side of {name}");
            fault(at, reason, "put it outside, with the rest in parentheses")
        })
    }

    fn zoned(&mut self, zone: Zone, inside: &Syntax<'_>, start: usize) -> Result<Query> {
        let Some(mut query) = self.part(inside)?.1 else {
            return Err(fault(start, format!("{}: needs a word after it", zone.name()), QUOTES));
        };
        let mut zones = ZoneSet::default();
        zones.insert(zone);
        set_zones(&mut query, zones);
        Ok(query)
    }

    fn words(&mut self, text: &str, start: usize) -> Result<Words> {
        let words = Words::of(&self.analyzer, text);
        self.leaves += words.len();
        if self.leaves > MOST_LEAVES {
            return Err(fault(start, "a query has at most 1,000 words", "keep the words that matter most"));
        }
        Ok(words)
    }

    fn prefix(&mut self, text: &str, start: usize) -> Result<Option<Query>> {
        let words = self.words(text, start)?;
        let Some(beginning) = words.start(&self.analyzer) else {
            return Ok(phrase(words.leaves()));
        };
        if beginning.chars().nth(1).is_none() {
            return Err(fault(start + text.len(), "a prefix needs at least two letters", QUOTES));
        }
        Ok(phrase(words.prefix(beginning)))
    }

    fn fuzzy(&mut self, text: &str, changes: Option<u32>, start: usize) -> Result<Option<Query>> {
        let at = start + text.len();
        let words = self.words(text, start)?;
        let changes = match changes {
            Some(1) => 1,
            Some(2) => 2,
            Some(_) => return Err(fault(at, "a fuzzy word has one or two changes, as in ~1", QUOTES)),
            None => 1 + u8::from(text.chars().nth(LONG_WORD - 1).is_some()),
        };
        if words.len() > 1 {
            return Err(fault(at, "only a single word can be fuzzy", QUOTES));
        }
        Ok(words.fuzzy(changes).map(Query::Leaf))
    }

    /// A phrase or parentheses within a window of the given number of positions.
    fn window(&mut self, inside: &Syntax<'_>, positions: Option<u32>) -> Result<Option<Query>> {
        if let Node::Phrase(text) = inside.node {
            let words = self.words(text, inside.span.start)?;
            let positions = checked_positions(positions, words.len(), inside.span.end)?;
            return Ok(window(words.leaves(), positions));
        }
        let Some(query) = self.part(inside)?.1 else { return Ok(None) };
        let positions = checked_positions(positions, 1, inside.span.end)?;
        let interval = interval_of(query).map_err(|held| {
            let reason = format!("{held} cannot stand in a window");
            fault(inside.span.start, reason, "put it outside of the parentheses")
        })?;
        Ok(Some(Query::Interval(Interval::Window(Box::new(interval), positions))))
    }
}

/// The language that a filter among these parts requires of all documents that match them.
pub fn language_of(parts: &[Syntax<'_>]) -> Option<String> {
    parts.iter().find_map(|part| match &part.node {
        Node::Required(inside) => language_of(std::slice::from_ref(inside)),
        Node::Filter(known @ Known::Language, value) => known.canonical(value),
        _ => None,
    })
}

fn needed(part: &Syntax<'_>, query: Option<Query>) -> Result<Query> {
    query.ok_or_else(|| fault(part.span.start, "AND and OR need a word on both sides", QUOTES))
}

fn filter(known: Known, value: &str, start: usize) -> Result<Query> {
    known.filter(value).map(Query::Filter).ok_or_else(|| fault(start, known.needs(), QUOTES))
}

/// The positions of a window with `words` words, whose tilde is at `at`.
fn checked_positions(positions: Option<u32>, words: usize, at: usize) -> Result<u32> {
    let wrong = match positions {
        None => "a window needs a number, as in ~8",
        Some(positions) if positions > WIDEST => "a window has at most 1,000,000 positions",
        Some(positions) if (positions as usize) < words => "a window has no fewer positions than words",
        Some(positions) => return Ok(positions),
    };
    Err(fault(at, wrong, ""))
}

/// Whether a query consists of filters only.
pub fn is_filter(query: &Query) -> bool {
    match query {
        Query::Filter(_) => true,
        Query::Leaf(_) | Query::Interval(_) => false,
        Query::Not(child) | Query::Boost(child, _) => is_filter(child),
        Query::And(children) => children.iter().all(is_filter),
        Query::Group { required, optional, excluded } => {
            let mut children = required.iter().chain(optional).chain(excluded).peekable();
            children.peek().is_some() && children.all(is_filter)
        }
    }
}
