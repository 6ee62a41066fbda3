//! Edits of a query's text by its syntax tree: its filters, its wanted words, and simpler forms of it.
//!
//! Every query returned parses. Each edit parses the text again, in time linear in its length.

use std::ops::Range;

use super::field::Field;
use super::grammar::read;
use super::lexer::{Token, tokens};
use super::meaning::language_of;
use super::syntax::{Node, Syntax};
use super::words::Words;
use super::{LONGEST, MOST_LEAVES, operators, parse};
use crate::analysis::Analyzer;

/// The query for every page: what remains if nothing else is asked for.
const EVERYTHING: &str = "*";

/// The characters that end a plain word, besides white space.
const SIGNS: [char; 15] = ['"', '“', '”', '„', '(', ')', '[', ']', '{', '}', '*', '~', '^', ':', '<'];

/// A filter and its place in a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedFilter {
    /// The canonical name of its field.
    pub name: &'static str,
    /// Its value in canonical form.
    pub value: String,
    /// Whether it excludes.
    pub negated: bool,
    /// Its byte range, including its signs.
    pub span: Range<usize>,
    /// Whether it applies to the whole query, so that it can be removed: the query without it, narrowed by it
    /// again, has the same matches.
    pub removable: bool,
}

/// A word that a query asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedWord {
    /// Its byte range.
    pub span: Range<usize>,
    /// Whether it stands for itself, in any zone: without a sign, a field, `*` or `~`.
    pub plain: bool,
}

/// A text parsed as a query; it may have syntax errors.
pub struct QueryText<'a> {
    text: &'a str,
    tree: Syntax<'a>,
    analyzer: &'a Analyzer,
}

impl<'a> QueryText<'a> {
    /// Parses a text whose words are analysed by `analyzer`.
    pub fn new(text: &'a str, analyzer: &'a Analyzer) -> QueryText<'a> {
        QueryText { text, tree: read(text).0, analyzer }
    }

    fn parses(&self, text: &str) -> bool {
        parse(text, self.analyzer).is_ok()
    }

    /// The filters in order; none if the text does not parse.
    pub fn filters(&self) -> Vec<PlacedFilter> {
        let mut found = Vec::new();
        if self.parses(self.text) {
            gather_filters(&self.tree, true, &mut found);
        }
        found
    }

    /// The language that a filter requires of all documents.
    pub fn language(&self) -> Option<String> {
        let Node::Group(parts) = &self.tree.node else { return None };
        match parts.as_slice() {
            [Syntax { node: Node::And(parts), .. }] => language_of(parts),
            parts => language_of(parts),
        }
    }

    /// The query without the text at these byte ranges, such as removable filters.
    pub fn without(&self, spans: &[Range<usize>]) -> String {
        let mut spans: Vec<&Range<usize>> = spans.iter().collect();
        spans.sort_unstable_by_key(|span| span.start);
        let mut kept = Vec::new();
        let mut start = 0;
        for span in spans {
            kept.push(self.text.get(start..span.start).unwrap_or_default().trim());
            start = span.end;
        }
        kept.push(self.text.get(start..).unwrap_or_default().trim());
        kept.retain(|part| !part.is_empty());
        let rest = kept.join(" ");
        if self.parses(&rest) { rest } else { EVERYTHING.to_owned() }
    }

    /// The query with one or more clauses added that apply to all of it.
    pub fn narrowed(&self, clause: &str) -> String {
        let text = self.text.trim();
        let alternatives = matches!(self.tree.node, Node::Or(_));
        if alternatives { format!("({text}) {clause}") } else { format!("{text} {clause}") }
    }

    /// The wanted words in order: those that are not excluded.
    pub fn wanted(&self) -> Vec<WantedWord> {
        let mut words = Vec::new();
        gather_wanted(&self.tree, true, &mut words);
        words
    }

    /// The wanted words as a query of words only; empty if there are none.
    pub fn plain_words(&self) -> String {
        let wanted = self.wanted();
        self.plain(wanted.iter().map(|word| &self.text[word.span.clone()])).join(" ")
    }

    /// These words as plain words: those that have a term, up to the limit of a query.
    fn plain<'w>(&self, words: impl Iterator<Item = &'w str>) -> Vec<String> {
        let (mut plain, mut leaves, mut length) = (Vec::new(), 0, 0);
        for word in words.flat_map(plain_parts) {
            let terms = Words::of(self.analyzer, &word).len();
            let longer = length + word.chars().count() + 1;
            if terms > 0 && leaves + terms <= MOST_LEAVES && longer <= LONGEST {
                leaves += terms;
                length = longer;
                plain.push(word);
            }
        }
        plain
    }

    /// The query with its phrases as separate words; excluded phrases stay.
    pub fn unquoted(&self) -> String {
        let mut edits = Vec::new();
        self.gather_phrases(&self.tree, false, &mut edits);
        let mut loose = String::new();
        let mut start = 0;
        for (span, words) in edits {
            loose.push_str(&self.text[start..span.start]);
            loose.push_str(&words);
            start = span.end;
        }
        loose.push_str(&self.text[start..]);
        let loose = loose.split_whitespace().collect::<Vec<_>>().join(" ");
        if self.parses(&loose) { loose } else { self.plain_words() }
    }

    /// Collects the replacement of each phrase; `beside` says whether it may be juxtaposed with others.
    fn gather_phrases(&self, part: &Syntax<'_>, beside: bool, edits: &mut Vec<(Range<usize>, String)>) {
        let quoted = match &part.node {
            Node::Window(inside, _) => inside.as_ref(),
            _ => part,
        };
        if let Node::Phrase(text) = quoted.node {
            let words = self.plain(text.split_whitespace());
            let edit = match words.as_slice() {
                words if beside => format!(" {} ", words.join(" ")),
                [word] => word.clone(),
                words => format!("({})", words.join(" ")),
            };
            edits.push((part.span.clone(), edit));
            return;
        }
        let beside = matches!(part.node, Node::Group(_));
        each_child(part, |child, wanted| {
            if wanted {
                self.gather_phrases(child, beside, edits);
            }
        });
    }
}

