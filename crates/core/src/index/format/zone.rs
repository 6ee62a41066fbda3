//! The zones of a document: its title, its headings, its text, what links to it say, and its address.
//!
//! Each zone is indexed apart, with postings and lengths of its own, so that a query may ask for one of them
//! and a score may weigh each as it deserves. The headings are part of the text too.

/// A zone of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Zone {
    /// The text.
    Body,
    /// The title.
    Title,
    /// The headings.
    Headings,
    /// The text of links to the document.
    Anchors,
    /// The words of its URL.
    Url,
}

/// How many zones there are.
pub const ZONES: usize = 5;

impl Zone {
    /// Every zone, in the order in which a segment has them.
    pub const ALL: [Zone; ZONES] = [Zone::Body, Zone::Title, Zone::Headings, Zone::Anchors, Zone::Url];

    /// The zones that a word without a zone is looked for in. The headings are in the text already, and the URL says
    /// the same words of a whole folder of pages.
    pub const SEARCHED: [Zone; 3] = [Zone::Body, Zone::Title, Zone::Anchors];

    /// What the zone is called in queries, settings and tables.
    pub fn name(self) -> &'static str {
        match self {
            Zone::Body => "body",
            Zone::Title => "title",
            Zone::Headings => "headings",
            Zone::Anchors => "anchors",
            Zone::Url => "url",
        }
    }
}

/// A set of zones, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ZoneSet(u8);

impl ZoneSet {
    /// The text alone: what most terms are in.
    pub const BODY: ZoneSet = ZoneSet(1);

    /// The set with these bits; `None` where it is empty or a bit stands for no zone.
    pub fn from_bits(bits: u8) -> Option<ZoneSet> {
        (bits > 0 && bits < 1 << ZONES).then_some(ZoneSet(bits))
    }

    /// The set as bits.
    pub fn bits(self) -> u8 {
        self.0
    }

    /// Puts a zone in.
    pub fn insert(&mut self, zone: Zone) {
        self.0 |= 1 << zone as u8;
    }

    /// Whether a zone is in it.
    pub fn contains(self, zone: Zone) -> bool {
        self.0 >> zone as u8 & 1 == 1
    }

    /// Whether no zone is in it.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The zones in it, in order.
    pub fn zones(self) -> impl Iterator<Item = Zone> {
        Zone::ALL.into_iter().filter(move |zone| self.contains(*zone))
    }
}
