//! Verification of a segment: every checksum, and the consistency of the contents.
//!
//! A checksum shows that the bytes are those that were written; this also checks that what was written is
//! consistent, list by list. Time: about that of reading and decoding the whole segment once.

use super::segment::Segment;
use crate::index::DocId;
use crate::index::format::directory::{Section, Totals};
use crate::index::format::facts::{Column, Kind, language_tag};
use crate::index::format::maxima::Maxima;
use crate::index::format::zone::{ZONES, Zone};
use crate::{Pulse, Result};

impl Segment {
    /// Reads everything and checks it.
    pub fn verify(&self, pulse: &Pulse) -> Result<()> {
        self.verify_pages(pulse)?;
        self.verify_documents(pulse)?;
        self.verify_facts(pulse)?;
        self.verify_terms(pulse)
    }

    fn verify_documents(&self, pulse: &Pulse) -> Result<()> {
        let mut stored = 0;
        for block in 0..self.stored_blocks()? {
            pulse.beat()?;
            let places = self.places_in(block)?;
            let documents = self.unpacked(block)?.documents().flatten().count();
            if documents != places.len() {
                return Err(self.damaged_documents());
            }
            stored += documents as u64;
        }
        let mut words = [0; ZONES];
        for document in self.documents() {
            if u64::from(self.place(document)?) >= stored {
                return Err(self.damage(Section::Order, 0, "a document is not stored"));
            }
            for zone in Zone::ALL {
                words[zone as usize] += u64::from(self.words(document, zone)?);
            }
        }
        if words != self.totals().words {
            return Err(self.damage(Section::Lengths, 0, "the lengths do not sum to the total"));
        }
        Ok(())
    }

    fn verify_facts(&self, pulse: &Pulse) -> Result<()> {
        if !self.has_whole_sites() {
            return Err(self.damage(Section::Sites, 0, "the names of the sites are not in order"));
        }
        for document in self.documents() {
            if document.0.is_multiple_of(1 << 16) {
                pulse.beat()?;
            }
            let wrong = |reason: &str| Err(self.damage(Section::Facts, 0, reason));
            if self.fact(document, Column::Site) >= self.sites() as u64 {
                return wrong("a document has a site that is not there");
            }
            let language = self.fact(document, Column::Language);
            if language != 0 && !u16::try_from(language).is_ok_and(|number| !language_tag(number).is_empty())
            {
                return wrong("a document has a language that is none");
            }
            if Kind::from_number(self.fact(document, Column::Kind)).is_none() {
                return wrong("a document is of a kind that there is not");
            }
            if u32::try_from(self.fact(document, Column::Day)).is_err() {
                return wrong("a document has a day that no calendar has");
            }
        }
        Ok(())
    }

    fn verify_terms(&self, pulse: &Pulse) -> Result<()> {
        let mut terms = self.terms();
        let mut found = Totals::default();
        let mut before = Vec::new();
        while terms.advance()? {
            if found.terms.is_multiple_of(1 << 10) {
                pulse.beat()?;
            }
            let wrong = |reason: &str| Err(self.damage(Section::Terms, 0, reason));
            if found.terms > 0 && terms.term() <= before.as_slice() {
                return wrong("the terms are not in order");
            }
            before.clear();
            before.extend_from_slice(terms.term());
            let Ok(term) = std::str::from_utf8(terms.term()) else { return wrong("a term is not text") };
            if self.find(term)?.as_deref() != Some(terms.lists()) {
                return wrong("a term is not found under its rank");
            }
            found.terms += 1;
            for (zone, list) in terms.lists() {
                found.postings += u64::from(list.frequency);
                found.occurrences += self.verify_list(*zone, list.clone())?;
            }
        }
        let Totals { terms, postings, occurrences, .. } = *self.totals();
        if (found.terms, found.postings, found.occurrences) != (terms, postings, occurrences) {
            return Err(self.damage(Section::Terms, 0, "the lists do not sum to the totals"));
        }
        Ok(())
    }

