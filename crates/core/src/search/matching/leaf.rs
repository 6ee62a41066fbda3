//! A leaf of a query on one segment: a cursor over the documents that contain one of its terms in one of its
//! zones.
//!
//! Each posting list, of a term in a zone, is a stream. A leaf with a few streams checks all of them for each
//! document; one with many, as prefixes have, keeps them in a heap by document and knows which of them are on
//! the current one: a step costs the logarithm of their number for each stream that moves.

mod stream;
mod window;

pub use window::{BlockScores, Pool, WINDOW, each_set};

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use crate::Result;
use crate::index::format::lists::List;
use crate::index::{DocId, Segment, Zone};
use crate::search::score::model::{LeafScore, Shape};
use crate::search::score::{above, grain};
use stream::{Alone, Stream};

/// The number of documents of a leaf with several posting lists that are scored at a time.
const FEW_SCORED: usize = 64;

/// Up to this many streams are checked one after the other, without a heap.
const FEW: usize = 4;

/// The length of each document of a segment in some zones, in words; 65,535 stands for that or more.
pub type Lengths = Arc<Vec<u16>>;

/// The scoring of a leaf on a segment.
pub struct Scoring {
    /// The score function.
    pub score: LeafScore,
    /// For each zone, the lengths used for scoring.
    pub lengths: [Option<Lengths>; crate::index::format::zone::ZONES],
    /// The summed lengths over all zones of the leaf, if the shape needs them.
    pub bag: Option<Lengths>,
    /// Whether the leaf has a single posting list in the whole collection. This chooses the formula, so that a
    /// score does not depend, to the last bit, on the segment that the document is in.
    pub alone: bool,
}

/// A cursor over the documents of a leaf; it starts on the first.
pub struct LeafCursor<'a> {
    streams: Vec<Stream<'a>>,
    document: DocId,
    shape: Shape,
    alone: Option<Alone>,
    bag: Option<Lengths>,
    /// If there are many streams: those past the current document, by their documents, and those on it.
    elsewhere: BinaryHeap<Reverse<(DocId, u32)>>,
    here: Vec<u32>,
    scratch: Vec<u32>,
}

