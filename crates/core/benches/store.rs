//! The table and the page store on the rows of a synthetic crawl, at any size.
//!
//! | `cargo bench --bench store -- …` | |
//! | --- | --- |
//! | `rows N` | writes the cells of `N` rows to standard output, in the order in which a crawl would write them: the length of the key (2 bytes, little-endian), that of the value (4 bytes), the key, the value. Other engines are measured on them |
//! | `measure FOLDER N` | writes `N` rows to a table, commits every 100,000, looks some up and scans them all |
//! | `open FOLDER` | counts the rows that a new process sees |
//! | `pages FOLDER N` | writes `N` pages with records through the page store |
//! | `grow FOLDER N [D]` | writes `N` pages without records, and prints time and memory as it grows; near-duplicates are those at distance `D` or less (default 3; 0: none are looked for) |
//!
//! Results are printed as JSON. `cpu` is the CPU time of all threads, without that of making the rows.

use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::fs::{self, OpenOptions};
use std::io::{BufWriter, Write, stdout};
use std::path::Path;
use std::time::{Duration, Instant};

use crivello_core::collection::cells::{Group, Versions, key, micros};
use crivello_core::collection::{Change, Collection, Outcome, Row, Rows, TableState, TableWriter};
use crivello_core::crawl::{DuplicateRules, PageStore, Parsed, StoreSettings, Tag, Treatment, Work};
use crivello_core::disk::file::DurableFile;
use crivello_core::graph::PageLinks;
use crivello_core::warc::warc_record;
use crivello_core::{Pulse, Signature};
use rustix::fs::{FallocateFlags, fallocate};
use serde_json::json;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The hosts of the rows.
const HOSTS: u64 = 9973;
/// An odd factor scatters successive numbers over all hosts and folders, as a crawl does.
const SCATTER: u64 = 2_654_435_761;
/// 2026-01-01, in seconds since 1970.
const START: f64 = 1_767_225_600.0;
/// The pages that are made at a time, so that they take little of the memory that is measured.
const BATCH: u64 = 10_000;
/// A commit after this many rows.
const COMMIT: u64 = 100_000;
/// The number of look-ups.
const READS: u64 = 50_000;
/// As much as the other engines have for cache and buffers.
const MEMORY: usize = 128 << 20;
/// One page in this many is a duplicate of a recent one, and one a near-duplicate.
const COPIES: u64 = 50;
/// The largest distance of near-duplicates.
const DISTANCE: u32 = 3;
/// How much of the journal is kept behind the writer: the rows of recent originals.
const JOURNAL: u64 = 1 << 30;
/// The section `[store]` of the settings.
const SETTINGS: &str = r#"{"memory": 134217728, "versions": 10, "keep": 0.0, "requests": false}"#;

fn main() -> Result<()> {
    // `cargo bench` adds `--bench` after our own arguments.
    let arguments: Vec<String> = env::args().skip(1).filter(|one| one != "--bench").collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["rows", count] => rows(number(count)?),
        ["measure", folder, count] => measure(Path::new(folder), number(count)?),
        ["open", folder] => {
            let told = seen(Path::new(folder))
                .map_or_else(|error| json!({"error": error.to_string()}), |rows| json!({"rows": rows}));
            println!("{told}");
            Ok(())
        }
        ["pages", folder, count] => pages(Path::new(folder), number(count)?, true, DISTANCE),
        ["grow", folder, count] => pages(Path::new(folder), number(count)?, false, DISTANCE),
        ["grow", folder, count, distance] => {
            pages(Path::new(folder), number(count)?, false, distance.parse()?)
        }
        _ => Err("usage: store rows N | measure FOLDER N | open FOLDER | pages FOLDER N | grow FOLDER N [D]"
            .into()),
    }
}

fn number(text: &str) -> Result<u64> {
    Ok(text.replace('_', "").parse()?)
}

fn rows(count: u64) -> Result<()> {
    let mut output = BufWriter::with_capacity(1 << 20, stdout().lock());
    for number in 0..count {
        let row = row(number);
        let key = key(&row.url, Group::Visit, micros(row.fetched_at));
        let value = Row { url: String::new(), ..row }.encode()?;
        output.write_all(&(key.len() as u16).to_le_bytes())?;
        output.write_all(&(value.len() as u32).to_le_bytes())?;
        output.write_all(&key)?;
        output.write_all(&value)?;
    }
    Ok(output.flush()?)
}

