//! The configuration of a crawl, sent by Python as JSON: the section `[crawl]` of the settings, and what the
//! collection knows.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use super::counts::{Counts, Failures, Revisited, Saved};
use super::exchange::membership::Membership;
use super::parsing::reach::Reach;
use super::settings::Settings;
use super::writing::reread::RereadPlan;
use super::writing::store;
use crate::collection::Outcome;
use crate::schedule;
use crate::settings::section;
use crate::sieve::{self, Files, Front, Opening, State};
use crate::{Pulse, Result};

/// The configuration of a crawl.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The settings.
    pub(crate) crawl: Settings,
    /// The settings of the page store.
    pub(crate) store: store::Settings,
    /// The collection's folder.
    pub(crate) folder: PathBuf,
    /// The software name, for the archive's `warcinfo` records and the User-Agent.
    pub(crate) software: String,
    /// The seed URLs.
    pub(crate) seeds: Vec<String>,
    /// Redirect targets of seeds in earlier runs.
    pub(crate) led_to: Vec<String>,
    /// The counters of earlier runs.
    pub(crate) counted: Counted,
    /// The command that starts a worker process for conversions.
    pub(crate) converter: Vec<String>,
    /// The media types that third-party classes convert to text, with the names of these classes.
    pub(crate) converters: BTreeMap<String, String>,
    /// The committed state of the sieve; empty for one that is opened elsewhere.
    pub(crate) sieve_state: State,
    /// The queue offset at which dequeuing resumes.
    pub(crate) position: Option<u64>,
    /// How revisits are scheduled.
    pub(crate) refresh: schedule::Options,
    /// The length of the queue of revisits; 0: there is none.
    pub(crate) revisits: u64,
    /// Which stored pages are read again, because the reach is wider than before.
    pub(crate) reread: Option<RereadPlan>,
    /// The agents that the crawl is divided among; `None`: it is not.
    pub(crate) exchange: Option<Membership>,
}

/// The counters of earlier runs that are carried on.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Counted {
    outcomes: BTreeMap<Outcome, u64>,
    statuses: BTreeMap<u16, u64>,
    duplicates: u64,
    near_duplicates: u64,
    saved: Saved,
    links: u64,
    unconverted: BTreeMap<String, u64>,
    failures: BTreeMap<String, Failures>,
    revisits: BTreeMap<Revisited, u64>,
}

impl Plan {
    /// Reads a plan.
    pub fn from_json(json: &[u8]) -> Result<Plan> {
        section("the crawl", json)
    }

    /// Opens the sieve as it was committed.
    pub fn open_sieve(&self, files: &Files, pulse: &Pulse) -> Result<Front> {
        let opening =
            Opening { folder: &self.folder, files, state: &self.sieve_state, start: self.position() };
        sieve::open(&self.crawl.sieve, opening, self.crawl.sieve_options, pulse)
    }

    /// The queue offset at which dequeuing starts: the first if agents give their responsibilities anew.
    pub fn position(&self) -> Option<u64> {
        if self.exchange.as_ref().is_some_and(Membership::begins_anew) { Some(0) } else { self.position }
    }

    /// Which links are followed.
    pub fn reach(&self) -> Result<Reach> {
        let seeds: Vec<String> = self.seeds.iter().chain(&self.led_to).cloned().collect();
        Reach::new(&self.crawl.reach, &seeds)
    }

    /// The counters to start from.
    pub fn counts(&self) -> Counts {
        Counts {
            outcomes: self.counted.outcomes.clone(),
            statuses: self.counted.statuses.clone(),
            duplicates: self.counted.duplicates,
            near_duplicates: self.counted.near_duplicates,
            saved: self.counted.saved,
            links: self.counted.links,
            unconverted: self.counted.unconverted.clone(),
            failures: self.counted.failures.clone(),
            revisits: self.counted.revisits.clone(),
            ..Counts::default()
        }
    }
}
