//! Counters and gauges of a running crawl, readable from any thread.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use super::work::Parsed;
use super::writing::duplicates::Treatment;
use crate::collection::{Outcome, Row};

/// The number of distinct reasons that are counted; a document can make a reader say anything.
const REASONS: usize = 50;

/// Outcome counters, kept by the writer thread.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// The number of URLs per outcome.
    pub outcomes: BTreeMap<Outcome, u64>,
    /// The number of responses per status code.
    pub statuses: BTreeMap<u16, u64>,
    /// The number of exact duplicates: pages with the same text as another.
    pub duplicates: u64,
    /// The number of near-duplicates.
    pub near_duplicates: u64,
    /// What was saved on duplicates.
    pub saved: Saved,
    /// The number of distinct URLs discovered.
    pub seen: u64,
    /// The number of those that have no row yet.
    pub waiting: u64,
    /// The number of links found.
    pub links: u64,
    /// How the revisits ended: their number by [`Revisited`].
    pub revisits: BTreeMap<Revisited, u64>,
    /// The number of documents that could not be converted, or not entirely, by reason.
    pub unconverted: BTreeMap<String, u64>,
    /// The failures of each extension, by extension name.
    pub failures: BTreeMap<String, Failures>,
}

/// What was not fetched or stored because pages are duplicates of others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Saved {
    /// The number of links within reach that were not followed.
    pub links: u64,
    /// The number of pages that were not stored.
    pub pages: u64,
    /// The number of bytes that their records have, compressed.
    pub bytes: u64,
}

/// How a revisit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Revisited {
    /// The page has new text.
    Changed,
    /// It has the text that it had.
    Unchanged,
    /// It redirects now.
    Moved,
    /// There was no page, but there may be one again.
    Failed,
    /// There was no page for longer than the grace period.
    Gone,
}

/// A failure of an extension: third-party code, which must not abort a crawl.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The extension's name.
    pub extension: String,
    /// What happened and where, in one sentence.
    pub message: String,
}

/// How often an extension failed, and the last message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Failures {
    pub count: u64,
    pub last: String,
}

impl Counts {
    /// Counts a row.
    pub fn count(&mut self, row: &Row) {
        *self.outcomes.entry(row.outcome).or_default() += 1;
        if let Some(status) = row.status {
            *self.statuses.entry(status).or_default() += 1;
        }
        if row.outcome == Outcome::Fetched && !row.detail.is_empty() {
            *self.unconverted.entry(self.reason(&row.detail)).or_default() += 1;
        }
        self.duplicates += u64::from(row.duplicate_of.is_some());
        self.near_duplicates += u64::from(row.near_duplicate_of.is_some());
    }

    /// Counts what was saved on a page that was treated as a duplicate, with `links` that were not followed.
    pub fn save(&mut self, treatment: Treatment, links: usize, parsed: &Parsed) {
        self.saved.links += links as u64;
        if treatment == Treatment::Drop {
            let records = [&parsed.record, &parsed.request, &parsed.conversion];
            self.saved.pages += 1;
            self.saved.bytes += records.into_iter().flatten().map(|record| record.len() as u64).sum::<u64>();
        }
    }

    /// Counts a revisit.
    pub fn revisit(&mut self, how: Revisited) {
        *self.revisits.entry(how).or_default() += 1;
    }

    /// A reason without its particulars, which are in parentheses; at most [`REASONS`] are told apart.
    fn reason(&self, detail: &str) -> String {
        let reason = detail.split(" (").next().unwrap_or_default();
        let is_full = self.unconverted.len() >= REASONS && !self.unconverted.contains_key(reason);
        if is_full { "other reasons" } else { reason }.to_owned()
    }

    /// Counts a failure of an extension.
    pub fn fail(&mut self, failure: Failure) {
        let failures = self.failures.entry(failure.extension).or_default();
        failures.count += 1;
        failures.last = failure.message;
    }
}

macro_rules! gauges {
    ($($(#[$comment:meta])* $name:ident),* $(,)?) => {
        /// Gauges: the current state of the threads.
        #[derive(Debug, Default)]
        pub struct Gauges { $($(#[$comment])* pub $name: Gauge,)* }

        impl Gauges {
            /// The names and values of all gauges.
            pub fn all(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name.get()),)*]
            }
        }
    };
}

gauges! {
    /// Requests made.
    requests,
    /// Body bytes received.
    bytes,
    /// Hosts being fetched from.
    active,
    /// Hosts in the workbench.
    hosts_in_workbench,
    /// Hosts waiting for a slot in the workbench.
    hosts_waiting,
    /// Host names being resolved.
    resolving,
    /// IP addresses in the workbench.
    addresses,
    /// URLs in the per-host queues.
    queued,
    /// Responses waiting to be parsed.
    parse_queue,
    /// Pages waiting to be written.
    write_queue,
    /// The queue offset up to which stored pages were read again.
    reread,
    /// The queue offset at which that ends; 0: nothing is read again.
    reread_end,
    /// Microseconds that connections were in use, summed over connections.
    busy_micros,
    /// Microseconds that connections could have been in use.
    slot_micros,
    /// Microseconds that the parser threads spent parsing.
    parse_micros,
    /// Microseconds that the writer thread spent writing.
    write_micros,
    /// Microseconds that the fetcher thread was busy.
    fetch_micros,
}

/// A number shared between threads.
#[derive(Debug, Default)]
pub struct Gauge(AtomicU64);

impl Gauge {
    /// Its value.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Sets it.
    pub fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    /// Adds to it.
    pub fn add(&self, value: u64) {
        self.0.fetch_add(value, Ordering::Relaxed);
    }
}
