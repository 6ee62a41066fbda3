//! What a page says, zone by zone, out of its stream of tags and text.
//!
//! There is no tree: a few flags say where in the page we are, so memory does not grow with nesting and
//! time is linear. Tags that are left open cannot swallow the page, because a link ends at the next link, a
//! heading at the next heading, and both take no more than [`ZONE`] bytes. Text that stands in the head
//! belongs to the body, as the HTML standard has it, and `<noscript>` is markup like any other, since no script
//! is run here. The text of a link or heading is not gathered twice: it is a part of the text of the page.

use std::ops::Range;

use super::Rules;
use super::assets::{Asset, Assets};
use super::described::Described;
use super::elements::{Content, Element, Name, Role, Separation};
use super::flow::Flow;
use super::links::{Links, Vouch};
use super::robots::Directives;
use super::srcset::candidates;
use super::tag::{Attribute, Tag};
use super::tokens::Sink;
use crate::media::{self, Format, Kind, Reading};

/// The most bytes of a title, a heading or an anchor.
const ZONE: usize = 1024;

/// Everything that is read off a page.
pub struct Extract<'a> {
    pub title: Flow,
    pub headings: Vec<String>,
    pub text: Flow,
    pub links: Links,
    pub canonical: Option<String>,
    pub assets: Assets,
    /// The language that the page declares.
    pub declared: Option<String>,
    pub directives: Directives,
    pub described: Described,
    /// The parts of the text in landmarks, in order.
    pub landmarks: Vec<Range<usize>>,
    rules: &'a Rules<'a>,
    has_title: bool,
    inside: Inside,
    in_math: bool,
    /// Where in the text the current heading begins.
    heading: Option<usize>,
    anchor: Option<Anchor>,
    landmark: Option<Landmark>,
    /// How many articles, sections and main elements are open.
    sections: usize,
}

/// A landmark that is open: a part of the page that is no content of its own (WAI-ARIA's banner, navigation,
/// complementary, contentinfo and search).
struct Landmark {
    element: Name,
    /// How often the element is nested in itself.
    depth: usize,
    /// Where in the text it begins.
    start: usize,
}

/// Which part of the page the text belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Body,
    Title,
    /// An element that holds only text, and none to be seen.
    Unseen,
    /// A script that is data about the page.
    Data,
    /// An element that holds others, none of them to be seen, and how often it is nested in itself.
    Hidden(Role, usize),
}

/// A link whose text is being read.
struct Anchor {
    place: usize,
    /// Where in the text of the page its own begins.
    start: usize,
    /// Its text, if that is more than the part of the page's: the words of images are in it.
    own: Option<Flow>,
}

