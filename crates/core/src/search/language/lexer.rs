//! A query as a sequence of tokens, each with the character where it starts.
//!
//! A sign counts only before something and after a space or a parenthesis, so that `well-known`, `C++` and a
//! lone dash are words; and a sign said twice is none, so that `--force` is a word. `<` and `*` count only where
//! they stand alone.

use super::failure;
use super::field::{Field, Known, field};
use super::suffix::{self, Suffixed};
use crate::Result;
use crate::index::format::zone::Zone;

/// The most positions of a window, and the widest margin.
pub const WIDEST: u32 = 1_000_000;
/// The highest boost.
const HIGHEST_BOOST: f32 = 1000.0;

/// What stands in a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Token<'a> {
    Open,
    Close,
    And,
    Or,
    Not,
    Plus,
    Minus,
    /// `<`.
    Before,
    /// With the margins to the left and to the right.
    Containing((u32, u32)),
    Inside((u32, u32)),
    Aligned,
    /// A zone's name and colon; a word, a phrase or a parenthesis follows.
    Zone(Zone),
    /// A name, a colon and a value.
    Known(Known, &'a str),
    Word(&'a str),
    Phrase(&'a str),
    /// A `*` that stands alone.
    Everything,
    /// A `*` after a word.
    Star,
    /// A `~` after a word, a phrase or a parenthesis, and the number after it.
    Tilde(Option<u32>),
    Boost(f32),
}

/// The tokens of a query.
pub fn tokens(query: &str) -> Result<Vec<(usize, Token<'_>)>> {
    let mut lexer = Lexer { rest: query, position: 0, tokens: Vec::new(), signed: false };
    while let Some(character) = lexer.rest.chars().next() {
        lexer.step(character)?;
    }
    Ok(lexer.tokens)
}

struct Lexer<'a> {
    rest: &'a str,
    /// The character where the rest starts.
    position: usize,
    tokens: Vec<(usize, Token<'a>)>,
    /// Whether a sign stands right before the rest.
    signed: bool,
}

impl<'a> Lexer<'a> {
    fn step(&mut self, character: char) -> Result<()> {
        let signed = std::mem::take(&mut self.signed);
        match character {
            _ if character.is_whitespace() => self.pass(character.len_utf8()),
            '(' => self.push(Token::Open, 1),
            ')' => {
                self.push(Token::Close, 1);
                return self.suffixes_of_quote();
            }
            '"' => {
                let Some(length) = self.rest[1..].find('"') else {
                    return Err(failure(self.position, "this quote is never closed"));
                };
                self.push(Token::Phrase(&self.rest[1..=length]), length + 2);
                return self.suffixes_of_quote();
            }
            '+' if self.begins_something('+') => self.sign(Token::Plus),
            '-' if self.begins_something('-') => self.sign(Token::Minus),
            _ => return self.run(signed),
        }
        Ok(())
    }

    fn push(&mut self, token: Token<'a>, length: usize) {
        self.tokens.push((self.position, token));
        self.pass(length);
    }

    fn pass(&mut self, length: usize) {
        let (passed, rest) = self.rest.split_at(length);
        self.position += passed.chars().count();
        self.rest = rest;
    }

    fn sign(&mut self, sign: Token<'a>) {
        self.push(sign, 1);
        self.signed = true;
    }

    fn begins_something(&self, sign: char) -> bool {
        self.rest[1..].starts_with(|next: char| !next.is_whitespace() && next != ')' && next != sign)
    }

    /// What the rest begins with, up to a space, a parenthesis or a quote.
    fn next_run(&self) -> &'a str {
        let ends = |next: char| next.is_whitespace() || matches!(next, '(' | ')' | '"');
        &self.rest[..self.rest.find(ends).unwrap_or(self.rest.len())]
    }

    fn run(&mut self, signed: bool) -> Result<()> {
        let run = self.next_run();
        let token = match run {
            "AND" => Token::And,
            "OR" => Token::Or,
            "NOT" => Token::Not,
            "ALIGNED" => Token::Aligned,
            "<" if !signed => Token::Before,
            "*" if !signed => Token::Everything,
            _ => return self.relation_or_word(run),
        };
        self.push(token, run.len());
        Ok(())
    }

    fn relation_or_word(&mut self, run: &'a str) -> Result<()> {
        for (name, relation) in
            [("CONTAINING", Token::Containing as fn((u32, u32)) -> Token<'a>), ("INSIDE", Token::Inside)]
        {
            match run.strip_prefix(name) {
                Some("") => {
                    self.push(relation((0, 0)), name.len());
                    return Ok(());
                }
                Some(after) if after.starts_with('[') => return self.margins(name, relation),
                _ => {}
            }
        }
        match field(run) {
            Some((Field::Zone(zone), name)) => self.zone(zone, name, &run[name.len() + 1..]),
            Some((Field::Known(known), name)) => {
                self.push(Token::Known(known, &run[name.len() + 1..]), run.len());
                Ok(())
            }
            None => self.word(run),
        }
    }

    /// An operator with `[left,right]` after its name.
    fn margins(&mut self, name: &str, relation: fn((u32, u32)) -> Token<'a>) -> Result<()> {
        let inside = &self.rest[name.len() + 1..];
        let written = inside.find(']').and_then(|end| {
            let (left, right) = inside[..end].split_once(',')?;
            Some((left.trim().parse().ok()?, right.trim().parse().ok()?, end))
        });
        let position = self.position + name.len();
        let Some((left, right, end)) = written else {
            return Err(failure(position, "margins are two numbers, such as [2,3]"));
        };
        if left > WIDEST || right > WIDEST {
            return Err(failure(position, "a margin is at most 1,000,000"));
        }
        self.push(relation((left, right)), name.len() + end + 2);
        Ok(())
    }

    fn zone(&mut self, zone: Zone, name: &str, word: &'a str) -> Result<()> {
        let position = self.position;
        self.push(Token::Zone(zone), name.len() + 1);
        if !word.is_empty() {
            return self.word(word);
        }
        if !self.rest.starts_with(['(', '"']) {
            return Err(failure(position, format!("{name}: needs a word after it")));
        }
        Ok(())
    }

    fn word(&mut self, run: &'a str) -> Result<()> {
        let suffixed = suffix::of_word(run);
        self.push(Token::Word(suffixed.text), suffixed.text.len());
        self.suffixes(suffixed)
    }

    fn suffixes_of_quote(&mut self) -> Result<()> {
        suffix::of_quote(self.next_run()).map_or(Ok(()), |suffixed| self.suffixes(suffixed))
    }

    fn suffixes(&mut self, Suffixed { star, tilde, caret, .. }: Suffixed<'a>) -> Result<()> {
        if star {
            self.push(Token::Star, 1);
        }
        if let Some(digits) = tilde {
            if star {
                return Err(failure(self.position, "a prefix cannot be fuzzy too"));
            }
            // More digits than fit are more than any limit.
            let number = (!digits.is_empty()).then(|| digits.parse().unwrap_or(u32::MAX));
            self.push(Token::Tilde(number), digits.len() + 1);
        }
        if let Some(number) = caret {
            let boost = number.parse().unwrap_or(0.0);
            if boost <= 0.0 || boost > HIGHEST_BOOST {
                return Err(failure(self.position, "a boost is more than 0 and at most 1000"));
            }
            self.push(Token::Boost(boost), number.len() + 1);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn every_token_knows_its_place() {
        use Token::*;
        let found = tokens("è +a -(b-c \"d e\") AND C++ - x").unwrap();
        let expected = [
            (0, Word("è")),
            (2, Plus),
            (3, Word("a")),
            (5, Minus),
            (6, Open),
            (7, Word("b-c")),
            (11, Phrase("d e")),
            (16, Close),
            (18, And),
            (22, Word("C++")),
            (26, Word("-")),
            (28, Word("x")),
        ];
        assert_eq!(found, expected);
        let found = tokens("git --no-verify -(--x ++a) -+b").unwrap();
        let expected = [
            (0, Word("git")),
            (4, Word("--no-verify")),
            (16, Minus),
            (17, Open),
            (18, Word("--x")),
            (22, Word("++a")),
            (25, Close),
            (27, Minus),
            (28, Plus),
            (29, Word("b")),
        ];
        assert_eq!(found, expected);
        assert!(matches!(tokens("ab \"c"), Err(Error::Query { position: 3, .. })));
    }

    #[test]
    fn suffixes_and_fields_are_tokens_of_their_own() {
        use Token::*;
        let found = tokens("title:è*^2 \"è f\"~8^.5 url:(g h~)^3 site:x.org)").unwrap();
        let expected = [
            (0, Zone(crate::index::format::zone::Zone::Title)),
            (6, Word("è")),
            (7, Star),
            (8, Boost(2.0)),
            (11, Phrase("è f")),
            (16, Tilde(Some(8))),
            (18, Boost(0.5)),
            (22, Zone(crate::index::format::zone::Zone::Url)),
            (26, Open),
            (27, Word("g")),
            (29, Word("h")),
            (30, Tilde(None)),
            (31, Close),
            (32, Boost(3.0)),
            (35, Known(super::Known::Site, "x.org")),
            (45, Close),
        ];
        assert_eq!(found, expected);
        assert_eq!(tokens("title:-AND").unwrap()[1], (6, Word("-AND")));
        assert_eq!(tokens("\"a\"~b").unwrap()[1], (3, Word("~b")));
    }

    #[test]
    fn operators_stand_alone() {
        use Token::*;
        let found = tokens("a < b<c -< x CONTAINING INSIDE[2, 3] ALIGNED * -*").unwrap();
        let expected = [
            (0, Word("a")),
            (2, Before),
            (4, Word("b<c")),
            (8, Minus),
            (9, Word("<")),
            (11, Word("x")),
            (13, Containing((0, 0))),
            (24, Inside((2, 3))),
            (37, Aligned),
            (45, Everything),
            (47, Minus),
            (48, Word("*")),
        ];
        assert_eq!(found, expected);
        assert_eq!(tokens("CONTAININGS contains").unwrap()[0], (0, Word("CONTAININGS")));
    }
}
