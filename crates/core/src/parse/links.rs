//! The links of a page: each address once, in page order, with the first text that somebody clicks on.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rustc_hash::FxBuildHasher;

use crate::Signature;
use crate::url::{Base, Url, canonical};

/// The most links that are taken from a page; what has more is a trap or a dump.
pub const MAX_LINKS: usize = 10_000;

/// The links found so far.
pub struct Links {
    /// How many are taken.
    most: usize,
    base: Option<Base>,
    has_own_base: bool,
    urls: Vec<String>,
    anchors: Vec<String>,
    places: HashMap<Signature, usize, FxBuildHasher>,
    /// The address that is being looked at.
    address: String,
}

impl Links {
    /// The links of a page at `base`.
    pub fn new(base: Option<Url>) -> Links {
        Links {
            most: MAX_LINKS,
            base: base.map(Base::new),
            has_own_base: false,
            urls: Vec::new(),
            anchors: Vec::new(),
            places: HashMap::default(),
            address: String::new(),
        }
    }

    /// No links, whatever the page has: for those who want its text alone.
    pub fn none() -> Links {
        Links { most: 0, ..Links::new(None) }
    }

    /// Resolves what follows against another address. Only the first one that a page gives counts.
    pub fn rebase(&mut self, href: &str) {
        if self.has_own_base {
            return;
        }
        let base = self.base.as_ref().map(Base::url);
        if let Ok(base) = Url::parse_with(href, base) {
            self.base = Some(Base::new(base));
            self.has_own_base = true;
        }
    }

    /// The canonical form of an address on this page.
    pub fn resolve(&self, href: &str) -> Option<String> {
        canonical(href, self.base.as_ref().map(Base::url))
    }

    /// Adds a link, and tells its place; nothing if it leads to no page or there are too many.
    pub fn add(&mut self, href: &str) -> Option<usize> {
        if self.urls.len() == self.most {
            return None;
        }
        let is_page = match &self.base {
            Some(base) => base.resolve(href, &mut self.address),
            None => canonical(href, None).is_some_and(|url| {
                self.address = url;
                true
            }),
        };
        if !is_page {
            return None;
        }
        match self.places.entry(Signature::of(self.address.as_bytes())) {
            Entry::Occupied(known) => Some(*known.get()),
            Entry::Vacant(new) => {
                let place = *new.insert(self.urls.len());
                self.urls.push(self.address.as_str().to_owned());
                self.anchors.push(String::new());
                Some(place)
            }
        }
    }

    /// Says what the link at `place` is called; the first name that is not empty stays.
    pub fn describe(&mut self, place: usize, name: impl FnOnce() -> String) {
        if self.anchors[place].is_empty() {
            self.anchors[place] = name();
        }
    }

    /// The addresses, and what each is called.
    pub fn finish(self) -> (Vec<String>, Vec<String>) {
        (self.urls, self.anchors)
    }
}
