//! Duplicates in one pass: of each document it is said at once whether it is similar to one that was kept before; if not,
//! it is kept.
//!
//! By MinHash, the documents that were kept and share a band with a new one are its candidates, and each is verified on the
//! sets of signals, which are in a scratch file. The bands are sorted arrays of a key and the number of its document; those
//! of a new batch become one, and arrays of like size are merged, so that n keys are in O(log n) arrays, and found by
//! interpolation. By SimHash, the nearest one is looked for in permuted tables ([`Growing`]).
//!
//! Sketching, looking up and verifying use all threads; only documents of a batch that share a band with another one of it are
//! compared one after the other. Memory for each document that was kept: by MinHash 8 bytes a band (17 with the defaults) and
//! 8; by SimHash 60 to 80.

use std::fs::File;
use std::os::unix::fs::FileExt;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::discovery::{Kept, Method, Options, Sketcher, few_of, numbers_in};
use super::hamming::Growing;
use super::overlap::Overlap;
use crate::signature::interpolation::partition_from;
use crate::{Error, Pulse, Result};

/// What an array of keys is merged with: one that is at most this many times as long.
const RATIO: usize = 2;
/// The documents that a thread sketches or compares at a time.
const CHUNK: usize = 16;
/// What a SimHash of 32 bits is multiplied by to have 64: it is repeated, and distances double.
const TWICE: u64 = 1 << 32 | 1;

/// The documents that were kept.
pub struct OnePass {
    options: Options,
    seen: Seen,
    kept: u32,
}

enum Seen {
    Bands(Bands),
    Simhashes(Growing),
}

impl OnePass {
    /// For the methods that compare documents one by one: MinHash, and SimHash of at most 64 bits without verification.
    pub fn new(options: Options) -> Result<OnePass> {
        options.check()?;
        let seen = match options.method {
            Method::Minhash { .. } => Seen::Bands(Bands::new()?),
            Method::Simhash { bits: bits @ (32 | 64), distance, verify: false, .. }
                if !options.needs_frequencies() =>
            {
                Seen::Simhashes(Growing::new(distance * (u64::BITS / bits))?)
            }
            _ => return Err(Error::Invalid("this method needs the whole corpus".into())),
        };
        Ok(OnePass { options, seen, kept: 0 })
    }

    /// The number of documents that were kept.
    pub fn len(&self) -> usize {
        self.kept as usize
    }

    /// Whether none was.
    pub fn is_empty(&self) -> bool {
        self.kept == 0
    }

    /// Which of the next documents are kept.
    pub fn add<S: AsRef<str> + Sync>(&mut self, texts: &[S], pulse: &Pulse) -> Result<Vec<bool>> {
        let options = &self.options;
        let sketch = |sketcher: &mut Sketcher<'_>, text: &S| {
            pulse.beat()?;
            let mut kept = Kept::default();
            sketcher.keep(text.as_ref(), &mut kept);
            Ok(kept)
        };
        let sketched = texts.par_iter().with_min_len(CHUNK).map_init(|| Sketcher::new(options), sketch);
        let sketched: Vec<Kept> = sketched.collect::<Result<_>>()?;
        if u32::try_from(self.kept as usize + texts.len()).is_err() {
            return Err(Error::Invalid("at most 2^32 − 1 documents are kept".into()));
        }
        let is_new = match &mut self.seen {
            Seen::Bands(bands) => bands.add(&sketched, options, self.kept, pulse)?,
            Seen::Simhashes(words) => sketched
                .iter()
                .map(|kept| is_far(words, kept.simhash(), &options.method))
                .collect::<Result<_>>()?,
        };
        self.kept += is_new.iter().filter(|is_new| **is_new).count() as u32;
        Ok(is_new)
    }
}

/// Whether no SimHash is within the distance; then it is added.
fn is_far(words: &mut Growing, simhash: u128, method: &Method) -> Result<bool> {
    let Method::Simhash { bits, distance, .. } = *method else { return Ok(true) };
    let (word, times) = (simhash as u64, u64::BITS / bits);
    let word = if times == 2 { word.wrapping_mul(TWICE) } else { word };
    let is_far = words.nearest(word, distance * times)?.is_none();
    if is_far {
        words.add(word)?;
    }
    Ok(is_far)
}

/// The bands of MinHash of the documents that were kept, and their signals.
struct Bands {
    /// Arrays of keys, each in the upper half of a word above the number of its document, in order; from the largest on.
    arrays: Vec<Vec<u64>>,
    /// The signals of one after the other, and where those of each end, in bytes.
    signals: File,
    ends: Vec<u64>,
    /// Whether there is a document without signals: it has no bands.
    has_empty: bool,
}

