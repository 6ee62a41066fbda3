//! Importing: pages that others fetched, or that were fetched elsewhere, go through the crawl's own parser and
//! into its own page store, so an imported page is stored, deduplicated, linked, logged and indexed like a
//! crawled one, with the time of its record.
//!
//! Pages are parsed in batches by all cores, and stored in their order, so the same files always give the same
//! collection. While a batch is parsed the next one is read. Memory is two batches, of at most
//! [`BATCH_BYTES`] and one record each.
//!
//! A page that is stored already, with the same URL and time, is not stored again: importing is idempotent.

mod given;
mod payloads;
mod revisits;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, RwLock};
use std::time::{Duration, Instant, UNIX_EPOCH};

use rayon::prelude::*;

pub use given::{Chosen, Content, Given, Source, texts};
use payloads::Payloads;

use super::counts::Counts;
use super::parsing::convert::Converters;
use super::parsing::reach::Reach;
use super::parsing::{Outcomes, Parser};
use super::plan::Plan;
use super::settings::Filters;
use super::shared::Shared;
use super::tag::{Layout, Tag};
use super::work::{Fetched, Parsed, Work};
use super::writing::duplicates::Treatment;
use super::writing::store::{PageStore, StoreCommit};
use crate::calendar::timestamp;
use crate::collection::cells::micros;
use crate::collection::{Outcome, Row};
use crate::fetch::Response;
use crate::url::canonical_with;
use crate::warc::{Http, Item, warc_record};
use crate::{Pulse, Result};

/// The number of bytes of a batch.
const BATCH_BYTES: usize = 16 << 20;
/// The number of pages of a batch.
const BATCH: usize = 1024;
/// Moments that differ by less are the same: archives have microseconds at most.
const SAME_MOMENT: f64 = 1e-3;

/// How many records became what, by the words that describe it.
pub type Tally = BTreeMap<&'static str, u64>;

/// A damaged place of a file: its offset, and what is wrong there.
pub type Damage = (u64, String);

/// A revisit that was not resolved: its URL, and the URL that it refers to.
pub type Unresolved = (String, String);

/// An import into a collection.
pub struct Import {
    parser: Parser,
    shared: Arc<Shared>,
    store: PageStore,
    payloads: Payloads,
    tally: Tally,
    unresolved: Vec<Unresolved>,
}

/// A batch of pages, and what was found beside them.
#[derive(Default)]
struct Batch {
    pages: Vec<Given>,
    damage: Vec<Damage>,
    tally: Tally,
    is_last: bool,
}

/// A page on its way to the store.
enum Ready {
    /// It is parsed; with the digest of its payload as its archive states it.
    Parsed(Outcomes, Option<String>),
    /// It depends on what is stored.
    Revisit(Given),
    /// It is nothing, and counted by these words.
    Not(&'static str),
}

impl Import {
    /// Opens the store as it was committed. Of the plan, the settings of parsing and filtering apply.
    pub fn open(plan: Plan, pulse: &Pulse) -> Result<Import> {
        let duplicates = plan.crawl.duplicates;
        let store = PageStore::open(&plan.folder, &plan.store, &plan.software, duplicates, pulse)?;
        let payloads = Payloads::open(&plan.folder)?;
        let shared = Arc::new(Shared::new(0, 1, 0, Layout::WithSite, plan.counts(), false));
        let parser = Parser {
            filters: Arc::new(Filters::new(&plan.crawl.kept)?),
            // Every link of a page that is not fetched here is worth its anchor text.
            reach: Arc::new(RwLock::new(Reach::everywhere()?)),
            converters: Arc::new(Converters::new(&plan.converter, &plan.crawl.conversion)),
            submissions: Arc::default(),
            wants_pages: false,
            shared: Arc::clone(&shared),
            plan: Arc::new(plan),
        };
        Ok(Import { parser, shared, store, payloads, tally: Tally::new(), unresolved: Vec::new() })
    }

