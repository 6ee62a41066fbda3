use proptest::prelude::*;

use super::{DAY, HOUR, Random};
use crate::schedule::{Evidence, Prior};

const PRIOR: Prior = Prior { shape: 0.5, seconds: 15.0 * DAY };

const WEAK: Prior = Prior { shape: 0.5, seconds: 0.5 * DAY };

#[derive(Clone, Copy, Debug)]
enum Seen {
    Changed(f64),
    Unchanged(f64),
    Exactly(f64),
}

/// The mode of the posterior over ln Δ of all intervals, by golden-section search.
fn model(seen: &[Seen], prior: Prior) -> f64 {
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
        prior.shape * ln - prior.seconds * rate + seen
    };
    let (mut low, mut high) = (-30.0, 3.0);
    while high - low > 1e-7 {
        let (left, right) = (low + 0.382 * (high - low), low + 0.618 * (high - low));
        if log_posterior(left) < log_posterior(right) { low = left } else { high = right }
    }
    (0.5 * (low + high)).exp()
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
    fn the_estimate_is_the_mode_of_the_posterior(seen in prop::collection::vec(seen(), 0..60)) {
        let (found, exact) = (evidence(&seen).rate(PRIOR), model(&seen, PRIOR));
        prop_assert!((found / exact - 1.0).abs() < 0.12, "{found} instead of {exact}");
    }

    #[test]
    fn intervals_of_one_length_lose_nothing(length in 4.0f64..16.0, changed in prop::collection::vec(any::<bool>(), 1..60)) {
        let length = length.exp();
        let seen: Vec<Seen> = changed.iter().map(|&changed| if changed { Seen::Changed(length) } else { Seen::Unchanged(length) }).collect();
        let (found, exact) = (evidence(&seen).rate(PRIOR), model(&seen, PRIOR));
        prop_assert!((found / exact - 1.0).abs() < 1e-4, "{found} instead of {exact}");
    }

    #[test]
    fn any_evidence_gives_a_rate(seen in prop::collection::vec((0u8..3, -1e3f64..1e12), 0..300)) {
        let seen: Vec<Seen> = seen.iter().map(|&(kind, t)| match kind {
            0 => Seen::Changed(t),
            1 => Seen::Unchanged(t),
            _ => Seen::Exactly(t),
        }).collect();
        let rate = evidence(&seen).rate(PRIOR);
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
        sum += evidence.rate(WEAK) / rate / f64::from(pages);
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
    let before = evidence.rate(WEAK);
    for _ in 0..200 {
        evidence.unchanged(DAY);
    }
    assert!(before > 3.0 / DAY && evidence.rate(WEAK) < 0.2 / DAY);
}
