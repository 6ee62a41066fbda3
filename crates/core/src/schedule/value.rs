//! What a visit is worth: the index by which pages are compared.
//!
//! The aim is the least *weighted staleness*: the sum over all pages of importance × the share of time in which the copy is
//! not what the page is. It is the binary freshness of Cho and Garcia-Molina (Effective Page Refresh Policies, 2003) and
//! of Azar et al. (Tractable near-optimal policies for crawling, 2018). The harmonic staleness of Kolobov et al. (Staying
//! up to Date with Online Content Changes, 2019: LambdaCrawl) also counts how many changes were missed; it forbids to give up
//! a page that changes faster than it can be visited, which here [`super::Options`] do by `max_interval`.
//!
//! A page changes at rate Δ. Its changes are announced with probability r (the recall of its signals), and a share q of
//! its signals (their precision) are right; changes without signal have rate α = (1 - r)Δ, signals have rate γ = rΔ/q.
//! After time t and n signals the copy is fresh with probability e^(-αt)·(1 - q)^n = e^(-αs) where s = t + nβ and
//! β = -ln(1 - q)/α: a signal is worth β seconds of waiting (Busa-Fekete et al., A Scalable Crawling Algorithm
//! Utilizing Noisy Change-Indicating Signals, 2025). A page that is visited as soon as s reaches a threshold has
//!
//! ```text
//! period ψ(s) = Σᵢ P(i + 1, γ(s - iβ)) / γ                                     0 ≤ i ≤ s/β
//! fresh  w(s) = Σᵢ ((1 - q)γ)^i / (α + γ)^(i + 1) · P(i + 1, (α + γ)(s - iβ))
//! ```
//!
//! per visit, where P is the regularised incomplete gamma function. It costs 1/ψ visits a second, and is fresh for w/ψ of
//! the time. One more visit a second raises the freshness by dw/ψ : d(1/ψ), which since w' = e^(-αs)ψ' is
//!
//! ```text
//! V(s) = w(s) - e^(-αs)·ψ(s)
//! ```
//!
//! V increases with s from 0 to 1/Δ. Without signals (r = 0) it is (1 - e^(-Δt)(1 + Δt))/Δ, and ψ = t. With complete and
//! exact signals (r = q = 1) a page is worth nothing before a signal, and 1/Δ after it: these pages are crawled on their
//! signals alone, the others by the clock, as in LambdaCrawl.
//!
//! By Lagrange, the allocation is optimal if importance × V is the same at each visit of each page: the price of a visit,
//! ν. So a page is due when importance × V(s) ≥ ν; a page with importance/Δ < ν is never due.
//! 10 ns without signals; with signals a sum of up to [`TERMS`] terms, 80 to 300 ns.

use super::root::root;

/// Signals since the last visit that are told apart; they are worth so much already that more change nothing.
const TERMS: u32 = 24;

/// At this exponent a copy is certainly stale.
const STALE: f64 = 40.0;

/// How a page changes, and how its changes are announced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dynamics {
    /// Changes per second, Δ.
    pub rate: f64,
    /// The share of right signals, q.
    pub precision: f64,
    /// The share of announced changes, r; 0: there are no signals.
    pub recall: f64,
}

impl Dynamics {
    /// A page with signals. Precision and recall are kept off 1: signals may always fail.
    pub fn new(rate: f64, precision: f64, recall: f64) -> Dynamics {
        Dynamics { rate, precision: precision.clamp(0.05, 0.995), recall: recall.clamp(0.0, 0.995) }
    }

    /// A page whose changes nobody announces.
    pub fn silent(rate: f64) -> Dynamics {
        Dynamics { rate, precision: 1.0, recall: 0.0 }
    }

    /// The value V of a visit `seconds` after the last one, with `signals` announcements, for importance 1.
    pub fn value(&self, seconds: f64, signals: u32) -> f64 {
        if self.recall == 0.0 {
            return gain(self.rate * seconds) / self.rate;
        }
        self.value_at(seconds + f64::from(signals) * self.jump())
    }

    /// The visits per second and the share of time in which the copy is fresh, if every visit is worth `value`.
    pub fn visited_at(&self, value: f64) -> (f64, f64) {
        let Some(threshold) = self.threshold(value) else { return (0.0, 0.0) };
        self.visited_every(threshold)
    }

    /// The same with intervals between the shortest and the longest, on average.
    pub fn visited_within(&self, value: f64, (shortest, longest): (f64, f64)) -> (f64, f64) {
        let free = self.visited_at(value);
        let visits = free.0.clamp(1.0 / longest, 1.0 / shortest);
        if visits == free.0 {
            return free;
        }
        if self.recall == 0.0 {
            return self.visited_every(1.0 / visits);
        }
        let is_rarer = |threshold| self.visited_every(threshold).0 < visits;
        (visits, self.visited_every(self.first_threshold(is_rarer)).1)
    }

