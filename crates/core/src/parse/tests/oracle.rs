//! The tokenizer compared token by token with html5gum, an independent implementation of the same standard.

use std::convert::Infallible;
use std::path::PathBuf;

use html5gum::{Emitter, Error, State, Tokenizer};
use proptest::prelude::*;

use crate::parse::charset::decode;
use crate::parse::elements::{Content, Name};
use crate::parse::tag::{Attribute, Tag};
use crate::parse::tokens::{Sink, read};

const READ: [(Attribute, &[u8]); 4] = [
    (Attribute::Href, b"href"),
    (Attribute::Src, b"src"),
    (Attribute::Content, b"content"),
    (Attribute::Charset, b"charset"),
];

/// A token as both must see it; consecutive texts are one, with normalized line ends.
#[derive(Debug, PartialEq, Eq)]
enum Token {
    Start(Name, [Option<String>; READ.len()], bool),
    End(Name),
    Text(String),
}

#[derive(Default)]
struct Tokens(Vec<Token>);

impl Tokens {
    fn text(&mut self, text: &str) {
        match self.0.last_mut() {
            Some(Token::Text(before)) => before.push_str(text),
            _ => self.0.push(Token::Text(text.to_owned())),
        }
    }

    fn in_order(mut self) -> Vec<Token> {
        for token in &mut self.0 {
            if let Token::Text(text) = token {
                *text = line_ends(text);
                // Texts around a comment are joined: two line ends may look like one. A run of them is one, as it
                // is for the parser.
                while text.contains("\n\n") {
                    *text = text.replace("\n\n", "\n");
                }
            }
        }
        self.0
    }
}

fn line_ends(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

impl Sink for Tokens {
    fn start(&mut self, tag: &Tag) -> Content {
        let values = READ.map(|(attribute, _)| tag.get(attribute).map(|value| line_ends(&value)));
        self.0.push(Token::Start(tag.name(), values, tag.self_closing()));
        tag.element().content
    }

    fn end(&mut self, name: Name) {
        self.0.push(Token::End(name));
    }

    fn text(&mut self, text: &str) {
        Tokens::text(self, text);
    }

    fn is_foreign(&self) -> bool {
        false
    }
}

/// The tokens of html5gum.
#[derive(Default)]
struct Oracle<'a> {
    tokens: Option<&'a mut Tokens>,
    text: Vec<u8>,
    name: Vec<u8>,
    values: [Option<String>; READ.len()],
    self_closing: bool,
    is_end: bool,
    last_start: Vec<u8>,
    attribute: Vec<u8>,
    value: Vec<u8>,
}

impl Oracle<'_> {
    fn finish_text(&mut self) {
        if let Some(tokens) = self.tokens.as_mut().filter(|_| !self.text.is_empty()) {
            tokens.text(&String::from_utf8_lossy(&self.text));
        }
        self.text.clear();
    }

    fn begin(&mut self, is_end: bool) {
        self.name.clear();
        self.values = Default::default();
        self.self_closing = false;
        self.is_end = is_end;
    }

    fn finish_attribute(&mut self) {
        if let Some(at) = READ.iter().position(|(_, name)| *name == self.attribute) {
            let value = String::from_utf8_lossy(&self.value);
            // html5gum does not normalize a carriage return written as a reference.
            self.values[at].get_or_insert_with(|| line_ends(&value));
        }
        self.attribute.clear();
        self.value.clear();
    }
}