fn measure(folder: &Path, count: u64) -> Result<()> {
    Collection::create(folder, "")?;
    let collection = Collection::write(folder)?;
    let versions = Versions { number: 0, before: 0 };
    let mut table = TableWriter::open(folder, 0, &TableState::default(), MEMORY, versions, &Pulse::STEADY)?;
    let (mut writing, mut making) = (Duration::ZERO, 0.0);
    for first in (0..count).step_by(COMMIT as usize) {
        let before = thread_processor();
        let rows: Vec<Row> = (first..count.min(first + COMMIT)).map(row).collect();
        making += thread_processor() - before;
        let start = Instant::now();
        for row in &rows {
            table.add(row, true)?;
        }
        let commit = table.checkpoint(false)?;
        save(&collection, &commit.files, &[commit.journal], &commit.state)?;
        writing += start.elapsed();
        println!("{}", json!({"committed": first + rows.len() as u64}));
    }
    let start = Instant::now();
    let commit = table.checkpoint(true)?;
    save(&collection, &commit.files, &[commit.journal], &commit.state)?;
    drop(table);
    let (settling, processor) = (start.elapsed(), processor() - making);

    let reader = Collection::read(folder)?.snapshot();
    let table = reader.table(&Pulse::STEADY)?;
    let hit = latencies(count, |url| Ok(table.get(url)?.is_some()), true)?;
    let miss = latencies(count, |url| Ok(table.get(&format!("{url}x"))?.is_some()), false)?;
    let (start, mut scanned, mut bytes) = (Instant::now(), 0, 0);
    for cell in table.scan(&Rows { from: Vec::new(), to: None })? {
        let cell = cell?;
        (scanned, bytes) = (scanned + 1, bytes + cell.url.len() + cell.value.len());
    }
    let told = json!({
        "rows": scanned, "bytes": bytes, "writing": writing.as_secs_f64(), "settling": settling.as_secs_f64(),
        "hit": hit, "miss": miss, "scanning": start.elapsed().as_secs_f64(), "cpu": processor,
        "peak": memory("VmHWM:"), "disk": size(folder)?,
    });
    println!("{told}");
    Ok(())
}

fn seen(folder: &Path) -> Result<usize> {
    let reader = Collection::read(folder)?.snapshot();
    Ok(reader.table(&Pulse::STEADY)?.scan(&Rows { from: Vec::new(), to: None })?.count())
}

/// Writes pages through the page store.
fn pages(folder: &Path, count: u64, with_records: bool, distance: u32) -> Result<()> {
    Collection::create(folder, "")?;
    let collection = Collection::write(folder)?;
    let settings: StoreSettings = serde_json::from_str(SETTINGS)?;
    let duplicates = DuplicateRules {
        exact_duplicates: Treatment::Mark,
        near_duplicates: if distance > 0 { Treatment::Mark } else { Treatment::Keep },
        near_distance: distance,
    };
    let mut store = PageStore::open(folder, &settings, "crivello bench", duplicates, &Pulse::STEADY)?;
    let (mut spent, mut making) = (Duration::ZERO, 0.0);
    let step = (count / 100).max(COMMIT);
    for first in (0..count).step_by(BATCH as usize) {
        let before = thread_processor();
        let written = count.min(first + BATCH);
        let mut pages =
            (first..written).map(|number| page(number, with_records)).collect::<Result<Vec<_>>>()?;
        making += thread_processor() - before;
        let start = Instant::now();
        for page in &mut pages {
            store.add(page)?;
        }
        if written.is_multiple_of(COMMIT) || written == count {
            let commit = store.checkpoint(written == count)?;
            save(&collection, &commit.files, &commit.handles, &commit.table)?;
            if !with_records {
                punch(folder, &commit.files)?;
            }
        }
        spent += start.elapsed();
        if written.is_multiple_of(step) || written == count {
            let told = json!({
                "rows": written, "seconds": spent.as_secs_f64(), "cpu": processor() - making,
                "resident": memory("RssAnon:"), "peak": memory("VmHWM:"),
            });
            println!("{told}");
        }
    }
    Ok(())
}

/// Syncs files and commits them.
fn save(
    collection: &Collection,
    files: &[Change],
    handles: &[DurableFile],
    table: &TableState,
) -> Result<()> {
    for handle in handles {
        handle.sync()?;
    }
    Ok(collection.commit(files, BTreeMap::from([("table".to_owned(), serde_json::to_value(table)?)]))?)
}

/// Frees the disk blocks of the logs behind the writer, which does not read them again, so that a hundred million pages fit.
fn punch(folder: &Path, files: &[Change]) -> Result<()> {
    for (name, length) in files {
        let kept = if name.ends_with("rows.log") { JOURNAL } else { 0 };
        if let Some(past) = length.filter(|_| is_log(name)).and_then(|length| length.checked_sub(kept + 4096))
        {
            let file = OpenOptions::new().write(true).open(folder.join(name))?;
            // The first block has the header.
            fallocate(&file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, 4096, past.max(1))?;
        }
    }
    Ok(())
}

fn is_log(name: &str) -> bool {
    name.ends_with(".log") || name.ends_with(".jsonl")
}

