//! The price of a visit: the Lagrange multiplier of the budget.
//!
//! At price ν a page is visited when that is worth ν ([`super::value`]), which makes demand(ν) visits a second in
//! all, a decreasing function. The optimal allocation under a budget is that of the ν at which demand meets it, found
//! by bisection. The pages are not read again at each step: one pass puts them into a histogram over the rate
//! of change and over importance/rate, the greatest value of a visit, both in steps of a quarter of an octave; pages with
//! signals also by precision and recall, in coarser steps. Each bin keeps the count and the sums, and stands for that
//! many pages at its mean. Within a bin the parameters differ by at most 9 % from its middle, and the error of the
//! demand is of second order: under 1 % in the tests (3 % with signals), and what the allocation loses by it is of second
//! order again.
//!
//! The number of bins is bounded, whatever the number of pages: under 120,000 for pages of all rates, importances and
//! signals (in the tests); 1,500 for a thousandfold range of both. 60 ns a page, and 3 µs a bin for the price.

use std::collections::HashMap;

use super::value::Dynamics;

/// Bins an octave, of pages without and with signals.
const FINE: f64 = 4.0;
const COARSE: f64 = 1.0;

/// Rates and greatest values, as exponents of 2, are kept within these.
const RATES: (f64, f64) = (-32.0, 0.0);
const VALUES: (f64, f64) = (-40.0, 60.0);

/// Steps of precision and recall.
const SIGNAL_BINS: f64 = 4.0;

/// The logarithm of the range of prices below the greatest.
const LN_RANGE: f64 = 80.0;

#[derive(PartialEq, Eq, Hash)]
struct Key {
    rate: i16,
    value: i16,
    /// Precision and recall; `None` without signals.
    signals: Option<(u8, u8)>,
}

#[derive(Default)]
struct Bin {
    pages: f64,
    importance: f64,
    rate: f64,
    precision: f64,
    recall: f64,
}

impl Bin {
    /// The page at its mean: how it changes, and its importance.
    fn mean(&self) -> (Dynamics, f64) {
        let Bin { pages, importance, rate, precision, recall } = *self;
        let dynamics = Dynamics { rate: rate / pages, precision: precision / pages, recall: recall / pages };
        (dynamics, importance / pages)
    }
}

/// The pages of a plan, in bounded memory.
#[derive(Default)]
pub struct Histogram {
    pages: u64,
    bins: HashMap<Key, Bin>,
}

impl Histogram {
    /// Adds a page.
    pub fn add(&mut self, dynamics: Dynamics, importance: f64) {
        let signals = dynamics.recall > 0.0;
        let steps = if signals { COARSE } else { FINE };
        let step =
            |exponent: f64, (low, high): (f64, f64)| (exponent.clamp(low, high) * steps).floor() as i16;
        let share = |share: f64| (share * SIGNAL_BINS) as u8;
        let key = Key {
            rate: step(dynamics.rate.log2(), RATES),
            value: step((importance / dynamics.rate).log2(), VALUES),
            signals: signals.then(|| (share(dynamics.precision), share(dynamics.recall))),
        };
        let bin = self.bins.entry(key).or_default();
        bin.pages += 1.0;
        bin.importance += importance;
        bin.rate += dynamics.rate;
        bin.precision += dynamics.precision;
        bin.recall += dynamics.recall;
        self.pages += 1;
    }

    /// The number of pages.
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// The number of bins in use.
    pub fn bins(&self) -> usize {
        self.bins.len()
    }

    /// The price at which all pages together are visited `budget` times a second, where each has an interval
    /// between the two `intervals`; 0 if the budget is enough for the shortest.
    pub fn price(&self, budget: f64, intervals: (f64, f64)) -> f64 {
        let bins: Vec<_> = self.bins.values().map(|bin| (bin.pages, bin.mean())).collect();
        price(&bins, budget, intervals)
    }
}

/// Pages as a number of equal ones: how they change, and their importance.
type Many = (f64, (Dynamics, f64));

fn visits((dynamics, importance): (Dynamics, f64), price: f64, (shortest, longest): (f64, f64)) -> f64 {
    dynamics.visited_at(price / importance).0.clamp(1.0 / longest, 1.0 / shortest)
}

fn price(pages: &[Many], budget: f64, intervals: (f64, f64)) -> f64 {
    let all: f64 = pages.iter().map(|(count, _)| count).sum();
    if all <= budget * intervals.0 {
        return 0.0;
    }
    let demand =
        |price| -> f64 { pages.iter().map(|(count, page)| count * visits(*page, price, intervals)).sum() };
    let greatest = pages.iter().map(|(_, (dynamics, importance))| importance / dynamics.rate);
    let mut high = greatest.fold(f64::MIN_POSITIVE, f64::max).ln();
    let mut low = high - LN_RANGE;
    while high - low > 1e-6 {
        let middle = 0.5 * (low + high);
        if demand(middle.exp()) > budget {
            low = middle;
        } else {
            high = middle;
        }
    }
    high.exp()
}

/// Intervals of any length.
pub const ANY: (f64, f64) = (f64::MIN_POSITIVE, f64::INFINITY);

/// An allocation of a budget to pages.
#[derive(Clone, Debug)]
pub struct Allocation {
    /// The price of a visit.
    pub price: f64,
    /// Visits per second, of each page.
    pub visits: Vec<f64>,
    /// The share of time in which each copy is stale.
    pub stale: Vec<f64>,
}

/// The optimal allocation of `budget` visits a second to pages of which it is known how they change, with their
/// importance, at intervals between two: at the price of the histogram, or at the exact one, for which every step goes
/// through all pages.
pub fn allocate(pages: &[(Dynamics, f64)], budget: f64, intervals: (f64, f64), exact: bool) -> Allocation {
    let price = if exact {
        let pages: Vec<Many> = pages.iter().map(|page| (1.0, *page)).collect();
        price(&pages, budget, intervals)
    } else {
        let mut histogram = Histogram::default();
        pages.iter().for_each(|(dynamics, importance)| histogram.add(*dynamics, *importance));
        histogram.price(budget, intervals)
    };
    let (visits, stale) = pages
        .iter()
        .map(|(dynamics, importance)| {
            let (visits, fresh) = dynamics.visited_within(price / importance, intervals);
            (visits, 1.0 - fresh)
        })
        .unzip();
    Allocation { price, visits, stale }
}
