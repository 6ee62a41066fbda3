//! The codes of the family, by name.

use std::fmt;
use std::str::FromStr;

use crate::settings::Choices;
use crate::{Error, Result};

/// A code of the family. Its name is what [`fmt::Display`] writes and [`FromStr`] reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// `unary`.
    Unary,
    /// `unary-ordered`: ones and a zero, so that codewords are ordered as their numbers.
    UnaryOrdered,
    /// `gamma`: Elias's γ.
    Gamma,
    /// `delta`: Elias's δ.
    Delta,
    /// `zeta3`: Boldi and Vigna's ζ with a parameter from 1 to 63.
    Zeta(u8),
    /// `omega`: Elias's ω.
    Omega,
    /// `golomb:13`: the Golomb code of a modulus; `golomb`: of the optimal one for a list's mean.
    Golomb(Option<u64>),
    /// `golomb-of:1000`: the Golomb code of the modulus for n numbers out of so many, n the length of a list.
    GolombOf(u64),
    /// `rice:4`: the Rice code of a parameter below 64; `rice`: of the optimal one for a list.
    Rice(Option<u8>),
    /// `minimal:1000`: minimal binary code of the numbers below a bound, at least 2.
    Minimal(u64),
    /// `nibble`: blocks of four bits, each with a continuation bit.
    Nibble,
    /// `byte`: blocks of eight bits, each with a continuation bit.
    Byte,
    /// `nibble-prefix`: blocks of four bits, preceded by their number.
    NibblePrefix,
    /// `byte-prefix`: blocks of eight bits, preceded by their number.
    BytePrefix,
    /// `pfor128`: blocks of 128 numbers of one width, and exceptions.
    Pfor128,
    /// `pfor256`: blocks of 256 numbers of one width, and exceptions.
    Pfor256,
    /// `escape128`: PFOR-DELTA as in the notes, with escapes in place of the exceptions.
    Escape128,
    /// `escape256`: the same with blocks of 256 numbers.
    Escape256,
    /// `ans`: asymmetric numeral systems with static models.
    Ans,
    /// `elias-fano`: the prefix sums of the numbers as a monotone sequence.
    EliasFano,
    /// `simd128`: blocks of 128 numbers, bit-packed with the width of the largest.
    Simd128,
    /// `simd256`: blocks of 256 numbers, bit-packed with the width of the largest.
    Simd256,
}

/// The codes whose name is a word, each with what it is.
const WORDS: [(&str, Code, &str); 19] = [
    ("unary", Code::Unary, "as many bits as the number"),
    (
        "unary-ordered",
        Code::UnaryOrdered,
        "the same with ones and a zero: words in the order of their numbers",
    ),
    ("gamma", Code::Gamma, "Elias's γ"),
    ("delta", Code::Delta, "Elias's δ"),
    ("omega", Code::Omega, "Elias's ω"),
    ("golomb", Code::Golomb(None), "Golomb's code, fitted to each list"),
    ("rice", Code::Rice(None), "Rice's code, fitted to each list"),
    ("nibble", Code::Nibble, "blocks of four bits with continuation bits"),
    ("byte", Code::Byte, "blocks of eight bits with continuation bits"),
    ("nibble-prefix", Code::NibblePrefix, "blocks of four bits, their number first"),
    ("byte-prefix", Code::BytePrefix, "blocks of eight bits, their number first"),
    ("pfor128", Code::Pfor128, "blocks of 128 numbers of one width, and exceptions"),
    ("pfor256", Code::Pfor256, "blocks of 256 numbers of one width, and exceptions"),
    ("escape128", Code::Escape128, "blocks of 128 numbers of one width, and escapes"),
    ("escape256", Code::Escape256, "blocks of 256 numbers of one width, and escapes"),
    ("ans", Code::Ans, "asymmetric numeral systems with static models"),
    ("elias-fano", Code::EliasFano, "the sums of the numbers as a monotone sequence"),
    ("simd128", Code::Simd128, "blocks of 128 numbers of the width of the largest"),
    ("simd256", Code::Simd256, "blocks of 256 numbers of the width of the largest"),
];

/// How codes are written that have a parameter.
const WITH_PARAMETER: [(&str, &str); 5] = [
    ("zetaK", "Boldi and Vigna's ζ, K from 1 to 63"),
    ("golomb:M", "Golomb's code of the modulus M"),
    ("golomb-of:N", "Golomb's code of the modulus for a list of f numbers in N: p = f/N"),
    ("rice:K", "Rice's code of the parameter K, at most 63"),
    ("minimal:N", "minimal binary code of the numbers below N"),
];

impl Code {
    /// The codes that can encode any list.
    pub fn all() -> Vec<Code> {
        let words = WORDS
            .iter()
            .map(|(_, code, _)| *code)
            .filter(|code| !matches!(code, Code::Unary | Code::UnaryOrdered));
        let (before, after): (Vec<Code>, Vec<Code>) =
            words.partition(|code| matches!(code, Code::Gamma | Code::Delta));
        before.into_iter().chain((2..=7).map(Code::Zeta)).chain(after).collect()
    }

    /// How codes are written, each with what it is.
    pub fn choices() -> Choices {
        let words = WORDS.iter().map(|(name, _, description)| (*name, *description));
        words.chain(WITH_PARAMETER).map(|(name, description)| (name, description.to_owned())).collect()
    }

    /// Checks the parameter.
    pub(super) fn check(self) -> Result<Code> {
        let wrong = match self {
            Code::Zeta(0 | 64..) => "the parameter of zeta is from 1 to 63",
            Code::Golomb(Some(0)) => "the modulus of golomb is at least 1",
            Code::GolombOf(0) => "golomb-of is of at least 1",
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
        match self {
            Code::Zeta(k) => write!(formatter, "zeta{k}"),
            Code::Golomb(Some(modulus)) => write!(formatter, "golomb:{modulus}"),
            Code::GolombOf(all) => write!(formatter, "golomb-of:{all}"),
            Code::Rice(Some(parameter)) => write!(formatter, "rice:{parameter}"),
            Code::Minimal(bound) => write!(formatter, "minimal:{bound}"),
            word => {
                let name = WORDS.iter().find(|(_, code, _)| code == word).map(|(name, ..)| *name);
                formatter.pad(name.unwrap_or_default())
            }
        }
    }
}

impl FromStr for Code {
    type Err = Error;

    fn from_str(name: &str) -> Result<Code> {
        let word = WORDS.iter().find(|(known, ..)| *known == name).map(|(_, code, _)| *code);
        let unknown = || {
            let names: Vec<&str> = Code::choices().iter().map(|(name, _)| *name).collect();
            Error::Invalid(format!("there is no code {name:?}: there are {}", names.join(", ")))
        };
        word.or_else(|| with_parameter(name)).ok_or_else(unknown)?.check()
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
        "golomb-of" => Some(Code::GolombOf(parameter)),
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
        let others = [
            "unary",
            "zeta1",
            "zeta63",
            "unary-ordered",
            "golomb:13",
            "golomb-of:1000",
            "rice:0",
            "rice:63",
            "minimal:1000",
        ];
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
            "golomb-of",
            "golomb-of:0",
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
