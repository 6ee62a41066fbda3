//! The vocabulary of shards of terms, for spelling correction.

use std::collections::{BTreeMap, BTreeSet};

use super::broker::TermBroker;
use super::message::Message;
use crate::analysis::Analyzer;
use crate::search::answer::suggest::{Vocabulary, frequency};
use crate::search::shards::broker::Transport;
use crate::{Pulse, Result};

/// The vocabulary of the shards behind a broker.
pub struct OfTerms<'a, T> {
    /// The broker.
    pub broker: &'a TermBroker<T>,
}

impl<T: Transport> Vocabulary for OfTerms<'_, T> {
    fn all_documents(&self) -> u64 {
        self.broker.documents().totals().documents
    }

    fn documents(&self, terms: &[String]) -> Result<Vec<u64>> {
        self.broker.frequencies(terms, |lists| frequency(lists))
    }

    fn alike(&self, start: &str, term: &str) -> Result<BTreeMap<String, u64>> {
        let mut all = BTreeMap::new();
        let message = Message::Alike(start.to_owned(), term.to_owned());
        let answers = self.broker.fetcher().ask_all::<BTreeMap<String, u64>>(
            &message,
            &mut BTreeSet::new(),
            &Pulse::STEADY,
        )?;
        for of_shard in answers.into_iter().flatten() {
            of_shard.into_iter().for_each(|(term, documents)| *all.entry(term).or_default() += documents);
        }
        Ok(all)
    }

    fn adjacent(&self, first: &str, second: &str) -> Result<u64> {
        self.broker.with_terms(&[first, second], true)?.vocabulary().adjacent(first, second)
    }

    fn written(&self, term: &str, typed: &str, analyzer: &Analyzer) -> Result<Option<(usize, String)>> {
        self.broker.with_terms(&[term], false)?.vocabulary().written(term, typed, analyzer)
    }
}
