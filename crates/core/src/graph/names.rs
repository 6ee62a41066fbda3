//! The names of the nodes of a graph: by number, and back.
//!
//! Names are stored as their keys (see [`super::order`]), front-coded in blocks of 32: the length of the
//! prefix that a key shares with the previous one, and the rest. A minimal perfect hash (see
//! [`crate::dictionaries::Ranks`]) maps a name to its node, whatever the order of the nodes; the stored name
//! confirms it, so the answer is exact. If the keys are in increasing order, as those of a crawl are, a site
//! or a domain is a range of nodes, found by binary search.
//!
//! ```text
//! bytes 0..16  header (see `crate::disk::format`), of kind NAME
//! blocks       of each key the length of the shared prefix (not of the first in a block), the length of the
//!              rest, both in variable byte code, and the rest
//! function     the bytes of the minimal perfect hash
//! directory    for each block: u64 offset, u32 CRC-32
//! footer       u64 names, u64 offset of the function, u64 offset of the directory, u32 1 if the keys are in
//!              increasing order, u32 CRC-32 of the function, u32 CRC-32 of directory and footer up to here
//! ```
//!
//! Cost: the front-coded keys (20 to 30 bytes for a URL), 0.4 bytes for the directory, and (1.12 ⌈log₂ n⌉ + 8) / 8
//! bytes for the hash: 5 at n = 10^8. A look-up by number decodes 16 keys on average, a microsecond; one by
//! name does so after four cache misses. Building takes about 25 bytes of memory per name (their 128-bit
//! hashes, and the tables of the hash function): 2.5 GB for 10^8 names; the names themselves are streamed.
//!
//! The file is mapped. A block is verified when it is first read, the function before the first look-up by
//! name: damage is an error with its offset, never an answer.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use tempfile::TempDir;

use super::order;
use crate::codes::variable_byte;
use crate::dictionaries::{Construction, KeyHash, Ranks};
use crate::disk::format::Format;
use crate::disk::new_file::NewFile;
use crate::{Error, Pulse, Result};

const NAMES: Format = Format { kind: *b"NAME", version: 1 };

/// The number of names in a block.
const BLOCK: usize = 32;
const ENTRY: usize = 12;
const FOOTER: usize = 36;
const MOST_NAMES: usize = u32::MAX as usize;

/// The width of the signatures of the hash, which reject most strings that are not names without reading a
/// block.
const SIGNATURE_BITS: u32 = 8;

/// Writes the names of nodes, in node order.
pub struct NamesWriter {
    file: NewFile,
    hashes: Vec<KeyHash>,
    block: Vec<u8>,
    directory: Vec<u8>,
    previous: Vec<u8>,
    key: Vec<u8>,
    sorted: bool,
}

impl NamesWriter {
    /// Starts a file that will be at `path` once finished.
    pub fn create(path: &Path) -> Result<NamesWriter> {
        let mut file = NewFile::create(path)?;
        file.append(&NAMES.header())?;
        Ok(NamesWriter {
            file,
            hashes: Vec::new(),
            block: Vec::new(),
            directory: Vec::new(),
            previous: Vec::new(),
            key: Vec::new(),
            sorted: true,
        })
    }

    /// Appends the name of the next node.
    pub fn push(&mut self, name: &str) -> Result<()> {
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        order::push_key(name, &mut key);
        let pushed = self.push_key(&key);
        self.key = key;
        pushed
    }

    /// Appends the name of the next node by its key.
    pub fn push_key(&mut self, key: &[u8]) -> Result<()> {
        if self.hashes.len() == MOST_NAMES {
            return Err(Error::Invalid(format!("a graph has at most {MOST_NAMES} nodes with names")));
        }
        let mut shared = 0;
        if self.hashes.len().is_multiple_of(BLOCK) {
            self.end_block()?;
        } else {
            shared = self.previous.iter().zip(key).take_while(|(one, other)| one == other).count();
            variable_byte::write(shared as u64, &mut self.block);
        }
        if !self.hashes.is_empty() && *self.previous >= *key {
            if self.previous == key {
                let name = order::name(key).unwrap_or_default();
                return Err(Error::Invalid(format!("two nodes have the name {name}")));
            }
            self.sorted = false;
        }
        variable_byte::write_bytes(&key[shared..], &mut self.block);
        self.previous.truncate(shared);
        self.previous.extend_from_slice(&key[shared..]);
        self.hashes.push(Ranks::hash(key));
        Ok(())
    }

