//! Records as they lie in the archive, with what an index of captures (CDXJ) says of them.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::time::{Duration, UNIX_EPOCH};

use flate2::bufread::GzDecoder;

use super::{Outcome, Place, Row, Snapshot, layout};
use crate::calendar::timestamp;
use crate::media::essence;
use crate::url::surt;
use crate::warc::{Http, record_parts};
use crate::{Error, Result};

/// How a record of a request begins, as the archive is written.
const REQUEST: &[u8; 30] = b"WARC/1.1\r\nWARC-Type: request\r\n";
const LARGEST_REQUEST: u64 = 1 << 20;
const PEEK: usize = 1 << 10;

/// A record of the archive, compressed, and what an index of captures says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// The file of the archive.
    pub file: u32,
    /// Its offset there.
    pub offset: u64,
    /// The gzip member.
    pub member: Vec<u8>,
    /// Its type: response, request, revisit, conversion …
    pub kind: String,
    /// The sort key of its URL ([`surt`]).
    pub key: String,
    /// Its moment as 14 digits.
    pub timestamp: String,
    /// Its URL.
    pub url: String,
    /// The media type of what it holds; `warc/revisit` for a revisit.
    pub mime: String,
    /// The status of the response.
    pub status: Option<u16>,
    /// The digest of the payload, with its algorithm.
    pub digest: Option<String>,
}

impl Capture {
    /// The name of the file, relative to the collection.
    pub fn file_name(&self) -> String {
        layout::archive(self.file)
    }
}

impl Snapshot {
    /// The records of the page of a row, or only those of the visit that found it: of the page or the visit, of
    /// the request, and of the text if it was converted. Those of all visits are each record once.
    pub fn captures(&self, row: &Row, of_visit: bool) -> Result<Vec<Capture>> {
        let is_again = of_visit && row.outcome == Outcome::NotModified;
        let places = if is_again { [row.visit_place(), None] } else { [Some(row.place()), row.text_place()] };
        let mut captures = Vec::with_capacity(1);
        for place in places.into_iter().flatten().filter(|place| place.length > 0) {
            self.capture(place, row, &mut captures)?;
        }
        Ok(captures)
    }

    /// Adds the record at a place, and that of its request if it has one.
    fn capture(&self, place: Place, row: &Row, captures: &mut Vec<Capture>) -> Result<()> {
        let path = self.folder.join(layout::archive(place.file));
        let mut file = File::open(&path).map_err(Error::io(&path))?;
        let cut = || Error::corrupt(&path, place.offset, "a record is cut off");
        let length = file.metadata().map_err(Error::io(&path))?.len();
        if place.offset.checked_add(place.length).is_none_or(|end| end > length) {
            return Err(cut());
        }
        let mut member = vec![0; place.length as usize];
        file.read_exact_at(&mut member, place.offset).map_err(Error::io(&path))?;
        let damaged = |reason: String| Error::corrupt(&path, place.offset, reason);
        let (fields, block) = record_parts(&member).map_err(damaged)?;
        let field = |name: &str| fields.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        let declared = field("content-type").unwrap_or_default();
        let http = declared.starts_with("application/http").then(|| Http::read(&block)).flatten();
        let kind = field("warc-type").unwrap_or_default();
        let mime = match &http {
            _ if kind == "revisit" => Some("warc/revisit".to_owned()),
            Some(http) => http.header("content-type").and_then(essence),
            None => essence(declared),
        };
        let since = Duration::try_from_secs_f64(row.fetched_at).unwrap_or_default();
        let moment = field("warc-date").map_or_else(|| timestamp(UNIX_EPOCH + since), str::to_owned);
        let id = field("warc-record-id").unwrap_or_default();
        let end = place.offset + place.length;
        let request = match kind {
            "response" | "revisit" => request_after(&mut file, end, id).map_err(Error::io(&path))?,
            _ => None,
        };
        let capture = Capture {
            file: place.file,
            offset: place.offset,
            kind: kind.to_owned(),
            key: surt(&row.url),
            timestamp: moment.bytes().filter(u8::is_ascii_digit).take(14).map(char::from).collect(),
            url: field("warc-target-uri").unwrap_or(&row.url).to_owned(),
            mime: mime.unwrap_or_else(|| "unk".to_owned()),
            status: http.map(|http| http.status),
            digest: field("warc-payload-digest").map(str::to_owned),
            member,
        };
        let request = request.map(|member| Capture {
            offset: end,
            kind: "request".to_owned(),
            mime: "unk".to_owned(),
            status: None,
            digest: None,
            member,
            ..capture.clone()
        });
        captures.push(capture);
        captures.extend(request);
        Ok(())
    }
}

/// The record of the request that a record answers, which lies behind it; `None` if there is none.
fn request_after(file: &mut File, offset: u64, answer: &str) -> io::Result<Option<Vec<u8>>> {
    file.seek(SeekFrom::Start(offset))?;
    let mut reader = BufReader::with_capacity(PEEK, file);
    let mut decoder = GzDecoder::new(&mut reader).take(LARGEST_REQUEST);
    let mut first = [0; REQUEST.len()];
    if decoder.read_exact(&mut first).is_err() || first != *REQUEST {
        return Ok(None);
    }
    if io::copy(&mut decoder, &mut io::sink()).is_err() {
        return Ok(None);
    }
    let end = reader.stream_position()?;
    let mut member = vec![0; (end - offset) as usize];
    reader.into_inner().read_exact_at(&mut member, offset)?;
    let is_answered = record_parts(&member).is_ok_and(|(fields, _)| {
        fields.iter().any(|(name, id)| name == "warc-concurrent-to" && id == answer)
    });
    Ok(is_answered.then_some(member))
}
