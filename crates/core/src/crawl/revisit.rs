//! The queue of revisits: pages that a run visits again, with what is needed for a conditional request.
//!
//! It is a log beside the sieve's log of URLs, written before the run and read by it; it is not committed, because
//! what a run did not get to is still due. Its offsets travel through the frontier with a bit that tells them from
//! those of the sieve.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::tag::Tag;
use super::work::Work;
use crate::collection::{Row, layout};
use crate::disk::format::Format;
use crate::disk::log::{LogAccess, LogStream, LogWriter, Record};
use crate::fetch::Response;
use crate::{Error, Result, Signature};

const FORMAT: Format = Format { kind: *b"AGAN", version: 2 };
/// Marks the offset of a revisit: the frontier holds 48 bits.
const REVISIT: u64 = 1 << 47;

/// A page to visit again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Revisit {
    /// The URL.
    pub url: String,
    /// Its distance from a seed, in links.
    pub depth: u32,
    /// The `ETag` of the copy we have.
    pub etag: Option<String>,
    /// Its `Last-Modified`.
    pub last_modified: Option<String>,
    /// The digest of its body as received, as archives have it.
    pub payload: Option<String>,
    /// When that copy was fetched, in seconds since 1970.
    pub content_at: f64,
    /// What the page is now, if that was pushed: then nothing is requested.
    pub pushed: Option<Pushed>,
}

/// The content of a page that a hub sent (WebSub).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pushed {
    /// Its media type.
    pub content_type: String,
    /// The body.
    #[serde(with = "serde_bytes")]
    pub body: Vec<u8>,
}

impl Pushed {
    /// The response that it takes the place of.
    pub fn into_response(self) -> Response {
        Response {
            status: 200,
            reason: "OK".to_owned(),
            version: "HTTP/1.1",
            headers: vec![
                ("Content-Type".to_owned(), self.content_type.into_bytes()),
                ("X-Crivello-Source".to_owned(), b"WebSub".to_vec()),
            ],
            body: self.body,
            truncated: false,
            request: Vec::new(),
            first_byte: Duration::ZERO,
            took: Duration::ZERO,
        }
    }
}

impl Revisit {
    /// The revisit of the newest version of a page.
    pub fn of(row: &Row) -> Revisit {
        Revisit {
            url: row.url.clone(),
            depth: row.depth,
            etag: row.etag.clone(),
            last_modified: row.last_modified.clone(),
            payload: row.payload.clone(),
            content_at: row.content_at(),
            pushed: None,
        }
    }

    /// The revisit of the newest version of a page, whose original is found by its URL if it is a duplicate. If that has
    /// another text now or is gone, the page is requested whole, so that it is judged anew.
    pub fn of_page(row: &Row, find: impl FnOnce(&str) -> Result<Option<Row>>) -> Result<Revisit> {
        let mut revisit = Revisit::of(row);
        let Some(original) = row.duplicate_of.as_ref().or(row.near_duplicate_of.as_ref()) else {
            return Ok(revisit);
        };
        let is_original = find(original)?.is_some_and(|original| match row.duplicate_of {
            Some(_) => original.has_own_text() && original.digest == row.digest,
            None => original.is_original() && !is_further(row, &original),
        });
        if !is_original {
            (revisit.etag, revisit.last_modified, revisit.payload) = (None, None, None);
        }
        Ok(revisit)
    }

    fn decode(record: &Record<'_>) -> Result<Revisit> {
        let damaged = |_| Error::corrupt(layout::REVISITS, record.offset, "a revisit does not decode");
        rmp_serde::from_slice(record.payload).map_err(damaged)
    }
}

/// Whether the original of a near-duplicate has changed, so that more bits differ than when they were compared.
fn is_further(row: &Row, original: &Row) -> bool {
    let bits = row.simhash.zip(original.simhash).map(|(one, other)| (one ^ other).count_ones());
    bits.zip(row.near_bits).is_none_or(|(bits, before)| bits > before)
}

/// Writes the queue of a run.
pub struct RevisitWriter(LogWriter);

impl RevisitWriter {
    /// Begins an empty queue.
    pub fn create(folder: &Path) -> Result<RevisitWriter> {
        LogWriter::open(&folder.join(layout::REVISITS), FORMAT, 0).map(RevisitWriter)
    }

    /// Adds a page.
    pub fn push(&mut self, revisit: &Revisit) -> Result<()> {
        let payload = rmp_serde::to_vec(revisit)
            .map_err(|error| Error::Invalid(format!("a revisit does not encode: {error}")))?;
        self.0.append(Signature::of(revisit.url.as_bytes()), &payload).map(drop)
    }

    /// Ends the queue; returns its length, which the run is started with.
    pub fn finish(mut self) -> Result<u64> {
        self.0.flush()
    }
}

/// The queue in order, as the writer thread hands it out.
pub struct Revisits(LogStream);

impl Revisits {
    /// Opens a queue of this length.
    pub fn open(folder: &Path, length: u64) -> Result<Revisits> {
        LogStream::open(&folder.join(layout::REVISITS), FORMAT, 0, length).map(Revisits)
    }

    /// The next page, with its marked offset.
    pub fn advance(&mut self) -> Result<Option<(u64, Revisit)>> {
        let Some(sealed) = self.0.advance()? else { return Ok(None) };
        let record = sealed.open(Path::new(layout::REVISITS))?;
        Ok(Some((record.offset | REVISIT, Revisit::decode(&record)?)))
    }
}

/// Reads the revisit at a marked offset; `None` if the offset is one of the sieve's.
pub fn read(queue: Option<&mut LogAccess>, offset: u64) -> Result<Option<Work>> {
    let Some(queue) = queue.filter(|_| offset & REVISIT != 0) else { return Ok(None) };
    let revisit = Revisit::decode(&queue.get(offset & !REVISIT)?)?;
    let tag = Tag { depth: revisit.depth, ..Tag::default() };
    let url = revisit.url.clone();
    Ok(Some(Work { offset, tag, url, attempts: 0, counted: false, revisit: Some(Box::new(revisit)) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_found_by_its_marked_offset() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("frontier")).unwrap();
        let mut writer = RevisitWriter::create(folder.path()).unwrap();
        let pages: Vec<Revisit> = (0..3)
            .map(|depth| Revisit {
                url: format!("http://a.example/{depth}"),
                depth,
                etag: Some("\"x\"".to_owned()),
                ..Revisit::default()
            })
            .collect();
        pages.iter().for_each(|page| writer.push(page).unwrap());
        let mut queue = Revisits::open(folder.path(), writer.finish().unwrap()).unwrap();
        let mut access = LogAccess::open(&folder.path().join(layout::REVISITS)).unwrap();
        for page in &pages {
            let (offset, found) = queue.advance().unwrap().unwrap();
            assert_eq!(&found, page);
            let work = read(Some(&mut access), offset).unwrap().unwrap();
            assert_eq!((work.url.as_str(), work.tag.depth), (page.url.as_str(), page.depth));
            assert!(read(Some(&mut access), offset & !REVISIT).unwrap().is_none());
        }
        assert!(queue.advance().unwrap().is_none());
    }
}
