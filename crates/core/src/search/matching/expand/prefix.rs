//! The terms that begin alike: one range of the dictionary, so a seek and a walk of as many steps as there are.

use super::SortedTerms;
use crate::Result;

/// Calls `visit` with `terms` on each term that begins with `start`, in order.
pub fn prefix<T: SortedTerms>(terms: &mut T, start: &str, mut visit: impl FnMut(&T)) -> Result<()> {
    let mut found = terms.seek(start.as_bytes())?;
    while found && terms.term().starts_with(start.as_bytes()) {
        visit(terms);
        found = terms.advance()?;
    }
    Ok(())
}
