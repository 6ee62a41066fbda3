//! Anchor texts: what links say about the pages they point to.
//!
//! The crawl appends, page by page, the anchor text of each link to a page that it may visit; the index has
//! the anchor texts of the links to a page as a separate zone. A text that was recently written for the same
//! target is not written again: the navigation shared by all pages of a site costs one entry, not one a page.
//!
//! ```text
//! key      the page with the links
//! payload  per link: target signature (8 bytes), length of the text in variable-byte code, the text
//! ```

use std::path::Path;

use rustc_hash::FxHashMap;

use crate::codes::variable_byte as number;
use crate::disk::file::DurableFile;
use crate::disk::format::Format;
use crate::disk::log::{LogReader, LogWriter};
use crate::{Error, Pulse, Result, Signature};

/// The format of the anchor log.
pub const ANCHORS: Format = Format { kind: *b"ANCH", version: 1 };

/// The number of recent (target, text) pairs remembered: half a megabyte.
const REMEMBERED: usize = 1 << 16;
/// The maximum length of an anchor text, in bytes.
const LONGEST: usize = 200;
/// The maximum number of distinct anchor texts per page, and their maximum total bytes.
const TEXTS: usize = 100;
const BYTES: usize = 4000;

/// Writes the log.
pub struct AnchorLog {
    log: LogWriter,
    recent: Vec<u64>,
    payload: Vec<u8>,
}

impl AnchorLog {
    /// Opens the log at `path`, truncated to its committed length.
    pub fn open(path: &Path, committed: u64) -> Result<AnchorLog> {
        let log = LogWriter::open(path, ANCHORS, committed)?;
        Ok(AnchorLog { log, recent: vec![0; REMEMBERED], payload: Vec::new() })
    }

    /// Adds the links of a page, each a URL with its anchor text.
    pub fn append<'a>(
        &mut self,
        page: Signature,
        links: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> Result<()> {
        self.payload.clear();
        for (url, text) in links {
            let text = cut(text.trim());
            let target = Signature::of(url.as_bytes());
            let pair = target.0.rotate_left(32) ^ Signature::of(text.as_bytes()).0;
            let place = &mut self.recent[pair as usize % REMEMBERED];
            if text.is_empty() || target == page || *place == pair {
                continue;
            }
            *place = pair;
            self.payload.extend_from_slice(&target.0.to_le_bytes());
            number::write_bytes(text.as_bytes(), &mut self.payload);
        }
        if !self.payload.is_empty() {
            self.log.append(page, &self.payload)?;
        }
        Ok(())
    }

    /// Flushes everything to the operating system; returns the length of the log.
    pub fn flush(&mut self) -> Result<u64> {
        self.log.flush()
    }

    /// The file, to be synced.
    pub fn handle(&self) -> Result<DurableFile> {
        self.log.handle()
    }
}

/// The beginning of a text, cut at a character boundary.
fn cut(text: &str) -> &str {
    let mut end = LONGEST.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The distinct anchor texts of links to the given pages, in first-seen order, one per line.
pub fn anchors_of(path: &Path, committed: u64, pages: &[Signature], pulse: &Pulse) -> Result<Vec<String>> {
    let mut texts: FxHashMap<Signature, Texts> = pages.iter().map(|page| (*page, Texts::default())).collect();
    scan(path, committed, pulse, |target, text| {
        if let Some(texts) = texts.get_mut(&target) {
            texts.add(text);
        }
    })?;
    Ok(pages.iter().map(|page| texts.get(page).map_or(String::new(), |texts| texts.joined.clone())).collect())
}

/// The total bytes of distinct anchor texts of links to each page.
pub fn anchor_bytes(
    path: &Path,
    committed: u64,
    wanted: impl Fn(Signature) -> bool,
    pulse: &Pulse,
) -> Result<FxHashMap<Signature, usize>> {
    let mut counted: FxHashMap<Signature, (Vec<u64>, usize)> = FxHashMap::default();
    scan(path, committed, pulse, |target, text| {
        if wanted(target) {
            let (known, bytes) = counted.entry(target).or_default();
            let hash = Signature::of(text.as_bytes()).0;
            if known.len() < TEXTS && *bytes < BYTES && !known.contains(&hash) {
                known.push(hash);
                *bytes += text.len() + 1;
            }
        }
    })?;
    Ok(counted.into_iter().map(|(target, (_, bytes))| (target, bytes)).collect())
}

#[derive(Default)]
struct Texts {
    known: Vec<u64>,
    joined: String,
}

impl Texts {
    fn add(&mut self, text: &str) {
        let hash = Signature::of(text.as_bytes()).0;
        if self.known.len() < TEXTS && self.joined.len() < BYTES && !self.known.contains(&hash) {
            self.known.push(hash);
            self.joined.push_str(text);
            self.joined.push('\n');
        }
    }
}

fn scan(path: &Path, committed: u64, pulse: &Pulse, mut visit: impl FnMut(Signature, &str)) -> Result<()> {
    LogReader::open(path, ANCHORS, committed)?.scan(0, pulse, |record| {
        let mut rest = record.payload;
        while let Some((target, after)) = rest.split_first_chunk::<8>() {
            rest = after;
            let text = number::read_bytes(&mut rest).and_then(|text| std::str::from_utf8(text).ok());
            let text = text.ok_or_else(|| Error::corrupt(path, 0, "the text of a link does not decode"))?;
            visit(Signature(u64::from_le_bytes(*target)), text);
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gathers_the_different_texts_of_a_page() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("anchors");
        let mut log = AnchorLog::open(&path, 0).unwrap();
        let page = |url: &str| Signature::of(url.as_bytes());
        log.append(page("a"), [("b", "Water "), ("c", ""), ("b", "acqua"), ("a", "myself")].into_iter())
            .unwrap();
        log.append(page("c"), [("b", "Water"), ("d", "è".repeat(150).as_str())].into_iter()).unwrap();
        let committed = log.flush().unwrap();
        let found =
            anchors_of(&path, committed, &[page("b"), page("c"), page("d"), page("a")], &Pulse::STEADY)
                .unwrap();
        assert_eq!(found[0], "Water\nacqua\n");
        assert_eq!(found[2].trim().chars().count(), 100);
        assert!(found[1].is_empty() && found[3].is_empty());
        let bytes = anchor_bytes(&path, committed, |target| target != page("d"), &Pulse::STEADY).unwrap();
        assert_eq!(bytes.into_iter().collect::<Vec<_>>(), [(page("b"), 12)]);
    }
}
