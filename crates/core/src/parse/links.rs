//! The links of a page: each URL once, in page order, with its first non-empty anchor text.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rustc_hash::FxBuildHasher;

use crate::Signature;
use crate::url::{Base, Url, canonical};

/// The most links taken from a page; a page with more is a spider trap or a dump.
pub const MAX_LINKS: usize = 10_000;

/// The links found so far.
pub struct Links {
    /// The maximum number of links.
    most: usize,
    base: Option<Base>,
    has_own_base: bool,
    urls: Vec<String>,
    anchors: Vec<String>,
    places: HashMap<Signature, usize, FxBuildHasher>,
    /// A buffer for the current URL.
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

    /// No links, whatever the page has: for callers that only need its text.
    pub fn none() -> Links {
        Links { most: 0, ..Links::new(None) }
    }

    /// Changes the base URL for the links that follow. Only the first one of a page counts.
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

    /// The canonical form of a URL on this page.
    pub fn resolve(&self, href: &str) -> Option<String> {
        canonical(href, self.base.as_ref().map(Base::url))
    }

    /// Adds a link and returns its index; `None` if it leads to no page or there are too many.
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

    /// Sets the anchor text of the link at `place`; the first non-empty one is kept.
    pub fn describe(&mut self, place: usize, name: impl FnOnce() -> String) {
        if self.anchors[place].is_empty() {
            self.anchors[place] = name();
        }
    }

    /// The URLs, and the anchor text of each.
    pub fn finish(self) -> (Vec<String>, Vec<String>) {
        (self.urls, self.anchors)
    }
}
