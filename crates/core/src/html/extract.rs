//! What a page says, zone by zone, out of its stream of tags and text.
//!
//! There is no tree: a few flags say where in the page we are, so memory does not grow with nesting and
//! time is linear. Tags that are left open cannot swallow the page, because a link ends at the next link, a
//! heading at the next heading, and both take no more than [`ZONE`] bytes. Text that stands in the head
//! belongs to the body, as the HTML standard has it.

use html5gum::State;

use super::flow::Flow;
use super::links::Links;
use super::tokens::{Sink, Tag, state_after};

/// The most bytes of a title, a heading or an anchor.
const ZONE: usize = 1024;

/// Everything that is read off a page.
pub struct Extract {
    pub title: Flow,
    pub headings: Vec<String>,
    pub text: Flow,
    pub links: Links,
    pub canonical: Option<String>,
    /// The language that the page declares.
    pub declared: Option<String>,
    pub noindex: bool,
    pub nofollow: bool,
    has_title: bool,
    inside: Inside,
    heading: Option<Flow>,
    anchor: Option<Anchor>,
}

/// Which part of the page the text belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Body,
    Title,
    /// An element that holds only text, and none to be seen.
    Unseen,
    /// An element that holds others, none of them to be seen, and how often it is nested in itself.
    Hidden(Hidden, usize),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Hidden {
    Svg,
    Template,
}

/// A link whose text is being read.
struct Anchor {
    place: usize,
    text: Flow,
}

impl Extract {
    /// Nothing yet, of a page whose links are `links`.
    pub fn new(links: Links) -> Extract {
        Extract {
            title: Flow::limited(ZONE),
            headings: Vec::new(),
            text: Flow::default(),
            links,
            canonical: None,
            declared: None,
            noindex: false,
            nofollow: false,
            has_title: false,
            inside: Inside::Body,
            heading: None,
            anchor: None,
        }
    }

    /// Ends the zones that are still open at the end of the page.
    pub fn finish(&mut self) {
        self.end_heading();
        self.end_anchor();
    }

    fn end_heading(&mut self) {
        let heading = self.heading.take().map(Flow::finish);
        self.headings.extend(heading.filter(|heading| !heading.is_empty()));
    }

    fn end_anchor(&mut self) {
        if let Some(anchor) = self.anchor.take() {
            self.links.describe(anchor.place, anchor.text.finish());
        }
    }

    /// What an element of the body means, apart from its text.
    fn element(&mut self, tag: &Tag) {
        match tag.name() {
            b"a" => self.start_anchor(tag),
            b"area" => self.area(tag),
            b"img" => self.image(tag),
            b"frame" | b"iframe" => {
                tag.get("src").and_then(|src| self.links.add(src));
            }
            b"base" => {
                if let Some(href) = tag.get("href") {
                    self.links.rebase(href);
                }
            }
            b"link" if tag.lists("rel", "canonical") && self.canonical.is_none() => {
                self.canonical = tag.get("href").and_then(|href| self.links.resolve(href));
            }
            b"meta" => self.meta(tag),
            b"html" if self.declared.is_none() => {
                self.declared = tag.get("lang").or_else(|| tag.get("xml:lang")).map(str::to_owned);
            }
            name if is_heading(name) => {
                self.end_heading();
                self.heading = Some(Flow::limited(ZONE));
            }
            _ => {}
        }
    }

    fn start_anchor(&mut self, tag: &Tag) {
        self.end_anchor();
        if let Some(place) = self.follow(tag) {
            self.anchor = Some(Anchor { place, text: Flow::limited(ZONE) });
        }
    }

    fn area(&mut self, tag: &Tag) {
        let Some(place) = self.follow(tag) else { return };
        let mut text = Flow::limited(ZONE);
        text.push(tag.get("alt").unwrap_or_default());
        self.links.describe(place, text.finish());
    }

    /// The place of the link that a tag makes, unless its author does not vouch for it.
    fn follow(&mut self, tag: &Tag) -> Option<usize> {
        let href = tag.get("href").filter(|_| !tag.lists("rel", "nofollow"))?;
        self.links.add(href)
    }

    fn image(&mut self, tag: &Tag) {
        if let (Some(anchor), Some(alternative)) = (&mut self.anchor, tag.get("alt")) {
            anchor.text.space();
            anchor.text.push(alternative);
            anchor.text.space();
        }
    }

    fn meta(&mut self, tag: &Tag) {
        let Some(content) = tag.get("content") else { return };
        if tag.lists("name", "robots") {
            let says = |rule: &str| content.split(',').any(|word| word.trim().eq_ignore_ascii_case(rule));
            self.noindex |= says("noindex") || says("none");
            self.nofollow |= says("nofollow") || says("none");
        }
        if tag.lists("http-equiv", "refresh") {
            refresh(content).and_then(|href| self.links.add(href));
        }
    }

    fn separate(&mut self, separation: Separation) {
        match separation {
            Separation::Nothing => return,
            Separation::Space => self.text.space(),
            Separation::Line => self.text.line(),
        }
        for zone in self.heading.iter_mut().chain(self.anchor.iter_mut().map(|anchor| &mut anchor.text)) {
            zone.space();
        }
    }
}

