use super::{DAY, Random};
use crate::schedule::value::Dynamics;

const RATE: f64 = 1.0 / DAY;

fn pages() -> Vec<Dynamics> {
    let mut pages = vec![Dynamics::silent(RATE)];
    for precision in [0.3, 0.7, 0.95] {
        for recall in [0.2, 0.6, 0.95] {
            pages.push(Dynamics::new(RATE, precision, recall));
        }
    }
    pages
}

/// Changes and signals of a page event by event; it is visited when s reaches a threshold. Visits a second and freshness.
fn simulated(page: Dynamics, threshold: f64, random: &mut Random) -> (f64, f64) {
    let silent = page.rate * (1.0 - page.recall);
    let announced = page.rate * page.recall;
    let wrong = announced * (1.0 - page.precision) / page.precision;
    let jump = if page.recall > 0.0 { -(1.0 - page.precision).ln() / silent } else { 0.0 };
    let all = silent + announced + wrong;
    let (mut time, mut fresh, visits) = (0.0, 0.0, 40_000);
    for _ in 0..visits {
        let (mut now, mut signals, mut is_fresh) = (0.0, 0.0, true);
        loop {
            let due = (threshold - signals * jump).max(now);
            let wait = random.waiting() / all;
            let next = if now + wait < due { now + wait } else { due };
            fresh += if is_fresh { next - now } else { 0.0 };
            now = next;
            if now >= due {
                break;
            }
            let event = random.next() * all;
            is_fresh &= event >= silent + announced;
            signals += if event >= silent { 1.0 } else { 0.0 };
        }
        time += now;
    }
    (f64::from(visits) / time, fresh / time)
}

#[test]
fn visits_and_freshness_are_those_of_a_simulation() {
    let mut random = Random(1);
    for page in pages() {
        for threshold in [0.5 * DAY, 2.0 * DAY] {
            let (visits, fresh) = page.visited_every(threshold);
            let (counted, measured) = simulated(page, threshold, &mut random);
            assert!((visits / counted - 1.0).abs() < 0.03, "{page:?} {visits} {counted}");
            assert!((fresh - measured).abs() < 0.015, "{page:?} {fresh} {measured}");
        }
    }
}

/// The definition: what one more visit a second adds to the freshness.
#[test]
fn the_value_is_the_marginal_freshness_of_a_visit() {
    for page in pages() {
        for threshold in [0.2 * DAY, 0.9 * DAY, 2.3 * DAY] {
            let (more, fresher) = page.visited_every(threshold * 0.9999);
            let (less, staler) = page.visited_every(threshold * 1.0001);
            let marginal = (fresher - staler) / (more - less);
            let value = page.value(threshold, 0);
            assert!((value / marginal - 1.0).abs() < 2e-3, "{page:?} {value} {marginal}");
        }
    }
}

#[test]
fn the_value_grows_with_time_and_signals_up_to_the_mean_time_between_changes() {
    for page in pages() {
        let mut before = 0.0;
        for step in 0..400 {
            let value = page.value(f64::from(step) * 0.05 * DAY, 0);
            assert!(value >= before * (1.0 - 1e-9) && value <= (1.0 + 1e-9) / RATE, "{page:?}");
            before = value;
        }
        assert!((before * RATE - 1.0).abs() < 0.01 || page.recall > 0.9);
        let signalled: Vec<f64> = (0..6).map(|signals| page.value(0.1 * DAY, signals)).collect();
        assert!(signalled.windows(2).all(|pair| pair[0] <= pair[1] * (1.0 + 1e-9)), "{page:?} {signalled:?}");
        assert!(page.recall == 0.0 || signalled[5] > signalled[0]);
    }
}

#[test]
fn a_threshold_has_its_value() {
    for page in pages() {
        for share in [1e-12, 1e-5, 0.01, 0.3, 0.9, 0.999] {
            let threshold = page.threshold(share / RATE).unwrap();
            let found = page.value(threshold, 0) * RATE;
            // The sums for signals lose digits where the value is nearly 0.
            assert!((found - share).abs() < 1e-5 * share + 1e-13, "{page:?} {share} {found}");
        }
        assert_eq!(page.threshold(1.0 / RATE), None);
        assert_eq!(page.visited_at(1.1 / RATE), (0.0, 0.0));
    }
}

#[test]
fn exact_signals_are_worth_all_and_their_absence_nothing() {
    let page = Dynamics::new(RATE, 1.0, 1.0);
    assert!(page.value(DAY, 0) * RATE < 0.01);
    assert!(page.value(0.0, 1) * RATE > 0.9);
    let (visits, fresh) = page.visited_at(0.5 / RATE);
    assert!((visits / RATE - 1.0).abs() < 0.02 && fresh > 0.98, "{visits} {fresh}");
}
