use super::{DAY, HOUR, options};
use crate::schedule::{Kind, Policy, Schedule, Source, Visit};

#[test]
fn comes_back_as_it_was_in_few_bytes() {
    let options = options(Policy::Optimal);
    let mut schedule = Schedule { importance: 0.25, kind: Kind::Feed, ..Schedule::default() };
    let mut now = 1.7e9;
    for step in 0..200u32 {
        now += HOUR * f64::from(step * step % 991 + 1);
        let visit = match step % 5 {
            0 => Visit::Unchanged,
            1 => Visit::Failed,
            4 => Visit::Gone,
            _ => Visit::Changed,
        };
        schedule.observe(visit, now, &options);
        if step % 7 == 0 {
            schedule.signal(now + 60.0, Source::WebSub);
            schedule.next = Some(7);
        }
        let bytes = schedule.encode().unwrap();
        assert_eq!(Schedule::decode(&bytes), Some(schedule.clone()));
        assert!(bytes.len() <= if step < 4 { 90 } else { 150 }, "{step}: {}", bytes.len());
    }
    assert_eq!(Schedule::decode(b"\x93"), None);
    assert_eq!(Schedule::decode(&[0x91, 9]), None, "there is no kind 9");
    assert_eq!(
        Schedule::decode(&[0x90]),
        Some(Schedule::default()),
        "fields that an earlier version did not have"
    );
}

#[test]
fn a_failed_visit_is_no_observation() {
    let options = options(Policy::Optimal);
    let mut schedule = Schedule::default();
    schedule.observe(Visit::Changed, 1000.0, &options);
    schedule.observe(Visit::Failed, 1000.0 + DAY, &options);
    schedule.observe(Visit::Gone, 1000.0 + 2.0 * DAY, &options);
    assert_eq!((schedule.failures, schedule.visits, schedule.changes), (2, 1, 0));
    assert!(schedule.is_gone(DAY) && !schedule.is_gone(1.5 * DAY));
    schedule.observe(Visit::Unchanged, 1000.0 + 4.0 * DAY, &options);
    assert_eq!((schedule.failures, schedule.failing_since, schedule.is_gone(0.0)), (0, None, false));
    // As if it had been seen after four days.
    let mut other = Schedule::default();
    other.observe(Visit::Changed, 1000.0, &options);
    other.observe(Visit::Unchanged, 1000.0 + 4.0 * DAY, &options);
    assert_eq!(schedule, other);
}

#[test]
fn adaptive_intervals_grow_and_shrink_within_limits() {
    let options = options(Policy::Adaptive);
    let mut schedule = Schedule::default();
    schedule.observe(Visit::Changed, 0.0, &options);
    assert_eq!(f64::from(schedule.interval), options.interval);
    schedule.observe(Visit::Unchanged, DAY, &options);
    assert!((f64::from(schedule.interval) / options.interval - 1.4).abs() < 1e-6);
    schedule.observe(Visit::Changed, 2.0 * DAY, &options);
    assert!((f64::from(schedule.interval) / options.interval - 1.12).abs() < 1e-6);
    for day in 3..100 {
        schedule.observe(Visit::Unchanged, f64::from(day) * DAY, &options);
    }
    assert_eq!(f64::from(schedule.interval), options.max_interval);
    for day in 100..200 {
        schedule.observe(Visit::Changed, f64::from(day) * DAY, &options);
    }
    assert_eq!(f64::from(schedule.interval), options.min_interval);
}

#[test]
fn signals_are_counted_and_judged_by_the_next_visit() {
    let options = options(Policy::Optimal);
    let mut schedule = Schedule::default();
    schedule.observe(Visit::Changed, 10.0 * DAY, &options);
    assert_eq!(schedule.dynamics(1.0 / DAY).recall, 0.0);
    schedule.signal(9.0 * DAY, Source::Sitemap);
    assert_eq!(schedule.signal, None, "the copy is newer");
    schedule.signal(11.0 * DAY, Source::Feed);
    schedule.signal(12.0 * DAY, Source::WebSub);
    let signal = schedule.signal.unwrap();
    assert_eq!((f64::from(signal.at), signal.source, signal.count), (11.0 * DAY, Source::WebSub, 2));
    schedule.observe(Visit::Failed, 12.5 * DAY, &options);
    assert_eq!(schedule.signals(), 2, "a failed visit judges nothing");
    schedule.observe(Visit::Changed, 13.0 * DAY, &options);
    assert_eq!((schedule.right, schedule.wrong, schedule.missed, schedule.signals()), (1, 0, 0, 0));
    let trusted = schedule.dynamics(1.0 / DAY);
    schedule.observe(Visit::Changed, 14.0 * DAY, &options);
    assert_eq!(schedule.missed, 1);
    assert!(schedule.dynamics(1.0 / DAY).recall < trusted.recall);
    for day in 15..30 {
        schedule.signal(f64::from(day) * DAY, Source::Feed);
        schedule.observe(Visit::Unchanged, (f64::from(day) + 0.5) * DAY, &options);
    }
    assert_eq!(schedule.wrong, 15);
    assert_eq!(schedule.dynamics(1.0 / DAY).recall, 0.0, "signals that are wrong are ignored");
}
