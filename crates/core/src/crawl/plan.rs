//! A crawl as Python describes it: the section `[crawl]` of the settings, as JSON, with what the collection
//! adds to it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use regex::{Regex, RegexBuilder};
use serde::Deserialize;

use super::counts::{Counts, Failures};
use super::fetching::politeness::{Politeness, Relative};
use super::settings::{Filters, Settings};
use crate::collection::Outcome;
use crate::sieve::{self, Files, Front, Opening, Options, State};
use crate::url::{CleanUp, Scope, ScopeKind, TrapLimits, reason};
use crate::{Error, Pulse, Result, fetch};

/// The gap of absolute politeness, where no other is given.
const GAP: f64 = 4.0;

/// Everything that is told about a crawl. The names are those of `crivello.settings.fields`.
#[derive(Debug, Deserialize)]
#[allow(missing_docs)]
pub struct Plan {
    pub folder: PathBuf,
    pub software: String,
    pub seeds: Vec<String>,
    /// Where seeds led in earlier runs.
    pub led_to: Vec<String>,
    /// What earlier runs counted.
    pub counted: Counted,
    /// The command that turns documents into text.
    pub converter: Vec<String>,
    /// The media types that a class from outside turns into text, with the names of these classes.
    pub converters: BTreeMap<String, String>,
    pub politeness: String,
    pub delay: Option<f64>,
    pub visit_time: f64,
    pub visit_requests: u32,
    pub visit_share: f64,
    pub address_delay: Option<f64>,
    pub max_crawl_delay: f64,
    pub max_wait: f64,
    pub connections: usize,
    pub scope: String,
    pub include: String,
    pub exclude: String,
    pub max_pages: u64,
    pub max_volume: u64,
    pub max_depth: u32,
    pub max_per_host: u64,
    pub max_share: f64,
    pub max_bytes: usize,
    pub max_redirects: u32,
    pub connect_timeout: f64,
    pub first_byte_timeout: f64,
    pub timeout: f64,
    pub retries: u32,
    pub max_chain: u32,
    pub max_repeats: usize,
    pub max_segments: usize,
    pub max_parameters: usize,
    pub max_queries: u16,
    pub types: String,
    pub languages: String,
    pub min_text: usize,
    pub max_text: usize,
    pub keep_matching: String,
    pub drop_matching: String,
    pub cookies: bool,
    pub images: bool,
    pub clean_session_ids: bool,
    pub clean_tracking: bool,
    pub clean_index_pages: bool,
    pub sort_queries: bool,
    pub obey_robots: bool,
    pub allow_private: bool,
    pub user_agent: String,
    pub accept_language: String,
    pub http2: bool,
    pub verify_tls: bool,
    pub proxy: String,
    pub name_server: String,
    pub hosts_file: String,
    pub near_distance: u32,
    pub workbench_hosts: usize,
    pub queue_memory: usize,
    pub parsers: usize,
    pub sieve: String,
    pub sieve_memory: usize,
    pub sieve_cache: usize,
    pub sieve_capacity: u64,
    pub sieve_error: f64,
    /// What the sieve asked to be remembered; it is another matter with one that is opened elsewhere.
    #[serde(default)]
    pub sieve_state: State,
    /// Where giving out goes on.
    pub position: Option<u64>,
}

/// The counts of earlier runs.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct Counted {
    pub outcomes: BTreeMap<Outcome, u64>,
    pub statuses: BTreeMap<u16, u64>,
    pub duplicates: u64,
    pub near_duplicates: u64,
    pub links: u64,
    pub failures: BTreeMap<String, Failures>,
}

impl Plan {
    /// Reads a plan.
    pub fn from_json(text: &str) -> Result<Plan> {
        serde_json::from_str(text)
            .map_err(|error| Error::Invalid(format!("the plan of the crawl is not one: {error}")))
    }

