//! Difference: the unwanted skip along behind the wanted, so it costs what the wanted cost and one skip for
//! each of them.

use super::{AnyDocuments, Documents};
use crate::Result;
use crate::index::DocId;

/// The documents that are wanted and not unwanted.
pub struct Except<'a> {
    wanted: AnyDocuments<'a>,
    unwanted: AnyDocuments<'a>,
}

impl<'a> Except<'a> {
    /// The difference of the two.
    pub fn of(wanted: AnyDocuments<'a>, unwanted: AnyDocuments<'a>) -> Result<Except<'a>> {
        let mut except = Except { wanted, unwanted };
        except.pass_unwanted()?;
        Ok(except)
    }

    fn pass_unwanted(&mut self) -> Result<DocId> {
        let mut document = self.wanted.document();
        while document != DocId::END && self.unwanted.skip_to(document)? == document {
            document = self.wanted.next()?;
        }
        Ok(document)
    }
}

impl Documents for Except<'_> {
    fn document(&self) -> DocId {
        self.wanted.document()
    }

    fn next(&mut self) -> Result<DocId> {
        self.wanted.next()?;
        self.pass_unwanted()
    }

    fn skip_to(&mut self, target: DocId) -> Result<DocId> {
        self.wanted.skip_to(target)?;
        self.pass_unwanted()
    }

    fn estimate(&self) -> u64 {
        self.wanted.estimate()
    }
}
