//! Stems, remembered: words repeat, so most are stemmed once.
//!
//! Each thread keeps a table for each language it met, of 32,768 words and about 3 MiB. By Zipf's law the
//! first words to come are mostly the frequent ones, so a table that is full simply takes no more.

use std::cell::RefCell;

use rustc_hash::FxHashMap;
use snowball_stemmers_rs::{Algorithm, Stemmer};

const MOST_WORDS: usize = 1 << 15;

struct Table {
    algorithm: Algorithm,
    stemmer: Stemmer,
    stems: FxHashMap<Box<str>, Box<str>>,
}

thread_local! {
    static TABLES: RefCell<Vec<Table>> = const { RefCell::new(Vec::new()) };
}

/// Replaces a word with its stem.
pub fn stem(algorithm: Algorithm, word: &mut String) {
    TABLES.with_borrow_mut(|tables| {
        let known = tables.iter().position(|table| table.algorithm == algorithm);
        let place = known.unwrap_or_else(|| {
            let stemmer = Stemmer::create(algorithm);
            tables.push(Table { algorithm, stemmer, stems: FxHashMap::default() });
            tables.len() - 1
        });
        let Table { stemmer, stems, .. } = &mut tables[place];
        if let Some(remembered) = stems.get(word.as_str()) {
            word.clear();
            word.push_str(remembered);
            return;
        }
        let stem = stemmer.stem(word).into_owned();
        if stems.len() < MOST_WORDS {
            stems.insert(word.as_str().into(), stem.as_str().into());
        }
        *word = stem;
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn remembers_each_language_apart(words in prop::collection::vec(("(run|corr|casa|hous)(s|ning|ere|e|i)?", any::<bool>()), 0..40)) {
            for (word, english) in words {
                let algorithm = if english { Algorithm::English } else { Algorithm::Italian };
                let mut stemmed = word.clone();
                stem(algorithm, &mut stemmed);
                prop_assert_eq!(&stemmed, &*Stemmer::create(algorithm).stem(&word));
            }
        }
    }
}
