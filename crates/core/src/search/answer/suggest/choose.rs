//! Which correction of a word is convincing.
//!
//! A noisy channel model: the user meant a word c and typed w. The probability depends on how frequent c is
//! and on how probable the edit is,
//!
//! ```text
//! P(c | w) ∝ documents(c) · slip(c → w)
//! slip = 1 for a transposition, a letter doubled or not, or the wrong one doubled, a space more or less;
//!        ½ for a deleted letter or a vowel for a vowel, ⅓ for an inserted letter, ¼ for a substitution;
//!        1/30 for two edits; × 1/10 if the first letters differ; × ½ if there are fewer than six letters
//! ```
//!
//! and c is convincing if that is more than [`RATIO`] times the document frequency of w; for a word with
//! document frequency 0, if it is more than [`LEAST`]. (Kernighan, Church and Gale, *A spelling correction
//! program based on a noisy channel model*, 1990.) Words of fewer than four letters are not corrected, since
//! each has a frequent neighbour; neither are words with a digit or a joint, nor overlong ones. Words of four
//! to seven letters may be corrected at edit distance 1, longer ones at edit distance 2.

use crate::search::matching::expand::distance;

/// The factor by which a correction must be more likely than the word as typed.
pub const RATIO: f64 = 15.0;
/// The least likelihood of a correction for a word with document frequency 0.
pub const LEAST: f64 = 0.4;

/// The most letters of a word that is corrected.
const LONGEST: usize = 40;

/// The likelihood of two edits.
const TWO: f64 = 1.0 / 30.0;

/// A candidate correction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate<'a> {
    /// The spelling, in lower case.
    pub term: &'a str,
    /// Its edit distance from the word.
    pub changes: u8,
    /// Its document frequency.
    pub documents: u64,
}

/// The largest edit distance of a correction of `word`; 0 if it is not to be corrected.
pub fn reach(word: &str) -> u8 {
    if !word.chars().all(|letter| letter.is_alphabetic() || letter == ' ') {
        return 0;
    }
    match word.chars().filter(|letter| letter.is_alphabetic()).count() {
        0..4 => 0,
        4..8 => 1,
        8..=LONGEST => 2,
        // The candidates at edit distance 1 would fill the memory.
        _ => 0,
    }
}

/// Whether a word with document frequency `documents`, of `all` documents, may be corrected at all.
pub fn is_doubtful(documents: u64, all: u64) -> bool {
    all as f64 > least_likelihood(documents)
}

/// The likelihood that a correction must exceed, for a word with document frequency `documents`.
pub fn least_likelihood(documents: u64) -> f64 {
    (RATIO * documents as f64).max(LEAST)
}

/// The best correction of a lower-case word with document frequency `documents`, if any is convincing.
pub fn choose<'c, 'a>(
    word: &str,
    documents: u64,
    candidates: &'c [Candidate<'a>],
) -> Option<&'c Candidate<'a>> {
    let reach = reach(word);
    let likely = candidates
        .iter()
        .filter(|candidate| (1..=reach).contains(&candidate.changes) && candidate.term != word)
        .map(|candidate| (likelihood(word, candidate), candidate));
    let (likelihood, best) = likely
        .max_by(|(left, one), (right, other)| left.total_cmp(right).then_with(|| other.term.cmp(one.term)))?;
    (likelihood > least_likelihood(documents)).then_some(best)
}

/// The likelihood, up to a factor, that the user who typed `word` meant the candidate.
pub fn likelihood(word: &str, candidate: &Candidate<'_>) -> f64 {
    candidate.documents as f64 * slip(word, candidate)
}

fn slip(word: &str, candidate: &Candidate<'_>) -> f64 {
    let meant = candidate.term;
    let mut slip = match candidate.changes {
        0 | 1 => single(word, meant),
        _ => TWO,
    };
    if word.chars().next() != meant.chars().next() {
        slip /= 10.0;
    }
    if word.chars().count() < 6 {
        slip /= 2.0;
    }
    slip
}

