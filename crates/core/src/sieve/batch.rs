//! Batches of URLs entering and leaving the sieve, in few allocations.

use crate::Signature;
use crate::disk::log::seal;

/// A batch of URLs, encoded as queue records in advance, so that adding one is a copy.
#[derive(Default)]
pub struct Batch {
    signatures: Vec<Signature>,
    checks: Vec<u16>,
    /// Where each record ends in `records`.
    ends: Vec<usize>,
    records: Vec<u8>,
}

impl Batch {
    /// Adds a URL with its signature, its check and its tag.
    pub fn push(&mut self, signature: Signature, check: u16, tag: u32, url: &[u8]) {
        self.signatures.push(signature);
        self.checks.push(check);
        seal(signature, &[&tag.to_le_bytes(), url], &mut self.records);
        self.ends.push(self.records.len());
    }

    /// Adds bare URLs, each with the tag 0.
    pub fn extend<'a>(&mut self, urls: impl IntoIterator<Item = &'a str>) {
        for url in urls {
            let bytes = url.as_bytes();
            self.push(Signature::of(bytes), Signature::check(bytes), 0, bytes);
        }
    }

    /// The number of URLs.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Empties the batch and keeps its memory.
    pub fn clear(&mut self) {
        self.signatures.clear();
        self.checks.clear();
        self.ends.clear();
        self.records.clear();
    }

    /// The signatures, in order.
    pub fn signatures(&self) -> &[Signature] {
        &self.signatures
    }

    /// The checks, in order.
    pub fn checks(&self) -> &[u16] {
        &self.checks
    }

    /// The records from the `from`-th to before the `to`-th.
    pub fn records(&self, from: usize, to: usize) -> &[u8] {
        let start = |index: usize| if index == 0 { 0 } else { self.ends[index - 1] };
        &self.records[start(from)..start(to)]
    }
}

/// A URL emitted by the sieve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Its offset in the queue, which increases from entry to entry.
    pub offset: u64,
    /// The tag it was first added with.
    pub tag: u32,
    /// The URL.
    pub url: &'a str,
}

/// The entries dequeued by one call.
#[derive(Default)]
pub struct Entries {
    heads: Vec<(u64, u32, usize)>,
    text: String,
}

impl Entries {
    /// Appends an entry.
    pub fn push(&mut self, offset: u64, tag: u32, url: &str) {
        self.text.push_str(url);
        self.heads.push((offset, tag, self.text.len()));
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.heads.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    /// The entries, in first-seen order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Entry<'_>> {
        let mut start = 0;
        self.heads.iter().map(move |&(offset, tag, end)| {
            let url = &self.text[start..end];
            start = end;
            Entry { offset, tag, url }
        })
    }
}

/// Decodes a queue record: a tag and a URL.
pub fn unpack(payload: &[u8]) -> std::result::Result<(u32, &str), &'static str> {
    let (tag, url) = payload.split_first_chunk().ok_or("an entry has no tag")?;
    let url = std::str::from_utf8(url).map_err(|_| "a URL is not UTF-8")?;
    Ok((u32::from_le_bytes(*tag), url))
}
