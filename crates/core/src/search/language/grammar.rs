//! The grammar: from tokens to the tree, by recursive descent.
//!
//! Each method of the parser reads one line of it, and returns `None` for what holds no word.

use super::interval::{interval_of, set_zones};
use super::lexer::{Token, WIDEST, tokens};
use super::operator::Operator;
use super::tree::{Interval, Query};
use super::words::{Words, phrase, window};
use super::{DEEPEST, MOST_LEAVES, MOST_RELATIONS, failure};
use crate::Result;
use crate::analysis::Analyzer;
use crate::index::format::zone::{Zone, ZoneSet};

/// From how many characters on a fuzzy word has two changes, where it does not say.
const LONG_WORD: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Required,
    Optional,
    /// A stop word without a sign.
    Stop,
    /// A `*` without a sign.
    Everything,
    Excluded,
}

/// The state of parsing.
pub struct Parser<'a> {
    tokens: Vec<(usize, Token<'a>)>,
    next: usize,
    end: usize,
    depth: usize,
    leaves: usize,
    relations: usize,
    analyzer: &'a Analyzer,
}

impl<'a> Parser<'a> {
    pub fn new(query: &'a str, analyzer: &'a Analyzer) -> Result<Parser<'a>> {
        let end = query.chars().count();
        Ok(Parser { tokens: tokens(query)?, next: 0, end, depth: 0, leaves: 0, relations: 0, analyzer })
    }

    /// The whole query.
    pub fn whole(mut self) -> Result<Query> {
        let query = self.query()?;
        match self.peek() {
            Some(_) => Err(failure(self.position(), "this parenthesis was never opened")),
            None => query.ok_or_else(|| failure(0, "there is no word to search for")),
        }
    }

    fn query(&mut self) -> Result<Option<Query>> {
        let first = self.group()?;
        if self.peek() != Some(Token::Or) {
            return Ok(first);
        }
        let mut groups = vec![self.needed(first)?];
        while self.take(Token::Or) {
            let group = self.group()?;
            groups.push(self.needed(group)?);
        }
        Ok(Some(Query::any(groups)))
    }

    fn group(&mut self) -> Result<Option<Query>> {
        let (mut required, mut optional, mut excluded) = (Vec::new(), Vec::new(), Vec::new());
        let (mut stop, mut everything, mut filters) = (Vec::new(), Vec::new(), Vec::new());
        while !matches!(self.peek(), None | Some(Token::Or | Token::Close)) {
            let (sign, item) = self.item()?;
            let Some(item) = item else { continue };
            match sign {
                Sign::Excluded => excluded.push(item),
                _ if is_filter(&item) => filters.push(item),
                Sign::Required => required.push(item),
                Sign::Optional => optional.push(item),
                Sign::Stop => stop.push(item),
                Sign::Everything => everything = vec![item],
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

    fn item(&mut self) -> Result<(Sign, Option<Query>)> {
        let (sign, first) = self.chain()?;
        if self.peek() != Some(Token::And) {
            return Ok((sign, first));
        }
        let mut chains = vec![negated_if(sign, self.needed(first)?)];
        while self.take(Token::And) {
            let (sign, chain) = self.chain()?;
            chains.push(negated_if(sign, self.needed(chain)?));
        }
        Ok((Sign::Optional, Some(Query::And(chains))))
    }

    fn chain(&mut self) -> Result<(Sign, Option<Query>)> {
        let start = self.position();
        let (sign, first) = self.operand()?;
        let Some(mut operator) = self.operator()? else {
            return Ok((sign, first));
        };
        let mut chain = self.side(operator, start, sign, first)?;
        let mut chained = false;
        loop {
            let position = self.position();
            let (sign, right) = self.operand()?;
            let right = self.side(operator, position, sign, right)?;
            chain = operator.join(chain, right, chained);
            chained = operator == Operator::Before;
            operator = match self.operator()? {
                Some(operator) => operator,
                None => return Ok((Sign::Optional, Some(Query::Interval(chain)))),
            };
        }
    }

    /// The operator that stands next. Each but `<` makes the tree deeper.
    fn operator(&mut self) -> Result<Option<Operator>> {
        let second = self.tokens.get(self.next + 1).map(|(_, token)| *token);
        let Some((operator, length)) = Operator::of(self.peek(), second) else {
            return Ok(None);
        };
        self.relations += usize::from(operator != Operator::Before);
        if self.relations > MOST_RELATIONS {
            let reason = "a query has at most 50 operators CONTAINING, INSIDE and ALIGNED";
            return Err(failure(self.position(), reason));
        }
        self.next += length;
        Ok(Some(operator))
    }

    /// What stands on a side of an operator, from `position` on.
    fn side(&self, operator: Operator, position: usize, sign: Sign, side: Option<Query>) -> Result<Interval> {
        let name = operator.name();
        let side = side.ok_or_else(|| failure(position, format!("{name} needs a word on both sides")))?;
        let interval = match sign {
            Sign::Required | Sign::Excluded => Err("a sign or a NOT"),
            _ => interval_of(side),
        };
        interval.map_err(|held| failure(position, format!("{held} cannot stand on a side of {name}")))
    }

    fn operand(&mut self) -> Result<(Sign, Option<Query>)> {
        let position = self.position();
        let Some(token) = self.peek() else {
            return Err(failure(position, "something is missing at the end"));
        };
        let name = match token {
            Token::Plus => return Ok((Sign::Required, self.signed()?)),
            Token::Minus | Token::Not => return Ok((Sign::Excluded, self.signed()?)),
            Token::Zone(zone) => return Ok((Sign::Optional, Some(self.zoned(zone)?))),
            Token::Known(known, value) => {
                self.next += 1;
                let filter = known.filter(value).ok_or_else(|| failure(position, known.needs()))?;
                return Ok((Sign::Optional, Some(Query::Filter(filter))));
            }
            Token::Everything => {
                self.next += 1;
                return Ok((Sign::Everything, Some(Query::everything())));
            }
            Token::And => "AND",
            Token::Or => "OR",
            Token::Before => "<",
            Token::Containing(_) => "CONTAINING",
            Token::Inside(_) => "INSIDE",
            Token::Aligned => "ALIGNED",
            Token::Close => return Err(failure(position, "something is missing before this parenthesis")),
            _ => return self.atom(),
        };
        Err(failure(position, format!("{name} needs something on both sides")))
    }

    /// A sign, and what stands after it.
    fn signed(&mut self) -> Result<Option<Query>> {
        self.deeper(self.position())?;
        self.next += 1;
        let (sign, operand) = self.operand()?;
        self.depth -= 1;
        Ok(operand.map(|operand| negated_if(sign, operand)))
    }

    /// A zone, and what stands in it.
    fn zoned(&mut self, zone: Zone) -> Result<Query> {
        let position = self.position();
        self.next += 1;
        let Some(mut query) = self.atom()?.1 else {
            return Err(failure(position, format!("{}: needs a word after it", zone.name())));
        };
        let mut zones = ZoneSet::default();
        zones.insert(zone);
        set_zones(&mut query, zones);
        Ok(query)
    }

    /// A word, a phrase or a parenthesis, with what is written at its end.
    fn atom(&mut self) -> Result<(Sign, Option<Query>)> {
        let position = self.position();
        let token = self.peek();
        self.next += 1;
        let (sign, query) = match (token, self.peek()) {
            (Some(Token::Word(text)), Some(Token::Star)) => (Sign::Optional, self.prefix(text)?),
            (Some(Token::Word(text)), Some(Token::Tilde(changes))) => {
                (Sign::Optional, self.fuzzy(text, changes)?)
            }
            (Some(Token::Word(text)), next) => {
                let stop = !matches!(next, Some(Token::Boost(_))) && self.analyzer.is_stop_word(text);
                let words = self.words(text, position)?;
                (if stop { Sign::Stop } else { Sign::Optional }, phrase(words.leaves()))
            }
            (Some(Token::Phrase(text)), Some(Token::Tilde(positions))) => {
                (Sign::Optional, self.window(text, positions)?)
            }
            (Some(Token::Phrase(text)), _) => (Sign::Optional, phrase(self.words(text, position)?.leaves())),
            (Some(Token::Open), _) => (Sign::Optional, Some(self.parenthesis(position)?)),
            _ => return Err(failure(position, "there is nothing to search for before this")),
        };
        let Some(Token::Boost(boost)) = self.peek() else {
            return Ok((sign, query));
        };
        self.next += 1;
        Ok((sign, query.map(|query| Query::Boost(Box::new(query), boost))))
    }

    /// What stands after an opening parenthesis, and the closing one.
    fn parenthesis(&mut self, position: usize) -> Result<Query> {
        self.deeper(position)?;
        let inside = self.query()?;
        self.depth -= 1;
        if !self.take(Token::Close) {
            return Err(failure(position, "this parenthesis is never closed"));
        }
        let inside = inside.ok_or_else(|| failure(position, "there is no word between these parentheses"))?;
        let Some(Token::Tilde(positions)) = self.peek() else {
            return Ok(inside);
        };
        let positions = self.positions(positions, 1)?;
        let interval = interval_of(inside)
            .map_err(|held| failure(position, format!("{held} cannot stand in a window")))?;
        Ok(Query::Interval(Interval::Window(Box::new(interval), positions)))
    }

    fn words(&mut self, text: &str, position: usize) -> Result<Words> {
        let words = Words::of(self.analyzer, text);
        self.leaves += words.len();
        if self.leaves > MOST_LEAVES {
            return Err(failure(position, "a query has at most 1,000 words"));
        }
        Ok(words)
    }

    /// A word whose star stands next.
    fn prefix(&mut self, text: &str) -> Result<Option<Query>> {
        let position = self.position();
        self.next += 1;
        let words = self.words(text, position)?;
        let Some(start) = words.start(self.analyzer) else {
            return Ok(phrase(words.leaves()));
        };
        if start.chars().nth(1).is_none() {
            return Err(failure(position, "a prefix needs at least two letters"));
        }
        Ok(phrase(words.prefix(start)))
    }

    /// A word whose tilde stands next.
    fn fuzzy(&mut self, text: &str, changes: Option<u32>) -> Result<Option<Query>> {
        let position = self.position();
        self.next += 1;
        let words = self.words(text, position)?;
        let changes = match changes {
            Some(1) => 1,
            Some(2) => 2,
            Some(_) => return Err(failure(position, "a fuzzy word has one or two changes, as in ~1")),
            None => 1 + u8::from(text.chars().nth(LONG_WORD - 1).is_some()),
        };
        if words.len() > 1 {
            return Err(failure(position, "only a single word can be fuzzy"));
        }
        Ok(words.fuzzy(changes).map(Query::Leaf))
    }

    /// A phrase whose tilde stands next.
    fn window(&mut self, text: &str, positions: Option<u32>) -> Result<Option<Query>> {
        let words = self.words(text, self.position())?;
        let positions = self.positions(positions, words.len())?;
        Ok(window(words.leaves(), positions))
    }

    /// The positions of a window, which stand next.
    fn positions(&mut self, positions: Option<u32>, words: usize) -> Result<u32> {
        let wrong = match positions {
            None => "a window needs a number, as in ~8",
            Some(positions) if positions > WIDEST => "a window has at most 1,000,000 positions",
            Some(positions) if (positions as usize) < words => "a window has no fewer positions than words",
            Some(positions) => {
                self.next += 1;
                return Ok(positions);
            }
        };
        Err(failure(self.position(), wrong))
    }

    fn deeper(&mut self, position: usize) -> Result<()> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(failure(position, "the query is nested more than 50 deep"));
        }
        Ok(())
    }

    fn needed(&self, operand: Option<Query>) -> Result<Query> {
        operand.ok_or_else(|| failure(self.position(), "AND and OR need a word on both sides"))
    }

    fn peek(&self) -> Option<Token<'a>> {
        self.tokens.get(self.next).map(|(_, token)| *token)
    }

    fn take(&mut self, token: Token<'_>) -> bool {
        let found = self.peek() == Some(token);
        self.next += usize::from(found);
        found
    }

    fn position(&self) -> usize {
        self.tokens.get(self.next).map_or(self.end, |(position, _)| *position)
    }
}

fn negated_if(sign: Sign, operand: Query) -> Query {
    if sign == Sign::Excluded { Query::Not(Box::new(operand)) } else { operand }
}

/// Whether a query is made of filters alone.
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
