//! The links of a page: each address once, in page order, with the first text that somebody clicks on.

use std::collections::HashMap;

use crate::Signature;
use crate::url::{Url, canonical};

/// The most links that are taken from a page; what has more is a trap or a dump.
pub const MAX_LINKS: usize = 10_000;

/// The links found so far.
pub struct Links {
    base: Option<Url>,
    has_own_base: bool,
    urls: Vec<String>,
    anchors: Vec<String>,
    places: HashMap<Signature, usize>,
}

impl Links {
    /// The links of a page at `base`.
    pub fn new(base: Option<Url>) -> Links {
        Links { base, has_own_base: false, urls: Vec::new(), anchors: Vec::new(), places: HashMap::new() }
    }

    /// Resolves what follows against another address. Only the first one that a page gives counts.
    pub fn rebase(&mut self, href: &str) {
        if self.has_own_base {
            return;
        }
        if let Ok(base) = Url::parse_with(href, self.base.as_ref()) {
            self.base = Some(base);
            self.has_own_base = true;
        }
    }

    /// The canonical form of an address on this page.
    pub fn resolve(&self, href: &str) -> Option<String> {
        canonical(href, self.base.as_ref())
    }

    /// Adds a link, and tells its place; nothing if it leads to no page or there are too many.
    pub fn add(&mut self, href: &str) -> Option<usize> {
        if self.urls.len() == MAX_LINKS {
            return None;
        }
        let url = self.resolve(href)?;
        let place = *self.places.entry(Signature::of(url.as_bytes())).or_insert(self.urls.len());
        if place == self.urls.len() {
            self.urls.push(url);
            self.anchors.push(String::new());
        }
        Some(place)
    }

    /// Says what the link at `place` is called; the first name that is not empty stays.
    pub fn describe(&mut self, place: usize, anchor: String) {
        if self.anchors[place].is_empty() {
            self.anchors[place] = anchor;
        }
    }

    /// The addresses, and what each is called.
    pub fn finish(self) -> (Vec<String>, Vec<String>) {
        (self.urls, self.anchors)
    }
}
