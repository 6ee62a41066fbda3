//! The query language.
//!
//! ```text
//! query    = group { "OR" group }
//! group    = item { item }                any of them; +item must match, -item and NOT item must not
//! item     = chain { "AND" chain }
//! chain    = operand { operator operand }
//! operator = "<" | [ "NOT" ] ( "CONTAINING" | "INSIDE" ) [ "[" left "," right "]" ] | "ALIGNED"
//! operand  = "NOT" operand | "+" operand | "-" operand | filter | "*" | [ zone ] atom [ "^" boost ]
//! atom     = word [ "*" | "~" [ changes ] ] | ( "phrase" | "(" query ")" ) [ "~" window ]
//! zone     = ( "title" | "url" | "body" | "headings" | "anchors" ) ":"
//! filter   = ( "site" | "lang" | "type" | "before" | "after" ) ":" value
//! ```
//!
//! NOT binds tighter than the operators of a chain, those tighter than AND, and AND tighter than OR and than
//! standing side by side. A chain is read from the left; a run of `<` is one ordered interval. What a chain
//! or a window holds is words, phrases and groups of them, which become intervals ([`interval`]).
//!
//! A word that analysis parts in several (`boundary-layer`, `東京都`) is a phrase; an identifier
//! (`std::vector`) is the whole of it; one that has no letters is passed over. A stop word that stands beside
//! others, without a sign, is left out, unless all are stop words; a `*` that stands alone is everything,
//! and is left out beside anything else. A filter that stands beside others must match. Operators are in upper
//! case, and what looks like one inside a word (`C++`, `x<y`, `10~20`, `*nix`, `100^`) is part of the word.
//!
//! Parsing takes time linear in the length of the query, but for zones, which are set once for each level.
//! Nesting, operators and words are limited, so parsing and whatever walks the tree takes little stack.

mod day;
mod field;
mod grammar;
mod interval;
mod lexer;
mod operator;
mod suffix;
pub mod tree;
mod words;

use super::language::tree::Query;
use crate::analysis::Analyzer;
use crate::{Error, Result};
use grammar::Parser;

/// The longest query, in characters.
pub const LONGEST: usize = 10_000;
/// The deepest nesting of parentheses and NOT.
pub const DEEPEST: usize = 50;
/// The most leaves.
pub const MOST_LEAVES: usize = 1_000;
/// The most operators that nest to the left: CONTAINING, INSIDE, ALIGNED.
pub const MOST_RELATIONS: usize = 50;

/// Parses a query, whose words are analysed by `analyzer`.
pub fn parse(query: &str, analyzer: &Analyzer) -> Result<Query> {
    if query.chars().nth(LONGEST).is_some() {
        return Err(failure(LONGEST, "a query has at most 10,000 characters"));
    }
    Parser::new(query, analyzer)?.whole()
}

fn failure(position: usize, reason: impl Into<String>) -> Error {
    Error::Query { position, reason: reason.into() }
}

#[cfg(test)]
mod tests;