    /// Imports from a source for about `time`: returns the damage, and whether the source ended. What was read
    /// is stored.
    pub fn read(
        &mut self,
        source: &mut (impl Source + Send),
        time: Duration,
        pulse: &Pulse,
    ) -> Result<(Vec<Damage>, bool)> {
        let started = Instant::now();
        let mut damage = Vec::new();
        let mut batch = self.fill(source, pulse)?;
        loop {
            let is_last = batch.is_last || started.elapsed() >= time;
            let ended = batch.is_last;
            damage.append(&mut batch.damage);
            std::mem::take(&mut batch.tally).into_iter().for_each(|(what, count)| self.tell(what, count));
            let pages = std::mem::take(&mut batch.pages);
            let this = &*self;
            let (ready, next) = rayon::join(
                || this.parse(pages),
                || if is_last { Ok(Batch::default()) } else { this.fill(source, pulse) },
            );
            self.keep(ready?, pulse)?;
            if is_last {
                return Ok((damage, ended));
            }
            batch = next?;
        }
    }

    /// Imports pages.
    pub fn add(&mut self, pages: Vec<Given>, pulse: &Pulse) -> Result<()> {
        pulse.beat()?;
        let ready = self.parse(pages)?;
        self.keep(ready, pulse)
    }

    /// How many records became what.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The revisits that were not resolved, at most 100.
    pub fn unresolved(&self) -> &[Unresolved] {
        &self.unresolved
    }

    /// Makes everything durable, and returns what to commit, with the counters and the number of hosts.
    /// `is_last`: see [`PageStore::checkpoint`].
    pub fn checkpoint(&mut self, is_last: bool) -> Result<(StoreCommit, Counts, u64)> {
        let commit = self.store.checkpoint(is_last)?;
        commit.handles.iter().try_for_each(|handle| handle.sync())?;
        Ok((commit, self.shared.counts(), self.store.hosts()))
    }

    fn tell(&mut self, what: &'static str, count: u64) {
        *self.tally.entry(what).or_default() += count;
    }

    /// Reads a batch.
    fn fill(&self, source: &mut impl Source, pulse: &Pulse) -> Result<Batch> {
        let (mut batch, mut bytes) = (Batch::default(), 0);
        while bytes < BATCH_BYTES && batch.pages.len() < BATCH {
            pulse.beat()?;
            let Some(item) = source.next()? else {
                batch.is_last = true;
                break;
            };
            let given = match item {
                Item::Damage { offset, reason } => {
                    batch.damage.push((offset, reason));
                    Err("damaged")
                }
                Item::Record(entry) => {
                    *batch.tally.entry("records").or_default() += 1;
                    bytes += entry.block.len();
                    Given::of(entry)
                }
            };
            match given {
                Ok(given) => batch.pages.push(given),
                Err(words) => *batch.tally.entry(words).or_default() += 1,
            }
        }
        Ok(batch)
    }

    fn parse(&self, pages: Vec<Given>) -> Result<Vec<Ready>> {
        pages.into_par_iter().map(|given| self.parse_one(given)).collect()
    }

    fn parse_one(&self, mut given: Given) -> Result<Ready> {
        let clean_up = &self.parser.plan.crawl.clean_up;
        let Some(url) = canonical_with(&given.url, None, clean_up) else {
            return Ok(Ready::Not("not on the web"));
        };
        given.url = url;
        if matches!(given.content, Content::Revisit { .. }) {
            return Ok(Ready::Revisit(given));
        }
        let Given { url, when, address, payload, content } = given;
        let (http, kind, media_type) = match content {
            Content::Response(http) if http.status == 304 => {
                let content = Content::Revisit { http: Some(http), of: url.clone(), at: None };
                return Ok(Ready::Revisit(Given { url, when, address, payload: None, content }));
            }
            Content::Response(http) => (http, None, None),
            Content::Resource { media_type, body } => {
                (document(media_type.as_deref(), body), Some("resource"), media_type)
            }
            Content::Text(body) => {
                let media_type = Some("text/plain; charset=utf-8".to_owned());
                (document(media_type.as_deref(), body), Some("conversion"), media_type)
            }
            Content::Revisit { .. } => return Ok(Ready::Not("revisits")),
        };
        let record = kind.map(|kind| plain_record(kind, &url, when, media_type.as_deref(), &http.body));
        let mut outcomes = self.parser.parse(fetched(url, when, address, http))?;
        if let (Ok(parsed), Some(record)) = (&mut outcomes, record) {
            parsed.record = Some(record?);
        }
        if address.is_none() {
            match &mut outcomes {
                Ok(parsed) => parsed.row.address = None,
                Err(unanswered) => unanswered.address = None,
            }
        }
        Ok(Ready::Parsed(outcomes, payload))
    }

