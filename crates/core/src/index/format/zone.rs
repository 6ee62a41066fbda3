//! The zones of a document: title, headings, body text, anchor text of links to it, and URL.
//!
//! Each zone has its own postings and lengths, so that a query can search one of them and a score can weight
//! them separately. The headings are part of the body too.

/// A zone of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Zone {
    /// The body text.
    Body,
    /// The title.
    Title,
    /// The headings.
    Headings,
    /// The anchor text of links to the document.
    Anchors,
    /// The words of its URL.
    Url,
}

/// The number of zones.
pub const ZONES: usize = 5;

impl Zone {
    /// Every zone, in the order of the format.
    pub const ALL: [Zone; ZONES] = [Zone::Body, Zone::Title, Zone::Headings, Zone::Anchors, Zone::Url];

    /// The zones that a `TermCursor` reads; a query searches those with a positive weight. The headings are in
    /// the body already, and the words of a URL are the same for a whole folder of pages.
    pub const SEARCHED: [Zone; 3] = [Zone::Body, Zone::Title, Zone::Anchors];

    /// The name of the zone in queries, settings and tables.
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

/// A set of zones, as a bit mask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ZoneSet(u8);

impl ZoneSet {
    /// The body alone: the zones of most terms.
    pub const BODY: ZoneSet = ZoneSet(1);

    /// The set with these bits; `None` if it is empty or a bit stands for no zone.
    pub fn from_bits(bits: u8) -> Option<ZoneSet> {
        (bits > 0 && bits < 1 << ZONES).then_some(ZoneSet(bits))
    }

    /// The set as bits.
    pub fn bits(self) -> u8 {
        self.0
    }

    /// Adds a zone.
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
