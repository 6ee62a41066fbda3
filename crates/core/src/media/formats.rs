//! The table of formats.

use super::{Kind, Reading};

/// A group of media types with one format.
#[derive(Debug)]
pub struct Format {
    /// The types, the usual name first; a trailing `*` matches any suffix.
    pub(super) types: &'static [&'static str],
    /// The extensions of its files.
    pub(super) extensions: &'static [&'static str],
    /// The magic bytes of its files; empty if there are none.
    pub(super) magic: &'static [u8],
    /// How its text is extracted.
    pub reading: Reading,
    /// Its name in `type:`.
    pub kind: Kind,
}

/// Every format; the first that has a type is its format.
pub const FORMATS: &[Format] = &[
    format(
        &["text/html", "application/xhtml+xml"],
        &["html", "htm", "xhtml", "xht"],
        b"",
        Reading::Html,
        Kind::Html,
    ),
    format(&["text/plain"], &["txt", "text"], b"", Reading::Text, Kind::Text),
    format(
        &["text/csv", "text/tab-separated-values", "text/x-rst", "text/org", "text/vtt"],
        &["csv", "tsv", "rst", "org", "vtt"],
        b"",
        Reading::Text,
        Kind::Text,
    ),
    format(&["application/pdf", "application/x-pdf"], &["pdf"], b"%PDF-", Reading::Conversion, Kind::Pdf),
    format(&["application/rss+xml"], &["rss"], b"", Reading::Conversion, Kind::Feed),
    format(&["application/atom+xml"], &["atom"], b"", Reading::Conversion, Kind::Feed),
    format(&["application/rdf+xml"], &["rdf"], b"", Reading::Conversion, Kind::Feed),
    format(&["application/feed+json"], &[], b"", Reading::Conversion, Kind::Feed),
    office(
        &[
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.template",
            "application/vnd.ms-word.document.macroenabled.12",
        ],
        &["docx", "docm", "dotx"],
    ),
    office(
        &[
            "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            "application/vnd.openxmlformats-officedocument.presentationml.slideshow",
            "application/vnd.openxmlformats-officedocument.presentationml.template",
            "application/vnd.ms-powerpoint.presentation.macroenabled.12",
        ],
        &["pptx", "pptm", "ppsx", "potx"],
    ),
    office(
        &[
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.template",
            "application/vnd.ms-excel.sheet.macroenabled.12",
        ],
        &["xlsx", "xlsm", "xltx"],
    ),
    office(
        &[
            "application/vnd.oasis.opendocument.text",
            "application/vnd.oasis.opendocument.text-template",
            "application/vnd.oasis.opendocument.text-master",
        ],
        &["odt", "ott"],
    ),
    office(
        &[
            "application/vnd.oasis.opendocument.presentation",
            "application/vnd.oasis.opendocument.presentation-template",
            "application/vnd.oasis.opendocument.graphics",
        ],
        &["odp", "otp", "odg"],
    ),
    office(
        &[
            "application/vnd.oasis.opendocument.spreadsheet",
            "application/vnd.oasis.opendocument.spreadsheet-template",
        ],
        &["ods", "ots"],
    ),
    format(
        &["application/rtf", "text/rtf", "text/richtext", "application/x-rtf"],
        &["rtf"],
        b"{\\rtf",
        Reading::Conversion,
        Kind::Office,
    ),
    // The binary formats of older office suites.
    format(
        &[
            "application/vnd.openxmlformats-officedocument.*",
            "application/vnd.oasis.opendocument.*",
            "application/vnd.ms-excel*",
            "application/vnd.ms-powerpoint*",
            "application/vnd.ms-word*",
            "application/msword",
        ],
        &["doc", "xls", "ppt"],
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        Reading::Unread,
        Kind::Office,
    ),
    format(&["application/epub+zip"], &["epub"], b"", Reading::Conversion, Kind::Text),
    format(
        &["text/markdown", "text/x-markdown", "text/x-web-markdown"],
        &["md", "markdown", "mdown"],
        b"",
        Reading::Markup,
        Kind::Text,
    ),
    format(
        &["application/x-tex", "application/x-latex", "text/x-tex", "text/x-latex"],
        &["tex", "latex", "ltx"],
        b"",
        Reading::Markup,
        Kind::Text,
    ),
    format(
        &[
            "application/x-troff-man",
            "text/troff",
            "application/x-troff",
            "text/x-troff",
            "application/x-troff-mdoc",
        ],
        &["1", "2", "3", "4", "5", "6", "7", "8", "9", "man", "roff"],
        b"",
        Reading::Markup,
        Kind::Text,
    ),
    format(&["message/rfc822"], &["eml"], b"", Reading::Conversion, Kind::Text),
    format(&["application/mbox"], &["mbox"], b"", Reading::Conversion, Kind::Text),
    // It may contain anything.
    format(
        &["application/xml", "text/xml", "application/docbook+xml", "application/x-docbook+xml"],
        &["xml"],
        b"",
        Reading::Markup,
        Kind::Other,
    ),
    format(
        &["application/zip", "application/x-zip-compressed", "application/x-zip"],
        &["zip"],
        b"PK\x03\x04",
        Reading::Conversion,
        Kind::Other,
    ),
    format(&["application/x-tar", "application/tar"], &["tar"], b"", Reading::Conversion, Kind::Other),
    format(
        &["application/gzip", "application/x-gzip", "application/x-compressed-tar", "application/x-gtar"],
        &["gz", "tgz"],
        b"\x1f\x8b\x08",
        Reading::Conversion,
        Kind::Other,
    ),
    format(
        &["application/x-bzip2", "application/x-bzip", "application/bzip2"],
        &["bz2", "tbz", "tbz2"],
        b"BZh",
        Reading::Conversion,
        Kind::Other,
    ),
    format(&["application/x-xz"], &["xz", "txz"], b"\xfd7zXZ\x00", Reading::Conversion, Kind::Other),
    format(&["text/*"], &[], b"", Reading::Unread, Kind::Text),
    format(&["*"], &[], b"", Reading::Unread, Kind::Other),
];

const fn office(types: &'static [&'static str], extensions: &'static [&'static str]) -> Format {
    format(types, extensions, b"", Reading::Conversion, Kind::Office)
}

const fn format(
    types: &'static [&'static str],
    extensions: &'static [&'static str],
    magic: &'static [u8],
    reading: Reading,
    kind: Kind,
) -> Format {
    Format { types, extensions, magic, reading, kind }
}