    /// Writes the hash function and renames the file into place; returns its length.
    pub fn finish(mut self, pulse: &Pulse) -> Result<u64> {
        self.end_block()?;
        if !self.sorted {
            self.check_distinct(pulse)?;
        }
        let function = Ranks::build(&self.hashes, Construction::Fuse, SIGNATURE_BITS, false, pulse)?;
        let at = self.file.written();
        self.file.append(&function)?;
        let mut tail = std::mem::take(&mut self.directory);
        let directory = self.file.written();
        tail.extend((self.hashes.len() as u64).to_le_bytes());
        tail.extend(at.to_le_bytes());
        tail.extend(directory.to_le_bytes());
        tail.extend(u32::from(self.sorted).to_le_bytes());
        tail.extend(crc32fast::hash(&function).to_le_bytes());
        tail.extend(crc32fast::hash(&tail).to_le_bytes());
        self.file.append(&tail)?;
        self.file.finish()
    }

    fn check_distinct(&self, pulse: &Pulse) -> Result<()> {
        pulse.beat()?;
        let mut hashes = self.hashes.clone();
        hashes.sort_unstable();
        pulse.beat()?;
        match hashes.windows(2).any(|pair| pair[0] == pair[1]) {
            true => Err(Error::Invalid("two nodes have the same name".to_owned())),
            false => Ok(()),
        }
    }

    fn end_block(&mut self) -> Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        self.directory.extend(self.file.written().to_le_bytes());
        self.directory.extend(crc32fast::hash(&self.block).to_le_bytes());
        self.file.append(&self.block)?;
        self.block.clear();
        Ok(())
    }
}

/// The names of nodes, in a mapped file.
pub struct Names {
    path: PathBuf,
    map: memmap2::Mmap,
    names: usize,
    function: Range<usize>,
    function_checksum: u32,
    sorted: bool,
    ranks: OnceLock<Ranks>,
    checked: Vec<AtomicBool>,
    /// The folder of a temporary file, removed with this.
    _folder: Option<TempDir>,
}

