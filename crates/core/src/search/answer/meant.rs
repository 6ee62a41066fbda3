//! "Did you mean": spelling correction of the rare words of a query.

use super::Searcher;
use super::suggest::{Speller, rewrite};
use crate::Result;
use crate::analysis::{Analyzer, Language};
use crate::search::language::QueryText;

/// A word with at least this document frequency is taken as spelt correctly.
const COMMON: u64 = 20;

/// The most words that are corrected: each takes some milliseconds.
const CORRECTED: usize = 16;

impl Searcher {
    /// The query with its misspelt words corrected; `None` if no correction is convincing. Only words with a
    /// low document frequency are considered, and of those the first [`CORRECTED`].
    pub fn suggest(&self, query: &str, language: &str) -> Result<Option<String>> {
        let analyzer = Analyzer::new(Language::of(Some(language)));
        let mut rare = Vec::new();
        let mut term = String::new();
        for word in QueryText::new(query, &analyzer).wanted().into_iter().filter(|word| word.plain) {
            analyzer.term(&query[word.span.clone()], &mut term);
            if rare.len() < CORRECTED && self.documents_with(&term)? < COMMON {
                rare.push(word.span);
            }
        }
        if rare.is_empty() {
            return Ok(None);
        }
        let segments = self.parts.iter().map(|part| (&part.segment, &part.replaced));
        let corrections = Speller::new(segments, &analyzer).corrections(query, &rare)?;
        Ok((!corrections.is_empty()).then(|| rewrite(query, &corrections)))
    }

    fn documents_with(&self, term: &str) -> Result<u64> {
        let mut documents = 0;
        for part in &self.parts {
            let lists = part.segment.find(term)?.unwrap_or_default();
            documents += lists.iter().map(|(_, list)| u64::from(list.frequency)).max().unwrap_or(0);
        }
        Ok(documents)
    }
}
