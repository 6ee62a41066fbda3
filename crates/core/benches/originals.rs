//! Duplicate detection on the rows of a synthetic crawl, at any size: time and memory as it grows.
//!
//! `cargo bench --bench originals -- FOLDER N [D [MEMORY]]` feeds `N` pages, each with a digest and a SimHash, to the map
//! of texts and the map of fingerprints in FOLDER. One page in 50 has the text of one of the last million, and one in 50
//! a fingerprint three bits from it; near-duplicates are those at distance `D` (default 8) or less. `MEMORY` is that of
//! both maps in MiB (default 48: what a crawl gives them by default). A hundred times on the way it prints a line of JSON: the pages so
//! far, microseconds per page since the last line by the clock, and of processor time of all threads (with making the
//! pages), resident memory, how many copies were found of how many, and how many other pages were taken for near ones.

use std::env;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crivello_core::Pulse;
use crivello_core::collection::{Row, TableState};
use crivello_core::crawl::{DuplicateRules, Originals, Treatment};
use serde_json::json;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The length of a row in the journal.
const ROW: u64 = 200;
/// One page in this many is an exact copy, and one a near one.
const COPIES: u64 = 50;
/// How far back the original of a copy is at most.
const BACK: u64 = 1_000_000;
/// The maps are committed after this many pages.
const COMMIT: u64 = 100_000;
/// The pages that are made at a time, outside of the clock.
const BATCH: u64 = 1000;
/// The bits by which a near copy differs.
const CHANGED: u64 = 1 << 3 | 1 << 31 | 1 << 60;
const HOSTS: u64 = 9973;

fn main() -> Result<()> {
    // `cargo bench` adds `--bench` after our own arguments.
    let arguments: Vec<String> = env::args().skip(1).filter(|one| one != "--bench").collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (folder, count, distance, memory) = match words[..] {
        [folder, count] => (folder, count, "8", "48"),
        [folder, count, distance] => (folder, count, distance, "48"),
        [folder, count, distance, memory] => (folder, count, distance, memory),
        _ => return Err("usage: originals FOLDER N [D [MEMORY]]".into()),
    };
    let count: u64 = count.replace('_', "").parse()?;
    grow(Path::new(folder), count, distance.parse()?, memory.parse::<usize>()? << 20)
}

fn grow(folder: &Path, count: u64, distance: u32, memory: usize) -> Result<()> {
    fs::create_dir_all(folder.join("table"))?;
    let rules = DuplicateRules {
        exact_duplicates: Treatment::Mark,
        near_duplicates: Treatment::Mark,
        near_distance: distance,
    };
    let mut state = TableState::default();
    let mut originals = Originals::open(folder, 0, &state, memory, rules, &Pulse::STEADY)?;
    let step = (count / 100).max(BATCH);
    let (mut spent, mut told, mut copies, mut found, mut other) = (Duration::ZERO, 0, 0u64, 0u64, 0u64);
    let mut worked = processor();
    for first in (0..count).step_by(BATCH as usize) {
        let end = count.min(first + BATCH);
        let pages: Vec<Page> = (first..end).map(page).collect();
        let start = Instant::now();
        for Page { mut row, digest, simhash, original } in pages {
            let place = row.offset * ROW..(row.offset + 1) * ROW;
            copies += u64::from(original.is_some());
            let wanted = original.map(|original| original * ROW);
            if let Some(exact) = originals.with_text(digest)? {
                found += u64::from(wanted == Some(exact));
                row.duplicate_of = Some(String::new());
            } else if let Some(near) = originals.nearest(simhash)? {
                found += u64::from(wanted == Some(near));
                other += u64::from(wanted != Some(near));
                row.near_duplicate_of = Some(String::new());
            }
            originals.add(&row, &place)?;
        }
        if end.is_multiple_of(COMMIT) || end == count {
            for (name, length) in originals.checkpoint(end == count, &mut state)? {
                if length.is_none() {
                    fs::remove_file(folder.join(name))?;
                }
            }
        }
        spent += start.elapsed();
        if end - told >= step || end == count {
            let a_page = |seconds: f64| seconds * 1e6 / (end - told) as f64;
            let (micros, work) = (a_page(spent.as_secs_f64()), a_page(processor() - worked));
            let told_now = json!({
                "pages": end, "micros": micros, "processor": work, "resident": resident(), "copies": copies,
                "found": found, "other": other,
            });
            worked = processor();
            println!("{told_now}");
            (spent, told) = (Duration::ZERO, end);
        }
    }
    Ok(())
}

struct Page {
    row: Row,
    digest: u128,
    simhash: u64,
    /// The number of the page that it is a copy of.
    original: Option<u64>,
}

/// The n-th page of a synthetic crawl.
fn page(number: u64) -> Page {
    let kind = number % COPIES;
    // An original is a page that is no copy itself.
    let original = (kind < 2 && number > COPIES)
        .then(|| number - 1 - mixed(number) % (number - 1).min(BACK))
        .map(|original| if original % COPIES < 2 { original - original % COPIES + 2 } else { original })
        .filter(|original| *original < number);
    let text = original.unwrap_or(number);
    let changed = if kind == 1 && original.is_some() { CHANGED } else { 0 };
    let digest = u128::from(mixed(text ^ changed)) << 64 | u128::from(text);
    let simhash = mixed(!text) ^ changed;
    let row = Row {
        url: format!("http://{}.example/", mixed(number) % HOSTS),
        status: Some(200),
        digest: Some(format!("{digest:032x}")),
        simhash: Some(simhash),
        offset: number,
        length: 1,
        ..Row::default()
    };
    Page { row, digest, simhash, original }
}

/// 64 well mixed bits of a number: the finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// The resident memory of this process that is not of files, in MiB, as Linux reports it; zero elsewhere.
fn resident() -> f64 {
    let told = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let found = told.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kibibytes = found.and_then(|rest| rest.trim().split(' ').next()?.parse::<f64>().ok());
    kibibytes.map_or(0.0, |kibibytes| kibibytes / 1024.0)
}

/// The processor time of this process in seconds, as Linux reports it in hundredths; zero elsewhere.
fn processor() -> f64 {
    let told = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = told.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |place: usize| fields.get(place).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}
