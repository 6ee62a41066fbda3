//! The links of a page: each URL once, in page order, with its first non-empty anchor text.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rustc_hash::FxBuildHasher;

use crate::Signature;
use crate::url::{Base, Url, canonical};

/// The most links taken from a page; a page with more is a spider trap or a dump.
pub const MAX_LINKS: usize = 10_000;

/// What the author of a page says of a link, strongest first: of several links to a URL, the strongest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Vouch {
    /// Nothing.
    Full,
    /// It is followed, but the author does not vouch for it (`ugc`, `sponsored`).
    None,
    /// It is not to be followed (`nofollow`).
    NoFollow,
}

/// The links of a page.
#[derive(Default)]
pub struct Found {
    /// The URLs that may be followed.
    pub urls: Vec<String>,
    /// The anchor text of each.
    pub anchors: Vec<String>,
    /// Whether the page vouches for each.
    pub vouched: Vec<bool>,
    /// The URLs that may not be followed.
    pub nofollow: Vec<String>,
}

/// The links found so far.
pub struct Links {
    /// The maximum number of links.
    most: usize,
    base: Option<Base>,
    has_own_base: bool,
    urls: Vec<String>,
    anchors: Vec<String>,
    vouches: Vec<Vouch>,
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
            vouches: Vec::new(),
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
        self.add_as(href, Vouch::Full)
    }

    /// Adds a link of which the author says `vouch`.
    pub fn add_as(&mut self, href: &str, vouch: Vouch) -> Option<usize> {
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
            Entry::Occupied(known) => {
                let place = *known.get();
                self.vouches[place] = self.vouches[place].min(vouch);
                Some(place)
            }
            Entry::Vacant(new) => {
                let place = *new.insert(self.urls.len());
                self.urls.push(self.address.as_str().to_owned());
                self.anchors.push(String::new());
                self.vouches.push(vouch);
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

    /// The links; with `nofollow` none may be followed.
    pub fn finish(self, nofollow: bool) -> Found {
        let mut found = Found::default();
        for ((url, anchor), vouch) in self.urls.into_iter().zip(self.anchors).zip(self.vouches) {
            if nofollow || vouch == Vouch::NoFollow {
                found.nofollow.push(url);
            } else {
                found.urls.push(url);
                found.anchors.push(anchor);
                found.vouched.push(vouch == Vouch::Full);
            }
        }
        found
    }
}