    /// The settings of the native crawl.
    pub fn settings(&self) -> Result<Settings> {
        let name_server = given(&self.name_server).map(|text| text.parse()).transpose();
        let name_server = name_server.map_err(|_| {
            Error::Invalid(format!("the name server {:?} is not an address with a port", self.name_server))
        })?;
        let cores = || std::thread::available_parallelism().map_or(2, usize::from);
        Ok(Settings {
            fetch: fetch::Options {
                user_agent: self.software.clone(),
                connect_timeout: seconds(self.connect_timeout),
                first_byte_timeout: seconds(self.first_byte_timeout),
                total_timeout: seconds(self.timeout),
                max_bytes: self.max_bytes,
                allow_private: self.allow_private,
                proxy: given(&self.proxy),
                name_server,
                hosts_file: given(&self.hosts_file).map(PathBuf::from),
                http2: self.http2,
                accept_language: given(&self.accept_language),
                verify_tls: self.verify_tls,
            },
            politeness: self.manners(),
            agent: self.user_agent.clone(),
            obey_robots: self.obey_robots,
            connections: self.connections,
            workbench_hosts: self.workbench_hosts,
            queue_bytes: self.queue_memory,
            parsers: if self.parsers == 0 { cores() } else { self.parsers },
            retries: self.retries,
            max_redirects: self.max_redirects,
            max_depth: self.max_depth,
            max_chain: self.max_chain,
            max_per_host: self.max_per_host,
            max_share: self.max_share,
            max_pages: self.max_pages,
            max_volume: self.max_volume,
            max_bytes: self.max_bytes,
            max_queries: self.max_queries,
            traps: TrapLimits {
                repeats: self.max_repeats,
                depth: self.max_segments,
                parameters: self.max_parameters,
                ..TrapLimits::default()
            },
            clean_up: CleanUp {
                session_ids: self.clean_session_ids,
                tracking: self.clean_tracking,
                index_pages: self.clean_index_pages,
                sort_query: self.sort_queries,
            },
            filters: Filters {
                types: list(&self.types),
                languages: list(&self.languages),
                min_text: self.min_text,
                max_text: self.max_text,
                keep: pattern(&self.keep_matching)?,
                drop: pattern(&self.drop_matching)?,
            },
            cookies: self.cookies,
            srcset: self.images,
            near_distance: self.near_distance,
            converter: self.converter.clone(),
            converters: self.converters.clone(),
            folder: self.folder.clone(),
            software: self.software.clone(),
        })
    }

    /// Opens the sieve as it was committed.
    pub fn open_sieve(&self, files: &Files, pulse: &Pulse) -> Result<Front> {
        let opening = Opening { folder: &self.folder, files, state: &self.sieve_state, start: self.position };
        let options = Options {
            memory: self.sieve_memory,
            cache: self.sieve_cache,
            capacity: self.sieve_capacity,
            error: self.sieve_error,
        };
        sieve::open(&self.sieve, opening, options, pulse)
    }

    fn manners(&self) -> Politeness {
        let relative = (self.politeness == "relative" && self.delay.is_none()).then(|| Relative {
            stay: seconds(self.visit_time),
            requests: self.visit_requests,
            share: self.visit_share,
        });
        let gap = self.delay.unwrap_or(if relative.is_some() { 0.0 } else { GAP });
        Politeness {
            relative,
            gap: seconds(gap),
            address_gap: self.address_delay.map(seconds),
            max_crawl_delay: seconds(self.max_crawl_delay),
            max_wait: seconds(self.max_wait),
        }
    }

    /// Which links are followed.
    pub fn scope(&self) -> Result<Scope> {
        let kind = ScopeKind::named(&self.scope)?;
        let seeds: Vec<String> = self.seeds.iter().chain(&self.led_to).cloned().collect();
        let patterns = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        Scope::new(kind, &seeds, &patterns(&self.include), &patterns(&self.exclude))
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

/// No pattern may take more memory than this.
const PATTERN_SIZE: usize = 1 << 20;

fn pattern(text: &str) -> Result<Option<Regex>> {
    let compiled =
        given(text).map(|text| RegexBuilder::new(&text).size_limit(PATTERN_SIZE).build()).transpose();
    compiled.map_err(|error| {
        Error::Invalid(format!("the pattern {text} is not a regular expression: {}", reason(&error)))
    })
}

fn seconds(number: f64) -> Duration {
    Duration::try_from_secs_f64(number).unwrap_or_default()
}

fn given(text: &str) -> Option<String> {
    (!text.trim().is_empty()).then(|| text.trim().to_owned())
}

fn list(text: &str) -> Vec<String> {
    text.split([',', ' '])
        .map(|item| item.trim().to_ascii_lowercase())
        .filter(|item| !item.is_empty())
        .collect()
}
