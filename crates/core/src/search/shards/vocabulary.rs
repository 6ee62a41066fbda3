//! The vocabulary of all shards, for spelling correction.

use std::collections::BTreeMap;

use super::broker::{Broker, Transport};
use super::message::Message;
use crate::Result;
use crate::analysis::Analyzer;
use crate::search::answer::suggest::Vocabulary;

/// The vocabulary of the shards behind a broker.
pub struct OfShards<'a, T> {
    /// The broker.
    pub broker: &'a Broker<T>,
    /// The language of the query.
    pub language: &'a str,
    /// The number of documents of all shards.
    pub documents: u64,
}

impl<T: Transport> Vocabulary for OfShards<'_, T> {
    fn all_documents(&self) -> u64 {
        self.documents
    }

    fn documents(&self, terms: &[String]) -> Result<Vec<u64>> {
        self.broker.summed(&Message::Spelt(terms.to_vec()), terms.len())
    }

    fn alike(&self, start: &str, term: &str) -> Result<BTreeMap<String, u64>> {
        let mut all = BTreeMap::new();
        let message = Message::Alike(start.to_owned(), term.to_owned());
        for of_shard in self.broker.gather::<BTreeMap<String, u64>>(&message)? {
            of_shard.into_iter().for_each(|(term, documents)| *all.entry(term).or_default() += documents);
        }
        Ok(all)
    }

    fn adjacent(&self, first: &str, second: &str) -> Result<u64> {
        let message = Message::Adjacent(first.to_owned(), second.to_owned());
        Ok(self.broker.gather::<u64>(&message)?.into_iter().sum())
    }

    fn written(&self, term: &str, typed: &str, _: &Analyzer) -> Result<Option<(usize, String)>> {
        let message = Message::Written(term.to_owned(), typed.to_owned(), self.language.to_owned());
        let found = self.broker.gather::<Option<(usize, String)>>(&message)?;
        Ok(found.into_iter().flatten().min_by_key(|(distance, _)| *distance))
    }
}
