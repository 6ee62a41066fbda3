//! The section `[crawl]` of the settings, and the filters that decide which pages are kept.

use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Deserializer};

use super::fetching::politeness::Politeness;
use super::parsing::assets::Assets;
use super::parsing::convert;
use super::parsing::reach::ReachSettings;
use super::writing::duplicates::Rules;
use crate::frontier::VisitingOrder;
use crate::media::Format;
use crate::settings::{text, threads};
use crate::url::{CleanUp, TrapLimits, reason};
use crate::{Error, Result, fetch, sieve};

/// The section `[crawl]`; the settings are described in `crivello.settings.fields`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    #[serde(flatten)]
    pub(crate) politeness: Politeness,
    #[serde(flatten)]
    pub(crate) reach: ReachSettings,
    #[serde(flatten)]
    pub(crate) fetch: fetch::Options,
    #[serde(flatten)]
    pub(crate) traps: TrapLimits,
    #[serde(flatten)]
    pub(crate) clean_up: CleanUp,
    #[serde(flatten)]
    pub(crate) kept: Kept,
    #[serde(flatten)]
    pub(crate) duplicates: Rules,
    #[serde(flatten)]
    pub(crate) conversion: convert::Limits,
    #[serde(flatten)]
    pub(crate) sieve_options: sieve::Options,
    /// A sieve that is not native may have any name.
    pub(crate) sieve: String,
    /// In which order the URLs of a host are visited.
    pub(crate) visit: VisitingOrder,
    pub(crate) user_agent: String,
    /// The hosts from which nothing is fetched.
    #[serde(deserialize_with = "list")]
    pub(crate) block: Vec<String>,
    pub(crate) obey_robots: bool,
    pub(crate) cookies: bool,
    pub(crate) images: bool,
    pub(crate) feeds: bool,
    pub(crate) assets: Assets,
    pub(crate) sitemaps: bool,
    pub(crate) sitemap_urls: usize,
    pub(crate) sitemap_bytes: usize,
    pub(crate) retries: u32,
    pub(crate) connections: usize,
    pub(crate) workbench_hosts: usize,
    pub(crate) queue_memory: usize,
    #[serde(deserialize_with = "threads")]
    pub(crate) parsers: usize,
    // For limits, 0 means none.
    pub(crate) max_redirects: u32,
    pub(crate) max_chain: u32,
    pub(crate) max_per_host: u64,
    pub(crate) max_per_domain: u64,
    pub(crate) max_share: f64,
    pub(crate) max_pages: u64,
    pub(crate) max_volume: u64,
    pub(crate) max_queries: u16,
}

impl Settings {
    /// Whether a host is blocked, by its name or by name and port.
    pub(crate) fn blocks(&self, origin: &fetch::Origin) -> bool {
        self.block.iter().any(|name| *name == origin.host || *name == origin.authority())
    }
}

/// The settings of the page filters.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Kept {
    /// The media types, as `text/html` or `text/*`; empty: all.
    #[serde(deserialize_with = "list")]
    types: Vec<String>,
    /// The languages, as two-letter codes; empty: all.
    #[serde(deserialize_with = "list")]
    languages: Vec<String>,
    /// The minimum number of characters of text.
    min_text: usize,
    /// The maximum; 0: no limit.
    max_text: usize,
    /// A pattern that the title or the text must match.
    #[serde(deserialize_with = "text")]
    keep_matching: Option<String>,
    /// A pattern that neither may match.
    #[serde(deserialize_with = "text")]
    drop_matching: Option<String>,
}

fn list<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Vec<String>, D::Error> {
    let text = String::deserialize(from)?;
    Ok(text.split([',', ' ']).filter(|item| !item.is_empty()).map(str::to_ascii_lowercase).collect())
}

/// The memory limit of a compiled pattern.
const PATTERN_SIZE: usize = 1 << 20;

/// The page filters, compiled.
#[derive(Debug)]
pub struct Filters {
    kept: Kept,
    keep: Option<Regex>,
    drop: Option<Regex>,
}

impl Filters {
    /// Compiles the patterns.
    pub fn new(kept: &Kept) -> Result<Filters> {
        let compiled = |text: &String| {
            RegexBuilder::new(text).size_limit(PATTERN_SIZE).build().map_err(|error| {
                Error::Invalid(format!("the pattern {text} is not a regular expression: {}", reason(&error)))
            })
        };
        Ok(Filters {
            keep: kept.keep_matching.as_ref().map(compiled).transpose()?,
            drop: kept.drop_matching.as_ref().map(compiled).transpose()?,
            kept: kept.clone(),
        })
    }

    /// Why a response of this type is not kept.
    pub fn refuse_type(&self, media_type: Option<&str>) -> Option<String> {
        let kind = media_type.unwrap_or(Format::of(None).name());
        let group = kind.split('/').next().unwrap_or_default();
        let allowed = |pattern: &String| {
            pattern == kind || pattern.strip_suffix("/*").is_some_and(|wanted| wanted == group)
        };
        (!self.kept.types.is_empty() && !self.kept.types.iter().any(allowed))
            .then(|| format!("its type is {kind}"))
    }

    /// Why a page with this text is not kept.
    pub fn refuse_text(&self, language: Option<&str>, title: &str, text: &str) -> Option<String> {
        let wanted = |language| self.kept.languages.iter().any(|wanted| wanted == language);
        if !self.kept.languages.is_empty() && !language.is_some_and(wanted) {
            return Some(format!("its language is {}", language.unwrap_or("not known")));
        }
        let says = |wish: &Regex| wish.is_match(title) || wish.is_match(text);
        if self.keep.as_ref().is_some_and(|wish| !says(wish)) {
            return Some("it does not match keep_matching".to_owned());
        }
        if self.drop.as_ref().is_some_and(says) {
            return Some("it matches drop_matching".to_owned());
        }
        if self.kept.min_text == 0 && self.kept.max_text == 0 {
            return None;
        }
        let length = text.chars().count();
        let fits = length >= self.kept.min_text && (self.kept.max_text == 0 || length <= self.kept.max_text);
        (!fits).then(|| format!("its text has {length} characters"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_wishes_everything_is_kept() {
        let filters = Filters::new(&Kept::default()).unwrap();
        assert_eq!(filters.refuse_type(Some("image/png")), None);
        assert_eq!(filters.refuse_text(None, "", ""), None);
    }

    #[test]
    fn each_wish_counts() {
        let section = r#"{"types": "text/*, Application/PDF", "languages": "it", "min_text": 3, "max_text": 5,
            "keep_matching": " (?i)C|O|s ", "drop_matching": "vietat[oi]"}"#;
        let filters = Filters::new(&serde_json::from_str(section).unwrap()).unwrap();
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
        let wrong = Kept { drop_matching: Some("(".to_owned()), ..Kept::default() };
        assert!(Filters::new(&wrong).unwrap_err().to_string().contains("( is not a regular expression"));
    }
}