/// Collects the filters of a part; `outermost` says that it is the whole query or, if that is a group, one of
/// its members.
fn gather_filters(part: &Syntax<'_>, outermost: bool, found: &mut Vec<PlacedFilter>) {
    if let Some(filter) = placed(part, outermost) {
        found.push(filter);
        return;
    }
    let outermost = outermost && matches!(part.node, Node::Group(_));
    each_child(part, |child, _| gather_filters(child, outermost, found));
}

/// The part as a filter, with its signs, if it is one.
fn placed(part: &Syntax<'_>, removable: bool) -> Option<PlacedFilter> {
    let (mut inside, mut negated) = (part, false);
    loop {
        match &inside.node {
            Node::Required(operand) => inside = operand.as_ref(),
            Node::Excluded(operand) => {
                inside = operand.as_ref();
                negated = !negated;
            }
            Node::Filter(known, value) => {
                let (name, value) = (Field::Known(*known).name(), known.canonical(value)?);
                return Some(PlacedFilter { name, value, negated, span: part.span.clone(), removable });
            }
            _ => return None,
        }
    }
}

fn gather_wanted(part: &Syntax<'_>, plain: bool, words: &mut Vec<WantedWord>) {
    let start = part.span.start;
    let mut push = |text: &str, offset: usize, plain: bool| {
        let start = start + offset;
        words.push(WantedWord { span: start..start + text.len(), plain });
    };
    match &part.node {
        Node::Word(text) => push(text, 0, plain),
        Node::Prefix(text) | Node::Fuzzy(text, _) => push(text, 0, false),
        Node::Phrase(text) => {
            for word in text.split_whitespace() {
                push(word, 1 + word.as_ptr().addr() - text.as_ptr().addr(), plain);
            }
        }
        node => {
            let plain = plain && !matches!(node, Node::Zone(..) | Node::Required(_));
            each_child(part, |child, wanted| {
                if wanted {
                    gather_wanted(child, plain, words);
                }
            });
        }
    }
}

/// Calls `visit` for each child of a part, with whether it is wanted, i.e. not excluded.
fn each_child<'t, 'a>(part: &'t Syntax<'a>, mut visit: impl FnMut(&'t Syntax<'a>, bool)) {
    match &part.node {
        Node::Missing
        | Node::Word(_)
        | Node::Prefix(_)
        | Node::Fuzzy(..)
        | Node::Phrase(_)
        | Node::Filter(..)
        | Node::Everything => {}
        Node::Window(inside, _)
        | Node::Parentheses(inside)
        | Node::Zone(_, inside)
        | Node::Boost(inside, _)
        | Node::Required(inside) => visit(inside, true),
        Node::Excluded(inside) => visit(inside, false),
        Node::Chain(first, links) => {
            visit(first, true);
            links.iter().for_each(|link| visit(&link.right, !link.negated));
        }
        Node::And(parts) | Node::Group(parts) | Node::Or(parts) => {
            parts.iter().for_each(|part| visit(part, true));
        }
    }
}

/// A word as words that mean only themselves in any context.
fn plain_parts(word: &str) -> Vec<String> {
    let is_plain =
        |text: &str| matches!(tokens(text).0.as_slice(), [(_, Token::Word(whole))] if *whole == text);
    if is_plain(word) {
        return vec![word.to_owned()];
    }
    let parts = word.split(SIGNS).map(|part| part.trim_start_matches(['+', '-']));
    let is_operator = |part: &str| operators().any(|name| name == part);
    let small = parts.map(|part| if is_operator(part) { part.to_lowercase() } else { part.to_owned() });
    small.filter(|part| is_plain(part)).collect()
}
