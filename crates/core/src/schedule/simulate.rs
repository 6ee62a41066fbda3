//! Policies on a trace of changes: how stale each one leaves the copies.
//!
//! A trace has for each page its importance, the moments of its changes and those of its signals. All pages are visited
//! at the start. Then, round by round, the signals so far are delivered, and as many pages as the budget allows
//! are visited, the most urgent first, spread evenly over the round: every policy spends the whole budget. A policy learns
//! only what a crawler would: at a visit, whether there was a change since the visit before. The plan is made
//! anew [`PLANS`] times. The `oracle` is the policy `optimal` where rates, precision and recall are known.
//!
//! The result is the weighted staleness after the warm-up: Σ importance × time stale / (Σ importance × time).
//! The cost is that of an urgency, 10 ns, for each page and round. Runs are independent, one a thread.

use std::ops::Range;

use rayon::prelude::*;

use super::cell::{Schedule, Source, Visit};
use super::options::Options;
use super::plan::{Outlook, Plan, Planner};
use super::policy::Policy;
use super::value::Dynamics;
use crate::{Error, Pulse, Result};

/// How often a plan is made in a run.
const PLANS: usize = 64;

/// A page of a trace.
#[derive(Clone, Debug)]
pub struct Page {
    /// Its importance.
    pub importance: f32,
    /// How it changes, as it is.
    pub dynamics: Dynamics,
    changes: Range<usize>,
    signals: Range<usize>,
}

/// The changes and signals of pages over a time.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    pages: Vec<Page>,
    changes: Vec<f64>,
    signals: Vec<f64>,
    seconds: f64,
}

impl Trace {
    /// A trace of no pages, from 0 to a number of seconds.
    pub fn new(seconds: f64) -> Result<Trace> {
        if !(seconds > 0.0 && seconds < f64::from(u32::MAX)) {
            return Err(Error::Invalid(format!("a trace cannot have {seconds} seconds")));
        }
        Ok(Trace { seconds, ..Trace::default() })
    }

    /// Adds a page: its changes and signals are moments in order.
    pub fn add(
        &mut self,
        importance: f32,
        dynamics: Dynamics,
        changes: &[f64],
        signals: &[f64],
    ) -> Result<()> {
        let within = |moments: &[f64]| {
            moments.iter().all(|moment| (0.0..=self.seconds).contains(moment)) && moments.is_sorted()
        };
        if !within(changes) || !within(signals) {
            return Err(Error::Invalid(
                "the moments of a trace must be in order, and within its time".to_owned(),
            ));
        }
        if !(importance >= 0.0 && importance.is_finite() && dynamics.rate > 0.0 && dynamics.rate.is_finite())
        {
            return Err(Error::Invalid("importance and rate of a page must be numbers over 0".to_owned()));
        }
        let end = |all: &mut Vec<f64>, more: &[f64]| {
            let start = all.len();
            all.extend_from_slice(more);
            start..all.len()
        };
        let changes = end(&mut self.changes, changes);
        let signals = end(&mut self.signals, signals);
        self.pages.push(Page { importance, dynamics, changes, signals });
        Ok(())
    }

    /// Its pages.
    pub fn pages(&self) -> &[Page] {
        &self.pages
    }
}

/// A run of the simulation.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// The policy; `None` for the oracle.
    pub policy: Option<Policy>,
    /// Requests a second.
    pub budget: f64,
    /// The length of a round, in seconds.
    pub round: f64,
    /// The time at the start that does not count, in seconds.
    pub warm_up: f64,
}

/// What a run comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The weighted share of time in which copies were stale, after the warm-up.
    pub staleness: f64,
    /// The same during the warm-up, while a policy learns the rates.
    pub learning: f64,
    /// The number of visits after the warm-up.
    pub visits: u64,
    /// The number of these that found a change.
    pub changed: u64,
}

/// Simulates runs on a trace.
pub fn simulate(trace: &Trace, options: &Options, runs: &[Run], pulse: &Pulse) -> Result<Vec<Outcome>> {
    pulse.set(0, runs.len() as u64);
    runs.par_iter()
        .map(|run| {
            let outcome = Simulation::new(trace, options, *run)?.finish(pulse)?;
            pulse.add(1);
            Ok(outcome)
        })
        .collect()
}

/// A page while a run goes on.
struct State {
    schedule: Schedule,
    outlook: Outlook,
    /// The moment of the copy.
    seen: f64,
    /// The first change after it.
    change: usize,
    /// The first signal that was not delivered.
    signal: usize,
}

struct Simulation<'a> {
    trace: &'a Trace,
    options: Options,
    run: Run,
    plan: Plan,
    states: Vec<State>,
    /// Importance × time stale, during the warm-up and after it.
    stale: [f64; 2],
    outcome: Outcome,
}

