//! The cells of the table: keys, and how they are written to the journal.
//!
//! The table is a sorted map from row, column group and time to a cell:
//!
//! ```text
//! row     the URL as a key with its host reversed (see [`crate::graph::order`]), so that a site and a domain
//!         are ranges; then a byte 0
//! group   a byte: 0 for a visit (the families fetch, content, links and duplicates), 1 schedule, 2 feed
//! time    the microseconds since 1970, inverted, so that the newest version comes first; 8 bytes, big-endian
//! ```
//!
//! Columns that are written together are stored together, as in Bigtable's locality groups: what a visit found
//! out is one cell. The cells of feeds are in runs of their own, so that listing the feeds does not read the table;
//! a feed has one cell, at time 0, whose value is replaced: what removes it must not bring an older one back. The journal, which is the truth, has a record for each cell, with the signature of the URL as
//! its key. The payload of a visit is its [`Row`]; of another cell, the byte of its group, its time in
//! microseconds (8 bytes, little-endian), the length of the URL (4 bytes), the URL and the value; an empty value
//! removes the cell.

use std::sync::Arc;

use super::row::Row;
use crate::graph::order;
use crate::sorted::{Judge, Keep};

const TIME: usize = 8;
const GROUP: usize = 1;
const LENGTH: usize = 4;

/// A column group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Group {
    /// What a visit found out: the families fetch, content, links and duplicates.
    Visit = 0,
    /// When the page is visited again, and why then.
    Schedule = 1,
    /// What is known of a feed.
    Feed = 2,
}

impl Group {
    fn of(byte: u8) -> Option<Group> {
        [Group::Visit, Group::Schedule, Group::Feed].into_iter().find(|group| *group as u8 == byte)
    }
}

/// Microseconds since 1970.
pub type Micros = u64;

/// Seconds since 1970 as microseconds.
pub fn micros(seconds: f64) -> Micros {
    // A float-to-integer cast saturates: what is not a moment becomes 0 or the last moment.
    (seconds * 1e6).round() as Micros
}

/// The first key of a row's group: that of its newest cell, and of every later time.
pub fn first_key(url: &str, group: Group) -> Vec<u8> {
    key(url, group, Micros::MAX)
}

/// The key of a cell.
pub fn key(url: &str, group: Group, time: Micros) -> Vec<u8> {
    let mut key = order::key(url);
    key.extend([0, group as u8]);
    key.extend((!time).to_be_bytes());
    key
}

/// The key after the last cell of a row's group.
pub fn end_key(url: &str, group: Group) -> Vec<u8> {
    let mut key = order::key(url);
    key.extend([0, group as u8 + 1]);
    key
}

/// The URL, the group and the time of a key; `None` if it is the key of no cell.
pub fn parts(key: &[u8]) -> Option<(String, Group, Micros)> {
    let (rest, time) = key.split_last_chunk::<TIME>()?;
    let (&[0, group], row) = rest.split_last_chunk::<2>().map(|(row, last)| (last, row))? else {
        return None;
    };
    Some((order::name(row)?, Group::of(group)?, !u64::from_be_bytes(*time)))
}

/// The part of a key that names row and group, by which runs filter.
pub fn filtered(key: &[u8]) -> &[u8] {
    &key[..key.len().saturating_sub(TIME)]
}

/// A record of the journal.
#[derive(Debug)]
pub enum Entry<'a> {
    /// A visit.
    Visit(Box<Row>),
    /// Another cell: its URL, group, time and value.
    Cell(&'a str, Group, Micros, &'a [u8]),
}

impl<'a> Entry<'a> {
    /// The column group.
    pub fn group(&self) -> Group {
        match self {
            Entry::Visit(_) => Group::Visit,
            Entry::Cell(_, group, ..) => *group,
        }
    }

