//! A start tag: its name, and the attributes that the extraction uses.
//!
//! Attributes are stored as byte ranges of the document and decoded on demand, so a tag needs no allocation.
//! Other attributes are skipped, so that memory does not grow with their number.

use std::borrow::Cow;

use memchr::memchr;

use super::elements::{Element, Name};
use super::references::in_attribute;

/// The attributes that are used.
#[derive(Clone, Copy)]
pub enum Attribute {
    Href,
    Src,
    Srcset,
    Rel,
    Alt,
    Lang,
    XmlLang,
    Name,
    Content,
    Charset,
    HttpEquiv,
    Type,
    Property,
    Itemprop,
    Datetime,
    Role,
}

const ATTRIBUTES: usize = 16;

impl Attribute {
    /// All attributes, each at its index.
    const ALL: [(Attribute, &'static [u8]); ATTRIBUTES] = [
        (Attribute::Href, b"href"),
        (Attribute::Src, b"src"),
        (Attribute::Srcset, b"srcset"),
        (Attribute::Rel, b"rel"),
        (Attribute::Alt, b"alt"),
        (Attribute::Lang, b"lang"),
        (Attribute::XmlLang, b"xml:lang"),
        (Attribute::Name, b"name"),
        (Attribute::Content, b"content"),
        (Attribute::Charset, b"charset"),
        (Attribute::HttpEquiv, b"http-equiv"),
        (Attribute::Type, b"type"),
        (Attribute::Property, b"property"),
        (Attribute::Itemprop, b"itemprop"),
        (Attribute::Datetime, b"datetime"),
        (Attribute::Role, b"role"),
    ];

    #[inline]
    fn of(name: &[u8]) -> Option<Attribute> {
        let known = match (name.len(), name.first()? | 0x20) {
            (4, b'h') => Attribute::Href,
            (3, b's') => Attribute::Src,
            (6, b's') => Attribute::Srcset,
            (3, b'r') => Attribute::Rel,
            (3, b'a') => Attribute::Alt,
            (4, b'l') => Attribute::Lang,
            (8, b'x') => Attribute::XmlLang,
            (4, b'n') => Attribute::Name,
            (7, b'c') if name[1] | 0x20 == b'o' => Attribute::Content,
            (7, b'c') => Attribute::Charset,
            (10, b'h') => Attribute::HttpEquiv,
            (4, b't') => Attribute::Type,
            (4, b'r') => Attribute::Role,
            (8, b'p') => Attribute::Property,
            (8, b'i') => Attribute::Itemprop,
            (8, b'd') => Attribute::Datetime,
            _ => return None,
        };
        Attribute::ALL[known as usize].1.eq_ignore_ascii_case(name).then_some(known)
    }
}

/// A start tag.
pub struct Tag<'a> {
    document: &'a str,
    name: Name,
    element: &'static Element,
    values: [(usize, usize); ATTRIBUTES],
    /// A bit for each attribute that is present.
    present: u16,
    self_closing: bool,
}

impl<'a> Tag<'a> {
    /// An empty tag of a document.
    pub fn new(document: &'a str) -> Tag<'a> {
        let name = Name::of(b"");
        let element = name.element();
        Tag { document, name, element, values: Default::default(), present: 0, self_closing: false }
    }

    /// The name.
    pub fn name(&self) -> Name {
        self.name
    }

    /// The properties of the element.
    pub fn element(&self) -> &'static Element {
        self.element
    }

    /// Whether the tag ends in `/>`.
    pub fn self_closing(&self) -> bool {
        self.self_closing
    }

