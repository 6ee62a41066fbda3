//! Layouts: which bits lead in each table, such that no pair within k bits is missed.
//!
//! Cut b bits into m blocks. There are three families:
//!
//! ```text
//! chosen   m > k blocks: k bits touch at most k of them, so m − k blocks agree. A table for every choice of m − k
//!          blocks: C(m, k) tables, each with about b (m − k)/m bits that agree. 64 bits and k = 3: 4 tables with 16
//!          bits, 10 with 25, 20 with 31.
//! nested   k + 1 blocks, of which one agrees; then the rest is cut into k + 1 blocks, of which one agrees:
//!          (k + 1)² tables. 64 bits and k = 3: 16 with 28.
//! near     m ≤ k + 1 blocks and a radius rᵢ for each with Σ (rᵢ + 1) = k + 1: if every block i had more than rᵢ
//!          differences, there were more than k. m tables; a search probes every prefix within the radius, Σ C(p, j)
//!          over j ≤ rᵢ of them. 64 bits and k = 5: 3 tables with 21 bits, and radius 1.
//! ```
//!
//! What a layout costs with n fingerprints, t tables and p leading bits, of which the directory of an in-memory table
//! resolves d = min(p, ⌊log₂ n⌋ − 1):
//!
//! ```text
//! time     Σ probes · (probe + candidate · n/2^d), with the probes above, in nanoseconds
//! bytes    8 t + 4
//! cost     time + byte · bytes
//! ```
//!
//! The constants are in [`Costs`]. Where searches are within fewer bits the more fingerprints there are, times are summed over
//! several n ([`Layout::choose_growing`]). No layout that is kept has more than [`MOST_KEPT`] tables.

use super::permutation::{Permutation, Word};

/// The greatest distance that is searched.
pub const MAX_DISTANCE: u32 = 16;
/// The most tables of a layout.
const MOST_TABLES: usize = 1 << 10;
/// The most tables of a layout that is kept.
const MOST_KEPT: usize = 24;
/// The most probes of a search in a table.
const MOST_PROBES: f64 = 65_536.0;

/// What leads in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lead {
    /// The leading bits of a fingerprint.
    pub mask: u128,
    /// The most differences among them, of two fingerprints that the table is to find.
    pub radius: u32,
}

impl Lead {
    /// The number of leading bits.
    pub fn prefix(&self) -> u32 {
        self.mask.count_ones()
    }

    /// Whether two fingerprints with these different bits find each other in the table.
    #[inline]
    pub fn finds(&self, different: u128) -> bool {
        (different & self.mask).count_ones() <= self.radius
    }
}

/// What searching costs, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    /// Going to a place of a table.
    pub probe: f64,
    /// Comparing a fingerprint there.
    pub candidate: f64,
    /// What a byte a fingerprint is worth.
    pub byte: f64,
    /// Whether prefixes within a radius may be probed.
    pub radius: bool,
    /// Whether tables have a directory of log₂ n − 1 bits, or all bits of the prefix are resolved.
    pub directory: bool,
}

impl Costs {
    /// Of tables in memory: a probe is two cache misses, several of which are under way at a time.
    pub const MEMORY: Costs =
        Costs { probe: 60.0, candidate: 1.5, byte: 25.0, radius: true, directory: true };
    /// The same, where only equal prefixes are probed.
    pub const EQUAL: Costs = Costs { radius: false, directory: false, ..Costs::MEMORY };
    /// Of runs on disk, whose blocks are in the file cache: a probe searches the index and a block of each of several
    /// runs; bytes are written again at every merge.
    pub const DISK: Costs =
        Costs { probe: 200.0, candidate: 1.0, byte: 600.0, radius: true, directory: false };
}

/// Tables that find every pair within a distance.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// The width of a fingerprint.
    pub bits: u32,
    /// The distance.
    pub distance: u32,
    /// The tables.
    pub leads: Vec<Lead>,
}

impl Layout {
    /// The cheapest layout for `count` fingerprints of `bits` bits and a distance.
    pub fn choose(bits: u32, count: u64, distance: u32, costs: &Costs) -> Layout {
        Layout::choose_growing(bits, &[(count, distance)], costs)
    }

