//! What each HTML element means to the extraction: one table, made at compile time and asked once per tag.
//!
//! A name of up to 16 bytes is packed into a `u128`, so that comparing two names is one comparison and finding
//! an element is one multiplication and one look into a table of 256 places.

/// The name of an element in lower case; all names of more than 16 bytes are the same one, for no element
/// that matters has such a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Name(u128);

impl Name {
    const LONGEST: usize = 16;
    const LONG: Name = Name(u128::MAX);

    /// The name that is written `name`.
    #[inline]
    pub const fn of(name: &[u8]) -> Name {
        if name.len() > Name::LONGEST {
            return Name::LONG;
        }
        let (mut low, mut high) = (0u64, 0u64);
        let mut at = 0;
        while at < name.len() {
            // The packed bytes are padded with zeros, so a zero in a name must be something else.
            let byte = if name[at] == 0 { 0xff } else { name[at].to_ascii_lowercase() };
            if at < 8 {
                low |= (byte as u64) << (8 * at);
            } else {
                high |= (byte as u64) << (8 * (at - 8));
            }
            at += 1;
        }
        Name((high as u128) << 64 | low as u128)
    }

    /// What the element of this name means.
    #[inline]
    pub fn element(self) -> &'static Element {
        &ELEMENTS[place(&ELEMENTS, self)]
    }
}

/// What an element means.
#[derive(Clone, Copy)]
pub struct Element {
    name: Option<Name>,
    /// What it puts between the words before it and those in it.
    pub separation: Separation,
    /// How what it holds is read.
    pub content: Content,
    /// What is done with it.
    pub role: Role,
    /// Whether its start tag shows that an `<svg>` or `<math>` before it was never closed.
    pub ends_foreign: bool,
}

/// What stands between two words.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Separation {
    Nothing,
    Space,
    Line,
}

/// How the tokenizer reads what an element holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// Tags and text.
    Markup,
    /// Text with character references, up to the element's end tag.
    Characters,
    /// Text as it stands, up to the element's end tag.
    Raw,
    /// As [`Content::Raw`], with the rules for end tags inside `<!--`.
    Script,
    /// Text as it stands, up to the end of the page.
    Plain,
}

/// What the extraction does with an element.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Nothing,
    Anchor,
    Area,
    Image,
    Source,
    Frame,
    InnerFrame,
    Base,
    Link,
    Meta,
    Html,
    Heading,
    Title,
    Unseen,
    Svg,
    Math,
    Template,
}

impl Role {
    /// Whether anybody reads the attributes of such an element.
    pub fn has_attributes(self) -> bool {
        match self {
            Role::Anchor
            | Role::Area
            | Role::Image
            | Role::Source
            | Role::Frame
            | Role::InnerFrame
            | Role::Base
            | Role::Link
            | Role::Meta
            | Role::Html => true,
            Role::Nothing
            | Role::Heading
            | Role::Title
            | Role::Unseen
            | Role::Svg
            | Role::Math
            | Role::Template => false,
        }
    }
}

const LINES: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "br",
    "caption",
    "center",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hgroup",
    "hr",
    "html",
    "legend",
    "li",
    "listing",
    "main",
    "menu",
    "nav",
    "ol",
    "optgroup",
    "p",
    "plaintext",
    "pre",
    "search",
    "section",
    "summary",
    "table",
    "tbody",
    "tfoot",
    "thead",
    "tr",
    "ul",
    "xmp",
];

const SPACES: &[&str] = &["td", "th", "option", "button", "select", "textarea", "iframe"];

/// The standard's list of the HTML elements that break out of foreign content.
const ENDS_FOREIGN: &[&str] = &[
    "b",
    "big",
    "blockquote",
    "body",
    "br",
    "center",
    "code",
    "dd",
    "div",
    "dl",
    "dt",
    "em",
    "embed",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "hr",
    "i",
    "img",
    "li",
    "listing",
    "menu",
    "meta",
    "nobr",
    "ol",
    "p",
    "pre",
    "ruby",
    "s",
    "small",
    "span",
    "strike",
    "strong",
    "sub",
    "sup",
    "table",
    "tt",
    "u",
    "ul",
    "var",
];

