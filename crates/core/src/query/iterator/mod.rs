//! The operators of a query as lazy iterators over the documents of a segment.
//!
//! Every operator has `next` and `skip_to`, and decodes nothing that they do not need: AND skips from list
//! to list, OR keeps a heap, a phrase looks at positions only where all its words are.

mod all;
mod and;
mod except;
mod or;
mod phrase;

use all::All;
use and::And;
use except::Except;
use or::Or;
use phrase::Phrase;

use super::tree::Query;
use crate::Result;
use crate::index::{DocId, Segment, TermCursor};

/// Documents in rising order. An iterator is born on its first document.
pub trait Documents {
    /// Where it stands; [`DocId::END`] past the last document.
    fn document(&self) -> DocId;

    /// Moves to the next document.
    fn next(&mut self) -> Result<DocId>;

    /// Moves to the first document, from where it stands on, that is not before `target`.
    fn skip_to(&mut self, target: DocId) -> Result<DocId>;

    /// At most how many documents there are, to begin an intersection with the rarest.
    fn estimate(&self) -> u64;
}

/// An iterator of any kind.
pub type AnyDocuments<'a> = Box<dyn Documents + 'a>;

impl Documents for AnyDocuments<'_> {
    fn document(&self) -> DocId {
        (**self).document()
    }

    fn next(&mut self) -> Result<DocId> {
        (**self).next()
    }

    fn skip_to(&mut self, target: DocId) -> Result<DocId> {
        (**self).skip_to(target)
    }

    fn estimate(&self) -> u64 {
        (**self).estimate()
    }
}

impl Documents for TermCursor<'_> {
    fn document(&self) -> DocId {
        TermCursor::document(self)
    }

    fn next(&mut self) -> Result<DocId> {
        TermCursor::advance(self)
    }

    fn skip_to(&mut self, target: DocId) -> Result<DocId> {
        TermCursor::skip_to(self, target)
    }

    fn estimate(&self) -> u64 {
        TermCursor::estimate(self)
    }
}

/// The documents of a segment that match a query.
pub fn documents<'a>(query: &Query, segment: &'a Segment) -> Result<AnyDocuments<'a>> {
    Ok(match query {
        Query::Term(term) => match segment.find(term)? {
            Some(lists) => Box::new(TermCursor::new(segment, lists)?),
            None => Box::new(All::none()),
        },
        Query::Phrase(words) => match Phrase::of(words, segment)? {
            Some(phrase) => Box::new(phrase),
            None => Box::new(All::none()),
        },
        Query::Not(child) => except(all_of(Vec::new(), segment)?, vec![documents(child, segment)?])?,
        Query::And(children) => {
            let (mut wanted, mut unwanted) = (Vec::new(), Vec::new());
            for child in children {
                match child {
                    Query::Not(child) => unwanted.push(documents(child, segment)?),
                    child => wanted.push(documents(child, segment)?),
                }
            }
            except(all_of(wanted, segment)?, unwanted)?
        }
        Query::Group { required, optional, excluded } => {
            let each = |queries: &[Query]| -> Result<Vec<AnyDocuments<'a>>> {
                queries.iter().map(|query| documents(query, segment)).collect()
            };
            let wanted = if required.is_empty() && !optional.is_empty() {
                any_of(each(optional)?)
            } else {
                all_of(each(required)?, segment)?
            };
            except(wanted, each(excluded)?)?
        }
    })
}

/// The documents in all of the children; all documents when there are none.
fn all_of<'a>(mut children: Vec<AnyDocuments<'a>>, segment: &Segment) -> Result<AnyDocuments<'a>> {
    Ok(match (children.pop(), children.is_empty()) {
        (None, _) => Box::new(All::of(segment)),
        (Some(only), true) => only,
        (Some(last), false) => {
            children.push(last);
            Box::new(And::of(children)?)
        }
    })
}

/// The documents in any of the children.
fn any_of(mut children: Vec<AnyDocuments<'_>>) -> AnyDocuments<'_> {
    match (children.pop(), children.is_empty()) {
        (None, _) => Box::new(All::none()),
        (Some(only), true) => only,
        (Some(last), false) => {
            children.push(last);
            Box::new(Or::of(children))
        }
    }
}

/// The documents that are wanted and in none of the unwanted.
fn except<'a>(wanted: AnyDocuments<'a>, unwanted: Vec<AnyDocuments<'a>>) -> Result<AnyDocuments<'a>> {
    if unwanted.is_empty() {
        return Ok(wanted);
    }
    Ok(Box::new(Except::of(wanted, any_of(unwanted))?))
}

#[cfg(test)]
mod tests;
