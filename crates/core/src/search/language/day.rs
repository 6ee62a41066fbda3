//! Days of the calendar as numbers, counted from 1970-01-01.
//!
//! A year that begins in March has its leap day at the end, so the days before a month are
//! ⌊(153 m + 2) / 5⌋ for m = 0 in March, and those before a year y are 365 y + ⌊y/4⌋ − ⌊y/100⌋ + ⌊y/400⌋
//! (the algorithm of E. G. Richards, *Mapping Time*, 1998).

/// The days from 0000-03-01 to 1970-01-01.
const DAYS_BEFORE_1970: u32 = 719_468;

/// The day that `2024-05-01` says, or the first day of what `2024` or `2024-05` says; `None` where there is no
/// such day from 1970 to 9999.
pub fn day(text: &str) -> Option<u32> {
    let mut numbers = text.split('-');
    let year = number(numbers.next()?, 4)?;
    let month = numbers.next().map_or(Some(1), |month| number(month, 2))?;
    let day = numbers.next().map_or(Some(1), |day| number(day, 2))?;
    let exists = year >= 1970 && (1..=12).contains(&month) && (1..=days_of(year, month)).contains(&day);
    (exists && numbers.next().is_none()).then(|| days_before(year, month) + day - 1)
}

/// A number of exactly so many digits.
fn number(text: &str, digits: usize) -> Option<u32> {
    let plain = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok())?
}

fn days_of(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn days_before(year: u32, month: u32) -> u32 {
    let (year, months) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    365 * year + year / 4 - year / 100 + year / 400 + (153 * months + 2) / 5 - DAYS_BEFORE_1970
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_every_day() {
        let mut expected = 0;
        for year in 1970..2500 {
            assert_eq!(day(&format!("{year}")), Some(expected));
            for month in 1..=12 {
                assert_eq!(day(&format!("{year}-{month:02}")), Some(expected));
                for date in 1..=days_of(year, month) {
                    assert_eq!(day(&format!("{year}-{month:02}-{date:02}")), Some(expected));
                    expected += 1;
                }
            }
        }
        assert_eq!(day("2024-05-01"), Some(19_844));
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
}
