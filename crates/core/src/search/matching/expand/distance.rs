//! Edit distance: the optimal string alignment distance (restricted Damerau-Levenshtein).
//!
//! An edit is an insertion, a deletion, a substitution or a transposition of two neighbours, and no character
//! is edited twice:
//!
//! ```text
//! D(i, j) = min { D(i−1, j) + 1, D(i, j−1) + 1, D(i−1, j−1) + [aᵢ ≠ bⱼ],
//!                 D(i−2, j−2) + 1 where aᵢ₋₁aᵢ = bⱼbⱼ₋₁ }
//! ```
//!
//! Characters are Unicode scalar values. Time and space: the product of the lengths. (Damerau 1964; Boytsov,
//! *Indexing methods for approximate dictionary searching*, 2011.)

/// The edit distance between `left` and `right`.
pub fn distance(left: &str, right: &str) -> usize {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let mut rows = vec![vec![0; right.len() + 1]; left.len() + 1];
    for i in 0..=left.len() {
        for j in 0..=right.len() {
            if i == 0 || j == 0 {
                rows[i][j] = i + j;
                continue;
            }
            let other = usize::from(left[i - 1] != right[j - 1]);
            let mut least = (rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(rows[i - 1][j - 1] + other);
            if i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = least;
        }
    }
    rows[left.len()][right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, literally.
    fn defined(left: &[char], right: &[char]) -> usize {
        let (Some((last, left_rest)), Some((end, right_rest))) = (left.split_last(), right.split_last())
        else {
            return left.len() + right.len();
        };
        let mut least = (defined(left_rest, right) + 1).min(defined(left, right_rest) + 1);
        least = least.min(defined(left_rest, right_rest) + usize::from(last != end));
        if let ([left @ .., a, b], [right @ .., c, d]) = (left, right)
            && (a, b) == (d, c)
        {
            least = least.min(defined(left, right) + 1);
        }
        least
    }

    proptest! {
        #[test]
        fn is_as_defined(left in "[abé]{0,5}", right in "[abé]{0,5}") {
            let letters = |text: &str| text.chars().collect::<Vec<_>>();
            prop_assert_eq!(distance(&left, &right), defined(&letters(&left), &letters(&right)));
        }
    }

    #[test]
    fn counts_characters_and_swaps() {
        assert_eq!(distance("pyhton", "python"), 1);
        assert_eq!(distance("città", "citta"), 1);
        assert_eq!(distance("ca", "abc"), 3);
        assert_eq!(distance("", "東京"), 2);
    }
}
