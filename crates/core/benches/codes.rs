//! The cost of every code on lists like those of an index, beside dsi-bitstream on the same numbers, in
//! alternation: `cargo bench --bench codes` prints a line of JSON for each code and kind of list. The time is
//! CPU time, so that other load on the machine matters little.
//!
//! The numbers are synthetic: gaps between documents are geometric with a different mean for each list and
//! bursts in which they are much smaller; counts minus one and gaps between positions have heavy tails.

use std::hint::black_box;

use crivello_core::codes::{Code, Coder};
use dsi_bitstream::prelude::{
    BitWrite, BufBitReader, BufBitWriter, DeltaRead, DeltaWrite, GammaRead, GammaWrite, LE, MemWordReader,
    MemWordWriterVec, OmegaRead, OmegaWrite, ZetaRead, ZetaWrite,
};

/// The fastest of this many runs counts.
const TURNS: usize = 25;
const LISTS: usize = 2000;

type Peer<'a> = BufBitReader<LE, MemWordReader<u32, &'a [u32]>>;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut random = Random(88_172_645_463_325_252);
    let kinds: [(&str, usize, Draw); 3] =
        [("gaps", 128, Random::gap), ("counts", 128, Random::count), ("positions", 512, Random::position)];
    for (kind, length, draw) in kinds {
        let list = |random: &mut Random| {
            let mean = (random.even() * 10.0).exp2();
            (0..length).map(|_| draw(random, mean)).collect()
        };
        let lists: Vec<Vec<u32>> = (0..LISTS).map(|_| list(&mut random)).collect();
        for code in Code::all() {
            let Cost { bits, encode, decode, peer } = measure(code, &lists)?;
            let peer = peer.map_or("null".to_owned(), |peer| format!("{peer:.4}"));
            println!(
                "{{\"kind\": \"{kind}\", \"code\": \"{code}\", \"bits\": {bits:.4}, \"encode\": {encode:.4}, \
                 \"decode\": {decode:.4}, \"peer\": {peer}}}"
            );
        }
    }
    Ok(())
}

/// The cost of a code on some lists, per number.
struct Cost {
    bits: f64,
    /// Nanoseconds to encode, to decode, and for the peer to decode.
    encode: f64,
    decode: f64,
    peer: Option<f64>,
}

fn measure(code: Code, lists: &[Vec<u32>]) -> Result<Cost, Box<dyn std::error::Error>> {
    let coder = Coder::train(code, &lists[..lists.len() / 8])?;
    let numbers: usize = lists.iter().map(Vec::len).sum();
    let each = 1e9 / numbers as f64;
    let mut bytes = Vec::new();
    let mut encode = f64::INFINITY;
    for _ in 0..TURNS / 5 {
        bytes.clear();
        let started = seconds();
        for list in lists {
            coder.write(list, &mut bytes)?;
        }
        encode = encode.min(seconds() - started);
    }
    let words = by_peer(code, lists)?;
    let (mut decode, mut peer) = (f64::INFINITY, f64::INFINITY);
    let mut decoded = Vec::new();
    for _ in 0..TURNS {
        let started = seconds();
        let mut rest = bytes.as_slice();
        for list in lists {
            coder.read(&mut rest, list.len(), &mut decoded).ok_or("our own bytes are damaged")?;
            black_box(&decoded);
        }
        decode = decode.min(seconds() - started);
        if let Some(words) = &words {
            let started = seconds();
            let mut reader = Peer::new(MemWordReader::new(words.as_slice()));
            for list in lists {
                read_by_peer(code, &mut reader, list.len(), &mut decoded)?;
                black_box(&decoded);
            }
            peer = peer.min(seconds() - started);
            if Some(&decoded) != lists.last() {
                return Err("the peer decoded something else".into());
            }
        }
    }
    let bits = bytes.len() as f64 * 8.0 / numbers as f64;
    Ok(Cost { bits, encode: encode * each, decode: decode * each, peer: words.map(|_| peer * each) })
}

/// The numbers encoded by dsi-bitstream, one list after the other; `None` if it does not have the code.
fn by_peer(code: Code, lists: &[Vec<u32>]) -> Result<Option<Vec<u32>>, Box<dyn std::error::Error>> {
    let mut writer = BufBitWriter::<LE, _>::new(MemWordWriterVec::new(Vec::<u64>::new()));
    for number in lists.iter().flatten() {
        let number = u64::from(*number);
        match code {
            Code::Gamma => writer.write_gamma(number)?,
            Code::Delta => writer.write_delta(number)?,
            Code::Omega => writer.write_omega(number)?,
            Code::Zeta(3) => writer.write_zeta3(number)?,
            Code::Zeta(k) => writer.write_zeta(number, usize::from(k))?,
            _ => return Ok(None),
        };
    }
    writer.flush()?;
    let mut words = writer.into_inner()?.into_inner();
    // Padding for look-ahead.
    words.push(0);
    Ok(Some(words.into_iter().flat_map(|word| [word as u32, (word >> 32) as u32]).collect()))
}

fn read_by_peer(
    code: Code,
    reader: &mut Peer<'_>,
    n: usize,
    numbers: &mut Vec<u32>,
) -> Result<(), Box<dyn std::error::Error>> {
    numbers.clear();
    numbers.resize(n, 0);
    // The code is dispatched once per list, as in ours.
    match code {
        Code::Gamma => fill(numbers, || reader.read_gamma())?,
        Code::Delta => fill(numbers, || reader.read_delta())?,
        Code::Omega => fill(numbers, || reader.read_omega())?,
        Code::Zeta(3) => fill(numbers, || reader.read_zeta3())?,
        Code::Zeta(k) => fill(numbers, || reader.read_zeta(usize::from(k)))?,
        _ => {}
    }
    Ok(())
}

fn fill<E>(numbers: &mut [u32], mut read: impl FnMut() -> Result<u64, E>) -> Result<(), E> {
    for place in numbers {
        *place = read()? as u32;
    }
    Ok(())
}

/// The CPU time of this thread.
fn seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to a local variable.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

type Draw = fn(&mut Random, f64) -> u32;

/// Marsaglia's xorshift.
struct Random(u64);

impl Random {
    /// Uniform in (0, 1).
    fn even(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    fn gap(&mut self, mean: f64) -> u32 {
        let nearness = if self.even() < 0.3 { 0.1 } else { 1.4 };
        (-self.even().ln() * mean * nearness) as u32
    }

    fn count(&mut self, _mean: f64) -> u32 {
        (self.even().powf(-0.6) - 1.0).min(1e6) as u32
    }

    fn position(&mut self, _mean: f64) -> u32 {
        (60.0 * (self.even().powf(-0.7) - 1.0)).min(1e8) as u32
    }
}
