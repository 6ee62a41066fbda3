//! The lexer: a query as a sequence of tokens, each with its byte range.
//!
//! A sign counts only before an operand and after a space or a parenthesis, so that `well-known`, `C++` and a
//! lone dash are words; a doubled sign does not count, so that `--force` is a word. `<` and `*` count only if
//! they stand alone.
//!
//! Lexing never fails: the first error is returned, and the offending text is skipped.

use std::ops::Range;

use super::field::{Field, Known, field};
use super::operator::{OPERATORS, Operator};
use super::suffix::{self, Suffixed};
use super::{Fault, PAIRS, QUOTES};
use crate::index::format::zone::Zone;

/// The upper limit on the positions of a window, and on a margin.
pub const WIDEST: u32 = 1_000_000;
/// The upper limit on a boost.
const HIGHEST_BOOST: f32 = 1000.0;

/// A token of a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Token<'a> {
    Open,
    Close,
    And,
    Or,
    Not,
    Plus,
    Minus,
    /// An operator of a chain, with its left and right margins.
    Operator(&'static Operator, (u32, u32)),
    /// The name of a zone and a colon; a word, a phrase or a parenthesis follows.
    Zone(Zone),
    /// The name of a filter, a colon and a value.
    Known(Known, &'a str),
    Word(&'a str),
    Phrase(&'a str),
    /// A `*` on its own.
    Everything,
    /// A `*` after a word.
    Star,
    /// A `~` after a word, a phrase or a parenthesis, and the number after it.
    Tilde(Option<u32>),
    Boost(f32),
}

/// The Boolean operators between sets of documents. Those of a chain are in [`OPERATORS`].
pub const CONNECTIVES: [(&str, Token<'static>); 3] =
    [("AND", Token::And), ("OR", Token::Or), ("NOT", Token::Not)];

/// Tokens with their byte ranges, and the first error.
pub type Tokens<'a> = (Vec<(Range<usize>, Token<'a>)>, Option<Fault>);

/// The tokens of a query.
pub fn tokens(query: &str) -> Tokens<'_> {
    let mut lexer = Lexer { query, at: 0, tokens: Vec::new(), signed: false, fault: None };
    while let Some(character) = lexer.rest().chars().next() {
        lexer.step(character);
    }
    (lexer.tokens, lexer.fault)
}

struct Lexer<'a> {
    query: &'a str,
    /// The offset of the unread rest.
    at: usize,
    tokens: Vec<(Range<usize>, Token<'a>)>,
    /// Whether a sign directly precedes the rest.
    signed: bool,
    fault: Option<Fault>,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.query[self.at..]
    }

    fn step(&mut self, character: char) {
        let signed = std::mem::take(&mut self.signed);
        match character {
            _ if character.is_whitespace() => self.at += character.len_utf8(),
            '(' => self.push(Token::Open, 1),
            ')' => {
                self.push(Token::Close, 1);
                self.suffixes_of_quote();
            }
            '"' => match self.rest()[1..].find('"') {
                Some(length) => {
                    self.push(Token::Phrase(&self.rest()[1..=length]), length + 2);
                    self.suffixes_of_quote();
                }
                None => {
                    self.wrong(self.at, "this quote is never closed", PAIRS);
                    self.at += 1;
                }
            },
            '+' if self.begins_something('+') => self.sign(Token::Plus),
            '-' if self.begins_something('-') => self.sign(Token::Minus),
            _ => self.run(signed),
        }
    }

    fn push(&mut self, token: Token<'a>, length: usize) {
        self.tokens.push((self.at..self.at + length, token));
        self.at += length;
    }

    fn wrong(&mut self, at: usize, reason: impl Into<String>, hint: &'static str) {
        self.fault.get_or_insert(Fault { at, reason: reason.into(), hint });
    }

    fn sign(&mut self, sign: Token<'a>) {
        self.push(sign, 1);
        self.signed = true;
    }

    fn begins_something(&self, sign: char) -> bool {
        self.rest()[1..].starts_with(|next: char| !next.is_whitespace() && next != ')' && next != sign)
    }

    /// The prefix of the rest up to a space, a parenthesis or a quote.
    fn next_run(&self) -> &'a str {
        let ends = |next: char| next.is_whitespace() || matches!(next, '(' | ')' | '"');
        &self.rest()[..self.rest().find(ends).unwrap_or(self.rest().len())]
    }

    fn run(&mut self, signed: bool) {
        let run = self.next_run();
        if let Some((name, token)) = CONNECTIVES.into_iter().find(|(name, _)| *name == run) {
            return self.push(token, name.len());
        }
        if run == "*" && !signed {
            return self.push(Token::Everything, 1);
        }
        for operator in &OPERATORS {
            match run.strip_prefix(operator.name) {
                // After a sign, an operator without letters is a word.
                Some("") if !signed || operator.name.contains(char::is_alphabetic) => {
                    return self.push(Token::Operator(operator, (0, 0)), run.len());
                }
                Some(after) if operator.adjustable && after.starts_with('[') => {
                    return self.margins(operator, run);
                }
                _ => {}
            }
        }
        match field(run) {
            Some((Field::Zone(zone), name)) => self.zone(zone, name, &run[name.len() + 1..]),
            Some((Field::Known(known), name)) => {
                self.push(Token::Known(known, &run[name.len() + 1..]), run.len());
            }
            None => self.word(run),
        }
    }

    /// An operator with `[left,right]` after its name.
    fn margins(&mut self, operator: &'static Operator, run: &str) {
        let inside = &self.rest()[operator.name.len() + 1..];
        let written = inside.find(']').and_then(|end| {
            let (left, right) = inside[..end].split_once(',')?;
            Some((left.trim().parse().ok()?, right.trim().parse().ok()?, end))
        });
        let at = self.at + operator.name.len();
        match written {
            Some((left, right, end)) => {
                if left > WIDEST || right > WIDEST {
                    self.wrong(at, "a margin is at most 1,000,000", "");
                }
                self.push(Token::Operator(operator, (left, right)), operator.name.len() + end + 2);
            }
            None => {
                self.wrong(at, "margins are two numbers, such as [2,3]", QUOTES);
                self.push(Token::Operator(operator, (0, 0)), run.len());
            }
        }
    }

    fn zone(&mut self, zone: Zone, name: &str, word: &'a str) {
        let at = self.at;
        self.push(Token::Zone(zone), name.len() + 1);
        if !word.is_empty() {
            self.word(word);
        } else if !self.rest().starts_with(['(', '"']) {
            self.wrong(at, format!("{name}: needs a word after it"), QUOTES);
        }
    }

    fn word(&mut self, run: &'a str) {
        let suffixed = suffix::of_word(run);
        self.push(Token::Word(suffixed.text), suffixed.text.len());
        self.suffixes(suffixed);
    }

    fn suffixes_of_quote(&mut self) {
        if let Some(suffixed) = suffix::of_quote(self.next_run()) {
            self.suffixes(suffixed);
        }
    }

    fn suffixes(&mut self, Suffixed { star, tilde, caret, .. }: Suffixed<'a>) {
        if star {
            self.push(Token::Star, 1);
        }
        if let Some(digits) = tilde {
            // A number that overflows is above every limit.
            let number = (!digits.is_empty()).then(|| digits.parse().unwrap_or(u32::MAX));
            if star {
                self.wrong(self.at, "a prefix cannot be fuzzy too", QUOTES);
                self.at += digits.len() + 1;
            } else {
                self.push(Token::Tilde(number), digits.len() + 1);
            }
        }
        if let Some(number) = caret {
            let boost = number.parse().unwrap_or(0.0);
            if boost <= 0.0 || boost > HIGHEST_BOOST {
                self.wrong(self.at, "a boost is more than 0 and at most 1000", QUOTES);
            }
            self.push(Token::Boost(boost), number.len() + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tokens of a valid query, each with its text.
    fn lexed(query: &str) -> Vec<(&str, Token<'_>)> {
        let (tokens, fault) = tokens(query);
        assert_eq!(fault, None, "{query}");
        tokens.into_iter().map(|(span, token)| (&query[span], token)).collect()
    }

    fn operator(name: &str, margins: (u32, u32)) -> Token<'static> {
        Token::Operator(OPERATORS.iter().find(|operator| operator.name == name).unwrap(), margins)
    }

    #[test]
    fn every_token_knows_its_place() {
        use Token::*;
        let expected = [
            ("è", Word("è")),
            ("+", Plus),
            ("a", Word("a")),
            ("-", Minus),
            ("(", Open),
            ("b-c", Word("b-c")),
            ("\"d e\"", Phrase("d e")),
            (")", Close),
            ("AND", And),
            ("C++", Word("C++")),
            ("-", Word("-")),
            ("x", Word("x")),
        ];
        assert_eq!(lexed("è +a -(b-c \"d e\") AND C++ - x"), expected);
        let expected = [
            ("git", Word("git")),
            ("--no-verify", Word("--no-verify")),
            ("-", Minus),
            ("(", Open),
            ("--x", Word("--x")),
            ("++a", Word("++a")),
            (")", Close),
            ("-", Minus),
            ("+", Plus),
            ("b", Word("b")),
        ];
        assert_eq!(lexed("git --no-verify -(--x ++a) -+b"), expected);
    }

    #[test]
    fn what_is_wrong_is_passed_over() {
        let recovered = |query: &'static str| {
            let (tokens, fault) = tokens(query);
            (tokens.into_iter().map(|(span, _)| &query[span]).collect::<Vec<_>>(), fault.unwrap().at)
        };
        assert_eq!(recovered("è \"c AND d"), (vec!["è", "c", "AND", "d"], 3));
        assert_eq!(recovered("a INSIDE[2,x b"), (vec!["a", "INSIDE[2,x", "b"], 8));
        assert_eq!(recovered("title: b \"c"), (vec!["title:", "b", "c"], 0));
        assert_eq!(recovered("foo*~1"), (vec!["foo", "*"], 4));
    }

    #[test]
    fn suffixes_and_fields_are_tokens_of_their_own() {
        use Token::*;
        let expected = [
            ("title:", Zone(crate::index::format::zone::Zone::Title)),
            ("è", Word("è")),
            ("*", Star),
            ("^2", Boost(2.0)),
            ("\"è f\"", Phrase("è f")),
            ("~8", Tilde(Some(8))),
            ("^.5", Boost(0.5)),
            ("url:", Zone(crate::index::format::zone::Zone::Url)),
            ("(", Open),
            ("g", Word("g")),
            ("h", Word("h")),
            ("~", Tilde(None)),
            (")", Close),
            ("^3", Boost(3.0)),
            ("site:x.org", Known(super::Known::Site, "x.org")),
            (")", Close),
        ];
        assert_eq!(lexed("title:è*^2 \"è f\"~8^.5 url:(g h~)^3 site:x.org)"), expected);
        assert_eq!(lexed("title:-AND")[1], ("-AND", Word("-AND")));
        assert_eq!(lexed("\"a\"~b")[1], ("~b", Word("~b")));
    }

    #[test]
    fn operators_stand_alone() {
        use Token::*;
        let expected = [
            ("a", Word("a")),
            ("<", operator("<", (0, 0))),
            ("b<c", Word("b<c")),
            ("-", Minus),
            ("<", Word("<")),
            ("x", Word("x")),
            ("CONTAINING", operator("CONTAINING", (0, 0))),
            ("INSIDE[2, 3]", operator("INSIDE", (2, 3))),
            ("ALIGNED", operator("ALIGNED", (0, 0))),
            ("*", Everything),
            ("-", Minus),
            ("*", Word("*")),
        ];
        assert_eq!(lexed("a < b<c -< x CONTAINING INSIDE[2, 3] ALIGNED * -*"), expected);
        assert_eq!(lexed("CONTAININGS contains")[0], ("CONTAININGS", Word("CONTAININGS")));
        assert_eq!(lexed("ALIGNED[1,2]")[0], ("ALIGNED[1,2]", Word("ALIGNED[1,2]")));
    }
}
