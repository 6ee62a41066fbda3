//! Discovery against all pairs.

use proptest::prelude::*;

use super::options::WeightsName;
use super::*;
use crate::duplicates::{Measure, Normal, Unit, batch, distinct};

/// So little that there are several passes.
const MEMORY: usize = 1 << 14;

fn options(method: Method) -> Options {
    Options {
        method,
        unit: Unit::Word,
        size: 2,
        threshold: 0.6,
        confirm: Confirm::Ngrams,
        measure: Measure::Jaccard,
        linkage: Linkage::Leader,
    }
}

fn minhash() -> Method {
    Method::Minhash { bins: 256, recall: 0.9999 }
}

/// Texts of which many are edited copies of others.
fn corpus() -> impl Strategy<Value = Vec<String>> {
    let edit = (0usize..6, 0usize..30, 0usize..40, any::<bool>());
    prop::collection::vec(edit, 1..60).prop_map(|edits| {
        let text = |(base, at, word, is_edited): (usize, usize, usize, bool)| {
            let mut words: Vec<String> = (0..40).map(|number| format!("w{}", base * 1000 + number)).collect();
            if is_edited {
                words[at] = format!("e{word}");
                words[(at * 7) % 40] = format!("f{word}");
            }
            words.join(" ")
        };
        edits.into_iter().map(text).collect()
    })
}

fn found(options: &Options, texts: &[String], batch: usize) -> (Vec<Pair>, Vec<u32>) {
    let folder = tempfile::tempdir().unwrap();
    let mut discovery = Discovery::open(folder.path(), options.clone(), MEMORY).unwrap();
    for texts in texts.chunks(batch) {
        discovery.add(texts, false).unwrap();
        discovery.commit(b"here").unwrap();
        drop(discovery);
        discovery = Discovery::open(folder.path(), options.clone(), MEMORY).unwrap();
        assert_eq!(discovery.position(), Some(&b"here"[..]));
    }
    discovery.find(&Pulse::STEADY).unwrap();
    (discovery.pairs(0, usize::MAX).unwrap(), discovery.leaders().unwrap())
}

fn sets(options: &Options, texts: &[String]) -> Vec<Vec<u64>> {
    batch::map(texts, options.kept(), |signals| {
        distinct(signals);
        signals.clone()
    })
}

