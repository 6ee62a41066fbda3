//! The codes of the family, by name.

use std::fmt;
use std::str::FromStr;

use crate::{Error, Result};

/// A code of the family. Its name is what [`fmt::Display`] writes and [`FromStr`] reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// `unary`.
    Unary,
    /// `gamma`: Elias's γ.
    Gamma,
    /// `delta`: Elias's δ.
    Delta,
    /// `zeta3`: Boldi and Vigna's ζ with a parameter from 1 to 63.
    Zeta(u8),
    /// `omega`: Elias's ω.
    Omega,
    /// `golomb:13`: Golomb's code of a modulus; `golomb`: of the one that is best for a list's mean.
    Golomb(Option<u64>),
    /// `rice:4`: Rice's code of a parameter below 64; `rice`: of the one that is best for a list.
    Rice(Option<u8>),
    /// `minimal:1000`: minimal binary code of the numbers below a bound, at least 2.
    Minimal(u64),
    /// `nibble`: blocks of four bits, each with a continuation bit.
    Nibble,
    /// `byte`: blocks of eight bits, each with a continuation bit.
    Byte,
    /// `nibble-prefix`: blocks of four bits, whose number stands before them.
    NibblePrefix,
    /// `byte-prefix`: blocks of eight bits, whose number stands before them.
    BytePrefix,
    /// `pfor128`: blocks of 128 numbers of one width, and exceptions.
    Pfor128,
    /// `pfor256`: blocks of 256 numbers of one width, and exceptions.
    Pfor256,
    /// `escape128`: the same as the notes have it, with escapes in place of the exceptions.
    Escape128,
    /// `escape256`: that with blocks of 256 numbers.
    Escape256,
    /// `ans`: asymmetric numeral systems with static models.
    Ans,
    /// `elias-fano`: the sums of the numbers as a monotone sequence.
    EliasFano,
    /// `simd128`: blocks of 128 numbers of the width of the largest.
    Simd128,
    /// `simd256`: blocks of 256 numbers of the width of the largest.
    Simd256,
}

impl Code {
    /// The codes that hold any list.
    pub fn all() -> Vec<Code> {
        let mut codes = vec![Code::Gamma, Code::Delta];
        codes.extend((2..=7).map(Code::Zeta));
        codes.extend([
            Code::Omega,
            Code::Golomb(None),
            Code::Rice(None),
            Code::Nibble,
            Code::Byte,
            Code::NibblePrefix,
            Code::BytePrefix,
            Code::Pfor128,
            Code::Pfor256,
            Code::Escape128,
            Code::Escape256,
            Code::Ans,
            Code::EliasFano,
            Code::Simd128,
            Code::Simd256,
        ]);
        codes
    }

    /// Whether the parameter is one that the code can have.
    pub(super) fn check(self) -> Result<Code> {
        let wrong = match self {
            Code::Zeta(0 | 64..) => "the parameter of zeta is from 1 to 63",
            Code::Golomb(Some(0)) => "the modulus of golomb is at least 1",
            Code::Rice(Some(64..)) => "the parameter of rice is at most 63",
            Code::Minimal(0 | 1) => {
                "the bound of minimal is at least 2: below it there is nothing to tell apart"
            }
            _ => return Ok(self),
        };
        Err(Error::Invalid(wrong.into()))
    }
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Code::Unary => "unary",
            Code::Gamma => "gamma",
            Code::Delta => "delta",
            Code::Zeta(k) => return write!(formatter, "zeta{k}"),
            Code::Omega => "omega",
            Code::Golomb(None) => "golomb",
            Code::Golomb(Some(modulus)) => return write!(formatter, "golomb:{modulus}"),
            Code::Rice(None) => "rice",
            Code::Rice(Some(parameter)) => return write!(formatter, "rice:{parameter}"),
            Code::Minimal(bound) => return write!(formatter, "minimal:{bound}"),
            Code::Nibble => "nibble",
            Code::Byte => "byte",
            Code::NibblePrefix => "nibble-prefix",
            Code::BytePrefix => "byte-prefix",
            Code::Pfor128 => "pfor128",
            Code::Pfor256 => "pfor256",
            Code::Escape128 => "escape128",
            Code::Escape256 => "escape256",
            Code::Ans => "ans",
            Code::EliasFano => "elias-fano",
            Code::Simd128 => "simd128",
            Code::Simd256 => "simd256",
        };
        formatter.pad(name)
    }
}

impl FromStr for Code {
    type Err = Error;

    fn from_str(name: &str) -> Result<Code> {
        let code = match name {
            "unary" => Some(Code::Unary),
            "gamma" => Some(Code::Gamma),
            "delta" => Some(Code::Delta),
            "omega" => Some(Code::Omega),
            "golomb" => Some(Code::Golomb(None)),
            "rice" => Some(Code::Rice(None)),
            "nibble" => Some(Code::Nibble),
            "byte" => Some(Code::Byte),
            "nibble-prefix" => Some(Code::NibblePrefix),
            "byte-prefix" => Some(Code::BytePrefix),
            "pfor128" => Some(Code::Pfor128),
            "pfor256" => Some(Code::Pfor256),
            "escape128" => Some(Code::Escape128),
            "escape256" => Some(Code::Escape256),
            "ans" => Some(Code::Ans),
            "elias-fano" => Some(Code::EliasFano),
            "simd128" => Some(Code::Simd128),
            "simd256" => Some(Code::Simd256),
            _ => with_parameter(name),
        };
        let unknown = || {
            Error::Invalid(format!(
                "there is no code {name:?}: the codes are unary, gamma, delta, zeta1 to zeta63, omega, golomb, \
                 golomb:MODULUS, rice, rice:PARAMETER, minimal:BOUND, nibble, byte, nibble-prefix, byte-prefix, \
                 pfor128, pfor256, escape128, escape256, ans, elias-fano, simd128 and simd256"
            ))
        };
        code.ok_or_else(unknown)?.check()
    }
}

fn with_parameter(name: &str) -> Option<Code> {
    if let Some(k) = name.strip_prefix("zeta") {
        return decimal(k).map(|k| Code::Zeta(k.min(255) as u8));
    }
    let (family, parameter) = name.split_once(':')?;
    let parameter = decimal(parameter)?;
    match family {
        "golomb" => Some(Code::Golomb(Some(parameter))),
        "rice" => Some(Code::Rice(Some(parameter.min(255) as u8))),
        "minimal" => Some(Code::Minimal(parameter)),
        _ => None,
    }
}

fn decimal(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_come_back() {
        let others = ["unary", "zeta1", "zeta63", "golomb:13", "rice:0", "rice:63", "minimal:1000"];
        let names: Vec<String> =
            Code::all().iter().map(Code::to_string).chain(others.map(String::from)).collect();
        for name in names {
            assert_eq!(name.parse::<Code>().unwrap().to_string(), name);
        }
    }

    #[test]
    fn wrong_names_are_refused() {
        for name in [
            "",
            "zeta",
            "zeta0",
            "zeta64",
            "zeta+3",
            "golomb:",
            "golomb:0",
            "golomb:-1",
            "rice:64",
            "minimal:1",
            "minimal",
            "gamma:2",
            "Gamma",
            "golomb:99999999999999999999",
        ] {
            assert!(matches!(name.parse::<Code>(), Err(Error::Invalid(_))), "{name}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_name_or_refused(name in "[a-z0-9:-]{0,12}") {
            if let Ok(code) = name.parse::<Code>() {
                prop_assert_eq!(code.to_string().parse::<Code>().unwrap(), code);
            }
        }
    }
}
