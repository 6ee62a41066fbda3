//! A divided index answers as one: the same documents, scores to the last bit, snippets, counts and facets.

use std::collections::HashMap;

use super::agree::{rank_of, some_text};
use super::model::some_model;
use super::*;
use crate::index::format::Piece;
use crate::index::{Assign, Partition, ShardedBuilder, join};
use crate::search::score::Proximity;
use crate::search::shards::{Broker, TermBroker, TermOptions, TermShard, Transport, answer};

/// Shards in this process, behind bytes.
struct Local {
    shards: Vec<Searcher>,
    /// A shard that does not answer.
    silent: Option<usize>,
}

impl Transport for Local {
    fn shards(&self) -> usize {
        self.shards.len()
    }

    fn exchange(&self, messages: Vec<(usize, Vec<u8>)>, pulse: &Pulse) -> Result<Vec<Option<Vec<u8>>>> {
        let ask = |(shard, message): (usize, Vec<u8>)| {
            let answers = self.silent != Some(shard);
            answers.then(|| answer(&self.shards[shard], &message, pulse)).transpose()
        };
        messages.into_iter().map(ask).collect()
    }
}

/// Shards of terms in this process, behind bytes.
struct LocalTerms {
    shards: Vec<TermShard>,
    silent: Option<usize>,
}

impl Transport for LocalTerms {
    fn shards(&self) -> usize {
        self.shards.len()
    }

    fn exchange(&self, messages: Vec<(usize, Vec<u8>)>, pulse: &Pulse) -> Result<Vec<Option<Vec<u8>>>> {
        let ask = |(shard, message): (usize, Vec<u8>)| {
            let answers = self.silent != Some(shard);
            answers.then(|| self.shards[shard].answer(&message, pulse)).transpose()
        };
        messages.into_iter().map(ask).collect()
    }
}

/// A broker of the shards of terms of an index.
fn term_broker(folder: &Path, files: &[SegmentFile], options: TermOptions) -> TermBroker<LocalTerms> {
    let (of_terms, documents): (Vec<_>, Vec<_>) = files.iter().cloned().partition(SegmentFile::is_of_terms);
    let shard_of = |file: &SegmentFile| match Piece::parse(&file.name) {
        Some((_, Piece::Terms(shard))) => shard as usize,
        _ => unreachable!("{file:?}"),
    };
    let shards = of_terms.iter().map(|file| shard_of(file) + 1).max().unwrap_or(1);
    let open = |shard: usize| {
        let own: Vec<_> = of_terms.iter().filter(|file| shard_of(file) == shard).cloned().collect();
        TermShard::open(folder, &own).unwrap()
    };
    let transport = LocalTerms { shards: (0..shards).map(open).collect(), silent: None };
    TermBroker::open(folder, &documents, rank_of, transport, options, &Pulse::STEADY).unwrap()
}

/// Gathered with memory for hot terms and without, and pipelined.
const WAYS: [TermOptions; 3] = [
    TermOptions { bits: 4, hot: 1 << 20, pipelined: false },
    TermOptions { bits: 1, hot: 0, pipelined: false },
    TermOptions { bits: 8, hot: 1 << 12, pipelined: true },
];

/// The folders of one index, of shards by documents, and of shards by terms.
const KINDS_OF_INDEX: [&str; 3] = ["one", "documents", "terms"];

/// The same generations, each a batch of pages and URLs to delete before it, in one index and in shards.
struct Divided {
    folder: tempfile::TempDir,
    /// The files of one index, of the shards by documents, and of the shards by terms.
    files: [Vec<SegmentFile>; 3],
    one: Searcher,
    /// The segments of all shards by documents as one snapshot.
    together: Searcher,
    by_terms: Searcher,
    broker: Broker<Local>,
    /// Brokers of the shards by terms, one for each of [`WAYS`]; none if there is only one shard.
    term_brokers: Vec<TermBroker<LocalTerms>>,
}

type Generation = (Vec<Page>, Vec<String>);

/// Words beside those that queries ask for, so that there are terms enough to divide.
fn fillers(url: &str) -> String {
    let mut state = Signature::of(url.as_bytes()).0;
    let mut word = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("{}x{}", ["ap", "bi", "dra", "dro", "el", "fo"][(state >> 40) as usize % 6], state >> 44)
    };
    (0..100).map(|_| word()).collect::<Vec<_>>().join(" ")
}

