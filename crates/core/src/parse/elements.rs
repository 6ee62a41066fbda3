//! The HTML elements and their meaning to the extraction: a table built at compile time, looked up once per
//! tag.
//!
//! A name of up to 16 bytes is packed into a `u128`, so that comparing two names is one comparison and
//! looking up an element is one multiplication and one probe of a hash table with 256 slots.

/// The name of an element in lower case; all names of more than 16 bytes are equal, since no element of
/// interest has such a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Name(u128);

impl Name {
    const LONGEST: usize = 16;
    const LONG: Name = Name(u128::MAX);

    /// The packed form of `name`.
    #[inline]
    pub const fn of(name: &[u8]) -> Name {
        if name.len() > Name::LONGEST {
            return Name::LONG;
        }
        let (mut low, mut high) = (0u64, 0u64);
        let mut at = 0;
        while at < name.len() {
            // The packed bytes are padded with zeros, so a zero byte in a name is replaced.
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

    /// The properties of the element with this name.
    #[inline]
    pub fn element(self) -> &'static Element {
        &ELEMENTS[place(&ELEMENTS, self)]
    }
}

/// The properties of an element.
#[derive(Clone, Copy)]
pub struct Element {
    name: Option<Name>,
    /// The separation between the words before it and those in it.
    pub separation: Separation,
    /// How its content is tokenized.
    pub content: Content,
    /// Its role in the extraction.
    pub role: Role,
    /// Whether its start tag implies that an `<svg>` or `<math>` before it was never closed.
    pub ends_foreign: bool,
}

/// The separation between two words.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Separation {
    Nothing,
    Space,
    Line,
}

/// How the tokenizer reads the content of an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// Tags and text.
    Markup,
    /// Text with character references, up to the element's end tag.
    Characters,
    /// Literal text, up to the element's end tag.
    Raw,
    /// As [`Content::Raw`], with the rules for end tags inside `<!--`.
    Script,
    /// Literal text, up to the end of the page.
    Plain,
}

/// The role of an element in the extraction.
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
    Time,
    Script,
    Html,
    Heading,
    Title,
    Unseen,
    Svg,
    Math,
    Template,
    /// An element that may declare a landmark by its role.
    Block,
    /// Navigation, or an aside.
    Landmark,
    /// The header or footer of the page, or of a section.
    Margin,
    /// What is in it is content, with headers and footers of its own.
    Section,
    /// The main content.
    Main,
}

impl Role {
    /// Whether the attributes of such an element are used.
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
            | Role::Time
            | Role::Script
            | Role::Html
            | Role::Block
            | Role::Section => true,
            Role::Nothing
            | Role::Heading
            | Role::Title
            | Role::Unseen
            | Role::Svg
            | Role::Math
            | Role::Template
            | Role::Landmark
            | Role::Margin
            | Role::Main => false,
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
    ("time", Role::Time),
    ("html", Role::Html),
    ("h1", Role::Heading),
    ("h2", Role::Heading),
    ("h3", Role::Heading),
    ("h4", Role::Heading),
    ("h5", Role::Heading),
    ("h6", Role::Heading),
    ("title", Role::Title),
    ("script", Role::Script),
    ("style", Role::Unseen),
    ("noembed", Role::Unseen),
    ("noframes", Role::Unseen),
    ("svg", Role::Svg),
    ("math", Role::Math),
    ("template", Role::Template),
    ("div", Role::Block),
    ("form", Role::Block),
    ("nav", Role::Landmark),
    ("aside", Role::Landmark),
    ("header", Role::Margin),
    ("footer", Role::Margin),
    ("article", Role::Section),
    ("section", Role::Section),
    ("main", Role::Main),
];

/// The size of the hash table: a power of two, at least twice the number of elements.
const PLACES: usize = 256;

static ELEMENTS: [Element; PLACES] = elements();

const UNKNOWN: Element = Element {
    name: None,
    separation: Separation::Nothing,
    content: Content::Markup,
    role: Role::Nothing,
    ends_foreign: false,
};

/// The slot of a name in the table, occupied or free: linear probing.
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