const CONTENTS: &[(&str, Content)] = &[
    ("title", Content::Characters),
    ("textarea", Content::Characters),
    ("script", Content::Script),
    ("style", Content::Raw),
    ("iframe", Content::Raw),
    ("noembed", Content::Raw),
    ("noframes", Content::Raw),
    ("xmp", Content::Raw),
    ("plaintext", Content::Plain),
];

const ROLES: &[(&str, Role)] = &[
    ("a", Role::Anchor),
    ("area", Role::Area),
    ("img", Role::Image),
    ("source", Role::Source),
    ("frame", Role::Frame),
    ("iframe", Role::InnerFrame),
    ("base", Role::Base),
    ("link", Role::Link),
    ("meta", Role::Meta),
    ("html", Role::Html),
    ("h1", Role::Heading),
    ("h2", Role::Heading),
    ("h3", Role::Heading),
    ("h4", Role::Heading),
    ("h5", Role::Heading),
    ("h6", Role::Heading),
    ("title", Role::Title),
    ("script", Role::Unseen),
    ("style", Role::Unseen),
    ("noembed", Role::Unseen),
    ("noframes", Role::Unseen),
    ("svg", Role::Svg),
    ("math", Role::Math),
    ("template", Role::Template),
];

/// A power of two, at least twice the number of elements.
const PLACES: usize = 256;

static ELEMENTS: [Element; PLACES] = elements();

const UNKNOWN: Element = Element {
    name: None,
    separation: Separation::Nothing,
    content: Content::Markup,
    role: Role::Nothing,
    ends_foreign: false,
};

/// Where the element of a name is in the table, or would be: linear probing.
#[inline]
const fn place(table: &[Element; PLACES], name: Name) -> usize {
    let folded = name.0 as u64 ^ ((name.0 >> 64) as u64).rotate_left(29);
    let mut at = (folded.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize;
    while let Some(other) = table[at].name {
        if other.0 == name.0 {
            break;
        }
        at = (at + 1) % PLACES;
    }
    at
}

const fn elements() -> [Element; PLACES] {
    const fn claim(table: &mut [Element; PLACES], name: &str) -> usize {
        let name = Name::of(name.as_bytes());
        let at = place(table, name);
        table[at].name = Some(name);
        at
    }
    let mut table = [UNKNOWN; PLACES];
    let mut next = 0;
    while next < LINES.len() {
        let at = claim(&mut table, LINES[next]);
        table[at].separation = Separation::Line;
        next += 1;
    }
    next = 0;
    while next < SPACES.len() {
        let at = claim(&mut table, SPACES[next]);
        table[at].separation = Separation::Space;
        next += 1;
    }
    next = 0;
    while next < ENDS_FOREIGN.len() {
        let at = claim(&mut table, ENDS_FOREIGN[next]);
        table[at].ends_foreign = true;
        next += 1;
    }
    next = 0;
    while next < CONTENTS.len() {
        let at = claim(&mut table, CONTENTS[next].0);
        table[at].content = CONTENTS[next].1;
        next += 1;
    }
    next = 0;
    while next < ROLES.len() {
        let at = claim(&mut table, ROLES[next].0);
        table[at].role = ROLES[next].1;
        next += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_any_case() {
        assert!(Name::of(b"BlockQuote") == Name::of(b"blockquote"));
        assert!(Name::of(b"blockQUOTE").element().ends_foreign);
        assert!(Name::of(b"H3").element().role == Role::Heading);
        assert!(Name::of(b"iframe").element().separation == Separation::Space);
        assert!(Name::of(b"textarea").element().content == Content::Characters);
    }

    #[test]
    fn other_names_mean_nothing() {
        for name in ["", "x", "a\0", "aa", "noscript", "an-element-of-someones-own", "annotation-xml"] {
            assert!(Name::of(name.as_bytes()).element().name.is_none(), "{name}");
        }
    }
}
