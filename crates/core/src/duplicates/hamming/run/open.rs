//! Opening a run: its tail, which is checked, and what a search needs of each table.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::AtomicU64;

use memmap2::{Advice, Mmap};

use super::index::{Directory, IndexEntry};
use super::{ENTRY, FORMAT, Part, Run, Section};
use crate::disk::format::Format;
use crate::duplicates::hamming::layout::{Layout, Lead};
use crate::{Error, Result};

const LEAD: usize = 12;
const FOOTER: usize = 16;
const TRAILER: usize = 16;
/// The most tables of a run.
const MOST_TABLES: usize = 1 << 10;
/// A probe has at least this many keys, as a logarithm: of a prefix that has fewer, only some bits are used.
const KEYS: u32 = 3;

impl Run {
    /// Opens a run; the checksum of its index is checked.
    pub fn open(path: &Path) -> Result<Run> {
        FORMAT.check_current(path)?;
        let file = File::open(path).map_err(Error::io(path))?;
        // SAFETY: a run is written completely under another name and renamed, so the bytes under this map never change.
        let map = unsafe { Mmap::map(&file) }.map_err(Error::io(path))?;
        let damaged = |reason| Error::corrupt(path, map.len().saturating_sub(TRAILER) as u64, reason);
        let (layout, entries) = footer(&map).map_err(damaged)?;
        map.advise(Advice::Random).map_err(Error::io(path))?;
        let (tables, blocks) = (layout.leads.len(), Directory::blocks(entries));
        let index = Format::HEADER + (tables + 1) * entries as usize * ENTRY;
        let length = blocks * size_of::<IndexEntry>();
        let section = |place: usize| Section {
            offset: Format::HEADER + place * entries as usize * ENTRY,
            index: index + place * length..index + (place + 1) * length,
            checked: (0..blocks.div_ceil(64)).map(|_| AtomicU64::new(0)).collect(),
        };
        let (directories, directory) = (index + (tables + 1) * length, Directory::length(blocks));
        let resolved = entries.max(1).ilog2().saturating_sub(KEYS);
        let part = |(place, (permutation, lead)): (usize, (_, &Lead))| {
            let prefix = lead.prefix().min(resolved);
            let (flips, ends) = flips(prefix, lead.radius);
            let start = directories + place * directory;
            Part { permutation, prefix, flips, ends, directory: start..start + directory }
        };
        let parts = layout.permutations().into_iter().zip(&layout.leads).enumerate().map(part).collect();
        let sections = (0..=tables).map(section).collect();
        Ok(Run { path: path.to_path_buf(), file, map, layout, entries, parts, sections })
    }
}

/// The layout and the number of entries of a run, whose tail is checked; the error is what is wrong with it.
fn footer(bytes: &[u8]) -> std::result::Result<(Layout, u64), &'static str> {
    let early = "it ends too early";
    let (rest, trailer) = bytes.split_last_chunk::<TRAILER>().ok_or(early)?;
    let (index, footer) = (number(&trailer[..8]), number(&trailer[8..12]));
    let start = (rest.len() as u64).checked_sub(index.saturating_add(footer)).ok_or(early)? as usize;
    let tail = &rest[start..];
    if u64::from(crc32fast::hash(tail)) != number(&trailer[12..]) || footer < FOOTER as u64 {
        return Err("the checksum of the index is wrong");
    }
    let (index, footer) = tail.split_at(index as usize);
    let (distance, tables) = (number(&footer[..4]) as u32, number(&footer[4..8]) as usize);
    let entries = number(&footer[8..FOOTER]);
    if tables > MOST_TABLES || footer.len() != FOOTER + tables * LEAD {
        return Err("the footer does not decode");
    }
    // So the products below do not overflow.
    if entries > bytes.len() as u64 || start != Format::HEADER + (tables + 1) * entries as usize * ENTRY {
        return Err("it has not the entries that its footer counts");
    }
    let blocks = Directory::blocks(entries);
    let wanted = blocks * size_of::<IndexEntry>() * (tables + 1) + tables * Directory::length(blocks);
    if index.len() != wanted {
        return Err("the index does not decode");
    }
    let leads = footer[FOOTER..].chunks_exact(LEAD);
    let leads =
        leads.map(|lead| Lead { mask: u128::from(number(&lead[..8])), radius: number(&lead[8..]) as u32 });
    Ok((Layout { bits: u64::BITS, distance, leads: leads.collect() }, entries))
}

/// A little-endian number.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// All differences of at most `radius` bits in the first `prefix` bits of a key, those with fewer first; and how many have at most 0,
/// 1, … of them.
fn flips(prefix: u32, radius: u32) -> (Vec<u64>, Vec<usize>) {
    let (mut flips, mut ends) = (vec![0u64], vec![1]);
    let (mut start, lowest) = (0, u64::BITS - prefix);
    for _ in 0..radius.min(prefix) {
        let end = flips.len();
        for place in start..end {
            let mask = flips[place];
            // Each mask once: by adding a one above its highest.
            let above = (u64::BITS - mask.leading_zeros()).max(lowest);
            flips.extend((above..u64::BITS).map(|bit| mask | 1 << bit));
        }
        start = end;
        ends.push(flips.len());
    }
    (flips, ends)
}
