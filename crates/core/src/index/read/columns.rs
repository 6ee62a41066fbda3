//! The columns of a segment: per-document values for filters, facets and collapsing.
//!
//! Their sections are checked as a whole on opening, so a read is a load, a shift and a mask, and cannot
//! fail.

use std::ops::Range;

use super::segment::Segment;
use crate::index::DocId;
use crate::index::format::directory::Section;
use crate::index::format::facts::{Column, Facts, Kind};

impl Segment {
    /// All columns of a document.
    pub fn facts(&self, document: DocId) -> Facts {
        Facts {
            site: self.site_of(document),
            language: self.language_of(document),
            kind: self.kind_of(document),
            day: self.day_of(document),
            simhash: self.simhash_of(document),
        }
    }

    /// The number of a document's site.
    #[inline]
    pub fn site_of(&self, document: DocId) -> u32 {
        self.fact(document, Column::Site) as u32
    }

    /// The number of a document's language ([`crate::index::language_tag`]); 0 if unknown.
    #[inline]
    pub fn language_of(&self, document: DocId) -> u16 {
        self.fact(document, Column::Language) as u16
    }

    /// The file type of a document.
    #[inline]
    pub fn kind_of(&self, document: DocId) -> Kind {
        Kind::from_number(self.fact(document, Column::Kind)).unwrap_or_default()
    }

    /// When a document was written, in days since 1970-01-01; 0 if unknown.
    #[inline]
    pub fn day_of(&self, document: DocId) -> u32 {
        self.fact(document, Column::Day) as u32
    }

    /// The SimHash of a document's text; 0 if it has none.
    #[inline]
    pub fn simhash_of(&self, document: DocId) -> u64 {
        let bytes = self.opened(Section::Simhashes);
        let simhash = bytes.get(document.0 as usize * 8..).and_then(|rest| rest.first_chunk());
        simhash.map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    /// The number of distinct sites.
    pub fn sites(&self) -> usize {
        self.sites.len()
    }

    /// The host that a number stands for, such as `www.example.org`; empty if there is none.
    pub fn site_name(&self, site: u32) -> &str {
        self.sites.name(self.opened(Section::Sites), site)
    }

    /// The numbers of a host and of its subdomains.
    pub fn sites_under(&self, host: &str) -> Range<u32> {
        self.sites.under(self.opened(Section::Sites), host)
    }

    /// Whether the site dictionary is intact.
    pub(in crate::index) fn has_whole_sites(&self) -> bool {
        self.sites.is_whole(self.opened(Section::Sites))
    }

    /// A field of the table of facts.
    #[inline]
    pub(in crate::index) fn fact(&self, document: DocId, column: Column) -> u64 {
        self.facts.get(self.opened(Section::Facts), document.0 as usize, column as usize)
    }
}
