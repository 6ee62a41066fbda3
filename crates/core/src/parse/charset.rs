//! Character encoding detection, and decoding to UTF-8.
//!
//! In the order of the HTML standard: a byte order mark; the `charset` of the Content-Type header; a `<meta>`
//! or else an XML declaration in the first 1024 bytes; a guess from the bytes and the country of the host (chardetng, as in Firefox). A
//! declaration is trusted even if it is wrong, as browsers do.

use std::borrow::Cow;

use super::elements::{Content, Name, Role};
use super::tag::{Attribute, Tag};
use super::tokens::{Sink, read};
use crate::url::Url;
use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

/// The number of bytes that are searched for a declaration.
const DECLARATION: usize = 1024;
/// The number of bytes that the guess is based on.
const GUESS: usize = 1 << 16;
const ESCAPE: u8 = 0x1b;

/// The page decoded to UTF-8, and the name of its encoding.
pub fn decode<'a>(
    body: &'a [u8],
    content_type: Option<&str>,
    url: Option<&Url>,
) -> (Cow<'a, str>, &'static str) {
    if let Some((encoding, mark)) = Encoding::for_bom(body) {
        return (encoding.decode_without_bom_handling(&body[mark..]).0, encoding.name());
    }
    let encoding = content_type
        .and_then(in_content_type)
        .or_else(|| in_meta(&body[..body.len().min(DECLARATION)]))
        .or_else(|| in_xml(&body[..body.len().min(DECLARATION)]))
        .unwrap_or_else(|| guess(body, url));
    (encoding.decode_without_bom_handling(body).0, encoding.name())
}

/// The encoding named by a content type, as in `text/html; charset="utf-8"`.
fn in_content_type(content_type: &str) -> Option<&'static Encoding> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']);
        name.trim().eq_ignore_ascii_case("charset").then(|| Encoding::for_label(value.as_bytes()))?
    })
}

fn in_meta(start: &[u8]) -> Option<&'static Encoding> {
    let mut declaration = Declaration::default();
    // Bytes that are not UTF-8 cannot be part of a declaration, and hide none.
    read(&String::from_utf8_lossy(start), &mut declaration);
    match declaration.0 {
        // A declaration that could be read as ASCII is not in UTF-16, whatever it says.
        Some(encoding) if encoding == UTF_16LE || encoding == UTF_16BE => Some(UTF_8),
        Some(encoding) if encoding == X_USER_DEFINED => Some(WINDOWS_1252),
        found => found,
    }
}

/// The encoding in an XML declaration, as in `<?xml version="1.0" encoding="koi8-r"?>`.
fn in_xml(start: &[u8]) -> Option<&'static Encoding> {
    let declaration = start.strip_prefix(b"<?xml")?.split(|byte| *byte == b'>').next()?;
    let name = declaration.windows(8).position(|word| word == b"encoding")? + 8;
    let value = declaration[name..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let (quote, value) = value.split_first().filter(|(quote, _)| matches!(quote, b'"' | b'\''))?;
    match Encoding::for_label(value.split(|byte| byte == quote).next()?) {
        Some(encoding) if encoding == UTF_16LE || encoding == UTF_16BE => Some(UTF_8),
        found => found,
    }
}

fn guess(body: &[u8], url: Option<&Url>) -> &'static Encoding {
    // Valid UTF-8 is hardly ever anything else, and the detector takes longer than all the rest of the
    // parsing. Only ISO-2022-JP passes for ASCII, and it always has escapes.
    if std::str::from_utf8(body).is_ok() && !body.contains(&ESCAPE) {
        return UTF_8;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(&body[..body.len().min(GUESS)], body.len() <= GUESS);
    let country = url.and_then(Url::domain).and_then(|domain| domain.rsplit('.').next());
    // A canonical host is in lower case and in ASCII, as the detector requires.
    detector.guess(country.map(str::as_bytes), Utf8Detection::Allow)
}

/// The first encoding that a `<meta>` names.
#[derive(Default)]
struct Declaration(Option<&'static Encoding>);

impl Sink for Declaration {
    fn start(&mut self, tag: &Tag) -> Content {
        if tag.element().role == Role::Meta && self.0.is_none() {
            let named = tag.get(Attribute::Charset).and_then(|label| Encoding::for_label(label.as_bytes()));
            let is_type = tag.lists(Attribute::HttpEquiv, "content-type");
            let equivalent = || is_type.then(|| tag.get(Attribute::Content)).flatten();
            self.0 = named.or_else(|| equivalent().and_then(|content| in_content_type(&content)));
        }
        tag.element().content
    }

    fn end(&mut self, _: Name) {}

    fn text(&mut self, _: &str) {}

    fn is_foreign(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn charset(body: &[u8], content_type: Option<&str>) -> &'static str {
        decode(body, content_type, None).1
    }

    #[test]
    fn a_mark_comes_before_the_header_and_the_header_before_the_page() {
        let page = b"<meta charset=koi8-r>\xe9";
        assert_eq!(charset(page, None), "KOI8-R");
        assert_eq!(charset(page, Some("text/html;Charset='ISO-8859-2'")), "ISO-8859-2");
        assert_eq!(charset(b"\xef\xbb\xbf<meta charset=koi8-r>", Some("text/html; charset=big5")), "UTF-8");
        assert_eq!(decode(b"\xff\xfea\0", None, None), ("a".into(), "UTF-16LE"));
    }

    #[test]
    fn reads_declarations_as_a_browser_does() {
        let old = b"<META content='text/html; charset=Shift_JIS' HTTP-EQUIV=Content-Type>";
        assert_eq!(charset(old, None), "Shift_JIS");
        assert_eq!(charset(b"<meta charset=utf-16>", None), "UTF-8");
        assert_eq!(charset(b"<!-- <meta charset=big5> --><meta charset=gbk>", None), "GBK");
        assert_eq!(charset("<meta charset=unheard-of>é".as_bytes(), None), "UTF-8");
        assert_eq!(charset("é".as_bytes(), Some("text/html; charset=")), "UTF-8");
        let xml = b"<?xml version='1.0' encoding = 'ISO-8859-5' ?><a>\xe9</a>";
        assert_eq!(charset(xml, None), "ISO-8859-5");
        assert_eq!(charset(b"<?xml encoding=\"utf-16\"?><a/>", None), "UTF-8");
        assert_eq!(charset(b"<?xml encoding?><a/>", None), "UTF-8");
    }

    #[test]
    fn guesses_where_nothing_is_declared() {
        let (text, name) = decode(b"<p>Perch\xe9 la citt\xe0 \xe8 cos\xec bella?", None, None);
        assert_eq!((&*text, name), ("<p>Perché la città è così bella?", "windows-1252"));
        assert_eq!(decode(b"\x1b$B$3$s$K$A$O\x1b(B", None, None), ("こんにちは".into(), "ISO-2022-JP"));
    }
}
