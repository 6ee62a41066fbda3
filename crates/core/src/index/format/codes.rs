//! Which code each component of a segment has, and how it is chosen.
//!
//! The components differ: gaps between documents follow the frequency of the term, counts are mostly one, first
//! positions are spread over the document, gaps between positions are small. Each has a code of its own from one
//! family ([`crate::codes`]), named in the settings or measured: `auto` writes a sample of the collection's own
//! lists with every candidate, reads them back, and takes the one that suits the [`Preference`].

use std::panic::resume_unwind;
use std::time::Instant;

use super::template;
use crate::codes::{Code, Coder, variable_byte as number};
use crate::index::build::postings::{LEAST_RELATED, Numbers};
use crate::{Error, Result};

/// The components that have a code, in the order of [`Codes`].
pub const CODED: [&str; 4] = ["pointers", "counts", "first positions", "position gaps"];

/// What `auto` looks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preference {
    /// The fewest bits.
    Smallest,
    /// The shortest time to decode.
    Fastest,
    /// Few bits among the fast ones.
    #[default]
    Balanced,
}

impl std::str::FromStr for Preference {
    type Err = Error;

    fn from_str(name: &str) -> Result<Preference> {
        match name {
            "smallest" => Ok(Preference::Smallest),
            "fastest" => Ok(Preference::Fastest),
            "balanced" => Ok(Preference::Balanced),
            _ => Err(Error::Invalid(format!("no such preference: {name:?} (smallest, fastest or balanced)"))),
        }
    }
}

/// The codes that the settings ask for; `None` is `auto`.
#[derive(Clone, Copy, Debug)]
pub struct CodeChoice {
    /// What `auto` looks for.
    pub prefer: Preference,
    /// The code of the pointers.
    pub pointers: Option<Code>,
    /// The code of the counts.
    pub counts: Option<Code>,
    /// The code of the positions.
    pub positions: Option<Code>,
    /// How many postings make a block.
    pub quantum: u32,
}

impl Default for CodeChoice {
    fn default() -> CodeChoice {
        let prefer = Preference::default();
        CodeChoice { prefer, pointers: None, counts: None, positions: None, quantum: QUANTUM }
    }
}

/// How many postings make a block, if nobody says otherwise.
pub const QUANTUM: u32 = 128;

/// The codes of a segment, ready to write and read.
pub struct Codes {
    /// How many postings make a block.
    pub quantum: u32,
    /// Gaps between documents.
    pub pointers: Coder,
    /// Counts.
    pub counts: Coder,
    /// The first position of each document.
    pub firsts: Coder,
    /// Gaps between positions.
    pub gaps: Coder,
}

/// A sample of lists, as the numbers that each component would write, a block at a time.
#[derive(Default)]
pub struct Sample {
    lists: [Vec<Vec<u32>>; 4],
    /// How many numbers there are in all.
    pub size: usize,
}

