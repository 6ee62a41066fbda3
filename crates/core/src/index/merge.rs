//! Merging: many segments into one, without the replaced documents.
//!
//! A multiway merge: the terms come in order from a heap of one cursor a segment, and each term's lists are
//! read in the order of the segments, so the new list is in order as it is written. Every byte is read and
//! written once. Memory: 4 bytes a document for its new number, 12 for the new segment, and buffers.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;

use super::DocId;
use super::postings::Lists;
use super::replaced::{self, Replaced};
use super::segment::{Segment, SegmentFile, Terms};
use super::writer::SegmentWriter;
use crate::{Error, Pulse, Result};

/// Merges segments, given from the oldest to the newest, into the segment `number`. The old files stay.
pub fn merge(folder: &Path, files: &[SegmentFile], number: u64, pulse: &Pulse) -> Result<SegmentFile> {
    if files.is_empty() {
        return Err(Error::Invalid("there are no segments to merge".into()));
    }
    let segments = files.iter().map(|file| file.open(folder)).collect::<Result<Vec<Segment>>>()?;
    let replaced = replaced::find(&segments, pulse)?;
    let mut writer = SegmentWriter::create(folder, number)?;
    let mut numbers = Vec::with_capacity(segments.len());
    for (segment, replaced) in segments.iter().zip(&replaced) {
        numbers.push(copy_documents(segment, replaced, &mut writer, pulse)?);
    }
    merge_terms(&segments, &numbers, &mut writer, pulse)?;
    writer.finish()
}

/// Copies what is not replaced; returns the new number of each document, `END` for a replaced one.
fn copy_documents(
    segment: &Segment,
    replaced: &Replaced,
    writer: &mut SegmentWriter,
    pulse: &Pulse,
) -> Result<Vec<DocId>> {
    let mut numbers = vec![DocId::END; segment.totals().documents as usize];
    segment.scan(pulse, |document, stored| {
        if !replaced.contains(document) {
            numbers[document.0 as usize] = writer.add_document(stored, segment.words(document)?)?;
        }
        Ok(())
    })?;
    Ok(numbers)
}

/// The next term of a segment, in the order of terms and then of segments.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Head {
    term: Vec<u8>,
    segment: usize,
}

fn merge_terms(
    segments: &[Segment],
    numbers: &[Vec<DocId>],
    writer: &mut SegmentWriter,
    pulse: &Pulse,
) -> Result<()> {
    let mut terms: Vec<Terms<'_>> = segments.iter().map(Segment::terms).collect();
    let mut lists = vec![Lists::default(); segments.len()];
    let mut heads = BinaryHeap::new();
    let mut advance = |segment: usize, lists: &mut [Lists], heads: &mut BinaryHeap<Reverse<Head>>| {
        if let Some(next) = terms[segment].next() {
            let (term, next) = next?;
            lists[segment] = next;
            heads.push(Reverse(Head { term, segment }));
        }
        Ok(())
    };
    for segment in 0..segments.len() {
        advance(segment, &mut lists, &mut heads)?;
    }
    let mut count = 0u64;
    while let Some(Reverse(Head { term, segment })) = heads.pop() {
        if count.is_multiple_of(1 << 12) {
            pulse.beat()?;
        }
        count += 1;
        copy_postings(&segments[segment], std::mem::take(&mut lists[segment]), &numbers[segment], writer)?;
        advance(segment, &mut lists, &mut heads)?;
        if heads.peek().is_none_or(|Reverse(next)| next.term != term) {
            writer.end_term(&term)?;
        }
    }
    Ok(())
}

fn copy_postings(
    segment: &Segment,
    lists: Lists,
    numbers: &[DocId],
    writer: &mut SegmentWriter,
) -> Result<()> {
    let mut cursor = segment.cursor(lists)?;
    let mut positions = Vec::new();
    while cursor.document() != DocId::END {
        let number = numbers[cursor.document().0 as usize];
        if number != DocId::END {
            cursor.positions(&mut positions)?;
            writer.push(number, &positions)?;
        }
        cursor.advance()?;
    }
    Ok(())
}
