//! Phrases: leaves at given offsets, an intersection of their positions, each minus its offset.
//!
//! A possible start of the phrase is proposed by one word and looked up in the others, the rarest first; a
//! word that is not there proposes its own next position. The lookup is a galloping search from where the
//! last one ended, so a phrase takes at most O(log p) for each word and position of the rarest word, where
//! the longest position list has `p` entries. If the two rarest words have similar frequencies, galloping
//! mispredicts most branches: then their positions are merged without branches up to where both agree.

use super::{Intervals, Span};

/// The two rarest words are merged if the second is at most this many times as frequent as the first.
const BALANCED: usize = 4;

/// A word of a phrase.
struct Word {
    leaf: usize,
    /// Its offset from the start of the phrase.
    distance: u32,
    /// The number of its positions before the possible start of the phrase.
    passed: usize,
}

/// The occurrences of a phrase.
pub struct Phrase {
    /// In increasing order of frequency in the document.
    words: Vec<Word>,
    /// The offset of the last word from the start of the phrase.
    last: u32,
    /// The least possible start; `None` past the maximum position.
    from: Option<u32>,
    /// Whether the two rarest words are merged.
    is_merged: bool,
}

impl Phrase {
    /// The phrase of these leaves at these offsets; without leaves it never occurs.
    pub fn of(words: impl Iterator<Item = (u32, usize)>) -> Phrase {
        let words: Vec<Word> = words.map(|(distance, leaf)| Word { leaf, distance, passed: 0 }).collect();
        let last = words.iter().map(|word| word.distance).max().unwrap_or(0);
        Phrase { words, last, from: None, is_merged: false }
    }
}

impl Intervals for Phrase {
    fn start(&mut self, positions: &[Vec<u32>]) {
        self.words.iter_mut().for_each(|word| word.passed = 0);
        let frequency = |word: &Word| positions[word.leaf].len();
        self.words.sort_unstable_by_key(frequency);
        self.is_merged = match &self.words[..] {
            [rarest, next, ..] => frequency(next) <= BALANCED * frequency(rarest),
            _ => false,
        };
        self.from = (!self.words.is_empty()).then_some(0);
    }

    fn next(&mut self, positions: &[Vec<u32>]) -> Option<Span> {
        let mut start = self.from?;
        'proposals: loop {
            if self.is_merged
                && let [rarest, next, ..] = &mut self.words[..]
            {
                meet(rarest, next, positions)?;
            }
            for word in &mut self.words {
                let target = start.checked_add(word.distance)?;
                let list = &positions[word.leaf];
                word.passed = seek(list, word.passed, target);
                let position = *list.get(word.passed)?;
                if position != target {
                    start = position - word.distance;
                    continue 'proposals;
                }
            }
            self.from = start.checked_add(1);
            return Some(Span { left: start, right: start + self.last });
        }
    }
}

/// Advances two words to the first positions at which both agree on the start of the phrase.
fn meet(one: &mut Word, other: &mut Word, positions: &[Vec<u32>]) -> Option<()> {
    let (ones, others) = (&positions[one.leaf], &positions[other.leaf]);
    loop {
        // Adding the other word's offset instead of subtracting one's own gives the same order and is never
        // negative.
        let place = u64::from(*ones.get(one.passed)?) + u64::from(other.distance);
        let other_place = u64::from(*others.get(other.passed)?) + u64::from(one.distance);
        if place == other_place {
            return Some(());
        }
        one.passed += usize::from(place < other_place);
        other.passed += usize::from(other_place < place);
    }
}

/// The first index, at or after `from`, of an item not less than `target`.
fn seek(sorted: &[u32], from: usize, target: u32) -> usize {
    let (mut low, mut step) = (from, 1);
    // Invariant: all items before `low` are less than the target.
    while sorted.get(low + step - 1).is_some_and(|item| *item < target) {
        low += step;
        step *= 2;
    }
    let high = sorted.len().min(low + step - 1);
    low + sorted[low..high].partition_point(|item| *item < target)
}
