//! Completions: what a query may be meant to become, for search as you type.
//!
//! A *record* is a key and a weight. The key of a phrase is what may be typed, a byte 0, and the words of the phrase
//! before that, since a phrase may be completed from any of its words: `the fresnel lens` is found at `the fresnel
//! lens␀`, `fresnel lens␀the` and `lens␀the fresnel`. What is typed is folded (lower case, no accents); if the phrase
//! itself is not, a byte 1 and the phrase follow instead. The weight counts occurrences
//! ([`crate::index::build::phrases`]).
//!
//! ```text
//! block   64 records: bytes shared with the key before (0 for the first of a block), the rest, the weight
//! table   for each block: where it starts, its largest weight
//! totals  blocks, length of all blocks
//! ```
//!
//! The table has eight and four bytes per block, everything else is in variable byte code; an empty section has no
//! records. The keys of a prefix are a range of blocks; the heaviest of them are found by the largest weights, of
//! groups of 64 blocks first, then of blocks, so a prefix of one letter costs as little as a long one: the top k
//! of n records decode about k blocks. About 17 bytes a record.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::terms::shared_bytes;
use crate::Result;
use crate::codes::variable_byte as number;
use crate::disk::spool::Spool;

/// Records per block, and blocks per group.
const BLOCK: usize = 64;
const ENTRY: usize = 12;
const TOTALS: usize = 16;

/// Writes the section.
pub struct CompletionsWriter {
    blocks: Spool,
    table: Spool,
    block: Vec<u8>,
    records: usize,
    heaviest: u32,
    previous: Vec<u8>,
}

impl CompletionsWriter {
    /// Writes to these two spools.
    pub fn new(blocks: Spool, table: Spool) -> CompletionsWriter {
        let (block, previous) = (Vec::new(), Vec::new());
        CompletionsWriter { blocks, table, block, records: 0, heaviest: 0, previous }
    }

    /// Adds a record, whose key must sort after the one before.
    pub fn push(&mut self, key: &[u8], weight: u32) -> Result<()> {
        if self.records == BLOCK {
            self.end_block()?;
        }
        let shared = if self.records == 0 { 0 } else { shared_bytes(&self.previous, key) };
        number::write(shared as u64, &mut self.block);
        number::write_bytes(&key[shared..], &mut self.block);
        number::write(weight.into(), &mut self.block);
        self.previous.clear();
        self.previous.extend_from_slice(key);
        self.heaviest = self.heaviest.max(weight);
        self.records += 1;
        Ok(())
    }

    fn end_block(&mut self) -> Result<()> {
        self.table.append(&self.blocks.length().to_le_bytes())?;
        self.table.append(&self.heaviest.to_le_bytes())?;
        self.blocks.append(&self.block)?;
        self.block.clear();
        (self.records, self.heaviest) = (0, 0);
        Ok(())
    }

    /// The parts of the section, one after the other; `None` if there are no records.
    pub fn finish(mut self) -> Result<Option<(Spool, Spool, [u8; TOTALS])>> {
        if self.records > 0 {
            self.end_block()?;
        }
        let blocks = self.table.length() / ENTRY as u64;
        let mut totals = [0; TOTALS];
        totals[..8].copy_from_slice(&blocks.to_le_bytes());
        totals[8..].copy_from_slice(&self.blocks.length().to_le_bytes());
        Ok((blocks > 0).then_some((self.blocks, self.table, totals)))
    }
}

/// A record, decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The phrase.
    pub text: String,
    /// How often it occurs, in the units of [`crate::index::build::phrases`].
    pub weight: u32,
}

/// The section, for reading; damaged bytes yield other completions or none.
#[derive(Clone, Copy, Debug)]
pub struct Completions<'a> {
    blocks: &'a [u8],
    table: &'a [[u8; ENTRY]],
}

impl<'a> Completions<'a> {
    /// Opens the section; `None` if the bytes cannot be one.
    pub fn open(bytes: &'a [u8]) -> Option<Completions<'a>> {
        if bytes.is_empty() {
            return Some(Completions { blocks: &[], table: &[] });
        }
        let (rest, totals) = bytes.split_last_chunk::<TOTALS>()?;
        let field = |at: usize| totals[at..].first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
        let (count, length) = (usize::try_from(field(0)?).ok()?, usize::try_from(field(8)?).ok()?);
        let (blocks, table) = rest.split_at_checked(length)?;
        let (table, over) = table.as_chunks::<ENTRY>();
        (over.is_empty() && table.len() == count).then_some(Completions { blocks, table })
    }

    fn start(&self, block: usize) -> usize {
        let entry = self.table.get(block).and_then(|entry| entry.first_chunk::<8>());
        entry.map_or(self.blocks.len(), |bytes| u64::from_le_bytes(*bytes) as usize)
    }

    fn heaviest(&self, block: usize) -> u32 {
        self.table[block].last_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }

    fn records(&self, block: usize) -> Records<'a> {
        let bytes = self.blocks.get(self.start(block)..self.start(block + 1)).unwrap_or_default();
        Records { bytes, key: Vec::new(), weight: 0 }
    }