    /// Checks a posting list; returns its number of occurrences.
    fn verify_list(&self, zone: Zone, list: crate::index::format::lists::List) -> Result<u64> {
        let wrong = |reason: &str| Err(self.damage(Section::Pointers, list.ranges[0].start, reason));
        let score = |count: u32, length: u32| count as f32 / (count as f32 + 1.0 + length as f32 / 100.0);
        let mut cursor = self.cursor(list.clone())?;
        let (mut postings, mut occurrences) = (0, 0);
        let mut before = None;
        let mut block: (Option<Maxima>, DocId) = (None, DocId(0));
        let mut positions = Vec::new();
        while cursor.document() != DocId::END {
            let document = cursor.document();
            if before.is_some_and(|before| document <= before) {
                return wrong("the documents of a list do not rise");
            }
            if before.is_none() || document > block.1 {
                let Some(next) = cursor.maxima_at(document) else { return wrong("a block is not found") };
                block = next;
            }
            cursor.positions(&mut positions)?;
            let words = self.words(document, zone)?;
            if !positions.is_sorted_by(|left, right| left < right) || positions.last() >= Some(&words) {
                return wrong("a position is not in its document");
            }
            let own = score(positions.len() as u32, words);
            if block.0.is_some_and(|maxima| maxima.bound(score) < own) {
                return wrong("a block is said to score less than it does");
            }
            postings += 1;
            occurrences += positions.len() as u64;
            before = Some(document);
            cursor.advance()?;
        }
        if (postings, occurrences) != (list.frequency, list.occurrences) {
            return wrong("a list has not as many postings as the dictionary says");
        }
        Ok(occurrences)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::codes::Code;
    use crate::index::build::writer::tests::{List, segment_with};
    use crate::index::format::pages::{PAGE, reseal};
    use crate::index::join;
    use crate::index::{CodeChoice, Options, Segment, SegmentFile, stats};

    fn some_lists() -> impl Strategy<Value = Vec<List>> {
        let positions = prop::collection::btree_set(0u32..3, 1..3);
        let list = prop::collection::vec((1u32..4, positions), 1..80).prop_map(|postings| {
            let mut document = 0;
            let place = |(gap, positions): (u32, std::collections::BTreeSet<u32>)| {
                document += gap;
                (document - 1, positions.into_iter().collect())
            };
            postings.into_iter().map(place).collect()
        });
        prop::collection::vec(list, 1..40)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn damage_under_right_checksums_is_read_without_harm(
            lists in some_lists(),
            code in prop::sample::select(Code::all()),
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        ) {
            let dir = tempfile::tempdir().unwrap();
            let names: Vec<String> = (0..lists.len()).map(|number| format!("term{number:03}")).collect();
            let lists: Vec<(&str, List)> = names.iter().map(String::as_str).zip(lists).collect();
            let codes = CodeChoice { pointers: Some(code), counts: Some(code), positions: Some(code), quantum: 16, ..CodeChoice::default() };
            let options = Options { codes, ..Options::default() };
            let segment = segment_with(dir.path(), &lists, &options);
            let length = segment.bytes();
            drop(segment);
            let path = dir.path().join("segment-000001.seg");
            let mut bytes = std::fs::read(&path).unwrap();
            // Everything but the header, the checksums and the directory.
            let body = bytes.len() - 4 - crate::index::format::directory::Directory::LENGTH;
            let body = body - body.div_ceil(PAGE + 4) * 4;
            for (place, byte) in damage {
                bytes[16 + place.index(body - 16)] = byte;
            }
            reseal(&mut bytes, crate::index::format::directory::Directory::LENGTH);
            std::fs::write(&path, &bytes).unwrap();
            let file = SegmentFile { name: "segment-000001.seg".into(), length };
            if let Ok(segment) = Segment::open(&path, length) {
                let _ = segment.verify(&Pulse::STEADY);
                for document in segment.documents() {
                    segment.site_name(segment.facts(document).site);
                }
                segment.sites_under("2.example");
                for name in &names {
                    if let Ok(Some(lists)) = segment.find(name) {
                        for (_, list) in lists {
                            if let Ok(mut cursor) = segment.cursor(list)
                                && cursor.skip_to(DocId(40)).is_ok_and(|document| document != DocId::END)
                            {
                                let _ = cursor.count();
                            }
                        }
                    }
                }
                let _ = stats(dir.path(), std::slice::from_ref(&file), &Pulse::STEADY);
                let _ = join(dir.path(), &[file], 2, true, &Options::default(), &Pulse::STEADY);
            }
        }
    }
}
