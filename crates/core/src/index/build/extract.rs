//! Taking the posting lists of a term out of a segment, to be sent: whole, or restricted to some documents.

use std::io::Read;

use serde_bytes::ByteBuf;

use super::postings::PostingsWriter;
use crate::disk::spool::Spool;
use crate::index::format::codes::Codes;
use crate::index::format::lists::{self, COMPONENTS, Lists, Place};
use crate::index::read::cursor::SECTIONS;
use crate::index::read::extract::Taken;
use crate::index::{DocId, Segment};
use crate::{Error, Result};

const POSITIONS: usize = 2;

/// Positions of at most this many bytes are always sent: another message for them costs more.
const FEW: u64 = 4096;

/// The dictionary entry of a term, without postings; `None` if the segment does not have the term.
pub fn entry(segment: &Segment, term: &str) -> Result<Option<Taken>> {
    Ok(segment.find(term)?.map(|found| entry_of(&found, segment.codes().quantum)))
}

/// The posting lists of a term, with their positions if those are wanted or few; `None` if the segment does not
/// have the term.
pub fn whole(segment: &Segment, term: &str, positions: bool) -> Result<Option<Taken>> {
    let Some(found) = segment.find(term)? else { return Ok(None) };
    let length = |(_, list): &(_, lists::List)| list.ranges[POSITIONS].end - list.ranges[POSITIONS].start;
    let positions = positions || found.iter().map(length).sum::<u64>() <= FEW;
    let mut taken = Taken { positions, ..entry_of(&found, segment.codes().quantum) };
    for (_, list) in &found {
        for (component, range) in list.ranges.iter().enumerate() {
            if component != POSITIONS || positions {
                let bytes = segment.section(SECTIONS[component], range.clone())?;
                taken.components[component].extend_from_slice(bytes);
            }
        }
    }
    Ok(Some(taken))
}

/// The posting lists of terms in `documents`, which increase, in plain codes; `None` for a term that is in none of
/// them.
pub fn among(
    segment: &Segment,
    terms: &[String],
    documents: &[u32],
    positions: bool,
    plain: &Codes,
) -> Result<Vec<Option<Taken>>> {
    let folder = std::env::temp_dir();
    let mut writer = PostingsWriter::new(plain, std::array::from_fn(|_| Spool::new(&folder)));
    let mut restricted = Vec::with_capacity(terms.len());
    let mut places = Vec::new();
    for term in terms {
        let mut kept = Lists::new();
        for (zone, list) in segment.find(term)?.unwrap_or_default() {
            writer.begin(list.counted);
            let mut cursor = segment.cursor(list)?;
            for document in documents {
                if cursor.skip_to(DocId(*document))? == DocId(*document) {
                    let count = cursor.count()?;
                    if positions {
                        cursor.positions(&mut places)?;
                    } else {
                        places.clear();
                        places.extend(0..count);
                    }
                    // A document is at least as long as the term is frequent in it: a valid bound for the maxima.
                    writer.push(DocId(*document), count, &places)?;
                }
            }
            kept.extend(writer.end()?.map(|list| (zone, list)));
        }
        restricted.push(kept);
    }
    let [pointers, counts, places, skips] = writer.components;
    let mut bytes: [Vec<u8>; COMPONENTS] = Default::default();
    for (spool, bytes) in [pointers, counts, places, skips].into_iter().zip(&mut bytes) {
        spool.into_reader()?.read_to_end(bytes).map_err(Error::io(&folder))?;
    }
    let taken = |kept: Lists| {
        let of_component = |component: usize| {
            if component == POSITIONS && !positions {
                return ByteBuf::new();
            }
            let range = |(_, list): &(_, lists::List)| {
                let range = &list.ranges[component];
                &bytes[component][range.start as usize..range.end as usize]
            };
            ByteBuf::from(kept.iter().map(range).collect::<Vec<_>>().concat())
        };
        let components = std::array::from_fn(of_component);
        Taken { components, positions, plain: true, ..entry_of(&kept, plain.quantum) }
    };
    Ok(restricted.into_iter().map(|kept| (!kept.is_empty()).then(|| taken(kept))).collect())
}

fn entry_of(found: &Lists, quantum: u32) -> Taken {
    let mut entry = Vec::new();
    lists::write(found, quantum, &mut Place::default(), &mut entry);
    Taken { entry: ByteBuf::from(entry), ..Taken::default() }
}
