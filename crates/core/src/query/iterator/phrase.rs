//! Phrases: an intersection whose documents must also have the words one after the other.
//!
//! Positions are decoded only in documents that hold all the words: the places where the phrase may start
//! are those of the rarest word, less its distance, and each further word strikes out some.

use super::{And, Documents};
use crate::Result;
use crate::index::{DocId, Segment, TermCursor};

/// A word of a phrase.
struct PhraseWord<'a> {
    /// How far from the start of the phrase it is.
    distance: u32,
    cursor: TermCursor<'a>,
}

impl Documents for PhraseWord<'_> {
    fn document(&self) -> DocId {
        self.cursor.document()
    }

    fn next(&mut self) -> Result<DocId> {
        self.cursor.advance()
    }

    fn skip_to(&mut self, target: DocId) -> Result<DocId> {
        self.cursor.skip_to(target)
    }

    fn estimate(&self) -> u64 {
        self.cursor.estimate()
    }
}

/// The documents that hold a phrase.
pub struct Phrase<'a> {
    words: And<PhraseWord<'a>>,
    /// Where the phrase may start.
    starts: Vec<u32>,
    positions: Vec<u32>,
}

impl<'a> Phrase<'a> {
    /// The documents of a segment that hold the terms at these distances; `None` where one term is in no
    /// document.
    pub fn of(words: &[(u32, String)], segment: &'a Segment) -> Result<Option<Phrase<'a>>> {
        let mut children = Vec::with_capacity(words.len());
        for (distance, term) in words {
            let Some(lists) = segment.find(term)? else { return Ok(None) };
            children.push(PhraseWord { distance: *distance, cursor: TermCursor::new(segment, lists)? });
        }
        let words = And::of(children)?;
        let mut phrase = Phrase { words, starts: Vec::new(), positions: Vec::new() };
        phrase.pass_others()?;
        Ok(Some(phrase))
    }

    /// Moves to the first document from here on that holds the phrase.
    fn pass_others(&mut self) -> Result<DocId> {
        while self.words.document() != DocId::END && !self.is_here()? {
            self.words.next()?;
        }
        Ok(self.words.document())
    }

    fn is_here(&mut self) -> Result<bool> {
        for (number, word) in self.words.children().iter_mut().enumerate() {
            word.cursor.positions(&mut self.positions)?;
            let starts = self.positions.iter().filter_map(|position| position.checked_sub(word.distance));
            if number == 0 {
                self.starts.clear();
                self.starts.extend(starts);
            } else {
                let mut starts = starts.peekable();
                self.starts.retain(|start| {
                    while starts.next_if(|other| other < start).is_some() {}
                    starts.peek() == Some(start)
                });
            }
            if self.starts.is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Documents for Phrase<'_> {
    fn document(&self) -> DocId {
        self.words.document()
    }

    fn next(&mut self) -> Result<DocId> {
        self.words.next()?;
        self.pass_others()
    }

    fn skip_to(&mut self, target: DocId) -> Result<DocId> {
        if self.document() >= target {
            return Ok(self.document());
        }
        self.words.skip_to(target)?;
        self.pass_others()
    }

    fn estimate(&self) -> u64 {
        self.words.estimate()
    }
}
