//! Index statistics: what an index contains, what each part of it costs, and what other codes would have
//! cost.

use std::collections::BTreeMap;
use std::path::Path;

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::DocId;
use super::build::choose::bits_a_number;
use super::build::merge::Merge;
use super::build::source::{Postings, Source};
use super::format::codes::CODED;
use super::format::directory::Section;
use super::format::zone::Zone;
use super::read::replaced;
use super::read::segment::{Segment, SegmentFile};
use crate::codes::{Code, Coder};
use crate::{Pulse, Result};

/// The statistics of an index.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Stats {
    /// Live documents.
    pub documents: u64,
    /// Documents that are replaced or deleted but still take space.
    pub gone: u64,
    /// Terms; a term counts once for each segment it is in.
    pub terms: u64,
    /// Terms that occur once in their segment.
    pub once: u64,
    /// Triples of term, zone and document.
    pub postings: u64,
    /// Occurrences.
    pub occurrences: u64,
    /// Tokens, postings and occurrences of each zone.
    pub zones: BTreeMap<&'static str, ZoneStats>,
    /// Bytes of each section.
    pub sections: BTreeMap<&'static str, u64>,
    /// Bytes of all segments.
    pub bytes: u64,
    /// Bits per term of the rank function, and of the signatures.
    pub rank_bits: (f64, f64),
    /// Posting lists of more than one block.
    pub skipped_lists: u64,
    /// Blocks of those lists.
    pub skipped_blocks: u64,
    /// The segments, from the oldest to the newest.
    pub segments: Vec<SegmentStats>,
    /// The components that have a code.
    pub components: Vec<ComponentStats>,
    /// Nanoseconds to decode a number with each code, from the table that `auto` uses.
    pub nanoseconds: Vec<(String, f64)>,
}

/// The statistics of a zone.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct ZoneStats {
    /// Tokens of all documents.
    pub words: u64,
    /// Pairs of term and document.
    pub postings: u64,
    /// Occurrences.
    pub occurrences: u64,
}

/// A segment.
#[derive(Clone, Debug, Serialize)]
pub struct SegmentStats {
    /// The name of its file.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// Its documents, including dead ones.
    pub documents: u64,
    /// The code of each component.
    pub codes: Vec<String>,
}

/// The actual cost of a component, and the cost with other codes.
#[derive(Clone, Debug, Serialize)]
pub struct ComponentStats {
    /// Which one.
    pub name: &'static str,
    /// The number of integers sampled.
    pub sample: u64,
    /// The entropy of their distribution, in bits per integer.
    pub entropy: f64,
    /// Bits per integer with each code; `None` if the code cannot encode them.
    pub codes: Vec<(String, Option<f64>)>,
}

/// Computes the statistics of an index.
pub fn stats(folder: &Path, files: &[SegmentFile], pulse: &Pulse) -> Result<Stats> {
    let segments = SegmentFile::open_all(folder, files)?;
    let files = files.iter().filter(|file| !file.is_of_terms());
    let replaced = replaced::find(&segments, pulse)?;
    let mut stats = Stats::default();
    let mut rank_bits = (0.0, 0.0);
    for ((segment, replaced), file) in segments.iter().zip(&replaced).zip(files) {
        let totals = segment.totals();
        stats.documents += totals.documents - replaced.count();
        stats.gone += replaced.count();
        stats.terms += totals.terms;
        stats.postings += totals.postings;
        stats.occurrences += totals.occurrences;
        stats.bytes += segment.bytes();
        for holder in segment.holders() {
            let bits = holder.ranks().bits();
            rank_bits.0 += bits.function as f64;
            rank_bits.1 += bits.signatures as f64;
        }
        for section in Section::ALL {
            *stats.sections.entry(section.name()).or_default() += segment.section_bytes(section);
        }
        for zone in Zone::ALL {
            stats.zones.entry(zone.name()).or_default().words += totals.words[zone as usize];
        }
        count_lists(segment, &mut stats, pulse)?;
        stats.segments.push(SegmentStats {
            name: file.name.clone(),
            bytes: segment.bytes(),
            documents: totals.documents,
            codes: segment.codes().coders().map(|coder| coder.code().to_string()).to_vec(),
        });
    }
    let terms = stats.terms.max(1) as f64;
    stats.rank_bits = (rank_bits.0 / terms, rank_bits.1 / terms);
    stats.components = components(&segments, pulse)?;
    stats.nanoseconds = Code::all().into_iter().map(|code| (code.to_string(), code.nanoseconds())).collect();
    Ok(stats)
}

fn count_lists(segment: &Segment, stats: &mut Stats, pulse: &Pulse) -> Result<()> {
    let quantum = segment.codes().quantum;
    let mut terms = segment.terms();
    let mut count = 0u64;
    while terms.advance()? {
        if count.is_multiple_of(1 << 14) {
            pulse.beat()?;
        }
        count += 1;
        let lists = terms.lists();
        stats.once += u64::from(lists.iter().map(|(_, list)| list.occurrences).sum::<u64>() == 1);
        for (zone, list) in lists {
            let of_zone = stats.zones.entry(zone.name()).or_default();
            of_zone.postings += u64::from(list.frequency);
            of_zone.occurrences += list.occurrences;
            if list.frequency > quantum {
                stats.skipped_lists += 1;
                stats.skipped_blocks += list.blocks(quantum) as u64;
            }
        }
    }
    Ok(())
}

/// The cost of each code on a sample of the posting lists, as if they were in one segment.
fn components(segments: &[Segment], pulse: &Pulse) -> Result<Vec<ComponentStats>> {
    let mut numbers = Vec::with_capacity(segments.len());
    let mut next = 0;
    for segment in segments {
        let own = segment.documents().map(|document| DocId(next + document.0)).collect::<Vec<_>>();
        next += own.len() as u32;
        numbers.push(own);
    }
    let sources: Vec<Source<'_>> = segments
        .iter()
        .zip(&numbers)
        .map(|(segment, numbers)| Source { postings: Postings::Segment(segment), numbers })
        .collect();
    let merge = Merge { sources: &sources, cards: &[], in_order: true };
    let quantum = segments.first().map_or(1, |segment| segment.codes().quantum);
    let sample = merge.sample(quantum, pulse)?;
    CODED.into_iter().zip(sample.lists()).map(|(name, lists)| component(name, lists, pulse)).collect()
}

fn component(name: &'static str, lists: &[Vec<u32>], pulse: &Pulse) -> Result<ComponentStats> {
    let sample: u64 = lists.iter().map(|list| list.len() as u64).sum();
    let mut codes = Vec::new();
    for code in Code::all() {
        pulse.beat()?;
        let bits = Coder::train(code, lists).ok().and_then(|coder| bits_a_number(&coder, lists));
        codes.push((code.to_string(), bits));
    }
    Ok(ComponentStats { name, sample, entropy: entropy(lists), codes })
}

/// The entropy of the distribution of the numbers, in bits.
fn entropy(lists: &[Vec<u32>]) -> f64 {
    let mut counts: FxHashMap<u32, u64> = FxHashMap::default();
    lists.iter().flatten().for_each(|number| *counts.entry(*number).or_default() += 1);
    let total = counts.values().sum::<u64>() as f64;
    let bits = counts.values().map(|count| *count as f64).map(|count| count / total * (total / count).log2());
    bits.fold(0.0, |sum, bits| sum + bits)
}
