//! The posting lists of a term outside of their segment: in a message from a shard, and in memory at the broker.
//!
//! A message ([`Taken`]) has the dictionary entry of the term ([`crate::index::format::lists`]), and the bytes of each
//! component of its lists, one list after the other; the entry alone says how long they are. The bytes are those of the
//! segment, in its codes, unless the lists were restricted to some documents, which are encoded anew in plain codes
//! ([`Codes::plain`]). Positions may be left out, since most of a search does without them and they are most of the
//! bytes.
//!
//! An [`Extract`] is read by the same cursors as a segment, and bytes that do not decode are an error, never a wrong
//! posting past the last document.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use super::cursor::{Cursor, Source};
use crate::index::DocId;
use crate::index::format::codes::Codes;
use crate::index::format::lists::{self, COMPONENTS, Lists, Place};
use crate::index::format::zone::ZoneSet;
use crate::{Error, Result};

/// The posting lists of a term as they travel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// The dictionary entry.
    pub entry: ByteBuf,
    /// The bytes of pointers, counts, positions and skips.
    pub components: [ByteBuf; COMPONENTS],
    /// Whether the positions are there.
    pub positions: bool,
    /// Whether the codes are the plain ones, not those of the segment.
    pub plain: bool,
}

impl Taken {
    /// The lists of the entry, whose byte ranges are those in `components`; `None` if it does not decode. The
    /// quantum is that of the codes.
    pub fn lists(&self, quantum: u32) -> Option<Lists> {
        let mut lists = Lists::new();
        lists::read(&mut self.entry.as_slice(), quantum, &mut Place::default(), &mut lists)?;
        Some(lists)
    }
}

/// The posting lists of a term in memory.
pub struct Extract {
    term: String,
    lists: Lists,
    codes: Arc<Codes>,
    components: [ByteBuf; COMPONENTS],
    positions: bool,
    limit: u64,
}

impl Extract {
    /// The posting lists in a message, in these codes, of a segment of `limit` documents.
    pub fn new(term: &str, taken: Taken, codes: Arc<Codes>, limit: u64) -> Result<Extract> {
        let lists = taken.lists(codes.quantum).ok_or_else(|| unreadable(term, "its entry"))?;
        let (term, components, positions) = (term.to_owned(), taken.components, taken.positions);
        Ok(Extract { term, lists, codes, components, positions, limit })
    }

    /// The term.
    pub fn term(&self) -> &str {
        &self.term
    }

    /// Its posting lists.
    pub fn lists(&self) -> &Lists {
        &self.lists
    }

    /// Whether the positions are there.
    pub fn has_positions(&self) -> bool {
        self.positions
    }

    /// The documents in which some of `zones` has the term, in order.
    pub fn documents(&self, zones: ZoneSet) -> Result<Vec<u32>> {
        let mut documents = Vec::new();
        for (_, list) in self.lists.iter().filter(|(zone, _)| zones.contains(*zone)) {
            let mut cursor = Cursor::new(Source::Extract(self), list.clone())?;
            while cursor.document() != DocId::END {
                let block = cursor.documents_of_block();
                documents.extend_from_slice(block);
                let passed = block.len();
                cursor.pass(passed)?;
            }
        }
        documents.sort_unstable();
        documents.dedup();
        Ok(documents)
    }

    /// The memory it takes in bytes, about.
    pub fn bytes(&self) -> usize {
        let components = self.components.iter().map(|part| part.len()).sum::<usize>();
        size_of::<Extract>() + self.term.len() + size_of_val(self.lists.as_slice()) + components
    }

    pub(super) fn codes(&self) -> &Codes {
        &self.codes
    }

    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    pub(super) fn component(&self, component: usize, range: Range<u64>) -> Result<&[u8]> {
        let bytes = self.components[component].get(range.start as usize..range.end as usize);
        bytes.ok_or_else(|| self.damage("a list does not end in its bytes"))
    }

    #[cold]
    pub(super) fn damage(&self, reason: &str) -> Error {
        unreadable(&self.term, reason)
    }
}

fn unreadable(term: &str, reason: &str) -> Error {
    Error::Invalid(format!("the posting lists of {term:?} that a shard sent do not decode: {reason}"))
}
