//! All methods return the same documents with the same scores, to the last bit.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use super::model::{SCORERS, some_model, some_query};
use super::*;
use crate::search::matching::Intersection;
use crate::search::rank::Method;
use crate::search::score::{Model, Proximity};

const INTERSECTIONS: [Intersection; 3] = [Intersection::Greedy, Intersection::Heap, Intersection::Adaptive];

/// Queries that only exhaustive search and the interval model can check, beyond the generated ones.
const INTERVALS: [&str; 5] = [
    "\"apron bird\"~4",
    "(apron < drum)~6",
    "apron NOT CONTAINING bird",
    "(bird OR elm) INSIDE [3,3] fox",
    "(apron < bird < dr*)~12",
];

pub fn some_text() -> impl Strategy<Value = String> {
    let interval = || prop::sample::select(&INTERVALS[..]);
    prop_oneof![
        6 => some_query().prop_map(|query| query.text()),
        1 => interval().prop_map(str::to_owned),
        1 => (some_query(), interval()).prop_map(|(query, interval)| format!("+({}) +({interval})", query.text())),
        1 => (some_query(), interval()).prop_map(|(query, interval)| format!("({}) ({interval})", query.text())),
    ]
}

/// A pseudorandom rank.
pub fn rank_of(signature: Signature) -> Result<f32> {
    Ok((signature.0 % 97) as f32 / 10.0)
}

/// Asserts that every method finds the same top k as exhaustive scoring, and the same count.
fn assert_agreement(searcher: &Searcher, request: &Request<'_>, depths: &[usize]) {
    let rank = |request: &Request<'_>| searcher.rank(request, &Pulse::STEADY).unwrap();
    let mut all = Request { depth: 100_000, ..request.clone() };
    all.options.method = Method::Exhaustive;
    let all = rank(&all);
    assert!(all.exact && !all.partial);
    let expected = places(&all);
    let counted = searcher.count(&Request { count: u64::MAX, ..request.clone() }, &Pulse::STEADY).unwrap();
    assert_eq!(counted, (expected.len() as u64, true), "{request:?}");
    for (name, method) in Method::ALL {
        for depth in depths {
            let mut asked = Request { depth: *depth, count: 0, ..request.clone() };
            asked.options.method = *method;
            let found = rank(&asked);
            let expected = &expected[..expected.len().min(*depth)];
            assert_eq!(places(&found), expected, "{name} of {depth}: {request:?}");
            assert_eq!((found.matches, found.exact), (expected.len() as u64, expected.len() < *depth));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases(4)))]
    #[test]
    fn methods_agree_on_small_segments(
        pages in some_pages(),
        again in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        gone in any::<prop::sample::Index>(),
        texts in prop::collection::vec(some_text(), 4),
        rank_weight in prop::sample::select(&[0.0, 0.4, 3.0][..]),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let renewed: BTreeSet<usize> = again.iter().map(|index| index.index(pages.len())).collect();
        let newer: Vec<Page> = renewed
            .iter()
            .map(|place| Page { url: pages[*place].url.clone(), ..pages[pages.len() - 1 - *place].clone() })
            .collect();
        let (first, second) = pages.split_at(pages.len() / 2);
        let mut files = build(dir.path(), &[first, second, &newer], &small_blocks());
        let mut builder = IndexBuilder::new(dir.path(), 9, Options::default());
        builder.delete(std::iter::once(Signature::of(pages[gone.index(pages.len())].url.as_bytes())));
        files.extend(builder.finish(&Pulse::STEADY).unwrap());
        let searcher = Searcher::open(dir.path(), &files, rank_of, &Pulse::STEADY).unwrap();
        for text in &texts {
            for scorer in SCORERS {
                for intersection in INTERSECTIONS {
                    let model = Model { scorer, ..Model::default() };
                    let request = everything_with(text, |options| {
                        (options.model, options.rank_weight) = (model, rank_weight);
                        options.intersection = intersection;
                    });
                    assert_agreement(&searcher, &request, &[1, 3, 10, 1000]);
                }
            }
        }
    }

    #[test]
    fn methods_agree_over_blocks_groups_and_windows(
        text in some_text(),
        model in some_model(),
        intersection in prop::sample::select(&INTERSECTIONS[..]),
        rank_weight in prop::sample::select(&[0.0, 0.4, 3.0][..]),
    ) {
        let request = everything_with(&text, |options| {
            (options.model, options.rank_weight) = (model, rank_weight);
            options.intersection = intersection;
        });
        assert_agreement(large(), &request, &[1, 10, 10_000]);
    }

    #[test]
    fn threads_agree_with_one(text in some_text(), model in some_model(), rank_weight in prop::sample::select(&[0.0, 3.0][..])) {
        for depth in [1, 10, 10_000] {
            for (_, method) in Method::ALL {
                let with = |threads| everything_with(&text, |options| {
                    (options.model, options.rank_weight) = (model, rank_weight);
                    (options.method, options.threads) = (*method, threads);
                });
                let one = Request { depth, ..with(1) };
                let several = Request { depth, worth_a_thread: 1, ..with(3) };
                let [one, several] = [one, several].map(|request| large().rank(&request, &Pulse::STEADY).unwrap());
                prop_assert_eq!(places(&several), places(&one), "{:?} of {}: {}", method, depth, text);
                prop_assert_eq!((several.matches, several.exact), (one.matches, one.exact));
            }
        }
    }

    #[test]
    fn explanations_add_up(
        text in some_text(),
        model in some_model(),
        rank_weight in prop::sample::select(&[0.0, 3.0][..]),
        weight in prop::sample::select(&[0.0, 0.5][..]),
    ) {
        // Only some of the hits are reranked by proximity.
        let request = everything_with(&text, |options| {
            (options.model, options.rank_weight) = (model, rank_weight);
            options.proximity = Proximity { weight, depth: 10 };
        });
        let request = Request { depth: 20, ..request };
        let ranking = large().rank(&request, &Pulse::STEADY).unwrap();
        prop_assert!(ranking.hits.is_sorted_by(|left, right| left.ranked > right.ranked));
        for hit in &ranking.hits {
            let explanation = large().explain(&request, &hit.ranked, &Pulse::STEADY).unwrap();
            prop_assert_eq!(explanation.value, hit.ranked.score, "{}: {:?}", text, explanation);
            let sum = |parts: &[Explanation]| parts.iter().map(|part| part.value).sum::<f64>();
            prop_assert_eq!(sum(&explanation.parts), explanation.value);
            for part in explanation.parts.iter().filter(|part| !part.parts.is_empty()) {
                prop_assert_eq!(sum(&part.parts), part.value);
            }
        }
    }
}

