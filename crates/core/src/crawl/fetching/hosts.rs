//! Per-host state that outlives a host's time in the workbench: its robots rules, its page count, and the
//! time before which it must not be fetched from.
//!
//! A host in the workbench costs about a kilobyte beside its rules. What must survive is in a log on disk,
//! from which a host that returns, in this run or a later one, is restored immediately: a sorted map has the
//! place of each host's newest record, in constant memory.
//!
//! The log is rewritten with the newest records alone at the checkpoint at which it has become longer than twice
//! these and [`SLACK`]. Positions go on: the new file has in its name the position at which it begins, so places in the
//! map are valid for ever, and a crash before the commit leaves the old file and the old map. A record is rewritten
//! at most once for each one that is written, on average.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::cookies::Cookies;
use super::domains::Domain;
use crate::collection::layout::{host_records, hosts, hosts_base};
use crate::collection::{Change, Manifest, Outcome};
use crate::crawl::work::Work;
use crate::disk::file::DurableFile;
use crate::disk::format::Format;
use crate::disk::log::{LogAccess, LogStream, LogWriter};
use crate::fetch::{Connection, Origin};
use crate::robots::Robots;
use crate::sorted::{Options, SortedMap, SortedReader, State};
use crate::{Error, Pulse, Result, Signature};

