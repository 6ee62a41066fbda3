//! Sitemaps in a crawl: which are fetched, and what their entries become.
//!
//! A host's sitemaps are those that its robots.txt names, or else `/sitemap.xml`. They are links of the first
//! page that is fetched from the host, one level below it, and so go through the sieve; entries are links one
//! level further down. A sitemap is fetched even if it is outside the folder or the host of the seeds; its
//! entries are followed only in scope.
//!
//! A sitemap may speak for its own registrable domain, and for the hosts whose robots.txt names it (the
//! protocol's cross-submission): only for these the date of an entry is a signal that the page changed. Who
//! names a foreign sitemap is kept in memory for [`MOST_SUBMITTED`] of them, about 100 bytes each; it is read
//! again from robots.txt in each run.

use super::reach::Reach;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::{Parser, origin};
use crate::Signature;
use crate::collection::{Outcome, Row};
use crate::crawl::tag::Tag;
use crate::crawl::work::{Found, Parsed};
use crate::encoding;
use crate::fetch::Response;
use crate::media::essence;
use crate::parse::sitemap::{Limits, Sitemap, read};
use crate::url::{domain, host_of};

/// The path where a sitemap is looked for if robots.txt names none.
pub const USUAL: &str = "/sitemap.xml";
/// The maximum number of sitemaps taken from a robots.txt.
pub const MOST_NAMED: usize = 1000;
/// The maximum number of sitemaps on foreign domains of which it is known who names them.
const MOST_SUBMITTED: usize = 10_000;
/// A compressed sitemap decodes to at most about this many times its size.
const EXPANSION: usize = 32;

/// The domains that name a sitemap on another domain in their robots.txt, by the signature of its URL.
#[derive(Default)]
pub struct Submissions(Mutex<HashMap<Signature, Vec<Box<str>>>>);

impl Submissions {
    /// Records that `owner` names the sitemap at `url`.
    fn add(&self, url: &str, owner: &str) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = Signature::of(url.as_bytes());
        if known.len() >= MOST_SUBMITTED && !known.contains_key(&key) {
            return;
        }
        let owners = known.entry(key).or_default();
        if !owners.iter().any(|other| **other == *owner) {
            owners.push(owner.into());
        }
    }

    fn owners(&self, url: &str) -> Vec<Box<str>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&Signature::of(url.as_bytes())).cloned().unwrap_or_default()
    }
}

/// Whether a URL is by its name that of a sitemap, which may be larger than a page.
pub fn is_named(url: &str) -> bool {
    let path = &url[origin(url).len()..];
    let name = path.split('?').next().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
    name.to_ascii_lowercase().contains("sitemap")
}

/// The memory that a sitemap of this size may take once it is read.
pub fn size_in_memory(body: &[u8], limit: usize) -> usize {
    if is_gzip(body) { body.len().saturating_mul(EXPANSION).min(limit) } else { body.len() * 2 }
}

fn is_gzip(body: &[u8]) -> bool {
    body.starts_with(b"\x1f\x8b")
}

impl Parser {
    /// The maximum size of a body: sitemaps have their own.
    pub(super) fn max_bytes(&self, url: &str) -> usize {
        let settings = &self.plan.crawl;
        let most = if settings.sitemaps && is_named(url) { settings.sitemap_bytes } else { 0 };
        settings.fetch.max_bytes.max(most)
    }

    /// Adds the sitemaps of the page's host, which arrive with its first page.
    pub(super) fn add_sitemaps(&self, sitemaps: &[String], reach: &Reach, parsed: &mut Parsed) {
        let page = &parsed.work.url;
        let depth = parsed.work.tag.depth + 1;
        // The entries are one level further down.
        if reach.allows(page).is_err() || !reach.is_within(depth + 1) {
            return;
        }
        let own = domain(host_of(page));
        for url in sitemaps {
            if domain(host_of(url)) != own {
                self.submissions.add(url, own);
            }
            let tag = Tag { depth, ..Tag::default() };
            parsed.found.push(Found { url: url.clone(), anchor: String::new(), tag });
        }
    }