/// The leader of each document by the definition.
fn led(similar: impl Fn(usize, usize) -> Option<f64>, count: usize, linkage: Linkage) -> Vec<u32> {
    let mut clusters: Vec<Vec<usize>> = Vec::new();
    for document in 0..count {
        let mut best: Option<(f64, usize)> = None;
        for (number, members) in clusters.iter().enumerate() {
            let compared = if linkage == Linkage::Leader { &members[..1] } else { &members[..] };
            let similarities: Option<Vec<f64>> =
                compared.iter().map(|member| similar(*member, document)).collect();
            let Some(similarities) = similarities else { continue };
            let greatest = similarities.into_iter().fold(0.0, f64::max);
            if best.is_none_or(|best| greatest > best.0) {
                best = Some((greatest, number));
            }
        }
        match best {
            Some((_, cluster)) => clusters[cluster].push(document),
            None => clusters.push(vec![document]),
        }
    }
    let mut leaders = vec![0; count];
    clusters
        .iter()
        .for_each(|members| members.iter().for_each(|member| leaders[*member] = members[0] as u32));
    leaders
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    #[test]
    fn every_method_finds_what_all_pairs_have(texts in corpus(), batch in 1usize..70, complete in any::<bool>()) {
        let linkage = if complete { Linkage::Complete } else { Linkage::Leader };
        for method in [minhash(), Method::Fingerprint { modulus: 1, window: 4 }] {
            let options = Options { linkage, ..options(method) };
            let sets = sets(&options, &texts);
            let similar = |one: usize, other: usize| {
                Some(options.measure.of(&sets[one], &sets[other])).filter(|found| *found >= options.threshold)
            };
            let (pairs, leaders) = found(&options, &texts, batch);
            prop_assert_eq!(&leaders, &led(similar, texts.len(), linkage));
            for pair in &pairs {
                let similarity = similar(pair.one as usize, pair.other as usize).unwrap_or(0.0);
                prop_assert!((similarity - f64::from(pair.similarity)).abs() < 1e-6);
            }
            // Equal documents are represented by the first of them.
            let first = |document: usize| sets.iter().position(|set| set == &sets[document]) == Some(document);
            let firsts: Vec<usize> = (0..texts.len()).filter(|document| first(*document)).collect();
            let expected = firsts.iter().flat_map(|other| firsts.iter().map(move |one| (*one, *other)));
            let expected = expected.filter(|(one, other)| one < other && similar(*one, *other).is_some()).count();
            prop_assert_eq!(pairs.len(), expected + texts.len() - firsts.len());
        }
    }

    #[test]
    fn simhash_finds_all_pairs_within_the_distance(texts in corpus(), distance in 0u32..8, bits in prop::sample::select(vec![32u32, 64, 128])) {
        let distance = distance.min(bits / 4);
        for weights in [WeightsName::Set, WeightsName::Frequency, WeightsName::TfIdf] {
            let options = options(Method::Simhash { bits, distance, weights, verify: false });
            let (pairs, leaders) = found(&options, &texts, 7);
            prop_assert_eq!(leaders.len(), texts.len());
            if weights == WeightsName::TfIdf {
                continue;
            }
            let weights = if weights == WeightsName::Set { Weights::Set } else { Weights::Frequency };
            let hashes = batch::map(&texts, options.signals(), |signals| keys::simhash_of(signals, weights, bits));
            let first = |document: usize| texts.iter().position(|text| text == &texts[document]) == Some(document);
            let firsts: Vec<usize> = (0..texts.len()).filter(|document| first(*document)).collect();
            let near = |one: usize, other: usize| (hashes[one] ^ hashes[other]).count_ones() <= distance;
            let expected = firsts.iter().flat_map(|other| firsts.iter().map(move |one| (*one, *other)));
            let expected = expected.filter(|(one, other)| one < other && near(*one, *other)).count();
            prop_assert_eq!(pairs.len(), expected + texts.len() - firsts.len());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    #[test]
    fn words_confirm_what_n_grams_find(texts in corpus(), batch in 1usize..70, size in 1usize..4) {
        for method in [minhash(), Method::Fingerprint { modulus: 1, window: 1 }] {
            let options = Options { confirm: Confirm::Words, threshold: 0.87, size, ..options(method) };
            let (words, grams) = (sets(&options, &texts), sets(&Options { confirm: Confirm::Ngrams, ..options.clone() }, &texts));
            let similarity = |one: usize, other: usize| options.measure.of(&words[one], &words[other]);
            let (pairs, _) = found(&options, &texts, batch);
            for pair in &pairs {
                let [one, other] = [pair.one, pair.other].map(|document| document as usize);
                prop_assert!(similarity(one, other) >= options.threshold);
                prop_assert!((similarity(one, other) - f64::from(pair.similarity)).abs() < 1e-6);
            }
            // Equal documents are represented by the first of them.
            let first = |document: usize| grams.iter().position(|set| set == &grams[document]) == Some(document);
            let firsts: Vec<usize> = (0..texts.len()).filter(|document| first(*document)).collect();
            let all = firsts.iter().flat_map(|other| firsts.iter().map(move |one| (*one, *other)));
            let expected = all.filter(|(one, other)| one < other && similarity(*one, *other) >= options.threshold).count();
            prop_assert_eq!(pairs.len(), expected + texts.len() - firsts.len());
        }
    }
}

#[test]
fn documents_with_other_words_all_over_are_compared() {
    // Every twentieth word of 2,000 is another one: 95 % of the words and 85 % of the triples are left.
    let text = |edit: &str| {
        let word = |number: usize| {
            if number.is_multiple_of(20) { format!("{edit}{number}") } else { format!("w{number}") }
        };
        (0..2000).map(word).collect::<Vec<_>>().join(" ")
    };
    let options = Options { confirm: Confirm::Words, threshold: 0.9, size: 3, ..options(minhash()) };
    let of = |options: &Options| {
        let sets = sets(options, &[text("a"), text("b")]);
        Measure::Jaccard.of(&sets[0], &sets[1])
    };
    let grams = of(&Options { confirm: Confirm::Ngrams, ..options.clone() });
    assert!((of(&options) - 0.905).abs() < 0.001);
    // The first word is in one triple, every other one that is replaced in three: 298 of 1,998.
    assert!((grams - 1700.0 / 2296.0).abs() < 1e-9);
    assert!((options.compared_from() - 0.739).abs() < 0.001 && grams >= options.compared_from());
    let weights = WeightsName::TfIdf;
    let method = Method::Simhash { bits: 64, distance: 3, weights, verify: true };
    assert!(matches!(Options { method, ..options }.check(), Err(Error::Invalid(_))));
}

#[test]
fn exact_duplicates_are_of_one_normal_form() {
    let method = Method::Exact { normal: Normal::WORDS, sampled: false };
    let texts = ["One  two", "three", "one two", "", "ONE TWO", ""].map(String::from);
    assert_eq!(found(&options(method), &texts, 4).1, [0, 1, 0, 3, 0, 3]);
}

#[test]
fn one_document_many_times_is_one_cluster() {
    let texts = vec!["the same words again and again".to_owned(); 2_000];
    let (pairs, leaders) = found(&options(minhash()), &texts, 500);
    assert_eq!((pairs.len(), leaders.iter().max()), (texts.len() - 1, Some(&0)));
}

#[test]
fn a_document_that_is_contained_in_one_before_it_follows_it() {
    let long: Vec<String> = (0..40).map(|word| format!("w{word}")).collect();
    let texts = [long.join(" "), long[..30].join(" ")];
    let options = Options { threshold: 0.8, measure: Measure::Containment, ..options(minhash()) };
    assert_eq!(found(&options, &texts, 2).1, [0, 0]);
    assert_eq!(found(&options, &[texts[1].clone(), texts[0].clone()], 2).1, [0, 1]);
}

#[test]
fn references_are_kept_and_lead() {
    let folder = tempfile::tempdir().unwrap();
    let text =
        |first: usize| (first..first + 50).map(|word| format!("w{word}")).collect::<Vec<_>>().join(" ");
    let mut discovery = Discovery::open(folder.path(), options(minhash()), MEMORY).unwrap();
    // The third is equal to the first: they are no pair, and it is not of the first one's cluster.
    discovery.add(&[text(0), text(1), text(0)], true).unwrap();
    discovery.add(&[text(2), text(1000), text(1001)], false).unwrap();
    assert!(discovery.add(&[text(3)], true).is_err());
    discovery.find(&Pulse::STEADY).unwrap();
    let leaders = discovery.leaders().unwrap();
    assert_eq!([&leaders[..3], &leaders[4..]], [&[0, 1, 2][..], &[4, 4]]);
    assert!(leaders[3] < 2);
    assert!(discovery.pairs(0, 100).unwrap().iter().all(|pair| pair.other >= 3));
}

#[test]
fn other_options_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut discovery = Discovery::open(folder.path(), options(minhash()), MEMORY).unwrap();
    discovery.commit(b"").unwrap();
    let other = Options { threshold: 0.7, ..options(minhash()) };
    assert!(matches!(Discovery::open(folder.path(), other, MEMORY), Err(Error::Invalid(_))));
}