impl<'a> Extract<'a> {
    /// Nothing yet, of a page whose links are `links`.
    pub fn new(links: Links, rules: &'a Rules<'a>) -> Extract<'a> {
        let mut directives = Directives::default();
        rules.x_robots_tag.iter().for_each(|value| directives.add_header(value, rules.agent));
        Extract {
            title: Flow::limited(ZONE),
            headings: Vec::new(),
            text: Flow::default(),
            links,
            canonical: None,
            assets: Assets::default(),
            declared: None,
            directives,
            described: Described::default(),
            landmarks: Vec::new(),
            rules,
            has_title: false,
            inside: Inside::Body,
            in_math: false,
            heading: None,
            anchor: None,
            landmark: None,
            sections: 0,
        }
    }

    /// Ends the zones that are still open at the end of the page.
    pub fn finish(&mut self) {
        self.end_heading();
        self.end_anchor();
        self.end_landmark();
        // A page that a script would fill in shows less than it says of itself.
        if self.text.len() < self.described.about.len() {
            self.text.line();
            self.text.push(&self.described.about);
        }
    }

    fn end_heading(&mut self) {
        let heading = self.heading.take().map(|start| self.text.zone(start, ZONE));
        self.headings.extend(heading.filter(|heading| !heading.is_empty()));
    }

    fn end_landmark(&mut self) {
        let part = self.landmark.take().map(|landmark| landmark.start..self.text.len());
        self.landmarks.extend(part.filter(|part| !part.is_empty()));
    }

    /// Opens the landmark that a tag begins, or counts it if it is nested in one of its name. One that is left open
    /// ends with the main content, or the page.
    fn mark(&mut self, tag: &Tag) {
        let role = tag.element().role;
        if role == Role::Main {
            self.end_landmark();
        }
        if let Some(landmark) = &mut self.landmark {
            landmark.depth += usize::from(landmark.element == tag.name());
            return;
        }
        let is_landmark = match role {
            Role::Landmark => true,
            Role::Margin => self.sections == 0,
            Role::Block | Role::Section => tag.get(Attribute::Role).is_some_and(|role| is_landmark(&role)),
            _ => false,
        };
        if is_landmark {
            self.landmark = Some(Landmark { element: tag.name(), depth: 1, start: self.text.len() });
        } else {
            self.sections += usize::from(matches!(role, Role::Section | Role::Main));
        }
    }

    fn unmark(&mut self, name: Name) {
        match &mut self.landmark {
            Some(landmark) if landmark.element == name => {
                landmark.depth -= 1;
                if landmark.depth == 0 {
                    self.end_landmark();
                }
            }
            Some(_) => {}
            None if matches!(name.element().role, Role::Section | Role::Main) => {
                self.sections = self.sections.saturating_sub(1);
            }
            None => {}
        }
    }

    fn end_anchor(&mut self) {
        if let Some(anchor) = self.anchor.take() {
            let text = &self.text;
            let name = || anchor.own.map_or_else(|| text.zone(anchor.start, ZONE), Flow::finish);
            self.links.describe(anchor.place, name);
        }
    }

    /// What an element of the body means, apart from its text.
    fn element(&mut self, tag: &Tag) {
        match tag.element().role {
            Role::Anchor => self.start_anchor(tag),
            Role::Area => self.area(tag),
            Role::Image => self.image(tag),
            Role::Source if self.rules.srcset => self.pictures(tag),
            Role::Frame | Role::InnerFrame => {
                tag.get(Attribute::Src).and_then(|src| self.links.add(&src));
            }
            Role::Base => {
                if let Some(href) = tag.get(Attribute::Href) {
                    self.links.rebase(&href);
                }
            }
            Role::Link => self.relation(tag),
            Role::Meta => self.meta(tag),
            Role::Time => {
                if let (Some(name), Some(when)) = (tag.get(Attribute::Itemprop), tag.get(Attribute::Datetime))
                {
                    self.described.add(&name, &when);
                }
            }
            Role::Html if self.declared.is_none() => {
                let lang = tag.get(Attribute::Lang).or_else(|| tag.get(Attribute::XmlLang));
                self.declared = lang.map(|lang| lang.into_owned());
            }
            Role::Heading => {
                self.end_heading();
                self.heading = Some(self.text.len());
            }
            Role::Block | Role::Landmark | Role::Margin | Role::Section | Role::Main => self.mark(tag),
            _ => {}
        }
    }

    fn start_anchor(&mut self, tag: &Tag) {
        self.end_anchor();
        let start = self.text.len();
        self.anchor = self.follow(tag).map(|place| Anchor { place, start, own: None });
    }

    fn area(&mut self, tag: &Tag) {
        let Some(place) = self.follow(tag) else { return };
        self.links.describe(place, || {
            let mut text = Flow::limited(ZONE);
            text.push(&tag.get(Attribute::Alt).unwrap_or_default());
            text.finish()
        });
    }

    /// The place of the link that a tag makes, if it may be followed.
    fn follow(&mut self, tag: &Tag) -> Option<usize> {
        let href = tag.get(Attribute::Href)?;
        let vouch = tag.get(Attribute::Rel).map_or(Vouch::Full, |relations| vouch(&relations));
        self.links.add_as(&href, vouch).filter(|_| vouch != Vouch::NoFollow)
    }

    fn image(&mut self, tag: &Tag) {
        if let (Some(anchor), Some(alternative)) = (&mut self.anchor, tag.get(Attribute::Alt)) {
            let own = anchor.own.get_or_insert_with(|| {
                let mut own = Flow::limited(ZONE);
                own.push(&self.text.zone(anchor.start, ZONE));
                own
            });
            own.space();
            own.push(&alternative);
            own.space();
        }
        if self.rules.srcset {
            tag.get(Attribute::Src).and_then(|src| self.links.add(&src));
            self.pictures(tag);
        }
    }

    fn pictures(&mut self, tag: &Tag) {
        if let Some(srcset) = tag.get(Attribute::Srcset) {
            candidates(&srcset).for_each(|address| {
                self.links.add(address);
            });
        }
    }

    /// A `<link>`: the page's own address, a page that belongs to it, or what it is shown with.
    fn relation(&mut self, tag: &Tag) {
        let Some(relations) = tag.get(Attribute::Rel) else { return };
        let is =
            |word: &str| relations.split_ascii_whitespace().any(|other| other.eq_ignore_ascii_case(word));
        let Some(href) = tag.get(Attribute::Href) else { return };
        if is("canonical") && self.canonical.is_none() {
            self.canonical = self.links.resolve(&href);
        }
        let is_alternate = || is("alternate") && !is("stylesheet");
        let is_wanted = || has_page_type(tag) || (self.rules.feeds && has_feed_type(tag));
        if is("next") || is("prev") || (is_alternate() && is_wanted()) {
            self.links.add_as(&href, vouch(&relations));
        }
        if let Some(asset) = Asset::of(&relations)
            && let Some(url) = self.links.resolve(&href)
        {
            self.assets.add(asset, url);
        }
    }

    fn meta(&mut self, tag: &Tag) {
        let Some(content) = tag.get(Attribute::Content) else { return };
        if let Some(name) = tag.get(Attribute::Name) {
            self.directives.add_meta(&name, &content, self.rules.agent);
        }
        for attribute in [Attribute::Name, Attribute::Property, Attribute::Itemprop] {
            if let Some(name) = tag.get(attribute) {
                self.described.add(&name, &content);
            }
        }
        if tag.lists(Attribute::HttpEquiv, "refresh") {
            refresh(&content).and_then(|href| self.links.add(href));
        }
    }

    #[inline]
    fn separate(&mut self, element: &Element) {
        match element.separation {
            Separation::Nothing => return,
            Separation::Space => self.text.space(),
            Separation::Line => self.text.line(),
        }
        if let Some(Anchor { own: Some(own), .. }) = &mut self.anchor {
            own.space();
        }
    }
}

