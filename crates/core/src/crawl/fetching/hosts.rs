//! Per-host state that outlives a host's time in the workbench: its robots rules, its page count, and the
//! time before which it must not be fetched from.
//!
//! A host in the workbench costs about a kilobyte beside its rules. What must survive is in a log on disk,
//! from which a host that returns, in this run or a later one, is restored immediately: a sorted map has the
//! place of each host's newest record, in constant memory.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::cookies::Cookies;
use super::domains::Domain;
use crate::collection::layout::{HOSTS, host_records};
use crate::collection::{Change, Outcome};
use crate::crawl::work::Work;
use crate::disk::file::DurableFile;
use crate::disk::format::Format;
use crate::disk::log::{LogAccess, LogStream, LogWriter};
use crate::fetch::{Connection, Origin};
use crate::robots::Robots;
use crate::sorted::{Options, SortedMap, State};
use crate::{Error, Pulse, Result, Signature};

/// The format of the log.
pub const FORMAT: Format = Format { kind: *b"HOST", version: 1 };
const RECORDS_PER_BEAT: u64 = 1 << 10;
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
    /// Why its pages are not visited again in this run, but in a later one.
    pub away: Option<String>,
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

/// The log of host records, and the newest record of each host in it.
pub struct HostMemory {
    log: LogWriter,
    /// Reads what was flushed.
    access: LogAccess,
    flushed: u64,
    /// The offset of the newest record of each key.
    newest: SortedMap,
    /// Records changed since the last checkpoint.
    changed: HashMap<u64, HostRecord>,
}

/// What a checkpoint of the records commits.
pub struct HostCommit {
    /// The files.
    pub files: Vec<Change>,
    /// The log, to be synced before.
    pub log: DurableFile,
    /// The state of the map.
    pub newest: State,
}

impl HostMemory {
    /// Opens the log at its committed length; the map takes `memory` bytes.
    pub fn open(
        folder: &Path,
        committed: u64,
        state: &State,
        memory: usize,
        pulse: &Pulse,
    ) -> Result<HostMemory> {
        let path = folder.join(HOSTS);
        let mut log = LogWriter::open(&path, FORMAT, committed)?;
        let flushed = log.flush()?;
        let mut newest = SortedMap::open(folder, HostMemory::options(memory), state)?;
        let mut stream = LogStream::open(&path, FORMAT, newest.applied(), flushed)?;
        let mut count = 0;
        while let Some(sealed) = stream.advance()? {
            count += 1;
            if count % RECORDS_PER_BEAT == 0 {
                pulse.beat()?;
            }
            let record = sealed.open(&path)?;
            newest.put(&record.key.0.to_be_bytes(), Some(&record.offset.to_le_bytes()), record.end())?;
        }
        Ok(HostMemory { log, access: LogAccess::open(&path)?, flushed, newest, changed: HashMap::new() })
    }

    /// How the map is kept.
    pub fn options(memory: usize) -> Options {
        Options { memory, name: host_records, filtered: |key| key, keep: None }
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
        self.append(robots_key(name), &encode(record)?)
    }

    /// Writes the changed records; returns what to commit.
    pub fn checkpoint(&mut self) -> Result<HostCommit> {
        for (host, record) in std::mem::take(&mut self.changed) {
            self.append(Signature(host), &encode(&record)?)?;
        }
        self.flushed = self.log.flush()?;
        let mut newest = self.newest.checkpoint()?;
        newest.files.push((HOSTS.to_owned(), Some(self.flushed)));
        Ok(HostCommit { files: newest.files, log: self.log.handle()?, newest: newest.state })
    }

    fn append(&mut self, key: Signature, payload: &[u8]) -> Result<()> {
        let offset = self.log.append(key, payload)?;
        self.newest.put(&key.0.to_be_bytes(), Some(&offset.to_le_bytes()), self.log.len())
    }

    fn get<T: for<'a> Deserialize<'a>>(&mut self, key: Signature) -> Result<Option<T>> {
        let Some(place) = self.newest.get(&key.0.to_be_bytes())? else { return Ok(None) };
        let damaged = |_| Error::corrupt(HOSTS, 0, "a host has no place in the log");
        let offset = place.try_into().map(u64::from_le_bytes).map_err(damaged)?;
        if offset >= self.flushed {
            self.flushed = self.log.flush()?;
        }
        let record = self.access.get(offset)?;
        let damaged = |_| Error::corrupt(HOSTS, offset, "a host does not decode");
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
        let mut memory =
            HostMemory::open(folder.path(), 0, &State::default(), 1 << 16, &Pulse::STEADY).unwrap();
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
        let (mut memory, _) = reopened(folder.path(), memory);
        assert_eq!(memory.recall(1).unwrap(), record);
        assert_eq!(memory.recall(2).unwrap(), HostRecord::default());
        assert_eq!(memory.robots("http://a.example").unwrap(), Some(robots));
        assert_eq!(memory.robots("http://b.example").unwrap(), None);
    }
    /// Commits and opens again; returns the number of runs too.
    fn reopened(folder: &Path, mut memory: HostMemory) -> (HostMemory, usize) {
        let commit = memory.checkpoint().unwrap();
        let length = commit.files.iter().find(|(name, _)| name == HOSTS).unwrap().1.unwrap();
        drop(memory);
        let memory = HostMemory::open(folder, length, &commit.newest, 1 << 16, &Pulse::STEADY).unwrap();
        (memory, commit.newest.runs.len())
    }

    #[test]
    fn each_host_has_its_newest_record_among_many() {
        const HOSTS: u64 = 3000;
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("frontier")).unwrap();
        let mut memory =
            HostMemory::open(folder.path(), 0, &State::default(), 1 << 16, &Pulse::STEADY).unwrap();
        let record = |host, round| HostRecord { fetched: host + round, ready_at: round as f64 };
        for round in 0..3 {
            // In the last round only every second host.
            for host in (0..HOSTS).filter(|host| round < 2 || host % 2 == 0) {
                memory.remember(host, &record(host, round));
            }
            let runs;
            (memory, runs) = reopened(folder.path(), memory);
            assert!(runs > 0, "the map must be larger than its memory");
        }
        for host in 0..HOSTS {
            assert_eq!(memory.recall(host).unwrap(), record(host, 1 + u64::from(host % 2 == 0)));
        }
        assert_eq!(memory.recall(HOSTS).unwrap(), HostRecord::default());
    }
}
