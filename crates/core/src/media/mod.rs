//! Media types: how the text of each is read, and its name in the filter `type:`. One table, [`FORMATS`]:
//! adding a format is a line there and, if it needs a conversion, a module in `python/crivello/convert/`.
//!
//! A server's Content-Type is trusted, with the exceptions that the MIME Sniffing standard of the WHATWG
//! makes or allows, because a wrong type is a server's most common mistake:
//!
//! - no type, or an uninformative one (`application/octet-stream`): the first bytes decide, then the
//!   extension;
//! - a body declared as HTML or text that begins as another format (a PDF): the first bytes decide;
//! - a container (`application/zip`, `application/xml`): what is in it decides;
//! - text that is declared as plain and has the extension of a markup language (`.md`, `.tex`) is read as such;
//! - binary data declared as `text/plain` in the spellings that servers use by default: it is not read.
//!
//! Text is never reinterpreted as HTML: a server that declares `text/plain` means to show the markup itself.

mod formats;
mod sniff;

pub use formats::{FORMATS, Format};

/// How the text of a format is extracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// By the HTML parser.
    Html,
    /// The body is the text.
    Text,
    /// By a conversion process.
    Conversion,
    /// By a conversion process, which gets its characters in UTF-8: text with markup of its own.
    Markup,
    /// Not at all: the body is stored and has no text.
    Unread,
}

impl Reading {
    /// Its name across the Python boundary.
    pub fn name(self) -> &'static str {
        match self {
            Reading::Html => "html",
            Reading::Text => "text",
            Reading::Conversion | Reading::Markup => "conversion",
            Reading::Unread => "unread",
        }
    }
}

/// The kind of file a document was, for facts and the filter `type:`. The numbers are stored in segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Unknown.
    #[default]
    Unknown,
    /// An HTML page.
    Html,
    /// Plain text, or lightweight markup.
    Text,
    /// A PDF document.
    Pdf,
    /// A news feed.
    Feed,
    /// A text, spreadsheet or presentation of an office suite.
    Office,
    /// Anything else.
    Other,
}

impl Kind {
    /// Every kind by its number, with its name in queries and tables and its label for display.
    const NAMES: [(Kind, &str, &str); 7] = [
        (Kind::Unknown, "unknown", "Unknown"),
        (Kind::Html, "html", "Web page"),
        (Kind::Text, "text", "Text"),
        (Kind::Pdf, "pdf", "PDF"),
        (Kind::Feed, "feed", "Feed"),
        (Kind::Office, "office", "Office document"),
        (Kind::Other, "other", "Other"),
    ];

    /// Every kind, by its number.
    pub fn all() -> impl Iterator<Item = Kind> {
        Kind::NAMES.into_iter().map(|(kind, ..)| kind)
    }

    /// The kind with a number.
    pub fn from_number(number: u64) -> Option<Kind> {
        Kind::NAMES.get(usize::try_from(number).ok()?).map(|(kind, ..)| *kind)
    }

    /// Its name in queries and tables.
    pub fn name(self) -> &'static str {
        Kind::NAMES[self as usize].1
    }

    /// Its label for display.
    pub fn label(self) -> &'static str {
        Kind::NAMES[self as usize].2
    }

    /// The kind with this name, case-insensitive.
    pub fn from_name(name: &str) -> Option<Kind> {
        Kind::all().find(|kind| kind.name().eq_ignore_ascii_case(name))
    }

    /// The kind of a content type.
    pub fn of_content_type(content_type: &str) -> Kind {
        essence(content_type).map_or(Kind::Unknown, |name| Format::of(Some(&name)).kind)
    }
}

impl Format {
    /// The format of a media type; HTML if there is none.
    pub fn of(media_type: Option<&str>) -> &'static Format {
        let named = |media_type: &str, name: &&str| match name.strip_suffix('*') {
            Some(start) => media_type.starts_with(start),
            None => media_type == *name,
        };
        let matches = |format: &&Format| {
            media_type.is_some_and(|given| format.types.iter().any(|name| named(given, name)))
        };
        FORMATS.iter().find(matches).unwrap_or(&FORMATS[0])
    }

    /// The usual name of its media type.
    pub fn name(&self) -> &'static str {
        self.types[0]
    }

    fn is_text(&self) -> bool {
        matches!(self.reading, Reading::Html | Reading::Text | Reading::Markup)
    }
}

