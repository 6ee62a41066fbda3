//! A set of 32-bit numbers with their ranks: from the numbers in an edge list to nodes.
//!
//! A bitmap in pages of 2^16 numbers, allocated when they are needed: n / 8 bytes for the numbers from 0 to n − 1,
//! and at most 8 KiB for each of n numbers far apart, never more than 640 MiB. The rank of a number takes a
//! look into its page, which has the number of elements before each word.

const WORDS: usize = 1 << 10;

struct Page {
    words: [u64; WORDS],
    /// The number of elements in the words before each.
    before: [u16; WORDS],
}

/// The set.
#[derive(Default)]
pub struct Ids {
    pages: Vec<Option<Box<Page>>>,
    /// The number of elements in the pages before each, and in all; empty until [`Ids::rank_all`].
    starts: Vec<u64>,
}

impl Ids {
    /// Adds a number.
    #[inline]
    pub fn insert(&mut self, id: u32) {
        let page = (id >> 16) as usize;
        if page >= self.pages.len() {
            self.pages.resize_with(page + 1, || None);
        }
        let page =
            self.pages[page].get_or_insert_with(|| Box::new(Page { words: [0; WORDS], before: [0; WORDS] }));
        page.words[(id >> 6) as usize % WORDS] |= 1 << (id % 64);
    }

    /// Computes the ranks, once all numbers are there.
    pub fn rank_all(&mut self) {
        let mut total = 0;
        self.starts = Vec::with_capacity(self.pages.len() + 1);
        for page in &mut self.pages {
            self.starts.push(total);
            let Some(page) = page else { continue };
            let mut before = 0u32;
            for (word, place) in page.words.iter().zip(&mut page.before) {
                *place = before as u16;
                before += word.count_ones();
            }
            total += u64::from(before);
        }
        self.starts.push(total);
    }

    /// The number of elements.
    pub fn len(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Whether the elements are the numbers from 0 on.
    pub fn are_dense(&self) -> bool {
        self.iter().last().is_none_or(|last| u64::from(last) + 1 == self.len())
    }

    /// The number of elements less than an element.
    #[inline]
    pub fn rank(&self, id: u32) -> u32 {
        let Some(Some(page)) = self.pages.get((id >> 16) as usize) else { return 0 };
        let word = (id >> 6) as usize % WORDS;
        let below = page.words[word] & ((1 << (id % 64)) - 1);
        self.starts[(id >> 16) as usize] as u32 + u32::from(page.before[word]) + below.count_ones()
    }

    /// The elements, in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        let words = self.pages.iter().enumerate().filter_map(|(number, page)| Some((number, page.as_ref()?)));
        let words = words.flat_map(|(number, page)| {
            page.words
                .iter()
                .enumerate()
                .map(move |(word, bits)| ((number * WORDS + word) as u64 * 64, *bits))
        });
        words.flat_map(|(start, bits)| {
            (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| (start + bit) as u32)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::cases(48)))]
        #[test]
        fn ranks_are_positions(ids in prop::collection::btree_set(prop_oneof![0u32..200, 60_000u32..70_000, any::<u32>()], 0..200)) {
            let mut set = Ids::default();
            ids.iter().rev().for_each(|id| set.insert(*id));
            set.rank_all();
            prop_assert_eq!(set.len(), ids.len() as u64);
            prop_assert_eq!(set.iter().collect::<BTreeSet<_>>(), ids.clone());
            for (rank, id) in ids.iter().enumerate() {
                prop_assert_eq!(set.rank(*id), rank as u32);
            }
            prop_assert_eq!(set.are_dense(), ids.last().is_none_or(|last| *last as usize + 1 == ids.len()));
        }
    }
}
