//! What the number of common fingerprints says about the similarity of two documents, before their signals are read.
//!
//! With a modulus each signal is selected with the same probability, so the similarity of the fingerprints is that of the
//! documents, give or take the deviation of a binomial; with windows an edit changes what is selected beside it, too. So half
//! the threshold is asked for, less four standard deviations: of documents with few fingerprints that is nothing.
//!
//! Documents that share one paragraph of many are candidates of each other: of 50,000 documents made of the same paragraphs
//! there were 30 million such pairs, and all but 9,000 have too few fingerprints in common.

use super::options::Options;

/// Deviations below what is expected.
const DEVIATIONS: f64 = 4.0;

/// Whether documents with these numbers of fingerprints, the later one first, may be similar.
pub fn may_be_similar(options: &Options, common: usize, document: usize, before: usize) -> bool {
    let whole = options.measure.whole(common, document, before) as f64;
    let share = options.compared_from() / 2.0;
    common as f64 >= share * whole - DEVIATIONS * (share * (1.0 - share) * whole).sqrt()
}

/// How many fingerprints each document has, and how many of them are in lists of which not all pairs are made.
pub struct Counts(Vec<[u32; 2]>);

impl Counts {
    /// Of all lists of documents with a fingerprint, each with whether all of its pairs are made.
    pub fn new<'a>(documents: usize, lists: impl Iterator<Item = (&'a [u64], bool)>) -> Counts {
        let mut counts = vec![[0; 2]; documents];
        for (list, is_whole) in lists {
            for entry in list {
                let [all, cut] = &mut counts[*entry as u32 as usize];
                *all += 1;
                *cut += u32::from(!is_whole);
            }
        }
        Counts(counts)
    }

    /// Keeps those of sorted pairs that may be similar, each once; there is one for each fingerprint that the documents have in
    /// common, but for those of lists of which not all pairs are made.
    pub fn keep_possible(&self, options: &Options, pairs: &mut Vec<u64>) {
        let mut kept = 0;
        let mut start = 0;
        while start < pairs.len() {
            let pair = pairs[start];
            let times = pairs[start..].iter().take_while(|other| **other == pair).count();
            start += times;
            let [[before, before_cut], [document, document_cut]] =
                [(pair >> 32) as u32, pair as u32].map(|number| self.0[number as usize]);
            let most = times as u32 + before_cut.min(document_cut);
            let common = most.min(before).min(document) as usize;
            if may_be_similar(options, common, document as usize, before as usize) {
                pairs[kept] = pair;
                kept += 1;
            }
        }
        pairs.truncate(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::duplicates::discovery::{Confirm, Linkage, Method};
    use crate::duplicates::{Measure, Unit};

    fn options(measure: Measure) -> Options {
        let method = Method::Fingerprint { modulus: 8, window: 1 };
        let (confirm, linkage) = (Confirm::Ngrams, Linkage::Leader);
        Options { method, unit: Unit::Word, size: 3, threshold: 0.8, confirm, measure, linkage }
    }

    #[test]
    fn few_fingerprints_say_nothing_and_many_do() {
        let jaccard = options(Measure::Jaccard);
        assert!(may_be_similar(&jaccard, 0, 5, 5));
        assert!(!may_be_similar(&jaccard, 5, 100, 100));
        assert!(may_be_similar(&jaccard, 80, 100, 100));
        assert!(may_be_similar(&options(Measure::Containment), 80, 100, 10_000));
        assert!(!may_be_similar(&options(Measure::Containment), 80, 10_000, 100));
        assert!(may_be_similar(&options(Measure::Overlap), 80, 10_000, 100));
    }

    #[test]
    fn pairs_are_kept_by_how_often_they_stand() {
        // Documents 0 and 1 have 100 fingerprints each; 2 has 100, all of them in lists that are cut.
        let (whole, cut): (Vec<u64>, Vec<u64>) = (vec![0, 1], vec![2]);
        let lists = (0..100).flat_map(|_| [(whole.as_slice(), true), (cut.as_slice(), false)]);
        let counts = Counts::new(3, lists);
        let times = |pair: u64, times: usize| std::iter::repeat_n(pair, times);
        let kept = |pairs: Vec<u64>| {
            let mut pairs = pairs;
            counts.keep_possible(&options(Measure::Jaccard), &mut pairs);
            pairs
        };
        assert_eq!(kept(times(1, 80).collect()), [1]);
        assert!(kept(times(1, 5).chain(times(2, 2)).collect()).is_empty());
        let lists = (0..100).map(|_| (&[0u64, 2][..], false));
        let counts = Counts::new(3, lists);
        let mut pairs = vec![2];
        counts.keep_possible(&options(Measure::Jaccard), &mut pairs);
        assert_eq!(pairs, [2]);
    }
}
