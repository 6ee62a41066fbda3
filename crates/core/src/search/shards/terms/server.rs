//! The side of the shard: a range of the terms of each generation, from a message to its answer.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde_bytes::ByteBuf;

use super::message::{Documents, Found, Message, Published};
use crate::dictionaries::{Approximate, Construction, KeyHash};
use crate::index::build::extract;
use crate::index::format::Piece;
use crate::index::format::codes::Codes;
use crate::index::format::zone::ZoneSet;
use crate::index::read::extract::Taken;
use crate::index::{Segment, SegmentFile};
use crate::search::answer::resolve::{Counted, count_in};
use crate::search::answer::suggest::alike;
use crate::search::language::tree::Pattern;
use crate::search::shards::message::{Description, decode, encode_answer};
use crate::{Error, Pulse, Result};

/// A shard of an index that is divided by terms; any number of threads may ask it.
pub struct TermShard {
    segments: Vec<(u64, Segment)>,
    plain: Codes,
    /// The dictionary that was asked for last, with the bits of its signatures.
    dictionary: Mutex<Option<(u32, Vec<u8>)>>,
}

impl TermShard {
    /// Opens the files of a shard, each with a range of the terms of a generation.
    pub fn open(folder: &Path, files: &[SegmentFile]) -> Result<TermShard> {
        let mut segments = Vec::with_capacity(files.len());
        for file in files {
            let Some((number, Piece::Terms(_))) = Piece::parse(&file.name) else {
                return Err(Error::Invalid(format!("{} is no file of a shard of terms", file.name)));
            };
            segments.push((number, file.open_terms(folder)?));
        }
        Ok(TermShard { segments, plain: Codes::plain()?, dictionary: Mutex::default() })
    }

    /// The answer to a message. An error is part of the answer; only a stop is an error here.
    pub fn answer(&self, message: &[u8], pulse: &Pulse) -> Result<Vec<u8>> {
        match decode(message) {
            Err(error) => encode_answer::<()>(Err(error)),
            Ok(Message::Describe) => encode_answer(Ok(self.describe())),
            Ok(Message::Publish(bits)) => encode_answer(self.publish(bits, pulse)),
            Ok(Message::Expand(patterns)) => encode_answer(self.expand(&patterns)),
            Ok(Message::Entries(terms)) => encode_answer(self.each(&terms, extract::entry)),
            Ok(Message::Lists(terms)) => {
                let found = terms
                    .iter()
                    .map(|(term, positions)| self.found(|segment| extract::whole(segment, term, *positions)));
                encode_answer(found.collect::<Result<Vec<Found>>>())
            }
            Ok(Message::Among(terms, documents, positions)) => {
                encode_answer(self.among(&terms, &documents, positions, pulse))
            }
            Ok(Message::Alike(start, term)) => encode_answer(self.alike(&start, &term)),
        }
    }

    fn describe(&self) -> Description {
        let mut all = Description::default();
        for (_, segment) in &self.segments {
            all.terms += segment.totals().terms;
            all.postings += segment.totals().postings;
            all.bytes += segment.bytes();
        }
        all
    }

    /// About a microsecond per term, and 16 bytes of memory while the dictionary is built.
    fn publish(&self, bits: u32, pulse: &Pulse) -> Result<Published> {
        let codes = |(number, segment): &(u64, Segment)| (*number, ByteBuf::from(segment.codes().to_bytes()));
        let segments = self.segments.iter().map(codes).collect();
        let mut known = self.dictionary.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, dictionary)) = known.as_ref().filter(|(known, _)| *known == bits) {
            return Ok(Published { segments, dictionary: ByteBuf::from(dictionary.clone()) });
        }
        let mut hashes = Vec::new();
        for (_, segment) in &self.segments {
            let mut terms = segment.terms();
            while terms.advance()? {
                if hashes.len() % (1 << 14) == 0 {
                    pulse.beat()?;
                }
                hashes.push(KeyHash::of(terms.term()));
            }
        }
        let dictionary = Approximate::build(&hashes, Construction::Fuse, bits, false, pulse)?;
        *known = Some((bits, dictionary.clone()));
        Ok(Published { segments, dictionary: ByteBuf::from(dictionary) })
    }

    fn expand(&self, patterns: &[(Pattern, u8)]) -> Result<Vec<Counted>> {
        let count = |(pattern, zones): &(Pattern, u8)| {
            let zones = ZoneSet::from_bits(*zones).unwrap_or_default();
            count_in(self.segments.iter().map(|(_, segment)| segment), pattern, zones)
        };
        patterns.iter().map(count).collect()
    }

    fn each(
        &self,
        terms: &[String],
        take: impl Fn(&Segment, &str) -> Result<Option<Taken>>,
    ) -> Result<Vec<Found>> {
        terms.iter().map(|term| self.found(|segment| take(segment, term))).collect()
    }

    fn found(&self, take: impl Fn(&Segment) -> Result<Option<Taken>>) -> Result<Found> {
        let mut found = Vec::new();
        for (index, (_, segment)) in self.segments.iter().enumerate() {
            found.extend(take(segment)?.map(|taken| (index as u32, taken)));
        }
        Ok(found)
    }

    fn among(
        &self,
        terms: &[String],
        documents: &[Documents],
        positions: bool,
        pulse: &Pulse,
    ) -> Result<Vec<Found>> {
        let mut found = vec![Found::new(); terms.len()];
        for (index, (number, segment)) in self.segments.iter().enumerate() {
            pulse.beat()?;
            let Some(of_generation) = documents.iter().find(|sent| sent.generation() == *number) else {
                continue;
            };
            let taken = extract::among(segment, terms, &of_generation.ids()?, positions, &self.plain)?;
            for (found, taken) in found.iter_mut().zip(taken) {
                found.extend(taken.map(|taken| (index as u32, taken)));
            }
        }
        Ok(found)
    }

    fn alike(&self, start: &str, term: &str) -> Result<BTreeMap<String, u64>> {
        alike(self.segments.iter().map(|(_, segment)| segment), start, term)
    }
}
