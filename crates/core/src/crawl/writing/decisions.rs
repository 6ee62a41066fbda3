//! The decision log: one line of JSON for each decision about a URL or a host, readable with any tool
//! (`SELECT * FROM read_json('log/decisions-*.jsonl')` in DuckDB).
//!
//! About 250 bytes a decision. Files are rotated at 256 MiB; like every file of a collection they are
//! append-only and valid up to their committed length.

use std::collections::HashMap;
use std::path::Path;

use serde::Serialize;

use crate::collection::{Row, layout};
use crate::disk::rolling::{Flushed, RollingFile};
use crate::{Error, Result};

const FILE_SIZE: u64 = 1 << 28;

/// A decision.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Decision {
    /// When, in seconds since 1970.
    pub time: f64,
    /// Its subject: a URL, or the root URL of a host.
    pub url: String,
    /// The event: the name of an outcome, or "tried again", "robots.txt", "host rests", "host given up",
    /// "extension failed", "declared" (as an asset of a page).
    pub event: &'static str,
    /// The reason.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// The status of the response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The media type of the response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// The distance from a seed, in links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// The number of the attempt, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// The size of the body as transferred, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The duration of the request, or of the host's rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The address that answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// A related URL: the redirect target, or the original of a duplicate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
}

impl Decision {
    /// The decision that a row stands for.
    pub fn of(row: &Row) -> Decision {
        Decision {
            time: row.fetched_at,
            url: row.url.clone(),
            event: row.outcome.words(),
            detail: row.detail.clone(),
            status: row.status,
            content_type: row.content_type.clone(),
            depth: Some(row.depth),
            attempt: Some(row.attempts),
            bytes: None,
            seconds: Some(f64::from(row.seconds)),
            address: row.address.clone(),
            other: row.redirect.clone().or(row.duplicate_of.clone()).or(row.near_duplicate_of.clone()),
        }
    }
}

/// Appends decisions to the newest file.
pub struct DecisionLog {
    files: RollingFile,
    line: Vec<u8>,
}

impl DecisionLog {
    /// Resumes the committed files.
    pub fn open(folder: &Path, files: &HashMap<String, u64>) -> Result<DecisionLog> {
        Ok(DecisionLog {
            files: RollingFile::open(folder, layout::decisions, FILE_SIZE, files)?,
            line: Vec::new(),
        })
    }

    /// Appends a decision.
    pub fn write(&mut self, decision: &Decision) -> Result<()> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, decision)
            .map_err(|error| Error::Invalid(format!("a decision does not encode: {error}")))?;
        self.line.push(b'\n');
        self.files.make_room()?;
        self.files.append(&self.line).map(drop)
    }

    /// See [`RollingFile::flush`].
    pub fn flush(&mut self) -> Result<Flushed> {
        self.files.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_a_line_of_json_each() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = DecisionLog::open(folder.path(), &HashMap::new()).unwrap();
        let decision = Decision {
            url: "http://a.example/\"\n".into(),
            event: "fetched",
            status: Some(200),
            ..Decision::default()
        };
        log.write(&decision).unwrap();
        log.write(&decision).unwrap();
        let (files, _) = log.flush().unwrap();
        let text = std::fs::read_to_string(folder.path().join(&files[0].0)).unwrap();
        assert_eq!(text.len() as u64, files[0].1);
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0]["url"], decision.url.as_str());
        assert!(lines[0].get("detail").is_none());
    }
}
