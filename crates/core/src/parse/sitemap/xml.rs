//! The tags and texts of an XML document, in one pass and without a tree.
//!
//! It takes any text: what is not well-formed yields other pieces, never an error. Comments, processing
//! instructions and document types are skipped, so entities are never declared; the references that remain are
//! those of HTML, of a bounded size. Linear time, except that a quote that is never closed is looked for once
//! per tag, up to the next `<`.

use std::borrow::Cow;

use memchr::{memchr, memchr3};

use crate::parse::references::in_attribute;

/// A piece of a document.
pub enum Piece<'a> {
    /// A start tag: its name with its prefix, the rest of it, and whether the element ends with it.
    Start { name: &'a str, attributes: &'a str, closed: bool },
    /// An end tag.
    End(&'a str),
    /// Text, its references expanded.
    Text(Cow<'a, str>),
}

/// The pieces of a document.
pub struct Pieces<'a> {
    rest: &'a str,
}

impl<'a> Pieces<'a> {
    /// The pieces of `document`.
    pub fn new(document: &'a str) -> Pieces<'a> {
        Pieces { rest: document }
    }

    /// Takes everything before `end`, and drops `end`; without one, everything.
    fn until(&mut self, end: &str) -> &'a str {
        let (taken, rest) = self.rest.split_once(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    fn skip_declaration(&mut self) {
        let mut depth = 0_usize;
        let end = self.rest.bytes().position(|byte| {
            match byte {
                b'[' => depth += 1,
                b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            byte == b'>' && depth == 0
        });
        self.rest = end.map_or("", |end| &self.rest[end + 1..]);
    }

    /// Takes a tag up to its `>`, which may stand in a quoted value.
    fn tag(&mut self) -> &'a str {
        let bytes = self.rest.as_bytes();
        let mut at = 0;
        while let Some(found) = memchr3(b'>', b'"', b'\'', &bytes[at..]) {
            at += found;
            if bytes[at] == b'>' {
                break;
            }
            let value = &bytes[at + 1..];
            let value = &value[..memchr(b'<', value).unwrap_or(value.len())];
            // A quote that is not closed within the tag is a character like any other.
            at += memchr(bytes[at], value).map_or(1, |length| length + 2);
        }
        let end = memchr(b'>', &bytes[at.min(bytes.len())..]).map_or(bytes.len(), |found| at + found);
        let tag = &self.rest[..end];
        self.rest = self.rest.get(end + 1..).unwrap_or("");
        tag
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        loop {
            let Some(markup) = self.rest.strip_prefix('<') else {
                if self.rest.is_empty() {
                    return None;
                }
                let (text, rest) =
                    self.rest.split_at(memchr(b'<', self.rest.as_bytes()).unwrap_or(self.rest.len()));
                self.rest = rest;
                return Some(Piece::Text(in_attribute(text)));
            };
            self.rest = markup;
            match markup.as_bytes() {
                [b'!', b'-', b'-', ..] => _ = self.until("-->"),
                [b'!', b'[', ..] if markup.starts_with("![CDATA[") => {
                    let text = self.until("]]>");
                    return Some(Piece::Text(text["![CDATA[".len().min(text.len())..].into()));
                }
                [b'!', ..] => self.skip_declaration(),
                [b'?', ..] => _ = self.until("?>"),
                [b'/', ..] => return Some(Piece::End(self.tag()[1..].trim())),
                [first, ..] if first.is_ascii_alphabetic() || *first == b'_' || *first >= 0x80 => {
                    let tag = self.tag();
                    let closed = tag.ends_with('/');
                    let tag = tag.strip_suffix('/').unwrap_or(tag);
                    let end = tag.find(|character: char| character.is_ascii_whitespace());
                    let (name, attributes) = tag.split_at(end.unwrap_or(tag.len()));
                    return Some(Piece::Start { name, attributes, closed });
                }
                _ => return Some(Piece::Text("<".into())),
            }
        }
    }
}

/// The value of an attribute, given the part of a tag after its name.
pub fn attribute<'a>(attributes: &'a str, wanted: &str) -> Option<Cow<'a, str>> {
    let mut rest = attributes;
    loop {
        let (name, after) = rest.split_once('=')?;
        let value = after.trim_start();
        let quote = value.chars().next().filter(|first| matches!(first, '"' | '\''));
        let (value, after) = match quote {
            Some(quote) => value[1..].split_once(quote)?,
            None => value.split_once(|next: char| next.is_ascii_whitespace()).unwrap_or((value, "")),
        };
        if name.trim() == wanted {
            return Some(in_attribute(value));
        }
        rest = after;
    }
}
