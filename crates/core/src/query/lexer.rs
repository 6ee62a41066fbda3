//! A query as a sequence of tokens, each with the character where it starts.

use crate::{Error, Result};

/// What stands in a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token<'a> {
    Open,
    Close,
    And,
    Or,
    Not,
    Plus,
    Minus,
    Word(&'a str),
    Phrase(&'a str),
}

/// The tokens of a query. A sign counts only before something and after a space or a parenthesis, so that
/// `well-known`, `C++` and a lone dash are words; and a sign said twice is none, so that `--force` is a word.
pub fn tokens(query: &str) -> Result<Vec<(usize, Token<'_>)>> {
    let mut tokens = Vec::new();
    let mut characters = query.char_indices().enumerate().peekable();
    while let Some((position, (start, character))) = characters.next() {
        let rest = &query[start + character.len_utf8()..];
        let token = match character {
            _ if character.is_whitespace() => continue,
            '(' => Token::Open,
            ')' => Token::Close,
            '"' => {
                let Some(length) = rest.find('"') else {
                    return Err(Error::Query { position, reason: "this quote is never closed".into() });
                };
                // The quoted characters and the closing quote.
                for _ in 0..=rest[..length].chars().count() {
                    characters.next();
                }
                Token::Phrase(&rest[..length])
            }
            '+' if begins_something(rest, '+') => Token::Plus,
            '-' if begins_something(rest, '-') => Token::Minus,
            _ => {
                let ends = |(index, next): (usize, char)| ends_word(next).then_some(start + index);
                let end = query[start..].char_indices().find_map(ends).unwrap_or(query.len());
                while characters.next_if(|(_, (at, _))| *at < end).is_some() {}
                match &query[start..end] {
                    "AND" => Token::And,
                    "OR" => Token::Or,
                    "NOT" => Token::Not,
                    word => Token::Word(word),
                }
            }
        };
        tokens.push((position, token));
    }
    Ok(tokens)
}

fn ends_word(character: char) -> bool {
    character.is_whitespace() || matches!(character, '(' | ')' | '"')
}

fn begins_something(rest: &str, sign: char) -> bool {
    rest.starts_with(|next: char| !next.is_whitespace() && next != ')' && next != sign)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
