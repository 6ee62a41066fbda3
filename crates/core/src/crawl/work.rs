//! The messages between the threads.

use std::net::IpAddr;

use crossbeam_channel::Sender;

use super::counts::Failure;
use super::exchange::record::Batch;
use super::fetching::hosts::HostCommit;
use super::revisit::Revisit;
use super::tag::Tag;
use super::writing::Commit;
use super::writing::decisions::Decision;
use crate::Result;
use crate::collection::{Outcome, Row};
use crate::fetch::Response;
use crate::graph::PageLinks;
use crate::parse;

/// A URL to fetch.
#[derive(Clone, Debug)]
pub struct Work {
    /// Its offset in the sieve's queue.
    pub offset: u64,
    /// How it was discovered.
    pub tag: Tag,
    /// The URL.
    pub url: String,
    /// The number of attempts so far.
    pub attempts: u32,
    /// Whether it counts against the page budget.
    pub counted: bool,
    /// What is known of it, if it was visited before.
    pub revisit: Option<Box<Revisit>>,
}

/// A response to be parsed.
pub struct Fetched {
    /// The URL requested.
    pub work: Work,
    /// When, in seconds since 1970.
    pub when: f64,
    /// The response.
    pub response: Response,
    /// The address that answered.
    pub address: IpAddr,
    /// The sitemaps of its host; only the first response of a host has them.
    pub sitemaps: Vec<String>,
    /// The number of permits it holds.
    pub weight: u32,
}

/// A link to follow.
pub struct Found {
    /// The canonical URL.
    pub url: String,
    /// Its anchor text.
    pub anchor: String,
    /// How it was discovered.
    pub tag: Tag,
}

/// What a page is shown with, to be fetched.
pub struct Asset {
    /// The canonical URL.
    pub url: String,
    /// What it is to the page, as in "style sheet".
    pub what: &'static str,
    /// How it was discovered.
    pub tag: Tag,
}

/// A response, parsed and compressed, to be stored.
pub struct Parsed {
    /// The URL requested.
    pub work: Work,
    /// Its row of the page table.
    pub row: Row,
    /// The record for the archive; `None` if a filter rejects the page.
    pub record: Option<Vec<u8>>,
    /// The record of the request, if requests are kept.
    pub request: Option<Vec<u8>>,
    /// The record with the text of a converted document.
    pub conversion: Option<Vec<u8>>,
    /// The digest and the SimHash of its text.
    pub words: Option<(u128, Option<u64>)>,
    /// All its links, for the graph.
    pub links: PageLinks,
    /// The links that are in scope; the first ones are the sitemaps of its host.
    pub found: Vec<Found>,
    /// The assets to fetch.
    pub assets: Vec<Asset>,
    /// The number of those sitemaps.
    pub sitemaps: usize,
    /// When other pages changed, as a sitemap says: their URLs, and seconds since 1970.
    pub signals: Vec<(String, f64)>,
    /// The page itself, if a policy judges its links by it.
    pub page: Option<Box<parse::Page>>,
    /// What failed while the response was parsed.
    pub failure: Option<Failure>,
    /// The size of the body in bytes.
    pub bytes: u64,
    /// The number of permits it holds.
    pub weight: u32,
}

/// A URL without a response.
pub struct Unanswered {
    /// The URL.
    pub work: Work,
    /// Its outcome.
    pub outcome: Outcome,
    /// The status of the response, if that is why.
    pub status: Option<u16>,
    /// The reason.
    pub detail: String,
    /// When.
    pub when: f64,
    /// The time it took.
    pub seconds: f32,
    /// The address that did not answer.
    pub address: Option<IpAddr>,
    /// The number of permits it holds.
    pub weight: u32,
}

impl Unanswered {
    /// Its row of the page table.
    pub fn row(&self) -> Row {
        Row {
            url: self.work.url.clone(),
            outcome: self.outcome,
            depth: self.work.tag.depth,
            status: self.status,
            fetched_at: self.when,
            address: self.address.map(|address| address.to_string()),
            attempts: self.work.attempts,
            seconds: self.seconds,
            detail: self.detail.clone(),
            ..Row::default()
        }
    }
}

/// A URL that another agent is to fetch.
pub struct Handed {
    /// The URL.
    pub work: Work,
    /// The agent.
    pub agent: u32,
    /// The address for whose owner it is; without one it is for the owner of its name.
    pub address: Option<IpAddr>,
}

/// The robots.txt of an origin is at a URL, at an address that is another agent's.
pub struct Question {
    /// Whom it is for; at the owner of the address, who asks.
    pub agent: u32,
    /// The origin.
    pub origin: String,
    /// The URL.
    pub url: String,
    /// The address.
    pub address: IpAddr,
}

/// What that said.
pub struct Reply {
    /// Who asked.
    pub agent: u32,
    /// The origin.
    pub origin: String,
    /// The response, encoded.
    pub response: Vec<u8>,
}

/// A batch of another agent.
pub struct Incoming {
    /// The agent.
    pub sender: u32,
    /// The position of its first record.
    pub start: u64,
    /// The batch.
    pub batch: Batch,
    /// Where the positions go up to which it is accepted and committed.
    pub reply: Sender<(u64, u64)>,
}

/// Messages to the writer thread.
pub enum Event {
    /// A parsed page.
    Parsed(Box<Parsed>),
    /// A URL without a page.
    Unanswered(Box<Unanswered>),
    /// A URL for another agent.
    Handed(Box<Handed>),
    /// A question for another agent.
    Ask(Box<Question>),
    /// The answer to one of another agent.
    Answer(Box<Reply>),
    /// A batch of another agent.
    Incoming(Incoming),
    /// A decision to log.
    Note(Box<Decision>),
    /// There are free connections and no host to use them for.
    Hungry,
    /// Make everything durable.
    Checkpoint(Sender<Result<Commit>>),
    /// The last message.
    End,
}

/// Messages to the fetcher thread.
pub enum Order {
    /// URLs to fetch: the offset of each in the queue, its host's key and its priority.
    Visit(Vec<(u64, u64, u8)>),
    /// Crawl these origins at these addresses, although their names are other agents'.
    Pin(Vec<(String, IpAddr)>),
    /// Answer a question of another agent.
    Ask(Question),
    /// Take the answer to a question: the robots.txt of an origin, encoded.
    Answer(String, Vec<u8>),
    /// Report the first URL without a row.
    Checkpoint(Sender<Result<Position>>),
    /// Make no further request.
    Stop,
    /// End the thread.
    End,
}

/// What the fetcher thread reports at a checkpoint.
pub struct Position {
    /// The first URL without a row among those handed to it.
    pub oldest: Option<u64>,
    /// The records of the hosts.
    pub hosts: HostCommit,
}
