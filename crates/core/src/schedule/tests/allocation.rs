use super::{DAY, Random};
use crate::schedule::value::Dynamics;
use crate::schedule::{ANY, Histogram, allocate};

/// Page by page, without a histogram: the price, and the weighted freshness of the allocation.
fn model(pages: &[(Dynamics, f64)], budget: f64, intervals: (f64, f64)) -> f64 {
    let (mut low, mut high) = (-60.0f64, 60.0f64);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if demand(pages, middle.exp(), intervals) > budget { low = middle } else { high = middle }
    }
    high.exp()
}

fn demand(pages: &[(Dynamics, f64)], price: f64, intervals: (f64, f64)) -> f64 {
    let visits = |(page, importance): &(Dynamics, f64)| page.visited_at(price / importance).0;
    pages.iter().map(|page| visits(page).clamp(1.0 / intervals.1, 1.0 / intervals.0)).sum()
}

fn pages(random: &mut Random, signals: bool) -> Vec<(Dynamics, f64)> {
    let mut page = || {
        let (rate, importance) = (random.between(1e-3, 10.0) / DAY, random.between(1e-2, 1e3));
        let page = match signals && random.next() < 0.3 {
            true => Dynamics::new(rate, 0.3 + 0.7 * random.next(), random.next()),
            false => Dynamics::silent(rate),
        };
        (page, importance)
    };
    (0..3000).map(|_| page()).collect()
}

#[test]
fn the_demand_at_the_price_is_the_budget() {
    let mut random = Random(2);
    for (signals, error) in [(false, 0.01), (true, 0.03)] {
        for intervals in [(1.0, 1e12), (DAY, 60.0 * DAY)] {
            let pages = pages(&mut random, signals);
            let mut histogram = Histogram::default();
            for (page, importance) in &pages {
                histogram.add(*page, *importance);
            }
            for a_day in [100.0, 1000.0] {
                let budget = a_day / DAY;
                let price = histogram.price(budget, intervals);
                let found = demand(&pages, price, intervals);
                assert!((found / budget - 1.0).abs() < error, "{found} instead of {budget}");
                let exact = model(&pages, budget, intervals);
                assert!((price / exact - 1.0).abs() < 2.0 * error, "{price} instead of {exact}");
            }
        }
    }
}

/// What the limits of intervals cost: no page is outside them, and the staleness is that of the visits.
#[test]
fn an_allocation_keeps_its_intervals() {
    let pages = pages(&mut Random(5), true);
    let (budget, limits) = (1000.0 / DAY, (DAY, 60.0 * DAY));
    let weigh = |stale: &[f64]| -> f64 { stale.iter().zip(&pages).map(|(stale, page)| stale * page.1).sum() };
    let (free, limited) = (allocate(&pages, budget, ANY, true), allocate(&pages, budget, limits, true));
    let visits: f64 = limited.visits.iter().sum();
    assert!((visits / budget - 1.0).abs() < 1e-3, "{visits}");
    let (least, most) = (1.0 / limits.1 - 1e-12, 1.0 / limits.0 + 1e-12);
    assert!(limited.visits.iter().all(|visits| (least..=most).contains(visits)));
    assert!(free.visits.iter().any(|visits| *visits < least) && weigh(&free.stale) < weigh(&limited.stale));
    for ((page, _), (visits, stale)) in pages.iter().zip(limited.visits.iter().zip(&limited.stale)) {
        if page.recall == 0.0 {
            let expected = page.rate / visits;
            assert!((stale - (1.0 + (-expected).exp_m1() / expected)).abs() < 1e-6);
        }
    }
}

#[test]
fn a_budget_for_all_costs_nothing_and_one_for_none_costs_all() {
    let mut histogram = Histogram::default();
    assert_eq!(histogram.price(1.0, (DAY, 10.0 * DAY)), 0.0);
    for _ in 0..10 {
        histogram.add(Dynamics::silent(1.0 / DAY), 3.0);
    }
    assert_eq!(histogram.pages(), 10);
    assert_eq!(histogram.price(10.0 / DAY, (DAY, 10.0 * DAY)), 0.0);
    let price = histogram.price(0.1 / DAY, (DAY, 10.0 * DAY));
    assert!((price / (3.0 * DAY) - 1.0).abs() < 1e-3, "{price}");
}

#[test]
fn its_memory_does_not_grow_with_the_pages() {
    let mut random = Random(3);
    let mut histogram = Histogram::default();
    for _ in 0..300_000 {
        let rate = random.between(1e-12, 10.0);
        let importance = random.between(1e-9, 1e9);
        let page = if random.next() < 0.5 {
            Dynamics::silent(rate)
        } else {
            Dynamics::new(rate, random.next(), random.next())
        };
        histogram.add(page, importance);
    }
    assert!(histogram.bins() < 120_000, "{}", histogram.bins());
}
