//! Revisits: records of visits that found what was there before.
//!
//! What a revisit found again is the version of the URL and the date that it refers to; else the first row with the
//! digest of its payload, whatever its URL ([`super::payloads`]); else the version of the URL before it, unless the
//! digests differ. What is not resolved is counted, and named.

use std::net::IpAddr;

use super::{Content, Given, Import, Ready, response};
use crate::collection::cells::micros;
use crate::collection::{Outcome, Row};
use crate::crawl::parsing::visit_record;
use crate::crawl::revisit::Revisit;
use crate::url::canonical_with;
use crate::warc::Http;
use crate::{Pulse, Result};

/// Moments that differ by less may be the same one, written to the second.
const SAME_SECOND: f64 = 1.0;
/// The number of revisits that are named if they cannot be resolved.
const MOST_NAMED: usize = 100;

impl Import {
    /// A page that had not changed: the same content at another time, or at another URL.
    pub(super) fn revisit(&mut self, given: Given, pulse: &Pulse) -> Result<&'static str> {
        let Given { url, when, address, payload, content } = given;
        let Content::Revisit { http, of, at } = content else { return Ok("revisits") };
        let of = canonical_with(&of, None, &self.parser.plan.crawl.clean_up).unwrap_or(of);
        let Some(original) = self.original(&of, at, when, payload.as_deref(), pulse)? else {
            if self.unresolved.len() < MOST_NAMED {
                self.unresolved.push((url, of));
            }
            return Ok("revisits of what is not here");
        };
        if original.url == url {
            return self.found_unchanged(original, when, address, http);
        }
        let record = self.store.read(original.place())?;
        let headers =
            || record.headers.iter().map(|(name, value)| (name.clone(), value.clone().into_bytes()));
        let mut http = http.unwrap_or_else(|| Http {
            version: "HTTP/1.1".to_owned(),
            status: original.status.unwrap_or(200),
            headers: headers().collect(),
            ..Http::default()
        });
        http.body = record.body;
        let content = Content::Response(http);
        match self.parse_one(Given { url, when, address, payload: None, content })? {
            Ready::Parsed(Ok(parsed), _) => self.store(*parsed, None).map(|_| "revisits"),
            _ => Ok("revisits of what is not here"),
        }
    }

    /// The row with the content that a revisit at `when` found again: that of a URL at a time, or with a payload.
    fn original(
        &mut self,
        of: &str,
        at: Option<f64>,
        when: f64,
        payload: Option<&str>,
        pulse: &Pulse,
    ) -> Result<Option<Row>> {
        let has_record = |row: &Row| row.length > 0;
        if let Some(at) = at {
            let then = self.store.table().at(of, micros(at + SAME_SECOND))?;
            let is_meant = |row: &Row| has_record(row) && at - row.fetched_at <= SAME_SECOND;
            if let Some(row) = then.filter(is_meant) {
                return Ok(Some(row));
            }
        }
        if let Some(payload) = payload {
            let written = self.store.table().written()?;
            if let Some(offset) = self.payloads.find(payload, written, pulse)? {
                return Ok(self.store.table().row_at(offset)?.filter(has_record));
            }
        }
        let before = self.store.table().at(of, micros(when))?;
        let known = if before.is_some() { before } else { self.store.table().get(of)? };
        let agrees =
            |row: &Row| payload.is_none() || row.payload.is_none() || row.payload.as_deref() == payload;
        Ok(known.filter(|row| has_record(row) && agrees(row)))
    }

    /// Adds a version of a page without a body, and the record of the visit.
    fn found_unchanged(
        &mut self,
        original: Row,
        when: f64,
        address: Option<IpAddr>,
        http: Option<Http>,
    ) -> Result<&'static str> {
        let known = Revisit::of(&original);
        let visit = Row {
            outcome: Outcome::NotModified,
            fetched_at: when,
            status: Some(304),
            address: address.map(|address| address.to_string()),
            ..Row::default()
        };
        let mut row = visit.unchanged_since(original);
        if let Some(words) = self.is_stored(&row)? {
            return Ok(words);
        }
        let not_modified = || Http {
            version: "HTTP/1.1".to_owned(),
            status: 304,
            reason: "Not Modified".to_owned(),
            ..Http::default()
        };
        let response = response(http.unwrap_or_else(not_modified));
        let record = visit_record(&row, when, &response, &known)?;
        self.store.add_visit(&mut row, &record, None, 0)?;
        self.shared.count(|counts| counts.count(&row));
        Ok("revisits")
    }
}
