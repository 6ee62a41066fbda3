//! A crawl as Python describes it, in JSON: the section `[crawl]` of the settings, and what the collection knows.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use super::counts::{Counts, Failures};
use super::settings::Settings;
use crate::collection::Outcome;
use crate::settings::section;
use crate::sieve::{self, Files, Front, Opening, State};
use crate::url::Scope;
use crate::{Pulse, Result};

/// Everything that is told about a crawl.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The settings.
    pub(crate) crawl: Settings,
    /// The collection.
    pub(crate) folder: PathBuf,
    /// What the archive's files say who made them, and servers are told who asks.
    pub(crate) software: String,
    /// Where the crawl starts.
    pub(crate) seeds: Vec<String>,
    /// Where seeds led in earlier runs.
    pub(crate) led_to: Vec<String>,
    /// What earlier runs counted.
    pub(crate) counted: Counted,
    /// The command that turns a document into text, before its media type.
    pub(crate) converter: Vec<String>,
    /// The media types that a class from outside turns into text, with the names of these classes.
    pub(crate) converters: BTreeMap<String, String>,
    /// What the sieve asked to be remembered; empty for one that is opened elsewhere.
    pub(crate) sieve_state: State,
    /// Where giving out goes on.
    pub(crate) position: Option<u64>,
}

/// What of the report of earlier runs counts on.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Counted {
    outcomes: BTreeMap<Outcome, u64>,
    statuses: BTreeMap<u16, u64>,
    duplicates: u64,
    near_duplicates: u64,
    links: u64,
    failures: BTreeMap<String, Failures>,
}

impl Plan {
    /// Reads a plan.
    pub fn from_json(json: &[u8]) -> Result<Plan> {
        section("the crawl", json)
    }

    /// Opens the sieve as it was committed.
    pub fn open_sieve(&self, files: &Files, pulse: &Pulse) -> Result<Front> {
        let opening = Opening { folder: &self.folder, files, state: &self.sieve_state, start: self.position };
        sieve::open(&self.crawl.sieve, opening, self.crawl.sieve_options, pulse)
    }

    /// Which links are followed.
    pub fn scope(&self) -> Result<Scope> {
        let seeds: Vec<String> = self.seeds.iter().chain(&self.led_to).cloned().collect();
        let patterns = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        Scope::new(self.crawl.scope, &seeds, &patterns(&self.crawl.include), &patterns(&self.crawl.exclude))
    }

    /// What earlier runs counted.
    pub fn counts(&self) -> Counts {
        Counts {
            outcomes: self.counted.outcomes.clone(),
            statuses: self.counted.statuses.clone(),
            duplicates: self.counted.duplicates,
            near_duplicates: self.counted.near_duplicates,
            links: self.counted.links,
            failures: self.counted.failures.clone(),
            ..Counts::default()
        }
    }
}
