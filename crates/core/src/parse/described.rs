//! What a page says of itself for machines: when it was written, and what it is about.
//!
//! From `<meta>` (Dublin Core, Open Graph, Highwire), microdata, and JSON-LD of schema.org. JSON-LD is scanned for
//! a few keys instead of being parsed: scripts are often not quite JSON, and the first value counts.

use super::flow::{Flow, prefix};
use crate::calendar::day;

/// The most bytes of a description.
const DESCRIPTION: usize = 1 << 16;

const MODIFIED: [&str; 7] = [
    "article:modified_time",
    "og:updated_time",
    "datemodified",
    "last-modified",
    "dcterms.modified",
    "dc.date.modified",
    "revised",
];
const PUBLISHED: [&str; 10] = [
    "date",
    "article:published_time",
    "datepublished",
    "pubdate",
    "dc.date",
    "dc.date.issued",
    "dcterms.date",
    "dcterms.created",
    "citation_publication_date",
    "publish-date",
];
const ABOUT: [&str; 4] = ["description", "og:description", "articlebody", "dcterms.abstract"];

/// What a page says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Described {
    modified: Option<u32>,
    published: Option<u32>,
    /// The longest description.
    pub about: String,
}

impl Described {
    /// When the page was written or changed last, in days since 1970-01-01.
    pub fn day(&self) -> Option<u32> {
        self.modified.max(self.published)
    }

    /// Takes in a property of the page.
    pub fn add(&mut self, name: &str, value: &str) {
        let is = |known: &&str| known.eq_ignore_ascii_case(name);
        if MODIFIED.iter().any(&is) {
            self.modified = self.modified.or_else(|| start_of(value));
        } else if PUBLISHED.iter().any(&is) {
            self.published = self.published.or_else(|| start_of(value));
        } else if ABOUT.iter().any(is) && value.len() > self.about.len() {
            let mut about = Flow::default();
            about.push(prefix(value, DESCRIPTION));
            self.about = about.finish();
        }
    }

    /// Takes in a script of JSON-LD.
    pub fn add_json(&mut self, script: &str) {
        for key in ["dateModified", "datePublished", "description", "articleBody"] {
            if let Some(value) = value(script, key) {
                self.add(key, &value);
            }
        }
    }
}

/// The day at the start of a timestamp.
fn start_of(value: &str) -> Option<u32> {
    let value = value.trim();
    let date = value.get(..10).unwrap_or(value).replace('/', "-");
    day(date.split(['T', ' ']).next()?)
}

/// The string that follows the first occurrence of a key.
fn value(script: &str, key: &str) -> Option<String> {
    let quoted = format!("\"{key}\"");
    let rest = script[script.find(&quoted)? + quoted.len()..].trim_start().strip_prefix(':')?.trim_start();
    let mut strings = serde_json::Deserializer::from_str(rest).into_iter::<serde_json::Value>();
    match strings.next()?.ok()? {
        serde_json::Value::String(text) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(properties: &[(&str, &str)]) -> Described {
        let mut described = Described::default();
        properties.iter().for_each(|(name, value)| described.add(name, value));
        described
    }

    #[test]
    fn the_newest_date_counts() {
        let day = |properties| described(properties).day();
        assert_eq!(day(&[]), None);
        assert_eq!(day(&[("date", "1970-01-03T10:00:00Z")]), Some(2));
        assert_eq!(day(&[("Article:Published_Time", "1970-01-03"), ("dateModified", "1970/01/05")]), Some(4));
        assert_eq!(day(&[("date", "yesterday"), ("dc.date", "1971")]), Some(365));
    }

    #[test]
    fn json_need_not_be_whole() {
        let mut found = Described::default();
        found.add_json(
            r#"{"@type": "Article", "datePublished" : "1970-01-09T00:00", "description": "Of \u00e9 <b>",}"#,
        );
        assert_eq!((found.day(), found.about.as_str()), (Some(8), "Of é <b>"));
        for broken in
            ["", "\"dateModified\"", "\"dateModified\": [", "{\"description\": 7}", "\"description\": \"x"]
        {
            let mut found = Described::default();
            found.add_json(broken);
            assert_eq!(found, Described::default(), "{broken}");
        }
    }
}
