//! What a crawl has done so far, in numbers that any thread may look at.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::collection::{Outcome, Row};

/// What became of the URLs; kept by the writing thread.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// How many URLs ended in each way.
    pub outcomes: BTreeMap<Outcome, u64>,
    /// How many answers had each status.
    pub statuses: BTreeMap<u16, u64>,
    /// How many pages have the words of another.
    pub duplicates: u64,
    /// How many pages have nearly the words of another.
    pub near_duplicates: u64,
    /// How many different URLs were found.
    pub seen: u64,
    /// How many of them have no row yet.
    pub waiting: u64,
    /// How many links were found.
    pub links: u64,
    /// The failures of each extension, by its name.
    pub failures: BTreeMap<String, Failures>,
}

/// A failure of an extension: a class from outside, which must not end a crawl.
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
    /// Takes a row into account.
    pub fn count(&mut self, row: &Row) {
        *self.outcomes.entry(row.outcome).or_default() += 1;
        if let Some(status) = row.status {
            *self.statuses.entry(status).or_default() += 1;
        }
        self.duplicates += u64::from(row.duplicate_of.is_some());
        self.near_duplicates += u64::from(row.near_duplicate_of.is_some());
    }

    /// Takes the failure of an extension into account.
    pub fn fail(&mut self, failure: Failure) {
        let failures = self.failures.entry(failure.extension).or_default();
        failures.count += 1;
        failures.last = failure.message;
    }
}

macro_rules! gauges {
    ($($(#[$comment:meta])* $name:ident),* $(,)?) => {
        /// How the threads stand at this moment.
        #[derive(Debug, Default)]
        pub struct Gauges { $($(#[$comment])* pub $name: Gauge,)* }

        impl Gauges {
            /// The names and values of all.
            pub fn all(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name.get()),)*]
            }
        }
    };
}

gauges! {
    /// How many requests were made.
    requests,
    /// How many bytes of bodies came.
    bytes,
    /// How many hosts are being fetched from.
    active,
    /// How many hosts are in the workbench.
    hosts_in_workbench,
    /// How many hosts wait for a place in it.
    hosts_waiting,
    /// How many names are being resolved.
    resolving,
    /// How many addresses the workbench holds.
    addresses,
    /// How many URLs wait in the queues of their hosts.
    queued,
    /// How many responses wait to be parsed.
    parse_queue,
    /// How many pages wait to be written.
    write_queue,
    /// How many microseconds connections were in use, all together.
    busy_micros,
    /// How many microseconds connections could have been in use.
    slot_micros,
    /// How many microseconds the parsing threads parsed.
    parse_micros,
    /// How many microseconds the writing thread wrote.
    write_micros,
    /// How many microseconds the fetching thread was at work.
    fetch_micros,
}

/// A number that threads share.
#[derive(Debug, Default)]
pub struct Gauge(AtomicU64);

impl Gauge {
    /// Its value.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Gives it a value.
    pub fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    /// Adds to it.
    pub fn add(&self, value: u64) {
        self.0.fetch_add(value, Ordering::Relaxed);
    }
}
