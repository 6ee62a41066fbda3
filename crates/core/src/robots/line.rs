//! The lines of a robots.txt.
//!
//! A line ends with LF, CR or CRLF, has a field and a value separated by a colon (or, as people write, only
//! by white space), and a comment from `#` on. Unknown fields are ignored.

/// The field of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    UserAgent,
    Allow,
    Disallow,
    CrawlDelay,
    RequestRate,
    Sitemap,
}

impl Field {
    /// The field with a name in any case, including common misspellings.
    fn of(name: &[u8]) -> Option<Field> {
        const NAMES: [(&str, Field); 17] = [
            ("user-agent", Field::UserAgent),
            ("useragent", Field::UserAgent),
            ("user agent", Field::UserAgent),
            ("allow", Field::Allow),
            ("disallow", Field::Disallow),
            ("dissallow", Field::Disallow),
            ("dissalow", Field::Disallow),
            ("disalow", Field::Disallow),
            ("diasllow", Field::Disallow),
            ("disallaw", Field::Disallow),
            ("crawl-delay", Field::CrawlDelay),
            ("crawldelay", Field::CrawlDelay),
            ("crawl delay", Field::CrawlDelay),
            ("request-rate", Field::RequestRate),
            ("sitemap", Field::Sitemap),
            ("sitemaps", Field::Sitemap),
            ("site-map", Field::Sitemap),
        ];
        let known = NAMES.iter().find(|(known, _)| name.eq_ignore_ascii_case(known.as_bytes()));
        known.map(|(_, field)| *field)
    }
}

/// A line with a known field.
pub struct Line<'a> {
    /// Counted from 1.
    pub number: u32,
    pub field: Field,
    pub value: &'a [u8],
}

/// An iterator over the lines with known fields.
pub struct Lines<'a> {
    rest: &'a [u8],
    number: u32,
}

impl<'a> Lines<'a> {
    pub fn new(body: &'a [u8]) -> Lines<'a> {
        Lines { rest: body, number: 0 }
    }

    fn next_text(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        self.number += 1;
        let end = memchr::memchr2(b'\r', b'\n', self.rest).unwrap_or(self.rest.len());
        let (text, after) = self.rest.split_at(end);
        self.rest = after.strip_prefix(b"\r\n").or(after.get(1..)).unwrap_or_default();
        Some(text)
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        while let Some(text) = self.next_text() {
            let text = &text[..memchr::memchr(b'#', text).unwrap_or(text.len())];
            if let Some((field, value)) = parts(text.trim_ascii()) {
                return Some(Line { number: self.number, field, value });
            }
        }
        None
    }
}

fn parts(text: &[u8]) -> Option<(Field, &[u8])> {
    let split = |place: usize| (text[..place].trim_ascii_end(), text[place + 1..].trim_ascii_start());
    if let Some(colon) = memchr::memchr(b':', text) {
        let (name, value) = split(colon);
        if let Some(field) = Field::of(name) {
            return Some((field, value));
        }
    }
    let (name, value) = split(text.iter().position(u8::is_ascii_whitespace)?);
    Some((Field::of(name)?, value))
}
