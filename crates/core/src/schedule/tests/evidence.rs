use proptest::prelude::*;

use super::{DAY, HOUR, Random};
use crate::schedule::{Evidence, Prior};

const CHANGES: f64 = 0.5;
const SECONDS: f64 = 15.0 * DAY;

fn prior() -> Prior {
    Prior::gamma(CHANGES, SECONDS)
}

fn weak() -> Prior {
    Prior::gamma(0.5, 0.5 * DAY)
}

#[derive(Clone, Copy, Debug)]
enum Seen {
    Changed(f64),
    Unchanged(f64),
    Exactly(f64),
}

/// (E√Δ)² over the posterior of all intervals, by integration in steps of a hundredth of ln Δ.
fn model(seen: &[Seen]) -> f64 {
    let log_posterior = |ln: f64| {
        let rate = ln.exp();
        let seen: f64 = seen
            .iter()
            .map(|seen| match *seen {
                Seen::Changed(t) => (-(-rate * t).exp_m1()).ln(),
                Seen::Unchanged(t) => -rate * t,
                Seen::Exactly(t) => ln - rate * t,
            })
            .sum();
        CHANGES * ln - SECONDS * rate + seen
    };
    let (slowest, fastest) = (-28.0 * std::f64::consts::LN_2, -5.0 * std::f64::consts::LN_2);
    let points: Vec<f64> =
        (0..).map(|step| slowest + 0.01 * f64::from(step)).take_while(|ln| *ln <= fastest).collect();
    let top = points.iter().map(|ln| log_posterior(*ln)).fold(f64::MIN, f64::max);
    let (mut sum, mut root) = (0.0, 0.0);
    for ln in points {
        let weight = (log_posterior(ln) - top).exp();
        sum += weight;
        root += weight * (0.5 * ln).exp();
    }
    (root / sum).powi(2)
}

fn evidence(seen: &[Seen]) -> Evidence {
    let mut evidence = Evidence::default();
    for seen in seen {
        match *seen {
            Seen::Changed(t) => evidence.changed(t),
            Seen::Unchanged(t) => evidence.unchanged(t),
            Seen::Exactly(t) => evidence.exactly(t),
        }
    }
    evidence
}

fn seen() -> impl Strategy<Value = Seen> {
    (0u8..3, 4.0f64..16.0).prop_map(|(kind, ln)| match kind {
        0 => Seen::Changed(ln.exp()),
        1 => Seen::Unchanged(ln.exp()),
        _ => Seen::Exactly(ln.exp()),
    })
}

proptest! {
    #[test]
    fn the_estimate_is_that_of_the_posterior(seen in prop::collection::vec(seen(), 0..30)) {
        let (found, exact) = (prior().rate(&evidence(&seen)), model(&seen));
        prop_assert!((found / exact - 1.0).abs() < 0.12, "{found} instead of {exact}");
    }

    #[test]
    fn intervals_of_one_length_lose_nothing(length in 4.0f64..16.0, changed in prop::collection::vec(any::<bool>(), 1..30)) {
        let length = length.exp();
        let seen: Vec<Seen> = changed.iter().map(|&changed| if changed { Seen::Changed(length) } else { Seen::Unchanged(length) }).collect();
        let (found, exact) = (prior().rate(&evidence(&seen)), model(&seen));
        prop_assert!((found / exact - 1.0).abs() < 0.03, "{found} instead of {exact}");
    }

    #[test]
    fn any_evidence_gives_a_rate(seen in prop::collection::vec((0u8..3, -1e3f64..1e12), 0..300)) {
        let seen: Vec<Seen> = seen.iter().map(|&(kind, t)| match kind {
            0 => Seen::Changed(t),
            1 => Seen::Unchanged(t),
            _ => Seen::Exactly(t),
        }).collect();
        let rate = prior().rate(&evidence(&seen));
        prop_assert!(rate > 0.0 && rate.is_finite());
    }
}

/// Visits at random intervals: with a weak prior the estimates are right on average, which the plain ratio is not.
#[test]
fn the_estimate_is_nearly_unbiased() {
    let mut random = Random(0);
    let rate = 1.0 / DAY;
    let (mut sum, mut plain) = (0.0, 0.0);
    let pages = 2000;
    for _ in 0..pages {
        let (mut evidence, mut changes, mut time) = (Evidence::default(), 0.0, 0.0);
        for _ in 0..50 {
            let interval = random.between(6.0 * HOUR, 4.0 * DAY);
            time += interval;
            if random.waiting() < rate * interval {
                evidence.changed(interval);
                changes += 1.0;
            } else {
                evidence.unchanged(interval);
            }
        }
        sum += weak().rate(&evidence) / rate / f64::from(pages);
        plain += changes / time / rate / f64::from(pages);
    }
    assert!((sum - 1.0).abs() < 0.05, "{sum}");
    assert!(plain < 0.7, "{plain}");
}

#[test]
fn a_page_that_changes_its_habits_is_followed() {
    let mut evidence = Evidence::default();
    for _ in 0..500 {
        evidence.changed(DAY);
    }
    let before = weak().rate(&evidence);
    for _ in 0..200 {
        evidence.unchanged(DAY);
    }
    assert!(before > 3.0 / DAY && weak().rate(&evidence) < 0.2 / DAY);
}
