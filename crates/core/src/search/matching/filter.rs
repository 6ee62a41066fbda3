//! Filters on a document's metadata, evaluated on the segment's columns.

use std::ops::Range;

use crate::index::format::facts::{Kind, language_number};
use crate::index::{DocId, Segment};
use crate::search::language::tree::Filter;

/// A filter on one segment.
#[derive(Clone, Debug)]
pub enum Test {
    /// The range of its site's numbers.
    Site(Range<u32>),
    /// The number of its language.
    Language(u16),
    /// It is of this kind.
    Kind(Kind),
    /// It is older than this day.
    Before(u32),
    /// It is of this day or newer.
    After(u32),
}

impl Test {
    /// The filter on a segment; `None` if no document can pass.
    pub fn of(filter: &Filter, segment: &Segment) -> Option<Test> {
        Some(match filter {
            Filter::Site(host) => Test::Site(segment.sites_under(host)),
            Filter::Language(tag) => Test::Language(Some(language_number(tag)).filter(|number| *number > 0)?),
            Filter::Kind(name) => Test::Kind(Kind::from_name(name)?),
            Filter::Before(day) => Test::Before(*day),
            Filter::After(day) => Test::After(*day),
        })
    }

    /// Whether a document passes. One whose language or day is unknown does not.
    #[inline]
    pub fn passes(&self, segment: &Segment, document: DocId) -> bool {
        match self {
            Test::Site(sites) => sites.contains(&segment.site_of(document)),
            Test::Language(language) => segment.language_of(document) == *language,
            Test::Kind(kind) => segment.kind_of(document) == *kind,
            Test::Before(day) => (1..*day).contains(&segment.day_of(document)),
            Test::After(day) => segment.day_of(document) >= (*day).max(1),
        }
    }
}
