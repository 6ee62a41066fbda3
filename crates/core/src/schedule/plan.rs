//! From all schedules to a plan, and from a plan to the pages that are due.
//!
//! A [`Planner`] takes every cell once, in any order, in bounded memory; the [`Plan`] is a few numbers. Of a cell the
//! plan says when it is due, why then, and how urgently: 1 when it becomes due, more the longer it waits. Urgencies are
//! comparable across pages:
//!
//! | policy | urgency |
//! | --- | --- |
//! | `uniform` | time since the visit / (pages / budget) |
//! | `by-age` | time since the visit / the shortest interval |
//! | `adaptive` | time since the visit / the page's interval |
//! | `optimal` | importance × value of a visit / price of a visit ([`super::value`], [`super::allocation`]) |
//!
//! Beside the policy: never before the shortest interval; always after the longest one; a failing page is tried again at
//! intervals that double; a time fixed by the server or the feed goes before all.

use serde::{Deserialize, Serialize};

use super::allocation::Histogram;
use super::cell::Schedule;
use super::options::Options;
use super::policy::Policy;
use super::prior::{Fit, Prior};
use super::value::Dynamics;

/// The first retry of a failing page, in seconds, unless the shortest interval is longer.
const RETRY: f64 = 3600.0;

/// Why a page is due when it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It was never visited.
    New,
    /// The server or the feed fixed the time.
    Fixed,
    /// It failed, and is tried again.
    Retry,
    /// A change was announced.
    Signal,
    /// The policy says so.
    Policy,
    /// The longest interval is over.
    Longest,
}

impl Reason {
    /// The reason, as shown to users.
    pub fn words(self) -> &'static str {
        match self {
            Reason::New => "it was never visited",
            Reason::Fixed => "the server or the feed says when",
            Reason::Retry => "the last visit failed",
            Reason::Signal => "a change was announced",
            Reason::Policy => "by its rate of change and its importance",
            Reason::Longest => "the longest interval is over",
        }
    }
}

/// How urgent a page is, and why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Urgency {
    /// 1 when the page becomes due, growing from there.
    pub value: f64,
    /// Why it is due.
    pub reason: Reason,
}

/// Reads the schedules of all pages, once.
pub struct Planner<'a> {
    options: &'a Options,
    histogram: Histogram,
    prior: Prior,
    fit: Fit,
}

impl<'a> Planner<'a> {
    /// A planner of no pages, which goes on from what the plan before knew of the rates.
    pub fn new(options: &'a Options, before: Option<&Plan>) -> Self {
        let prior = before.map_or_else(|| options.prior(), |plan| plan.fitted.clone());
        Planner { options, histogram: Histogram::default(), prior, fit: Fit::default() }
    }

    /// Adds a page. Gone ones do not count.
    pub fn add(&mut self, schedule: &Schedule) {
        if !schedule.is_gone(self.options.grace) {
            let posterior = self.prior.posterior(&schedule.evidence);
            self.fit.add(&posterior);
            self.add_known(schedule.dynamics(posterior.rate()), f64::from(schedule.importance));
        }
    }

    /// Adds a page of which it is known how it changes.
    pub fn add_known(&mut self, dynamics: Dynamics, importance: f64) {
        self.histogram.add(dynamics, weight(importance));
    }

    /// The plan for the pages added.
    pub fn plan(&self) -> Plan {
        let options = self.options;
        let pages = self.histogram.pages();
        let budget = options.budget(pages);
        let price = match options.policy {
            Policy::Optimal => self.histogram.price(budget, (options.min_interval, options.longest())),
            Policy::Uniform | Policy::ByAge | Policy::Adaptive => 0.0,
        };
        let fitted = self.fit.prior(&options.prior());
        Plan { options: options.clone(), pages, budget, price, prior: self.prior.clone(), fitted }
    }
}

/// When pages are due.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    options: Options,
    /// The number of pages that it is made for.
    pub pages: u64,
    /// The number of requests a second.
    pub budget: f64,
    /// The price of a visit: what the last one within the budget is worth.
    pub price: f64,
    /// How rates of change are presumed to be distributed: what the price rests on.
    pub prior: Prior,
    /// The same, fitted to these pages, for the next plan.
    fitted: Prior,
}