/// The likelihood of a single edit. A word and a candidate that differ by more, although an edit of the word
/// has the candidate's term, count as two edits.
fn single(word: &str, meant: &str) -> f64 {
    let (typed, wanted) = (word.chars().count(), meant.chars().count());
    if distance(word, meant) > 1 {
        return TWO;
    }
    let undoubled = |text: &str| {
        let mut letters: Vec<char> = text.chars().collect();
        letters.dedup();
        letters
    };
    let spaced = typed != wanted && word.contains(' ') != meant.contains(' ');
    if spaced || undoubled(word) == undoubled(meant) {
        return 1.0;
    }
    if typed != wanted {
        return if typed < wanted { 0.5 } else { 1.0 / 3.0 };
    }
    let others: Vec<(char, char)> =
        word.chars().zip(meant.chars()).filter(|(one, other)| one != other).collect();
    match others.as_slice() {
        [_, _] => 1.0,
        [(one, other)] if is_vowel(*one) && is_vowel(*other) => 0.5,
        _ => 0.25,
    }
}

fn is_vowel(letter: char) -> bool {
    matches!(letter, 'a' | 'e' | 'i' | 'o' | 'u' | 'y')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn chosen<'a>(word: &str, documents: u64, candidates: &[(&'a str, u64)]) -> Option<&'a str> {
        let candidates: Vec<Candidate<'a>> = candidates
            .iter()
            .map(|(term, documents)| Candidate {
                term,
                changes: distance(word, term) as u8,
                documents: *documents,
            })
            .collect();
        choose(word, documents, &candidates).map(|candidate| candidate.term)
    }

    #[test]
    fn corrects_what_everybody_mistypes() {
        assert_eq!(chosen("pyhton", 0, &[("python", 900), ("photon", 30)]), Some("python"));
        assert_eq!(chosen("recieve", 4, &[("receive", 4000), ("relieve", 100)]), Some("receive"));
        assert_eq!(chosen("databse", 0, &[("database", 3), ("databases", 2)]), Some("database"));
        assert_eq!(chosen("documetnaton", 0, &[("documentation", 5000)]), Some("documentation"));
        assert_eq!(chosen("vaccum", 2, &[("vacuum", 60)]), Some("vacuum"));
        assert_eq!(chosen("solarwind", 0, &[("solar wind", 40)]), Some("solar wind"));
        assert_eq!(chosen("data base", 2, &[("database", 4000)]), Some("database"));
    }

    #[test]
    fn leaves_alone_what_may_be_meant() {
        assert_eq!(chosen("git", 0, &[("get", 100_000)]), None);
        assert_eq!(chosen("sieve", 30, &[("serve", 3000), ("sieves", 4)]), None);
        assert_eq!(chosen("utf8", 0, &[("utf", 9000)]), None);
        assert_eq!(chosen(&"a".repeat(41), 0, &[(&"a".repeat(40), 9000)]), None);
        assert_eq!(chosen("a_bcdef", 0, &[("abcdef", 9000)]), None);
        assert_eq!(chosen("table", 0, &[("bottles", 9000)]), None);
        assert_eq!(chosen("python", 0, &[("python", 9000)]), None);
        assert_eq!(chosen("python", 0, &[]), None);
    }

    #[test]
    fn prefers_the_likelier_slip() {
        assert_eq!(chosen("wnid", 0, &[("wind", 100), ("find", 300)]), Some("wind"));
        assert_eq!(chosen("comand", 0, &[("command", 100), ("comand", 5), ("cómand", 50)]), Some("command"));
        assert_eq!(chosen("funtcion", 0, &[("function", 10), ("functions", 100)]), Some("function"));
    }

    proptest! {
        #[test]
        fn is_of_the_candidates_and_in_reach(word in "[a-c1 ]{0,9}", documents in 0u64..50, all in prop::collection::vec(("[a-c]{3,9}", 0u64..1_000_000), 0..8)) {
            let all: Vec<(&str, u64)> = all.iter().map(|(term, documents)| (term.as_str(), *documents)).collect();
            if let Some(found) = chosen(&word, documents, &all) {
                let holders = all.iter().filter(|(term, _)| *term == found).map(|(_, documents)| *documents).max();
                prop_assert!(holders.unwrap() as f64 > RATIO * documents as f64);
                let changes = distance(&word, found);
                prop_assert!(changes >= 1 && changes <= usize::from(reach(&word)));
                // A more frequent word is not corrected more readily.
                prop_assert!(documents == 0 || chosen(&word, 0, &all) == Some(found));
            }
        }
    }
}