impl Sink for Extract<'_> {
    fn start(&mut self, tag: &Tag) -> Content {
        let element = tag.element();
        match self.inside {
            Inside::Hidden(Role::Svg, depth) if !element.ends_foreign => {
                let nested = usize::from(element.role == Role::Svg && !tag.self_closing());
                self.inside = Inside::Hidden(Role::Svg, depth + nested);
                return Content::Markup;
            }
            Inside::Hidden(Role::Template, depth) => {
                let nested = usize::from(element.role == Role::Template);
                self.inside = Inside::Hidden(Role::Template, depth + nested);
                return element.content;
            }
            _ => self.inside = Inside::Body,
        }
        self.in_math &= !element.ends_foreign;
        self.separate(element);
        self.element(tag);
        if self.in_math {
            return Content::Markup;
        }
        match element.role {
            Role::Title if !self.has_title => {
                self.inside = Inside::Title;
                self.has_title = true;
            }
            Role::Script if tag.lists(Attribute::Type, "application/ld+json") => self.inside = Inside::Data,
            Role::Title | Role::Unseen | Role::Script | Role::InnerFrame => self.inside = Inside::Unseen,
            Role::Svg if !tag.self_closing() => self.inside = Inside::Hidden(Role::Svg, 1),
            Role::Template => self.inside = Inside::Hidden(Role::Template, 1),
            Role::Math => self.in_math = !tag.self_closing(),
            _ => {}
        }
        element.content
    }

    fn end(&mut self, name: Name) {
        let element = name.element();
        if let Inside::Hidden(role, depth) = self.inside {
            self.inside = match depth - usize::from(element.role == role) {
                0 => Inside::Body,
                depth => Inside::Hidden(role, depth),
            };
            return;
        }
        self.inside = Inside::Body;
        self.separate(element);
        match element.role {
            Role::Anchor => self.end_anchor(),
            Role::Heading => self.end_heading(),
            Role::Math => self.in_math = false,
            Role::Block | Role::Landmark | Role::Margin | Role::Section | Role::Main => self.unmark(name),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        match self.inside {
            Inside::Unseen | Inside::Hidden(..) => {}
            Inside::Title => self.title.push(text),
            Inside::Data => self.described.add_json(text),
            Inside::Body => {
                self.text.push(text);
                if let Some(Anchor { own: Some(own), .. }) = &mut self.anchor {
                    own.push(text);
                }
            }
        }
    }

    fn is_foreign(&self) -> bool {
        self.in_math || matches!(self.inside, Inside::Hidden(Role::Svg, _))
    }
}

/// Whether the role of an element is that of a landmark without content of its own; of several the first counts.
fn is_landmark(role: &str) -> bool {
    const LANDMARKS: [&str; 5] = ["navigation", "banner", "contentinfo", "complementary", "search"];
    let role = role.split_ascii_whitespace().next().unwrap_or_default();
    LANDMARKS.iter().any(|other| role.eq_ignore_ascii_case(other))
}

/// What the relations of a link say of it.
fn vouch(relations: &str) -> Vouch {
    let one = |word: &str| {
        let is_one_of = |words: &[&str]| words.iter().any(|other| word.eq_ignore_ascii_case(other));
        match word {
            _ if is_one_of(&["nofollow"]) => Vouch::NoFollow,
            _ if is_one_of(&["ugc", "sponsored"]) => Vouch::None,
            _ => Vouch::Full,
        }
    };
    relations.split_ascii_whitespace().map(one).max().unwrap_or(Vouch::Full)
}

/// Whether what a `<link>` leads to is a page, as far as it says.
fn has_page_type(tag: &Tag) -> bool {
    tag.get(Attribute::Type)
        .is_none_or(|declared| Format::of(media::essence(&declared).as_deref()).reading == Reading::Html)
}

/// Whether what a `<link>` leads to is a feed, as it says.
fn has_feed_type(tag: &Tag) -> bool {
    tag.get(Attribute::Type).is_some_and(|declared| Kind::of_content_type(&declared) == Kind::Feed)
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