impl Emitter for Oracle<'_> {
    type Token = Infallible;

    fn set_last_start_tag(&mut self, name: Option<&[u8]>) {
        self.last_start = name.unwrap_or_default().to_vec();
    }
    fn emit_eof(&mut self) {
        self.finish_text();
    }
    fn emit_error(&mut self, _: Error) {}
    fn should_emit_errors(&mut self) -> bool {
        false
    }
    fn pop_token(&mut self) -> Option<Infallible> {
        None
    }
    fn emit_string(&mut self, text: &[u8]) {
        self.text.extend(text);
    }
    fn init_start_tag(&mut self) {
        self.begin(false);
    }
    fn init_end_tag(&mut self) {
        self.begin(true);
    }
    fn emit_current_tag(&mut self) -> Option<State> {
        self.finish_text();
        self.finish_attribute();
        let written = String::from_utf8_lossy(&self.name).replace('\u{fffd}', "\0");
        let name = Name::of(written.as_bytes());
        let values = std::mem::take(&mut self.values);
        let tokens = self.tokens.as_mut()?;
        if self.is_end {
            tokens.0.push(Token::End(name));
            return None;
        }
        self.last_start.clone_from(&self.name);
        let values = if name.element().role.has_attributes() { values } else { Default::default() };
        tokens.0.push(Token::Start(name, values, self.self_closing));
        match name.element().content {
            Content::Markup => None,
            Content::Characters => Some(State::RcData),
            Content::Raw => Some(State::RawText),
            Content::Script => Some(State::ScriptData),
            Content::Plain => Some(State::PlainText),
        }
    }
    fn set_self_closing(&mut self) {
        self.self_closing = true;
    }
    fn push_tag_name(&mut self, name: &[u8]) {
        self.name.extend(name);
    }
    fn init_attribute(&mut self) {
        self.finish_attribute();
    }
    fn push_attribute_name(&mut self, name: &[u8]) {
        self.attribute.extend(name);
    }
    fn push_attribute_value(&mut self, value: &[u8]) {
        self.value.extend(value);
    }
    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        self.is_end && !self.last_start.is_empty() && self.last_start == self.name
    }
    fn init_comment(&mut self) {}
    fn push_comment(&mut self, _: &[u8]) {}
    fn emit_current_comment(&mut self) {}
    fn init_doctype(&mut self) {}
    fn push_doctype_name(&mut self, _: &[u8]) {}
    fn set_force_quirks(&mut self) {}
    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn emit_current_doctype(&mut self) {}
}

fn ours(document: &str) -> Vec<Token> {
    let mut tokens = Tokens::default();
    read(document, &mut tokens);
    tokens.in_order()
}

fn theirs(document: &str) -> Vec<Token> {
    let mut tokens = Tokens::default();
    let oracle = Oracle { tokens: Some(&mut tokens), ..Oracle::default() };
    let Ok(()) = Tokenizer::new_with_emitter(document, oracle).finish();
    tokens.in_order()
}

const PIECES: [&str; 74] = [
    "<p>",
    "</p>",
    "<a href=",
    "<a href='",
    "<A HREF=\"",
    "<meta content=x charset='y'>",
    "'",
    "\"",
    ">",
    "/>",
    "/",
    "=",
    "<",
    "</",
    "<!",
    "<!--",
    "-->",
    "--!>",
    "--",
    "-",
    "!",
    "<!-->",
    "<!--->",
    "<!DOCTYPE html>",
    "<!doctype 'a>",
    "<?php",
    "<![CDATA[",
    "]]>",
    "&",
    "&amp",
    "&amp;",
    "&lt",
    "&notit;",
    "&notin;",
    "&copy=",
    "&copy1",
    "&#",
    "&#x",
    "&#65",
    "&#x80;",
    "&#0;",
    "&#xd800;",
    "&CounterClockwiseContourIntegral;",
    "&nbsp;",
    ";",
    "<script>",
    "</script>",
    "<script",
    "</script",
    "<title>",
    "</title>",
    "</title ",
    "<textarea>",
    "</textarea>",
    "<style>",
    "</style>",
    "<xmp>",
    "</xmp>",
    "<iframe src=x>",
    "</iframe>",
    "<noscript>",
    "</noscript>",
    "<plaintext>",
    "word",
    " ",
    "\n",
    "\r\n",
    "\t",
    "\0",
    "é",
    "漢",
    "<img src=x/>",
    "<x-a-very-long-element-name y>",
    "<é>",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn the_same_tokens_as_html5gum(pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..30)) {
        let document = pieces.concat();
        prop_assert_eq!(ours(&document), theirs(&document), "{}", document);
    }

    #[test]
    fn the_same_tokens_of_any_characters(document in "[<>!/?&#;=a-c'\"\\- \\x00-\\x1fé]{0,60}") {
        prop_assert_eq!(ours(&document), theirs(&document));
    }
}

/// Compares on the pages of the folder named by CRIVELLO_DATA; skips with a message if there is none.
#[test]
fn the_same_tokens_of_real_pages() {
    let data = std::env::var_os("CRIVELLO_DATA").map(PathBuf::from);
    let Some(folder) = data.map(|data| data.join("pages")).filter(|pages| pages.is_dir()) else {
        eprintln!("no real pages: CRIVELLO_DATA names no folder that has them");
        return;
    };
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let body = std::fs::read(&path).unwrap();
        let (document, _) = decode(&body, None, None);
        assert!(ours(&document) == theirs(&document), "{}", path.display());
    }
}
