//! Leaves with one, a few and many posting lists, against maps from documents to their content.

use std::collections::BTreeMap;
use std::ops::Range;

use proptest::prelude::*;

use super::*;
use crate::index::build::writer::tests::{List as Postings, segment_with};
use crate::index::format::zone::{ZONES, ZoneSet};
use crate::index::{CodeChoice, Options};
use crate::search::score::{Found, Model, Scorer, Statistics};

const TERMS: [&str; 7] = ["pa", "pb", "pc", "pd", "pe", "pf", "pg"];

/// Postings that are dense in places, sparse in others, and span more than a window or two.
fn some_postings() -> impl Strategy<Value = Postings> {
    let positions = prop::collection::btree_set(0u32..30, 1..5);
    let gap = prop_oneof![12 => 1u32..4, 1 => 1u32..900];
    prop::collection::vec((gap, positions), 1..120).prop_map(|postings| {
        let mut next = 0;
        let place = |(gap, positions): (u32, std::collections::BTreeSet<u32>)| {
            next += gap;
            (next - 1, positions.into_iter().collect())
        };
        postings.into_iter().map(place).collect()
    })
}

/// The posting lists of one leaf: 1, 3 or 7 of them.
fn some_lists() -> impl Strategy<Value = Vec<Postings>> {
    prop::sample::select(&[1usize, 3, 7][..])
        .prop_flat_map(|lists| prop::collection::vec(some_postings(), lists))
}

fn some_scorer() -> impl Strategy<Value = Scorer> {
    prop::sample::select(&[Scorer::Bm25, Scorer::Bm25f, Scorer::TfIdf, Scorer::QueryLikelihood][..])
}

/// A leaf on a segment, and its model.
struct Case {
    _folder: tempfile::TempDir,
    segment: Segment,
    scoring: Scoring,
    /// For each document with the leaf: its score and all positions.
    model: BTreeMap<u32, (f64, Vec<u32>)>,
    lists: Vec<(Zone, List)>,
}

impl Case {
    fn new(postings: &[Postings], scorer: Scorer) -> Case {
        let folder = tempfile::tempdir().unwrap();
        let terms: Vec<(&str, Postings)> = TERMS.into_iter().zip(postings.iter().cloned()).collect();
        let codes = CodeChoice { quantum: 16, ..CodeChoice::default() };
        let segment = segment_with(folder.path(), &terms, &Options { codes, ..Options::default() });
        let statistics = Statistics::of(segment.totals());
        let found = Found { zones: ZoneSet::BODY, documents: 40, occurrences: 90 };
        let score = Model { scorer, ..Model::default() }.leaf(&statistics, &found, 1.5);
        let words = |document| segment.words(document, Zone::Body).unwrap() as u16;
        let lengths: Lengths = Arc::new(segment.documents().map(words).collect());
        let mut of_zones = [const { None }; ZONES];
        of_zones[Zone::Body as usize] = Some(lengths.clone());
        let bag = Some(lengths.clone()).filter(|_| scorer != Scorer::Bm25f);
        let mut xs: BTreeMap<u32, (f64, Vec<u32>)> = BTreeMap::new();
        for (document, positions) in postings.iter().flatten() {
            let (x, all) = xs.entry(*document).or_default();
            *x += score.parts[Zone::Body as usize].of(positions.len() as u32, lengths[*document as usize]);
            all.extend(positions);
        }
        for (document, (x, positions)) in &mut xs {
            *x = grain(score.shape.score(*x, lengths[*document as usize]));
            positions.sort_unstable();
            positions.dedup();
        }
        let lists: Vec<_> = terms.iter().flat_map(|(term, _)| segment.find(term).unwrap().unwrap()).collect();
        let scoring = Scoring { score, lengths: of_zones, bag, alone: lists.len() == 1 };
        Case { _folder: folder, segment, scoring, model: xs, lists }
    }

    fn cursor(&self) -> LeafCursor<'_> {
        LeafCursor::new(&self.segment, &self.lists, &self.scoring).unwrap()
    }

    fn from(&self, document: u32) -> DocId {
        self.model.range(document..).next().map_or(DocId::END, |(document, _)| DocId(*document))
    }

    fn most(&self, range: Range<u32>) -> f64 {
        let scores = self.model.range(range).map(|(_, (score, _))| *score);
        scores.fold(0.0, f64::max)
    }
}