    /// The same, if a visit is made when s, the time with what signals are worth, reaches a threshold.
    pub fn visited_every(&self, threshold: f64) -> (f64, f64) {
        let (fresh, period) = self.cycle(threshold);
        if period > 0.0 { (1.0 / period, fresh / period) } else { (f64::INFINITY, 1.0) }
    }

    /// The time s at which a visit has this value; `None` if it never has.
    pub fn threshold(&self, value: f64) -> Option<f64> {
        let share = value * self.rate;
        if share >= 1.0 {
            return None;
        }
        if share <= 0.0 {
            return Some(0.0);
        }
        if self.recall == 0.0 {
            return Some(inverse_gain(share) / self.rate);
        }
        Some(self.first_threshold(|threshold| self.value_at(threshold) >= value))
    }

    /// The first threshold from which something is so; by bisection on the logarithm, since V is flat in both tails.
    fn first_threshold(&self, is_so: impl Fn(f64) -> bool) -> f64 {
        let silent = self.rate * (1.0 - self.recall);
        let (mut low, mut high) = ((1e-9 / self.rate).ln(), (STALE / silent).ln());
        while high - low > 1e-7 {
            let middle = 0.5 * (low + high);
            if is_so(middle.exp()) {
                high = middle;
            } else {
                low = middle;
            }
        }
        high.exp()
    }

    /// The seconds after a visit at which the next one has this value, given the number of `signals`; `None` if never.
    pub fn due_after(&self, value: f64, signals: u32) -> Option<f64> {
        let threshold = self.threshold(value)?;
        Some(if self.recall == 0.0 {
            threshold
        } else {
            (threshold - f64::from(signals) * self.jump()).max(0.0)
        })
    }

    /// β: the time that a signal is worth.
    fn jump(&self) -> f64 {
        -(-self.precision).ln_1p() / (self.rate * (1.0 - self.recall))
    }

    fn value_at(&self, threshold: f64) -> f64 {
        let stale = self.rate * (1.0 - self.recall) * threshold;
        if stale > STALE {
            return 1.0 / self.rate;
        }
        let (fresh, period) = self.cycle(threshold);
        (fresh - (-stale).exp() * period).max(0.0)
    }

    /// The expected fresh time and length of the time between two visits: w and ψ.
    fn cycle(&self, threshold: f64) -> (f64, f64) {
        if self.recall == 0.0 {
            return (-(-self.rate * threshold).exp_m1() / self.rate, threshold);
        }
        let silent = self.rate * (1.0 - self.recall);
        let signals = self.rate * self.recall / self.precision;
        let (jump, both) = (self.jump(), silent + signals);
        let (mut fresh, mut period, mut weight) = (0.0, 0.0, 1.0 / both);
        for i in 0..TERMS {
            let left = threshold - f64::from(i) * jump;
            if left <= 0.0 {
                break;
            }
            period += incomplete_gamma(i, signals * left) / signals;
            fresh += weight * incomplete_gamma(i, both * left);
            weight *= (1.0 - self.precision) * signals / both;
        }
        (fresh, period)
    }
}

/// 1 - e^(-y)(1 + y): the share of its greatest value that a visit has when y changes are expected.
fn gain(y: f64) -> f64 {
    if y < 1e-3 {
        return y * y * (0.5 - y / 3.0);
    }
    -(-y).exp_m1() - y * (-y).exp()
}

/// The y with a gain.
fn inverse_gain(share: f64) -> f64 {
    if share < 1e-8 {
        return (2.0 * share).sqrt();
    }
    let low = (2.0 * share).sqrt(); // the gain is at most y²/2
    let high = (2.0 * (1.0 - (1.0 - share).ln())).max(2.0 * low);
    root(low, high, |y| (gain(y) - share, y * (-y).exp()))
}

/// P(i + 1, x): the probability of more than `i` events where x are expected.
fn incomplete_gamma(i: u32, x: f64) -> f64 {
    let mut term = (-x).exp();
    if x > f64::from(i) + 1.0 {
        let mut below = term;
        for k in 1..=i {
            term *= x / f64::from(k);
            below += term;
        }
        return 1.0 - below;
    }
    for k in 1..=i + 1 {
        term *= x / f64::from(k);
    }
    let (mut above, mut k) = (term, f64::from(i) + 1.0);
    while term > 1e-16 * above {
        k += 1.0;
        term *= x / k;
        above += term;
    }
    above
}
