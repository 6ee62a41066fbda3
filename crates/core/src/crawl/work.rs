//! What goes from thread to thread.

use std::net::IpAddr;

use crossbeam_channel::Sender;

use super::counts::Failure;
use super::tag::Tag;
use super::writing::Commit;
use super::writing::decisions::Decision;
use crate::Result;
use crate::collection::{Outcome, Row};
use crate::disk::file::DurableFile;
use crate::fetch::Response;
use crate::parse;

/// A URL to be visited.
#[derive(Clone, Debug)]
pub struct Work {
    /// Where it stands in the sieve's queue.
    pub offset: u64,
    /// How it was come by.
    pub tag: Tag,
    /// The URL.
    pub url: String,
    /// How often it was tried.
    pub attempts: u32,
    /// Whether it counts among the pages that may be fetched.
    pub counted: bool,
}

/// A response on its way to be parsed.
pub struct Fetched {
    /// What was asked for.
    pub work: Work,
    /// When, in seconds since 1970.
    pub when: f64,
    /// What came.
    pub response: Response,
    /// Who answered.
    pub address: IpAddr,
    /// What it takes of the room between the threads.
    pub weight: u32,
}

/// A link that is to be followed.
pub struct Found {
    /// The canonical URL.
    pub url: String,
    /// What it is called on the page.
    pub anchor: String,
    /// How it was come by.
    pub tag: Tag,
}

/// A response, parsed and compressed, on its way to the store.
pub struct Parsed {
    /// What was asked for.
    pub work: Work,
    /// What will be known about it.
    pub row: Row,
    /// The record for the archive; None where a filter keeps the page out.
    pub record: Option<Vec<u8>>,
    /// The record with the text of a converted document.
    pub conversion: Option<Vec<u8>>,
    /// What tells its words from others.
    pub words: Option<(u128, u64)>,
    /// The signatures of all its links, for the graph.
    pub targets: Vec<u8>,
    /// The links that are in scope.
    pub found: Vec<Found>,
    /// The page itself, where somebody wants to judge its links by it.
    pub page: Option<Box<parse::Page>>,
    /// What failed while the response was parsed.
    pub failure: Option<Failure>,
    /// How many bytes the body had.
    pub bytes: u64,
    /// What it takes of the room between the threads.
    pub weight: u32,
}

/// A URL that there is no response of.
pub struct Unanswered {
    /// What was to be asked for.
    pub work: Work,
    /// What became of it.
    pub outcome: Outcome,
    /// Why.
    pub detail: String,
    /// When.
    pub when: f64,
    /// How long it took.
    pub seconds: f32,
    /// Who did not answer.
    pub address: Option<IpAddr>,
    /// What it takes of the room between the threads.
    pub weight: u32,
}

/// What the writing thread hears.
pub enum Event {
    /// A page.
    Parsed(Box<Parsed>),
    /// No page.
    Unanswered(Box<Unanswered>),
    /// Something worth a line.
    Note(Box<Decision>),
    /// There are connections and no host to use them for.
    Hungry,
    /// Everything is to become durable.
    Checkpoint(Sender<Result<Commit>>),
    /// Nothing more will come.
    End,
}

/// What the fetching thread hears.
pub enum Order {
    /// URLs to be visited: where each stands, its host's key and its priority.
    Visit(Vec<(u64, u64, u8)>),
    /// Where is the first URL that has no row?
    Checkpoint(Sender<Result<Position>>),
    /// No further request.
    Stop,
    /// The thread may end.
    End,
}

/// What the fetching thread has to say at a checkpoint.
pub struct Position {
    /// The first URL without a row among those that were handed over.
    pub oldest: Option<u64>,
    /// The file of what is known about hosts, its length, and its handle.
    pub hosts: (String, u64, DurableFile),
}
