//! Compound splitting and joining: how often two terms are adjacent.
//!
//! `solarwind` may be corrected to `solar wind` if documents have the two terms adjacent, and `data base` to
//! `database` if far more documents have the single word than the adjacent pair. The intersection of the two
//! posting lists is walked until [`EXAMINED`] documents have been compared, and the result is extrapolated:
//! at most about a millisecond.

use std::ops::Range;

use crate::Result;
use crate::index::{DocId, Segment, TermCursor};

/// The number of documents with both terms that are examined, per segment.
const EXAMINED: u64 = 500;
/// The minimum number of letters of a part, except for words that were typed apart.
const SHORTEST: usize = 3;

/// The estimated number of documents of `segment` in which `first` and `second` are adjacent.
pub fn side_by_side(segment: &Segment, first: &str, second: &str) -> Result<u64> {
    let (Some(first), Some(second)) = (segment.find(first)?, segment.find(second)?) else { return Ok(0) };
    let (mut first, mut second) = (TermCursor::new(segment, first)?, TermCursor::new(segment, second)?);
    let (mut examined, mut found) = (0, 0);
    let (mut left, mut right) = (Vec::new(), Vec::new());
    while first.document() != DocId::END && second.document() != DocId::END {
        let document = first.document();
        if second.skip_to(document)? != document {
            first.skip_to(second.document())?;
            continue;
        }
        first.positions(&mut left)?;
        second.positions(&mut right)?;
        found +=
            u64::from(left.iter().any(|position| right.binary_search(&position.saturating_add(1)).is_ok()));
        examined += 1;
        if examined == EXAMINED {
            return Ok(found * segment.totals().documents / (u64::from(document.0) + 1));
        }
        first.advance()?;
    }
    Ok(found)
}

/// The splits of a word in two: between characters, with enough of them on both sides.
pub fn splits(word: &str) -> impl Iterator<Item = (&str, &str)> {
    let places: Vec<usize> = word.char_indices().map(|(place, _)| place).skip(SHORTEST).collect();
    let last = places.len().saturating_sub(SHORTEST - 1);
    places.into_iter().take(last).map(|place| word.split_at(place))
}

/// Whether two words of a query, at these byte ranges, may be joined: there is only white space between them.
pub fn may_be_one(query: &str, first: &Range<usize>, second: &Range<usize>) -> bool {
    let between = query.get(first.end..second.start).unwrap_or_default();
    let words = [first, second].map(|bytes| query.get(bytes.clone()).unwrap_or_default());
    !between.is_empty()
        && between.chars().all(char::is_whitespace)
        && words.iter().all(|word| word.chars().nth(1).is_some() && word.chars().all(char::is_alphabetic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_leave_three_letters_on_both_sides() {
        assert_eq!(splits("solarw").collect::<Vec<_>>(), [("sol", "arw")]);
        assert_eq!(
            splits("perchéno").collect::<Vec<_>>(),
            [("per", "chéno"), ("perc", "héno"), ("perch", "éno")]
        );
        assert_eq!(splits("solar").count() + splits("a").count() + splits("").count(), 0);
    }

    #[test]
    fn only_neighbours_may_be_one() {
        let query = "data base, x-y a OR c2 data";
        let at = |word: &str| query.find(word).map(|start| start..start + word.len()).unwrap();
        assert!(may_be_one(query, &at("data"), &at("base")));
        assert!(!may_be_one(query, &at("base"), &at("data")));
        assert!(!may_be_one(query, &at("base"), &at("x-y")));
        assert!(!may_be_one(query, &at("OR"), &at("c2")));
    }
}