impl Names {
    /// The names in a list, in a temporary file.
    pub fn temporary<'n>(names: impl Iterator<Item = &'n str>, pulse: &Pulse) -> Result<Names> {
        let folder = temporary_folder(None)?;
        let mut writer = NamesWriter::create(&folder.path().join(TEMPORARY))?;
        for name in names {
            writer.push(name)?;
        }
        writer.finish(pulse)?;
        Names::within(folder)
    }

    /// The names in a temporary folder, which are removed with them.
    pub(super) fn within(folder: TempDir) -> Result<Names> {
        let names = Names::open(&folder.path().join(TEMPORARY), None)?;
        Ok(Names { _folder: Some(folder), ..names })
    }

    /// Maps the committed bytes of a file (all of them, if `None`) and checks its directory.
    pub fn open(path: &Path, committed: Option<u64>) -> Result<Names> {
        let file = File::open(path).map_err(Error::io(path))?;
        let actual = file.metadata().map_err(Error::io(path))?.len();
        let committed = committed.unwrap_or(actual);
        if actual < committed || committed == 0 {
            let reason = format!("it ends here, and {committed} bytes were committed");
            return Err(Error::corrupt(path, actual, reason));
        }
        // SAFETY: the file is written completely under another name and renamed, so the bytes under this map
        // never change; `committed` is within the file.
        let map = unsafe { memmap2::MmapOptions::new().len(committed as usize).map(&file) };
        let map = map.map_err(Error::io(path))?;
        NAMES.check(path, &map)?;
        Names::of(path, map)
    }

    fn of(path: &Path, map: memmap2::Mmap) -> Result<Names> {
        let damage = |offset: usize, reason: &str| Error::corrupt(path, offset as u64, reason);
        let end = map.len();
        let footer = end.saturating_sub(FOOTER);
        if footer < Format::HEADER {
            return Err(damage(end, "its footer is cut off"));
        }
        let (names, function, directory) =
            (u64_at(&map, footer), u64_at(&map, footer + 8), u64_at(&map, footer + 16));
        let blocks = names.div_ceil(BLOCK as u64);
        let room = (footer - Format::HEADER) as u64;
        if blocks > room / ENTRY as u64 || directory != footer as u64 - blocks * ENTRY as u64 {
            return Err(damage(footer, "its number of names does not fit in it"));
        }
        let directory = directory as usize;
        if crc32fast::hash(&map[directory..end - 4]) != u32_at(&map, end - 4) {
            return Err(damage(directory, "its directory does not match its checksum"));
        }
        if function > directory as u64 {
            return Err(damage(footer, "its parts overlap"));
        }
        Ok(Names {
            path: path.to_owned(),
            names: names as usize,
            function: function as usize..directory,
            sorted: u32_at(&map, footer + 24) == 1,
            function_checksum: u32_at(&map, footer + 28),
            ranks: OnceLock::new(),
            checked: (0..blocks).map(|_| AtomicBool::new(false)).collect(),
            map,
            _folder: None,
        })
    }

    /// The number of names.
    pub fn len(&self) -> usize {
        self.names
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names == 0
    }

    /// Whether the keys are in increasing order, so that a site is a range.
    pub fn is_sorted(&self) -> bool {
        self.sorted
    }

    /// The length of the file in bytes.
    pub fn bytes(&self) -> usize {
        self.map.len()
    }

    /// Writes a copy; returns its length.
    pub fn copy(&self, path: &Path) -> Result<u64> {
        let mut file = NewFile::create(path)?;
        file.append(&self.map)?;
        file.finish()
    }

    /// The name of a node.
    pub fn get(&self, node: u32) -> Result<String> {
        let node = node as usize;
        if node >= self.names {
            return Err(Error::Invalid(format!("there is no node {node}: {} have names", self.names)));
        }
        let mut name = None;
        self.walk(node / BLOCK, |slot, key| {
            if slot == node % BLOCK {
                name = order::name(key);
            }
            slot < node % BLOCK
        })?;
        name.ok_or_else(|| self.damage(node / BLOCK, "a name is not one"))
    }

    /// Calls `visit` with every node and its name, in node order.
    pub fn scan(&self, pulse: &Pulse, mut visit: impl FnMut(u32, &str) -> Result<()>) -> Result<()> {
        for block in 0..self.checked.len() {
            if block.is_multiple_of(1 << 10) {
                pulse.beat()?;
            }
            let mut names = Vec::with_capacity(BLOCK);
            self.walk(block, |_, key| {
                names.push(order::name(key));
                true
            })?;
            for (slot, name) in names.into_iter().enumerate() {
                let name = name.ok_or_else(|| self.damage(block, "a name is not one"))?;
                visit((block * BLOCK + slot) as u32, &name)?;
            }
        }
        Ok(())
    }

    /// The node with a name.
    pub fn find(&self, name: &str) -> Result<Option<u32>> {
        let key = order::key(name);
        let Some(node) = self.ranks()?.get(self.function(), Ranks::hash(&key)) else { return Ok(None) };
        let node = node as usize;
        let mut equal = false;
        self.walk(node / BLOCK, |slot, other| {
            equal |= slot == node % BLOCK && *other == key;
            slot < node % BLOCK
        })?;
        Ok(equal.then_some(node as u32))
    }

    /// The nodes of names that are known to be there, by the hashes of their keys, in their order.
    pub(super) fn nodes_of(&self, hashes: &[KeyHash], pulse: &Pulse, nodes: &mut Vec<u32>) -> Result<()> {
        let ranks = self.ranks()?;
        nodes.clear();
        nodes.resize(hashes.len(), u32::MAX);
        let mut missing = false;
        ranks.get_many(self.function(), hashes, pulse, |index, rank| match rank {
            Some(rank) => nodes[index] = rank as u32,
            None => missing = true,
        })?;
        if missing {
            return Err(Error::Invalid("the input changed while it was read".to_owned()));
        }
        Ok(())
    }

    /// The nodes whose keys are in a range (see [`order::prefix`]).
    pub fn range(&self, keys: &Range<Vec<u8>>) -> Result<Range<u32>> {
        if !self.sorted {
            return Err(Error::Invalid("the nodes are not in the order of their names".to_owned()));
        }
        let start = self.partition(&keys.start)?;
        Ok(start..self.partition(&keys.end)?.max(start))
    }

    /// The nodes of a host.
    pub fn site(&self, host: &str) -> Result<Range<u32>> {
        self.range(&order::site(host, self.are_hosts()?))
    }

    /// The nodes of a domain and its subdomains.
    pub fn domain(&self, domain: &str) -> Result<Range<u32>> {
        self.range(&order::domain(domain, self.are_hosts()?))
    }

    /// Whether the names are hosts, not URLs: what the last one is.
    fn are_hosts(&self) -> Result<bool> {
        let Some(last) = self.checked.len().checked_sub(1) else { return Ok(false) };
        let mut is_host = false;
        self.walk(last, |_, key| {
            is_host = order::is_key_of_host(key);
            true
        })?;
        Ok(is_host)
    }

    /// The number of keys less than `key`.
    fn partition(&self, key: &[u8]) -> Result<u32> {
        let (mut low, mut high) = (0, self.checked.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let mut less = false;
            self.walk(middle, |_, first| {
                less = first < key;
                false
            })?;
            (low, high) = if less { (middle + 1, high) } else { (low, middle) };
        }
        let Some(block) = low.checked_sub(1) else { return Ok(0) };
        let mut less = 0;
        self.walk(block, |_, other| {
            let before = other < key;
            less += usize::from(before);
            before
        })?;
        Ok((block * BLOCK + less) as u32)
    }

    /// Calls `visit` with the keys of a block and their slots, as long as it returns true.
    fn walk(&self, block: usize, mut visit: impl FnMut(usize, &[u8]) -> bool) -> Result<()> {
        let mut rest = self.block(block)?;
        let mut key = Vec::new();
        for slot in 0..BLOCK.min(self.names - block * BLOCK) {
            let shared = if slot == 0 { Some(0) } else { variable_byte::read(&mut rest) };
            let shared = shared.filter(|shared| *shared <= key.len() as u64);
            let suffix = variable_byte::read_bytes(&mut rest);
            let (Some(shared), Some(suffix)) = (shared, suffix) else {
                return Err(self.damage(block, "a block is cut off"));
            };
            key.truncate(shared as usize);
            key.extend_from_slice(suffix);
            if !visit(slot, &key) {
                break;
            }
        }
        Ok(())
    }

    /// The bytes of a block, verified.
    fn block(&self, index: usize) -> Result<&[u8]> {
        let start = self.start(index);
        let end = if index + 1 < self.checked.len() { self.start(index + 1) } else { self.function.start };
        let bytes = self.map.get(start..end).ok_or_else(|| self.damage(index, "a block is cut off"))?;
        // Two threads may check the same block; what they store is the same.
        if !self.checked[index].load(Ordering::Relaxed) {
            if crc32fast::hash(bytes) != u32_at(&self.map, self.function.end + index * ENTRY + 8) {
                return Err(self.damage(index, "a block does not match its checksum"));
            }
            self.checked[index].store(true, Ordering::Relaxed);
        }
        Ok(bytes)
    }

    fn start(&self, index: usize) -> usize {
        u64_at(&self.map, self.function.end + index * ENTRY) as usize
    }

    fn function(&self) -> &[u8] {
        &self.map[self.function.clone()]
    }

    /// The hash function, verified before its first use.
    fn ranks(&self) -> Result<&Ranks> {
        if let Some(ranks) = self.ranks.get() {
            return Ok(ranks);
        }
        let damage = |reason| Error::corrupt(&self.path, self.function.start as u64, reason);
        if crc32fast::hash(self.function()) != self.function_checksum {
            return Err(damage("the function does not match its checksum"));
        }
        let ranks = Ranks::open(self.function()).filter(|ranks| ranks.len() == self.names as u64);
        let ranks = ranks.ok_or_else(|| damage("there is no such function"))?;
        Ok(self.ranks.get_or_init(|| ranks))
    }

    fn damage(&self, block: usize, reason: &str) -> Error {
        Error::corrupt(&self.path, self.start(block) as u64, reason)
    }
}