    /// Decodes the payload of a record; `None` if it is not valid.
    pub fn decode(payload: &'a [u8]) -> Option<Entry<'a>> {
        let group = Group::of(*payload.first()?).filter(|group| *group != Group::Visit);
        let Some(group) = group else { return Row::decode(payload).map(|row| Entry::Visit(Box::new(row))) };
        let (time, rest) = payload[GROUP..].split_first_chunk::<TIME>()?;
        let (length, rest) = rest.split_first_chunk::<LENGTH>()?;
        let (url, value) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        Some(Entry::Cell(std::str::from_utf8(url).ok()?, group, u64::from_le_bytes(*time), value))
    }

    /// Encodes a cell other than a visit; an empty value removes it.
    pub fn encode(url: &str, group: Group, time: Micros, value: &[u8]) -> Vec<u8> {
        let mut payload = Vec::with_capacity(GROUP + TIME + LENGTH + url.len() + value.len());
        payload.push(group as u8);
        payload.extend(time.to_le_bytes());
        payload.extend((url.len() as u32).to_le_bytes());
        payload.extend_from_slice(url.as_bytes());
        payload.extend_from_slice(value);
        payload
    }
}

/// How many versions of a cell are kept; the newest always is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Versions {
    /// The number of versions of a page; 0: all.
    pub number: usize,
    /// The time before which versions that were replaced are dropped; 0: none.
    pub before: Micros,
}

impl Versions {
    /// All versions.
    pub const ALL: Versions = Versions { number: 0, before: 0 };

    /// The judge of merges.
    pub fn judge(self) -> Arc<dyn Keep> {
        Arc::new(self)
    }
}

impl Keep for Versions {
    fn judge(&self) -> Judge<'_> {
        let (mut row, mut seen) = (Vec::new(), 0);
        Box::new(move |key, _| {
            let (name, time) = key.split_at(key.len().saturating_sub(TIME));
            if name != row {
                row.clear();
                row.extend_from_slice(name);
                seen = 0;
            }
            seen += 1;
            let is_visit = name.last() == Some(&(Group::Visit as u8));
            let most = if is_visit { self.number } else { 1 };
            let time = time.try_into().map_or(0, |time| !u64::from_be_bytes(time));
            seen == 1 || ((most == 0 || seen <= most) && time >= self.before)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_and_a_domain_are_ranges_and_the_newest_comes_first() {
        let urls = [
            "http://example.org/",
            "http://example.org/a",
            "https://example.org:8443/a",
            "http://www.example.org/",
            "http://example-shop.org/",
        ];
        let mut keys: Vec<Vec<u8>> = Vec::new();
        for url in urls {
            for time in [3, 2, 1] {
                let made = key(url, Group::Visit, time);
                assert_eq!(parts(&made), Some((url.to_owned(), Group::Visit, time)));
                assert!(made >= first_key(url, Group::Visit) && made < end_key(url, Group::Visit));
                assert_eq!(filtered(&made), filtered(&first_key(url, Group::Visit)));
                keys.push(made);
            }
            keys.push(key(url, Group::Schedule, 9));
        }
        assert!(keys.is_sorted());
        assert_eq!(parts(b"nothing"), None);
    }

    #[test]
    fn a_cell_comes_back_from_the_journal() {
        let payload = Entry::encode("http://a.example/", Group::Feed, 7, b"value");
        assert!(matches!(
            Entry::decode(&payload),
            Some(Entry::Cell("http://a.example/", Group::Feed, 7, b"value"))
        ));
        assert!(Entry::decode(&payload[..20]).is_none());
        let row = Row { url: "http://a.example/".into(), ..Row::default() };
        let encoded = row.encode().unwrap();
        assert!(matches!(Entry::decode(&encoded), Some(Entry::Visit(found)) if *found == row));
    }

    #[test]
    fn versions_are_kept_by_number_and_by_age() {
        let versions = |number, before| {
            let keep = Versions { number, before };
            let mut judge = Keep::judge(&keep);
            let times = [9, 8, 7, 6];
            let kept = times.map(|time| judge(&key("http://a.example/", Group::Visit, time), b"x"));
            assert!(judge(&key("http://b.example/", Group::Visit, 1), b"x"), "the newest of another page");
            kept
        };
        assert_eq!(versions(0, 0), [true; 4]);
        assert_eq!(versions(2, 0), [true, true, false, false]);
        assert_eq!(versions(0, 8), [true, true, false, false]);
        assert_eq!(versions(1, 99), [true, false, false, false]);
    }
}
