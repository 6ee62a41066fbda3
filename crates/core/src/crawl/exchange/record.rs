//! The records that agents exchange, and the batches in which they travel.
//!
//! A record of an outbox is a record of a log ([`crate::disk::log`]): its key is the signature of the URL, its payload a
//! kind, and what belongs to the kind. It costs 21 bytes beside the URL, 25 or 37 with an address:
//!
//! ```text
//! 1  URL        tag (4), URL                  found by the sender; the name of its host is the receiver's
//! 2  forward    tag (4), IPv4 address (4), URL   of the sender's name at the receiver's address
//! 3  forward    tag (4), IPv6 address (16), URL
//! 4  known      tag (4), URL                  somebody else's work, done or not, unless its token comes
//! 5  mark       epoch (8)                     everything known of this epoch's moves was sent
//! 6  reach      URL                           a seed leads there, so it is in the scope of that seed
//! 7  copy       tag (4), URL                  a first URL of a host of the sender, in case that is lost
//! 8  hand       tag (4), URL                  what the sender was to fetch, and the receiver is now
//! 9  ask        agent (4), IPv4 address (4), origin, space, URL   the robots.txt of an origin is at this URL, and its
//!                                             address the receiver's: may it tell the agent what it says?
//! 10 ask        agent (4), IPv6 address (16), origin, space, URL
//! 11 answer     origin, space, the response   what that said
//! 12 done       URL                           fetched by an agent that has left; written no more
//! 13 done       tag (4), agent (4), epoch (8), URL   the same: by which agent, and the epoch in which it said so
//! ```
//!
//! A batch is a header and records as they are in the log, each with its checksum:
//!
//! ```text
//! 4  "XCH2"
//! 8  the incarnation of the sender's outboxes
//! 8  the position of the first record that the sender still has
//! ```

use std::net::IpAddr;

use crate::disk::log::{Sealed, sealed_in};
use crate::{Error, Result, Signature};

const MAGIC: [u8; 4] = *b"XCH2";
/// The length of a batch's header.
pub const HEADER: usize = 20;

/// Which agent has said that it has a page, and in which epoch: if it was lost after that, the page is lost, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The agent.
    pub agent: u32,
    /// The epoch.
    pub epoch: u64,
}

impl Witness {
    /// The length of its bytes.
    pub const LENGTH: usize = 12;
    /// That of records which do not say who: they hold for good.
    pub const NOBODY: Witness = Witness { agent: u32::MAX, epoch: u64::MAX };

    /// Its bytes in a record.
    pub fn to_bytes(self) -> [u8; Witness::LENGTH] {
        let mut bytes = [0; Witness::LENGTH];
        bytes[..4].copy_from_slice(&self.agent.to_le_bytes());
        bytes[4..].copy_from_slice(&self.epoch.to_le_bytes());
        bytes
    }

