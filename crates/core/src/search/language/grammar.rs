//! The grammar: a recursive-descent parser from tokens to the syntax tree.
//!
//! Each method of the parser reads one production. Parsing never fails: a missing operand becomes
//! [`Node::Missing`], and the first syntax error is returned beside the tree.

use std::ops::Range;

use super::lexer::{Token, tokens};
use super::operator::Join;
use super::syntax::{Link, Node, Syntax};
use super::{DEEPEST, Fault, MOST_RELATIONS, PAIRS, QUOTES};

/// The syntax tree of a query, and its first syntax error.
pub fn read(query: &str) -> (Syntax<'_>, Option<Fault>) {
    let (tokens, fault) = tokens(query);
    let mut parser = Parser { tokens, next: 0, end: query.len(), depth: 0, relations: 0, fault };
    let tree = parser.whole();
    (tree, parser.fault)
}

struct Parser<'a> {
    tokens: Vec<(Range<usize>, Token<'a>)>,
    next: usize,
    /// The length of the query in bytes.
    end: usize,
    depth: usize,
    relations: usize,
    fault: Option<Fault>,
}

impl<'a> Parser<'a> {
    /// The whole query. What follows an unmatched closing parenthesis is grouped with what precedes it.
    fn whole(&mut self) -> Syntax<'a> {
        let mut parts = vec![self.query()];
        while self.next < self.tokens.len() {
            self.wrong(self.at(), "this parenthesis was never opened", PAIRS);
            self.next += 1;
            while matches!(self.peek(), Some(Token::Tilde(_) | Token::Boost(_))) {
                self.next += 1;
            }
            parts.push(self.query());
        }
        match parts.len() {
            1 => parts.remove(0),
            _ => Syntax { span: 0..self.end, node: Node::Group(parts) },
        }
    }

    fn query(&mut self) -> Syntax<'a> {
        let start = self.at();
        let mut groups = vec![self.group()];
        while self.peek() == Some(Token::Or) {
            self.check_group(groups.last());
            self.next += 1;
            groups.push(self.group());
            self.check_group(groups.last());
        }
        self.one_or(start, groups, Node::Or)
    }

    fn check_group(&mut self, group: Option<&Syntax<'a>>) {
        if let Some(Syntax { span, node: Node::Group(members) }) = group
            && members.is_empty()
        {
            self.wrong(span.start, "AND and OR need a word on both sides", QUOTES);
        }
    }

    fn group(&mut self) -> Syntax<'a> {
        let start = self.at();
        let mut members = Vec::new();
        while !matches!(self.peek(), None | Some(Token::Or | Token::Close)) {
            members.push(self.item());
        }
        self.spanning(start, Node::Group(members))
    }

    fn item(&mut self) -> Syntax<'a> {
        let start = self.at();
        let mut chains = vec![self.chain()];
        while self.take(Token::And) {
            chains.push(self.chain());
        }
        self.one_or(start, chains, Node::And)
    }

    fn chain(&mut self) -> Syntax<'a> {
        let start = self.at();
        let first = self.operand();
        let mut links = Vec::new();
        while let Some(link) = self.link() {
            links.push(link);
        }
        if links.is_empty() {
            return first;
        }
        self.spanning(start, Node::Chain(Box::new(first), links))
    }

    /// The next operator, with its right side. Each but `<` makes the tree of the meaning deeper.
    fn link(&mut self) -> Option<Link<'a>> {
        let start = self.at();
        let second = self.tokens.get(self.next + 1).map(|(_, token)| *token);
        let (operator, margins, negated) = match (self.peek()?, second) {
            (Token::Operator(operator, margins), _) => (operator, margins, false),
            (Token::Not, Some(Token::Operator(operator, margins))) if operator.adjustable => {
                (operator, margins, true)
            }
            _ => return None,
        };
        self.relations += usize::from(operator.join != Join::Ordered);
        if self.relations > MOST_RELATIONS {
            self.wrong(start, "a query has at most 50 operators CONTAINING, INSIDE and ALIGNED", "");
        }
        self.next += 1 + usize::from(negated);
        let span = start..self.passed();
        let right = self.operand();
        Some(Link { span, operator, margins, negated, right })
    }

    fn operand(&mut self) -> Syntax<'a> {
        let start = self.at();
        let name = match self.peek() {
            Some(Token::Plus) => return self.signed(Node::Required),
            Some(Token::Minus | Token::Not) => return self.signed(Node::Excluded),
            Some(Token::Zone(zone)) => {
                self.next += 1;
                let inside = Box::new(self.atom());
                return self.spanning(start, Node::Zone(zone, inside));
            }
            Some(Token::Known(known, value)) => return self.leaf(Node::Filter(known, value)),
            Some(Token::Everything) => return self.leaf(Node::Everything),
            Some(Token::And) => "AND",
            Some(Token::Or) => "OR",
            Some(Token::Operator(operator, _)) => operator.name,
            None => return self.missing("something is missing at the end"),
            Some(Token::Close) => return self.missing("something is missing before this parenthesis"),
            _ => return self.atom(),
        };
        self.missing(format!("{name} needs something on both sides"))
    }

    /// A sign and its operand.
    fn signed(&mut self, sign: impl FnOnce(Box<Syntax<'a>>) -> Node<'a>) -> Syntax<'a> {
        let start = self.at();
        self.next += 1;
        let operand = if self.deeper(start) { self.operand() } else { self.nothing() };
        self.depth -= 1;
        self.spanning(start, sign(Box::new(operand)))
    }

    /// A word, a phrase or a parenthesis, with its suffixes.
    fn atom(&mut self) -> Syntax<'a> {
        let start = self.at();
        let mut atom = match self.peek() {
            Some(Token::Word(text)) => self.word(text),
            Some(Token::Phrase(text)) => self.leaf(Node::Phrase(text)),
            Some(Token::Open) => self.parenthesis(),
            _ => return self.missing("there is nothing to search for before this"),
        };
        if let Some(Token::Tilde(positions)) = self.peek() {
            self.next += 1;
            atom = self.spanning(start, Node::Window(Box::new(atom), positions));
        }
        if let Some(Token::Boost(boost)) = self.peek() {
            self.next += 1;
            atom = self.spanning(start, Node::Boost(Box::new(atom), boost));
        }
        atom
    }

    fn word(&mut self, text: &'a str) -> Syntax<'a> {
        let start = self.at();
        self.next += 1;
        let node = match self.peek() {
            Some(Token::Star) => Node::Prefix(text),
            Some(Token::Tilde(changes)) => Node::Fuzzy(text, changes),
            _ => return self.spanning(start, Node::Word(text)),
        };
        self.next += 1;
        self.spanning(start, node)
    }

    /// The content of a pair of parentheses.
    fn parenthesis(&mut self) -> Syntax<'a> {
        let start = self.at();
        self.next += 1;
        if !self.deeper(start) {
            self.depth -= 1;
            return self.nothing();
        }
        let inside = self.query();
        self.depth -= 1;
        if !self.take(Token::Close) {
            self.wrong(start, "this parenthesis is never closed", PAIRS);
        }
        self.spanning(start, Node::Parentheses(Box::new(inside)))
    }

    fn deeper(&mut self, at: usize) -> bool {
        self.depth += 1;
        if self.depth > DEEPEST {
            self.wrong(at, "the query is nested more than 50 deep", "");
        }
        self.depth <= DEEPEST
    }

    fn leaf(&mut self, node: Node<'a>) -> Syntax<'a> {
        let start = self.at();
        self.next += 1;
        self.spanning(start, node)
    }

    fn missing(&mut self, reason: impl Into<String>) -> Syntax<'a> {
        self.wrong(self.at(), reason, QUOTES);
        self.nothing()
    }

    fn nothing(&self) -> Syntax<'a> {
        Syntax { span: self.at()..self.at(), node: Node::Missing }
    }

    fn wrong(&mut self, at: usize, reason: impl Into<String>, hint: &'static str) {
        self.fault.get_or_insert(Fault { at, reason: reason.into(), hint });
    }

    /// The node from `start` to the end of the last token.
    fn spanning(&self, start: usize, node: Node<'a>) -> Syntax<'a> {
        Syntax { span: start..self.passed().max(start), node }
    }

    fn one_or(
        &self,
        start: usize,
        mut parts: Vec<Syntax<'a>>,
        several: impl FnOnce(Vec<Syntax<'a>>) -> Node<'a>,
    ) -> Syntax<'a> {
        if parts.len() == 1 { parts.remove(0) } else { self.spanning(start, several(parts)) }
    }

    fn peek(&self) -> Option<Token<'a>> {
        self.tokens.get(self.next).map(|(_, token)| *token)
    }

    fn take(&mut self, token: Token<'_>) -> bool {
        let found = self.peek() == Some(token);
        self.next += usize::from(found);
        found
    }

    /// The start of the next token.
    fn at(&self) -> usize {
        self.tokens.get(self.next).map_or(self.end, |(span, _)| span.start)
    }

    /// The end of the last token.
    fn passed(&self) -> usize {
        self.next.checked_sub(1).map_or(0, |last| self.tokens[last].0.end)
    }
}
