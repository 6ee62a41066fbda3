//! What a crawl is told.

use std::collections::BTreeMap;
use std::path::PathBuf;

use regex::Regex;

use super::fetching::politeness::Politeness;
use crate::fetch;
use crate::url::{CleanUp, TrapLimits};

/// The settings of a crawl; what each means is said in `crivello.settings`.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How requests are made.
    pub fetch: fetch::Options,
    /// The manners.
    pub politeness: Politeness,
    /// The name that robots.txt files know.
    pub agent: String,
    /// Whether robots.txt is respected.
    pub obey_robots: bool,
    /// How many hosts are fetched from at once.
    pub connections: usize,
    /// How many hosts are in the workbench.
    pub workbench_hosts: usize,
    /// How many bytes of responses may wait to be parsed and written.
    pub queue_bytes: usize,
    /// How many threads parse.
    pub parsers: usize,
    /// How often a failed request is tried again.
    pub retries: u32,
    /// How long a chain of redirects may be.
    pub max_redirects: u32,
    /// How far from a seed links are followed; 0: no limit.
    pub max_depth: u32,
    /// How many links in a row of one shape are followed.
    pub max_chain: u32,
    /// How many pages of a host are fetched; 0: no limit.
    pub max_per_host: u64,
    /// Which share of the pages a host may have; 0: no limit.
    pub max_share: f64,
    /// How many pages are fetched in this run; 0: no limit.
    pub max_pages: u64,
    /// How many bytes are fetched in this run; 0: no limit.
    pub max_volume: u64,
    /// How long a body may be, as sent and as decoded.
    pub max_bytes: usize,
    /// How many different queries of a path are followed.
    pub max_queries: u16,
    /// What makes a URL look like a trap.
    pub traps: TrapLimits,
    /// How URLs are cleaned up.
    pub clean_up: CleanUp,
    /// The filters between fetching and the store.
    pub filters: Filters,
    /// Whether cookies are kept and sent back.
    pub cookies: bool,
    /// Whether images are links, too.
    pub srcset: bool,
    /// Up to which distance pages are near-duplicates.
    pub near_distance: u32,
    /// The command that turns a document into text, before its media type.
    pub converter: Vec<String>,
    /// The converters from outside: media types with the names of the extensions that turn them into text.
    pub converters: BTreeMap<String, String>,
    /// The collection.
    pub folder: PathBuf,
    /// What the archive's files say who made them.
    pub software: String,
}

/// Which pages are kept.
#[derive(Clone, Debug, Default)]
pub struct Filters {
    /// The media types, as `text/html` or `text/*`; none: all.
    pub types: Vec<String>,
    /// The languages, as two letters; none: all.
    pub languages: Vec<String>,
    /// The fewest characters of text that a page has.
    pub min_text: usize,
    /// The most; 0: no limit.
    pub max_text: usize,
    /// What the title or the text must hold.
    pub keep: Option<Regex>,
    /// What neither may hold.
    pub drop: Option<Regex>,
}

impl Filters {
    /// Why a response of this type is not kept.
    pub fn refuse_type(&self, media_type: Option<&str>) -> Option<String> {
        let kind = media_type.unwrap_or("text/html");
        let group = kind.split('/').next().unwrap_or_default();
        let allowed = |pattern: &String| {
            pattern == kind || pattern.strip_suffix("/*").is_some_and(|wanted| wanted == group)
        };
        (!self.types.is_empty() && !self.types.iter().any(allowed)).then(|| format!("its type is {kind}"))
    }

    /// Why a page with this text is not kept.
    pub fn refuse_text(&self, language: Option<&str>, title: &str, text: &str) -> Option<String> {
        let wanted = |language| self.languages.iter().any(|wanted| wanted == language);
        if !self.languages.is_empty() && !language.is_some_and(wanted) {
            return Some(format!("its language is {}", language.unwrap_or("not known")));
        }
        let says = |wish: &Regex| wish.is_match(title) || wish.is_match(text);
        if self.keep.as_ref().is_some_and(|wish| !says(wish)) {
            return Some("it does not match keep_matching".to_owned());
        }
        if self.drop.as_ref().is_some_and(says) {
            return Some("it matches drop_matching".to_owned());
        }
        if self.min_text == 0 && self.max_text == 0 {
            return None;
        }
        let length = text.chars().count();
        let fits = length >= self.min_text && (self.max_text == 0 || length <= self.max_text);
        (!fits).then(|| format!("its text has {length} characters"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_wishes_everything_is_kept() {
        let filters = Filters::default();
        assert_eq!(filters.refuse_type(Some("image/png")), None);
        assert_eq!(filters.refuse_text(None, "", ""), None);
    }

    #[test]
    fn each_wish_counts() {
        let filters = Filters {
            types: vec!["text/*".into(), "application/pdf".into()],
            languages: vec!["it".into()],
            min_text: 3,
            max_text: 5,
            keep: Some(Regex::new("(?i)C|O|s").unwrap()),
            drop: Some(Regex::new("vietat[oi]").unwrap()),
        };
        assert_eq!(filters.refuse_type(Some("text/html")), None);
        assert_eq!(filters.refuse_type(None), None);
        assert_eq!(filters.refuse_type(Some("textile/html")).as_deref(), Some("its type is textile/html"));
        assert_eq!(filters.refuse_text(Some("it"), "", "città"), None);
        assert_eq!(filters.refuse_text(Some("en"), "", "città").as_deref(), Some("its language is en"));
        assert_eq!(filters.refuse_text(Some("it"), "", "sì").as_deref(), Some("its text has 2 characters"));
        assert_eq!(
            filters.refuse_text(Some("it"), "", "troppo").as_deref(),
            Some("its text has 6 characters")
        );
        let refused = |title, text| filters.refuse_text(Some("it"), title, text);
        assert_eq!(refused("mai", "mai").as_deref(), Some("it does not match keep_matching"));
        assert_eq!(refused("È vietato", "città").as_deref(), Some("it matches drop_matching"));
    }
}
