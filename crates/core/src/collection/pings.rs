//! Pings: word from outside that a page changed, queued until the writer of the collection takes it.
//!
//! The server that receives them does not hold the collection's lock: it appends to a log of its own, under a lock
//! of that log alone, and syncs it before it answers. What a crash cut off was therefore not answered, and is
//! truncated. The writer reads on from the [`Position`] that it committed last, commits the next one together with
//! what it did, and empties the log afterwards; a log that begins anew has another number, so a position in the one
//! before is never taken for one in it. A ping is never lost, and is read twice only after a crash.
//!
//! A record is the URL, who sent the ping, when, and the content that came with it, in MessagePack. The log has at
//! most [`MOST_BYTES`]; from half of that on, pings are queued without their content.

use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::{Lock, layout, locked};
use crate::disk::format::Format;
use crate::disk::log::{LogStream, LogWriter};
use crate::{Error, Result, Signature};

const FORMAT: Format = Format { kind: *b"PING", version: 1 };
/// The most bytes of the log.
const MOST_BYTES: u64 = 64 << 20;
/// The number of bytes that a record has at most beside its URL and its content.
const BESIDE: u64 = 256;

/// Word from outside that a page changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ping {
    /// The URL.
    pub url: String,
    /// The protocol: `websub` or `indexnow`.
    pub by: String,
    /// When it came, in seconds since 1970.
    pub time: f64,
    /// The media type of the content.
    pub content_type: String,
    /// The content of the page as of now; empty if the ping does not say.
    #[serde(with = "serde_bytes")]
    pub content: Vec<u8>,
}

/// How far the pings were read: the number of the log, and an offset in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// The number of the log; 0 if there was none.
    pub log: u64,
    /// The offset after the last ping.
    pub offset: u64,
}

/// The queue of a collection's pings. Thread-safe, and safe with other processes.
pub struct Pings {
    folder: PathBuf,
    /// The end of the log when it was last looked at.
    end: Mutex<Position>,
}

impl Pings {
    /// The queue in the folder of a collection.
    pub fn new(folder: PathBuf) -> Pings {
        Pings { folder, end: Mutex::default() }
    }

    /// Queues pings durably; returns whether there is room for them.
    pub fn add(&self, pings: &[Ping]) -> Result<bool> {
        let _lock = self.lock()?;
        let mut known = locked(&self.end);
        let end = self.end_after(*known)?;
        let size = |ping: &Ping| BESIDE + (ping.url.len() + ping.content.len()) as u64;
        let keeps_content = end.offset + pings.iter().map(size).sum::<u64>() <= MOST_BYTES / 2;
        let mut payloads = Vec::with_capacity(pings.len());
        for ping in pings {
            let bare;
            let ping = if keeps_content {
                ping
            } else {
                bare = Ping { content: Vec::new(), ..ping.clone() };
                &bare
            };
            let encoded = rmp_serde::to_vec(ping);
            payloads
                .push(encoded.map_err(|error| Error::Invalid(format!("a ping does not encode: {error}")))?);
        }
        let length: u64 = payloads.iter().map(|payload| payload.len() as u64 + BESIDE).sum();
        if end.offset + length > MOST_BYTES {
            return Ok(false);
        }
        let (number, mut log) = if end.log == 0 {
            self.begin(end)?
        } else {
            (end.log, LogWriter::open(&self.path(), FORMAT, end.offset)?)
        };
        for (ping, payload) in pings.iter().zip(&payloads) {
            log.append(Signature::of(ping.url.as_bytes()), payload)?;
        }
        *known = Position { log: number, offset: log.sync()? };
        Ok(true)
    }

    /// The pings after a position, and the position after them.
    pub fn read(&self, from: Position) -> Result<(Vec<Ping>, Position)> {
        let _lock = self.lock()?;
        let end = self.end_after(*locked(&self.end))?;
        if end.log == 0 || end == from {
            return Ok((Vec::new(), end));
        }
        let start = if from.log == end.log { from.offset.min(end.offset) } else { 0 };
        let path = self.path();
        let mut stream = LogStream::open(&path, FORMAT, start, end.offset)?;
        let mut pings = Vec::new();
        while let Some(sealed) = stream.advance()? {
            let record = sealed.open(&path)?;
            if record.offset == Format::HEADER as u64 {
                continue;
            }
            let damaged = |_| Error::corrupt(&path, record.offset, "a ping does not decode");
            pings.push(rmp_serde::from_slice(record.payload).map_err(damaged)?);
        }
        Ok((pings, end))
    }

