//! The last step of building a segment, shared by the builder and the segment merge: assign document ids,
//! choose the codes, merge the postings, write everything.

use super::merge::Merge;
use super::order;
use super::phrases;
use super::source::{Postings, Source};
use super::writer::{Content, SegmentWriter};
use crate::index::format::Card;
use crate::index::format::sites::SiteNumbers;
use crate::index::read::segment::SegmentFile;
use crate::index::{DocId, Options};
use crate::{Pulse, Result, Signature};

/// The parts of a segment.
pub struct Assembly<'a> {
    /// The segment, with the documents stored in it.
    pub writer: SegmentWriter,
    /// One card per document that is kept, in order of arrival.
    pub cards: Vec<Card>,
    /// The sites of the cards.
    pub sites: SiteNumbers,
    /// The place of each of those documents among the stored documents.
    pub places: Vec<u32>,
    /// The URL of each of those documents, if they are ordered by URL.
    pub urls: Vec<Box<str>>,
    /// The sources of postings, each with the index into `cards` of each of its documents.
    pub parts: Vec<(Postings<'a>, Vec<DocId>)>,
    /// Tombstones: signatures of URLs whose documents in older segments are deleted.
    pub deleted: Vec<Signature>,
    /// The phrases of the documents.
    pub phrases: Vec<phrases::Source<'a>>,
}

/// Builds the segment.
pub fn assemble(assembly: Assembly<'_>, options: &Options, pulse: &Pulse) -> Result<Vec<SegmentFile>> {
    let Assembly { writer, mut cards, sites, mut places, urls, mut parts, deleted, phrases } = assembly;
    let arranged = {
        let sources = sources(&parts);
        let merge = Merge { sources: &sources, cards: &cards, in_order: true };
        order::arrange(options.order, &urls, &merge, options.threads, pulse)?
    };
    drop(urls);
    let sites = sites.into_dictionary(&mut cards);
    if let Some(arranged) = &arranged {
        // From order of arrival to the new order, for everything indexed by document.
        cards = arranged.iter().map(|old| cards[*old as usize]).collect();
        places = arranged.iter().map(|old| places[*old as usize]).collect();
        let mut new = vec![DocId::END; arranged.len()];
        arranged.iter().enumerate().for_each(|(number, old)| new[*old as usize] = DocId(number as u32));
        for number in parts.iter_mut().flat_map(|(_, numbers)| numbers) {
            if *number != DocId::END {
                *number = new[number.0 as usize];
            }
        }
    }
    let identity = places.iter().enumerate().all(|(number, place)| number as u32 == *place);
    let sources = sources(&parts);
    let merge = Merge { sources: &sources, cards: &cards, in_order: arranged.is_none() };
    let codes = merge.choose_codes(&options.codes, options.threads, pulse)?;
    let shards = options.shards_of_terms();
    let stretches = merge.run(writer.folder(), &codes, options.threads.max(1), shards, pulse)?;
    let order = if identity { &[] } else { places.as_slice() };
    let completions = phrases::write(writer.folder(), phrases, pulse)?;
    let content = Content {
        cards: &cards,
        sites: &sites,
        order,
        stretches,
        codes: &codes,
        deleted: &deleted,
        completions,
    };
    if shards > 1 {
        return writer.finish_by_terms(content, shards, options, pulse);
    }
    Ok(vec![writer.finish(content, options, pulse)?])
}

fn sources<'a>(parts: &'a [(Postings<'a>, Vec<DocId>)]) -> Vec<Source<'a>> {
    parts.iter().map(|(postings, numbers)| Source { postings: *postings, numbers }).collect()
}