/// A segment of 6,000 short documents and one of 700, a tenth of which replace documents of the first.
pub fn large() -> &'static Searcher {
    static LARGE: OnceLock<Searcher> = OnceLock::new();
    LARGE.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        let mut state = 7u64;
        let mut chance = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let mut page = |number: usize| {
            // Most words are rare and bursty.
            let busy = (number / 300).is_multiple_of(3);
            let mut words = |most: usize| -> Vec<usize> {
                let length = chance(most);
                let word =
                    |_| chance(WORDS.len()).min(chance(WORDS.len())).min(if busy { 9 } else { chance(10) });
                (0..length).map(word).collect()
            };
            let (title, body, anchors) = (words(4), words(14), words(2));
            let host = chance(HOSTS.len());
            let (language, kind, day) = (chance(3), chance(3), NEW_YEAR - 5 + chance(10) as u32);
            Page {
                url: format!("http://{}/{number}", HOSTS[host]),
                title,
                body,
                anchors,
                host,
                language,
                kind,
                day,
            }
        };
        let first: Vec<Page> = (0..6000).map(&mut page).collect();
        let mut second: Vec<Page> = (6000..6700).map(&mut page).collect();
        for (place, newer) in second.iter_mut().enumerate().step_by(10) {
            newer.url = first[place * 8].url.clone();
        }
        let files = build(dir.path(), &[&first, &second], &small_blocks());
        let searcher = Searcher::open(dir.path(), &files, rank_of, &Pulse::STEADY).unwrap();
        assert_eq!(searcher.documents(), 6630);
        searcher
    })
}
