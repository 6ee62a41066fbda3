//! Per-host state that outlives a host's time in the workbench: its robots rules, its page count, and the
//! time before which it must not be fetched from.
//!
//! A host in the workbench costs about a kilobyte beside its rules. What must survive is in a log on disk,
//! from which a host that returns, in this run or a later one, is restored immediately.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::cookies::Cookies;
use super::domains::Domain;
use crate::collection::Outcome;
use crate::collection::layout::HOSTS;
use crate::crawl::work::Work;
use crate::disk::file::DurableFile;
use crate::disk::format::Format;
use crate::disk::log::KeyedLog;
use crate::fetch::{Connection, Origin};
use crate::robots::Robots;
use crate::{Error, Pulse, Result, Signature};

const FORMAT: Format = Format { kind: *b"HOST", version: 1 };
/// How long a robots.txt is cached (RFC 9309, 2.4).
pub const RULES_LAST: f64 = 24.0 * 3600.0;

/// A host shared by its visits and the scheduler, all on one thread.
pub type SharedHost = Rc<RefCell<Host>>;

/// A host in the workbench.
pub struct Host {
    /// Scheme, host and port.
    pub origin: Origin,
    /// The same as text.
    pub name: String,
    /// Its IP address.
    pub address: IpAddr,
    /// Its robots rules; `None`: not yet fetched, or expired.
    pub rules: Option<Rules>,
    /// Its sitemaps, until they are sent along with a response.
    pub sitemaps: Vec<String>,
    /// Why nothing more is fetched from it in this run.
    pub given_up: Option<(Outcome, String)>,
    /// The keep-alive connection.
    pub connection: Option<Connection>,
    /// When the connection was last used.
    pub used: Instant,
    /// Whether it is being visited.
    pub visited: bool,
    /// Its cookie jar, if cookies are kept.
    pub cookies: Cookies,
    /// URLs to retry.
    pub again: VecDeque<Work>,
    /// Whether it is in the workbench.
    pub inside: bool,
    /// The state that is persisted.
    pub record: HostRecord,
    /// The pages of its registrable domain.
    pub domain: Rc<Domain>,
    /// The number of consecutive failed requests.
    pub failures: u32,
    /// The number of requests made.
    pub requests: u64,
    /// The total time of the requests, in seconds.
    pub seconds: f64,
}

/// The robots rules of a host.
pub struct Rules {
    /// Its robots.txt.
    pub robots: Robots,
    /// When they expire, in seconds since 1970.
    pub until: f64,
}

/// The persisted state of a host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostRecord {
    /// The number of pages fetched from it.
    pub fetched: u64,
    /// The time before which it must not be fetched from, in seconds since 1970.
    pub ready_at: f64,
}

/// The robots.txt of a host, as received.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RobotsRecord {
    /// When it was requested, in seconds since 1970.
    pub when: f64,
    /// The status of the response.
    pub status: u16,
    /// Its content.
    #[serde(with = "serde_bytes")]
    pub body: Vec<u8>,
    /// The `ETag` validator.
    pub etag: Option<String>,
    /// The `Last-Modified` validator.
    pub last_modified: Option<String>,
    /// The delay that the host asked for with Retry-After.
    #[serde(skip)]
    pub retry_after: Option<Duration>,
}

/// The log of host records.
pub struct HostMemory {
    log: KeyedLog,
    /// Records changed since the last checkpoint.
    changed: HashMap<u64, HostRecord>,
}

impl HostMemory {
    /// Opens the log at its committed length.
    pub fn open(folder: &Path, files: &HashMap<String, u64>, pulse: &Pulse) -> Result<HostMemory> {
        let committed = files.get(HOSTS).copied().unwrap_or(0);
        let log = KeyedLog::write(&folder.join(HOSTS), FORMAT, committed, pulse)?;
        Ok(HostMemory { log, changed: HashMap::new() })
    }

    /// The record of a host.
    pub fn recall(&mut self, host: u64) -> Result<HostRecord> {
        if let Some(record) = self.changed.get(&host) {
            return Ok(record.clone());
        }
        Ok(self.get(Signature(host))?.unwrap_or_default())
    }

    /// Stores the record of a host.
    pub fn remember(&mut self, host: u64, record: &HostRecord) {
        self.changed.insert(host, record.clone());
    }

    /// The robots.txt of a host.
    pub fn robots(&mut self, name: &str) -> Result<Option<RobotsRecord>> {
        self.get(robots_key(name))
    }

    /// Stores the robots.txt of a host.
    pub fn remember_robots(&mut self, name: &str, record: &RobotsRecord) -> Result<()> {
        self.log.append(robots_key(name), &encode(record)?)
    }

    /// Writes the changed records; returns the file's name, its length and a handle to sync it with.
    pub fn flush(&mut self) -> Result<(String, u64, DurableFile)> {
        for (host, record) in std::mem::take(&mut self.changed) {
            self.log.append(Signature(host), &encode(&record)?)?;
        }
        let (length, handle) = self.log.flush()?;
        Ok((HOSTS.to_owned(), length, handle))
    }

    fn get<T: for<'a> Deserialize<'a>>(&mut self, key: Signature) -> Result<Option<T>> {
        let Some(record) = self.log.get(key)? else { return Ok(None) };
        let damaged = |_| Error::corrupt(HOSTS, record.offset, "a host does not decode");
        rmp_serde::from_slice(record.payload).map(Some).map_err(damaged)
    }
}

fn robots_key(name: &str) -> Signature {
    Signature::of(format!("robots.txt of {name}").as_bytes())
}

fn encode(record: &impl Serialize) -> Result<Vec<u8>> {
    rmp_serde::to_vec(record).map_err(|error| Error::Invalid(format!("a host does not encode: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_remembered_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("frontier")).unwrap();
        let mut memory = HostMemory::open(folder.path(), &HashMap::new(), &Pulse::STEADY).unwrap();
        let record = HostRecord { fetched: 7, ready_at: 1.5 };
        let robots = RobotsRecord {
            when: 2.5,
            status: 200,
            body: b"Disallow: /\xff".to_vec(),
            ..RobotsRecord::default()
        };
        memory.remember(1, &record);
        memory.remember_robots("http://a.example", &robots).unwrap();
        assert_eq!(memory.recall(1).unwrap(), record);
        let (name, length, _) = memory.flush().unwrap();
        let files = HashMap::from([(name, length)]);
        let mut memory = HostMemory::open(folder.path(), &files, &Pulse::STEADY).unwrap();
        assert_eq!(memory.recall(1).unwrap(), record);
        assert_eq!(memory.recall(2).unwrap(), HostRecord::default());
        assert_eq!(memory.robots("http://a.example").unwrap(), Some(robots));
        assert_eq!(memory.robots("http://b.example").unwrap(), None);
    }
}