/// The format of the log.
pub const FORMAT: Format = Format { kind: *b"HOST", version: 1 };
const RECORDS_PER_BEAT: u64 = 1 << 10;
/// What a log may have beside twice its newest records, in bytes.
const SLACK: u64 = 1 << 20;
/// The memory of the block cache of a reader, in bytes.
const READING: usize = 1 << 20;
/// The number of records that are rewritten in a batch.
const BATCH: usize = 1 << 10;
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
    /// The agent that fetches its URLs, if that is another, and the address for which it does.
    pub elsewhere: Option<(u32, Option<IpAddr>)>,
    /// When another agent was asked for its robots.txt.
    pub asked: Option<Instant>,
    /// Why its pages are not visited again in this run, but in a later one.
    pub away: Option<String>,
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
    /// What of it was.
    pub saved: HostRecord,
    /// What made its last rest as long as it is.
    pub why: &'static str,
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
    /// The number of assets fetched from it.
    #[serde(default)]
    pub assets: u64,
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
    folder: PathBuf,
    /// The position at which the log begins.
    base: u64,
    log: LogWriter,
    /// Reads what was flushed.
    access: LogAccess,
    flushed: u64,
    /// The length of the log when it was last rewritten.
    rewritten: u64,
    /// The position of the newest record of each key.
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
    /// Opens the log among the committed files, or a new one; the map takes `memory` bytes.
    pub fn open(
        folder: &Path,
        files: &HashMap<String, u64>,
        state: &State,
        memory: usize,
        pulse: &Pulse,
    ) -> Result<HostMemory> {
        let logs = files.iter().filter_map(|(name, length)| Some((hosts_base(name)?, *length)));
        let (base, committed) = logs.max().unwrap_or_default();
        let path = folder.join(hosts(base));
        let mut log = LogWriter::open(&path, FORMAT, committed)?;
        let flushed = log.flush()?;
        let mut newest = SortedMap::open(folder, HostMemory::options(memory), state)?;
        let mut stream = LogStream::open(&path, FORMAT, newest.applied().saturating_sub(base), flushed)?;
        let mut count = 0;
        while let Some(sealed) = stream.advance()? {
            count += 1;
            if count % RECORDS_PER_BEAT == 0 {
                pulse.beat()?;
            }
            let record = sealed.open(&path)?;
            let position = (base + record.offset).to_le_bytes();
            newest.put(&record.key.0.to_be_bytes(), Some(&position), base + record.end())?;
        }
        let access = LogAccess::open(&path)?;
        let (folder, changed) = (folder.to_path_buf(), HashMap::new());
        let mut memory = HostMemory { folder, base, log, access, flushed, rewritten: 0, newest, changed };
        memory.rewritten = memory.place(last_rewritten())?.unwrap_or(0);
        Ok(memory)
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

    /// Stores the robots.txt of a host as another agent encoded it.
    pub fn remember_answer(&mut self, name: &str, encoded: &[u8]) -> Result<()> {
        let damaged = |_| Error::Invalid(format!("another agent's robots.txt of {name} does not decode"));
        let record: RobotsRecord = rmp_serde::from_slice(encoded).map_err(damaged)?;
        self.remember_robots(name, &record)
    }

    /// Stores the robots.txt of a host.
    pub fn remember_robots(&mut self, name: &str, record: &RobotsRecord) -> Result<()> {
        self.append(robots_key(name), &encode(record)?)
    }

    /// The address at which a host is crawled for another agent.
    pub fn pin(&mut self, name: &str) -> Result<Option<IpAddr>> {
        self.get(pin_key(name))
    }

    /// Stores such an address.
    pub fn remember_pin(&mut self, name: &str, address: IpAddr) -> Result<()> {
        if self.pin(name)? == Some(address) {
            return Ok(());
        }
        self.append(pin_key(name), &encode(&address)?)
    }

    /// Writes the changed records; returns what to commit.
    pub fn checkpoint(&mut self) -> Result<HostCommit> {
        for (host, record) in std::mem::take(&mut self.changed) {
            self.append(Signature(host), &encode(&record)?)?;
        }
        self.flushed = self.log.flush()?;
        let replaced = if self.flushed > 2 * self.rewritten + SLACK { Some(self.rewrite()?) } else { None };
        let mut newest = self.newest.checkpoint()?;
        newest.files.extend(replaced.map(|name| (name, None)));
        newest.files.push((hosts(self.base), Some(self.flushed)));
        Ok(HostCommit { files: newest.files, log: self.log.handle()?, newest: newest.state })
    }

    fn append(&mut self, key: Signature, payload: &[u8]) -> Result<()> {
        let position = self.base + self.log.append(key, payload)?;
        self.newest.put(&key.0.to_be_bytes(), Some(&position.to_le_bytes()), self.base + self.log.len())
    }

    /// Goes on in a new log, which begins with the newest records; returns the name of the old one.
    fn rewrite(&mut self) -> Result<String> {
        let base = self.base + self.flushed;
        let path = self.folder.join(hosts(base));
        let mut log = LogWriter::open(&path, FORMAT, 0)?;
        let mut from = Vec::new();
        loop {
            let mut keys = Vec::with_capacity(BATCH);
            let mut scan = self.newest.scan(&from, None)?;
            while keys.len() < BATCH
                && let Some((key, _)) = scan.advance()?
            {
                keys.push(key.to_vec());
            }
            drop(scan);
            let Some(last) = keys.last() else { break };
            from = [last.as_slice(), &[0]].concat();
            for key in keys {
                let damaged =
                    |_| Error::corrupt(hosts(self.base), 0, "a key of the hosts has another length");
                let signature =
                    Signature(key.as_slice().try_into().map(u64::from_be_bytes).map_err(damaged)?);
                let Some(offset) = self.place(signature)?.filter(|_| signature != last_rewritten()) else {
                    continue;
                };
                let position = base + log.append(signature, self.access.get(offset)?.payload)?;
                self.newest.put(&key, Some(&position.to_le_bytes()), base + log.len())?;
            }
        }
        let replaced = hosts(self.base);
        (self.base, self.log) = (base, log);
        self.append(last_rewritten(), &[])?;
        // No committed run has a place in the old log.
        self.newest.flush()?;
        self.flushed = self.log.flush()?;
        self.rewritten = self.flushed;
        self.access = LogAccess::open(&path)?;
        Ok(replaced)
    }

    /// The offset in the log of the newest record of a key.
    fn place(&self, key: Signature) -> Result<Option<u64>> {
        let Some(position) = self.newest.get(&key.0.to_be_bytes())? else { return Ok(None) };
        let position = position.try_into().map(u64::from_le_bytes).ok();
        let offset = position.and_then(|position| position.checked_sub(self.base));
        let damaged = || Error::corrupt(hosts(self.base), 0, "a host has no place in the log");
        offset.ok_or_else(damaged).map(Some)
    }

    fn get<T: for<'a> Deserialize<'a>>(&mut self, key: Signature) -> Result<Option<T>> {
        let Some(offset) = self.place(key)? else { return Ok(None) };
        if offset >= self.flushed {
            self.flushed = self.log.flush()?;
        }
        let record = self.access.get(offset)?;
        let damaged = |_| Error::corrupt(hosts(self.base), offset, "a host does not decode");
        rmp_serde::from_slice(record.payload).map(Some).map_err(damaged)
    }
}

