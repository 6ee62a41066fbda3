//! The messages between the broker and shards of terms, in MessagePack.

use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use crate::codes::variable_byte as number;
use crate::index::read::extract::Taken;
use crate::search::language::tree::Pattern;
use crate::{Error, Result};

/// What a broker asks a shard of terms.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Message {
    /// How large it is: a [`Description`](crate::search::shards::message::Description).
    Describe,
    /// Its approximate dictionary with signatures of this many bits, and its segments: [`Published`].
    Publish(u32),
    /// What it holds of patterns, each in zones given as bits: a list of counts.
    Expand(Vec<(Pattern, u8)>),
    /// The dictionary entries of terms: [`Found`] for each.
    Entries(Vec<String>),
    /// The whole posting lists of terms, each with or without positions: [`Found`] for each.
    Lists(Vec<(String, bool)>),
    /// The posting lists of terms in some documents, with or without positions: [`Found`] for each.
    Among(Vec<String>, Vec<Documents>, bool),
    /// The terms at edit distance 1 or 2 of a term that start like it, with their document frequencies.
    Alike(String, String),
}

/// What the segments of a shard have of a term: the index of each segment that has it, and its posting lists.
pub type Found = Vec<(u32, Taken)>;

/// What a shard says of itself, once per commit.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Published {
    /// Its segments: the number of the generation, and the codes of its posting lists.
    pub segments: Vec<(u64, ByteBuf)>,
    /// The approximate dictionary of its terms.
    pub dictionary: ByteBuf,
}

/// Documents of a generation: its number, and the gaps between their ids in variable byte code.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Documents(u64, ByteBuf);

impl Documents {
    /// The message of documents, which increase.
    pub fn new(generation: u64, documents: &[u32]) -> Documents {
        let mut bytes = Vec::with_capacity(documents.len() + documents.len() / 4);
        let mut next = 0;
        for document in documents {
            number::write(u64::from(document - next), &mut bytes);
            next = document + 1;
        }
        Documents(generation, ByteBuf::from(bytes))
    }

    /// The number of the generation.
    pub fn generation(&self) -> u64 {
        self.0
    }

    /// The documents.
    pub fn ids(&self) -> Result<Vec<u32>> {
        let (mut bytes, mut next, mut ids) = (self.1.as_slice(), 0u32, Vec::new());
        while !bytes.is_empty() {
            let id = number::read_u32(&mut bytes).and_then(|gap| next.checked_add(gap));
            let following = id.and_then(|id| Some((id, id.checked_add(1)?)));
            let (id, following) = following.ok_or_else(|| {
                Error::Invalid("a message between shards has documents that do not decode".into())
            })?;
            ids.push(id);
            next = following;
        }
        Ok(ids)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn documents_are_those_that_were_sent(ids in prop::collection::btree_set(0u32..u32::MAX, 0..200)) {
            let ids: Vec<u32> = ids.into_iter().collect();
            prop_assert_eq!(Documents::new(7, &ids).ids().unwrap(), ids);
        }

        #[test]
        fn any_bytes_are_documents_that_increase_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            if let Ok(ids) = Documents(0, ByteBuf::from(bytes)).ids() {
                prop_assert!(ids.is_sorted_by(|one, other| one < other));
            }
        }
    }
}
