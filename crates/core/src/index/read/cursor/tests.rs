//! Posting lists written in every code and traversed at random, compared with vectors.

use proptest::prelude::*;

use super::*;
use crate::codes::Code;
use crate::index::build::writer::tests::{List as Model, segment_with};
use crate::index::{CodeChoice, Options};

fn some_list() -> impl Strategy<Value = Model> {
    let positions = prop_oneof![
        3 => prop::collection::btree_set(0u32..5000, 1..2),
        2 => prop::collection::btree_set(0u32..5000, 1..6),
    ];
    let gap = prop_oneof![8 => 1u32..4, 1 => 1u32..3000];
    let longest = prop_oneof![1 => Just(1usize), 2 => Just(4), 2 => Just(500)];
    longest.prop_flat_map(move |longest| {
        prop::collection::vec((gap.clone(), positions.clone()), 1..=longest).prop_map(|postings| {
            let mut document = 0;
            let place = |(gap, positions): (u32, std::collections::BTreeSet<u32>)| {
                document += gap;
                (document - 1, positions.into_iter().collect())
            };
            postings.into_iter().map(place).collect()
        })
    })
}

/// Any code for each component, or `auto`, and any quantum.
fn some_options() -> impl Strategy<Value = Options> {
    // Codes whose codewords grow with the number itself refuse large gaps, as they should.
    let codes: Vec<Code> =
        Code::all().into_iter().filter(|code| !["unary"].contains(&code.to_string().as_str())).collect();
    let code = || prop::option::of(prop::sample::select(codes.clone()));
    (code(), code(), code(), 16u32..200).prop_map(|(pointers, counts, positions, quantum)| Options {
        codes: CodeChoice { pointers, counts, positions, quantum, ..CodeChoice::default() },
        ..Options::default()
    })
}

fn only_list(segment: &Segment, term: &str) -> List {
    segment.find(term).unwrap().unwrap().remove(0).1
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases(40)))]
    #[test]
    fn reads_what_was_written(list in some_list(), other in some_list(), options in some_options()) {
        let dir = tempfile::tempdir().unwrap();
        let segment = segment_with(dir.path(), &[("apple", other), ("pear", list.clone())], &options);
        let mut cursor = Cursor::new(Source::Segment(&segment), only_list(&segment, "pear")).unwrap();
        let mut read = Vec::new();
        while cursor.document() != DocId::END {
            let mut positions = Vec::new();
            cursor.positions(&mut positions).unwrap();
            prop_assert_eq!(cursor.count().unwrap() as usize, positions.len());
            read.push((cursor.document().0, positions));
            cursor.advance().unwrap();
        }
        prop_assert_eq!(cursor.advance().unwrap(), DocId::END);
        prop_assert_eq!(read, list);
    }

    #[test]
    fn moves_like_a_vector(list in some_list(), options in some_options(), moves in prop::collection::vec(prop::option::of(0u32..400), 0..60)) {
        let dir = tempfile::tempdir().unwrap();
        let segment = segment_with(dir.path(), &[("pear", list.clone())], &options);
        let mut cursor = Cursor::new(Source::Segment(&segment), only_list(&segment, "pear")).unwrap();
        let mut at = 0;
        for step in moves {
            let current = list.get(at).map_or(DocId::END, |(document, _)| DocId(*document));
            prop_assert_eq!(cursor.document(), current);
            let moved = match step {
                None => {
                    at = (at + 1).min(list.len());
                    cursor.advance().unwrap()
                }
                Some(by) => {
                    let target = current.0.saturating_add(by);
                    at += list[at..].partition_point(|(document, _)| *document < target);
                    cursor.skip_to(DocId(target)).unwrap()
                }
            };
            prop_assert_eq!(moved, list.get(at).map_or(DocId::END, |(document, _)| DocId(*document)));
            let score = |count: u32, length: u32| count as f32 / (count as f32 + length as f32);
            if let Some((document, positions)) = list.get(at) {
                prop_assert_eq!(cursor.count().unwrap() as usize, positions.len());
                let (maxima, last) = cursor.maxima_at(DocId(*document)).unwrap();
                prop_assert!(last >= DocId(*document));
                let own = score(positions.len() as u32, segment.words(DocId(*document), crate::index::Zone::Body).unwrap());
                for bound in [maxima, cursor.maxima()].into_iter().flatten() {
                    prop_assert!(bound.bound(score) >= own);
                }
            }
        }
    }
}