impl Bands {
    fn new() -> Result<Bands> {
        let signals = tempfile::tempfile().map_err(Error::io(std::env::temp_dir()))?;
        Ok(Bands { arrays: Vec::new(), signals, ends: vec![0], has_empty: false })
    }

    /// Which documents of a batch are new; these are added, numbered from `first` on.
    fn add(&mut self, batch: &[Kept], options: &Options, first: u32, pulse: &Pulse) -> Result<Vec<bool>> {
        let is_known = |(buffer, overlap): &mut (Vec<u8>, Overlap), document: &Kept| {
            pulse.beat()?;
            for number in few_of(&self.with_keys(document.keys())) {
                self.read_signals(*number, buffer)?;
                if is_similar(overlap, options, document.signals(), buffer) {
                    return Ok(true);
                }
            }
            Ok(document.signals().is_empty() && self.has_empty)
        };
        let known = batch.par_iter().with_min_len(CHUNK).map_init(Default::default, is_known);
        let mut is_new: Vec<bool> =
            known.collect::<Result<Vec<bool>>>()?.iter().map(|known| !known).collect();
        self.compare_within(batch, options, &mut is_new, pulse)?;
        let (mut added, mut bytes) = (Vec::new(), Vec::new());
        let start = self.ends.last().copied().unwrap_or(0);
        let news = batch.iter().zip(&is_new).filter(|(_, is_new)| **is_new).map(|(document, _)| document);
        for (number, document) in (first..).zip(news) {
            added.extend(document.keys().map(|key| u64::from(key) << 32 | u64::from(number)));
            bytes.extend(document.signals());
            self.ends.push(start + bytes.len() as u64);
        }
        self.signals.write_all_at(&bytes, start).map_err(Error::io(std::env::temp_dir()))?;
        self.insert(added);
        Ok(is_new)
    }

    /// Takes those documents of a batch for known that are similar to a new one before them.
    fn compare_within(
        &mut self,
        batch: &[Kept],
        options: &Options,
        is_new: &mut [bool],
        pulse: &Pulse,
    ) -> Result<()> {
        let mut counts: FxHashMap<u32, u32> = FxHashMap::default();
        let news = batch.iter().zip(&*is_new).filter(|(_, is_new)| **is_new);
        news.flat_map(|(document, _)| document.keys()).for_each(|key| *counts.entry(key).or_default() += 1);
        let (mut with_key, mut overlap): (FxHashMap<u32, Vec<u32>>, _) =
            (FxHashMap::default(), Overlap::default());
        for place in 0..batch.len() {
            pulse.beat()?;
            let document = &batch[place];
            if !is_new[place] {
                continue;
            }
            if document.signals().is_empty() {
                is_new[place] = !std::mem::replace(&mut self.has_empty, true);
                continue;
            }
            let shared: Vec<u32> = document.keys().filter(|key| counts[key] > 1).collect();
            let mut candidates: Vec<u32> =
                shared.iter().filter_map(|key| with_key.get(key)).flatten().copied().collect();
            candidates.sort_unstable();
            candidates.dedup();
            let is_like = |before: &&u32| {
                is_similar(&mut overlap, options, document.signals(), batch[**before as usize].signals())
            };
            is_new[place] = few_of(&candidates).find(is_like).is_none();
            if is_new[place] {
                shared.iter().for_each(|key| with_key.entry(*key).or_default().push(place as u32));
            }
        }
        Ok(())
    }

