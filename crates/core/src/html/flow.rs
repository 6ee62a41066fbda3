//! Text with its white space in order: one space between words, one line break between blocks, none at the
//! ends. Control characters count as white space; a soft hyphen, which nobody sees, is dropped.

/// A text that is being written.
#[derive(Default)]
pub struct Flow {
    text: String,
    gap: Gap,
    limit: Option<usize>,
}

/// What stands between the last word and the next.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    #[default]
    Nothing,
    Space,
    Line,
}

impl Flow {
    /// A text that takes nothing more once it has `limit` bytes.
    pub fn limited(limit: usize) -> Flow {
        Flow { limit: Some(limit), ..Flow::default() }
    }

    /// Adds text, of which the first word continues the last one unless white space comes between.
    pub fn push(&mut self, text: &str) {
        for piece in text.split(SOFT_HYPHEN).flat_map(|part| part.split_inclusive(is_gap)) {
            if self.limit.is_some_and(|limit| self.text.len() >= limit) {
                return;
            }
            let word = piece.trim_end_matches(is_gap);
            self.push_word(word);
            if word.len() < piece.len() {
                self.space();
            }
        }
    }

    fn push_word(&mut self, word: &str) {
        if word.is_empty() {
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
        self.text.push_str(word);
    }

    /// The next word is another one.
    pub fn space(&mut self) {
        self.gap = self.gap.max(Gap::Space);
    }

    /// The next word is in another block.
    pub fn line(&mut self) {
        self.gap = Gap::Line;
    }

    /// What was written.
    pub fn finish(mut self) -> String {
        if let Some(limit) = self.limit {
            self.text.truncate(prefix(&self.text, limit).trim_end().len());
        }
        self.text
    }
}

/// The longest beginning of `text` that has at most `limit` bytes and cuts no character.
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