/// The media types that need a conversion, each by its usual name, and the extensions of their files.
pub fn converted_types() -> Vec<(&'static str, Vec<&'static str>)> {
    let converted = FORMATS.iter().filter(|format| format.reading.name() == "conversion");
    converted.map(|format| (format.name(), format.extensions.to_vec())).collect()
}

/// A content type without its parameters, in lower case; `None` if it is empty.
pub fn essence(content_type: &str) -> Option<String> {
    let name = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    (!name.is_empty()).then_some(name)
}

/// Whether a body with this declared type may have text, and so is worth decoding. One with an uninformative
/// type may have some, but if it is encoded it is most probably a download.
pub fn may_have_text(media_type: Option<&str>, is_encoded: bool) -> bool {
    Format::of(media_type).reading != Reading::Unread || (says_nothing(media_type) && !is_encoded)
}

/// Whether a media type is uninformative.
fn says_nothing(media_type: Option<&str>) -> bool {
    media_type.is_none_or(|name| VAGUE.contains(&name))
}

/// The types that servers send for unknown files, and those with which they ask a browser to download a file.
const VAGUE: [&str; 8] = [
    BINARY,
    "binary/octet-stream",
    "application/download",
    "application/x-download",
    "application/force-download",
    "unknown/unknown",
    "application/unknown",
    "*/*",
];

const BINARY: &str = "application/octet-stream";

/// What Apache sent by default for any unknown file: the only spellings of text/plain that the standard
/// distrusts.
const DEFAULT_TEXT: [&str; 4] = [
    "text/plain",
    "text/plain; charset=ISO-8859-1",
    "text/plain; charset=iso-8859-1",
    "text/plain; charset=UTF-8",
];

/// The media type of a decoded body found at `url`: the declared one, or the detected one if that is certain
/// and the declaration wrong or too general. `None` if there is neither.
pub fn media_type(content_type: Option<&str>, url: &str, body: &[u8]) -> Option<String> {
    let declared = content_type.and_then(essence);
    let vague = says_nothing(declared.as_deref());
    let format = Format::of(declared.as_deref());
    if (vague || format.is_text() || sniff::is_container(format.name()))
        && let Some(name) = sniff::by_bytes(body, format.reading == Reading::Html && !vague)
    {
        return Some(name.to_owned());
    }
    let binary = is_binary(body);
    if vague || declared.as_deref() == Some("text/plain") {
        let extension = extension(url);
        let named = |format: &&Format| {
            format.extensions.iter().any(|known| known.eq_ignore_ascii_case(extension))
                && !(binary && format.is_text())
                // Text is never reinterpreted as HTML, and a number is not always a section of the manual.
                && (vague || format.reading == Reading::Markup)
                && (format.name() != sniff::MANUAL || sniff::is_manual(body))
        };
        if let Some(format) = FORMATS.iter().find(named) {
            return Some(format.name().to_owned());
        }
    }
    let doubtful = content_type.is_none_or(|name| DEFAULT_TEXT.contains(&name));
    if doubtful && binary { Some(BINARY.to_owned()) } else { declared }
}

/// Whether the first bytes cannot be text: the standard examines 1,445 of them.
fn is_binary(body: &[u8]) -> bool {
    let marked = [&b"\xfe\xff"[..], b"\xff\xfe", b"\xef\xbb\xbf"].iter().any(|mark| body.starts_with(mark));
    let control = |byte: &u8| matches!(byte, 0..=0x08 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f);
    !marked && body.iter().take(1445).any(control)
}