/// Equal up to the one rounding that a leaf with a single posting list avoids.
fn alike(left: f64, right: f64) -> bool {
    (left - right).abs() <= 2f64.powi(-30)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn is_the_union_of_its_lists(
        postings in some_lists(),
        scorer in some_scorer(),
        moves in prop::collection::vec(prop::option::of(0u32..200), 60),
    ) {
        let case = Case::new(&postings, scorer);
        let mut cursor = case.cursor();
        prop_assert!(cursor.estimate() >= case.model.len() as u64);
        let (mut place, mut positions) = (case.from(0), Vec::new());
        for step in moves {
            prop_assert_eq!(cursor.document(), place);
            if let Some((score, all)) = case.model.get(&place.0) {
                prop_assert!(alike(cursor.score().unwrap(), *score));
                prop_assert!(cursor.is_in(Zone::Body).unwrap() && !cursor.is_in(Zone::Title).unwrap());
                cursor.positions(place, Zone::Body, &mut positions).unwrap();
                prop_assert_eq!(&positions, all);
                let counts = cursor.counts().unwrap();
                let occurrences = postings.iter().flatten().filter(|(document, _)| *document == place.0);
                let occurrences = occurrences.map(|(_, positions)| positions.len() as u32).sum::<u32>();
                prop_assert_eq!((counts.len(), counts[0].0, counts[0].1), (1, Zone::Body, occurrences));
            }
            let target = place.0.saturating_add(step.unwrap_or(1));
            place = if place == DocId::END { place } else { case.from(target) };
            let moved = if step.is_some() { cursor.skip_to(DocId(target)) } else { cursor.advance() };
            prop_assert_eq!(moved.unwrap(), place);
        }
    }

    #[test]
    fn blocks_and_windows_hold_what_a_walk_finds(postings in some_lists(), scorer in some_scorer(), begin in 0u32..3000, end in 1u32..3000) {
        let case = Case::new(&postings, scorer);
        let mut walk = case.cursor();
        let mut walked: BTreeMap<u32, f64> = BTreeMap::new();
        while walk.document() != DocId::END {
            walked.insert(walk.document().0, walk.score().unwrap());
            walk.advance().unwrap();
        }

        let mut by_blocks = case.cursor();
        let (mut block, mut found) = (BlockScores::new(), BTreeMap::new());
        for end in [DocId(end), DocId::END] {
            while by_blocks.document() < end {
                by_blocks.score_block(end, &mut block).unwrap();
                found.extend(block.documents.iter().copied().zip(block.scores.iter().copied()));
            }
            prop_assert_eq!(by_blocks.document(), case.from(end.0));
        }
        prop_assert_eq!(&found, &walked);

        let (mut poured, mut marked) = (case.cursor(), case.cursor());
        let mut pool = Pool::new();
        let mut start = begin;
        while poured.skip_to(DocId(start)).unwrap() != DocId::END {
            start = start.max(poured.document().0);
            let floor = start / WINDOW * WINDOW;
            let end = DocId(floor + WINDOW);
            let expected: Vec<(usize, f64)> =
                walked.range(start..end.0).map(|(document, score)| ((document - floor) as usize, *score)).collect();
            poured.pour::<true>(DocId(floor), end, &mut pool).unwrap();
            let mut met = Vec::new();
            each_set(&pool.met, |place| {
                met.push((place, pool.sums[place]));
                Ok(())
            }).unwrap();
            prop_assert_eq!(&met, &expected);
            prop_assert_eq!(poured.document(), case.from(end.0));
            pool = Pool::new();

            let mut marks = [0; WINDOW as usize];
            // Only documents marked before are marked again.
            expected.iter().step_by(2).for_each(|(place, _)| marks[*place] = 4);
            marked.skip_to(DocId(start)).unwrap();
            marked.mark(DocId(floor), end, 4, &mut marks).unwrap();
            let again: Vec<usize> = (0..marks.len()).filter(|place| marks[*place] > 0).collect();
            prop_assert!(again.iter().all(|place| marks[*place] == 5));
            prop_assert!(again.into_iter().eq(expected.iter().step_by(2).map(|(place, _)| *place)));
            prop_assert_eq!(marked.document(), case.from(end.0));
            start = end.0;
        }
    }

    #[test]
    fn bounds_are_not_passed(postings in some_lists(), scorer in some_scorer(), moves in prop::collection::vec((0u32..300, 0u32..600), 20)) {
        let case = Case::new(&postings, scorer);
        let mut cursor = case.cursor();
        prop_assert!(cursor.most().unwrap() >= case.most(0..u32::MAX));
        let mut start = 0;
        for (by, length) in moves {
            start += by;
            // A cursor may lag behind.
            let (bound, end) = cursor.bound_at(DocId(start)).unwrap();
            prop_assert!(end > DocId(start) && bound >= case.most(start..end.0));
            let end = start + length;
            prop_assert!(cursor.bound(DocId(start), DocId(end)).unwrap() >= case.most(start..end));
            if by % 2 == 0 {
                cursor.skip_to(DocId(start)).unwrap();
            }
        }
        cursor.skip_to(DocId::END).unwrap();
        prop_assert_eq!((cursor.most().unwrap(), cursor.bound_at(DocId(0)).unwrap().0), (0.0, 0.0));
    }
}

#[test]
fn a_leaf_without_lists_is_in_no_document() {
    let case = Case::new(&[vec![(3, vec![1])]], Scorer::Bm25f);
    let mut cursor = LeafCursor::new(&case.segment, &[], &case.scoring).unwrap();
    assert_eq!((cursor.document(), cursor.estimate()), (DocId::END, 0));
    assert_eq!(cursor.advance().unwrap(), DocId::END);
    assert_eq!(cursor.skip_to(DocId(7)).unwrap(), DocId::END);
    assert_eq!(cursor.bound_at(DocId(0)).unwrap(), (0.0, DocId::END));
    let mut positions = vec![1];
    cursor.positions(DocId(3), Zone::Body, &mut positions).unwrap();
    assert!(positions.is_empty());
}