/// The name of a temporary file.
pub(super) const TEMPORARY: &str = "graph.names";

/// A temporary folder in the given one, or where the system has them.
pub(crate) fn temporary_folder(parent: Option<&Path>) -> Result<TempDir> {
    let parent = parent.map_or_else(std::env::temp_dir, Path::to_path_buf);
    tempfile::Builder::new().prefix("crivello-").tempdir_in(&parent).map_err(Error::io(parent))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at + 4)) << 32 | u64::from(u32_at(bytes, at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names() -> impl Strategy<Value = Vec<String>> {
        let name = prop_oneof!["[0-9]{1,3}", "[a-c]{0,3}", "http://[a-c.]{1,5}/[a-c/]{0,6}"];
        prop::collection::hash_set(name, 0..150).prop_map(|names| names.into_iter().collect())
    }

    fn write(path: &Path, names: &[String]) -> Result<u64> {
        let mut writer = NamesWriter::create(path)?;
        names.iter().try_for_each(|name| writer.push(name))?;
        writer.finish(&Pulse::STEADY)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn maps_names_to_nodes_and_back(mut names in names(), sort in any::<bool>(), asked in "[a-c]{0,4}", host in "[a-c.]{1,3}") {
            if sort {
                names.sort_by_key(|name| order::key(name));
            }
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.names");
            let length = write(&path, &names).unwrap();
            let found = Names::open(&path, Some(length)).unwrap();
            prop_assert_eq!(found.len(), names.len());
            for (node, name) in names.iter().enumerate() {
                prop_assert_eq!(&found.get(node as u32).unwrap(), name);
                prop_assert_eq!(found.find(name).unwrap(), Some(node as u32));
            }
            prop_assert!(found.get(names.len() as u32).is_err());
            let place = names.iter().position(|name| *name == asked).map(|node| node as u32);
            prop_assert_eq!(found.find(&asked).unwrap(), place);
            let mut all = Vec::new();
            found.scan(&Pulse::STEADY, |_, name| { all.push(name.to_owned()); Ok(()) }).unwrap();
            prop_assert_eq!(&all, &names);
            if found.is_sorted() {
                for keys in [order::site(&host, false), order::domain(&host, false), order::prefix(&asked)] {
                    let range = found.range(&keys).unwrap();
                    let inside = |name: &&String| keys.contains(&order::key(name));
                    prop_assert_eq!(names.iter().filter(inside).count(), range.len());
                    prop_assert!(names[range.start as usize..range.end as usize].iter().all(|name| inside(&name)));
                }
            } else {
                prop_assert!(!sort && found.site(&host).is_err());
            }
        }

        #[test]
        fn damage_is_never_served(names in names(), at in any::<prop::sample::Index>(), bit in 0u8..8) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.names");
            let length = write(&path, &names).unwrap();
            let whole = std::fs::read(&path).unwrap();
            let at = at.index(whole.len());
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << bit;
            std::fs::write(&path, &flipped).unwrap();
            let mut damaged = false;
            match Names::open(&path, Some(length)) {
                Err(_) => damaged = true,
                Ok(found) => for (node, name) in names.iter().enumerate() {
                    match found.get(node as u32) {
                        Ok(got) => prop_assert_eq!(&got, name),
                        Err(_) => damaged = true,
                    }
                    match found.find(name) {
                        Ok(got) => prop_assert_eq!(got, Some(node as u32)),
                        Err(_) => damaged = true,
                    }
                }
            }
            prop_assert!(damaged || names.is_empty());
            std::fs::write(&path, &whole[..at]).unwrap();
            prop_assert!(Names::open(&path, Some(length)).is_err());
            prop_assert!(Names::open(&path, None).is_err());
        }
    }

    #[test]
    fn a_name_twice_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for names in [["a", "a", "b"], ["a", "b", "a"]] {
            let outcome = write(&folder.path().join("a.names"), &names.map(str::to_owned));
            assert!(matches!(outcome, Err(Error::Invalid(reason)) if reason.contains("name")));
        }
    }
}