    fn keep(&mut self, ready: Vec<Ready>, pulse: &Pulse) -> Result<()> {
        for page in ready {
            let words = match page {
                Ready::Parsed(Ok(parsed), payload) => self.store(*parsed, payload)?,
                Ready::Parsed(Err(unanswered), _) => {
                    let row = unanswered.row();
                    self.add_row(
                        &row,
                        if row.outcome == Outcome::Filtered { "filtered out" } else { "failed" },
                    )?
                }
                Ready::Revisit(given) => self.revisit(given, pulse)?,
                Ready::Not(words) => words,
            };
            self.tell(words, 1);
        }
        Ok(())
    }

    fn store(&mut self, mut parsed: Parsed, payload: Option<String>) -> Result<&'static str> {
        if let Some(words) = self.is_stored(&parsed.row)? {
            return Ok(words);
        }
        let links = parsed.links.followed.len() as u64;
        let failure = parsed.failure.take();
        let offset = self.store.table().position();
        let treatment = self.store.add(&mut parsed)?;
        // Some writers digest the chunks of a body, too, and their revisits name what they stated.
        let is_stored = treatment < Treatment::Drop;
        if let Some(payload) =
            payload.filter(|payload| is_stored && parsed.row.payload.as_ref() != Some(payload))
        {
            self.payloads.add(&payload, offset)?;
        }
        self.shared.count(|counts| {
            counts.links += links;
            counts.count(&parsed.row);
            // There is no frontier, so that no links are saved.
            counts.save(treatment, 0, &parsed);
            failure.into_iter().for_each(|failure| counts.fail(failure));
        });
        Ok(match (parsed.row.outcome, parsed.row.status) {
            (Outcome::Redirected, _) => "redirects",
            _ if !is_stored => "duplicates dropped",
            (_, Some(200)) => "pages",
            _ => "other statuses",
        })
    }

    fn add_row(&mut self, row: &Row, words: &'static str) -> Result<&'static str> {
        if let Some(words) = self.is_stored(row)? {
            return Ok(words);
        }
        self.store.add_row(row, None)?;
        self.shared.count(|counts| counts.count(row));
        Ok(words)
    }

    /// Why a row is not stored, if it is not.
    fn is_stored(&mut self, row: &Row) -> Result<Option<&'static str>> {
        let known = self.store.table().at(&row.url, micros(row.fetched_at + SAME_MOMENT))?;
        let is_same = known.is_some_and(|known| row.fetched_at - known.fetched_at < SAME_MOMENT);
        Ok(is_same.then_some("stored before"))
    }
}

/// The response that a document alone would have come in.
fn document(media_type: Option<&str>, body: Vec<u8>) -> Http {
    let headers = media_type.map(|kind| ("Content-Type".to_owned(), kind.as_bytes().to_vec()));
    Http {
        version: "HTTP/1.1".to_owned(),
        status: 200,
        headers: headers.into_iter().collect(),
        body,
        ..Http::default()
    }
}

fn fetched(url: String, when: f64, address: Option<IpAddr>, http: Http) -> Fetched {
    Fetched {
        work: Work { offset: 0, tag: Tag::default(), url, attempts: 0, counted: false, revisit: None },
        when,
        response: response(http),
        address: address.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
        sitemaps: Vec::new(),
        weight: 0,
    }
}

fn response(http: Http) -> Response {
    Response {
        status: http.status,
        reason: http.reason,
        version: if http.version == "HTTP/1.0" { "HTTP/1.0" } else { "HTTP/1.1" },
        headers: http.headers,
        body: http.body,
        truncated: false,
        request: Vec::new(),
        first_byte: Duration::ZERO,
        took: Duration::ZERO,
    }
}

/// A record whose block is the document itself.
fn plain_record(kind: &str, url: &str, when: f64, media_type: Option<&str>, body: &[u8]) -> Result<Vec<u8>> {
    let moment = UNIX_EPOCH + Duration::try_from_secs_f64(when).unwrap_or_default();
    let mut fields =
        vec![("WARC-Target-URI".to_owned(), url.to_owned()), ("WARC-Date".to_owned(), timestamp(moment))];
    fields.extend(media_type.map(|kind| ("Content-Type".to_owned(), kind.to_owned())));
    warc_record(kind, &fields, b"", body)
}