/// The file extension in a URL; empty if there is none.
fn extension(url: &str) -> &str {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let path = path.split_once("://").map_or(path, |(_, rest)| rest);
    let name = path.split_once('/').and_then(|(_, path)| path.rsplit('/').next()).unwrap_or_default();
    name.rsplit_once('.').map_or("", |(_, extension)| extension)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PDF: &[u8] = b"%PDF-1.7\n\x00";
    const HTML: &[u8] = b"<!doctype html><title>x</title>";
    const UTF_16: &[u8] = b"\xff\xfea\0b\0";
    const IMAGE: &[u8] = b"\x89PNG\r\n\x1a\n\x00";

    #[test]
    fn content_types_have_kinds() {
        for (content_type, kind) in [
            ("", Kind::Unknown),
            (" ; charset=utf-8", Kind::Unknown),
            ("Text/HTML; charset=utf-8", Kind::Html),
            ("application/xhtml+xml", Kind::Html),
            ("text/plain", Kind::Text),
            ("text/markdown", Kind::Text),
            ("application/pdf", Kind::Pdf),
            ("application/atom+xml;type=feed", Kind::Feed),
            ("application/vnd.oasis.opendocument.text", Kind::Office),
            ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", Kind::Office),
            ("application/vnd.ms-excel.sheet.macroEnabled.12", Kind::Office),
            ("application/xml", Kind::Other),
            ("text/xml", Kind::Other),
            ("nonsense", Kind::Other),
        ] {
            assert_eq!(Kind::of_content_type(content_type), kind, "{content_type}");
        }
    }

    #[test]
    fn kinds_come_back_from_names_and_numbers() {
        for (number, kind) in Kind::all().enumerate() {
            assert_eq!(Kind::from_number(number as u64), Some(kind));
            assert_eq!(kind as usize, number);
            assert_eq!(Kind::from_name(&kind.name().to_uppercase()), Some(kind));
        }
        assert_eq!((Kind::from_number(7), Kind::from_name("")), (None, None));
    }

    #[test]
    fn each_type_is_read_in_one_way() {
        for (media_type, reading) in [
            (None, Reading::Html),
            (Some("text/html"), Reading::Html),
            (Some("text/plain"), Reading::Text),
            (Some("application/x-pdf"), Reading::Conversion),
            (Some("text/css"), Reading::Unread),
            (Some("image/png"), Reading::Unread),
        ] {
            assert_eq!(Format::of(media_type).reading, reading, "{media_type:?}");
        }
    }

    /// A declared type, a URL, a body, and the type that it has.
    type Case = (Option<&'static str>, &'static str, &'static [u8], Option<&'static str>);

    #[test]
    fn the_first_bytes_decide_where_the_declared_type_is_wrong() {
        let page = "https://a.example/x";
        let cases: &[Case] = &[
            // A declared type is trusted ...
            (Some("Text/HTML; charset=utf-8"), page, HTML, Some("text/html")),
            (Some("text/plain"), page, HTML, Some("text/plain")),
            (Some("image/png"), page, HTML, Some("image/png")),
            (Some("image/png"), page, PDF, Some("image/png")),
            (Some("application/pdf"), page, HTML, Some("application/pdf")),
            (Some("text/html"), page, IMAGE, Some("text/html")),
            (Some("text/plain; charset=utf-16le"), page, b"a\0b\0", Some("text/plain")),
            // ... unless the body is certainly something else,
            (Some("text/html"), page, PDF, Some("application/pdf")),
            (Some("text/plain; charset=us-ascii"), page, PDF, Some("application/pdf")),
            (Some("text/plain"), page, IMAGE, Some("application/octet-stream")),
            (Some("text/plain; charset=UTF-8"), page, UTF_16, Some("text/plain")),
            // or the type is uninformative.
            (Some("application/octet-stream"), page, PDF, Some("application/pdf")),
            (Some("application/octet-stream"), page, HTML, Some("application/octet-stream")),
            (Some("application/octet-stream"), "http://a.example/x.HTM?y=z.pdf", HTML, Some("text/html")),
            (Some("binary/octet-stream"), "http://a.example/a.b/x.txt#y", b"words", Some("text/plain")),
            (Some("binary/octet-stream"), "http://a.example/x.txt", IMAGE, Some("binary/octet-stream")),
            (Some("binary/octet-stream"), "http://a.txt", b"words", Some("binary/octet-stream")),
            (Some("binary/octet-stream"), "http://a.example/x.pdf", b"\n%PDF-", Some("application/pdf")),
            (None, page, HTML, None),
            (None, "http://a.example/x.txt", b"words", Some("text/plain")),
            (None, page, PDF, Some("application/pdf")),
            (None, page, IMAGE, Some("application/octet-stream")),
            (Some(""), page, b"", None),
        ];
        for &(declared, url, body, found) in cases {
            assert_eq!(media_type(declared, url, body).as_deref(), found, "{declared:?} {url} {body:?}");
        }
    }
}
