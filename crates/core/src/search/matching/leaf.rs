//! A leaf of a query on one segment: a cursor over the documents that hold one of its terms in one of its zones.
//!
//! Each list, of a term in a zone, is a stream. A leaf of a few streams looks at all of them for each document; one of
//! many, as prefixes have, keeps them in a heap by document and knows which of them stand on it: a step costs the
//! logarithm of their number for each stream that moves.

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

/// How many documents of a leaf with several lists are scored at a time.
const FEW_SCORED: usize = 64;

/// How many streams are looked at one after the other.
const FEW: usize = 4;

/// The words of some zones of each document of a segment; 65,535 stands for any more.
pub type Lengths = Arc<Vec<u16>>;

/// How a leaf scores on a segment.
pub struct Scoring {
    /// From the counts to the score.
    pub score: LeafScore,
    /// For each zone the lengths that it is scored with.
    pub lengths: [Option<Lengths>; crate::index::format::zone::ZONES],
    /// The words of all zones of the leaf, where the shape asks for them.
    pub bag: Option<Lengths>,
}

/// A cursor over the documents of a leaf; it starts on the first.
pub struct LeafCursor<'a> {
    streams: Vec<Stream<'a>>,
    document: DocId,
    shape: Shape,
    alone: Option<Alone>,
    bag: Option<Lengths>,
    /// Where there are many streams: those that do not stand on the document, by theirs, and those that do.
    elsewhere: BinaryHeap<Reverse<(DocId, u32)>>,
    here: Vec<u32>,
    scratch: Vec<u32>,
}

impl<'a> LeafCursor<'a> {
    /// A cursor over lists of a segment.
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
            cursor.alone = Some(Alone::new(only.part, cursor.shape));
        }
        if cursor.streams.len() > FEW {
            let places = cursor.streams.iter().enumerate();
            cursor.elsewhere =
                places.map(|(place, stream)| Reverse((stream.cursor.document(), place as u32))).collect();
        }
        cursor.settle();
        Ok(cursor)
    }

    /// The document under the cursor, or [`DocId::END`].
    #[inline]
    pub fn document(&self) -> DocId {
        self.document
    }

    /// At most how many documents hold the leaf.
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

    /// Moves to the first document from the current one on that is not before `target`.
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

    /// Finds the least document of all streams and, where they are many, those that stand on it.
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
        // Sums are made in one order, so that a document has one score.
        self.here.sort_unstable();
    }

    /// Calls `see` with each stream on the document under the cursor.
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

    /// What the leaf adds to the score of the document under the cursor.
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

    /// How often the leaf is in each zone of the document under the cursor, and what that adds to x.
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

    /// Scores what is left of the block under the cursor before `end`, or some of it, and moves past it.
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

    /// What the leaf scores at most in the documents from `start` to before `end` that the cursor has not passed.
    pub fn bound(&mut self, start: DocId, end: DocId) -> Result<f64> {
        if self.document >= end {
            return Ok(0.0);
        }
        let mut x = 0.0;
        for stream in &mut self.streams {
            x += stream.bound(start, end)?;
        }
        // No document is shorter than the one word that it holds.
        Ok(if x > 0.0 { above(self.shape.score(x, 1)) } else { 0.0 })
    }

    /// What the leaf scores at most from a document on, as long as no list changes its block, and the first document past
    /// that, which is always further on.
    pub fn bound_at(&mut self, document: DocId) -> Result<(f64, DocId)> {
        let mut end = DocId::END;
        for stream in &mut self.streams {
            if let Some((Some(_), last)) = stream.cursor.maxima_at(document) {
                end = end.min(DocId(last.0.saturating_add(1)));
            }
        }
        // Damaged skips may name a block that ends before the document.
        let end = end.max(DocId(document.0.saturating_add(1)));
        Ok((self.bound(document, end)?, end))
    }

    /// What the leaf scores at most in any document.
    pub fn most(&mut self) -> Result<f64> {
        self.bound(DocId(0), DocId::END)
    }

    /// Puts the positions of the leaf in a zone of a document into `positions`, in order and each once.
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

    /// Whether the leaf is in a zone of the document under the cursor.
    pub fn is_in(&mut self, zone: Zone) -> Result<bool> {
        let mut found = false;
        self.each_here(|stream| {
            found |= stream.zone == zone;
            Ok(())
        })?;
        Ok(found)
    }

    /// Adds what every document before `end` scores to the pool of the window that begins with `floor`, and where `MEET`
    /// says so marks the documents; moves past them.
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

    /// Marks every document before `end` that is marked `before` already, counted from `floor`, with one more; moves
    /// past them.
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

    /// Where the streams stand was changed one by one.
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

/// How many of these documents come before `end`.
#[inline]
fn within(documents: &[u32], end: DocId) -> usize {
    match documents.last() {
        Some(last) if *last < end.0 => documents.len(),
        _ => documents.partition_point(|document| *document < end.0),
    }
}

#[cfg(test)]
mod tests;