/// Adds a generation to an index: first the deletions, then the pages.
fn generation(
    folder: &Path,
    number: u64,
    pages: &[Page],
    gone: &[String],
    options: Options,
) -> Vec<SegmentFile> {
    let pulse = &Pulse::STEADY;
    let mut files = Vec::new();
    if !gone.is_empty() {
        let mut builder = ShardedBuilder::new(folder, 2 * number, options, &[], pulse).unwrap();
        builder.delete(gone.iter().map(|url| Signature::of(url.as_bytes())));
        files.extend(builder.finish(pulse).unwrap());
    }
    let older = existing(folder);
    let mut builder = ShardedBuilder::new(folder, 2 * number + 1, options, &older, pulse).unwrap();
    let texts: Vec<[String; 3]> = pages
        .iter()
        .map(|page| [text(&page.title), text(&page.body) + " " + &fillers(&page.url), text(&page.anchors)])
        .collect();
    for (page, [title, body, anchors]) in pages.iter().zip(&texts) {
        let (language, kind, day) = (LANGUAGES[page.language], KINDS[page.kind], page.day);
        let document = NewDocument {
            url: &page.url,
            title,
            body,
            anchors,
            language,
            kind,
            day,
            ..NewDocument::default()
        };
        builder.add(&[document], pulse).unwrap();
    }
    files.extend(builder.finish(pulse).unwrap());
    files
}

/// The files of a folder.
fn existing(folder: &Path) -> Vec<SegmentFile> {
    let file = |entry: std::io::Result<std::fs::DirEntry>| {
        let entry = entry.unwrap();
        SegmentFile {
            name: entry.file_name().into_string().unwrap(),
            length: entry.metadata().unwrap().len(),
        }
    };
    std::fs::read_dir(folder).unwrap().map(file).collect()
}

impl Divided {
    fn new(generations: &[Generation], shards: usize, assign: Assign) -> Divided {
        let folder = tempfile::tempdir().unwrap();
        let one = small_blocks();
        let by_documents = Options { shards: shards as u16, assign, ..one };
        let by_terms = Options { shards: shards as u16, partition: Partition::Terms, ..one };
        let mut files = [const { Vec::new() }; 3];
        for ((name, options), files) in
            KINDS_OF_INDEX.into_iter().zip([one, by_documents, by_terms]).zip(&mut files)
        {
            let folder = folder.path().join(name);
            std::fs::create_dir(&folder).unwrap();
            for (number, (pages, gone)) in (0..).zip(generations) {
                files.extend(generation(&folder, number, pages, gone, options));
            }
        }
        Divided::open(folder, files, shards)
    }

    fn open(folder: tempfile::TempDir, files: [Vec<SegmentFile>; 3], shards: usize) -> Divided {
        let open = |index: usize, files: &[SegmentFile]| {
            let folder = folder.path().join(KINDS_OF_INDEX[index]);
            Searcher::open(&folder, files, rank_of, &Pulse::STEADY).unwrap()
        };
        let of_shard = |shard: usize| -> Vec<SegmentFile> {
            let piece = if shards > 1 { Piece::Shard(shard as u16) } else { Piece::Whole };
            files[1].iter().filter(|file| Piece::parse(&file.name).unwrap().1 == piece).cloned().collect()
        };
        let of_terms = folder.path().join(KINDS_OF_INDEX[2]);
        let ways = WAYS.into_iter().filter(|_| shards > 1);
        let term_brokers = ways.map(|way| term_broker(&of_terms, &files[2], way)).collect();
        let shards = (0..shards).map(|shard| open(1, &of_shard(shard))).collect();
        Divided {
            term_brokers,
            one: open(0, &files[0]),
            together: open(1, &files[1]),
            by_terms: open(2, &files[2]),
            broker: Broker::new(Local { shards, silent: None }),
            files,
            folder,
        }
    }

    /// The same with all generations merged into one.
    fn merged(self, shards: usize, assign: Assign) -> Divided {
        let one = small_blocks();
        let by_documents = Options { shards: shards as u16, assign, ..one };
        let by_terms = Options { shards: shards as u16, partition: Partition::Terms, ..one };
        let mut merged = [const { Vec::new() }; 3];
        for (index, options) in [one, by_documents, by_terms].into_iter().enumerate() {
            let folder = self.folder.path().join(KINDS_OF_INDEX[index]);
            merged[index] = join(&folder, &self.files[index], 999, true, &options, &Pulse::STEADY).unwrap();
        }
        let Divided { folder, .. } = self;
        Divided::open(folder, merged, shards)
    }

