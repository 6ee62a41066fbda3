//! What this agent knows of URLs beside its sieve: whose they are to fetch.
//!
//! ```text
//! none     this agent's, if its sieve emits it and the name is its own
//! told     another agent's; where its record is in the sieve's queue, if its emission was suppressed here
//! taken    this agent's, whatever its name: a token of responsibility came, or the name went and the URL stayed
//! passed   offered to the owner of its name, who knows whose it is: the sieve decided about it only when the name was gone, or
//!          responsibilities were given anew; with where its record is in the sieve's queue
//! handed   another agent's: this one gave the token away; with where its record is in the sieve's queue
//! done     an agent that has left fetched it, and had it in an epoch; void if that agent was lost since
//! ```
//!
//! A token ([`Message::Hand`](super::record::Message), [`Message::Forward`](super::record::Message)) wins over what was told,
//! in either order of arrival: what is *taken* is not told away, and what was told is taken by a token. A log is the
//! journal, and a sorted map over it answers: 17 bytes of disk for what is handed or taken, 21 and the URL for what was
//! told, 33 and the URL for what is done, about 20 more in the map (32 for what is done); [`MEMORY`] bytes of memory.

use std::collections::HashMap;
use std::path::Path;

use super::record::Witness;
use crate::collection::layout::{KNOWN, known_runs};
use crate::disk::file::DurableFile;
use crate::disk::format::Format;
use crate::disk::log::{LogStream, LogWriter};
use crate::sorted::{Change, Options, SortedMap, State};
use crate::{Error, Pulse, Result, Signature};

/// The format of the journal.
pub const FORMAT: Format = Format { kind: *b"KNWN", version: 3 };
/// The memory of the map in bytes.
const MEMORY: usize = 8 << 20;
const RECORDS_PER_BEAT: u64 = 1 << 14;
/// The number of URLs that are read at once.
const BATCH: usize = 1 << 12;

const HANDED: u8 = 0;
const TOLD: u8 = 1;
const TAKEN: u8 = 2;
/// Done, without saying by whom, as version 2 wrote it.
const DONE_BEFORE: u8 = 3;
const CLEARED: u8 = 4;
/// Told, with the offset at which its emission was suppressed.
const SUPPRESSED: u8 = 5;
const PASSED: u8 = 6;
const DONE: u8 = 7;

/// Whose a URL is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// This agent handed it over, from this offset of the sieve's queue.
    Handed {
        /// The offset.
        offset: u64,
    },
    /// Another agent has it.
    Told {
        /// Where its emission was suppressed; `None` if the sieve did not emit it.
        offset: Option<u64>,
    },
    /// It was offered to the owner of its name.
    Passed {
        /// Where its emission was suppressed.
        offset: u64,
    },
    /// It is this agent's.
    Taken {
        /// Since this epoch.
        epoch: u64,
    },
    /// An agent that has left fetched it.
    Done {
        /// Which, and when it said so.
        by: Witness,
    },
}

impl Reason {
    fn decode(bytes: &[u8]) -> Option<Reason> {
        let (kind, rest) = bytes.split_first()?;
        let number = || rest.first_chunk::<8>().map(|word| u64::from_le_bytes(*word));
        Some(match *kind {
            HANDED => Reason::Handed { offset: number()? },
            TOLD => Reason::Told { offset: None },
            SUPPRESSED => Reason::Told { offset: Some(number()?) },
            PASSED => Reason::Passed { offset: number()? },
            TAKEN => Reason::Taken { epoch: number()? },
            DONE => Reason::Done { by: Witness::of_bytes(*rest.first_chunk()?) },
            DONE_BEFORE => Reason::Done { by: Witness::NOBODY },
            _ => return None,
        })
    }
}

/// The journal and its map; one writer.
pub struct Known {
    log: LogWriter,
    map: SortedMap,
    /// Whether there is, or was, anything.
    is_used: bool,
}

/// A URL, after its tag.
pub type Tagged = (u32, String);

