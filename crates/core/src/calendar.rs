//! Dates of the Gregorian calendar to day numbers, counted from 1970-01-01, and back.
//!
//! A year that begins in March has its leap day at the end, so the days before a month are
//! ⌊(153 m + 2) / 5⌋ for m = 0 in March, and those before a year y are 365 y + ⌊y/4⌋ − ⌊y/100⌋ + ⌊y/400⌋
//! (the algorithm of E. G. Richards, *Mapping Time*, 1998). 400 years have 146,097 days.

use std::time::{SystemTime, UNIX_EPOCH};

/// The days from 0000-03-01 to 1970-01-01.
const DAYS_BEFORE_1970: i64 = 719_468;

/// Parses `2024-05-01` into its day, or `2024` or `2024-05` into its first day; `None` if there is no such
/// day from 1970 to 9999.
pub fn day(text: &str) -> Option<u32> {
    let mut numbers = text.split('-');
    let year = number(numbers.next()?, 4)?;
    let month = numbers.next().map_or(Some(1), |month| number(month, 2))?;
    let day = numbers.next().map_or(Some(1), |day| number(day, 2))?;
    let exists = year >= 1970 && (1..=12).contains(&month) && (1..=days_of(year, month)).contains(&day);
    (exists && numbers.next().is_none()).then(|| days(year.into(), month, day) as u32)
}

/// A number of exactly `digits` digits.
fn number(text: &str, digits: usize) -> Option<u32> {
    let plain = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok())?
}

/// The year, month and day of the month of a day number.
pub fn date(day: u32) -> (u32, u32, u32) {
    let days = i64::from(day) + DAYS_BEFORE_1970;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let months = (5 * of_year + 2) / 153;
    let date = of_year - (153 * months + 2) / 5 + 1;
    let (month, next) = if months < 10 { (months + 3, 0) } else { (months - 9, 1) };
    // A day of 32 bits is in the year 11,761,191 at the latest.
    ((era * 400 + year_of_era + next) as u32, month as u32, date as u32)
}

/// Parses a moment of the W3C profile of ISO 8601 (`2024`, `2024-05-01`, `2024-05-01T12:00Z`,
/// `2024-05-01 12:00:00.5+02:00`), or one of 8 to 14 digits as archives write it (`20240501120000`), into seconds
/// since 1970; a time without a zone is in UTC. `None` if it is not one, or lies outside 1970 to 9999.
pub fn moment(text: &str) -> Option<f64> {
    let text = text.trim();
    if (8..=14).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit()) {
        let part = |from: usize| text.get(from..from + 2).unwrap_or("00");
        let day = format!("{}-{}-{}", &text[..4], part(4), part(6));
        return moment(&format!("{day}T{}:{}:{}", part(8), part(10), part(12)));
    }
    let Some((date, time)) = text.split_once(['T', 't', ' ']) else {
        return day(text).map(|day| f64::from(day) * 86_400.0);
    };
    let time = time.trim();
    let (time, zone) = match time.strip_suffix(['Z', 'z']) {
        Some(time) => (time, 0.0),
        None => match time.rfind(['+', '-']) {
            Some(at) => (&time[..at], offset(&time[at..])?),
            None => (time, 0.0),
        },
    };
    let mut parts = time.trim().split(':');
    let hours = number(parts.next()?, 2).filter(|hours| *hours < 24)?;
    let minutes = number(parts.next()?, 2).filter(|minutes| *minutes < 60)?;
    let seconds = parts.next().map_or(Some(0.0), |seconds| {
        let plain =
            seconds.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') && !seconds.ends_with('.');
        seconds.parse::<f64>().ok().filter(|seconds| plain && *seconds < 61.0)
    })?;
    if parts.next().is_some() {
        return None;
    }
    let seconds = f64::from(hours * 3600 + minutes * 60) + seconds - zone;
    Some(f64::from(day(date)?) * 86_400.0 + seconds).filter(|moment| *moment >= 0.0)
}

/// The seconds of a zone such as `+02:00` or `-0530`.
fn offset(zone: &str) -> Option<f64> {
    let (sign, digits) = zone.split_at(1);
    let digits = digits.replacen(':', "", 1);
    let (hours, minutes) = digits.split_at_checked(2)?;
    let minutes = if minutes.is_empty() { 0 } else { number(minutes, 2)? };
    let seconds = f64::from(number(hours, 2)? * 3600 + minutes * 60);
    Some(if sign == "-" { -seconds } else { seconds })
}

