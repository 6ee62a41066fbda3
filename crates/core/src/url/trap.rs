//! Spider traps that are visible in a single URL: servers that generate URLs without end.
//!
//! A relative link that is resolved one folder too deep grows by the same segments on every page
//! (`/a/b/a/b/a/b`), and a form that appends its parameters to the existing ones grows by the same names.
//! People write neither. [`trap`] examines one URL alone, allocates nothing unless it finds a trap, and takes
//! linear time (a constant number of comparisons per segment and per parameter).

use std::fmt;

use serde::Deserialize;

use super::MAX_LENGTH;

/// The maximum length of a detected cycle, in segments.
const CYCLE: usize = 4;

/// The limits beyond which a URL is considered a trap, named as in the section `[crawl]` of the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct TrapLimits {
    /// How many repetitions of a cycle of segments, or of a parameter, make a trap.
    #[serde(rename = "max_repeats")]
    pub repeats: usize,
    /// The maximum number of path segments.
    #[serde(rename = "max_segments")]
    pub depth: usize,
    /// The maximum number of query parameters.
    #[serde(rename = "max_parameters")]
    pub parameters: usize,
}

#[cfg(test)]
impl Default for TrapLimits {
    fn default() -> TrapLimits {
        TrapLimits { repeats: 4, depth: 25, parameters: 16 }
    }
}

/// Why a URL looks like a trap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trap {
    /// Its length in bytes exceeds the limit.
    TooLong(usize),
    /// Its path has more segments than this limit.
    TooDeep(usize),
    /// Its path repeats these segments.
    Repeats(String),
    /// Its query has this many parameters.
    TooManyParameters(usize),
    /// Its query repeats this parameter.
    RepeatsParameter(String),
}

impl fmt::Display for Trap {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trap::TooLong(bytes) => write!(formatter, "it is {bytes} bytes long"),
            Trap::TooDeep(limit) => write!(formatter, "its path has more than {limit} segments"),
            Trap::Repeats(cycle) => write!(formatter, "its path repeats /{cycle}"),
            Trap::TooManyParameters(count) => write!(formatter, "its query has {count} parameters"),
            Trap::RepeatsParameter(name) => write!(formatter, "its query repeats the parameter {name}"),
        }
    }
}

/// Why a canonical URL looks like a trap, if it does.
pub fn trap(url: &str, limits: &TrapLimits) -> Option<Trap> {
    if url.len() > MAX_LENGTH {
        return Some(Trap::TooLong(url.len()));
    }
    let address = url.split_once("://").map_or(url, |(_, address)| address);
    let (place, query) = address.split_once('?').unwrap_or((address, ""));
    let path = place.split_once('/').map_or("", |(_, path)| path);
    in_path(path, limits).or_else(|| in_query(query, limits))
}

fn in_path(path: &str, limits: &TrapLimits) -> Option<Trap> {
    let mut before: [Option<&str>; CYCLE] = [None; CYCLE];
    // For each cycle length, the number of consecutive segments equal to the one that many segments before.
    let mut equal = [0; CYCLE];
    for (index, segment) in path.split('/').enumerate() {
        if index == limits.depth && !segment.is_empty() {
            return Some(Trap::TooDeep(limits.depth));
        }
        for length in 1..=CYCLE {
            let same = before[(index + CYCLE - length) % CYCLE] == Some(segment);
            equal[length - 1] = if same { equal[length - 1] + 1 } else { 0 };
            if equal[length - 1] > 0 && equal[length - 1] >= length * limits.repeats.saturating_sub(1) {
                let cycle: Vec<&str> = path.split('/').skip(index + 1 - length).take(length).collect();
                return Some(Trap::Repeats(cycle.join("/")));
            }
        }
        before[index % CYCLE] = Some(segment);
    }
    None
}

fn in_query(query: &str, limits: &TrapLimits) -> Option<Trap> {
    let parameters = || query.split('&').filter(|parameter| !parameter.is_empty());
    let count = parameters().count();
    if count > limits.parameters {
        return Some(Trap::TooManyParameters(count));
    }
    if count < limits.repeats.max(2) {
        return None;
    }
    // Only identical parameters count: a name may well recur with other values.
    let repeated = |one: &&str| parameters().filter(|other| other == one).count() >= limits.repeats.max(2);
    parameters().find(repeated).map(|parameter| Trap::RepeatsParameter(parameter.to_owned()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(rest: &str) -> Option<String> {
        trap(&format!("http://a.example{rest}"), &TrapLimits::default()).map(|trap| trap.to_string())
    }

    #[test]
    fn repeating_segments() {
        assert_eq!(found("/x/a/a/a/a").as_deref(), Some("its path repeats /a"));
        assert_eq!(found("/x/a/b/a/b/a/b/a/b/y").as_deref(), Some("its path repeats /a/b"));
        let four = "/a/b/c/d".repeat(4);
        assert_eq!(found(&four).as_deref(), Some("its path repeats /a/b/c/d"));
        for honest in ["/", "/a/a/a", "/a/b/a/b/a/b", "/a/b/c/d/a/b/c/d/a/b/c/d", "/a/x/a/y/a/z/a", "//a//b"]
        {
            assert_eq!(found(honest), None, "{honest}");
        }
    }

    #[test]
    fn deep_paths() {
        let path = |depth: usize| (0..depth).map(|number| format!("/{number}")).collect::<String>();
        assert_eq!(found(&path(25)), None);
        assert_eq!(found(&format!("{}/", path(25))), None);
        assert_eq!(found(&path(26)).as_deref(), Some("its path has more than 25 segments"));
    }

    #[test]
    fn many_parameters() {
        let query = |count: usize| (0..count).map(|number| format!("p{number}=1&")).collect::<String>();
        assert_eq!(found(&format!("/?{}", query(16))), None);
        assert_eq!(found(&format!("/?{}", query(17))).as_deref(), Some("its query has 17 parameters"));
        let repeated = found("/?a=1&b=1&a=1&c&a=1&a=1");
        assert_eq!(repeated.as_deref(), Some("its query repeats the parameter a=1"));
        assert_eq!(found("/?a=1&a=2&a=3&a=4&b=/a/a/a/a/a"), None);
    }

    #[test]
    fn long_urls() {
        assert_eq!(found(&format!("/{}", "x".repeat(2040))).as_deref(), Some("it is 2057 bytes long"));
    }

    fn slow(path: &[String], repeats: usize) -> bool {
        (1..=CYCLE).any(|length| {
            path.windows(length * repeats)
                .any(|window| window.chunks(length).all(|chunk| chunk == &window[..length]))
        })
    }

    proptest! {
        #[test]
        fn cycles_are_found_as_the_definition_finds_them(
            path in prop::collection::vec("[abc]", 1..24), repeats in 2usize..5,
        ) {
            let url = format!("http://a.example/{}", path.join("/"));
            let limits = TrapLimits { repeats, ..TrapLimits::default() };
            prop_assert_eq!(trap(&url, &limits).is_some(), slow(&path, repeats));
        }
    }
}
