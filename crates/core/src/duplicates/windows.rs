//! Windows: every n words of a text in a row. A passage of n words or more occurs twice if and only if all its windows do, so
//! a set of the hashes of windows finds the passages that occurred before, in any documents, in one pass.
//!
//! A text of fewer than n words has no window. The hash is that of [`super::Signals`], so case does not matter. Time
//! O(length).

use super::signals::to_grams;
use super::words::for_each_word;
use crate::Signature;

/// The words of a text and its windows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Windows {
    /// Where each word starts, in bytes.
    pub starts: Vec<u64>,
    /// The hash of the window that starts with each word, but for the last ones.
    pub hashes: Vec<u64>,
}

impl Windows {
    /// Of `size` words of a text, at least 1.
    pub fn of(text: &str, size: usize) -> Windows {
        let mut windows = Windows::default();
        let mut lower = String::new();
        for_each_word(text, |start, end| {
            windows.starts.push(start as u64);
            let word = &text[start..end];
            if word.is_ascii() {
                lower.clear();
                lower.push_str(word);
                lower.make_ascii_lowercase();
            } else {
                lower = word.to_lowercase();
            }
            windows.hashes.push(Signature::of(lower.as_bytes()).0);
        });
        if windows.hashes.len() < size {
            windows.hashes.clear();
        }
        to_grams(&mut windows.hashes, size);
        windows
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn are_equal_where_the_words_are(words in prop::collection::vec("[abÉ]", 0..30), size in 1usize..6) {
            let text = words.join(", ");
            let found = Windows::of(&text, size);
            let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
            prop_assert_eq!(found.starts.len(), words.len());
            prop_assert_eq!(found.hashes.len(), (words.len() + 1).saturating_sub(size));
            for (one, first) in lower.windows(size).zip(&found.hashes) {
                for (other, second) in lower.windows(size).zip(&found.hashes) {
                    prop_assert_eq!(one == other, first == second);
                }
            }
            prop_assert_eq!(Windows::of(&text.to_uppercase(), size).hashes, found.hashes);
        }
    }
}
