//! robots.txt (RFC 9309): which URLs of a host a crawler may fetch.
//!
//! [`Robots`] keeps only the rules of the crawler's group: those of every group that names its product token,
//! or else those of every group for `*`. Its verdict is that of the RFC: of all rules that match the path and
//! query, the one with the most octets decides, and `allow` wins a tie. The rules are sorted in that order
//! when parsed, so the first match decides. Memory: the patterns in one buffer, 8 bytes per rule, and the
//! sitemap URLs in one buffer. Time: linear in the lengths of the pattern and the URL for each rule, however
//! many `*` it has.

mod line;
mod pattern;

use std::time::Duration;

use line::{Field, Lines};

/// How many bytes of a robots.txt are parsed (the minimum that RFC 9309, 2.5, asks for).
pub const MAX_BYTES: usize = 500 * 1024;

/// The rules of a host for one crawler.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Robots {
    /// The patterns of all rules, concatenated.
    patterns: Box<[u8]>,
    /// The rules in order of precedence.
    rules: Box<[Rule]>,
    /// The sitemap URLs, one per line.
    sitemaps: Box<str>,
    delay: Option<Duration>,
}

/// A rule: the end of its pattern, and its line number shifted by one, whose lowest bit says whether it
/// allows.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rule {
    end: u32,
    line_and_kind: u32,
}

/// Whether a URL may be fetched, and which rule decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether it may be fetched.
    pub allowed: bool,
    /// The line of robots.txt that decided, counted from 1; `None` if no rule matched.
    pub line: Option<u32>,
    /// The rule on that line, in its normal form.
    pub rule: Option<String>,
}

impl Robots {
    /// Parses the rules for the crawler with this product token, or with a User-Agent that begins with it.
    pub fn parse(body: &[u8], agent: &str) -> Robots {
        let token = product_token(agent.as_bytes());
        let body = whole_lines(body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body));
        let best = Lines::new(body)
            .filter(|line| line.field == Field::UserAgent)
            .filter_map(|line| specificity(line.value, token))
            .max();
        let mut found: Vec<(u32, bool, Vec<u8>)> = Vec::new();
        let mut sitemaps = String::new();
        let mut delay: Option<Duration> = None;
        // Whether the group applies to us, and whether its user agents have been followed by a rule.
        let (mut ours, mut has_rules) = (false, true);
        for line in Lines::new(body) {
            match line.field {
                Field::UserAgent => {
                    ours = specificity(line.value, token).is_some_and(|found| Some(found) == best)
                        || (ours && !has_rules);
                    has_rules = false;
                }
                Field::Allow | Field::Disallow => {
                    has_rules = true;
                    if ours && let Some(pattern) = pattern::normal_rule(line.value) {
                        found.push((line.number, line.field == Field::Allow, pattern));
                    }
                }
                Field::CrawlDelay if ours => delay = delay.max(crawl_delay(line.value)),
                Field::RequestRate if ours => delay = delay.max(request_rate(line.value)),
                Field::Sitemap => {
                    sitemaps.push_str(&String::from_utf8_lossy(line.value));
                    sitemaps.push('\n');
                }
                _ => {}
            }
        }
        found.sort_by_key(|(_, allows, pattern)| (std::cmp::Reverse(pattern.len()), !allows));
        found.dedup_by(|later, first| (later.1, &later.2) == (first.1, &first.2));
        let mut patterns = Vec::with_capacity(found.iter().map(|(_, _, pattern)| pattern.len()).sum());
        let rules = found.iter().map(|(line, allows, pattern)| {
            patterns.extend_from_slice(pattern);
            Rule { end: patterns.len() as u32, line_and_kind: line << 1 | u32::from(*allows) }
        });
        let rules = rules.collect();
        Robots { patterns: patterns.into(), rules, sitemaps: sitemaps.into(), delay }
    }

    /// No rules: everything may be fetched, as for a host without robots.txt.
    pub fn allow_all() -> Robots {
        Robots::default()
    }

    /// The verdict on a canonical URL. robots.txt itself may always be fetched.
    pub fn allows(&self, url: &str) -> Verdict {
        let address = url.split_once("://").map_or(url, |(_, address)| address);
        let path = address.find(['/', '?']).map_or("", |start| &address[start..]);
        let undecided = |allowed| Verdict { allowed, line: None, rule: None };
        if path.split(['?', '#']).next() == Some("/robots.txt") {
            return undecided(true);
        }
        if self.rules.is_empty() {
            return undecided(true);
        }
        let path = pattern::normal_path(path);
        let mut start = 0;
        for rule in &self.rules {
            let pattern = &self.patterns[start..rule.end as usize];
            start = rule.end as usize;
            if pattern::matches(pattern, &path) {
                let allowed = rule.line_and_kind & 1 == 1;
                let field = if allowed { "Allow" } else { "Disallow" };
                return Verdict {
                    allowed,
                    line: Some(rule.line_and_kind >> 1),
                    rule: Some(format!("{field}: {}", String::from_utf8_lossy(pattern))),
                };
            }
        }
        undecided(true)
    }

    /// The delay between two requests: the longer of Crawl-delay and Request-rate. Neither is in the RFC.
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.delay
    }

    /// The sitemap URLs as written; they apply to every crawler.
    pub fn sitemaps(&self) -> impl Iterator<Item = &str> {
        self.sitemaps.lines()
    }

    /// The memory it takes in bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(self) + size_of_val(&*self.rules) + self.patterns.len() + self.sitemaps.len()
    }
}