impl Sink for Extract {
    fn start(&mut self, tag: &Tag) -> Option<State> {
        let name = tag.name();
        match self.inside {
            Inside::Hidden(Hidden::Svg, depth) if !ends_svg(name) => {
                let nested = usize::from(name == b"svg" && !tag.self_closing());
                self.inside = Inside::Hidden(Hidden::Svg, depth + nested);
                return None;
            }
            Inside::Hidden(Hidden::Template, depth) => {
                self.inside = Inside::Hidden(Hidden::Template, depth + usize::from(name == b"template"));
                return state_after(name);
            }
            _ => self.inside = Inside::Body,
        }
        self.separate(separation(name));
        self.element(tag);
        self.inside = match name {
            b"title" if !self.has_title => Inside::Title,
            b"title" | b"script" | b"style" | b"noscript" | b"iframe" | b"noembed" | b"noframes" => {
                Inside::Unseen
            }
            b"svg" if !tag.self_closing() => Inside::Hidden(Hidden::Svg, 1),
            b"template" => Inside::Hidden(Hidden::Template, 1),
            _ => Inside::Body,
        };
        self.has_title |= name == b"title";
        state_after(name)
    }

    fn end(&mut self, name: &[u8]) {
        if let Inside::Hidden(hidden, depth) = self.inside {
            let closes = name == hidden.name();
            self.inside = match depth - usize::from(closes) {
                0 => Inside::Body,
                depth => Inside::Hidden(hidden, depth),
            };
            return;
        }
        self.inside = Inside::Body;
        self.separate(separation(name));
        match name {
            b"a" => self.end_anchor(),
            name if is_heading(name) => self.end_heading(),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        match self.inside {
            Inside::Unseen | Inside::Hidden(..) => {}
            Inside::Title => self.title.push(text),
            Inside::Body => {
                self.text.push(text);
                for zone in
                    self.heading.iter_mut().chain(self.anchor.iter_mut().map(|anchor| &mut anchor.text))
                {
                    zone.push(text);
                }
            }
        }
    }
}

impl Hidden {
    fn name(self) -> &'static [u8] {
        match self {
            Hidden::Svg => b"svg",
            Hidden::Template => b"template",
        }
    }
}

/// The address in the content of a refresh, as in `5; url='next.html'`.
fn refresh(content: &str) -> Option<&str> {
    let (_, target) = content.split_once([';', ','])?;
    let target = target.trim();
    let address = match target.split_at_checked(3) {
        Some((word, rest)) if word.eq_ignore_ascii_case("url") => rest.trim_start().strip_prefix('=')?,
        _ => target,
    };
    let address = address.trim().trim_matches(['"', '\'']);
    (!address.is_empty()).then_some(address)
}

fn is_heading(name: &[u8]) -> bool {
    matches!(name, [b'h', b'1'..=b'6'])
}

/// What an element puts between the words before it and those in it.
#[derive(Clone, Copy)]
enum Separation {
    Nothing,
    Space,
    Line,
}

fn separation(name: &[u8]) -> Separation {
    match name {
        b"td" | b"th" | b"option" | b"button" | b"select" | b"textarea" | b"iframe" => Separation::Space,
        b"address" | b"article" | b"aside" | b"blockquote" | b"body" | b"br" | b"caption" | b"center"
        | b"dd" | b"details" | b"dialog" | b"dir" | b"div" | b"dl" | b"dt" | b"fieldset" | b"figcaption"
        | b"figure" | b"footer" | b"form" | b"frameset" | b"head" | b"header" | b"hgroup" | b"hr"
        | b"html" | b"legend" | b"li" | b"listing" | b"main" | b"menu" | b"nav" | b"ol" | b"optgroup"
        | b"p" | b"plaintext" | b"pre" | b"search" | b"section" | b"summary" | b"table" | b"tbody"
        | b"tfoot" | b"thead" | b"tr" | b"ul" | b"xmp" => Separation::Line,
        name if is_heading(name) => Separation::Line,
        _ => Separation::Nothing,
    }
}

/// Whether a start tag inside an `<svg>` shows that it was never closed: the standard's list of the HTML
/// elements that break out of foreign content.
fn ends_svg(name: &[u8]) -> bool {
    is_heading(name)
        || matches!(
            name,
            b"b" | b"big"
                | b"blockquote"
                | b"body"
                | b"br"
                | b"center"
                | b"code"
                | b"dd"
                | b"div"
                | b"dl"
                | b"dt"
                | b"em"
                | b"embed"
                | b"head"
                | b"hr"
                | b"i"
                | b"img"
                | b"li"
                | b"listing"
                | b"menu"
                | b"meta"
                | b"nobr"
                | b"ol"
                | b"p"
                | b"pre"
                | b"ruby"
                | b"s"
                | b"small"
                | b"span"
                | b"strike"
                | b"strong"
                | b"sub"
                | b"sup"
                | b"table"
                | b"tt"
                | b"u"
                | b"ul"
                | b"var"
        )
}