    fn first_key(&self, block: usize) -> &'a [u8] {
        let mut bytes = self.blocks.get(self.start(block)..).unwrap_or_default();
        number::read(&mut bytes).and_then(|_| number::read_bytes(&mut bytes)).unwrap_or_default()
    }

    /// All records, in order.
    pub fn each(&self, mut visit: impl FnMut(&[u8], u32) -> Result<()>) -> Result<()> {
        for block in 0..self.table.len() {
            let mut records = self.records(block);
            while records.advance().is_some() {
                visit(&records.key, records.weight)?;
            }
        }
        Ok(())
    }

    /// The blocks that may have keys with this prefix.
    fn range(&self, prefix: &[u8]) -> Range<usize> {
        let first = partition(self.table.len(), |block| self.first_key(block) < prefix);
        let end = partition(self.table.len(), |block| {
            let key = self.first_key(block);
            key < prefix || key.starts_with(prefix)
        });
        first.saturating_sub(1)..end
    }

    /// Whether any key has this prefix.
    pub fn has(&self, prefix: &[u8]) -> bool {
        let range = self.range(prefix);
        if range.len() > 1 {
            // A block after the first one begins with a key of the prefix.
            return true;
        }
        range.into_iter().any(|block| {
            let mut records = self.records(block);
            std::iter::from_fn(|| records.advance().map(|()| records.key.starts_with(prefix))).any(|is| is)
        })
    }

    /// The heaviest phrases among the keys with a prefix, each once, the heaviest first; of the same weight the
    /// first key first.
    pub fn top(&self, prefix: &[u8], most: usize) -> Vec<Completion> {
        let range = self.range(prefix);
        let mut best: Vec<Completion> = Vec::new();
        // Groups and blocks by their largest weight, the first first; a group is (weight, place, is a group).
        let mut heap: BinaryHeap<(u32, Reverse<usize>, bool)> = BinaryHeap::new();
        for group in range.start / BLOCK..range.end.div_ceil(BLOCK) {
            let blocks = self.blocks_of(group, &range);
            if let Some(heaviest) = blocks.map(|block| self.heaviest(block)).max() {
                heap.push((heaviest, Reverse(group), true));
            }
        }
        while let Some((heaviest, Reverse(place), is_group)) = heap.pop() {
            if best.len() == most && best.last().is_some_and(|last| last.weight >= heaviest) {
                break;
            }
            if is_group {
                heap.extend(
                    self.blocks_of(place, &range).map(|block| (self.heaviest(block), Reverse(block), false)),
                );
                continue;
            }
            let mut records = self.records(place);
            while records.advance().is_some() {
                if best.len() == most && best.last().is_some_and(|last| last.weight >= records.weight) {
                    continue;
                }
                if let Some(text) = records.key.starts_with(prefix).then(|| phrase(&records.key)).flatten() {
                    offer(&mut best, Completion { text, weight: records.weight }, most);
                }
            }
        }
        best
    }

    fn blocks_of(&self, group: usize, range: &Range<usize>) -> Range<usize> {
        (group * BLOCK).max(range.start)..((group + 1) * BLOCK).min(range.end)
    }
}

/// Inserts a completion behind those that are as heavy, and keeps the heaviest.
fn offer(best: &mut Vec<Completion>, new: Completion, most: usize) {
    if let Some(at) = best.iter().position(|known| known.text == new.text) {
        if best[at].weight >= new.weight {
            return;
        }
        best.remove(at);
    }
    let at = best.partition_point(|known| known.weight >= new.weight);
    best.insert(at, new);
    best.truncate(most);
}

