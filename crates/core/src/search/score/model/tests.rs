//! Each model against its formula, and block corners as bounds.

use proptest::prelude::*;

use super::*;
use crate::index::format::maxima::Maxima;

/// 1,000 documents with an average of 100 words of body and 5 of title.
const STATISTICS: Statistics = Statistics { documents: 1000, words: [100_000, 5_000, 0, 0, 0] };

fn zones(zones: &[Zone]) -> ZoneSet {
    let mut set = ZoneSet::default();
    zones.iter().for_each(|zone| set.insert(*zone));
    set
}

/// The score of 3 occurrences in 80 words of body and 1 in 8 of title, for a leaf with document frequency 50
/// and 70 occurrences.
fn score(model: &Model) -> f64 {
    let found = Found { zones: zones(&[Zone::Body, Zone::Title]), documents: 50, occurrences: 70 };
    let leaf = model.leaf(&STATISTICS, &found, 2.0);
    let length = |of_zone: u16| if model.is_bag() { 88 } else { of_zone };
    let x =
        leaf.parts[Zone::Body as usize].of(3, length(80)) + leaf.parts[Zone::Title as usize].of(1, length(8));
    leaf.shape.score(x, 88)
}

#[test]
fn models_are_their_formulas() {
    let of = |scorer| Model { scorer, ..Model::default() };
    let idf = (1.0 + 950.5f64 / 50.5).ln();
    let length = 0.25 + 0.75 * 88.0 / 105.0;
    let expected = [
        (Scorer::Bm25, 2.0 * idf * 2.2 * 4.0 / (4.0 + 1.2 * length)),
        (Scorer::Bm25f, {
            let x = 3.0 / (0.25 + 0.75 * 80.0 / 100.0) + 1.0 / (0.25 + 0.75 * 8.0 / 5.0);
            2.0 * idf * 2.2 * x / (1.2 + x)
        }),
        (Scorer::TfIdf, {
            2.0 * (1001.0f64 / 50.0).ln() * (1.0 + (1.0 + 4f64.ln()).ln()) / (0.8 + 0.2 * 88.0 / 105.0)
        }),
        (Scorer::QueryLikelihood, 2.0 * (4f64 / (1000.0 * 70.0 / 105_000.0)).ln_1p()),
    ];
    for (scorer, expected) in expected {
        assert!((score(&of(scorer)) - expected).abs() < 1e-12, "{scorer:?}");
    }
    assert_eq!(of(Scorer::Bm25).of_length(3.0, 88.0), 0.0);
    assert!((of(Scorer::QueryLikelihood).of_length(3.0, 88.0) - 3.0 * (1000f64 / 1088.0).ln()).abs() < 1e-12);
}

#[test]
fn what_nobody_wrote_divides_by_nothing() {
    for scorer in [Scorer::Bm25, Scorer::Bm25f, Scorer::TfIdf, Scorer::QueryLikelihood] {
        let model = Model { scorer, ..Model::default() };
        for statistics in [Statistics::default(), STATISTICS] {
            let found = Found { zones: zones(&[Zone::Anchors]), documents: 0, occurrences: 0 };
            let leaf = model.leaf(&statistics, &found, 1.0);
            assert!(
                leaf.shape.score(leaf.parts[Zone::Anchors as usize].of(1, 1), 1).is_finite(),
                "{scorer:?}"
            );
        }
    }
}

#[test]
fn words_without_a_zone_are_looked_for_where_zones_weigh() {
    let mut model = Model::default();
    assert_eq!(model.searched(), zones(&Zone::SEARCHED));
    model.title_weight = 0.0;
    assert_eq!(model.searched(), zones(&[Zone::Body, Zone::Anchors]));
}

proptest! {
    #[test]
    fn corners_bound_every_score(
        scorer in prop::sample::select(&[Scorer::Bm25, Scorer::Bm25f, Scorer::TfIdf, Scorer::QueryLikelihood][..]),
        k1 in prop_oneof![Just(0.0), 0f64..1000.0],
        b in prop_oneof![Just(0.0), Just(1.0), 0f64..1.0],
        slope in 0f64..=1.0,
        mu in 1e-3f64..1e6,
        postings in prop::collection::vec((prop_oneof![1u32..400, any::<u32>()], 1u16..), 1..130),
        elsewhere in 0u16..500,
    ) {
        let model = Model { scorer, k1, b, slope, mu, ..Model::default() };
        let leaf = model.leaf(&STATISTICS, &Found { zones: ZoneSet::BODY, documents: 50, occurrences: 70 }, 1.0);
        let part = leaf.parts[0];
        let corners = Maxima::of(postings.iter().map(|(count, length)| ((*count).max(1), u32::from(*length))));
        let x_of = |corner: crate::index::format::maxima::Corner| part.of(corner.count(), corner.length() as u16);
        let most = corners.0.map(x_of).into_iter().fold(0.0, f64::max);
        let bound = super::super::above(leaf.shape.score(most, 1));
        for (count, length) in postings {
            // A bag of several zones is longer than any of them.
            let bag = length.saturating_add(elsewhere);
            let x = part.of(count.max(1), if model.is_bag() { bag } else { length });
            prop_assert!(bound >= super::super::grain(leaf.shape.score(x, bag)), "{:?}", model);
        }
    }
}
