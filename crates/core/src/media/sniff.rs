//! Formats by their first bytes, and by what is in a container.

use super::{FORMATS, Format};

/// The usual type of the pages of a manual.
pub const MANUAL: &str = "application/x-troff-man";

const ZIP: &str = "application/zip";
const XML: &str = "application/xml";

/// The number of entries of a ZIP file that are looked at.
const ENTRIES: usize = 64;

/// The files by which a package of Office Open XML is told.
const PARTS: [(&[u8], &str); 3] = [
    (b"word/", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    (b"ppt/", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    (b"xl/", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
];

/// Whether documents of other types are often declared as this one, which contains them.
pub fn is_container(name: &str) -> bool {
    matches!(name, ZIP | XML)
}

/// The usual type of a body, by its first bytes; `is_html`: it is declared as HTML, and so no XML.
pub fn by_bytes(body: &[u8], is_html: bool) -> Option<&'static str> {
    if let Some(format) =
        FORMATS.iter().find(|format| !format.magic.is_empty() && body.starts_with(format.magic))
    {
        return Some(if format.name() == ZIP { in_zip(body) } else { format.name() });
    }
    if body.get(257..262) == Some(b"ustar") {
        return Some("application/x-tar");
    }
    (!is_html && body.starts_with(b"<?xml")).then(|| in_xml(body))
}

/// The type of a ZIP file: Open Document and EPUB begin with an uncompressed file that has it, Office Open XML
/// is told by its files.
fn in_zip(body: &[u8]) -> &'static str {
    if let Some(named) = stored(body, b"mimetype") {
        let named = String::from_utf8_lossy(named);
        let format = Format::of(Some(named.trim()));
        return if format.name() == "*" { ZIP } else { format.name() };
    }
    let part = |name: &[u8]| PARTS.iter().find(|(start, _)| name.starts_with(start));
    let names = names(body);
    if !names.iter().any(|name| *name == b"[Content_Types].xml") {
        return ZIP;
    }
    names.into_iter().find_map(part).map_or(ZIP, |(_, name)| name)
}

/// The content of the first file of a ZIP file, if it has this name and is not compressed.
fn stored<'a>(body: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let start = 30 + name.len() + short(body, 28)?;
    let is_it = short(body, 26)? == name.len() && body.get(30..30 + name.len())? == name;
    (is_it && short(body, 8)? == 0).then(|| body.get(start..start + long(body, 22)?))?
}

/// The names of the first files in the directory at the end of a ZIP file.
fn names(body: &[u8]) -> Vec<&[u8]> {
    let tail = body.len().saturating_sub(22 + 65_535);
    let Some(end) = memchr::memmem::rfind(&body[tail..], b"PK\x05\x06").map(|at| tail + at) else {
        return Vec::new();
    };
    let mut at = long(body, end + 16).unwrap_or(body.len());
    let mut names = Vec::new();
    while names.len() < ENTRIES && body.get(at..).is_some_and(|rest| rest.starts_with(b"PK\x01\x02")) {
        let (Some(name), Some(extra), Some(comment)) =
            (short(body, at + 28), short(body, at + 30), short(body, at + 32))
        else {
            break;
        };
        names.extend(body.get(at + 46..at + 46 + name));
        at += 46 + name + extra + comment;
    }
    names
}

fn short(bytes: &[u8], at: usize) -> Option<usize> {
    bytes.get(at..)?.first_chunk().map(|number| usize::from(u16::from_le_bytes(*number)))
}

fn long(bytes: &[u8], at: usize) -> Option<usize> {
    bytes.get(at..)?.first_chunk().map(|number| u32::from_le_bytes(*number) as usize)
}

/// The type of an XML document, by its root element.
fn in_xml(body: &[u8]) -> &'static str {
    match root(&body[..body.len().min(4096)]) {
        Some(b"html") => "text/html",
        Some(b"rss") => "application/rss+xml",
        Some(b"feed") => "application/atom+xml",
        Some(b"rdf:RDF") => "application/rdf+xml",
        _ => XML,
    }
}

/// The name of the first element.
fn root(mut start: &[u8]) -> Option<&[u8]> {
    loop {
        start = &start[memchr::memchr(b'<', start)? + 1..];
        match start.first()? {
            b'!' if start.starts_with(b"!--") => {
                start = &start[memchr::memmem::find(start, b"-->")?..];
            }
            b'!' | b'?' => {}
            _ => return start.split(|byte| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/')).next(),
        }
    }
}

/// Whether a text begins as a page of a manual: with a comment or a title of roff.
pub fn is_manual(body: &[u8]) -> bool {
    let start = &body[..body.len().min(4096)];
    let first = |line: &&[u8]| !line.trim_ascii().is_empty();
    let line = start.split(|byte| *byte == b'\n').find(first).unwrap_or_default();
    let comment = line.starts_with(b".\\\"") || line.starts_with(b"'\\\"");
    let title = |line: &[u8]| line.starts_with(b".TH ") || line.starts_with(b".Dd ");
    title(line) || (comment && (start.split(|byte| *byte == b'\n').any(title))) || line.starts_with(b".so ")
}
