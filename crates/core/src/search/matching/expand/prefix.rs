//! Prefix expansion: one range of the term dictionary, i.e. a seek and a step per term.

use super::SortedTerms;
use crate::Result;

/// Calls `visit` with `terms` on each term with the prefix `start`, in order.
pub fn prefix<T: SortedTerms>(terms: &mut T, start: &str, mut visit: impl FnMut(&T)) -> Result<()> {
    let mut found = terms.seek(start.as_bytes())?;
    while found && terms.term().starts_with(start.as_bytes()) {
        visit(terms);
        found = terms.advance()?;
    }
    Ok(())
}
