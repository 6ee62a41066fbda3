//! White space normalization: one space between words, one line break between blocks, none at the ends.
//! Control characters count as white space; soft hyphens, which are invisible, are dropped.
//!
//! Linear; words that are already normalized, which most are, are copied unchanged.

/// A text under construction.
#[derive(Default)]
pub struct Flow {
    text: String,
    gap: Gap,
    limit: Option<usize>,
}

/// The separation between the last word and the next.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    #[default]
    Nothing,
    Space,
    Line,
}

impl Flow {
    /// A text that ignores input once it has `limit` bytes.
    pub fn limited(limit: usize) -> Flow {
        Flow { limit: Some(limit), ..Flow::default() }
    }

    /// Appends text; its first word continues the last one unless there is white space between them.
    pub fn push(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            if self.limit.is_some_and(|limit| self.text.len() >= limit) {
                return;
            }
            let (words, after) = rest.split_at(in_order(rest.as_bytes()));
            self.push_words(words);
            rest = self.pass(after);
        }
    }

    /// Consumes the character at the start of `text`, which may be a gap, a soft hyphen or part of a word,
    /// and the gaps after it.
    fn pass<'a>(&mut self, text: &'a str) -> &'a str {
        let mut characters = text.chars();
        match characters.next() {
            Some(SOFT_HYPHEN) | None => {}
            Some(first) if is_gap(first) => {
                self.space();
                return characters.as_str().trim_start_matches(is_gap);
            }
            Some(first) => self.push_words(first.encode_utf8(&mut [0; 4])),
        }
        characters.as_str()
    }

    fn push_words(&mut self, words: &str) {
        if words.is_empty() {
            return;
        }
        if !self.text.is_empty() {
            match self.gap {
                Gap::Nothing => {}
                Gap::Space => self.text.push(' '),
                Gap::Line => self.text.push('\n'),
            }
        }
        self.gap = Gap::Nothing;
        self.text.push_str(words);
    }

    /// The next word is separate from the last.
    #[inline]
    pub fn space(&mut self) {
        self.gap = self.gap.max(Gap::Space);
    }

    /// The next word is in another block.
    #[inline]
    pub fn line(&mut self) {
        self.gap = Gap::Line;
    }

    /// The number of bytes written.
    #[inline]
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// The text written from byte `start` on, on one line and of at most `limit` bytes.
    pub fn zone(&self, start: usize, limit: usize) -> String {
        let zone = &self.text[start..];
        let zone = zone.strip_prefix([' ', '\n']).unwrap_or(zone);
        prefix(zone, limit).trim_end().replace('\n', " ")
    }

    /// The text.
    pub fn finish(mut self) -> String {
        if let Some(limit) = self.limit {
            self.text.truncate(prefix(&self.text, limit).trim_end().len());
        }
        self.text
    }
}

/// The longest prefix of `text` of at most `limit` bytes that ends at a character boundary.
pub fn prefix(text: &str, limit: usize) -> &str {
    let mut end = limit.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

const SOFT_HYPHEN: char = '\u{ad}';

fn is_gap(character: char) -> bool {
    character.is_whitespace() || character.is_control()
}

/// The length in bytes of the prefix of `text` that consists of words separated by single spaces: without
/// anything else that might be a gap or a soft hyphen, and with no space at either end.
fn in_order(text: &[u8]) -> usize {
    let mut at = 0;
    loop {
        let word = at;
        while at < text.len() && CLASSES[usize::from(text[at])] == WORD {
            at += 1;
        }
        if at == word {
            return at.saturating_sub(1);
        }
        if at == text.len() || text[at] != b' ' {
            return at;
        }
        at += 1;
    }
}

const WORD: u8 = 0;

/// The bytes that are certainly part of a word: neither ASCII gaps nor the first bytes of other gaps and of
/// the soft hyphen.
static CLASSES: [u8; 256] = {
    let mut table = [WORD; 256];
    let mut byte = 0;
    while byte <= 0x20 {
        table[byte] = 1;
        byte += 1;
    }
    table[0x7f] = 1;
    // U+0080 to U+00AD; U+1680; U+2000 to U+205F; U+3000.
    table[0xc2] = 1;
    table[0xe1] = 1;
    table[0xe2] = 1;
    table[0xe3] = 1;
    table
};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Character by character.
    fn slow(pieces: &[String]) -> String {
        let (mut text, mut gap) = (String::new(), false);
        for character in pieces.iter().flat_map(|piece| piece.chars()).filter(|c| *c != SOFT_HYPHEN) {
            if is_gap(character) {
                gap = true;
                continue;
            }
            if gap && !text.is_empty() {
                text.push(' ');
            }
            gap = false;
            text.push(character);
        }
        text
    }

    #[test]
    fn every_gap_is_known_by_its_first_byte() {
        for character in (0..=0x10ffff).filter_map(char::from_u32) {
            if is_gap(character) || character == SOFT_HYPHEN {
                let first = character.encode_utf8(&mut [0; 4]).as_bytes()[0];
                assert_ne!(CLASSES[usize::from(first)], WORD, "{character:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn is_what_one_character_at_a_time_gives(
            pieces in prop::collection::vec("[ab \\n\\t\u{a0}\u{ad}é\u{3000}\u{2009}漢あ–\u{7f}]{0,12}", 0..6),
            limit in 0usize..30,
        ) {
            let (mut flow, mut limited) = (Flow::default(), Flow::limited(limit));
            for piece in &pieces {
                flow.push(piece);
                limited.push(piece);
            }
            let whole = slow(&pieces);
            prop_assert_eq!(flow.zone(0, usize::MAX), whole.clone());
            prop_assert_eq!(limited.finish(), prefix(&whole, limit).trim_end());
            prop_assert_eq!(flow.finish(), whole);
        }
    }
}