impl Sample {
    /// The lists of each component, in the order of [`CODED`].
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

/// A sample smaller than this says little: the codes are then those that suit most collections.
const SMALL_SAMPLE: usize = 1 << 16;

/// What one nanosecond of decoding weighs in bits, where both count: every query pays for pointers and counts, and
/// only phrases for positions.
const OFTEN: f64 = 2.0;
const SELDOM: f64 = 0.5;

/// What plain blocks take an integer on a machine that does nothing else, in nanoseconds. Times are measured beside
/// theirs, so that a busy machine chooses like an idle one.
const PLAIN: f64 = 0.3;

impl Codes {
    /// The codes for lists like those of a sample, chosen by one thread or by two.
    pub fn choose(choice: &CodeChoice, sample: &Sample, threads: usize) -> Result<Codes> {
        let [pointers, counts, firsts, gaps] = &sample.lists;
        let small = sample.size < SMALL_SAMPLE;
        let balanced = choice.prefer == Preference::Balanced;
        // The long lists that queries wait for are few in a sample, so its times flatter models: where both size and time
        // count, only first positions may have one.
        let pick = |asked: Option<Code>, lists: &[Vec<u32>], weight: f64, models: bool| match asked {
            Some(code) => Coder::train(code, lists),
            None if small && balanced => Coder::new(Code::Pfor128),
            None => measure(choice.prefer, lists, weight, !small && models),
        };
        let of_positions = || {
            let firsts = pick(choice.positions, firsts, SELDOM, true)?;
            Ok((firsts, pick(choice.positions, gaps, SELDOM, !balanced)?))
        };
        let of_postings = || {
            let pointers = pick(choice.pointers, pointers, OFTEN, !balanced)?;
            Ok((pointers, pick(choice.counts, counts, OFTEN, !balanced)?))
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

    /// Appends numbers of a component, by its place in [`CODED`].
    pub fn write(&self, component: usize, numbers: &[u32], bytes: &mut Vec<u8>) -> Result<()> {
        let coder = self.coders()[component];
        coder.write(numbers, bytes).map_err(|error| match error {
            Error::Invalid(reason) => {
                Error::Invalid(format!("the {} do not go into {}: {reason}", CODED[component], coder.code()))
            }
            other => other,
        })
    }

    /// The coders, in the order of [`CODED`].
    pub fn coders(&self) -> [&Coder; 4] {
        [&self.pointers, &self.counts, &self.firsts, &self.gaps]
    }

    /// The codes as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        number::write(self.quantum.into(), &mut bytes);
        for coder in self.coders() {
            number::write_bytes(coder.code().to_string().as_bytes(), &mut bytes);
            number::write_bytes(&coder.to_bytes(), &mut bytes);
        }
        bytes
    }

    /// The codes in such bytes; `None` where they do not decode.
    pub fn from_bytes(mut bytes: &[u8]) -> Option<Codes> {
        let quantum = number::read_u32(&mut bytes).filter(|quantum| *quantum > 0)?;
        let mut coder = || {
            let name = std::str::from_utf8(number::read_bytes(&mut bytes)?).ok()?;
            Coder::from_bytes(name.parse().ok()?, number::read_bytes(&mut bytes)?)
        };
        let (pointers, counts, firsts, gaps) = (coder()?, coder()?, coder()?, coder()?);
        Some(Codes { quantum, pointers, counts, firsts, gaps })
    }
}

/// The code that suits a preference best on these lists; a nanosecond weighs so many bits. Models are for lists that are
/// long enough to pay for them.
fn measure(prefer: Preference, lists: &[Vec<u32>], weight: f64, models: bool) -> Result<Coder> {
    let simd = Coder::new(Code::Simd128)?;
    let plain = write_all(&simd, lists).and_then(|bytes| nanoseconds(&simd, lists, &bytes)).unwrap_or(PLAIN);
    let mut best: Option<(f64, Coder)> = None;
    for code in Code::all().into_iter().filter(|code| models || *code != Code::Ans) {
        let least = best.as_ref().map_or(f64::INFINITY, |(least, _)| *least);
        let Ok(coder) = Coder::train(code, lists) else { continue };
        let Some(written) = write_all(&coder, lists) else { continue };
        let bits = written.len() as f64 * 8.0 / integers(lists);
        // What takes too many bits already need not be timed.
        if prefer != Preference::Fastest && bits >= least {
            continue;
        }
        let time = || nanoseconds(&coder, lists, &written);
        let cost = match prefer {
            Preference::Smallest => Some(bits),
            Preference::Fastest => time(),
            Preference::Balanced => time().map(|nanoseconds| bits + weight * nanoseconds * PLAIN / plain),
        };
        if let Some(cost) = cost.filter(|cost| *cost < least) {
            best = Some((cost, coder));
        }
    }
    best.map_or_else(|| Coder::new(Code::Pfor128), |(_, coder)| Ok(coder))
}

/// How many integers there are.
fn integers(lists: &[Vec<u32>]) -> f64 {
    lists.iter().map(Vec::len).sum::<usize>().max(1) as f64
}

/// The lists as a code writes them; `None` where it cannot hold them.
fn write_all(coder: &Coder, lists: &[Vec<u32>]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    lists.iter().try_for_each(|list| coder.write(list, &mut bytes)).ok()?;
    Some(bytes)
}

/// Nanoseconds to decode an integer; `None` where the bytes do not decode.
fn nanoseconds(coder: &Coder, lists: &[Vec<u32>], bytes: &[u8]) -> Option<f64> {
    let mut numbers = Vec::new();
    let mut fastest = f64::INFINITY;
    for _ in 0..2 {
        let begun = Instant::now();
        let mut rest = bytes;
        for list in lists {
            coder.read(&mut rest, list.len(), &mut numbers)?;
        }
        fastest = fastest.min(begun.elapsed().as_nanos() as f64);
    }
    Some(fastest / integers(lists))
}
