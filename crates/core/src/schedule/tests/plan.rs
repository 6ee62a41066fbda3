use proptest::prelude::*;

use super::{DAY, HOUR, Random, options};
use crate::schedule::{MostUrgent, Options, Plan, Planner, Policy, Reason, Schedule, Source, Visit};

const NOW: f64 = 1.7e9;

/// Pages of any history.
fn pages(options: &Options) -> Vec<Schedule> {
    let mut random = Random(4);
    let mut page = || {
        let mut schedule = Schedule { importance: random.between(0.01, 100.0) as f32, ..Schedule::default() };
        let mut now = NOW - 100.0 * DAY;
        for _ in 0..(random.next() * 12.0) as usize {
            now += random.between(HOUR, 8.0 * DAY);
            if random.next() < 0.1 {
                schedule.signal(now - HOUR, Source::Feed);
            }
            let visit = match (random.next() * 10.0) as u32 {
                0 => Visit::Failed,
                1 => Visit::Gone,
                2..=5 => Visit::Changed,
                _ => Visit::Unchanged,
            };
            schedule.observe(visit, now, options);
        }
        if random.next() < 0.1 {
            schedule.signal(now + HOUR, Source::WebSub);
        }
        if random.next() < 0.1 {
            schedule.next = Some((now + random.between(HOUR, 9.0 * DAY)) as u32);
        }
        schedule
    };
    (0..500).map(|_| page()).collect()
}

fn plan(options: &Options, pages: &[Schedule]) -> Plan {
    let mut planner = Planner::new(options, None);
    pages.iter().for_each(|page| planner.add(page));
    planner.plan()
}

#[test]
fn a_page_is_due_from_its_next_visit_on_and_ever_more_urgently() {
    for (_, policy) in Policy::ALL {
        let options = options(*policy);
        let pages = pages(&options);
        let plan = plan(&options, &pages);
        for page in &pages {
            let (next, reason) = plan.next(page);
            assert_eq!(plan.due(page, next - 2.0), None);
            let urgency = plan.due(page, next).unwrap();
            assert_eq!(urgency.reason, reason);
            assert!(urgency.value >= 1.0 - 1e-3, "{policy} {urgency:?} {page:?}");
            let later = plan.due(page, next + DAY).unwrap();
            assert!(later.value >= urgency.value && later.value.is_finite());
            let interval = next - f64::from(page.last);
            assert!(interval <= options.max_interval || reason == Reason::Fixed);
            let free = matches!(reason, Reason::Fixed | Reason::New);
            assert!(free || interval >= options.min_interval, "{interval} {reason:?}");
        }
    }
}

#[test]
fn the_plan_spends_its_budget() {
    let mut options = options(Policy::Optimal);
    let pages: Vec<Schedule> =
        pages(&options).into_iter().filter(|page| page.failures == 0 && page.visits > 0).collect();
    for a_day in [20.0, 200.0] {
        options.budget = a_day;
        let plan = plan(&options, &pages);
        let visits: f64 = pages
            .iter()
            .filter(|page| page.signal.is_none() && page.next.is_none())
            .map(|page| DAY / (plan.next(page).0 - f64::from(page.last)))
            .sum();
        // Pages with a signal or a fixed time are not counted here: about a fifth.
        assert!(visits < 1.05 * a_day && visits > 0.6 * a_day, "{visits} of {a_day}");
    }
    options.budget = 1e9;
    let plan = plan(&options, &pages);
    assert_eq!(plan.price, 0.0);
    assert!(pages.iter().all(|page| page.next.is_some() || plan.next(page).0 == f64::from(page.last) + HOUR));
}

#[test]
fn why_a_page_is_due() {
    let options = options(Policy::Optimal);
    let mut page = Schedule::default();
    let plan = plan(&options, &[page.clone()]);
    assert_eq!(plan.due(&page, NOW).unwrap().reason, Reason::New);
    page.observe(Visit::Changed, NOW, &options);
    assert_eq!(plan.next(&page).1, Reason::Policy);
    page.signal(NOW + 1.0, Source::Feed);
    assert_eq!(plan.next(&page).1, Reason::Signal);
    page.next = Some(NOW as u32 + 60);
    assert_eq!(plan.next(&page), (NOW + 60.0, Reason::Fixed));
    for (failures, hours) in [(1, 1.0), (2, 2.0), (5, 16.0)] {
        page.failures = failures;
        page.failing_since = Some(page.last);
        assert_eq!(plan.next(&page), (NOW + hours * HOUR, Reason::Retry));
    }
    page.failing_since = Some(page.last - (20.0 * DAY) as u32);
    assert_eq!(plan.next(&page), (NOW + options.max_interval, Reason::Retry), "gone pages are rarely tried");
    let worthless = Schedule { importance: 0.0, visits: 1, last: NOW as u32, ..Schedule::default() };
    let mut expensive = plan.clone();
    expensive.price = 1e9;
    assert_eq!(expensive.next(&worthless), (NOW + options.max_interval, Reason::Longest));
}

#[test]
fn a_plan_can_be_kept() {
    let options = options(Policy::Optimal);
    let plan = plan(&options, &pages(&options));
    let kept = serde_json::to_vec(&plan).unwrap();
    assert_eq!(serde_json::from_slice::<Plan>(&kept).unwrap(), plan);
}

/// Half of the pages change daily, the others never: soon a new page is presumed to be one or the other.
#[test]
fn the_prior_is_fitted_to_the_pages() {
    let options = options(Policy::Optimal);
    let pages: Vec<Schedule> = (0..400)
        .map(|number| {
            let mut page = Schedule::default();
            for day in 0..20 {
                let visit = if number % 2 == 0 { Visit::Changed } else { Visit::Unchanged };
                page.observe(visit, NOW + f64::from(day) * DAY, &options);
            }
            page
        })
        .collect();
    let mut seen = Schedule::default();
    for (visit, day) in [(Visit::Changed, 0.0), (Visit::Changed, 1.0)] {
        seen.observe(visit, NOW + day * DAY, &options);
    }
    let first = plan(&options, &pages);
    let before = seen.rate(&options.prior());
    let mut last = first;
    for _ in 0..20 {
        let mut planner = Planner::new(&options, Some(&last));
        pages.iter().for_each(|page| planner.add(page));
        last = planner.plan();
    }
    // A day with a change tells that it is one of those that change daily, which the settings' prior could not.
    assert!(before < 0.5 / DAY && seen.rate(&last.prior) > 1.5 / DAY, "{before}");
    let quiet = pages[1].rate(&last.prior);
    assert!(quiet < pages[1].rate(&options.prior()), "{quiet}");
}

proptest! {
    #[test]
    fn the_most_urgent_are_the_first_of_all_in_order(keys in prop::collection::vec(0u8..40, 0..200), limit in 0usize..60) {
        let mut most = MostUrgent::new(limit);
        for (place, key) in keys.iter().enumerate() {
            most.offer(f64::from(*key), || place);
        }
        prop_assert_eq!(most.offered(), keys.len() as u64);
        let mut all: Vec<(f64, usize)> = keys.iter().map(|key| f64::from(*key)).zip(0..).collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        all.truncate(limit);
        prop_assert_eq!(most.into_sorted(), all);
    }
}