/// What is known of a host, as of the last commit.
#[derive(Clone, Debug, Default)]
pub struct HostState {
    /// The number of pages fetched from it.
    pub fetched: u64,
    /// The time before which it must not be fetched from, in seconds since 1970; 0 if there is none.
    pub ready_at: f64,
    /// Its robots.txt: when it was requested, the status of the response, and the content.
    pub robots: Option<(f64, u16, Vec<u8>)>,
    /// The delay that its robots.txt asks for.
    pub crawl_delay: Option<Duration>,
}

/// What is known of a host (`https://a.example`), read beside a crawl that may be running; `user_agent` chooses the rules.
pub fn host_state(folder: &Path, name: &str, user_agent: &str, pulse: &Pulse) -> Result<HostState> {
    let manifest = Manifest::read(folder)?;
    let state = manifest.table_state()?.host_records;
    let logs = manifest.files.iter().filter_map(|(name, length)| Some((hosts_base(name)?, *length)));
    let Some((base, committed)) = logs.max() else { return Ok(HostState::default()) };
    let path = folder.join(hosts(base));
    let mut newest = SortedReader::open(folder, HostMemory::options(READING), &state)?;
    let keys = [Signature::of(name.as_bytes()), robots_key(name)];
    let mut stream = LogStream::open(&path, FORMAT, newest.applied().saturating_sub(base), committed)?;
    while let Some(sealed) = stream.advance()? {
        pulse.beat()?;
        if keys.contains(&sealed.key()) {
            let record = sealed.open(&path)?;
            let position = (base + record.offset).to_le_bytes();
            newest.put(&record.key.0.to_be_bytes(), Some(&position))?;
        }
    }
    let mut access = LogAccess::open(&path)?;
    let mut read = |key: Signature| -> Result<Option<Vec<u8>>> {
        let Some(position) = newest.get(&key.0.to_be_bytes())? else { return Ok(None) };
        let damaged = || Error::corrupt(&path, 0, "a host has no place in the log");
        let position = position.try_into().map(u64::from_le_bytes).map_err(|_| damaged())?;
        let offset = position.checked_sub(base).ok_or_else(damaged)?;
        Ok(Some(access.get(offset)?.payload.to_vec()))
    };
    let damaged = |_| Error::corrupt(&path, 0, "a host does not decode");
    let record = read(keys[0])?.map(|bytes| rmp_serde::from_slice::<HostRecord>(&bytes).map_err(damaged));
    let robots = read(keys[1])?.map(|bytes| rmp_serde::from_slice::<RobotsRecord>(&bytes).map_err(damaged));
    let (record, robots) = (record.transpose()?.unwrap_or_default(), robots.transpose()?);
    let rules = robots.as_ref().filter(|robots| (200..300).contains(&robots.status));
    Ok(HostState {
        fetched: record.fetched,
        ready_at: record.ready_at,
        crawl_delay: rules.and_then(|robots| Robots::parse(&robots.body, user_agent).crawl_delay()),
        robots: robots.map(|robots| (robots.when, robots.status, robots.body)),
    })
}

/// The key of an empty record: its place tells how long the log was when it was last rewritten.
fn last_rewritten() -> Signature {
    Signature::of(b"the end of the rewritten records")
}

fn robots_key(name: &str) -> Signature {
    Signature::of(format!("robots.txt of {name}").as_bytes())
}

fn pin_key(name: &str) -> Signature {
    Signature::of(format!("address of {name}").as_bytes())
}

