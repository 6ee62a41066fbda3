//! Records as they lie in the archive, with what an index of captures (CDXJ) says of them.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, UNIX_EPOCH};

use super::{Place, Row, Snapshot, layout};
use crate::calendar::timestamp;
use crate::media::essence;
use crate::url::surt;
use crate::warc::{Http, record_parts};
use crate::{Error, Result};

/// A record of the archive, compressed, and what an index of captures says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// The file of the archive.
    pub file: u32,
    /// Its offset there.
    pub offset: u64,
    /// The gzip member.
    pub member: Vec<u8>,
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
    /// The records of a row: of the page, and of its text if it was converted.
    pub fn captures(&self, row: &Row) -> Result<Vec<Capture>> {
        let places = [Some(row.place()), row.text_place()];
        places
            .into_iter()
            .flatten()
            .filter(|place| place.length > 0)
            .map(|place| self.capture(place, row))
            .collect()
    }

    fn capture(&self, place: Place, row: &Row) -> Result<Capture> {
        let path = self.folder.join(layout::archive(place.file));
        let file = File::open(&path).map_err(Error::io(&path))?;
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
        Ok(Capture {
            file: place.file,
            offset: place.offset,
            key: surt(&row.url),
            timestamp: moment.bytes().filter(u8::is_ascii_digit).take(14).map(char::from).collect(),
            url: field("warc-target-uri").unwrap_or(&row.url).to_owned(),
            mime: mime.unwrap_or_else(|| "unk".to_owned()),
            status: http.map(|http| http.status),
            digest: field("warc-payload-digest").map(str::to_owned),
            member,
        })
    }
}