    /// The one with these bytes.
    pub fn of_bytes(bytes: [u8; Witness::LENGTH]) -> Witness {
        let [a, b, c, d, epoch @ ..] = bytes;
        Witness { agent: u32::from_le_bytes([a, b, c, d]), epoch: u64::from_le_bytes(epoch) }
    }
}

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Message<'a> {
    Url { tag: u32, url: &'a str },
    Forward { tag: u32, address: IpAddr, url: &'a str },
    Known { tag: u32, url: &'a str },
    Done { tag: u32, by: Witness, url: &'a str },
    Mark { epoch: u64 },
    Reach { url: &'a str },
    Copy { tag: u32, url: &'a str },
    Hand { tag: u32, url: &'a str },
    Ask { agent: u32, address: IpAddr, origin: &'a str, url: &'a str },
    Answer { origin: &'a str, response: &'a [u8] },
}

impl<'a> Message<'a> {
    /// The key of its record.
    pub fn key(&self) -> Signature {
        match self {
            Message::Mark { epoch } => Signature(*epoch),
            Message::Ask { origin, .. } | Message::Answer { origin, .. } => Signature::of(origin.as_bytes()),
            Message::Url { url, .. }
            | Message::Forward { url, .. }
            | Message::Known { url, .. }
            | Message::Done { url, .. }
            | Message::Reach { url }
            | Message::Copy { url, .. }
            | Message::Hand { url, .. } => Signature::of(url.as_bytes()),
        }
    }

    /// Replaces `payload` by that of its record.
    pub fn encode(&self, payload: &mut Vec<u8>) {
        payload.clear();
        let mut put = |kind: u8, parts: [&[u8]; 3]| {
            payload.push(kind);
            parts.iter().for_each(|part| payload.extend_from_slice(part));
        };
        let pair = |origin: &str, rest: &[u8]| [origin.as_bytes(), b" ", rest].concat();
        match self {
            Message::Url { tag, url } => put(1, [&tag.to_le_bytes(), &[], url.as_bytes()]),
            Message::Forward { tag, address: IpAddr::V4(address), url } => {
                put(2, [&tag.to_le_bytes(), &address.octets(), url.as_bytes()]);
            }
            Message::Forward { tag, address: IpAddr::V6(address), url } => {
                put(3, [&tag.to_le_bytes(), &address.octets(), url.as_bytes()]);
            }
            Message::Known { tag, url } => put(4, [&tag.to_le_bytes(), &[], url.as_bytes()]),
            Message::Done { tag, by, url } => put(13, [&tag.to_le_bytes(), &by.to_bytes(), url.as_bytes()]),
            Message::Mark { epoch } => put(5, [&epoch.to_le_bytes(), &[], &[]]),
            Message::Reach { url } => put(6, [&[], &[], url.as_bytes()]),
            Message::Copy { tag, url } => put(7, [&tag.to_le_bytes(), &[], url.as_bytes()]),
            Message::Ask { agent, address: IpAddr::V4(address), origin, url } => {
                put(9, [&agent.to_le_bytes(), &address.octets(), &pair(origin, url.as_bytes())]);
            }
            Message::Ask { agent, address: IpAddr::V6(address), origin, url } => {
                put(10, [&agent.to_le_bytes(), &address.octets(), &pair(origin, url.as_bytes())]);
            }
            Message::Answer { origin, response } => put(11, [&[], &[], &pair(origin, response)]),
            Message::Hand { tag, url } => put(8, [&tag.to_le_bytes(), &[], url.as_bytes()]),
        }
    }

    /// Decodes a payload; `None` if it is none.
    pub fn decode(payload: &'a [u8]) -> Option<Message<'a>> {
        let (kind, rest) = payload.split_first()?;
        let text = |bytes: &'a [u8]| std::str::from_utf8(bytes).ok();
        let tagged = |rest: &'a [u8]| {
            let (tag, rest) = rest.split_first_chunk()?;
            Some((u32::from_le_bytes(*tag), rest))
        };
        Some(match kind {
            1 | 4 | 7 | 8 => {
                let (tag, url) = tagged(rest)?;
                let url = text(url)?;
                match kind {
                    1 => Message::Url { tag, url },
                    4 => Message::Known { tag, url },
                    7 => Message::Copy { tag, url },
                    _ => Message::Hand { tag, url },
                }
            }
            2 | 3 | 9 | 10 => {
                let (number, rest) = tagged(rest)?;
                let (address, rest) = if matches!(kind, 2 | 9) {
                    let (address, rest) = rest.split_first_chunk::<4>()?;
                    (IpAddr::from(*address), rest)
                } else {
                    let (address, rest) = rest.split_first_chunk::<16>()?;
                    (IpAddr::from(*address), rest)
                };
                let rest = text(rest)?;
                if matches!(kind, 2 | 3) {
                    return Some(Message::Forward { tag: number, address, url: rest });
                }
                let (origin, url) = rest.split_once(' ')?;
                Message::Ask { agent: number, address, origin, url }
            }
            11 => {
                let at = rest.iter().position(|byte| *byte == b' ')?;
                Message::Answer { origin: text(&rest[..at])?, response: &rest[at + 1..] }
            }
            12 => Message::Done { tag: 0, by: Witness::NOBODY, url: text(rest)? },
            13 => {
                let (tag, rest) = tagged(rest)?;
                let (by, url) = rest.split_first_chunk()?;
                Message::Done { tag, by: Witness::of_bytes(*by), url: text(url)? }
            }
            5 => Message::Mark { epoch: u64::from_le_bytes(rest.try_into().ok()?) },
            6 => Message::Reach { url: text(rest)? },
            _ => return None,
        })
    }
}

/// A batch that was received, its checksums verified.
#[derive(Debug)]
pub struct Batch {
    /// The incarnation of the sender's outboxes.
    pub incarnation: u64,
    /// The position of the first record that the sender still has.
    pub base: u64,
    records: Vec<u8>,
}

impl Batch {
    /// Begins the bytes of a batch.
    pub fn begin(incarnation: u64, base: u64) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&incarnation.to_le_bytes());
        bytes.extend_from_slice(&base.to_le_bytes());
        bytes
    }

    /// Reads the bytes of a batch, and verifies every record.
    pub fn read(bytes: &[u8]) -> Result<Batch> {
        let damaged = || Error::Invalid("a batch of another agent is damaged".to_owned());
        let (header, records) = bytes.split_first_chunk::<HEADER>().ok_or_else(damaged)?;
        let number = |at: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&header[at..at + 8]);
            u64::from_le_bytes(word)
        };
        if header[..4] != MAGIC {
            return Err(damaged());
        }
        let batch = Batch { incarnation: number(4), base: number(12), records: records.to_vec() };
        for record in batch.records() {
            let record = record.and_then(|sealed| sealed.open("a batch".as_ref())).map_err(|_| damaged())?;
            Message::decode(record.payload).ok_or_else(damaged)?;
        }
        Ok(batch)
    }

    /// The records; their offsets are those in the batch.
    pub fn records(&self) -> impl Iterator<Item = Result<Sealed<'_>>> {
        sealed_in(&self.records)
    }

    /// The length of the records in bytes.
    pub fn length(&self) -> u64 {
        self.records.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::log::seal;
    use proptest::prelude::*;

    #[test]
    fn messages_come_back() {
        let url = "http://città.example/?q=ü";
        let (v4, v6) = (IpAddr::from([127, 0, 0, 3]), IpAddr::from([7; 16]));
        let mut payload = Vec::new();
        for message in [
            Message::Url { tag: 7, url },
            Message::Forward { tag: u32::MAX, address: v4, url },
            Message::Forward { tag: 0, address: v6, url },
            Message::Known { tag: 1 << 31, url },
            Message::Done { tag: 9, by: Witness { agent: 3, epoch: 1 << 40 }, url },
            Message::Mark { epoch: 1 << 40 },
            Message::Reach { url },
            Message::Copy { tag: 9, url },
            Message::Hand { tag: 9, url },
            Message::Ask { agent: 3, address: v4, origin: "http://a.example", url },
            Message::Ask { agent: 3, address: v6, origin: "http://a.example", url },
            Message::Answer { origin: "http://a.example", response: b" \xff " },
        ] {
            message.encode(&mut payload);
            assert_eq!(Message::decode(&payload), Some(message));
        }
        let before = Message::Done { tag: 0, by: Witness::NOBODY, url: "x" };
        assert_eq!(Message::decode(&[12, b'x']), Some(before));
        assert_eq!(Message::decode(&[]), None);
        assert_eq!(Message::decode(&[99, 1]), None);
    }

    proptest! {
        /// A batch with a flipped bit is refused, or is the same batch of another incarnation or base.
        #[test]
        fn damage_is_refused(at in any::<prop::sample::Index>(), bit in 0u8..8) {
            let (mut bytes, mut payload) = (Batch::begin(3, 4), Vec::new());
            let message = Message::Url { tag: 7, url: "http://a.example/" };
            message.encode(&mut payload);
            seal(message.key(), &[&payload], &mut bytes);
            let batch = Batch::read(&bytes).unwrap();
            prop_assert_eq!((batch.incarnation, batch.base, batch.records().count()), (3, 4, 1));
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            match Batch::read(&bytes) {
                Ok(other) => prop_assert!((4..HEADER).contains(&at) && (other.incarnation, other.base) != (3, 4)),
                Err(error) => prop_assert!(error.to_string().contains("damaged")),
            }
        }
    }
}