impl<'a> Simulation<'a> {
    fn new(trace: &'a Trace, options: &Options, run: Run) -> Result<Simulation<'a>> {
        if !(run.budget > 0.0 && run.round > 0.0 && (0.0..trace.seconds).contains(&run.warm_up)) {
            return Err(Error::Invalid(
                "a run needs a budget, rounds, and a warm-up shorter than the trace".to_owned(),
            ));
        }
        let mut options = options.clone();
        options.policy = run.policy.unwrap_or(Policy::Optimal);
        options.budget = run.budget * 86_400.0;
        options.interval = trace.pages.len() as f64 / run.budget;
        let mut first = Schedule::default();
        first.observe(Visit::Changed, 0.0, &options);
        let plan = Planner::new(&options, None).plan();
        let outlook = plan.outlook(&first);
        let states = trace.pages.iter().map(|page| State {
            schedule: Schedule { importance: page.importance, ..first.clone() },
            outlook,
            seen: 0.0,
            change: page.changes.start,
            signal: page.signals.start,
        });
        let states = states.collect();
        let mut simulation =
            Simulation { trace, options, run, plan, states, stale: [0.0; 2], outcome: Outcome::default() };
        simulation.make_plan();
        Ok(simulation)
    }

    fn finish(mut self, pulse: &Pulse) -> Result<Outcome> {
        let rounds = (self.trace.seconds / self.run.round).ceil() as usize;
        let mut ranking: Vec<(f64, u32)> = Vec::with_capacity(self.states.len());
        let mut credit = 0.0;
        for round in 0..rounds {
            pulse.beat()?;
            let start = round as f64 * self.run.round;
            if round > 0 && round % rounds.div_ceil(PLANS) == 0 {
                self.make_plan();
            }
            self.deliver(start);
            credit += self.run.budget * self.run.round;
            let visits = (credit as usize).min(self.states.len());
            credit -= credit.floor();
            if visits > 0 {
                self.visit_most_urgent(start, visits, &mut ranking);
            }
        }
        for place in 0..self.states.len() {
            self.count_stale(place, self.trace.seconds);
        }
        let importance: f64 = self.trace.pages.iter().map(|page| f64::from(page.importance)).sum();
        let [learning, after] = self.stale;
        let share = |stale: f64, time: f64| if time > 0.0 { stale / (importance * time) } else { 0.0 };
        Ok(Outcome {
            staleness: share(after, self.trace.seconds - self.run.warm_up),
            learning: share(learning, self.run.warm_up),
            ..self.outcome
        })
    }

    fn make_plan(&mut self) {
        let mut planner = Planner::new(&self.options, Some(&self.plan));
        for (state, page) in self.states.iter().zip(&self.trace.pages) {
            match self.run.policy {
                Some(_) => planner.add(&state.schedule),
                None => planner.add_known(page.dynamics, f64::from(page.importance)),
            }
        }
        self.plan = planner.plan();
        for place in 0..self.states.len() {
            self.look(place);
        }
    }

    /// Sets what the plan says of a page.
    fn look(&mut self, place: usize) {
        let state = &mut self.states[place];
        state.outlook = match self.run.policy {
            Some(_) => self.plan.outlook(&state.schedule),
            None => self.plan.outlook_known(&state.schedule, self.trace.pages[place].dynamics),
        };
    }

    /// Delivers the signals up to a moment.
    fn deliver(&mut self, now: f64) {
        for place in 0..self.states.len() {
            let (state, page) = (&mut self.states[place], &self.trace.pages[place]);
            let new =
                self.trace.signals[state.signal..page.signals.end].partition_point(|signal| *signal <= now);
            if new == 0 {
                continue;
            }
            for signal in &self.trace.signals[state.signal..state.signal + new] {
                if *signal > state.seen {
                    state.schedule.signal(*signal, Source::Feed);
                }
            }
            state.signal += new;
            self.look(place);
        }
    }

    /// Visits the pages that are the most urgent at the end of a round, each when its turn comes and its shortest
    /// interval is over.
    fn visit_most_urgent(&mut self, start: f64, visits: usize, ranking: &mut Vec<(f64, u32)>) {
        let end = start + self.run.round;
        ranking.clear();
        ranking.extend((0..).zip(&self.states).map(|(place, state)| (state.outlook.urgency(end), place)));
        let later = |a: &(f64, u32), b: &(f64, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if visits < ranking.len() {
            ranking.select_nth_unstable_by(visits, later);
        }
        let chosen = &mut ranking[..visits];
        chosen.sort_unstable_by(later);
        let gap = self.run.round / visits as f64;
        for (number, (urgency, place)) in chosen.iter().enumerate() {
            if *urgency > 0.0 {
                let place = *place as usize;
                let turn = start + (number as f64 + 0.5) * gap;
                let earliest = self.states[place].seen + self.options.min_interval;
                self.visit(place, turn.max(earliest).min(self.trace.seconds));
            }
        }
    }

    fn visit(&mut self, place: usize, now: f64) {
        self.count_stale(place, now);
        let page = &self.trace.pages[place];
        let state = &mut self.states[place];
        let changes =
            self.trace.changes[state.change..page.changes.end].partition_point(|change| *change <= now);
        state.change += changes;
        state.seen = now;
        let changed = changes > 0;
        state.schedule.observe(if changed { Visit::Changed } else { Visit::Unchanged }, now, &self.options);
        if now >= self.run.warm_up {
            self.outcome.visits += 1;
            self.outcome.changed += u64::from(changed);
        }
        self.look(place);
    }

    /// Counts the time until `now` in which the copy was stale.
    fn count_stale(&mut self, place: usize, now: f64) {
        let (state, page) = (&self.states[place], &self.trace.pages[place]);
        if let Some(change) = self.trace.changes[state.change..page.changes.end].first() {
            let (importance, warm_up) = (f64::from(page.importance), self.run.warm_up);
            self.stale[0] += importance * (now.min(warm_up) - change).max(0.0);
            self.stale[1] += importance * (now - change.max(warm_up)).max(0.0);
        }
    }
}
