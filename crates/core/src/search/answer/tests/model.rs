//! Model queries: their text, which pages match them, and the pages' scores.

use std::collections::BTreeMap;

use super::*;
use crate::search::score::{Model, Scorer};

/// A query.
#[derive(Clone, Debug)]
pub enum Asked {
    /// Adjacent words, in one zone or in any.
    Words(Option<Zone>, Vec<usize>),
    /// Any of the words that share a prefix.
    Alike,
    And(Vec<Asked>),
    Or(Vec<Asked>),
    Not(Box<Asked>),
    Signed {
        required: Vec<Asked>,
        optional: Vec<Asked>,
        excluded: Vec<Asked>,
    },
    Boosted(Box<Asked>, f32),
    Filtered(Box<Asked>, Filter, bool),
}

/// A filter by its number.
#[derive(Clone, Copy, Debug)]
pub enum Filter {
    Language(usize),
    Kind(usize),
    Site(usize),
    Before,
    After,
}

/// A leaf: a word in one zone or in all, or the words that share a prefix.
type Leaf = (Option<Zone>, Vec<usize>);

const SEARCHED: [Zone; 3] = Zone::SEARCHED;

impl Filter {
    fn text(self) -> String {
        match self {
            Filter::Language(language) => format!("lang:{}", LANGUAGES[language]),
            Filter::Kind(kind) => format!("type:{}", ["", "html", "pdf"][kind]),
            Filter::Site(host) => format!("site:{}", HOSTS[host]),
            Filter::Before => "before:2024-01-01".to_owned(),
            Filter::After => "after:2024-01-01".to_owned(),
        }
    }

    fn passes(self, page: &Page) -> bool {
        match self {
            Filter::Language(language) => page.language == language,
            Filter::Kind(kind) => page.kind == kind,
            // www.a.example is under a.example.
            Filter::Site(host) => page.host == host || (host == 0 && page.host == 1),
            Filter::Before => page.day > 0 && page.day < NEW_YEAR,
            Filter::After => page.day >= NEW_YEAR,
        }
    }
}

impl Asked {
    /// Its text in the query language.
    pub fn text(&self) -> String {
        let joined = |queries: &[Asked], between: &str| {
            queries.iter().map(|query| format!("({})", query.text())).collect::<Vec<_>>().join(between)
        };
        match self {
            Asked::Words(zone, words) => {
                let zone = zone.map_or(String::new(), |zone| format!("{}:", zone.name()));
                let words = super::text(words);
                if words.contains(' ') { format!("{zone}\"{words}\"") } else { format!("{zone}{words}") }
            }
            Asked::Alike => "dr*".to_owned(),
            Asked::And(queries) => joined(queries, " AND "),
            Asked::Or(queries) => joined(queries, " OR "),
            Asked::Not(query) => format!("NOT ({})", query.text()),
            Asked::Signed { required, optional, excluded } => {
                let signed = |sign: &str, queries: &[Asked]| {
                    queries.iter().map(|query| format!(" {sign}({})", query.text())).collect::<String>()
                };
                signed("", optional) + &signed("+", required) + &signed("-", excluded)
            }
            Asked::Boosted(query, boost) => format!("({})^{boost}", query.text()),
            Asked::Filtered(query, filter, wanted) => {
                format!("({}) AND {}{}", query.text(), if *wanted { "" } else { "NOT " }, filter.text())
            }
        }
    }

    /// Whether a page matches.
    pub fn matches(&self, page: &Page) -> bool {
        let holds =
            |zone: Zone, words: &[usize]| page.zone(zone).windows(words.len()).any(|here| here == words);
        match self {
            Asked::Words(zone, words) => {
                let zones = zone.as_ref().map_or(SEARCHED.as_slice(), std::slice::from_ref);
                zones.iter().any(|zone| holds(*zone, words))
            }
            Asked::Alike => {
                SEARCHED.iter().any(|zone| page.zone(*zone).iter().any(|word| ALIKE.contains(word)))
            }
            Asked::And(queries) => queries.iter().all(|query| query.matches(page)),
            Asked::Or(queries) => queries.iter().any(|query| query.matches(page)),
            Asked::Not(query) => !query.matches(page),
            Asked::Signed { required, optional, excluded } => {
                let any = |queries: &[Asked]| queries.iter().any(|query| query.matches(page));
                required.iter().all(|query| query.matches(page))
                    && (!required.is_empty() || optional.is_empty() || any(optional))
                    && !any(excluded)
            }
            Asked::Boosted(query, _) => query.matches(page),
            Asked::Filtered(query, filter, wanted) => query.matches(page) && filter.passes(page) == *wanted,
        }
    }

