//! The last step to a segment, for a builder and for a merge of segments alike: the documents get their numbers, the
//! codes are chosen, the postings merged, and everything written.

use super::merge::Merge;
use super::order;
use super::source::{Postings, Source};
use super::writer::{Content, SegmentWriter};
use crate::index::format::Card;
use crate::index::format::sites::SiteNumbers;
use crate::index::read::segment::SegmentFile;
use crate::index::{DocId, Options};
use crate::{Pulse, Result, Signature};

/// What goes into a segment.
pub struct Assembly<'a> {
    /// The segment, with the documents stored in it.
    pub writer: SegmentWriter,
    /// A card for each document that is kept, in the order in which they came.
    pub cards: Vec<Card>,
    /// The sites of the cards.
    pub sites: SiteNumbers,
    /// The place of each of them among the stored documents.
    pub places: Vec<u32>,
    /// The URL of each of them, where they are ordered by it.
    pub urls: Vec<Box<str>>,
    /// Where the postings come from, and the number of each document among the cards.
    pub parts: Vec<(Postings<'a>, Vec<DocId>)>,
    /// Signatures of URLs whose documents in older segments are deleted.
    pub deleted: Vec<Signature>,
}

/// Makes the segment.
pub fn assemble(assembly: Assembly<'_>, options: &Options, pulse: &Pulse) -> Result<SegmentFile> {
    let Assembly { writer, mut cards, sites, mut places, urls, mut parts, deleted } = assembly;
    let arranged = {
        let sources = sources(&parts);
        let merge = Merge { sources: &sources, cards: &cards, in_order: true };
        order::arrange(options.order, &urls, &merge, options.threads, pulse)?
    };
    drop(urls);
    let sites = sites.into_dictionary(&mut cards);
    if let Some(arranged) = &arranged {
        // From the order in which they came to the new one, for everything that goes by documents.
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
    let stretches = merge.run(writer.folder(), &codes, options.threads.max(1), pulse)?;
    let order = if identity { &[] } else { places.as_slice() };
    let content =
        Content { cards: &cards, sites: &sites, order, stretches, codes: &codes, deleted: &deleted };
    writer.finish(content, options, pulse)
}

fn sources<'a>(parts: &'a [(Postings<'a>, Vec<DocId>)]) -> Vec<Source<'a>> {
    parts.iter().map(|(postings, numbers)| Source { postings: *postings, numbers }).collect()
}