/// A timestamp such as `2024-05-01T12:00:00.000000Z`; moments before 1970 become 1970-01-01.
pub fn timestamp(moment: SystemTime) -> String {
    let since = moment.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, seconds) = ((since.as_secs() / 86_400) as u32, since.as_secs() % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:06}Z", since.subsec_micros())
}

fn days_of(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The number of days from 1970-01-01 to a date; negative before it.
pub fn days(year: i64, month: u32, day: u32) -> i64 {
    let (year, months) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let before = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    before + i64::from((153 * months + 2) / 5 + day) - 1 - DAYS_BEFORE_1970
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn archives_write_moments_in_two_ways() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", Some(0.0)),
            ("2014-01-03T03:03:21Z", Some(1_388_718_201.0)),
            ("20140103030321", Some(1_388_718_201.0)),
            ("2014-01-03T03:03:21.25Z", Some(1_388_718_201.25)),
            ("2014-01-03 03:03:21+00:00", Some(1_388_718_201.0)),
            ("2014-01-03", Some(1_388_707_200.0)),
            ("2014", Some(1_388_534_400.0)),
            ("20140103", Some(1_388_707_200.0)),
            ("2014-01-03T03:03", Some(1_388_718_180.0)),
            ("2014-13-03T03:03:21Z", None),
            ("2014-01-03T25:03:21Z", None),
            ("2014-01-03T03:03:21.Z", None),
            ("yesterday", None),
            ("", None),
        ] {
            assert_eq!(moment(text), expected, "{text}");
        }
    }

    #[test]
    fn counts_every_day() {
        let mut expected = 0;
        for year in 1970..2500 {
            assert_eq!(day(&format!("{year}")), Some(expected));
            for month in 1..=12 {
                assert_eq!(day(&format!("{year}-{month:02}")), Some(expected));
                for date in 1..=days_of(year, month) {
                    assert_eq!(day(&format!("{year}-{month:02}-{date:02}")), Some(expected));
                    assert_eq!(super::date(expected), (year, month, date));
                    expected += 1;
                }
            }
        }
        assert_eq!(day("2024-05-01"), Some(19_844));
        assert_eq!((days(1969, 12, 31), days(1900, 3, 1), days(1, 1, 1)), (-1, -25_508, -719_162));
    }

    #[test]
    fn knows_what_is_no_day() {
        for text in [
            "",
            "x",
            "24",
            "02024",
            "1969",
            "2024-",
            "2024-5",
            "2024-00",
            "2024-13",
            "2024-02-30",
            "2023-02-29",
            "2100-02-29",
            "2024-05-01-",
            "2024-05-+1",
            "2024/05",
            "２０２４",
        ] {
            assert_eq!(day(text), None, "{text}");
        }
    }

    #[test]
    fn moments_have_zones_or_none() {
        for (text, seconds) in [
            ("1970", 0.0),
            ("1970-01-02", 86_400.0),
            ("1970-01-01T00:01Z", 60.0),
            ("1970-01-01 00:01", 60.0),
            ("1970-01-01T00:00:01.5z", 1.5),
            ("1970-01-01T02:00:00+02:00", 0.0),
            ("1970-01-01T00:00:00-0130", 5400.0),
            ("1970-01-01T01:00:00+01", 0.0),
        ] {
            assert_eq!(moment(text), Some(seconds), "{text}");
        }
        for text in
            ["", "T", "1970-01-01T", "1970-01-01T24:00Z", "1970-01-01T1:00Z", "1970-01-01T00:00+é", "now"]
        {
            assert_eq!(moment(text), None, "{text}");
        }
    }

    #[test]
    fn timestamps_are_those_of_the_calendar() {
        let after = |seconds, micros: u32| UNIX_EPOCH + Duration::new(seconds, micros * 1000);
        assert_eq!(timestamp(after(0, 0)), "1970-01-01T00:00:00.000000Z");
        assert_eq!(timestamp(after(951_782_400, 7)), "2000-02-29T00:00:00.000007Z");
        assert_eq!(timestamp(after(1_709_251_199, 999_999)), "2024-02-29T23:59:59.999999Z");
        assert_eq!(timestamp(after(4_102_444_799, 0)), "2099-12-31T23:59:59.000000Z");
        assert_eq!(date(u32::MAX), (11_761_191, 1, 20));
    }
}
