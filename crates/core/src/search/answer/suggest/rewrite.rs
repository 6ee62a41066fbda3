//! Rewriting: replaces words of a query and keeps everything else as it was typed.

use std::ops::Range;

/// Replaces the words of `query` at these byte ranges, which do not overlap; a capitalised word stays
/// capitalised. A lower-case correction never becomes an operator, since operators are in upper case.
pub fn rewrite(query: &str, corrections: &[(Range<usize>, String)]) -> String {
    let mut corrections: Vec<&(Range<usize>, String)> = corrections.iter().collect();
    corrections.sort_unstable_by_key(|(bytes, _)| bytes.start);
    let mut rewritten = String::with_capacity(query.len() + 8);
    let mut copied = 0;
    for (bytes, correction) in corrections {
        let (Some(kept), Some(word)) = (query.get(copied..bytes.start), query.get(bytes.clone())) else {
            continue;
        };
        rewritten.push_str(kept);
        rewritten.push_str(&in_case_of(word, correction));
        copied = bytes.end;
    }
    rewritten.push_str(&query[copied..]);
    rewritten
}

fn in_case_of(word: &str, correction: &str) -> String {
    let mut typed = word.chars();
    let capital = typed.next().is_some_and(char::is_uppercase) && typed.all(|letter| !letter.is_uppercase());
    let mut letters = correction.chars();
    match letters.next().filter(|_| capital) {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => correction.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rewritten(query: &str, words: &[(&str, &str)]) -> String {
        let place = |word: &str| query.find(word).map(|start| start..start + word.len()).unwrap();
        let corrections: Vec<_> =
            words.iter().map(|(word, better)| (place(word), (*better).to_owned())).collect();
        rewrite(query, &corrections)
    }

    #[test]
    fn keeps_everything_else() {
        let query = "+title:(pyhton OR  \"the databse\") -perl NOT Recieve  ";
        let words = [("Recieve", "receive"), ("pyhton", "python"), ("databse", "database")];
        assert_eq!(rewritten(query, &words), "+title:(python OR  \"the database\") -perl NOT Receive  ");
        assert_eq!(rewritten("NAER perché", &[("NAER", "near")]), "near perché");
        assert_eq!(rewritten("data base", &[("data base", "database")]), "database");
        assert_eq!(rewritten("solarwind", &[("solarwind", "solar wind")]), "solar wind");
        assert_eq!(rewrite("è", &[(0..1, "x".into()), (5..9, "y".into())]), "è");
    }

    proptest! {
        #[test]
        fn replaces_words_one_by_one(parts in prop::collection::vec(("[ +\\-\"(è]{0,3}", "[a-cé]{1,5}", prop::option::of("[a-cé]{1,6}")), 0..6)) {
            let (mut query, mut expected, mut corrections) = (String::new(), String::new(), Vec::new());
            for (between, word, better) in parts {
                query.push_str(&between);
                expected.push_str(&between);
                let start = query.len();
                query.push_str(&word);
                expected.push_str(better.as_ref().unwrap_or(&word));
                corrections.extend(better.map(|better| (start..query.len(), better)));
            }
            corrections.reverse();
            prop_assert_eq!(rewrite(&query, &corrections), expected);
        }
    }
}
