//! The cost of decoding: a fixed table, so that the choice of a code is the same on every machine.
//!
//! Measured by `cargo bench --bench codes` on one core of an EPYC: nanoseconds of CPU time per number, the
//! fastest of 50 runs over 2,000 lists each of gaps between documents, counts and gaps between positions,
//! relative to `simd128`, and averaged over the three kinds. In lists of fewer than 256 numbers the
//! 256-number codes are those of 128, so both have the same cost.

use super::Code;

/// Nanoseconds a number of `simd128`.
const SIMD128: f64 = 0.2;

impl Code {
    /// The approximate time to decode a number of a list, in nanoseconds.
    pub fn nanoseconds(self) -> f64 {
        let relative = match self {
            Code::Simd128 | Code::Simd256 => 1.0,
            Code::Pfor128 | Code::Pfor256 => 2.0,
            Code::Escape128 | Code::Escape256 => 5.5,
            Code::Unary | Code::UnaryOrdered | Code::Gamma => 11.5,
            Code::Rice(_) => 12.5,
            Code::Delta => 14.5,
            Code::Nibble | Code::Byte | Code::NibblePrefix | Code::BytePrefix => 15.5,
            Code::Golomb(_) | Code::GolombOf(_) | Code::Minimal(_) => 19.0,
            Code::Zeta(..=3) => 19.0,
            Code::EliasFano => 21.0,
            Code::Ans => 22.5,
            Code::Zeta(_) => 23.0,
            Code::Omega => 24.5,
        };
        relative * SIMD128
    }
}
