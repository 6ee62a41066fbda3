//! A token, and the counting of positions while tokens are found.

use std::ops::Range;

/// A token as the scanner sees it. What it is indexed as depends on its surface and the language alone, so
/// an indexer may remember it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'t> {
    /// The text of it.
    pub surface: &'t str,
    /// The byte of the text where it starts.
    pub start: usize,
    /// How many positions of the text come before it.
    pub position: u32,
    /// For a whole, such as `std::vector`: how many of the tokens that follow are its parts. 0 for a word.
    pub parts: u32,
}

/// Where tokens go as they are found.
pub struct Tokens<'t, V> {
    text: &'t str,
    position: u32,
    visit: V,
}

impl<'t, V: FnMut(Token<'t>)> Tokens<'t, V> {
    pub fn new(text: &'t str, visit: V) -> Self {
        Tokens { text, position: 0, visit }
    }

    pub fn text(&self) -> &'t str {
        self.text
    }

    /// The positions that were taken so far.
    pub fn positions(&self) -> u32 {
        self.position
    }

    /// A word, which takes one position.
    #[inline]
    pub fn word(&mut self, bytes: Range<usize>) {
        self.push(bytes, 0);
        self.position += 1;
    }

    /// A whole, which stands where the first of its parts will stand.
    pub fn whole(&mut self, bytes: Range<usize>, parts: u32) {
        self.push(bytes, parts);
    }

    /// A position that nothing stands at.
    pub fn skip(&mut self) {
        self.position += 1;
    }

    #[inline]
    fn push(&mut self, bytes: Range<usize>, parts: u32) {
        let start = bytes.start;
        (self.visit)(Token { surface: &self.text[bytes], start, position: self.position, parts });
    }
}