    /// The cheapest layout for fingerprints that get more, from the sum of its costs at some numbers of them, each with the
    /// distance of searches then. It finds all within the greatest of the distances.
    pub fn choose_growing(bits: u32, stages: &[(u64, u32)], costs: &Costs) -> Layout {
        let distance = stages.iter().map(|(_, distance)| *distance).max().unwrap_or(0);
        let nested = (distance > 0 && (distance + 1).pow(2) <= bits).then(|| Layout::nested(bits, distance));
        let chosen = (distance + 1..=bits).map_while(|blocks| Layout::chosen(bits, distance, blocks));
        let near = (1..=distance + 1).map(|blocks| Layout::near(bits, distance, blocks));
        let cost = |layout: &Layout| {
            let time = |(count, distance): &(u64, u32)| layout.time(*count, *distance, costs);
            stages.iter().map(time).sum::<f64>() + costs.byte * layout.bytes() as f64
        };
        near.filter(|layout| costs.radius || layout.leads.iter().all(|lead| lead.radius == 0))
            .chain(chosen)
            .chain(nested)
            .filter(|layout| layout.leads.len() <= MOST_KEPT)
            .min_by(|one, other| cost(one).total_cmp(&cost(other)))
            .unwrap_or_else(|| Layout::near(bits, distance, distance + 1))
    }

    /// A table for each choice of all but `distance` of the blocks; `None` if there would be too many.
    pub fn chosen(bits: u32, distance: u32, blocks: u32) -> Option<Layout> {
        if binomial(blocks, distance) > MOST_TABLES as f64 {
            return None;
        }
        let blocks = cut(u128::MAX >> (128 - bits), blocks);
        let mut masks = Vec::new();
        choose(&blocks, blocks.len() - distance as usize, 0, &mut masks);
        let leads = masks.into_iter().map(|mask| Lead { mask, radius: 0 }).collect();
        Some(Layout { bits, distance, leads })
    }

    /// A table for each block, and each block of the rest.
    pub fn nested(bits: u32, distance: u32) -> Layout {
        let all = u128::MAX >> (128 - bits);
        let of_block =
            |first: u128| cut(all & !first, distance + 1).into_iter().map(move |second| first | second);
        let masks = cut(all, distance + 1).into_iter().flat_map(of_block);
        Layout { bits, distance, leads: masks.map(|mask| Lead { mask, radius: 0 }).collect() }
    }

    /// A table for each of at most `distance` + 1 blocks, with a radius.
    pub fn near(bits: u32, distance: u32, blocks: u32) -> Layout {
        let (each, more) = ((distance + 1) / blocks, (distance + 1) % blocks);
        let leads = cut(u128::MAX >> (128 - bits), blocks).into_iter().enumerate();
        let radius = |block: usize| each - 1 + u32::from((block as u32) < more);
        let leads = leads.map(|(block, mask)| Lead { mask, radius: radius(block) }).collect();
        Layout { bits, distance, leads }
    }

    /// The least number of leading bits of a table.
    pub fn prefix(&self) -> u32 {
        self.leads.iter().map(Lead::prefix).min().unwrap_or(0)
    }

    /// The radius of each table in a search within a distance that is smaller than that of the layout; `None` for tables
    /// that are not needed. Tables of disjoint blocks find every pair within k bits if Σ (rᵢ + 1) > k.
    pub fn radii(&self, distance: u32) -> Vec<Option<u32>> {
        let mut probed: Vec<u32> = self.leads.iter().map(|lead| lead.radius + 1).collect();
        let union = self.leads.iter().fold(0, |union, lead| union | lead.mask);
        if union.count_ones() == self.leads.iter().map(Lead::prefix).sum::<u32>() {
            let more = probed.iter().sum::<u32>().saturating_sub(distance + 1);
            for _ in 0..more {
                if let Some(most) = probed.iter_mut().max() {
                    *most -= 1;
                }
            }
        }
        probed.into_iter().map(|probed| probed.checked_sub(1)).collect()
    }

    /// The permutation of each table.
    pub fn permutations<W: Word>(&self) -> Vec<Permutation<W>> {
        self.leads.iter().map(|lead| Permutation::leading(lead.mask, self.bits)).collect()
    }

    /// The bytes of a fingerprint in the tables, without directories.
    pub fn bytes(&self) -> u64 {
        8 * self.leads.len() as u64 + 4
    }

