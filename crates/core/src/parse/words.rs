//! Content fingerprints of a page: a digest for exact duplicates of its words, a SimHash for near-duplicates.

use crate::duplicates::{exact, lower_case, of_page};

/// The fingerprints of a page's words.
pub struct Words {
    pub digest: u128,
    pub simhash: u64,
}

impl Words {
    /// The fingerprints of a page with this title and text, or of its bytes if it has no text.
    pub fn of(title: &str, text: &str, body: &[u8]) -> Words {
        if text.is_empty() {
            return Words { digest: exact::of_bytes(body), simhash: 0 };
        }
        let mut page = Vec::with_capacity(title.len() + 1 + text.len());
        lower_case(&mut page, title);
        // No title or text contains a control character, so the separator is unambiguous.
        page.push(0);
        let start = page.len();
        lower_case(&mut page, text);
        // It is built from characters, so it is valid.
        let words = std::str::from_utf8(&page[start..]).unwrap_or_default();
        Words { digest: exact::of_bytes(&page), simhash: of_page(words) }
    }
}