    /// The leaves that score, with their boosts.
    fn scoring(&self, boost: f64) -> Vec<(Leaf, f64)> {
        match self {
            Asked::Words(zone, words) => words.iter().map(|word| ((*zone, vec![*word]), boost)).collect(),
            Asked::Alike => vec![((None, ALIKE.collect()), boost)],
            Asked::And(queries) | Asked::Or(queries) => {
                queries.iter().flat_map(|query| query.scoring(boost)).collect()
            }
            Asked::Not(_) => Vec::new(),
            Asked::Signed { required, optional, .. } => {
                required.iter().chain(optional).flat_map(|query| query.scoring(boost)).collect()
            }
            Asked::Boosted(query, factor) => query.scoring(boost * f64::from(*factor)),
            Asked::Filtered(query, ..) => query.scoring(boost),
        }
    }

    /// The score of a page, with statistics over all pages ever added, by the formulas of the models.
    pub fn score(&self, model: &Model, page: &Page, pages: &[Page]) -> f64 {
        let leaves = self.scoring(1.0);
        leaves.iter().map(|(leaf, boost)| boost * of_leaf(model, leaf, page, pages)).sum()
    }
}

fn words(page: &Page, zones: &[Zone]) -> f64 {
    zones.iter().map(|zone| page.zone(*zone).len()).sum::<usize>() as f64
}

/// The mean number of words per page; 1 if there are none.
fn mean(pages: &[Page], zones: &[Zone]) -> f64 {
    let sum = pages.iter().map(|page| words(page, zones)).sum::<f64>();
    if sum == 0.0 { 1.0 } else { sum / pages.len() as f64 }
}

fn of_leaf(model: &Model, (zone, terms): &Leaf, page: &Page, pages: &[Page]) -> f64 {
    let zones = zone.as_ref().map_or(SEARCHED.as_slice(), std::slice::from_ref);
    let count_in =
        |page: &Page, zone: Zone| page.zone(zone).iter().filter(|word| terms.contains(word)).count() as f64;
    let count = |page: &Page| zones.iter().map(|zone| count_in(page, *zone)).sum::<f64>();
    // The document frequency of a leaf is that of its most frequent term in the zone where that is most
    // frequent.
    let mut frequencies: BTreeMap<(Zone, usize), u64> = BTreeMap::new();
    for page in pages {
        for (zone, term) in zones.iter().flat_map(|zone| terms.iter().map(move |term| (*zone, *term))) {
            *frequencies.entry((zone, term)).or_default() += u64::from(page.zone(zone).contains(&term));
        }
    }
    let n = frequencies.into_values().max().unwrap_or(0) as f64;
    let documents = pages.len() as f64;
    let idf = (1.0 + (documents - n + 0.5) / (n + 0.5)).ln();
    let length = words(page, zones);
    let of_length = match model.scorer {
        Scorer::QueryLikelihood => (model.mu / (model.mu + words(page, &SEARCHED))).ln(),
        _ => 0.0,
    };
    if count(page) == 0.0 {
        return of_length;
    }
    match model.scorer {
        Scorer::Bm25 => {
            let k = model.k1 * (1.0 - model.b + model.b * length / mean(pages, zones));
            idf * (model.k1 + 1.0) * count(page) / (count(page) + k)
        }
        Scorer::Bm25f => {
            let x = |zone: &Zone| {
                let of_length = 1.0 - model.b + model.b * words(page, &[*zone]) / mean(pages, &[*zone]);
                let factor = if model.weight(*zone) > 0.0 { model.weight(*zone) } else { 1.0 };
                factor * count_in(page, *zone) / of_length
            };
            let x = zones.iter().filter(|zone| count_in(page, **zone) > 0.0).map(x).sum::<f64>();
            idf * (model.k1 + 1.0) * x / (model.k1 + x)
        }
        Scorer::TfIdf => {
            let pivot = 1.0 - model.slope + model.slope * length / mean(pages, zones);
            ((documents + 1.0) / n).ln() * (1.0 + (1.0 + count(page).ln()).ln()) / pivot
        }
        Scorer::QueryLikelihood => {
            let share = pages.iter().map(count).sum::<f64>() / (mean(pages, zones) * documents);
            of_length + (count(page) / (model.mu * share)).ln_1p()
        }
    }
}