    /// Asserts that all give the same answer, and that it is explained alike.
    fn assert_same(&self, request: &Request<'_>) {
        let pulse = &Pulse::STEADY;
        let one = self.one.rank(request, pulse).unwrap();
        let shown = self.one.show(&one, 0..1000, true).unwrap();
        let of_terms = self.term_brokers.iter().map(|broker| {
            let ranking = broker.rank(request, pulse).unwrap();
            let hits = broker.show(&ranking, 0..1000, true).unwrap();
            ("the broker of terms", ranking, hits)
        });
        for (name, ranking, hits) in [
            {
                let ranking = self.together.rank(request, pulse).unwrap();
                let hits = self.together.show(&ranking, 0..1000, true).unwrap();
                ("together", ranking, hits)
            },
            {
                let ranking = self.by_terms.rank(request, pulse).unwrap();
                let hits = self.by_terms.show(&ranking, 0..1000, true).unwrap();
                ("by terms", ranking, hits)
            },
            {
                let ranking = self.broker.rank(request, pulse).unwrap();
                let hits = self.broker.show(&ranking, 0..1000, true, pulse).unwrap();
                let hits = hits.into_iter().flatten().collect();
                ("the broker", ranking, hits)
            },
        ]
        .into_iter()
        .chain(of_terms)
        {
            assert_eq!(hits, shown, "{name}: {request:?}");
            let bits = |ranking: &Ranking| -> Vec<(u64, Signature)> {
                ranking.hits.iter().map(|hit| (hit.ranked.score.to_bits(), hit.ranked.signature)).collect()
            };
            assert_eq!(bits(&ranking), bits(&one), "{name}: {request:?}");
            assert_eq!((ranking.matches, ranking.exact), (one.matches, one.exact), "{name}: {request:?}");
            assert_eq!(ranking.facets, one.facets, "{name}: {request:?}");
            assert!(ranking.missing.is_empty() && !ranking.partial);
        }
        assert_eq!(self.broker.count(request, pulse).unwrap(), self.one.count(request, pulse).unwrap());
        if let Some(best) = one.hits.first() {
            let found = self.broker.rank(request, pulse).unwrap();
            let explained = self.broker.explain(request, &found.hits[0].ranked, pulse).unwrap();
            let expected = self.one.explain(request, &best.ranked, pulse).unwrap();
            assert_eq!(explained, expected);
            for broker in &self.term_brokers {
                let found = broker.rank(request, pulse).unwrap();
                assert_eq!(broker.explain(request, &found.hits[0].ranked, pulse).unwrap(), expected);
            }
        }
        for broker in &self.term_brokers {
            assert_eq!(broker.count(request, pulse).unwrap(), self.one.count(request, pulse).unwrap());
        }
    }
}

/// Batches of pages, of which some replace older ones, and some URLs that are deleted before each.
fn some_generations() -> impl Strategy<Value = Vec<Generation>> {
    let again = prop::collection::vec(any::<prop::sample::Index>(), 0..12);
    let gone = prop::collection::vec(any::<prop::sample::Index>(), 0..4);
    (some_pages(), again, prop::collection::vec(gone, 3)).prop_map(|(mut pages, again, gone)| {
        let urls: Vec<String> = pages.iter().map(|page| page.url.clone()).collect();
        for index in again {
            let older = index.index(urls.len());
            pages.push(Page { url: urls[older].clone(), ..pages[urls.len() - 1 - older].clone() });
        }
        let batches = pages.chunks(pages.len().div_ceil(3)).map(<[Page]>::to_vec);
        let of_urls = |gone: Vec<prop::sample::Index>| {
            gone.iter().map(|one| urls[one.index(urls.len())].clone()).collect()
        };
        batches.zip(gone.into_iter().map(of_urls)).collect()
    })
}

/// The number of random trees: `CRIVELLO_TEST_TREES`, or a few dozen.
fn trees() -> u32 {
    std::env::var("CRIVELLO_TEST_TREES").ok().and_then(|trees| trees.parse().ok()).unwrap_or(24)
}

