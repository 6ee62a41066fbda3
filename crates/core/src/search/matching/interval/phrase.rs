//! Phrases: leaves at given distances, an intersection of their positions each less its distance.
//!
//! A place where the phrase may start is proposed by one word and sought in the others, the rarest first; a
//! word that is not there proposes its own next place. The search in a list starts from where the last one
//! ended and gallops, so a phrase takes at most O(log p) for each word and place of the rarest word, where the
//! longest list has `p` places. Where the two rarest are about as frequent, a gallop is all mispredicted
//! branches: there they are merged instead, without a branch, up to where both agree.

use super::{Intervals, Span};

/// How many times as frequent the second word may be as the first for the two to be merged.
const BALANCED: usize = 4;

/// A word of a phrase.
struct Word {
    leaf: usize,
    /// How far from the start of the phrase it is.
    distance: u32,
    /// How many of its positions are before where the phrase may start.
    passed: usize,
}

/// The places of a phrase.
pub struct Phrase {
    /// From the rarest in the document on.
    words: Vec<Word>,
    /// How far from the start of the phrase its last word is.
    last: u32,
    /// The first position where it may start; `None` past the greatest.
    from: Option<u32>,
    /// Whether the two rarest words are merged.
    is_merged: bool,
}

impl Phrase {
    /// The phrase of these leaves at these distances; without leaves it is nowhere.
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

/// Moves two words, from where they are, to the first place where both agree on where the phrase starts.
fn meet(one: &mut Word, other: &mut Word, positions: &[Vec<u32>]) -> Option<()> {
    let (ones, others) = (&positions[one.leaf], &positions[other.leaf]);
    loop {
        // Each less its own distance is the same as each more the other's, which is never negative.
        let place = u64::from(*ones.get(one.passed)?) + u64::from(other.distance);
        let other_place = u64::from(*others.get(other.passed)?) + u64::from(one.distance);
        if place == other_place {
            return Some(());
        }
        one.passed += usize::from(place < other_place);
        other.passed += usize::from(other_place < place);
    }
}

/// The first index, not before `from`, of an item that is not less than `target`.
fn seek(sorted: &[u32], from: usize, target: u32) -> usize {
    let (mut low, mut step) = (from, 1);
    // All before `low` are less than the target.
    while sorted.get(low + step - 1).is_some_and(|item| *item < target) {
        low += step;
        step *= 2;
    }
    let high = sorted.len().min(low + step - 1);
    low + sorted[low..high].partition_point(|item| *item < target)
}