    /// Empties the queue, if nothing came after a position, which must be committed.
    pub fn clear(&self, to: Position) -> Result<()> {
        let _lock = self.lock()?;
        let end = self.end_after(*locked(&self.end))?;
        let has_pings = end.offset > (Format::HEADER + EMPTY) as u64;
        if end == to && has_pings {
            self.begin(end)?.1.sync()?;
        }
        Ok(())
    }

    /// Begins a new log; the key of its first record is its number.
    fn begin(&self, before: Position) -> Result<(u64, LogWriter)> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros() as u64;
        let number = now.max(before.log + 1);
        let mut log = LogWriter::open(&self.path(), FORMAT, 0)?;
        log.append(Signature(number), &[])?;
        Ok((number, log))
    }

    /// The number of the log, and the end of its last whole record; what is known of it is not read again.
    fn end_after(&self, known: Position) -> Result<Position> {
        let path = self.path();
        let length = fs::metadata(&path).map_or(0, |about| about.len());
        if length < (Format::HEADER + EMPTY) as u64 {
            return Ok(Position::default());
        }
        let mut end = Position::default();
        let mut stream = match LogStream::open(&path, FORMAT, 0, length) {
            Err(Error::Corrupt { .. }) => return Ok(end),
            stream => stream?,
        };
        loop {
            let record = match stream.advance() {
                Ok(Some(sealed)) => sealed.open(&path),
                Ok(None) => return Ok(end),
                Err(error) => Err(error),
            };
            match record {
                Ok(record) => {
                    if end.log == 0 {
                        end.log = record.key.0;
                        if end.log == known.log && length == known.offset {
                            return Ok(known);
                        }
                    }
                    end.offset = record.end();
                }
                Err(Error::Corrupt { .. }) => return Ok(end),
                Err(error) => return Err(error),
            }
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.join(layout::PINGS)
    }

    fn lock(&self) -> Result<Lock> {
        Lock::wait(&self.folder.join(layout::PINGS_LOCK))
    }
}

/// The length of a record without a payload.
const EMPTY: usize = 16;

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;

    fn ping(number: u32) -> Ping {
        let url = format!("http://a.example/{number}");
        Ping { url, by: "websub".into(), time: 1.5, content_type: "text/xml".into(), content: vec![200; 9] }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Add(u32),
        Read { commits: bool, clears: bool },
        Tear(usize),
        Restart,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (0u32..4).prop_map(Step::Add),
            (any::<bool>(), any::<bool>()).prop_map(|(commits, clears)| Step::Read { commits, clears }),
            (1usize..40).prop_map(Step::Tear),
            Just(Step::Restart),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn none_is_lost_and_none_is_read_again_once_committed(steps in prop::collection::vec(step(), 0..24)) {
            let folder = tempfile::tempdir().unwrap();
            let mut queue = Pings::new(folder.path().into());
            let (mut committed, mut next, mut waiting) = (Position::default(), 0, Vec::new());
            for step in steps {
                match step {
                    Step::Add(count) => {
                        let pings: Vec<Ping> = (next..next + count).map(ping).collect();
                        next += count;
                        prop_assert!(queue.add(&pings).unwrap());
                        waiting.extend(pings);
                    }
                    Step::Read { commits, clears } => {
                        let (pings, position) = queue.read(committed).unwrap();
                        prop_assert_eq!(&pings, &waiting);
                        if commits {
                            committed = position;
                            waiting.clear();
                            if clears {
                                queue.clear(position).unwrap();
                            }
                        }
                    }
                    // What a crash leaves of a record that was being written.
                    Step::Tear(bytes) => {
                        let mut file =
                            OpenOptions::new().append(true).create(true).open(queue.path()).unwrap();
                        file.write_all(&vec![1; bytes]).unwrap();
                    }
                    Step::Restart => queue = Pings::new(folder.path().into()),
                }
            }
            prop_assert_eq!(queue.read(committed).unwrap().0, waiting);
        }
    }

    #[test]
    fn a_full_queue_keeps_the_word_and_not_the_content_then_refuses() {
        let folder = tempfile::tempdir().unwrap();
        let queue = Pings::new(folder.path().into());
        let large = Ping { content: vec![0; 20 << 20], ..ping(0) };
        assert!(queue.add(std::slice::from_ref(&large)).unwrap());
        assert!(queue.add(std::slice::from_ref(&large)).unwrap());
        let (found, position) = queue.read(Position::default()).unwrap();
        assert_eq!(found, [large.clone(), Ping { content: Vec::new(), ..large }]);
        let long = Ping { url: "x".repeat(30 << 20), ..ping(1) };
        assert!(queue.add(std::slice::from_ref(&long)).unwrap());
        assert!(!queue.add(&[long]).unwrap());
        assert_eq!(queue.read(position).unwrap().0.len(), 1);
    }
}