fn some_filter() -> impl Strategy<Value = Filter> {
    prop_oneof![
        (1..LANGUAGES.len()).prop_map(Filter::Language),
        (1..KINDS.len()).prop_map(Filter::Kind),
        (0..HOSTS.len()).prop_map(Filter::Site),
        Just(Filter::Before),
        Just(Filter::After),
    ]
}

/// A query of up to three levels.
pub fn some_query() -> impl Strategy<Value = Asked> {
    let zone = || prop_oneof![4 => Just(None), 1 => prop::sample::select(&[Zone::Title, Zone::Body][..]).prop_map(Some)];
    let phrase = prop::collection::vec(some_word(), 2..4);
    let leaf = prop_oneof![
        5 => (zone(), some_word()).prop_map(|(zone, word)| Asked::Words(zone, vec![word])),
        2 => (zone(), phrase).prop_map(|(zone, words)| Asked::Words(zone, words)),
        1 => Just(Asked::Alike),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let some = |least: usize, most: usize| prop::collection::vec(inner.clone(), least..=most);
        let boxed = || inner.clone().prop_map(Box::new);
        prop_oneof![
            2 => some(2, 3).prop_map(Asked::And),
            2 => some(2, 4).prop_map(Asked::Or),
            1 => boxed().prop_map(Asked::Not),
            3 => (some(0, 2), some(1, 3), some(0, 1)).prop_map(|(required, optional, excluded)| Asked::Signed {
                required,
                optional,
                excluded
            }),
            1 => (boxed(), prop::sample::select(&[0.5f32, 2.0, 3.25][..])).prop_map(|(query, boost)| Asked::Boosted(query, boost)),
            1 => (boxed(), some_filter(), any::<bool>()).prop_map(|(query, filter, wanted)| Asked::Filtered(query, filter, wanted)),
        ]
    })
}

/// Every scorer.
pub const SCORERS: [Scorer; 4] = [Scorer::Bm25, Scorer::Bm25f, Scorer::TfIdf, Scorer::QueryLikelihood];

/// Any scorer, with unusual parameters.
pub fn some_model() -> impl Strategy<Value = Model> {
    let b = || prop_oneof![Just(0.0), Just(0.75), Just(1.0)];
    let k1 = prop_oneof![Just(0.0), Just(1.2), Just(7.0)];
    (prop::sample::select(&SCORERS[..]), k1, b(), 0.5f64..4.0, b(), 1f64..2000.0).prop_map(
        |(scorer, k1, b, title_weight, slope, mu)| Model {
            scorer,
            k1,
            b,
            title_weight,
            slope,
            mu,
            ..Model::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn searches_like_the_obvious_evaluator(
        pages in some_pages(),
        queries in prop::collection::vec((some_query(), some_model()), 8),
        cut in any::<prop::sample::Index>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let (first, second) = pages.split_at(cut.index(pages.len()));
        let searcher = open(dir.path(), &build(dir.path(), &[first, second], &small_blocks())).unwrap();
        searcher.verify(&Pulse::STEADY).unwrap();
        prop_assert_eq!(searcher.documents() as usize, pages.len());
        for (query, model) in queries {
            let text = query.text();
            let request = everything_with(&text, |options| options.model = model);
            let ranking = searcher.rank(&request, &Pulse::STEADY).unwrap();
            prop_assert!(ranking.exact && !ranking.partial && ranking.matches as usize == ranking.hits.len());
            let found = hits(&searcher, &request).unwrap();
            prop_assert!(found.is_sorted_by(|left, right| left.1 >= right.1));
            let found: BTreeMap<String, f64> = found.into_iter().collect();
            let expected: Vec<&Page> = pages.iter().filter(|page| query.matches(page)).collect();
            let mut urls: Vec<&str> = expected.iter().map(|page| page.url.as_str()).collect();
            urls.sort_unstable();
            prop_assert_eq!(found.keys().map(String::as_str).collect::<Vec<_>>(), urls, "{}", text);
            for page in expected {
                let (score, expected) = (found[&page.url], query.score(&model, page, &pages));
                prop_assert!((score - expected).abs() < 1e-6, "{} not {}: {} by {:?}", score, expected, text, model);
            }
        }
    }
}
