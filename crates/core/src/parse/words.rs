//! Content fingerprints of a page: a digest for exact duplicates of its words, a SimHash for near-duplicates.
//!
//! The digest is of the title and the whole text. The SimHash is of the text outside landmarks (navigation, banner,
//! footer, asides): what a site repeats on its pages says nothing of one of them.

use std::ops::Range;

use crate::duplicates::{exact, lower_case, of_page};

/// The fingerprints of a page's words.
pub struct Words {
    pub digest: u128,
    pub simhash: Option<u64>,
}

impl Words {
    /// The fingerprints of a page with this title and text, or of its bytes if it has no text. `landmarks` are parts of
    /// the text, in order.
    pub fn of(title: &str, text: &str, landmarks: &[Range<usize>], body: &[u8]) -> Words {
        if text.is_empty() {
            return Words { digest: exact::of_bytes(body), simhash: None };
        }
        let mut page = Vec::with_capacity(title.len() + 1 + text.len());
        lower_case(&mut page, title);
        // No title or text contains a control character, so the separator is unambiguous.
        page.push(0);
        let start = page.len();
        lower_case(&mut page, text);
        let digest = exact::of_bytes(&page);
        if !landmarks.is_empty() {
            page.truncate(start);
            let mut from = 0;
            for landmark in landmarks {
                lower_case(&mut page, &text[from..landmark.start]);
                from = landmark.end;
            }
            lower_case(&mut page, &text[from..]);
        }
        // It is built from characters, so it is valid.
        let words = std::str::from_utf8(&page[start..]).unwrap_or_default();
        Words { digest, simhash: of_page(words) }
    }
}