/// What a checkpoint commits.
pub struct KnownCommit {
    /// The files.
    pub files: Vec<Change>,
    /// The journal, to be synced before.
    pub log: DurableFile,
    /// The state of the map.
    pub state: State,
}

impl Known {
    /// Opens it as it was committed.
    pub fn open(folder: &Path, files: &HashMap<String, u64>, state: &State, pulse: &Pulse) -> Result<Known> {
        let path = folder.join(KNOWN);
        let mut log = LogWriter::open(&path, FORMAT, files.get(KNOWN).copied().unwrap_or(0))?;
        let length = log.flush()?;
        let options = Options { memory: MEMORY, name: known_runs, filtered: |key| key, keep: None };
        let mut map = SortedMap::open(folder, options, state)?;
        let mut stream = LogStream::open(&path, FORMAT, map.applied(), length)?;
        let mut count = 0;
        while let Some(sealed) = stream.advance()? {
            count += 1;
            if count % RECORDS_PER_BEAT == 0 {
                pulse.beat()?;
            }
            let record = sealed.open(&path)?;
            apply(&mut map, record.key, record.payload, record.end())?;
        }
        Ok(Known { is_used: !log.is_empty(), log, map })
    }

    /// Why a URL is not to be fetched here; `None` if it may be.
    pub fn get(&self, url: &str) -> Result<Option<Reason>> {
        if !self.is_used {
            return Ok(None);
        }
        let Some(value) = self.map.get(&Signature::of(url.as_bytes()).0.to_be_bytes())? else {
            return Ok(None);
        };
        let damaged = || Error::corrupt(KNOWN, 0, format!("what is known of {url} does not decode"));
        Reason::decode(&value).map(Some).ok_or_else(damaged)
    }

    /// Records that this agent hands a URL over.
    pub fn hand(&mut self, url: &str, offset: u64) -> Result<()> {
        self.append_number(url, HANDED, offset)
    }

    /// Records that this agent has a URL, in an epoch.
    pub fn take(&mut self, url: &str, epoch: u64) -> Result<()> {
        self.append_number(url, TAKEN, epoch)
    }

    /// Records that another agent has a URL.
    pub fn tell(&mut self, url: &str, tag: u32) -> Result<()> {
        self.append(url, &[&[TOLD], &tag.to_le_bytes()[..], url.as_bytes()].concat())
    }

    /// Records that another agent has a URL that is at an offset of the sieve's queue.
    pub fn suppress(&mut self, url: &str, offset: u64) -> Result<()> {
        self.append_number(url, SUPPRESSED, offset)
    }

    /// Records that a URL, which is at an offset of the sieve's queue, was passed on to the owner of its name.
    pub fn pass(&mut self, url: &str, offset: u64) -> Result<()> {
        self.append_number(url, PASSED, offset)
    }

    /// Records that an agent that is leaving has fetched a URL.
    pub fn finish(&mut self, url: &str, tag: u32, by: Witness) -> Result<()> {
        self.append(url, &[&[DONE], &by.to_bytes()[..], &tag.to_le_bytes(), url.as_bytes()].concat())
    }

    /// Forgets what is known of a URL.
    pub fn clear(&mut self, url: &str) -> Result<()> {
        self.append(url, &[CLEARED])
    }

    /// Some of the URLs that this agent was told of, with their tags, from an offset of the journal on (0: the first), and
    /// the offset at which to go on; `None` after the last. Something else may be known of them since.
    pub fn told(&mut self, from: u64) -> Result<(Vec<Tagged>, Option<u64>)> {
        let length = self.log.flush()?;
        let path = self.log.path().to_path_buf();
        let mut stream = LogStream::open(&path, FORMAT, from, length)?;
        let mut urls = Vec::new();
        while urls.len() < BATCH
            && let Some(sealed) = stream.advance()?
        {
            let record = sealed.open(&path)?;
            let rest = match record.payload.split_first() {
                Some((&(TOLD | DONE_BEFORE), rest)) => Some(rest),
                Some((&DONE, rest)) => rest.get(Witness::LENGTH..),
                _ => None,
            };
            if let Some((tag, url)) = rest.and_then(<[u8]>::split_first_chunk) {
                let damaged = |_| Error::corrupt(&path, record.offset, "a URL is not UTF-8");
                let url = std::str::from_utf8(url).map_err(damaged)?.to_owned();
                urls.push((u32::from_le_bytes(*tag), url));
            }
        }
        Ok((urls, Some(stream.position()).filter(|position| *position < length)))
    }