    /// The value of an attribute; only those of elements whose role has attributes are kept.
    pub fn get(&self, attribute: Attribute) -> Option<Cow<'a, str>> {
        let place = attribute as usize;
        let (start, end) = self.values[place];
        (self.present >> place & 1 == 1).then(|| in_attribute(&self.document[start..end]))
    }

    /// Whether the value of an attribute, a list of words, contains `word`, ignoring case.
    pub fn lists(&self, attribute: Attribute, word: &str) -> bool {
        let is_word = |other: &str| other.eq_ignore_ascii_case(word);
        self.get(attribute).is_some_and(|value| value.split_ascii_whitespace().any(is_word))
    }

    /// Reads the tag whose name begins at `from` and returns its end; `None` if the document ends first.
    #[inline]
    pub fn read(&mut self, from: usize) -> Option<usize> {
        let bytes = self.document.as_bytes();
        let end = from + bytes[from..].iter().position(|byte| ends(*byte, NAME) && *byte != b'=')?;
        self.name = Name::of(&bytes[from..end]);
        self.element = self.name.element();
        self.present = 0;
        self.self_closing = false;
        if bytes[end] == b'>' {
            return Some(end + 1);
        }
        self.read_attributes(end, self.element.role.has_attributes())
    }

    fn read_attributes(&mut self, from: usize, keep: bool) -> Option<usize> {
        let bytes = self.document.as_bytes();
        let mut at = from;
        loop {
            match *bytes.get(at)? {
                b'>' => return Some(at + 1),
                b'/' if bytes.get(at + 1) == Some(&b'>') => {
                    self.self_closing = true;
                    return Some(at + 2);
                }
                byte if byte == b'/' || ends(byte, SPACE) => {
                    at += 1;
                    continue;
                }
                _ => {}
            }
            let name = at;
            // A name may begin with `=`, but not continue with it.
            let end = skip(bytes, at + 1, NAME)?;
            at = skip_spaces(bytes, end)?;
            let mut value = (end, end);
            if bytes[at] == b'=' {
                at = skip_spaces(bytes, at + 1)?;
                match bytes[at] {
                    quote @ (b'"' | b'\'') => {
                        let length = memchr(quote, &bytes[at + 1..])?;
                        value = (at + 1, at + 1 + length);
                        at = value.1 + 1;
                    }
                    b'>' => {}
                    _ => {
                        value = (at, skip(bytes, at, UNQUOTED)?);
                        at = value.1;
                    }
                }
            }
            if keep {
                self.keep(&bytes[name..end], value);
            }
        }
    }

    /// Of duplicate attributes the first counts.
    #[inline]
    fn keep(&mut self, name: &[u8], value: (usize, usize)) {
        let Some(attribute) = Attribute::of(name) else { return };
        let place = attribute as usize;
        if self.present >> place & 1 == 0 {
            self.present |= 1 << place;
            self.values[place] = value;
        }
    }
}

const SPACE: u8 = 1;
const NAME: u8 = 2;
const UNQUOTED: u8 = 4;

/// For each byte, what it terminates: white space, a name, an unquoted value.
static ENDS: [u8; 256] = {
    let mut table = [0; 256];
    let spaces = b"\t\n\x0c\r ";
    let mut next = 0;
    while next < spaces.len() {
        table[spaces[next] as usize] = SPACE | NAME | UNQUOTED;
        next += 1;
    }
    table[b'/' as usize] = NAME;
    table[b'=' as usize] = NAME;
    table[b'>' as usize] = NAME | UNQUOTED;
    table
};

#[inline]
fn ends(byte: u8, what: u8) -> bool {
    ENDS[usize::from(byte)] & what != 0
}

#[inline]
fn skip(bytes: &[u8], from: usize, what: u8) -> Option<usize> {
    Some(from + bytes[from..].iter().position(|byte| ends(*byte, what))?)
}

#[inline]
fn skip_spaces(bytes: &[u8], from: usize) -> Option<usize> {
    Some(from + bytes[from..].iter().position(|byte| !ends(*byte, SPACE))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_attribute_is_at_its_place() {
        for (place, (attribute, name)) in Attribute::ALL.into_iter().enumerate() {
            assert_eq!(attribute as usize, place);
            assert_eq!(Attribute::of(name).map(|found| found as usize), Some(place));
            assert_eq!(Attribute::of(&name.to_ascii_uppercase()).map(|found| found as usize), Some(place));
        }
        assert!(Attribute::of(b"nome").is_none());
    }
}