const TREES_A_CASE: u32 = 12;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(trees() / TREES_A_CASE))]
    #[test]
    fn shards_answer_as_one(
        generations in some_generations(),
        shards in prop::sample::select(&[1usize, 2, 4, 8][..]),
        assign in prop::sample::select(&[Assign::Hashed, Assign::Contiguous][..]),
        asked in prop::collection::vec((some_text(), some_model(), any::<bool>(), 0usize..3, 1usize..60), TREES_A_CASE as usize),
    ) {
        let mut divided = Divided::new(&generations, shards, assign);
        divided.together.verify(&Pulse::STEADY).unwrap();
        divided.by_terms.verify(&Pulse::STEADY).unwrap();
        for (number, (text, model, ranks, proximity, depth)) in asked.into_iter().enumerate() {
            if number == TREES_A_CASE as usize - 3 {
                divided = divided.merged(shards, assign);
            }
            let mut request = everything_with(&text, |options| {
                options.model = model;
                options.rank_weight = if ranks { 0.4 } else { 0.0 };
                options.proximity = Proximity { weight: [0.0, 0.5, 2.0][proximity], depth: [0, 5, 100][proximity] };
                options.collapse = ranks.then_some(20);
                options.per_site = proximity;
            });
            request.facets = 5;
            divided.assert_same(&request);
            divided.assert_same(&Request { depth, count: 1 + depth as u64 / 2, facets: 0, ..request.clone() });
            divided.assert_same(&Request { depth, count: 3 * depth as u64, facets: 0, ..request });
        }
    }
}

#[test]
fn expansions_are_those_of_all_shards() {
    let words = |number: usize| (0..4).map(|word| number + word).collect::<Vec<_>>();
    let pages: Vec<Page> = (0..7).map(|number| Page::of(&number.to_string(), words(number % 6))).collect();
    let divided = Divided::new(&[(pages, Vec::new())], 4, Assign::Contiguous);
    for query in ["dr*", "drop~1", "drup~2 dr*", "\"apron dr*\"", "(dr* < elm)~9"] {
        divided.assert_same(&everything(query));
    }
}

#[test]
fn terms_are_divided_evenly() {
    let pages: Vec<Page> = (0..300).map(|number| Page::of(&number.to_string(), vec![number % 10])).collect();
    let divided = Divided::new(&[(pages, Vec::new())], 4, Assign::Hashed);
    let files = &divided.files[2];
    assert_eq!(files.len(), 5, "{files:?}");
    assert_eq!(divided.by_terms.totals(), divided.one.totals());
    let lengths: Vec<u64> = files[1..].iter().map(|file| file.length).collect();
    assert!(lengths.iter().max() < lengths.iter().min().map(|least| 2 * least).as_ref(), "{lengths:?}");
}

#[test]
fn a_silent_shard_is_left_out_and_said() {
    let pages: Vec<Page> = (0..40).map(|number| Page::of(&number.to_string(), vec![0, 1])).collect();
    let mut divided = Divided::new(&[(pages, Vec::new())], 4, Assign::Hashed);
    let request = everything("apron bird");
    let whole = divided.broker.rank(&request, &Pulse::STEADY).unwrap();
    assert_eq!(whole.hits.len(), 40);
    divided.broker.transport_mut().silent = Some(2);
    let rest = divided.broker.rank(&request, &Pulse::STEADY).unwrap();
    assert_eq!(rest.missing, [2]);
    assert!(!rest.exact && !rest.hits.is_empty() && rest.hits.len() < 40);
    // The others keep their scores, because the statistics of the collection are known.
    let scores: HashMap<Signature, f64> =
        whole.hits.iter().map(|hit| (hit.ranked.signature, hit.ranked.score)).collect();
    assert!(rest.hits.iter().all(|hit| scores[&hit.ranked.signature] == hit.ranked.score));
    let shown = divided.broker.show(&whole, 0..40, true, &Pulse::STEADY).unwrap();
    assert_eq!(shown.iter().flatten().count(), rest.hits.len());
}

#[test]
fn misspelt_words_are_corrected_by_all_shards() {
    let page = |number: usize| Page::of(&number.to_string(), vec![1, 4, number % 9]);
    let pages: Vec<Page> = (0..200).map(page).collect();
    let divided = Divided::new(&[(pages, Vec::new())], 4, Assign::Hashed);
    for query in ["brid", "apronn", "bird", "apronbird", "nothing like it"] {
        let one = divided.one.suggest(query, "en").unwrap();
        assert_eq!(divided.broker.suggest(query, "en").unwrap(), one, "{query}");
        assert_eq!(divided.together.suggest(query, "en").unwrap(), one, "{query}");
        for broker in &divided.term_brokers {
            assert_eq!(broker.suggest(query, "en").unwrap(), one, "{query}");
        }
    }
    assert_eq!(divided.one.suggest("brid", "en").unwrap().as_deref(), Some("bird"));
}