    /// What to commit.
    pub fn checkpoint(&mut self) -> Result<KnownCommit> {
        let length = self.log.flush()?;
        let mut map = self.map.checkpoint()?;
        map.files.push((KNOWN.to_owned(), Some(length)));
        Ok(KnownCommit { files: map.files, log: self.log.handle()?, state: map.state })
    }

    fn append_number(&mut self, url: &str, kind: u8, number: u64) -> Result<()> {
        let mut payload = [kind, 0, 0, 0, 0, 0, 0, 0, 0];
        payload[1..].copy_from_slice(&number.to_le_bytes());
        self.append(url, &payload)
    }

    fn append(&mut self, url: &str, payload: &[u8]) -> Result<()> {
        self.is_used = true;
        let key = Signature::of(url.as_bytes());
        self.log.append(key, payload)?;
        apply(&mut self.map, key, payload, self.log.len())
    }
}

/// Puts a record of the journal into the map.
fn apply(map: &mut SortedMap, key: Signature, payload: &[u8], end: u64) -> Result<()> {
    let value = match payload.first() {
        Some(&CLEARED) => None,
        Some(&(TOLD | DONE_BEFORE)) => Some(&payload[..1]),
        Some(&DONE) => payload.get(..1 + Witness::LENGTH),
        _ => Some(payload),
    };
    map.put(&key.0.to_be_bytes(), value, end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::layout::EXCHANGE;

    #[test]
    fn the_newest_reason_counts_also_after_a_crash() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join(EXCHANGE)).unwrap();
        let open = |files: &HashMap<String, u64>, state: &State| {
            Known::open(folder.path(), files, state, &Pulse::STEADY).unwrap()
        };
        let mut known = open(&HashMap::new(), &State::default());
        assert_eq!(known.get("http://a.example/").unwrap(), None);
        known.hand("http://a.example/", 77).unwrap();
        known.hand("http://b.example/", 78).unwrap();
        known.tell("http://c.example/", 9).unwrap();
        known.tell("http://d.example/", 0).unwrap();
        known.suppress("http://d.example/", 79).unwrap();
        known.take("http://b.example/", 3).unwrap();
        let by = Witness { agent: 7, epoch: 1 << 40 };
        known.finish("http://e.example/", 5, by).unwrap();
        let commit = known.checkpoint().unwrap();
        known.clear("http://a.example/").unwrap();
        assert_eq!(known.get("http://a.example/").unwrap(), None);
        drop(known);
        let files = commit.files.into_iter().filter_map(|(name, length)| Some((name, length?))).collect();
        let mut known = open(&files, &commit.state);
        for (url, reason) in [
            ("http://a.example/", Reason::Handed { offset: 77 }),
            ("http://b.example/", Reason::Taken { epoch: 3 }),
            ("http://c.example/", Reason::Told { offset: None }),
            ("http://d.example/", Reason::Told { offset: Some(79) }),
            ("http://e.example/", Reason::Done { by }),
        ] {
            assert_eq!(known.get(url).unwrap(), Some(reason), "{url}");
        }
        let told = [(9, "http://c.example/"), (0, "http://d.example/"), (5, "http://e.example/")];
        let told = told.map(|(tag, url)| (tag, url.to_owned())).to_vec();
        assert_eq!(known.told(0).unwrap(), (told, None));
    }
}
