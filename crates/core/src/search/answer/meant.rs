//! "Did you mean": spelling correction of the rare words of a query.

use super::Searcher;
use super::suggest::{Speller, Vocabulary, rewrite};
use crate::Result;
use crate::analysis::{Analyzer, Language};
use crate::search::language::QueryText;

/// A word with at least this document frequency is taken as spelt correctly.
const COMMON: u64 = 20;

/// The most words that are corrected: each takes some milliseconds.
const CORRECTED: usize = 16;

/// The query with its misspelt words corrected; `None` if no correction is convincing. Only words with a low
/// document frequency, which `frequencies` returns for terms, are considered, and of those the first
/// [`CORRECTED`].
pub fn meant<V: Vocabulary>(
    query: &str,
    language: &str,
    frequencies: impl FnOnce(&[String]) -> Result<Vec<u64>>,
    vocabulary: impl FnOnce() -> Result<V>,
) -> Result<Option<String>> {
    let of = |language: &str| Analyzer::new(Language::of(Some(language)));
    let required = QueryText::new(query, &of(language)).language();
    let analyzer = of(required.as_deref().unwrap_or(language));
    let (mut spans, mut terms) = (Vec::new(), Vec::new());
    for word in QueryText::new(query, &analyzer).wanted().into_iter().filter(|word| word.plain) {
        let mut term = String::new();
        analyzer.term(&query[word.span.clone()], &mut term);
        spans.push(word.span);
        terms.push(term);
    }
    let frequencies = if terms.is_empty() { Vec::new() } else { frequencies(&terms)? };
    let rare = spans.into_iter().zip(frequencies).filter(|(_, documents)| *documents < COMMON);
    let rare: Vec<_> = rare.map(|(span, _)| span).take(CORRECTED).collect();
    if rare.is_empty() {
        return Ok(None);
    }
    let corrections = Speller::new(vocabulary()?, &analyzer).corrections(query, &rare)?;
    Ok((!corrections.is_empty()).then(|| rewrite(query, &corrections)))
}

impl Searcher {
    /// The query with its misspelt words corrected; `None` if no correction is convincing.
    pub fn suggest(&self, query: &str, language: &str) -> Result<Option<String>> {
        let frequencies = |terms: &[String]| terms.iter().map(|term| self.documents_with(term)).collect();
        meant(query, language, frequencies, || Ok(self.vocabulary()))
    }

    /// The document frequency of a term in the zone where it is highest, segment by segment.
    pub(in crate::search) fn documents_with(&self, term: &str) -> Result<u64> {
        let mut documents = 0;
        for part in &self.parts {
            let lists = part.segment.find(term)?.unwrap_or_default();
            documents += lists.iter().map(|(_, list)| u64::from(list.frequency)).max().unwrap_or(0);
        }
        Ok(documents)
    }
}