/// The n-th page of a synthetic crawl: some are copies of an earlier one.
fn page(number: u64, with_record: bool) -> Result<Parsed> {
    let mut row = row(number);
    let original = match number % COPIES {
        1 | 2 if number > 1000 => number - 1 - mixed(number) % 1000,
        _ => number,
    };
    let changed = if number % COPIES == 2 { 0b101 } else { 0 };
    let (digest, simhash) = (mixed(original ^ changed), mixed(original ^ SCATTER) ^ changed);
    row.digest = Some(format!("{digest:032x}"));
    row.simhash = Some(simhash);
    let body = if with_record { body(&row) } else { String::new() };
    let fields = [("WARC-Target-URI".to_owned(), row.url.clone())];
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
    let record = with_record.then(|| warc_record("response", &fields, head, body.as_bytes())).transpose()?;
    let links = (0..5).map(|link| Signature(mixed(number * 5 + link))).collect();
    Ok(Parsed {
        work: Work {
            offset: 0,
            tag: Tag::default(),
            url: row.url.clone(),
            attempts: 1,
            counted: true,
            revisit: None,
        },
        row,
        record,
        request: None,
        conversion: None,
        words: Some((u128::from(digest), Some(simhash))),
        links: PageLinks { followed: links, nofollow: Vec::new() },
        found: Vec::new(),
        assets: Vec::new(),
        sitemaps: 0,
        signals: Vec::new(),
        page: None,
        failure: None,
        bytes: body.len() as u64,
        weight: 1,
    })
}

/// A page of about 6 kB.
fn body(row: &Row) -> String {
    let words: Vec<String> =
        (0..600).map(|place| format!("word{}", mixed(row.offset + place) % 20_000)).collect();
    format!("<title>{}</title><p>{}</p>", row.title, words.join(" "))
}

/// The row of the n-th page of a synthetic crawl.
fn row(number: u64) -> Row {
    let scattered = number.wrapping_mul(SCATTER) % (1 << 32);
    let digest = mixed(number);
    Row {
        url: format!(
            "https://www.site-{}.example.org/section/{scattered:010}/page-{number}.html",
            scattered % HOSTS
        ),
        outcome: Outcome::Fetched,
        depth: (number % 12) as u32,
        fetched_at: START + number as f64 / 1000.0,
        status: Some(200),
        content_type: Some("text/html".into()),
        digest: Some(format!("{digest:016x}{:016x}", mixed(digest))),
        simhash: Some(mixed(digest ^ 1)),
        language: Some("en".into()),
        title: format!("Page {number} of section {scattered}"),
        file: (number / 40_000) as u32,
        offset: number % 40_000 * 25_000,
        length: 20_000 + digest % 10_000,
        attempts: 1,
        seconds: (digest % 1000) as f32 / 1000.0,
        ..Row::default()
    }
}

/// 64 well mixed bits of a number: the finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// The median and the 99th percentile of the look-ups of random URLs, in microseconds.
fn latencies(count: u64, get: impl Fn(&str) -> Result<bool>, expected: bool) -> Result<[f64; 2]> {
    let mut spent = Vec::with_capacity(READS as usize);
    for number in 0..READS {
        let url = row(mixed(number) % count).url;
        let start = Instant::now();
        let found = get(&url)?;
        spent.push(start.elapsed().as_secs_f64() * 1e6);
        if found != expected {
            return Err(format!("{url} found: {found}, expected: {expected}").into());
        }
    }
    spent.sort_by(f64::total_cmp);
    Ok([spent[spent.len() / 2], spent[spent.len() * 99 / 100]])
}

/// The CPU time of this process in seconds, as Linux reports it; zero elsewhere.
fn processor() -> f64 {
    let told = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks = |place: usize| told.rsplit(") ").next()?.split(' ').nth(place)?.parse::<f64>().ok();
    (ticks(11).unwrap_or(0.0) + ticks(12).unwrap_or(0.0)) / 100.0
}

/// The CPU time of this thread, in seconds.
fn thread_processor() -> f64 {
    let told = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    told.split(' ')
        .next()
        .and_then(|nanoseconds| nanoseconds.parse::<f64>().ok())
        .map_or(0.0, |all| all / 1e9)
}

/// A line of the status of this process, in MiB.
fn memory(line: &str) -> f64 {
    let told = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let found = told.lines().find_map(|other| other.strip_prefix(line));
    found
        .and_then(|rest| rest.trim().split(' ').next()?.parse::<f64>().ok())
        .map_or(0.0, |kibibytes| kibibytes / 1024.0)
}

/// The bytes of all files of a folder.
fn size(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        bytes += if entry.file_type()?.is_dir() { size(&entry.path())? } else { entry.metadata()?.len() };
    }
    Ok(bytes)
}
