//! Analysis: the terms of a text, with character offsets that Python can slice by.

use crivello_core::analysis::{Analyzer, Language};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

use crate::enter::enter;

/// The number of tokens between two checks for Ctrl-C.
const BATCH: usize = 1 << 16;

/// Term, position, first and last character, number of parts, and whether it is a stop word.
type Analyzed = (String, u32, usize, usize, u32, bool);

#[pyfunction]
#[pyo3(signature = (text, language = None))]
fn analyze(py: Python<'_>, text: &str, language: Option<&str>) -> PyResult<Vec<Analyzed>> {
    enter(py, |pulse| {
        let analyzer = Analyzer::new(Language::of(language));
        let mut found = Vec::new();
        let mut going = Ok(());
        // Converts byte offsets to character offsets; tokens start in order.
        let (mut byte, mut character) = (0, 0);
        analyzer.words(text, |word| {
            if going.is_err() {
                return;
            }
            if found.len() % BATCH == 0 {
                going = pulse.beat();
            }
            character += text[byte..word.start].chars().count();
            byte = word.start;
            let end = character + word.surface.chars().count();
            let is_stop_word = analyzer.is_stop_word(word.surface);
            found.push((word.term.to_owned(), word.position, character, end, word.parts, is_stop_word));
        });
        going.map(|()| found)
    })
}

/// The number of tokens of some texts; with `terms`, their terms are computed too: for measuring the cost of
/// analysis.
#[pyfunction]
#[pyo3(signature = (texts, language = None, *, terms = false))]
fn count_tokens(
    py: Python<'_>,
    texts: Vec<PyBackedStr>,
    language: Option<&str>,
    terms: bool,
) -> PyResult<u64> {
    enter(py, |pulse| {
        let analyzer = Analyzer::new(Language::of(language));
        let mut count = 0;
        for text in &texts {
            pulse.beat()?;
            if terms {
                analyzer.words(text, |_| count += 1);
            } else {
                analyzer.tokens(text, |_| count += 1);
            }
        }
        Ok(count)
    })
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(analyze, module)?)?;
    module.add_function(wrap_pyfunction!(count_tokens, module)?)
}
