//! The query language.
//!
//! ```text
//! query  = group { "OR" group }
//! group  = item { item }                  any of them; +item must match, -item and NOT item must not
//! item   = operand { "AND" operand }
//! operand = "NOT" operand | "+" operand | "-" operand | "(" query ")" | "phrase" | word
//! ```
//!
//! NOT binds tighter than AND, AND tighter than OR and than standing side by side. A word that analysis
//! parts in several (`boundary-layer`, `東京都`) is a phrase; an identifier (`std::vector`) is the whole of it;
//! one that has no letters is passed over. A stop word that stands beside others, without a sign, is left
//! out, unless all are stop words. Operators are in upper case. Nesting is limited, so parsing and whatever
//! walks the tree takes little stack.

use super::lexer::{Token, tokens};
use super::tree::Query;
use crate::analysis::Analyzer;
use crate::{Error, Result};

/// The longest query, in characters.
pub const LONGEST: usize = 10_000;
/// The deepest nesting of parentheses and NOT.
pub const DEEPEST: usize = 50;

/// Parses a query, whose words are analysed by `analyzer`.
pub fn parse(query: &str, analyzer: &Analyzer) -> Result<Query> {
    if query.chars().nth(LONGEST).is_some() {
        return Err(failure(LONGEST, "a query has at most 10,000 characters"));
    }
    let end = query.chars().count();
    let mut parser = Parser { tokens: tokens(query)?, next: 0, end, depth: 0, analyzer };
    let parsed = parser.query()?;
    match parser.peek() {
        Some(_) => Err(failure(parser.position(), "this parenthesis was never opened")),
        None => parsed.ok_or_else(|| failure(0, "there is no word to search for")),
    }
}

fn failure(position: usize, reason: &str) -> Error {
    Error::Query { position, reason: reason.into() }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Required,
    Optional,
    /// A stop word without a sign.
    Stop,
    Excluded,
}

/// Each method returns `None` for what holds no word.
struct Parser<'a> {
    tokens: Vec<(usize, Token<'a>)>,
    next: usize,
    end: usize,
    depth: usize,
    analyzer: &'a Analyzer,
}