impl Plan {
    /// How urgent a page is; `None` if it is not due.
    pub fn due(&self, schedule: &Schedule, now: f64) -> Option<Urgency> {
        let outlook = self.outlook(schedule);
        (now >= outlook.due()).then(|| Urgency { value: outlook.urgency(now), reason: outlook.reason(now) })
    }

    /// When a page becomes due, and why then.
    pub fn next(&self, schedule: &Schedule) -> (f64, Reason) {
        let outlook = self.outlook(schedule);
        let due = outlook.due();
        (due, outlook.reason(due))
    }

    /// What the plan says of a page until its next visit or signal.
    pub fn outlook(&self, schedule: &Schedule) -> Outlook {
        self.outlook_by(schedule, || schedule.dynamics(schedule.rate(&self.prior)))
    }

    /// The same for a page of which it is known how it changes.
    pub fn outlook_known(&self, schedule: &Schedule, dynamics: Dynamics) -> Outlook {
        self.outlook_by(schedule, || dynamics)
    }

    fn outlook_by(&self, schedule: &Schedule, dynamics: impl FnOnce() -> Dynamics) -> Outlook {
        let options = &self.options;
        let last = f64::from(schedule.last);
        let shortest = options.min_interval;
        let after = |seconds: f64, reason| Outlook {
            last,
            shortest: 0.0,
            longest: seconds,
            law: Law::Every(seconds, reason),
        };
        if schedule.failures > 0 {
            let doublings = i32::try_from(schedule.failures - 1).unwrap_or(i32::MAX);
            let wait = if schedule.is_gone(options.grace) {
                f64::MAX
            } else {
                RETRY.max(shortest) * 2f64.powi(doublings)
            };
            return after(wait.min(options.longest()), Reason::Retry);
        }
        if schedule.visits == 0 {
            return after(1.0, Reason::New);
        }
        if let Some(next) = schedule.next {
            return after((f64::from(next) - last).max(1.0), Reason::Fixed);
        }
        let law = match options.policy {
            Policy::Uniform => Law::Every((self.pages as f64 / self.budget).max(1.0), Reason::Policy),
            Policy::ByAge => Law::Every(shortest.max(1.0), Reason::Policy),
            Policy::Adaptive => Law::Every(f64::from(schedule.interval).max(1.0), Reason::Policy),
            // Within the budget everything is worth a visit: the oldest first.
            Policy::Optimal if self.price == 0.0 => Law::Every(shortest.max(1.0), Reason::Policy),
            Policy::Optimal => Law::Worth {
                dynamics: dynamics(),
                signals: schedule.signals(),
                price: self.price / weight(f64::from(schedule.importance)),
            },
        };
        Outlook { last, shortest, longest: options.longest(), law }
    }
}

/// An importance within the range of the histogram; what is no number counts as the smallest.
fn weight(importance: f64) -> f64 {
    if importance.is_nan() { 1e-9 } else { importance.clamp(1e-9, 1e9) }
}

/// The urgency of a page as time goes by.
#[derive(Clone, Copy, Debug)]
pub struct Outlook {
    last: f64,
    shortest: f64,
    longest: f64,
    law: Law,
}

#[derive(Clone, Copy, Debug)]
enum Law {
    /// At an interval.
    Every(f64, Reason),
    /// When a visit is worth its price.
    Worth { dynamics: Dynamics, signals: u32, price: f64 },
}

impl Outlook {
    /// When the page becomes due.
    pub fn due(&self) -> f64 {
        let wait = match self.law {
            Law::Every(seconds, _) => seconds,
            Law::Worth { dynamics, signals, price } => dynamics.due_after(price, signals).unwrap_or(f64::MAX),
        };
        self.last + wait.max(self.shortest).min(self.longest)
    }

    /// Its urgency, due or not: 0 before the shortest interval is over.
    pub fn urgency(&self, now: f64) -> f64 {
        let elapsed = now - self.last;
        if elapsed < self.shortest {
            return 0.0;
        }
        let urgency = match self.law {
            Law::Every(seconds, _) => elapsed / seconds,
            Law::Worth { dynamics, signals, price } => dynamics.value(elapsed, signals) / price,
        };
        urgency.max(elapsed / self.longest)
    }

    fn reason(&self, now: f64) -> Reason {
        match self.law {
            Law::Every(_, reason) if reason != Reason::Policy => reason,
            Law::Worth { signals, .. } if signals > 0 => Reason::Signal,
            _ if now - self.last >= self.longest => Reason::Longest,
            _ => Reason::Policy,
        }
    }
}