/// The part of a body that is parsed: at most [`MAX_BYTES`], without a truncated last line.
fn whole_lines(body: &[u8]) -> &[u8] {
    let Some(start) = body.get(..MAX_BYTES) else { return body };
    if body.len() == MAX_BYTES || matches!(body[MAX_BYTES], b'\r' | b'\n') {
        return start;
    }
    &start[..memchr::memrchr2(b'\r', b'\n', start).map_or(0, |end| end + 1)]
}

/// The product token at the start of a User-Agent. The RFC allows no digits in it; some crawlers have them.
fn product_token(text: &[u8]) -> &[u8] {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    &text[..text.iter().position(|byte| !is_part(byte)).unwrap_or(text.len())]
}

/// How specifically a `User-agent` line matches a crawler: the length of the name, 0 for `*`. The name `news`
/// also matches `news-images`, unless there is a group for that.
fn specificity(value: &[u8], token: &[u8]) -> Option<usize> {
    if value.first() == Some(&b'*') {
        return Some(0);
    }
    let name = product_token(value);
    let start = token.get(..name.len()).filter(|_| !name.is_empty())?;
    let ends = matches!(token.get(name.len()), None | Some(b'-'));
    (ends && start.eq_ignore_ascii_case(name)).then_some(name.len())
}

fn crawl_delay(value: &[u8]) -> Option<Duration> {
    let seconds = std::str::from_utf8(value).ok()?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// The time for one request at a rate such as `1/5`, `30/1m` or `1/10s 0600-0845`.
fn request_rate(value: &[u8]) -> Option<Duration> {
    let rate = std::str::from_utf8(value).ok()?.split_ascii_whitespace().next()?;
    let (requests, time) = rate.split_once('/')?;
    let unit = time.trim_start_matches(|character: char| character.is_ascii_digit());
    let factor = match unit {
        "" | "s" | "S" => 1,
        "m" | "M" => 60,
        "h" | "H" => 3600,
        "d" | "D" => 86400,
        _ => return None,
    };
    let requests: u32 = requests.parse().ok().filter(|&requests| requests > 0)?;
    let time: u32 = time[..time.len() - unit.len()].parse().ok()?;
    Some(Duration::from_secs(u64::from(time) * factor) / requests)
}

#[cfg(test)]
mod tests;