impl<'a> Parser<'a> {
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
        let mut stop = Vec::new();
        while !matches!(self.peek(), None | Some(Token::Or | Token::Close)) {
            let (sign, item) = self.item()?;
            match (sign, item) {
                (_, None) => {}
                (Sign::Required, Some(item)) => required.push(item),
                (Sign::Optional, Some(item)) => optional.push(item),
                (Sign::Stop, Some(item)) => stop.push(item),
                (Sign::Excluded, Some(item)) => excluded.push(item),
            }
        }
        if required.is_empty() && optional.is_empty() {
            optional = stop;
        }
        Ok(match (required.len(), optional.len(), excluded.len()) {
            (0, 0, 0) => None,
            (1, 0, 0) => required.pop(),
            (0, 1, 0) => optional.pop(),
            _ => Some(Query::Group { required, optional, excluded }),
        })
    }

    fn item(&mut self) -> Result<(Sign, Option<Query>)> {
        let (sign, first) = self.operand()?;
        if self.peek() != Some(Token::And) {
            return Ok((sign, first));
        }
        let mut operands = vec![negated_if(sign, self.needed(first)?)];
        while self.take(Token::And) {
            let (sign, operand) = self.operand()?;
            operands.push(negated_if(sign, self.needed(operand)?));
        }
        Ok((Sign::Optional, Some(Query::And(operands))))
    }

    fn operand(&mut self) -> Result<(Sign, Option<Query>)> {
        let position = self.position();
        let Some(token) = self.peek() else {
            return Err(failure(position, "something is missing at the end"));
        };
        self.next += 1;
        Ok(match token {
            Token::Word(text) => {
                let sign = if self.analyzer.is_stop_word(text) { Sign::Stop } else { Sign::Optional };
                (sign, self.words(text))
            }
            Token::Phrase(text) => (Sign::Optional, self.words(text)),
            Token::Open => (Sign::Optional, Some(self.parenthesis(position)?)),
            Token::Plus => (Sign::Required, self.signed(position)?),
            Token::Minus | Token::Not => (Sign::Excluded, self.signed(position)?),
            Token::And => return Err(failure(position, "AND needs something on both sides")),
            Token::Or => return Err(failure(position, "OR needs something on both sides")),
            Token::Close => return Err(failure(position, "something is missing before this parenthesis")),
        })
    }

    /// What stands after a sign.
    fn signed(&mut self, position: usize) -> Result<Option<Query>> {
        self.deeper(position)?;
        let (sign, operand) = self.operand()?;
        self.depth -= 1;
        Ok(operand.map(|operand| negated_if(sign, operand)))
    }

    /// What stands after an opening parenthesis, and the closing one.
    fn parenthesis(&mut self, position: usize) -> Result<Query> {
        self.deeper(position)?;
        let inside = self.query()?;
        self.depth -= 1;
        if !self.take(Token::Close) {
            return Err(failure(position, "this parenthesis is never closed"));
        }
        inside.ok_or_else(|| failure(position, "there is no word between these parentheses"))
    }

    fn words(&self, text: &str) -> Option<Query> {
        let mut words = Vec::new();
        let mut parts_of_whole = 0;
        self.analyzer.words(text, |word| {
            if parts_of_whole > 0 {
                parts_of_whole -= 1;
            } else if !word.term.is_empty() {
                parts_of_whole = word.parts;
                words.push((word.position, word.term.to_owned()));
            }
        });
        if words.len() > 1 {
            return Some(Query::Phrase(words));
        }
        words.pop().map(|(_, term)| Query::Term(term))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Language;
    use proptest::prelude::*;

    /// In a language without stop words.
    fn parsed(query: &str) -> Result<Query> {
        parse(query, &Analyzer::new(Language::of(Some("xx"))))
    }

    fn english(query: &str) -> Query {
        parse(query, &Analyzer::new(Language::of(None))).unwrap()
    }

    fn term(name: &str) -> Query {
        Query::Term(name.into())
    }

    fn not(query: Query) -> Query {
        Query::Not(Box::new(query))
    }

    #[test]
    fn binds_not_then_and_then_or() {
        let bc = Query::And(vec![term("b"), not(term("c"))]);
        assert_eq!(parsed("a OR b AND NOT c").unwrap(), Query::any(vec![term("a"), bc.clone()]));
        assert_eq!(parsed("a b AND -c").unwrap(), Query::any(vec![term("a"), bc]));
        let inner = Query::any(vec![term("a"), term("b")]);
        assert_eq!(parsed("(a OR b) AND c").unwrap(), Query::And(vec![inner, term("c")]));
        assert_eq!(parsed("a - .").unwrap(), term("a"));
    }

    #[test]
    fn signs_and_not_sort_what_stands_side_by_side() {
        let group = Query::Group {
            required: vec![term("b")],
            optional: vec![term("a")],
            excluded: vec![term("c"), Query::Phrase(vec![(0, "d".into()), (1, "e".into())])],
        };
        assert_eq!(parsed("a +b -c NOT \"d e\"").unwrap(), group);
    }

    fn phrase(terms: &[(u32, &str)]) -> Query {
        Query::Phrase(terms.iter().map(|(position, term)| (*position, (*term).to_owned())).collect())
    }

    #[test]
    fn an_identifier_stands_for_the_whole() {
        assert_eq!(parsed("std::vectors").unwrap(), term("std::vectors"));
        assert_eq!(
            parsed("\"a std::vector of C++\"").unwrap(),
            phrase(&[(0, "a"), (1, "std::vector"), (3, "of"), (4, "c++")])
        );
        assert_eq!(parsed("git-scm.com").unwrap(), phrase(&[(0, "git"), (1, "scm.com")]));
        let long = format!("{}_b", "a".repeat(60)).repeat(3);
        assert!(matches!(parsed(&long).unwrap(), Query::Phrase(words) if words[0].1 == "a".repeat(60)));
    }

    #[test]
    fn a_run_without_spaces_is_a_phrase_of_pairs() {
        assert_eq!(parsed("東京都").unwrap(), phrase(&[(0, "東京"), (1, "京都")]));
        assert_eq!(parsed("東京").unwrap(), term("東京"));
        assert_eq!(parsed("\"東京 tower\"").unwrap(), phrase(&[(0, "東京"), (2, "tower")]));
    }

    #[test]
    fn stop_words_beside_others_are_left_out() {
        assert_eq!(english("the wind of a sail"), Query::any(vec![term("wind"), term("sail")]));
        assert_eq!(english("The wind"), term("wind"));
        assert_eq!(english("the who"), Query::any(vec![term("the"), term("who")]));
        assert_eq!(english("the"), term("the"));
        assert_eq!(english("the OR wind"), Query::any(vec![term("the"), term("wind")]));
        assert_eq!(english("the AND wind"), Query::And(vec![term("the"), term("wind")]));
        assert_eq!(english("\"the wind\""), phrase(&[(0, "the"), (1, "wind")]));
        let signed = |required, optional, excluded| Query::Group { required, optional, excluded };
        assert_eq!(english("+the wind"), signed(vec![term("the")], vec![term("wind")], vec![]));
        assert_eq!(english("the -wind"), signed(vec![], vec![term("the")], vec![term("wind")]));
        assert_eq!(english("-the wind"), signed(vec![], vec![term("wind")], vec![term("the")]));
    }

    #[test]
    fn says_where_it_went_wrong() {
        for (query, wrong) in [
            ("", 0),
            ("…", 0),
            ("è AND", 5),
            ("a OR OR b", 5),
            ("OR a", 0),
            ("(a", 0),
            ("a)", 1),
            ("a ()", 2),
            ("a \"b", 2),
            ("NOT", 3),
        ] {
            match parsed(query) {
                Err(Error::Query { position, .. }) => assert_eq!(position, wrong, "{query}"),
                other => panic!("{query}: {other:?}"),
            }
        }
    }

    #[test]
    fn depth_and_length_are_limited() {
        for query in
            ["(".repeat(100_000), "(".repeat(5000), "NOT ".repeat(2000) + "a", "-+".repeat(2500) + "a"]
        {
            assert!(matches!(parsed(&query), Err(Error::Query { .. })));
        }
    }

    proptest! {
        #[test]
        fn any_text_parses_or_fails(query in "[ab ()\"+\\-]{0,20}|( |AND|OR|NOT|a|\\(|\\)|\"|\\+|-|è){0,15}|.{0,20}") {
            let length = query.chars().count();
            if let Err(error) = parsed(&query) {
                assert!(matches!(error, Error::Query { position, .. } if position <= length));
            }
        }
    }
}
