//! Fuzzy terms: those within an edit distance of a term ([`crate::search::matching::expand::distance()`]).
//!
//! A walk over the sorted term dictionary that keeps a row of the dynamic-programming table for every
//! character of the current term: row k has the edit distances between its first k characters and every
//! prefix of the pattern, so that terms with a common prefix share their rows. When the minimum of a row
//! exceeds the bound, no term with that prefix is near, and the walk seeks to the least string after them
//! that may be. While the minimum is below the bound any character may follow; once it equals the bound only
//! characters of the pattern may, and they are followed as far as they are forced. So with a bound of 1 there
//! are a few seeks for each distinct character after each prefix of the pattern, and with a bound of 2 that
//! many times as many.
//!
//! A row has 2 × bound + 1 entries, since the others exceed the bound anyway. On 550,000 terms with 3,500
//! distinct first characters: about 2 ms for a bound of 1 and 20 ms for 2, mostly for first characters of
//! other scripts; 1 to 3 ms for 2 with a fixed first letter ([`fuzzy_after`]). (Ukkonen, *Algorithms for
//! approximate string matching*, 1985; the seeks are those of the intersection with an automaton, Schulz and
//! Mihov, *Fast string correction with Levenshtein automata*, 2002.)

use super::SortedTerms;
use crate::Result;
use crate::index::format::terms::shared_bytes;

/// Calls `visit` with `terms` on each term within edit distance `changes` of `term`, and its distance; in
/// order.
pub fn fuzzy<T: SortedTerms>(
    terms: &mut T,
    term: &str,
    changes: u8,
    visit: impl FnMut(&T, u8),
) -> Result<()> {
    fuzzy_after(terms, "", term, changes, visit)
}

/// The same for terms with the prefix `start`, at a fraction of the cost: `term` includes it.
pub fn fuzzy_after<T: SortedTerms>(
    terms: &mut T,
    start: &str,
    term: &str,
    changes: u8,
    mut visit: impl FnMut(&T, u8),
) -> Result<()> {
    let mut walk = Walk::new(term, changes);
    let mut found = terms.seek(start.as_bytes())?;
    while found && terms.term().starts_with(start.as_bytes()) {
        found = match walk.follow(terms.term()) {
            Some(distance) => {
                if distance <= walk.bound {
                    visit(terms, distance);
                }
                terms.advance()?
            }
            None => walk.leap() && terms.seek(&walk.target)?,
        };
    }
    Ok(())
}

/// A character of the current path.
struct Step {
    letter: char,
    /// Its end in the path.
    end: usize,
    /// The minimum of its row.
    least: u8,
}

struct Walk {
    pattern: Vec<char>,
    /// The distinct characters of the pattern, in order.
    letters: Vec<char>,
    bound: u8,
    /// The prefix of the current term that has rows.
    path: Vec<u8>,
    steps: Vec<Step>,
    /// A row for each step, and an initial one; values above the bound are capped at the bound plus 1.
    rows: Vec<u8>,
    /// The next seek target.
    target: Vec<u8>,
}

impl Walk {
    fn new(term: &str, changes: u8) -> Walk {
        let pattern: Vec<char> = term.chars().collect();
        let mut letters = pattern.clone();
        letters.sort_unstable();
        letters.dedup();
        // A bound of 254 is beyond all practical use, and the cap of bound plus 1 still fits in a byte.
        let bound = changes.min(254);
        let rows = (0..=pattern.len()).map(|column| column.min(usize::from(bound) + 1) as u8).collect();
        let (path, steps, target) = (Vec::new(), Vec::new(), Vec::new());
        Walk { pattern, letters, bound, path, steps, rows, target }
    }

    /// Makes `term` the path; returns its distance, or `None` once the path is a prefix that no near term
    /// has.
    fn follow(&mut self, term: &[u8]) -> Option<u8> {
        let shared = shared_bytes(&self.path, term);
        while self.steps.last().is_some_and(|step| step.end > shared) {
            self.step_back();
        }
        let rest = term[self.path.len()..].utf8_chunks().flat_map(|chunk| {
            chunk.valid().chars().chain((!chunk.invalid().is_empty()).then_some(char::REPLACEMENT_CHARACTER))
        });
        for letter in rest {
            if self.step(letter) > self.bound {
                return None;
            }
        }
        Some(self.distance())
    }

    /// Replaces the path, which is a prefix of no near term, by the least prefix after it that may be one,
    /// and makes it the target; false if there is none.
    fn leap(&mut self) -> bool {
        while let Some(Step { letter, .. }) = self.step_back() {
            self.target.clear();
            if self.least() < self.bound {
                let Some(next) = (letter..=char::MAX).nth(1) else { continue };
                self.target.extend_from_slice(&self.path);
                self.target.extend_from_slice(next.encode_utf8(&mut [0; 4]).as_bytes());
                return true;
            }
            if self.step_forced(Some(letter)) {
                while self.least() == self.bound && self.distance() > self.bound && self.step_forced(None) {}
                self.target.extend_from_slice(&self.path);
                return true;
            }
        }
        false
    }

    /// Steps to the first character of the pattern after `after` that stays within the bound, if there is
    /// one.
    fn step_forced(&mut self, after: Option<char>) -> bool {
        for place in self.letters.partition_point(|letter| Some(*letter) <= after)..self.letters.len() {
            if self.step(self.letters[place]) <= self.bound {
                return true;
            }
            self.step_back();
        }
        false
    }

    /// Appends a character to the path; returns the minimum of its row.
    fn step(&mut self, letter: char) -> u8 {
        let (columns, depth) = (self.pattern.len() + 1, self.steps.len() + 1);
        let (bound, beyond) = (usize::from(self.bound), self.bound + 1);
        self.rows.truncate(depth * columns);
        self.rows.resize((depth + 1) * columns, beyond);
        let (before, row) = self.rows.split_at_mut(depth * columns);
        let (older, above) = before.split_at(before.len() - columns);
        if depth <= bound {
            row[0] = depth as u8;
        }
        let last = self.steps.last().map(|step| step.letter);
        let mut least = row[0];
        for column in depth.saturating_sub(bound).max(1)..=(depth + bound).min(self.pattern.len()) {
            let expected = self.pattern[column - 1];
            let mut distance = above[column - 1] + u8::from(expected != letter);
            distance = distance.min(above[column] + 1).min(row[column - 1] + 1).min(beyond);
            if column > 1 && last == Some(expected) && letter == self.pattern[column - 2] {
                distance = distance.min(older[older.len() - columns + column - 2] + 1);
            }
            row[column] = distance;
            least = least.min(distance);
        }
        self.path.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
        self.steps.push(Step { letter, end: self.path.len(), least });
        least
    }

    fn step_back(&mut self) -> Option<Step> {
        let step = self.steps.pop()?;
        self.path.truncate(self.steps.last().map_or(0, |step| step.end));
        Some(step)
    }

    /// The minimum of the last row.
    fn least(&self) -> u8 {
        self.steps.last().map_or(0, |step| step.least)
    }

    /// The edit distance between the path and the pattern.
    fn distance(&self) -> u8 {
        self.rows[(self.steps.len() + 1) * (self.pattern.len() + 1) - 1]
    }
}
