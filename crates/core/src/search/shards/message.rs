//! The messages between the broker and the shards, in MessagePack.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::index::DocId;
use crate::index::format::zone::ZONES;
use crate::search::answer::arrange::Arrangement;
use crate::search::answer::facets::Counts;
use crate::search::answer::pinned::Pinned;
use crate::search::answer::resolve::Counted;
use crate::search::answer::{Options, Request};
use crate::search::rank::Ranked;
use crate::{Error, Result, Signature};

/// What a broker asks a shard.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Message {
    /// How large it is: a [`Description`].
    Describe,
    /// What it holds of the leaves of a query: [`Holding`].
    Count(Question),
    /// Its top documents, and the number of its matches: [`Best`].
    Rank(Question, Pinned),
    /// The scores of documents with proximity, in the order of the documents: a list of numbers.
    Near(Question, Pinned, Vec<Place>),
    /// Hits, in which these terms are highlighted, with or without snippets: a list of hits.
    Show(Vec<Place>, Vec<(String, usize)>, bool),
    /// The explanation of a score.
    Explain(Question, Pinned, Place),
    /// The document frequencies of terms.
    Frequencies(Vec<String>),
    /// The same for spelling correction: in the searched zones.
    Spelt(Vec<String>),
    /// The terms at edit distance 1 or 2 of a term that start like it, with their document frequencies.
    Alike(String, String),
    /// The number of documents in which the first term is followed by the second.
    Adjacent(String, String),
    /// How a term is written in the shard's documents: the term, what was typed, and the language of the query.
    Written(String, String, String),
}

/// A request as it travels.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Question {
    query: String,
    options: Options,
    depth: usize,
    count: u64,
    facets: usize,
    worth_a_thread: u64,
}

impl Question {
    /// The message of a request.
    pub fn of(request: &Request<'_>) -> Question {
        Question {
            query: request.query.to_owned(),
            options: request.options.clone(),
            depth: request.depth,
            count: request.count,
            facets: request.facets,
            worth_a_thread: request.worth_a_thread,
        }
    }

    /// The request of a message.
    pub fn request(&self) -> Request<'_> {
        Request {
            query: &self.query,
            options: self.options.clone(),
            depth: self.depth,
            count: self.count,
            facets: self.facets,
            worth_a_thread: self.worth_a_thread,
        }
    }
}

/// A document of a shard, with its score.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// The score.
    pub score: f64,
    /// The signature of its URL.
    pub signature: u64,
    /// The index of its segment in the shard.
    pub segment: u32,
    /// Its number in the segment.
    pub document: u32,
    /// The number of near-duplicates collapsed under it.
    pub similar: u32,
    /// The number of hits of its site on later pages.
    pub more_from_site: u32,
}

impl Place {
    /// The place of a hit.
    pub fn of(hit: &Arrangement) -> Place {
        Place { similar: hit.similar, more_from_site: hit.more_from_site, ..Place::from(&hit.ranked) }
    }

    /// The hit, of a shard.
    pub fn hit(&self, shard: usize) -> Arrangement {
        let ranked = Ranked {
            score: self.score,
            signature: Signature(self.signature),
            shard: shard as u16,
            segment: self.segment as usize,
            document: DocId(self.document),
        };
        Arrangement { ranked, similar: self.similar, more_from_site: self.more_from_site }
    }
}

impl From<&Ranked> for Place {
    fn from(ranked: &Ranked) -> Place {
        Place {
            score: ranked.score,
            signature: ranked.signature.0,
            segment: ranked.segment as u32,
            document: ranked.document.0,
            similar: 0,
            more_from_site: 0,
        }
    }
}

/// The size of a shard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// The number of live documents.
    pub live: u64,
    /// The number of documents, including replaced ones.
    pub documents: u64,
    /// The number of terms; a term counts once for each segment it is in.
    pub terms: u64,
    /// The number of postings.
    pub postings: u64,
    /// The number of words in each zone.
    pub words: [u64; ZONES],
    /// The size of its segments.
    pub bytes: u64,
}

/// What a shard holds of a query.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Holding {
    /// The number of documents, including replaced ones.
    pub documents: u64,
    /// The number of words in each zone.
    pub words: [u64; ZONES],
    /// The counts of each distinct leaf.
    pub leaves: Vec<Counted>,
}

/// The top documents of a shard.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Best {
    /// The documents, best first, before they are reranked by proximity.
    pub hits: Vec<Place>,
    /// The fingerprint of each, if near-duplicates are to be collapsed.
    pub fingerprints: Vec<u64>,
    /// The site of each, by its index in `names`, if sites are to be mixed.
    pub sites: Vec<u32>,
    /// The names of the sites.
    pub names: Vec<String>,
    /// The number of matches.
    pub matches: u64,
    /// Whether that is exact; otherwise it is a lower bound.
    pub whole: bool,
    /// Whether the time limit ended the search early.
    pub partial: bool,
    /// The counts for facets, if requested.
    pub counts: Option<Counts>,
}

/// What a shard answers.
#[derive(Debug, Serialize, Deserialize)]
enum Answer<T> {
    Done(T),
    Failed(String),
}

/// A message as bytes.
pub fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>> {
    rmp_serde::to_vec(message).map_err(|error| Error::Invalid(format!("a message does not encode: {error}")))
}

/// A message from bytes.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    rmp_serde::from_slice(bytes)
        .map_err(|error| Error::Invalid(format!("a message between shards does not decode: {error}")))
}

/// An answer as bytes.
pub fn encode_answer<T: Serialize>(answer: Result<T>) -> Result<Vec<u8>> {
    encode(&match answer {
        Ok(done) => Answer::Done(done),
        Err(Error::Stopped) => return Err(Error::Stopped),
        Err(error) => Answer::Failed(error.to_string()),
    })
}

/// An answer from bytes; the error of a shard that could not answer.
pub fn decode_answer<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    match decode(bytes)? {
        Answer::Done(done) => Ok(done),
        Answer::Failed(why) => Err(Error::Invalid(why)),
    }
}