    /// Reads a response as a sitemap; returns whether it is one, or says that there is none at the usual place.
    /// `decoded` is its body if it was decoded already.
    pub(super) fn take_sitemap(
        &self,
        response: &Response,
        decoded: Option<&[u8]>,
        row: &mut Row,
        parsed: &mut Parsed,
    ) -> bool {
        let sitemap = (response.status == 200).then(|| self.sitemap(&row.url, response, decoded)).flatten();
        let is_guess = row.url.strip_prefix(origin(&row.url)) == Some(USUAL);
        if let Some(sitemap) = sitemap {
            self.follow_sitemap(sitemap, &self.reach(), row, parsed);
        } else if is_guess && matches!(response.status, 200 | 400..=499) {
            row.detail = "there is none".to_owned();
        } else {
            return false;
        }
        row.outcome = Outcome::Sitemap;
        true
    }

    /// The sitemap in a response, if it is one; `decoded` is its body if it was decoded already.
    fn sitemap(&self, url: &str, response: &Response, decoded: Option<&[u8]>) -> Option<Sitemap> {
        let settings = &self.plan.crawl;
        let content_type = response.header("content-type");
        let encodings = response.header("content-encoding").unwrap_or_default();
        let mut body = match decoded {
            Some(body) => body.into(),
            None if may_be_sitemap(content_type) => {
                encoding::decode(&response.body, encodings, settings.sitemap_bytes).ok()?
            }
            None => return None,
        };
        if is_gzip(&body) {
            body = encoding::gunzip(&body, settings.sitemap_bytes).into();
        }
        let body = &body[..body.len().min(settings.sitemap_bytes)];
        read(body, url, content_type, Limits { entries: settings.sitemap_urls, images: settings.images })
    }

    /// Follows the entries of a sitemap.
    fn follow_sitemap(&self, sitemap: Sitemap, reach: &Reach, row: &mut Row, parsed: &mut Parsed) {
        let (named, cut) = (sitemap.entries.len(), sitemap.cut);
        let owners = self.submissions.owners(&row.url);
        let site = domain(host_of(&row.url));
        let work = parsed.work.tag;
        // A chain of indexes is limited like one of redirects.
        let too_long = sitemap.is_index && work.redirects >= self.plan.crawl.max_redirects;
        let tag = match sitemap.is_index {
            true => Tag { redirects: work.redirects + 1, ..work },
            false => Tag { depth: work.depth + 1, ..Tag::default() },
        };
        let deep = !reach.is_within(tag.depth);
        for entry in sitemap.entries {
            let of = domain(host_of(&entry.url));
            let speaks_for = of == site || owners.iter().any(|owner| **owner == *of);
            let mut url = entry.url;
            crate::url::clean(&mut url, &self.plan.crawl.clean_up);
            let follow = if sitemap.is_index { speaks_for } else { reach.allows(&url).is_ok() };
            if deep || too_long || !follow {
                continue;
            }
            if sitemap.is_index {
                owners.iter().for_each(|owner| self.submissions.add(&url, owner));
            } else if let Some(lastmod) = entry.lastmod.filter(|_| speaks_for) {
                parsed.signals.push((url.clone(), lastmod));
            }
            parsed.found.push(Found { url, anchor: entry.title, tag });
        }
        let what = if sitemap.is_index { "sitemaps" } else { "URLs" };
        let more = if cut { " and more" } else { "" };
        row.detail = format!(
            "it names {named}{more} {what}, {} of them followed, {} with a date",
            parsed.found.len(),
            parsed.signals.len()
        );
    }
}

/// Whether a body with a declared type that has no text may be a sitemap all the same.
fn may_be_sitemap(content_type: Option<&str>) -> bool {
    let kind = content_type.and_then(essence).unwrap_or_default();
    kind.is_empty() || ["xml", "gzip", "octet-stream"].iter().any(|ending| kind.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sitemaps_are_told_by_their_names() {
        for url in ["http://a.example/sitemap.xml", "http://a.example/x/News-Sitemap_2.xml.gz?x=/y"] {
            assert!(is_named(url), "{url}");
        }
        for url in ["http://sitemap.example/", "http://a.example/sitemap/x", "http://a.example/?sitemap"] {
            assert!(!is_named(url), "{url}");
        }
    }

    #[test]
    fn a_sitemap_speaks_for_those_who_name_it() {
        let submissions = Submissions::default();
        submissions.add("http://b.example/s.xml", "a.example");
        submissions.add("http://b.example/s.xml", "a.example");
        assert_eq!(submissions.owners("http://b.example/s.xml"), ["a.example".into()]);
        assert!(submissions.owners("http://b.example/t.xml").is_empty());
    }
}