/// The phrase of a key.
fn phrase(key: &[u8]) -> Option<String> {
    let end = key.iter().position(|byte| *byte < 2)?;
    let (typed, rest) = (std::str::from_utf8(&key[..end]).ok()?, std::str::from_utf8(&key[end + 1..]).ok()?);
    Some(match (key[end], rest) {
        (1, phrase) => phrase.to_owned(),
        (_, "") => typed.to_owned(),
        (_, before) => format!("{before} {typed}"),
    })
}

/// The number of leading places for which `is_before` holds.
fn partition(places: usize, is_before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, places);
    while low < high {
        let middle = low.midpoint(high);
        if is_before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

struct Records<'a> {
    bytes: &'a [u8],
    key: Vec<u8>,
    weight: u32,
}

impl Records<'_> {
    fn advance(&mut self) -> Option<()> {
        let shared = usize::try_from(number::read(&mut self.bytes)?).ok()?;
        let rest = number::read_bytes(&mut self.bytes)?;
        self.weight = number::read_u32(&mut self.bytes)?;
        if shared > self.key.len() {
            return None;
        }
        self.key.truncate(shared);
        self.key.extend_from_slice(rest);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Read;

    use proptest::prelude::*;

    use super::*;

    fn section(records: &BTreeMap<String, u32>) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let spool = || Spool::new(folder.path());
        let mut writer = CompletionsWriter::new(spool(), spool());
        records.iter().for_each(|(key, weight)| writer.push(key.as_bytes(), *weight).unwrap());
        let Some((blocks, table, totals)) = writer.finish().unwrap() else { return Vec::new() };
        let mut bytes = Vec::new();
        blocks.into_reader().unwrap().read_to_end(&mut bytes).unwrap();
        table.into_reader().unwrap().read_to_end(&mut bytes).unwrap();
        bytes.extend_from_slice(&totals);
        bytes
    }

    fn records() -> impl Strategy<Value = BTreeMap<String, u32>> {
        let keys = prop::collection::btree_map("[ab]{1,5}( [ab]{1,2}){0,2}", 1u32..20, 0..600);
        keys.prop_map(|keys| keys.into_iter().map(|(key, weight)| (format!("{key}\0"), weight)).collect())
    }

    proptest! {
        #[test]
        fn finds_the_heaviest_of_a_prefix(records in records(), prefix in "[ab]{0,3}( [ab]{0,1})?", most in 1usize..12) {
            let bytes = section(&records);
            let completions = Completions::open(&bytes).unwrap();
            let mut expected: Vec<(u32, &str)> = records
                .iter()
                .filter(|(key, _)| key.starts_with(&prefix))
                .map(|(key, weight)| (*weight, key.trim_end_matches('\0')))
                .collect();
            prop_assert_eq!(completions.has(prefix.as_bytes()), !expected.is_empty());
            expected.sort_by_key(|(weight, _)| Reverse(*weight));
            expected.truncate(most);
            let found = completions.top(prefix.as_bytes(), most);
            let weights = |all: &[Completion]| all.iter().map(|one| one.weight).collect::<Vec<_>>();
            prop_assert_eq!(weights(&found), expected.iter().map(|(weight, _)| *weight).collect::<Vec<_>>());
            for one in &found {
                prop_assert!(one.text.starts_with(&prefix));
                prop_assert_eq!(records.get(&format!("{}\0", one.text)), Some(&one.weight));
            }
            let mut read = BTreeMap::new();
            completions
                .each(|key, weight| {
                    read.insert(String::from_utf8(key.to_vec()).unwrap(), weight);
                    Ok(())
                })
                .unwrap();
            prop_assert_eq!(read, records);
        }

        #[test]
        fn damage_is_no_panic(records in records(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
            let mut bytes = section(&records);
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            if let Some(completions) = Completions::open(&bytes) {
                completions.top(b"a", 5);
                completions.has(b"ab");
            }
        }
    }

    #[test]
    fn a_phrase_is_found_from_any_of_its_words() {
        let records = ["fresnel lens\0the", "lens\0the fresnel", "citta alta\u{1}città alta"];
        let records = records.map(|key| (key.to_owned(), 3)).into();
        let bytes = section(&records);
        let completions = Completions::open(&bytes).unwrap();
        let texts = |prefix: &str| {
            completions.top(prefix.as_bytes(), 9).into_iter().map(|one| one.text).collect::<Vec<_>>()
        };
        assert_eq!(texts("fres"), ["the fresnel lens"]);
        assert_eq!(texts("l"), ["the fresnel lens"]);
        assert_eq!(texts("citta"), ["città alta"]);
        assert!(Completions::open(&[]).unwrap().top(b"a", 3).is_empty());
    }
}
