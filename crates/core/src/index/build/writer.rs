//! Writing a segment: first the stored documents, as they arrive; then all other sections.
//!
//! The file has a temporary name until it is complete and synced; then it is renamed and its folder synced.
//! Memory: 56 bytes a document, 16 a term, and buffers.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::merge::Stretch;
use crate::codes::variable_byte as number;
use crate::dictionaries::Ranks;
use crate::disk::fault;
use crate::disk::spool::Spool;
use crate::index::Options;
use crate::index::format::codes::Codes;
use crate::index::format::directory::{Directory, SEGMENT, Section, Totals};
use crate::index::format::documents::{DocumentIndexWriter, Packed};
use crate::index::format::facts::write_facts;
use crate::index::format::lists;
use crate::index::format::lists::Place;
use crate::index::format::pages::PageWriter;
use crate::index::format::rows::write_rows;
use crate::index::format::sites::SiteNumbers;
use crate::index::format::terms::TermsWriter;
use crate::index::format::{Card, Piece};
use crate::index::read::segment::SegmentFile;
use crate::{Error, Pulse, Result, Signature};

/// A segment being written.
pub struct SegmentWriter {
    folder: PathBuf,
    number: u64,
    name: String,
    pages: PageWriter,
    index: DocumentIndexWriter,
}

/// Everything of a segment except the stored documents.
pub struct Content<'a> {
    /// A card for each document.
    pub cards: &'a [Card],
    /// The dictionary of their sites.
    pub sites: &'a [u8],
    /// The position of each document among the stored ones; empty if they are in order.
    pub order: &'a [u32],
    /// The postings, in term order.
    pub stretches: Vec<Stretch>,
    /// The codes of the postings.
    pub codes: &'a Codes,
    /// Tombstones: signatures of URLs whose documents in older segments are deleted.
    pub deleted: &'a [Signature],
    /// The parts of the section of completions.
    pub completions: Option<(Spool, Spool, [u8; 16])>,
}

impl SegmentWriter {
    /// A new segment in `folder`, or a piece of one.
    pub fn create(folder: &Path, number: u64, piece: Piece) -> Result<SegmentWriter> {
        let name = piece.name(number);
        let mut pages = PageWriter::create(&folder.join(&name))?;
        pages.append(&SEGMENT.header())?;
        let index = DocumentIndexWriter::default();
        Ok(SegmentWriter { folder: folder.to_path_buf(), number, name, pages, index })
    }

    /// Stores a block of documents.
    pub fn store(&mut self, block: &Packed) -> Result<()> {
        self.store_packed(block.documents, &block.bytes)
    }

    /// Stores a compressed block of `documents` documents.
    pub fn store_packed(&mut self, documents: u32, bytes: &[u8]) -> Result<()> {
        self.index.push(documents, bytes.len());
        self.pages.append(bytes)
    }

    /// The folder of the segment.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes the sections, with the terms in files of their own: `shards` of them, or as many as there are
    /// ranges, in order and of nearly the same size. All are durable when this returns.
    pub fn finish_by_terms(
        self,
        content: Content<'_>,
        shards: usize,
        options: &Options,
        pulse: &Pulse,
    ) -> Result<Vec<SegmentFile>> {
        let Content { stretches, codes, .. } = content;
        let (folder, number) = (self.folder.clone(), self.number);
        let documents = Content { stretches: Vec::new(), ..content };
        let mut files = vec![self.finish(documents, options, pulse)?];
        let no_sites = SiteNumbers::default().into_dictionary(&mut []);
        for (shard, stretches) in balanced(stretches, shards).into_iter().enumerate() {
            let writer = SegmentWriter::create(&folder, number, Piece::Terms(shard as u16))?;
            let terms = Content {
                cards: &[],
                sites: &no_sites,
                order: &[],
                stretches,
                codes,
                deleted: &[],
                completions: None,
            };
            files.push(writer.finish(terms, options, pulse)?);
        }
        Ok(files)
    }

