//! From the surface of a token to its term: folded and stemmed, and cached, because words repeat.
//!
//! Each thread has two caches per stemmer. The first is direct-mapped, with 4,096 slots of 64 bytes
//! (256 KiB): a surface hashes to one slot, which keeps the last surface stored there, by Zipf's law mostly a
//! frequent one; so most terms cost one cache line. The second maps up to 32,768 folded words to their stems
//! (about 3 MiB), because stemming takes a microsecond; when it is full it admits no more.

use std::cell::RefCell;

use rustc_hash::FxHashMap;
use snowball_stemmers_rs::{Algorithm, Stemmer};

use super::fold::fold;
use super::joint::has_joint;

/// The longest word that has a term, in bytes.
pub const LONGEST_WORD: usize = 64;
/// The longest whole that has a term, in bytes.
pub const LONGEST_WHOLE: usize = 128;

const MOST_STEMS: usize = 1 << 15;
const PLACES: usize = 1 << 12;
const ROOM: usize = 31;

#[derive(Clone)]
#[repr(align(64))]
struct Place {
    surface_length: u8,
    term_length: u8,
    surface: [u8; ROOM],
    term: [u8; ROOM],
}

impl Place {
    const EMPTY: Place = Place { surface_length: 0, term_length: 0, surface: [0; ROOM], term: [0; ROOM] };

    /// The term of `surface`, if this slot holds it.
    fn recall(&self, surface: &str) -> Option<&str> {
        if self.surface.get(..usize::from(self.surface_length)) != Some(surface.as_bytes()) {
            return None;
        }
        self.term.get(..usize::from(self.term_length)).and_then(|term| std::str::from_utf8(term).ok())
    }

    fn remember(&mut self, surface: &str, term: &str) {
        let (Some(surface_room), Some(term_room)) =
            (self.surface.get_mut(..surface.len()), self.term.get_mut(..term.len()))
        else {
            return;
        };
        surface_room.copy_from_slice(surface.as_bytes());
        term_room.copy_from_slice(term.as_bytes());
        // Both are at most `ROOM`.
        (self.surface_length, self.term_length) = (surface.len() as u8, term.len() as u8);
    }
}

/// A stemmer and its cache of stems.
struct Stems {
    stemmer: Stemmer,
    known: FxHashMap<Box<str>, Box<str>>,
}

impl Stems {
    fn new(algorithm: Algorithm) -> Stems {
        Stems { stemmer: Stemmer::create(algorithm), known: FxHashMap::default() }
    }

    /// Replaces a word with its stem.
    fn stem(&mut self, word: &mut String) {
        if let Some(known) = self.known.get(word.as_str()) {
            word.clear();
            word.push_str(known);
            return;
        }
        let stem = self.stemmer.stem(word).into_owned();
        if self.known.len() < MOST_STEMS {
            self.known.insert(word.as_str().into(), stem.as_str().into());
        }
        *word = stem;
    }
}

struct Tables {
    algorithm: Option<Algorithm>,
    places: Vec<Place>,
    stems: Option<Stems>,
}

impl Tables {
    fn new(algorithm: Option<Algorithm>) -> Tables {
        Tables { algorithm, places: vec![Place::EMPTY; PLACES], stems: algorithm.map(Stems::new) }
    }
}

thread_local! {
    static TABLES: RefCell<Vec<Tables>> = const { RefCell::new(Vec::new()) };
}

/// Writes the term of a token into `term`, which is cleared first; it stays empty if the token is too long.
/// A whole is not stemmed.
pub fn term_into(algorithm: Option<Algorithm>, surface: &str, term: &mut String) {
    TABLES.with_borrow_mut(|all| {
        let known = all.iter().position(|tables| tables.algorithm == algorithm);
        let number = known.unwrap_or_else(|| {
            all.push(Tables::new(algorithm));
            all.len() - 1
        });
        let Tables { places, stems, .. } = &mut all[number];
        let place = &mut places[place_of(surface)];
        term.clear();
        if let Some(known) = place.recall(surface) {
            term.push_str(known);
            return;
        }
        make(stems.as_mut(), surface, term);
        place.remember(surface, term);
    });
}

/// Calls `visit` with each surface and its term, bypassing the caches: for generated words.
pub fn passing_terms(
    algorithm: Option<Algorithm>,
    surfaces: impl Iterator<Item = String>,
    mut visit: impl FnMut(String, &str),
) {
    let (mut stems, mut term) = (algorithm.map(Stems::new), String::new());
    for surface in surfaces {
        term.clear();
        make(stems.as_mut(), &surface, &mut term);
        visit(surface, &term);
    }
}

fn make(stems: Option<&mut Stems>, surface: &str, term: &mut String) {
    let whole = has_joint(surface);
    if surface.len() > if whole { LONGEST_WHOLE } else { LONGEST_WORD } {
        return;
    }
    fold(surface, term);
    if let Some(stems) = stems.filter(|_| !whole && may_be_stemmed(term)) {
        stems.stem(term);
    }
}

/// Whether there are stemmers for the script: none from U+2000 on, such as Han, kana and Hangul.
fn may_be_stemmed(folded: &str) -> bool {
    folded.as_bytes().first().is_some_and(|byte| *byte < 0xe2)
}

/// A multiplicative hash, eight bytes at a time.
fn place_of(surface: &str) -> usize {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let (chunks, rest) = surface.as_bytes().as_chunks::<8>();
    let mut hash = surface.len() as u64;
    for chunk in chunks {
        hash = (hash.rotate_left(23) ^ u64::from_le_bytes(*chunk)).wrapping_mul(FACTOR);
    }
    let last = rest.iter().fold(0, |last, byte| last << 8 | u64::from(*byte));
    hash = (hash.rotate_left(23) ^ last).wrapping_mul(FACTOR);
    (hash >> (64 - PLACES.trailing_zeros())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn remembers_each_language_apart(words in prop::collection::vec(("(run|Corr|casà|hous|東京|a_b)(s|ning|ere|e|i){0,20}|x{60,70}|[a-z]{1,3}", 0..3usize), 0..80)) {
            for (word, language) in words {
                let algorithm = [None, Some(Algorithm::English), Some(Algorithm::Italian)][language];
                let (mut found, mut expected) = ("before".to_owned(), String::new());
                term_into(algorithm, &word, &mut found);
                make(algorithm.map(Stems::new).as_mut(), &word, &mut expected);
                prop_assert_eq!(found, expected);
            }
        }
    }
}
