//! How the integer code of each component of a segment is chosen.
//!
//! A code is named in the settings or chosen by `auto`, which counts how many bits each candidate takes for a
//! sample of the collection's posting lists, and weighs them against the decoding cost per number from a
//! fixed table ([`Code::nanoseconds`]). Nothing is timed: the same lists get the same codes on every machine.

use std::panic::resume_unwind;

use serde::{Deserialize, Deserializer};

use super::postings::Numbers;
use crate::Result;
use crate::codes::{Code, Coder};
use crate::index::format::codes::Codes;
use crate::index::format::template::{self, LEAST_RELATED};
use crate::settings::{choices, named};

choices! {
    /// What `auto` optimises for.
    pub enum Preference, "preference" {
        /// Few bits among the fast codes.
        Balanced = "balanced",
        /// The fewest bits.
        Smallest = "smallest",
        /// The shortest time to decode.
        Fastest = "fastest",
    }
}

/// The section `[index.codes]` of the settings. Of codes, `None` is `auto`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodeChoice {
    /// What `auto` optimises for.
    pub(crate) prefer: Preference,
    /// The code of the pointers.
    #[serde(deserialize_with = "code")]
    pub(crate) pointers: Option<Code>,
    /// The code of the counts.
    #[serde(deserialize_with = "code")]
    pub(crate) counts: Option<Code>,
    /// The code of the positions.
    #[serde(deserialize_with = "code")]
    pub(crate) positions: Option<Code>,
    /// The number of postings per block.
    pub(crate) quantum: u32,
}

fn code<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Option<Code>, D::Error> {
    named(from, "auto")
}

#[cfg(test)]
impl Default for CodeChoice {
    fn default() -> CodeChoice {
        let prefer = Preference::Balanced;
        CodeChoice { prefer, pointers: None, counts: None, positions: None, quantum: 128 }
    }
}

/// A sample of posting lists, as the numbers that each component would write, a block at a time.
#[derive(Default)]
pub struct Sample {
    lists: [Vec<Vec<u32>>; 4],
    /// The number of integers in the sample.
    pub size: usize,
}

impl Sample {
    /// The lists of each component, in the order of [`crate::index::format::codes::CODED`].
    pub fn lists(&self) -> &[Vec<Vec<u32>>; 4] {
        &self.lists
    }

    /// Adds a block.
    pub fn push(&mut self, numbers: &Numbers) {
        let (mut firsts, mut gaps) = (Vec::new(), Vec::new());
        let related = numbers.firsts.len() >= LEAST_RELATED;
        let by_firsts = related && template::relate_firsts(&numbers.firsts, &mut firsts);
        let by_gaps = related && template::relate_gaps(&numbers.gaps, &numbers.counts, &mut gaps);
        let firsts = if by_firsts { &firsts } else { &numbers.firsts };
        let gaps = if by_gaps { &gaps } else { &numbers.gaps };
        for (lists, component) in
            self.lists.iter_mut().zip([&numbers.pointers, &numbers.counts, firsts, gaps])
        {
            if !component.is_empty() {
                self.size += component.len();
                lists.push(component.clone());
            }
        }
    }
}

type Pair = (Coder, Coder);

/// Below this sample size the codes are not chosen but default to those that suit most collections.
const SMALL_SAMPLE: usize = 1 << 16;

/// The weight of a nanosecond of decoding, in bits, if both size and time count: every query reads pointers
/// and counts, but only phrase queries read positions. First positions weigh least, because there models save
/// the most (one bit in eleven), and they are decoded once per posting, whereas a posting has several gaps.
const POSTINGS: f64 = 2.0;
const FIRSTS: f64 = 0.125;
const GAPS: f64 = 0.5;