pub(super) fn encode(record: &impl Serialize) -> Result<Vec<u8>> {
    rmp_serde::to_vec(record).map_err(|error| Error::Invalid(format!("a host does not encode: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_from_before_there_were_assets_is_read() {
        let old = rmp_serde::to_vec(&(7_u64, 1.5_f64)).unwrap();
        let record: HostRecord = rmp_serde::from_slice(&old).unwrap();
        assert_eq!(record, HostRecord { fetched: 7, ready_at: 1.5, assets: 0 });
    }

    #[test]
    fn what_was_remembered_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("frontier")).unwrap();
        let mut memory = opened(folder.path(), &HashMap::new(), &State::default());
        let record = HostRecord { fetched: 7, ready_at: 1.5, assets: 3 };
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
        for address in [IpAddr::from([127, 0, 0, 1]), IpAddr::from([9; 16])] {
            memory.remember_pin("http://a.example", address).unwrap();
            assert_eq!(memory.pin("http://a.example").unwrap(), Some(address));
        }
        assert_eq!(memory.pin("http://b.example").unwrap(), None);
    }

    fn opened(folder: &Path, files: &HashMap<String, u64>, state: &State) -> HostMemory {
        HostMemory::open(folder, files, state, 1 << 16, &Pulse::STEADY).unwrap()
    }

    /// Commits and opens again; returns the number of runs too.
    fn reopened(folder: &Path, mut memory: HostMemory) -> (HostMemory, usize) {
        let commit = memory.checkpoint().unwrap();
        drop(memory);
        let files = commit.files.into_iter().filter_map(|(name, length)| Some((name, length?))).collect();
        (opened(folder, &files, &commit.newest), commit.newest.runs.len())
    }

    /// Thousands of checkpoints, opened again now and then, and after a crash that loses what was not committed.
    #[test]
    fn its_log_stays_as_long_as_its_hosts_are_many() {
        const HOSTS: u64 = 500;
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("frontier")).unwrap();
        let (mut files, mut state): (HashMap<String, u64>, State) = Default::default();
        let mut memory = opened(folder.path(), &files, &state);
        let robots = RobotsRecord { body: vec![b'x'; 3000], ..RobotsRecord::default() };
        memory.remember_robots("http://a.example", &robots).unwrap();
        let mut rewritten = 0;
        for round in 0..400u64 {
            for host in 0..HOSTS {
                memory
                    .remember(host, &HostRecord { fetched: host + round, ready_at: round as f64, assets: 0 });
            }
            let commit = memory.checkpoint().unwrap();
            if round == 250 {
                // Not committed: everything is as it was one round before.
                drop(memory);
                memory = opened(folder.path(), &files, &state);
                assert_eq!(memory.recall(7).unwrap().fetched, 7 + round - 1);
                continue;
            }
            for (name, length) in commit.files {
                match length {
                    Some(length) => drop(files.insert(name, length)),
                    None => {
                        rewritten += u64::from(hosts_base(&name).is_some());
                        files.remove(&name);
                        std::fs::remove_file(folder.path().join(name)).unwrap();
                    }
                }
            }
            state = commit.newest;
            let logs: Vec<u64> =
                files.iter().filter(|(name, _)| hosts_base(name).is_some()).map(|(_, len)| *len).collect();
            assert!(logs.len() == 1 && logs[0] < 2 * SLACK, "{logs:?}");
            if round % 90 == 0 {
                drop(memory);
                memory = opened(folder.path(), &files, &state);
            }
        }
        assert!(rewritten > 3, "{rewritten}");
        for host in 0..HOSTS {
            assert_eq!(
                memory.recall(host).unwrap(),
                HostRecord { fetched: host + 399, ready_at: 399.0, assets: 0 }
            );
        }
        assert_eq!(memory.robots("http://a.example").unwrap(), Some(robots));
        assert_eq!(memory.recall(HOSTS).unwrap(), HostRecord::default());
    }

    #[test]
    fn each_host_has_its_newest_record_among_many() {
        const HOSTS: u64 = 3000;
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("frontier")).unwrap();
        let mut memory = opened(folder.path(), &HashMap::new(), &State::default());
        let record = |host, round| HostRecord { fetched: host + round, ready_at: round as f64, assets: 0 };
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