    /// Writes the sections; the segment is durable when this returns.
    pub fn finish(mut self, content: Content<'_>, options: &Options, pulse: &Pulse) -> Result<SegmentFile> {
        let Content { cards, sites, order, stretches, codes, deleted, completions } = content;
        let mut totals = Totals { documents: cards.len() as u64, ..Totals::default() };
        for card in cards {
            totals.words.iter_mut().zip(card.words).for_each(|(all, own)| *all += u64::from(own));
        }
        let mut directory = Directory::default();
        let mut end =
            |section: Section, pages: &PageWriter| directory.ends[section as usize] = pages.length();
        end(Section::Documents, &self.pages);
        self.pages.append(&self.index.bytes)?;
        end(Section::DocumentIndex, &self.pages);
        let bytes: Vec<u8> = order.iter().flat_map(|place| place.to_le_bytes()).collect();
        self.pages.append(&bytes)?;
        end(Section::Order, &self.pages);
        let (components, entries): (Vec<_>, Vec<_>) =
            stretches.into_iter().map(|stretch| (stretch.components, stretch.entries)).unzip();
        let mut components: Vec<_> = components.into_iter().map(|spools| spools.map(Some)).collect();
        for (part, section) in
            [Section::Pointers, Section::Counts, Section::Positions, Section::Skips].into_iter().enumerate()
        {
            for spools in &mut components {
                pulse.beat()?;
                if let Some(spool) = spools[part].take() {
                    spool.copy_to(&mut self.pages)?;
                }
            }
            end(section, &self.pages);
        }
        let terms = self.write_terms(entries, codes.quantum, &mut totals, pulse)?;
        let hashes = terms.hashes;
        terms.terms.copy_to(&mut self.pages)?;
        end(Section::Terms, &self.pages);
        terms.index.copy_to(&mut self.pages)?;
        end(Section::TermIndex, &self.pages);
        let ranks =
            Ranks::build(&hashes, options.ranks, options.signature_bits, options.ranks_compact, pulse)?;
        drop(hashes);
        self.pages.append(&ranks)?;
        end(Section::Ranks, &self.pages);
        self.pages.append(&codes.to_bytes())?;
        end(Section::Codes, &self.pages);
        let mut lengths = Vec::new();
        write_rows(cards.iter().map(|card| card.words.map(u64::from)), &mut lengths);
        self.pages.append(&lengths)?;
        end(Section::Lengths, &self.pages);
        let bytes = |signatures: &mut dyn Iterator<Item = Signature>| -> Vec<u8> {
            signatures.flat_map(|signature| signature.0.to_le_bytes()).collect()
        };
        self.pages.append(&bytes(&mut cards.iter().map(|card| card.signature)))?;
        end(Section::Signatures, &self.pages);
        let mut facts = Vec::new();
        write_facts(cards, &mut facts);
        self.pages.append(&facts)?;
        end(Section::Facts, &self.pages);
        self.pages.append(sites)?;
        end(Section::Sites, &self.pages);
        let simhashes: Vec<u8> = cards.iter().flat_map(|card| card.facts.simhash.to_le_bytes()).collect();
        self.pages.append(&simhashes)?;
        end(Section::Simhashes, &self.pages);
        self.pages.append(&bytes(&mut deleted.iter().copied()))?;
        end(Section::Deleted, &self.pages);
        if let Some((blocks, table, totals)) = completions {
            blocks.copy_to(&mut self.pages)?;
            table.copy_to(&mut self.pages)?;
            self.pages.append(&totals)?;
        }
        end(Section::Completions, &self.pages);
        directory.totals = totals;
        fault::point("index.segment.before-sync");
        let file = self.pages.finish(&directory.encode())?;
        fault::point("index.segment.before-rename");
        let length = file.publish()?;
        fault::point("index.segment.after-rename");
        Ok(SegmentFile { name: self.name, length })
    }

    /// Joins the terms of all stretches ([`Stretch`]) into a term dictionary.
    fn write_terms(
        &self,
        entries: Vec<Spool>,
        quantum: u32,
        totals: &mut Totals,
        pulse: &Pulse,
    ) -> Result<TermsWriter> {
        let mut writer = TermsWriter::new(Spool::new(&self.folder), Spool::new(&self.folder));
        let mut place = Place::default();
        let mut lists = Vec::new();
        for spool in entries {
            pulse.beat()?;
            let mut bytes = Vec::with_capacity(spool.length() as usize);
            spool.into_reader()?.read_to_end(&mut bytes).map_err(Error::io(&self.folder))?;
            let mut rest = bytes.as_slice();
            while !rest.is_empty() {
                let broken = || Error::Invalid("the merged terms do not decode".into());
                let term = number::read_bytes(&mut rest).ok_or_else(broken)?;
                let entry = number::read_bytes(&mut rest).ok_or_else(broken)?;
                place = Place::new(place.ends);
                lists::read(&mut &*entry, quantum, &mut place, &mut lists).ok_or_else(broken)?;
                for (_, list) in &lists {
                    totals.postings += u64::from(list.frequency);
                    totals.occurrences += list.occurrences;
                }
                writer.push(term, &lists, quantum)?;
            }
        }
        writer.finish()?;
        totals.terms = writer.hashes.len() as u64;
        Ok(writer)
    }
}

/// Divides ranges of terms, which are in order, into at most `shards` groups of nearly the same number of bytes,
/// none of them empty.
fn balanced(stretches: Vec<Stretch>, shards: usize) -> Vec<Vec<Stretch>> {
    // A term that occurs once has its posting in its dictionary entry.
    let bytes = |stretch: &Stretch| {
        stretch.components.iter().map(Spool::length).sum::<u64>() + stretch.entries.length()
    };
    let total: u64 = stretches.iter().map(bytes).sum();
    let mut groups: Vec<(usize, Vec<Stretch>)> = Vec::new();
    let mut before = 0;
    for stretch in stretches.into_iter().filter(|stretch| stretch.entries.length() > 0) {
        // The shard in whose share of the bytes the middle of the range is.
        let middle = before + bytes(&stretch) / 2;
        before += bytes(&stretch);
        let shard = (u128::from(middle) * shards as u128 / u128::from(total.max(1))) as usize;
        match groups.last_mut() {
            Some((current, group)) if *current == shard => group.push(stretch),
            _ => groups.push((shard, vec![stretch])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

#[cfg(test)]
pub(crate) mod tests;