    /// The expected number of places where a search within a distance, at most that of the layout, looks, and of
    /// fingerprints that it compares.
    pub fn work(&self, count: u64, distance: u32, costs: &Costs) -> (f64, f64) {
        let resolved = if costs.directory { directory_bits(count) } else { u32::MAX };
        let of_lead = |(lead, radius): (&Lead, Option<u32>)| {
            let Some(radius) = radius else { return (0.0, 0.0) };
            let bits = lead.prefix().min(resolved);
            let probes: f64 = (0..=radius.min(bits)).map(|differences| binomial(bits, differences)).sum();
            (probes, probes * count as f64 / f64::from(bits).exp2())
        };
        let works = self.leads.iter().zip(self.radii(distance)).map(of_lead);
        works.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    fn time(&self, count: u64, distance: u32, costs: &Costs) -> f64 {
        let (probes, candidates) = self.work(count, distance, costs);
        if probes > MOST_PROBES {
            return f64::INFINITY;
        }
        probes * costs.probe + candidates * costs.candidate
    }
}

/// The leading bits that the directory of a table resolves: two to four entries of a table to one of the directory.
pub fn directory_bits(count: u64) -> u32 {
    (count.max(1).ilog2()).saturating_sub(1)
}

/// The ones of a mask in blocks of about equal size, from the lowest.
fn cut(mask: u128, blocks: u32) -> Vec<u128> {
    let ones: Vec<u32> = (0..128).filter(|bit| mask >> bit & 1 == 1).collect();
    let count = ones.len() as u32;
    let block = |number: u32| {
        let (start, end) = (count * number / blocks, count * (number + 1) / blocks);
        ones[start as usize..end as usize].iter().fold(0, |mask, bit| mask | 1 << bit)
    };
    (0..blocks).map(block).collect()
}

/// The unions of all choices of `count` blocks.
fn choose(blocks: &[u128], count: usize, mask: u128, masks: &mut Vec<u128>) {
    match blocks.split_first() {
        _ if count == 0 => masks.push(mask),
        Some((first, rest)) if blocks.len() >= count => {
            choose(rest, count - 1, mask | first, masks);
            choose(rest, count, mask, masks);
        }
        _ => {}
    }
}

pub fn binomial(of: u32, count: u32) -> f64 {
    (0..count).map(|place| f64::from(of - place) / f64::from(place + 1)).product()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_layouts_of_the_paper_are_chosen_as_the_number_grows() {
        let of = |log: u32| {
            let layout = Layout::choose(64, 1 << log, 3, &Costs::EQUAL);
            (layout.leads.len(), layout.prefix())
        };
        assert_eq!([20, 28, 33, 37].map(of), [(4, 16), (10, 25), (16, 28), (20, 31)]);
    }

    #[test]
    fn a_search_within_more_bits_probes_near_prefixes() {
        let of = |count: u64, distance| {
            let layout = Layout::choose(64, count, distance, &Costs::MEMORY);
            (layout.leads.len(), layout.prefix(), layout.leads.iter().map(|lead| lead.radius).max())
        };
        assert_eq!(of(10_000_000, 0), (1, 64, Some(0)));
        assert_eq!(of(10_000_000, 3), (4, 16, Some(0)));
        assert_eq!(of(10_000_000, 5), (3, 21, Some(1)));
        assert_eq!(of(10_000_000, 8), (3, 21, Some(2)));
    }

    #[test]
    fn a_layout_for_growth_does_not_compare_many_when_there_are_many() {
        let stages = [(360_000, 8), (2_600_000, 7), (22_000_000, 6), (1 << 26, 5)];
        let layout = Layout::choose_growing(64, &stages, &Costs::DISK);
        assert_eq!((layout.distance, layout.leads.len(), layout.prefix()), (8, 4, 16));
        let at_once = Layout::choose(64, 360_000, 8, &Costs::DISK);
        let candidates = |layout: &Layout| layout.work(1 << 26, 5, &Costs::DISK).1;
        assert!(candidates(&layout) < candidates(&at_once) / 2.0);
    }

    proptest! {
        #[test]
        fn no_pair_within_the_distance_is_missed(
            width in 0usize..3, distance in 0u32..=MAX_DISTANCE, flips in prop::collection::vec(0u32..128, 16),
            blocks in 1u32..20, log in 0u32..34,
        ) {
            let bits = [32, 64, 128][width];
            let distance = distance.min(bits / 4);
            let flips = &flips[..distance as usize];
            let different = flips.iter().fold(0u128, |different, flip| different ^ 1 << (flip % bits));
            let near = Layout::near(bits, distance, blocks.min(distance + 1));
            let chosen = Layout::chosen(bits, distance, distance + 1 + blocks % 3);
            let by_cost = [Costs::MEMORY, Costs::DISK, Costs::EQUAL]
                .map(|costs| Layout::choose(bits, 1 << log, distance, &costs));
            for layout in by_cost.into_iter().chain([near]).chain(chosen).chain([Layout::nested(bits, distance)]) {
                prop_assert!(layout.leads.iter().any(|lead| lead.finds(different)));
                let fewer = different.count_ones();
                let found = |(lead, radius): (&Lead, Option<u32>)| {
                    radius.is_some_and(|radius| Lead { radius, ..*lead }.finds(different))
                };
                prop_assert!(layout.leads.iter().zip(layout.radii(fewer)).any(found));
            }
        }
    }
}
