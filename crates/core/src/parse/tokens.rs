//! The HTML tokenizer: tags and text of a document, one at a time, without state between them.
//!
//! It implements the tokenizer of the WHATWG standard, with three differences: comments and document types
//! are skipped, text may come in several pieces, and line ends are not normalized. It is our own because the
//! extraction needs no DOM, and reads 130 to 220 MB/s a core. It works on the document in place: `memchr`
//! finds the next `<` or `&`, text and attributes are slices, and only text with character references is
//! decoded. The tests compare it, token by token, with html5gum. Linear in the document; the memory of one
//! tag, whatever the nesting.

use memchr::{memchr, memchr2, memmem};

use super::elements::{Content, Name};
use super::raw::{end_of_script, end_of_text};
use super::references::{Meaning, Place, reference};
use super::tag::Tag;

/// The receiver of tags and text.
pub trait Sink {
    /// A start tag; the return value is how its content is read.
    fn start(&mut self, tag: &Tag) -> Content;
    /// An end tag.
    fn end(&mut self, name: Name);
    /// The text between two tags, or a piece of it, with its references decoded.
    fn text(&mut self, text: &str);
    /// Whether the current position is inside an `<svg>` or `<math>`, where CDATA sections are text.
    fn is_foreign(&self) -> bool;
}

/// Feeds all tokens of `document` to `sink`.
pub fn read<S: Sink>(document: &str, sink: &mut S) {
    let bytes = document.as_bytes();
    let mut tag = Tag::new(document);
    // The text since `start` is not yet emitted; up to `at` it contains no markup.
    let (mut start, mut at) = (0, 0);
    while let Some(found) = memchr2(b'<', b'&', &bytes[at..]) {
        at += found;
        let end = match markup(bytes, at) {
            Markup::Text => {
                at += 1;
                continue;
            }
            Markup::Reference => {
                let Some((meaning, length)) = reference(&document[at..], Place::Text) else {
                    at += 1;
                    continue;
                };
                tell(&document[start..at], sink);
                tell_meaning(&meaning, sink);
                Some(at + length)
            }
            Markup::Start => {
                tell(&document[start..at], sink);
                let end = tag.read(at + 1);
                end.map(|end| start_element(document, &tag, (at + 1, end), sink))
            }
            Markup::End => {
                tell(&document[start..at], sink);
                let end = tag.read(at + 2);
                if end.is_some() {
                    sink.end(tag.name());
                }
                end
            }
            Markup::Declaration => {
                tell(&document[start..at], sink);
                declaration(document, at, sink)
            }
            Markup::Bogus => {
                tell(&document[start..at], sink);
                past(bytes, at + 2, b'>')
            }
        };
        // Unterminated markup is ignored, to the end of the document.
        let Some(end) = end else { return };
        (start, at) = (end, end);
    }
    tell(&document[start..], sink);
}

/// The construct that begins at a `<` or `&`.
enum Markup {
    Text,
    Reference,
    Start,
    End,
    Declaration,
    Bogus,
}

#[inline]
fn markup(bytes: &[u8], at: usize) -> Markup {
    let next = bytes.get(at + 1);
    if bytes[at] == b'&' {
        return if next.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'#') {
            Markup::Reference
        } else {
            Markup::Text
        };
    }
    match next {
        Some(byte) if byte.is_ascii_alphabetic() => Markup::Start,
        Some(b'/') => match bytes.get(at + 2) {
            None => Markup::Text,
            Some(byte) if byte.is_ascii_alphabetic() => Markup::End,
            Some(_) => Markup::Bogus,
        },
        Some(b'!') => Markup::Declaration,
        Some(b'?') => Markup::Bogus,
        _ => Markup::Text,
    }
}

#[inline]
fn tell<S: Sink>(text: &str, sink: &mut S) {
    if !text.is_empty() {
        sink.text(text);
    }
}

fn tell_meaning<S: Sink>(meaning: &Meaning, sink: &mut S) {
    match meaning {
        Meaning::Named(characters) => sink.text(characters),
        Meaning::Numbered(character) => sink.text(character.encode_utf8(&mut [0; 4])),
    }
}

/// Emits the start of an element and, if its content is not markup, that content; returns where to continue.
fn start_element<S: Sink>(document: &str, tag: &Tag, (name, from): (usize, usize), sink: &mut S) -> usize {
    let bytes = document.as_bytes();
    let content = sink.start(tag);
    let name = || {
        let rest = &bytes[name..from];
        let end = rest.iter().position(|byte| !byte.is_ascii_alphanumeric());
        &rest[..end.unwrap_or(rest.len())]
    };
    match content {
        Content::Markup => from,
        Content::Characters => {
            let end = end_of_text(bytes, from, name());
            tell_characters(&document[from..end], sink);
            end
        }
        Content::Raw => {
            let end = end_of_text(bytes, from, name());
            tell_raw(&document[from..end], sink);
            end
        }
        Content::Script => {
            let end = end_of_script(bytes, from);
            tell_raw(&document[from..end], sink);
            end
        }
        Content::Plain => {
            tell_raw(&document[from..], sink);
            bytes.len()
        }
    }
}

/// Emits text with references but without tags.
fn tell_characters<S: Sink>(text: &str, sink: &mut S) {
    let (mut start, mut at) = (0, 0);
    while let Some(found) = memchr(b'&', &text.as_bytes()[at..]) {
        at += found;
        match reference(&text[at..], Place::Text) {
            Some((meaning, length)) => {
                tell_raw(&text[start..at], sink);
                tell_meaning(&meaning, sink);
                at += length;
                start = at;
            }
            None => at += 1,
        }
    }
    tell_raw(&text[start..], sink);
}

/// Emits literal text, where the standard replaces NUL characters.
fn tell_raw<S: Sink>(text: &str, sink: &mut S) {
    if memchr(0, text.as_bytes()).is_some() {
        sink.text(&text.replace('\0', "\u{fffd}"));
    } else {
        tell(text, sink);
    }
}

/// Skips the construct that begins with `<!` at `at`, and returns its end.
fn declaration<S: Sink>(document: &str, at: usize, sink: &mut S) -> Option<usize> {
    const CDATA: &[u8] = b"<![CDATA[";
    let bytes = document.as_bytes();
    if bytes[at + 2..].starts_with(b"--") {
        return comment(bytes, at);
    }
    if bytes[at..].starts_with(CDATA) && sink.is_foreign() {
        let start = at + CDATA.len();
        let length = memmem::find(&bytes[start..], b"]]>");
        let end = length.map_or(bytes.len(), |length| start + length);
        tell(&document[start..end], sink);
        return length.map(|length| start + length + 3);
    }
    // A document type ends at the first `>`, even inside quotes, and so does anything else here.
    past(bytes, at + 2, b'>')
}

/// The end of the comment that begins at `at`: `-->` or `--!>`, of which the first may share the opening
/// dashes.
fn comment(bytes: &[u8], at: usize) -> Option<usize> {
    let mut end = at + 4;
    loop {
        end = past(bytes, end, b'>')?;
        let inside = &bytes[at + 2..end - 1];
        if inside.ends_with(b"--") || inside[2..].ends_with(b"--!") {
            return Some(end);
        }
    }
}

fn past(bytes: &[u8], from: usize, byte: u8) -> Option<usize> {
    Some(from + memchr(byte, bytes.get(from..)?)? + 1)
}
