//! The date of a page: when it was written, in days since 1970-01-01.

use std::time::UNIX_EPOCH;

use crate::calendar::days;

const SECONDS: i64 = 86_400;
/// 1990-01-01: a server that reports an older page has a wrong clock, or none.
const FIRST_WEB_PAGE: i64 = 7_304;

/// The date of a page: what it says itself, or else its `Last-Modified`, if plausible; else the day of the
/// fetch. 0 means unknown, so dates before 1970 count as 1970-01-02.
pub fn day_of_page(said: Option<u32>, last_modified: Option<&str>, fetched_at: f64) -> u32 {
    let fetched = (fetched_at as i64).div_euclid(SECONDS);
    let modified = || last_modified.and_then(seconds_of).map(|seconds| seconds.div_euclid(SECONDS));
    let plausible = |day: &i64| (FIRST_WEB_PAGE..=fetched + 1).contains(day);
    let said = said.map(i64::from).filter(plausible);
    let day = said.or_else(|| modified().filter(plausible)).unwrap_or(fetched);
    if day < 0 { 1 } else { u32::try_from(day).unwrap_or(u32::MAX) }
}

/// Parses the date of an HTTP header into seconds since 1970: one of the three forms of RFC 9110, or a mail
/// date (RFC 5322), which servers send as well.
fn seconds_of(date: &str) -> Option<i64> {
    if let Ok(moment) = httpdate::parse_http_date(date) {
        return moment.duration_since(UNIX_EPOCH).ok().and_then(|since| since.as_secs().try_into().ok());
    }
    let mut words = date.split([' ', ',', '\t']).filter(|word| !word.is_empty()).peekable();
    words.next_if(|word| word.starts_with(|first: char| first.is_alphabetic()));
    let day: u32 = words.next()?.parse().ok()?;
    let month = MONTHS.iter().position(|name| words.peek().is_some_and(|word| is(word, name)))? as u32 + 1;
    words.next();
    let year: i64 = words.next()?.parse().ok()?;
    let mut clock = words.next()?.splitn(3, ':').map(|part| part.parse::<u32>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next().unwrap_or(Some(0))?);
    let zone = words.next().map_or(Some(0), zone)?;
    if !(1..=31).contains(&day) || !(1..=9999).contains(&year) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let time = i64::from(hour * 3600 + minute * 60 + second);
    Some(days(year, month, day) * SECONDS + time - zone)
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

fn is(word: &str, name: &str) -> bool {
    word.get(..3).is_some_and(|start| start.eq_ignore_ascii_case(name))
}

/// The offset of a time zone from UTC, in seconds east.
fn zone(name: &str) -> Option<i64> {
    let sign = match name.as_bytes().first() {
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => return Some(0),
    };
    let digits = name.get(1..).filter(|digits| digits.len() == 4)?;
    let number: i64 = digits.parse().ok()?;
    Some(sign * (number / 100 * 3600 + number % 100 * 60))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// 2024-05-01, 12:00 UTC.
    const FETCHED: f64 = 1_714_564_800.0;
    const TODAY: u32 = 19_844;

    #[test]
    fn is_the_day_that_the_server_says_if_that_can_be() {
        for (header, day) in [
            ("Fri, 26 Apr 2024 23:59:59 GMT", TODAY - 5),
            ("Fri, 26 Apr 2024 23:59:59 -0000", TODAY - 5),
            ("26 Apr 2024 23:59 UTC", TODAY - 5),
            ("Fri, 26 Apr 2024 23:59:59 -0100", TODAY - 4),
            ("Sat, 27 Apr 2024 00:59:59 +0100", TODAY - 5),
            ("Friday, 26-Apr-24 23:59:59 GMT", TODAY - 5),
            ("Fri Apr 26 23:59:59 2024", TODAY - 5),
            ("Thu, 02 May 2024 03:00:00 GMT", TODAY + 1),
            ("Fri, 03 May 2024 03:00:00 GMT", TODAY),
            ("Thu, 01 Jan 1970 00:00:00 GMT", TODAY),
            ("Tue, 01 Jan 1980 00:00:00 GMT", TODAY),
            ("Fri, 99 Apr 2024 23:59:59 -0000", TODAY),
            ("yesterday", TODAY),
            ("", TODAY),
        ] {
            assert_eq!(day_of_page(None, Some(header), FETCHED), day, "{header}");
        }
        assert_eq!(day_of_page(None, None, FETCHED), TODAY);
        assert_eq!(day_of_page(Some(TODAY - 9), Some("Sun, 06 Nov 1994 08:49:37 GMT"), FETCHED), TODAY - 9);
        assert_eq!(day_of_page(Some(TODAY + 9), None, FETCHED), TODAY);
        assert_eq!(day_of_page(None, None, -1.0), 1);
    }

    proptest! {
        #[test]
        fn no_header_does_any_harm(header in ".{0,60}|[A-Z][a-z]{2}, [0-9 ]{0,9}[A-Z][a-z]{2} [0-9:+ -]{0,30}") {
            let day = day_of_page(None, Some(&header), FETCHED);
            prop_assert!((FIRST_WEB_PAGE as u32..=TODAY + 1).contains(&day));
        }
    }
}
