//! What decoding costs: a fixed table, so that whoever chooses a code by it chooses the same on every machine.
//!
//! `cargo bench --bench codes` made it, on a core of an EPYC: nanoseconds of one thread's processor time a number, the
//! fastest of 50 turns over 2,000 lists each of gaps between documents, counts and gaps between positions, beside those
//! of `simd128`, and the mean of the three kinds. In lists of less than 256 numbers the codes of 256 are those of 128,
//! so both have one cost.

use super::Code;

/// Nanoseconds a number of `simd128`.
const SIMD128: f64 = 0.2;

impl Code {
    /// About how many nanoseconds it takes to decode a number of a list.
    pub fn nanoseconds(self) -> f64 {
        let relative = match self {
            Code::Simd128 | Code::Simd256 => 1.0,
            Code::Pfor128 | Code::Pfor256 => 2.0,
            Code::Escape128 | Code::Escape256 => 5.5,
            Code::Unary | Code::Gamma => 11.5,
            Code::Rice(_) => 12.5,
            Code::Delta => 14.5,
            Code::Nibble | Code::Byte | Code::NibblePrefix | Code::BytePrefix => 15.5,
            Code::Golomb(_) | Code::Minimal(_) => 19.0,
            Code::Zeta(..=3) => 19.0,
            Code::EliasFano => 21.0,
            Code::Ans => 22.5,
            Code::Zeta(_) => 23.0,
            Code::Omega => 24.5,
        };
        relative * SIMD128
    }
}