#[test]
fn a_silent_shard_of_terms_is_said_and_asked_again() {
    let pages: Vec<Page> = (0..40).map(|number| Page::of(&number.to_string(), vec![0, 1])).collect();
    let mut divided = Divided::new(&[(pages, Vec::new())], 4, Assign::Hashed);
    let request = everything("apron OR bird");
    let broker = &mut divided.term_brokers[1];
    // The terms are in the first shard, since all others start with later letters.
    for silent in 0..4 {
        broker.fetcher_mut().transport_mut().silent = Some(silent);
        let rest = broker.rank(&request, &Pulse::STEADY).unwrap();
        assert_eq!(rest.missing, [silent]);
        assert!(!rest.exact);
        // A shard that has not published its dictionary is asked again with each query.
        assert_eq!(broker.rank(&request, &Pulse::STEADY).unwrap().missing, [silent]);
        broker.fetcher_mut().transport_mut().silent = None;
        let whole = broker.rank(&request, &Pulse::STEADY).unwrap();
        assert!(whole.missing.is_empty() && whole.hits.len() == 40);
        broker.fetcher().forget();
    }
}

#[test]
fn nobody_asks_in_vain() {
    let page = |number: usize| Page::of(&number.to_string(), vec![number % 10]);
    let pages: Vec<Page> = (0..100).map(page).collect();
    let divided = Divided::new(&[(pages, Vec::new())], 4, Assign::Hashed);
    let folder = divided.folder.path().join(KINDS_OF_INDEX[2]);
    for bits in [1, 4, 12] {
        let options = TermOptions { bits, hot: 0, pipelined: false };
        let broker = term_broker(&folder, &divided.files[2], options);
        for number in 0..2000 {
            let query = format!("absent{number}");
            assert!(broker.rank(&everything(&query), &Pulse::STEADY).unwrap().hits.is_empty());
        }
        let traffic = broker.traffic();
        assert_eq!(traffic.asked, traffic.vain);
        assert_eq!(traffic.asked + traffic.saved, 4 * 2000);
        let (expected, false_ones) = (8000.0 / f64::from(1 << bits), traffic.vain as f64);
        assert!((false_ones - expected).abs() < 6.0 * expected.sqrt() + 3.0, "{bits}: {traffic:?}");
        // All of what is there is found, each term in one shard.
        broker.rank(&everything("apron"), &Pulse::STEADY).unwrap();
        let after = broker.traffic();
        assert_eq!((after.asked - after.vain) - (traffic.asked - traffic.vain), 1);
    }
}

#[test]
fn hot_terms_are_not_asked_again_and_a_list_is_bought_when_its_rent_is_paid() {
    let words = |number: usize| if number.is_multiple_of(50) { vec![0, 1] } else { vec![1] };
    let pages: Vec<Page> = (0..1000).map(|number| Page::of(&number.to_string(), words(number))).collect();
    let divided = Divided::new(&[(pages, Vec::new())], 4, Assign::Hashed);
    let folder = divided.folder.path().join(KINDS_OF_INDEX[2]);
    let request = everything("+apron +bird");
    let gathered = term_broker(&folder, &divided.files[2], WAYS[0]);
    let first = gathered.rank(&request, &Pulse::STEADY).unwrap();
    let messages = gathered.traffic().messages;
    assert_eq!(gathered.rank(&request, &Pulse::STEADY).unwrap().hits.len(), first.hits.len());
    assert_eq!(gathered.traffic().messages, messages);
    assert!(gathered.hot_bytes() > 0);
    let options = TermOptions { pipelined: true, ..WAYS[0] };
    let pipelined = term_broker(&folder, &divided.files[2], options);
    let mut last = u64::MAX;
    for _ in 0..100 {
        let before = pipelined.traffic().messages;
        assert_eq!(pipelined.rank(&request, &Pulse::STEADY).unwrap().hits.len(), first.hits.len());
        last = pipelined.traffic().messages - before;
    }
    assert_eq!(last, 0, "the list of the frequent term was never bought");
}