impl<'a> LeafCursor<'a> {
    /// A cursor over posting lists of a segment.
    pub fn new(segment: &'a Segment, lists: &[(Zone, List)], scoring: &Scoring) -> Result<LeafCursor<'a>> {
        let mut streams = Vec::with_capacity(lists.len());
        for (zone, list) in lists {
            let Some(lengths) = &scoring.lengths[*zone as usize] else { continue };
            let part = scoring.score.parts[*zone as usize];
            streams.push(Stream {
                cursor: segment.cursor(list.clone())?,
                zone: *zone,
                part,
                lengths: lengths.clone(),
            });
        }
        let mut cursor = LeafCursor {
            streams,
            document: DocId::END,
            shape: scoring.score.shape,
            alone: None,
            bag: scoring.bag.clone(),
            elsewhere: BinaryHeap::new(),
            here: Vec::new(),
            scratch: Vec::new(),
        };
        if let [only] = cursor.streams.as_slice() {
            cursor.alone = Some(match scoring.alone {
                true => Alone::new(only.part, cursor.shape),
                false => Alone::Otherwise(only.part, cursor.shape),
            });
        }
        if cursor.streams.len() > FEW {
            let places = cursor.streams.iter().enumerate();
            cursor.elsewhere =
                places.map(|(place, stream)| Reverse((stream.cursor.document(), place as u32))).collect();
        }
        cursor.settle();
        Ok(cursor)
    }

    /// The current document, or [`DocId::END`].
    #[inline]
    pub fn document(&self) -> DocId {
        self.document
    }

    /// An upper bound on the number of documents with the leaf.
    pub fn estimate(&self) -> u64 {
        self.streams.iter().map(|stream| u64::from(stream.cursor.frequency())).sum()
    }

    /// Moves to the next document.
    #[inline]
    pub fn advance(&mut self) -> Result<DocId> {
        if let [only] = self.streams.as_mut_slice() {
            self.document = only.cursor.advance()?;
            return Ok(self.document);
        }
        self.skip_to(DocId(self.document.0.saturating_add(1)))
    }

    /// Moves forward to the first document at or after `target`.
    #[inline]
    pub fn skip_to(&mut self, target: DocId) -> Result<DocId> {
        if self.document >= target {
            return Ok(self.document);
        }
        if let [only] = self.streams.as_mut_slice() {
            self.document = only.cursor.skip_to(target)?;
            return Ok(self.document);
        }
        self.skip_many(target)
    }

    fn skip_many(&mut self, target: DocId) -> Result<DocId> {
        if self.streams.len() <= FEW {
            for stream in &mut self.streams {
                stream.cursor.skip_to(target)?;
            }
        } else {
            for place in self.here.drain(..) {
                let document = self.streams[place as usize].cursor.skip_to(target)?;
                self.elsewhere.push(Reverse((document, place)));
            }
            while let Some(mut first) = self.elsewhere.peek_mut()
                && first.0.0 < target
            {
                first.0.0 = self.streams[first.0.1 as usize].cursor.skip_to(target)?;
            }
        }
        self.settle();
        Ok(self.document)
    }

    /// Finds the least document of all streams and, if they are many, the streams on it.
    fn settle(&mut self) {
        if self.streams.len() <= FEW {
            let documents = self.streams.iter().map(|stream| stream.cursor.document());
            self.document = documents.min().unwrap_or(DocId::END);
            return;
        }
        self.document = self.elsewhere.peek().map_or(DocId::END, |Reverse((document, _))| *document);
        if self.document == DocId::END {
            return;
        }
        while let Some(Reverse((document, place))) = self.elsewhere.peek().copied()
            && document == self.document
        {
            self.elsewhere.pop();
            self.here.push(place);
        }
        // Scores are summed in a fixed order, so that a document always has the same score.
        self.here.sort_unstable();
    }

    /// Calls `see` with each stream on the current document.
    #[inline]
    fn each_here(&mut self, mut see: impl FnMut(&mut Stream<'a>) -> Result<()>) -> Result<()> {
        let document = self.document;
        if self.streams.len() <= FEW {
            for stream in &mut self.streams {
                if stream.cursor.document() == document {
                    see(stream)?;
                }
            }
        } else {
            for place in &self.here {
                see(&mut self.streams[*place as usize])?;
            }
        }
        Ok(())
    }

    /// The leaf's score for the current document.
    #[inline]
    pub fn score(&mut self) -> Result<f64> {
        let document = self.document;
        let bag = &self.bag;
        let length = || bag.as_ref().map_or(0, |bag| bag[document.0 as usize]);
        if let (Some(alone), [only]) = (self.alone, self.streams.as_mut_slice()) {
            let count = only.cursor.count()?;
            return Ok(alone.score(count, only.lengths[document.0 as usize], length));
        }
        let length = length();
        let mut x = 0.0;
        self.each_here(|stream| {
            x += stream.x(document)?;
            Ok(())
        })?;
        Ok(grain(self.shape.score(x, length)))
    }

    /// The leaf's number of occurrences in each zone of the current document, and its contribution to x.
    pub fn counts(&mut self) -> Result<Vec<(Zone, u32, f64)>> {
        let document = self.document;
        let mut counts: Vec<(Zone, u32, f64)> = Vec::new();
        self.each_here(|stream| {
            let (count, x) = (stream.cursor.count()?, stream.x(document)?);
            match counts.iter_mut().find(|(zone, ..)| *zone == stream.zone) {
                Some(known) => {
                    known.1 = known.1.saturating_add(count);
                    known.2 += x;
                }
                None => counts.push((stream.zone, count, x)),
            }
            Ok(())
        })?;
        counts.sort_by_key(|(zone, ..)| *zone);
        Ok(counts)
    }

    /// Scores the rest of the current block before `end`, or part of it, and moves past it.
    pub fn score_block(&mut self, end: DocId, found: &mut BlockScores) -> Result<()> {
        found.documents.clear();
        found.scores.clear();
        let bag = self.bag.clone();
        let length = |document: usize| bag.as_ref().map_or(0, |bag| bag[document]);
        if let (Some(alone), [only]) = (self.alone, self.streams.as_mut_slice()) {
            let lengths = only.lengths.as_slice();
            let (documents, counts) = only.cursor.rest_of_block()?;
            let passed = within(documents, end);
            found.documents.extend_from_slice(&documents[..passed]);
            let score = |(document, count): (&u32, &u32)| {
                alone.score(count + 1, lengths[*document as usize], || length(*document as usize))
            };
            found.scores.extend(documents[..passed].iter().zip(counts).map(score));
            self.document = only.cursor.pass(passed)?;
            return Ok(());
        }
        while self.document < end && found.documents.len() < FEW_SCORED {
            found.documents.push(self.document.0);
            found.scores.push(self.score()?);
            self.advance()?;
        }
        Ok(())
    }

    /// An upper bound on the leaf's score in the documents from `start` to before `end` that the cursor has
    /// not passed.
    pub fn bound(&mut self, start: DocId, end: DocId) -> Result<f64> {
        if self.document >= end {
            return Ok(0.0);
        }
        let mut x = 0.0;
        for stream in &mut self.streams {
            x += stream.bound(start, end)?;
        }
        // No document is shorter than the one word it contains.
        Ok(if x > 0.0 { above(self.shape.score(x, 1)) } else { 0.0 })
    }

    /// An upper bound on the leaf's score from a document on, valid until one of its posting lists reaches
    /// the end of its block, and the first document past that range, which is always greater than `document`.
    pub fn bound_at(&mut self, document: DocId) -> Result<(f64, DocId)> {
        let mut end = DocId::END;
        for stream in &mut self.streams {
            if let Some((Some(_), last)) = stream.cursor.maxima_at(document) {
                end = end.min(DocId(last.0.saturating_add(1)));
            }
        }
        // Damaged skip data may name a block that ends before the document.
        let end = end.max(DocId(document.0.saturating_add(1)));
        Ok((self.bound(document, end)?, end))
    }

    /// An upper bound on the leaf's score in any document.
    pub fn most(&mut self) -> Result<f64> {
        self.bound(DocId(0), DocId::END)
    }

    /// Fills `positions` with the leaf's positions in a zone of a document, in order and without duplicates.
    pub fn positions(&mut self, document: DocId, zone: Zone, positions: &mut Vec<u32>) -> Result<()> {
        positions.clear();
        if self.skip_to(document)? != document {
            return Ok(());
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        let mut several = false;
        self.each_here(|stream| {
            if stream.zone == zone {
                if positions.is_empty() {
                    return stream.cursor.positions(positions);
                }
                stream.cursor.positions(&mut scratch)?;
                positions.extend_from_slice(&scratch);
                several = true;
            }
            Ok(())
        })?;
        if several {
            positions.sort_unstable();
            positions.dedup();
        }
        self.scratch = scratch;
        Ok(())
    }

    /// Whether the leaf occurs in a zone of the current document.
    pub fn is_in(&mut self, zone: Zone) -> Result<bool> {
        let mut found = false;
        self.each_here(|stream| {
            found |= stream.zone == zone;
            Ok(())
        })?;
        Ok(found)
    }

    /// Adds the scores of all documents before `end` to the pool of the window that begins at `floor` and, if
    /// `MEET`, marks the documents; moves past them.
    pub fn pour<const MEET: bool>(&mut self, floor: DocId, end: DocId, pool: &mut Pool) -> Result<()> {
        let (shape, bag) = (self.shape, self.bag.clone());
        let length = |document: usize| bag.as_ref().map_or(0, |bag| bag[document]);
        let Pool { sums, xs, met } = pool;
        if let (Some(alone), [only]) = (self.alone, self.streams.as_mut_slice()) {
            let lengths = &only.lengths[floor.0 as usize..];
            while only.cursor.document() < end {
                let (documents, counts) = only.cursor.rest_of_block()?;
                let passed = within(documents, end);
                for (document, count) in documents[..passed].iter().zip(counts) {
                    let place = (document - floor.0) as usize;
                    sums[place] += alone.score(count + 1, lengths[place], || length(*document as usize));
                    if MEET {
                        met[place] = 1;
                    }
                }
                only.cursor.pass(passed)?;
            }
            self.document = only.cursor.document();
            return Ok(());
        }
        let mut touched = [0u8; WINDOW as usize];
        for stream in &mut self.streams {
            let (part, lengths) = (stream.part, &stream.lengths[floor.0 as usize..]);
            while stream.cursor.document() < end {
                let (documents, counts) = stream.cursor.rest_of_block()?;
                let passed = within(documents, end);
                for (document, count) in documents[..passed].iter().zip(counts) {
                    let place = (document - floor.0) as usize;
                    xs[place] += part.of(count + 1, lengths[place]);
                    touched[place] = 1;
                }
                stream.cursor.pass(passed)?;
            }
        }
        each_set(&touched, |place| {
            let x = std::mem::take(&mut xs[place]);
            sums[place] += grain(shape.score(x, length(floor.0 as usize + place)));
            met[place] = 1;
            Ok(())
        })?;
        self.gather_anew();
        Ok(())
    }

    /// Increments the mark of every document before `end`, counted from `floor`, whose mark is `before`;
    /// moves past them.
    pub fn mark(
        &mut self,
        floor: DocId,
        end: DocId,
        before: u8,
        marks: &mut [u8; WINDOW as usize],
    ) -> Result<()> {
        for stream in &mut self.streams {
            while stream.cursor.document() < end {
                let documents = stream.cursor.documents_of_block();
                let passed = within(documents, end);
                for document in &documents[..passed] {
                    let mark = &mut marks[(document - floor.0) as usize];
                    *mark = if *mark == before { before + 1 } else { *mark };
                }
                stream.cursor.pass(passed)?;
            }
        }
        self.gather_anew();
        Ok(())
    }

    /// Restores the heap after the streams were moved individually.
    fn gather_anew(&mut self) {
        if self.streams.len() > FEW {
            self.here.clear();
            self.elsewhere.clear();
            let places = self.streams.iter().enumerate();
            self.elsewhere
                .extend(places.map(|(place, stream)| Reverse((stream.cursor.document(), place as u32))));
        }
        self.settle();
    }
}

/// The number of these documents before `end`.
#[inline]
fn within(documents: &[u32], end: DocId) -> usize {
    match documents.last() {
        Some(last) if *last < end.0 => documents.len(),
        _ => documents.partition_point(|document| *document < end.0),
    }
}

#[cfg(test)]
mod tests;
