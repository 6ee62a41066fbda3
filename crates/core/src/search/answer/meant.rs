//! "Did you mean": a query with its rare words spelt better.

use super::Searcher;
use super::suggest::{Speller, rewrite};
use crate::Result;
use crate::analysis::{Analyzer, Language};
use crate::search::language::QueryText;

/// A word in as many documents is taken to be meant as it is written.
const COMMON: u64 = 20;

/// How many words are corrected: each takes some milliseconds.
const CORRECTED: usize = 16;

impl Searcher {
    /// The query with its misspelt words corrected; `None` where there are none, or no word is convincing. Only words that
    /// few documents hold are looked at, and the first [`CORRECTED`] of them.
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
