//! What is known about hosts, beyond the time that they spend in the workbench: their rules, how many pages
//! they gave, and until when to leave them in peace.
//!
//! A host in the workbench costs about a kilobyte beside its rules. What must survive lies in a log on disk,
//! from where a host that comes back, in this run or a later one, has it at once.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::cookies::Cookies;
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
/// For how long rules are believed (RFC 9309, 2.4).
pub const RULES_LAST: f64 = 24.0 * 3600.0;

/// A host that visits and the scheduler share, all in one thread.
pub type SharedHost = Rc<RefCell<Host>>;

/// A host in the workbench.
pub struct Host {
    /// Scheme, host and port.
    pub origin: Origin,
    /// The same as text.
    pub name: String,
    /// Where it is.
    pub address: IpAddr,
    /// What it forbids; None: not yet asked, or too long ago.
    pub rules: Option<Rules>,
    /// Why nothing is fetched from it any more in this run.
    pub given_up: Option<(Outcome, String)>,
    /// The connection that is kept alive.
    pub connection: Option<Connection>,
    /// When the connection was used last.
    pub used: Instant,
    /// Whether it is being visited.
    pub visited: bool,
    /// Its cookies, where they are kept.
    pub cookies: Cookies,
    /// URLs that are to be tried again.
    pub again: VecDeque<Work>,
    /// Whether it is in the workbench.
    pub inside: bool,
    /// What outlives the stay.
    pub record: HostRecord,
    /// How many requests in a row failed.
    pub failures: u32,
    /// How many requests were made, and the seconds they took.
    pub requests: u64,
    /// The seconds that the requests took.
    pub seconds: f64,
}

/// What a host forbids.
pub struct Rules {
    /// Its robots.txt.
    pub robots: Robots,
    /// Until when it is believed, in seconds since 1970.
    pub until: f64,
}

/// What is remembered of a host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostRecord {
    /// How many pages it gave.
    pub fetched: u64,
    /// Until when to leave it in peace, in seconds since 1970.
    pub ready_at: f64,
}

/// The robots.txt of a host, as it was sent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RobotsRecord {
    /// When it was asked for, in seconds since 1970.
    pub when: f64,
    /// The status of the answer.
    pub status: u16,
    /// What it says.
    #[serde(with = "serde_bytes")]
    pub body: Vec<u8>,
    /// Its validators.
    pub etag: Option<String>,
    /// Its validators.
    pub last_modified: Option<String>,
    /// How long the host asked to be left alone.
    #[serde(skip)]
    pub retry_after: Option<Duration>,
}

/// The log of hosts.
pub struct HostMemory {
    log: KeyedLog,
    /// What changed since the last checkpoint.
    changed: HashMap<u64, HostRecord>,
}

impl HostMemory {
    /// Opens the log as it was committed.
    pub fn open(folder: &Path, files: &HashMap<String, u64>, pulse: &Pulse) -> Result<HostMemory> {
        let committed = files.get(HOSTS).copied().unwrap_or(0);
        let log = KeyedLog::write(&folder.join(HOSTS), FORMAT, committed, pulse)?;
        Ok(HostMemory { log, changed: HashMap::new() })
    }

    /// What is remembered of a host.
    pub fn recall(&mut self, host: u64) -> Result<HostRecord> {
        if let Some(record) = self.changed.get(&host) {
            return Ok(record.clone());
        }
        Ok(self.get(Signature(host))?.unwrap_or_default())
    }

    /// Remembers a host.
    pub fn remember(&mut self, host: u64, record: &HostRecord) {
        self.changed.insert(host, record.clone());
    }

    /// The robots.txt of a host.
    pub fn robots(&mut self, name: &str) -> Result<Option<RobotsRecord>> {
        self.get(robots_key(name))
    }

    /// Remembers the robots.txt of a host.
    pub fn remember_robots(&mut self, name: &str, record: &RobotsRecord) -> Result<()> {
        self.log.append(robots_key(name), &encode(record)?)
    }

    /// Writes down what changed; gives the file, its length and a handle by which to make it durable.
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
