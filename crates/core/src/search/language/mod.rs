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
//! NOT binds tighter than the operators of a chain, those tighter than AND, and AND tighter than OR and
//! juxtaposition. A chain is left-associative; a run of `<` is one ordered interval. A chain or a window
//! contains words, phrases and groups of them, which become intervals ([`interval`]).
//!
//! A word that the tokenizer splits into several (`boundary-layer`, `東京都`) is a phrase; an identifier
//! (`std::vector`) is one term; a word without letters is ignored. A stop word that stands beside others,
//! without a sign, is dropped, unless all are stop words; a lone `*` matches everything, and is dropped
//! beside anything else. A filter beside other items must match; one by language also says in which language the
//! words beside it are stemmed, since documents are stemmed in their own. Operators are in upper case, and what looks
//! like one inside a word (`C++`, `x<y`, `10~20`, `*nix`, `100^`) is part of the word.
//!
//! A query is parsed in three steps: tokens ([`lexer`]), a concrete syntax tree, in which every node has its
//! position ([`syntax`], [`grammar`]), and its meaning ([`meaning`]). Any text has tokens and a tree, so that
//! a query can be analysed, and edited ([`text`]), whether it is valid or not.
//!
//! Parsing takes time linear in the length of the query, except for zones, which are set once per level.
//! Nesting, operators and words are limited, so parsing and traversing the tree take little stack.

mod field;
mod grammar;
mod interval;
mod lexer;
mod meaning;
mod operator;
mod suffix;
mod syntax;
mod text;
pub mod tree;
mod words;

pub use text::{PlacedFilter, QueryText, WantedWord};

use super::language::tree::Query;
use crate::analysis::Analyzer;
use crate::{Error, Result};
use field::{FIELDS, Field};
use lexer::CONNECTIVES;
use operator::OPERATORS;

/// The maximum length of a query, in characters.
pub const LONGEST: usize = 10_000;
/// The maximum nesting of parentheses and NOT.
pub const DEEPEST: usize = 50;
/// The maximum number of leaves.
pub const MOST_LEAVES: usize = 1_000;
/// The maximum number of operators that nest to the left: CONTAINING, INSIDE, ALIGNED.
pub const MOST_RELATIONS: usize = 50;

/// The hint for a character that has a special meaning.
const QUOTES: &str = "words in quotes are only words; `crivello search --help` shows the language";
/// The hint for a missing counterpart of a pair.
const PAIRS: &str = "add the other one, or leave this one out";

/// A syntax error in a query.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Fault {
    /// Its byte offset.
    at: usize,
    reason: String,
    /// The hint; may be empty.
    hint: &'static str,
}

/// Parses a query, whose words are analysed by `analyzer`.
pub fn parse(query: &str, analyzer: &Analyzer) -> Result<Query> {
    let error = |Fault { at, reason, hint }: Fault| {
        let position = query[..at].chars().count();
        Error::Query { position, reason, hint: Some(hint).filter(|hint| !hint.is_empty()) }
    };
    if let Some((at, _)) = query.char_indices().nth(LONGEST) {
        let reason = "a query has at most 10,000 characters".into();
        return Err(error(Fault { at, reason, hint: "keep the words that matter most" }));
    }
    match grammar::read(query) {
        (_, Some(fault)) => Err(error(fault)),
        (tree, None) => meaning::meaning(&tree, analyzer).map_err(error),
    }
}

/// The operators, as they are written.
pub fn operators() -> impl Iterator<Item = &'static str> {
    CONNECTIVES.into_iter().map(|(name, _)| name).chain(OPERATORS.iter().map(|operator| operator.name))
}

/// The names before a colon, each with the canonical name of its field and whether that is a filter.
pub fn fields() -> impl Iterator<Item = (&'static str, &'static str, bool)> {
    FIELDS.into_iter().map(|(name, field)| (name, field.name(), matches!(field, Field::Known(_))))
}

#[cfg(test)]
mod tests;