/// The codes for posting lists like those of the sample, chosen on one thread or two.
pub fn choose(choice: &CodeChoice, sample: &Sample, threads: usize) -> Result<Codes> {
    let [pointers, counts, firsts, gaps] = &sample.lists;
    let small = sample.size < SMALL_SAMPLE;
    let balanced = choice.prefer == Preference::Balanced;
    // A model pays off on long lists, but long lists dominate query time: if both size and time count, only
    // first positions may use one.
    let pick = |asked: Option<Code>, lists: &[Vec<u32>], weight: f64, models: bool| match asked {
        Some(code) => Coder::train(code, lists),
        None if small && balanced => Coder::new(Code::Pfor128),
        None => best(choice.prefer, lists, weight, !small && models),
    };
    let of_positions = || {
        let firsts = pick(choice.positions, firsts, FIRSTS, true)?;
        Ok((firsts, pick(choice.positions, gaps, GAPS, !balanced)?))
    };
    let of_postings = || {
        let pointers = pick(choice.pointers, pointers, POSTINGS, !balanced)?;
        Ok((pointers, pick(choice.counts, counts, POSTINGS, !balanced)?))
    };
    let (positions, postings) = if threads > 1 {
        std::thread::scope(|scope| {
            let positions = scope.spawn(of_positions);
            let postings = of_postings();
            (positions.join().unwrap_or_else(|panic| resume_unwind(panic)), postings)
        })
    } else {
        (of_positions(), of_postings())
    };
    let ((firsts, gaps), (pointers, counts)): (Pair, Pair) = (positions?, postings?);
    Ok(Codes { quantum: choice.quantum, pointers, counts, firsts, gaps })
}

/// The code that suits a preference best on these lists, with a nanosecond weighing `weight` bits. `models`
/// admits codes with models, for lists long enough to pay for them.
fn best(prefer: Preference, lists: &[Vec<u32>], weight: f64, models: bool) -> Result<Coder> {
    let mut best: Option<((f64, f64), Coder)> = None;
    for code in Code::all().into_iter().filter(|code| models || *code != Code::Ans) {
        let Ok(coder) = Coder::train(code, lists) else { continue };
        // A code that cannot encode the lists is no candidate.
        let Some(bits) = bits_a_number(&coder, lists) else { continue };
        let nanoseconds = code.nanoseconds();
        let cost = match prefer {
            Preference::Smallest => (bits, nanoseconds),
            Preference::Fastest => (nanoseconds, bits),
            Preference::Balanced => (bits + weight * nanoseconds, bits),
        };
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, coder));
        }
    }
    best.map_or_else(|| Coder::new(Code::Pfor128), |(_, coder)| Ok(coder))
}

/// Mean bits per number of a code on these lists; `None` if it cannot encode them.
pub fn bits_a_number(coder: &Coder, lists: &[Vec<u32>]) -> Option<f64> {
    let numbers: usize = lists.iter().map(Vec::len).sum();
    let bits = lists.iter().try_fold(0u64, |bits, list| Some(bits + coder.bits(list).ok()?))?;
    Some(bits as f64 / numbers.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gaps between positions: small ones, and a heavy tail.
    fn gaps() -> Vec<Vec<u32>> {
        let mut random = 88_172_645_463_325_252u64;
        let mut gap = |_| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let even = ((random >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
            (60.0 * (even.powf(-0.7) - 1.0)).min(1e8) as u32
        };
        (0..200).map(|_| (0..400).map(&mut gap).collect()).collect()
    }

    #[test]
    fn balanced_pays_some_bits_for_speed() {
        let lists = gaps();
        let bits = |code| bits_a_number(&Coder::new(code).unwrap(), &lists).unwrap();
        let chosen = |prefer| best(prefer, &lists, GAPS, false).unwrap().code();
        assert!(bits(Code::Zeta(3)) < bits(Code::Pfor128) - 0.5);
        assert!(matches!(chosen(Preference::Balanced), Code::Pfor128 | Code::Pfor256));
        assert_eq!(chosen(Preference::Fastest), Code::Simd128);
        let smallest = bits(chosen(Preference::Smallest));
        assert!(Code::all().into_iter().filter(|code| *code != Code::Ans).all(|code| bits(code) >= smallest));
    }
}
