//! The link graph.

use crate::format::Format;

/// The log of links: the key is the page's signature, the payload the signatures it links to, eight
/// bytes each, little-endian, in the order of the page.
pub const LINKS: Format = Format { kind: *b"LINK", version: 1 };
