//! Searches with time and count limits, and invalid requests.

use std::time::Duration;

use super::agree::large;
use super::model::SCORERS;
use super::*;
use crate::search::matching::Intersection;
use crate::search::rank::Method;
use crate::search::score::{Model, Scorer};

/// A query for each search method.
const QUERIES: [&str; 6] = [
    "apron bird",
    "apron bird -drum",
    "+apron +bird",
    "(apron bird) AND (drip drop)",
    "\"apron bird\"",
    "NOT fox",
];

#[test]
fn time_that_is_over_gives_what_there_is() {
    for query in QUERIES {
        for (name, method) in Method::ALL {
            for threads in [1, 2] {
                let request = everything_with(query, |options| {
                    (options.method, options.threads) = (*method, threads);
                    options.time_limit = Some(Duration::ZERO);
                });
                let request = Request { worth_a_thread: 1, facets: 5, depth: 5000, ..request };
                let ranking = large().rank(&request, &Pulse::STEADY).unwrap();
                assert!(ranking.partial && !ranking.exact, "{query} by {name}");
                assert!(ranking.matches >= ranking.hits.len() as u64);
                // Every hit found has its true score.
                for hit in ranking.hits.iter().take(5) {
                    let explanation = large().explain(&request, &hit.ranked, &Pulse::STEADY).unwrap();
                    assert_eq!(explanation.value, hit.ranked.score, "{query} by {name}");
                }
            }
        }
    }
    let forever = everything_with("apron", |options| options.time_limit = Some(Duration::MAX));
    assert!(!large().rank(&forever, &Pulse::STEADY).unwrap().partial);
}

#[test]
fn whoever_wants_to_stop_is_heard() {
    let stop = || false;
    for query in QUERIES {
        for (name, method) in Method::ALL {
            let request = everything_with(query, |options| options.method = *method);
            let stopped = large().rank(&request, &Pulse::new(&stop));
            assert!(matches!(stopped, Err(Error::Stopped)), "{query} by {name}");
        }
    }
}

#[test]
fn counts_end_at_their_limit() {
    let count = |query: &str, count: u64| {
        large().count(&Request { count, ..everything(query) }, &Pulse::STEADY).unwrap()
    };
    for query in QUERIES {
        let (all, whole) = count(query, u64::MAX);
        assert!(all > 100 && whole, "{query}");
        assert_eq!(count(query, all + 1), (all, true));
        for limit in [0, 1, 50, all] {
            assert_eq!(count(query, limit), (limit, false), "{query}");
        }
        let rank = |depth: usize, count: u64, facets: usize| {
            let request = Request { depth, count, facets, ..everything(query) };
            let ranking = large().rank(&request, &Pulse::STEADY).unwrap();
            let in_years =
                ranking.facets.map(|facets| facets.years.iter().map(|(_, count)| count).sum::<u64>());
            assert_eq!(ranking.hits.len(), depth.min(all as usize));
            (ranking.matches, ranking.exact, in_years)
        };
        assert_eq!(rank(10, 0, 0), (10, false, None));
        assert_eq!(rank(10, 5, 0), (10, false, None));
        assert_eq!(rank(10, 50, 0), (50, false, None));
        assert_eq!(rank(10, u64::MAX, 0), (all, true, None));
        assert_eq!(rank(10_000, 0, 0), (all, true, None));
        // Every document has a year.
        assert_eq!(rank(0, 0, 9), (0, false, Some(0)));
        assert_eq!(rank(10, 0, 9), (10, false, Some(10)));
        assert_eq!(rank(10, 50, 9), (50, false, Some(50)));
        assert_eq!(rank(10, u64::MAX, 9), (all, true, Some(all)));
        assert_eq!(rank(10_000, 0, 9), (all, true, Some(all)));
    }
}

#[test]
fn facets_are_counts_of_filtered_queries() {
    let request = |query| Request { facets: 10, ..everything(query) };
    let facets = large().rank(&request("apron"), &Pulse::STEADY).unwrap().facets.unwrap();
    let count = |filter: &str| {
        let query = format!("apron {filter}");
        large().count(&everything(&query), &Pulse::STEADY).unwrap().0
    };
    // Site filters include subdomains.
    let www = facets.sites.iter().find(|(site, _)| site == "www.a.example").unwrap().1;
    for (site, number) in &facets.sites {
        let under = if site == "a.example" { www } else { 0 };
        assert_eq!(count(&format!("site:{site}")), number + under);
    }
    for (language, number) in &facets.languages {
        assert_eq!(count(&format!("lang:{language}")), *number);
    }
    for (kind, number) in &facets.kinds {
        assert_eq!(count(&format!("type:{kind}")), *number);
    }
    assert_eq!(
        facets.years,
        [("2024".to_owned(), count("after:2024")), ("2023".to_owned(), count("before:2024"))]
    );
    assert_eq!((facets.sites.len(), facets.languages.len(), facets.kinds.len()), (3, 2, 2));
    let few =
        large().rank(&Request { facets: 1, ..request("apron") }, &Pulse::STEADY).unwrap().facets.unwrap();
    assert_eq!((few.sites.as_slice(), few.years.as_slice()), (&facets.sites[..1], &facets.years[..1]));
}

#[test]
fn nothing_is_infinite() {
    let mut boosted = "apron".to_owned();
    (0..40).for_each(|_| boosted = format!("({boosted})^1000"));
    let next_to_nothing = |scorer| Model { scorer, b: 1.0, body_weight: 1e-310, ..Model::default() };
    for scorer in SCORERS {
        for query in [boosted.as_str(), "apron", "body:apron", "title:apron"] {
            let request = everything_with(query, |options| options.model = next_to_nothing(scorer));
            let found = hits(large(), &request).unwrap();
            assert!(
                found.len() > 100 && found.iter().all(|(_, score)| score.is_finite()),
                "{query} by {scorer:?}"
            );
        }
    }
}

#[test]
fn what_makes_no_sense_is_an_error() {
    let ask = |request: Request<'_>| large().rank(&request, &Pulse::STEADY);
    let wrong: [fn(&mut super::super::Options); 9] = [
        |options| options.rank_weight = f64::NAN,
        |options| options.rank_weight = -1.0,
        |options| options.proximity.weight = f64::INFINITY,
        |options| options.model.k1 = -1.0,
        |options| options.model.b = 2.0,
        |options| options.model.mu = 0.0,
        |options| options.model.slope = f64::NAN,
        |options| options.model.title_weight = -0.5,
        |options| {
            let model = options.model;
            options.model = Model { body_weight: 0.0, title_weight: 0.0, anchors_weight: 0.0, ..model };
        },
    ];
    for change in wrong {
        assert!(matches!(ask(everything_with("apron", change)), Err(Error::Invalid(_))));
    }
    assert!(ask(everything("apron")).is_ok());
    assert!(matches!("wind".parse::<Method>(), Err(Error::Invalid(_))));
    assert!(matches!("wind".parse::<Scorer>(), Err(Error::Invalid(_))));
    assert!(matches!("wind".parse::<Intersection>(), Err(Error::Invalid(_))));
    assert!(Method::ALL.iter().all(|(name, method)| name.parse::<Method>().unwrap() == *method));
}
