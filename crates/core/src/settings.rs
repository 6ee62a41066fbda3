//! How a section of the settings is passed to the core.
//!
//! Python defines the settings (`crivello.settings.fields`: type, limits, default, description). A whole
//! section crosses the boundary as JSON and is deserialized into the options of its part: a struct with a
//! field for every setting, without defaults, that rejects unknown fields. Derived values are computed during
//! deserialization (0 threads become one per core). Fields are visible only within the crate, so that the
//! compiler warns of one that is never read.
//!
//! A struct may embed the options of its parts with `#[serde(flatten)]`; serde rejects unknown fields only if
//! flattened structs do not flatten others in turn.
//!
//! The variants of a setting (scorers, scopes, sieves …) are defined with the thing itself, by [`choices!`].

use std::time::Duration;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};

use crate::{Error, Result};

/// The longest duration, a year: clocks may not represent longer ones.
const LONGEST: f64 = 365.0 * 86_400.0;

/// Deserializes a section.
pub(crate) fn section<T: DeserializeOwned>(name: &str, json: &[u8]) -> Result<T> {
    serde_json::from_slice(json)
        .map_err(|error| Error::Invalid(format!("the settings of {name} are not as expected: {error}")))
}

/// A number of threads: 0 stands for one per core.
pub(crate) fn threads<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<usize, D::Error> {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    usize::deserialize(from).map(|asked| if asked == 0 { cores() } else { asked })
}

/// A duration in seconds.
pub(crate) fn seconds<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Duration, D::Error> {
    f64::deserialize(from).and_then(duration)
}

/// An optional duration in seconds.
pub(crate) fn optional_seconds<'de, D: Deserializer<'de>>(
    from: D,
) -> std::result::Result<Option<Duration>, D::Error> {
    Option::<f64>::deserialize(from)?.map(duration).transpose()
}

fn duration<E: serde::de::Error>(seconds: f64) -> std::result::Result<Duration, E> {
    Duration::try_from_secs_f64(seconds.min(LONGEST)).map_err(E::custom)
}

/// Optional text.
pub(crate) fn text<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Option<String>, D::Error> {
    let text = String::deserialize(from)?;
    Ok((!text.trim().is_empty()).then(|| text.trim().to_owned()))
}

/// The value with a name; `None` for the word `open`, which leaves it open.
pub(crate) fn named<'de, T, D>(from: D, open: &str) -> std::result::Result<Option<T>, D::Error>
where
    T: std::str::FromStr<Err = Error>,
    D: Deserializer<'de>,
{
    let name = String::deserialize(from)?;
    if name == open { Ok(None) } else { name.parse().map(Some).map_err(D::Error::custom) }
}

/// Names and their descriptions, for users.
pub type Choices = Vec<(&'static str, String)>;

/// Defines an enumeration whose members have names, the allowed values of a setting. The doc line of a member
/// is its description in the help, where members are listed in this order.
macro_rules! choices {
    ($(#[$about:meta])* $visibility:vis enum $kind:ident, $what:literal {
        $(#[doc = $description:literal] $member:ident = $name:literal,)+
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
        $visibility enum $kind {
            $(#[doc = $description] #[serde(rename = $name)] $member,)+
        }

        impl $kind {
            /// Every member with its name.
            pub const ALL: &'static [(&'static str, $kind)] = &[$(($name, $kind::$member)),+];

            /// The names, each with its description.
            pub fn choices() -> $crate::settings::Choices {
                vec![$(($name, $description.trim().trim_end_matches('.').to_owned())),+]
            }
        }

        impl std::fmt::Display for $kind {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(match self { $($kind::$member => $name,)+ })
            }
        }

        impl std::str::FromStr for $kind {
            type Err = $crate::Error;

            fn from_str(name: &str) -> $crate::Result<$kind> {
                match name {
                    $($name => Ok($kind::$member),)+
                    _ => Err($crate::Error::Invalid(format!(
                        "there is no {} {name:?}: there are {}", $what, [$($name),+].join(", ")
                    ))),
                }
            }
        }
    };
}

pub(crate) use choices;

#[cfg(test)]
mod tests {
    use super::*;

    choices! {
        /// A way to cook.
        enum Way, "way" {
            /// In the oven, slowly.
            Baked = "baked",
            /// In a pan.
            Fried = "fried",
        }
    }

    #[derive(Debug, Deserialize)]
    struct Heat {
        #[serde(rename = "heat_degrees")]
        degrees: f64,
        #[serde(deserialize_with = "seconds")]
        time: Duration,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Dish {
        way: Way,
        #[serde(flatten)]
        heat: Heat,
        #[serde(deserialize_with = "threads")]
        cooks: usize,
        #[serde(deserialize_with = "optional_seconds")]
        rest: Option<Duration>,
    }

    fn dish(json: &str) -> std::result::Result<Dish, String> {
        section("[dish]", json.as_bytes()).map_err(|error| error.to_string())
    }

    const WHOLE: &str = r#"{"way": "fried", "heat_degrees": 180, "time": 0.5, "cooks": 0, "rest": null}"#;

    #[test]
    fn a_section_is_read_with_what_follows_from_it() {
        let Dish { way, heat, cooks, rest } = dish(WHOLE).unwrap();
        assert_eq!((way, rest), (Way::Fried, None));
        assert_eq!((heat.degrees, heat.time), (180.0, Duration::from_millis(500)));
        assert!(cooks > 0);
        assert_eq!(dish(&WHOLE.replace(r#""cooks": 0"#, r#""cooks": 3"#)).unwrap().cooks, 3);
        assert!(dish(&WHOLE.replace("null", "1e300")).unwrap().rest.is_some());
    }

    #[test]
    fn what_is_missing_unknown_or_wrong_is_refused() {
        for (change, to, said) in [
            (r#""way": "fried", "#, "", "missing field `way`"),
            (r#""heat_degrees": 180, "#, "", "missing field `heat_degrees`"),
            (r#""rest": null"#, r#""rest": null, "salt": 1"#, "unknown field `salt`"),
            ("fried", "boiled", "unknown variant `boiled`, expected `baked` or `fried`"),
            ("0.5", "-1", "negative"),
            (r#""cooks": 0"#, r#""cooks": -1"#, "-1"),
        ] {
            let refused = dish(&WHOLE.replace(change, to)).unwrap_err();
            assert!(refused.contains(said) && refused.contains("[dish]"), "{refused}");
        }
    }

    #[test]
    fn choices_have_names_and_descriptions() {
        assert_eq!(Way::choices()[0], ("baked", "In the oven, slowly".to_owned()));
        for (name, way) in Way::ALL {
            assert_eq!(name.parse::<Way>().unwrap(), *way);
            assert_eq!(&way.to_string(), name);
        }
        let refused = "raw".parse::<Way>().unwrap_err().to_string();
        assert_eq!(refused, "there is no way \"raw\": there are baked, fried");
    }
}
