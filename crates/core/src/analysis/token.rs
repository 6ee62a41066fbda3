//! A token, and the counting of positions while tokens are emitted.

use std::ops::Range;

/// A token as the scanner emits it. Its term depends only on its surface and the language, so an indexer may
/// cache it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'t> {
    /// Its text.
    pub surface: &'t str,
    /// Its first byte in the text.
    pub start: usize,
    /// Its position: the number of positions before it.
    pub position: u32,
    /// For a whole, such as `std::vector`: how many of the following tokens are its parts. 0 for a word.
    pub parts: u32,
}

/// The sink of tokens: counts positions.
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

    /// The number of positions taken so far.
    pub fn positions(&self) -> u32 {
        self.position
    }

    /// Emits a word, which takes one position.
    #[inline]
    pub fn word(&mut self, bytes: Range<usize>) {
        self.push(bytes, 0);
        self.position += 1;
    }

    /// Emits a whole, at the position of its first part.
    pub fn whole(&mut self, bytes: Range<usize>, parts: u32) {
        self.push(bytes, parts);
    }

    /// Leaves a position empty.
    pub fn skip(&mut self) {
        self.position += 1;
    }

    #[inline]
    fn push(&mut self, bytes: Range<usize>, parts: u32) {
        let start = bytes.start;
        (self.visit)(Token { surface: &self.text[bytes], start, position: self.position, parts });
    }
}