    /// The numbers of the documents with one of some keys, each once, in order.
    fn with_keys(&self, keys: impl Iterator<Item = u32>) -> Vec<u32> {
        let mut numbers = Vec::new();
        for key in keys {
            for array in &self.arrays {
                let guess = ((u64::from(key) * array.len() as u64) >> 32) as usize;
                let start = partition_from(guess, array.len().isqrt() + 1, array.len(), |place| {
                    (array[place] >> 32) < u64::from(key)
                });
                let with_key = array[start..].iter().take_while(|entry| **entry >> 32 == u64::from(key));
                numbers.extend(with_key.map(|entry| *entry as u32));
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    fn insert(&mut self, mut added: Vec<u64>) {
        added.par_sort_unstable();
        while let Some(last) = self.arrays.pop_if(|last| last.len() <= RATIO * added.len()) {
            added = merged(&last, &added);
        }
        self.arrays.push(added);
    }

    fn read_signals(&self, number: u32, bytes: &mut Vec<u8>) -> Result<()> {
        let (start, end) = (self.ends[number as usize], self.ends[number as usize + 1]);
        bytes.resize((end - start) as usize, 0);
        self.signals.read_exact_at(bytes, start).map_err(Error::io(std::env::temp_dir()))
    }
}

fn is_similar(overlap: &mut Overlap, options: &Options, document: &[u8], before: &[u8]) -> bool {
    let (document, before) = (numbers_in(document), numbers_in(before));
    overlap.similarity(options.measure, document, before, options.threshold).is_some()
}

/// Two sorted arrays as one.
fn merged(one: &[u64], other: &[u64]) -> Vec<u64> {
    let mut all = Vec::with_capacity(one.len() + other.len());
    let (mut one, mut other) = (one.iter().copied().peekable(), other.iter().copied().peekable());
    while let (Some(first), Some(second)) = (one.peek(), other.peek()) {
        all.extend(if first <= second { one.next() } else { other.next() });
    }
    all.extend(one.chain(other));
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::duplicates::discovery::{Confirm, Linkage, WeightsName};
    use crate::duplicates::{Measure, Unit, Weights, batch, distinct, simhash};

    fn options(method: Method, measure: Measure) -> Options {
        let (confirm, linkage) = (Confirm::Ngrams, Linkage::Leader);
        Options { method, unit: Unit::Word, size: 2, threshold: 0.6, confirm, measure, linkage }
    }

    /// Texts of which many are edited copies of others, and some are empty.
    fn corpus() -> impl Strategy<Value = Vec<String>> {
        let edit = (0usize..5, 0usize..30, 0usize..40, 0usize..9);
        prop::collection::vec(edit, 1..60).prop_map(|edits| {
            let text = |(base, at, word, kind): (usize, usize, usize, usize)| {
                let mut words: Vec<String> =
                    (0..40).map(|number| format!("w{}", base * 1000 + number)).collect();
                if kind > 4 {
                    words[at] = format!("e{word}");
                    words[(at * 7) % 40] = format!("f{word}");
                }
                words.truncate([0, 30, 40][kind.min(2)]);
                words.join(" ")
            };
            edits.into_iter().map(text).collect()
        })
    }

    /// Which documents are kept by the definition.
    fn kept(count: usize, is_like: impl Fn(usize, usize) -> bool) -> Vec<bool> {
        let mut kept: Vec<usize> = Vec::new();
        let mut keep = |document: usize| {
            let is_new = !kept.iter().any(|before| is_like(document, *before));
            kept.extend(is_new.then_some(document));
            is_new
        };
        (0..count).map(&mut keep).collect()
    }

    fn found(options: Options, texts: &[String], size: usize) -> Vec<bool> {
        let mut pass = OnePass::new(options).unwrap();
        let parts = texts.chunks(size).map(|texts| pass.add(texts, &Pulse::STEADY).unwrap());
        let found = parts.collect::<Vec<_>>().concat();
        assert_eq!(pass.len(), found.iter().filter(|is_kept| **is_kept).count());
        found
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn by_minhash_is_the_definition(texts in corpus(), size in 1usize..70) {
            let options = options(Method::Minhash { bins: 256, recall: 0.999_999 }, Measure::Jaccard);
            let sets = batch::map(&texts, options.signals(), |signals| {
                distinct(signals);
                signals.clone()
            });
            let is_like = |one: usize, before: usize| {
                options.measure.of(&sets[one], &sets[before]) >= options.threshold
            };
            prop_assert_eq!(found(options.clone(), &texts, size), kept(texts.len(), is_like));
        }

        #[test]
        fn by_simhash_is_the_definition(texts in corpus(), size in 1usize..70, distance in 0u32..=8, narrow in any::<bool>()) {
            let bits = if narrow { 32 } else { 64 };
            let method = Method::Simhash { bits, distance, weights: WeightsName::Frequency, verify: false };
            let options = options(method, Measure::Jaccard);
            let hashes = batch::map(&texts, options.signals(), |signals| {
                simhash(signals, Weights::Frequency) & u64::MAX >> (64 - bits)
            });
            let is_like = |one: usize, before: usize| (hashes[one] ^ hashes[before]).count_ones() <= distance;
            prop_assert_eq!(found(options, &texts, size), kept(texts.len(), is_like));
        }
    }

    #[test]
    fn a_document_that_is_contained_in_one_before_it_goes() {
        let long: Vec<String> = (0..40).map(|word| format!("w{word}")).collect();
        let texts = [long.join(" "), long[..30].join(" ")];
        let method = Method::Minhash { bins: 256, recall: 0.999_999 };
        let options = Options { threshold: 0.8, ..options(method, Measure::Containment) };
        for size in [1, 2] {
            assert_eq!(found(options.clone(), &texts, size), [true, false]);
            assert_eq!(found(options.clone(), &[texts[1].clone(), texts[0].clone()], size), [true, true]);
        }
    }

    #[test]
    fn one_document_many_times_is_kept_once() {
        let texts = vec!["the same words again and again".to_owned(); 5_000];
        let method = Method::Minhash { bins: 128, recall: 0.99 };
        let found = found(options(method, Measure::Jaccard), &texts, 2_000);
        assert!(found[0] && !found[1..].contains(&true));
    }
}
