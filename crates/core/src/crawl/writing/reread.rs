//! Brings back links that earlier runs refused, or handed to an agent that is lost: stored pages are parsed again.
//!
//! A link out of reach is not remembered, but the page that has it is stored. When a run reaches further than
//! the one before it, the sieve's queue is read from its beginning, the page of each of its URLs is taken from
//! the archive and parsed, and those of its links that are within reach now, and were not before, are offered
//! to the sieve, breadth first as the queue is. When an agent is lost with its disk, the others offer all links of their
//! pages again, since it may have been the only one that knew some of them. The writer thread does a batch whenever no event waits, in
//! parallel on all cores, while the crawl fetches what is found; a checkpoint commits how far it is. Memory is
//! that of a batch of pages; time is that of decompressing and parsing the archive once.

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;
use serde::Deserialize;

use super::duplicates::Treatment;
use super::store::PageStore;
use crate::collection::layout::{self, URLS};
use crate::collection::{Archive, Outcome, Place, Row};
use crate::crawl::parsing::Parser;
use crate::crawl::parsing::reach::{Reach, ReachSettings, redirected};
use crate::crawl::tag::Tag;
use crate::crawl::work::Found;
use crate::disk::log::LogStream;
use crate::parse::Page;
use crate::sieve::{queue, unpack};
use crate::{Error, Result};

/// The number of URLs of a batch.
const BATCH: usize = 32;

/// What is to be read again.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RereadPlan {
    /// The offset in the queue from which to go on.
    next: u64,
    /// The offset at which it ends: what comes later was found by runs with the present reach.
    end: u64,
    /// The reach of the run before; `None` if it is not known.
    before: Option<Before>,
    /// Whether the links that were within reach before are offered again, too.
    all: bool,
}

/// The reach of an earlier run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Before {
    seeds: Vec<String>,
    reach: ReachSettings,
}

/// The links of a stored page that are to be offered.
pub struct Refound {
    /// The page's URL.
    pub url: String,
    /// How it was discovered.
    pub tag: Tag,
    /// The page, without its links; `None` for a redirect.
    pub page: Option<Page>,
    /// The links.
    pub found: Vec<Found>,
    /// The number of those at the beginning that were not within reach before, so that nothing is noted of them yet.
    pub new: usize,
    /// Why its links could not be read.
    pub failure: Option<String>,
}

/// Reads stored pages again.
pub struct Reread {
    parser: Parser,
    before: Option<Reach>,
    all: bool,
    queue: LogStream,
    end: u64,
    archive: Archive,
    /// The committed files when the run began: a page stored since then was parsed with the present reach.
    files: HashMap<String, u64>,
}

impl Reread {
    /// Starts or goes on, if the plan of the crawl says so.
    pub fn open(parser: Parser, files: &HashMap<String, u64>) -> Result<Option<Reread>> {
        let plan = Arc::clone(&parser.plan);
        let Some(reread) = &plan.reread else { return Ok(None) };
        let committed = files.get(URLS).copied().unwrap_or(0);
        let end = reread.end.min(committed);
        if reread.next >= end {
            return Ok(None);
        }
        let before = reread.before.as_ref().map(|before| Reach::new(&before.reach, &before.seeds));
        Ok(Some(Reread {
            before: before.transpose()?,
            all: reread.all,
            queue: LogStream::open(&plan.folder.join(URLS), queue::FORMAT, reread.next, end)?,
            end,
            archive: Archive::new(&plan.folder),
            files: files.clone(),
            parser,
        }))
    }

    /// The offset in the queue of what is next, and that of the end.
    pub fn progress(&self) -> (u64, u64) {
        (self.queue.position(), self.end)
    }

    /// The links of the next pages; `None` at the end.
    pub fn next(&mut self, store: &mut PageStore) -> Result<Option<Vec<Refound>>> {
        let path = self.queue.path().to_path_buf();
        let (mut pages, mut count) = (Vec::with_capacity(BATCH), 0);
        while count < BATCH
            && let Some(sealed) = self.queue.advance()?
        {
            count += 1;
            let record = sealed.open(&path)?;
            let (tag, url) =
                unpack(record.payload).map_err(|reason| Error::corrupt(&path, record.offset, reason))?;
            if let Some(row) = store.table().get(url)? {
                pages.push((row, Tag::unpack(tag, self.parser.shared.tags)));
            }
        }
        let read = |(row, tag)| self.read(row, tag);
        Ok((count > 0).then(|| pages.into_par_iter().filter_map(read).collect()))
    }

    fn read(&self, row: Row, tag: Tag) -> Option<Refound> {
        if row.outcome == Outcome::Redirected {
            return self.redirect(row, tag);
        }
        let is_stored = |place: Place| {
            let committed = self.files.get(&layout::archive(place.file)).copied().unwrap_or(0);
            place.length > 0 && place.offset + place.length <= committed
        };
        let (answer, readable) = (row.place(), row.readable_place());
        if row.digest.is_none() || !is_stored(answer) || !is_stored(readable) {
            return None;
        }
        if self.parser.plan.crawl.duplicates.treatment(&row) >= Treatment::SkipLinks {
            return None;
        }
        let url = row.url.clone();
        let links = self.archive.read(answer).and_then(|answer| match row.text_place() {
            Some(text) => self.parser.links_again(&answer, &self.archive.read(text)?, &row, tag),
            None => self.parser.links_again(&answer, &answer, &row, tag),
        });
        let (page, links, counted) = match links {
            Ok(Some(read)) => read,
            Ok(None) => return None,
            Err(error) => {
                let failure = Some(error.to_string());
                return Some(Refound { url, tag, page: None, found: Vec::new(), new: 0, failure });
            }
        };
        let now = self.parser.reach.read().unwrap_or_else(|poisoned| poisoned.into_inner());
        let now = now.follows(&links, counted);
        let before = self.before.as_ref().map(|before| before.follows(&links, counted));
        let is_new = |place: usize| now[place] && before.as_ref().is_none_or(|before| !before[place]);
        let (mut found, mut noted) = (Vec::new(), Vec::new());
        for (place, link) in links.into_iter().enumerate() {
            if is_new(place) {
                found.push(link);
            } else if self.all && now[place] {
                noted.push(link);
            }
        }
        let new = found.len();
        found.append(&mut noted);
        (!found.is_empty()).then_some(Refound { url, tag, page: Some(page), found, new, failure: None })
    }

    /// A redirect that was not followed may lead to a page that is in scope now.
    fn redirect(&self, row: Row, tag: Tag) -> Option<Refound> {
        let is_followed = row.detail.is_empty();
        let target = row.redirect.filter(|_| self.all || !is_followed)?;
        let next = redirected(tag, &row.url, &target);
        let reach = self.parser.reach.read().unwrap_or_else(|poisoned| poisoned.into_inner());
        if next.redirects > self.parser.plan.crawl.max_redirects || reach.allows(&target).is_err() {
            return None;
        }
        let found = vec![Found { url: target, anchor: String::new(), tag: next }];
        let new = usize::from(!is_followed);
        Some(Refound { url: row.url, tag, page: None, found, new, failure: None })
    }
}
