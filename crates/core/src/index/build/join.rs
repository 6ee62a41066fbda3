//! Segment merge: many segments into one, without replaced and deleted documents.
//!
//! Stored documents are copied block by block, still compressed; only a block with a dropped document is
//! rewritten. The postings go through the multiway merge ([`crate::index::build::merge`]).

use std::collections::BTreeMap;
use std::path::Path;

use super::assemble::{Assembly, assemble};
use super::phrases;
use super::source::Postings;
use super::writer::SegmentWriter;
use crate::index::format::documents::Packer;
use crate::index::format::sites::SiteNumbers;
use crate::index::format::{Card, Piece};
use crate::index::read::replaced;
use crate::index::read::replaced::Replaced;
use crate::index::read::segment::{Segment, SegmentFile};
use crate::index::{DocId, Options, Order};
use crate::{Error, Pulse, Result, Signature};

/// Merges generations of segments, from the oldest to the newest, into the generation `number`, shard by shard.
/// The old files stay. `oldest` says that no other generation is older than these, so that their tombstones can
/// be dropped. Returns the new files; none if no document is left.
pub fn join(
    folder: &Path,
    files: &[SegmentFile],
    number: u64,
    oldest: bool,
    options: &Options,
    pulse: &Pulse,
) -> Result<Vec<SegmentFile>> {
    if files.is_empty() {
        return Err(Error::Invalid("there are no segments to merge".into()));
    }
    let mut shards: BTreeMap<Piece, Vec<SegmentFile>> = BTreeMap::new();
    for file in files {
        let shard = match Piece::parse(&file.name) {
            Some((_, shard @ Piece::Shard(_))) => shard,
            _ => Piece::Whole,
        };
        shards.entry(shard).or_default().push(file.clone());
    }
    let mut joined = Vec::new();
    for (piece, files) in shards {
        joined.extend(join_shard(folder, &files, (number, piece), oldest, options, pulse)?);
    }
    Ok(joined)
}

/// Merges the segments of one shard.
fn join_shard(
    folder: &Path,
    files: &[SegmentFile],
    (number, piece): (u64, Piece),
    oldest: bool,
    options: &Options,
    pulse: &Pulse,
) -> Result<Vec<SegmentFile>> {
    let segments = SegmentFile::open_all(folder, files)?;
    let replaced = replaced::find(&segments, pulse)?;
    let mut copy = Copy {
        writer: SegmentWriter::create(folder, number, piece)?,
        cards: Vec::new(),
        sites: SiteNumbers::default(),
        packer: Packer::default(),
    };
    let mut parts = Vec::with_capacity(segments.len());
    for (segment, replaced) in segments.iter().zip(&replaced) {
        parts.push((Postings::Segment(segment), copy.documents(segment, replaced, pulse)?));
    }
    copy.end_block()?;
    let mut deleted: Vec<Signature> = Vec::new();
    if !oldest {
        for segment in &segments {
            deleted.extend(segment.deleted().collect::<Result<Vec<Signature>>>()?);
        }
        deleted.sort_unstable();
        deleted.dedup();
    }
    let Copy { writer, cards, sites, .. } = copy;
    if cards.is_empty() && deleted.is_empty() {
        return Ok(Vec::new());
    }
    let places = (0..cards.len() as u32).collect();
    let mut urls = Vec::new();
    if options.order == Order::Url {
        urls.resize(cards.len(), "".into());
        for (segment, (_, numbers)) in segments.iter().zip(&parts) {
            for (document, number) in segment.documents().zip(numbers) {
                if *number != DocId::END {
                    urls[number.0 as usize] = segment.stored(document, |stored| stored.url.into())?;
                }
            }
        }
    }
    let phrases = segments.iter().map(|segment| Ok(phrases::Source::Segment(segment.completions()?)));
    let phrases = phrases.collect::<Result<_>>()?;
    assemble(Assembly { writer, cards, sites, places, urls, parts, deleted, phrases }, options, pulse)
}

struct Copy {
    writer: SegmentWriter,
    cards: Vec<Card>,
    sites: SiteNumbers,
    packer: Packer,
}

impl Copy {
    /// Copies the live documents; returns the new id of each document.
    fn documents(&mut self, segment: &Segment, replaced: &Replaced, pulse: &Pulse) -> Result<Vec<DocId>> {
        let mut numbers = vec![DocId::END; segment.totals().documents as usize];
        let mut at: Vec<(u32, DocId)> = Vec::with_capacity(numbers.len());
        for document in segment.documents() {
            if !replaced.contains(document) {
                at.push((segment.place(document)?, document));
            }
        }
        at.sort_unstable();
        let mut kept = at.into_iter().peekable();
        for block in 0..segment.stored_blocks()? {
            pulse.beat()?;
            let places = segment.places_in(block)?;
            let mut own = Vec::new();
            while let Some(next) = kept.next_if(|(place, _)| *place < places.end) {
                own.push(next);
            }
            for (_, document) in &own {
                numbers[document.0 as usize] = DocId(self.cards.len() as u32);
                let mut card = segment.card(*document)?;
                card.facts.site = self.sites.number(segment.site_name(card.facts.site));
                self.cards.push(card);
            }
            if own.len() == places.len() {
                self.end_block()?;
                self.writer.store_packed(own.len() as u32, segment.packed(block)?)?;
                continue;
            }
            let mut own = own.into_iter().map(|(place, _)| place).peekable();
            let unpacked = segment.unpacked(block)?;
            for (place, stored) in places.zip(unpacked.documents()) {
                if own.next_if_eq(&place).is_some() {
                    let stored = stored.ok_or_else(|| segment.damaged_documents())?;
                    if let Some(block) = self.packer.push(stored) {
                        self.writer.store(&block)?;
                    }
                }
            }
            if own.next().is_some() {
                return Err(segment.damaged_documents());
            }
        }
        if kept.next().is_some() {
            return Err(segment.damaged_documents());
        }
        Ok(numbers)
    }

    fn end_block(&mut self) -> Result<()> {
        self.packer.finish().map_or(Ok(()), |block| self.writer.store(&block))
    }
}
