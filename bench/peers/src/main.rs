//! The rows of a crawl in fjall: `store rows N | peers measure FOLDER N` writes them, reads some and scans them all;
//! `peers open FOLDER` counts the rows that are there. Results are printed as
//! JSON; `cpu` is the CPU time of writing, all threads, without that of reading the input.

use std::error::Error;
use std::fs;
use std::io::{BufReader, ErrorKind, Read, stdin};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};
use serde_json::json;

type Result<T> = std::result::Result<T, Box<dyn Error>>;
type Entry = (Vec<u8>, Vec<u8>);

const MEMORY: u64 = 64 << 20;
const BATCH: usize = 10_000;
/// A sync after this many batches.
const COMMIT: usize = 10;
/// The number of keys that are looked up.
const READS: u64 = 50_000;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["measure", folder, rows] => measure(Path::new(folder), rows.parse()?),
        ["open", folder] => match open(Path::new(folder)) {
            Ok((_database, table)) => Ok(println!("{}", json!({"rows": table.iter().count()}))),
            Err(error) => Ok(println!("{}", json!({"error": error.to_string()}))),
        },
        _ => Err("usage: peers measure FOLDER ROWS | peers open FOLDER".into()),
    }
}

fn open(folder: &Path) -> Result<(Database, Keyspace)> {
    let database = Database::builder(folder).cache_size(MEMORY).open()?;
    let table =
        database.keyspace("visit", || KeyspaceCreateOptions::default().max_memtable_size(MEMORY / 2))?;
    Ok((database, table))
}

fn measure(folder: &Path, rows: u64) -> Result<()> {
    let (database, table) = open(folder)?;
    let (mut input, mut sample) = (BufReader::with_capacity(1 << 20, stdin().lock()), Vec::new());
    let (mut written, mut writing, mut reading) = (0, Duration::ZERO, 0.0);
    for batches in 1.. {
        let before = thread_processor();
        let batch = batch(&mut input)?;
        reading += thread_processor() - before;
        if batch.is_empty() {
            break;
        }
        let start = Instant::now();
        sample.extend(batch.iter().step_by((rows / READS).max(1) as usize).map(|(key, _)| key.clone()));
        let mut write = database.batch();
        written += batch.len();
        for (key, value) in batch {
            write.insert(&table, key, value);
        }
        write.commit()?;
        if batches % COMMIT == 0 {
            database.persist(PersistMode::SyncAll)?;
            println!("{}", json!({"committed": written}));
        }
        writing += start.elapsed();
    }
    let start = Instant::now();
    settle(&database, &table)?;
    let (settling, processor) = (start.elapsed(), processor() - reading);

    sample.sort_by_key(|key| {
        key.iter().rev().fold(0u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
    });
    let hits = latencies(&sample, |key| Ok(table.get(key)?.is_some()), true)?;
    let others: Vec<Vec<u8>> = sample.iter().map(|key| [&key[..key.len() - 9], b"x"].concat()).collect();
    let misses = latencies(&others, |key| Ok(table.get(key)?.is_some()), false)?;

    let (start, mut scanned, mut bytes) = (Instant::now(), 0, 0);
    for entry in table.iter() {
        let (key, value) = entry.into_inner()?;
        (scanned, bytes) = (scanned + 1, bytes + key.len() + value.len());
    }
    let scanning = start.elapsed();
    let told = json!({
        "rows": scanned, "bytes": bytes, "writing": writing.as_secs_f64(), "settling": settling.as_secs_f64(),
        "hit": hits, "miss": misses, "scanning": scanning.as_secs_f64(), "cpu": processor,
        "peak": peak(), "disk": size(folder)?,
    });
    Ok(println!("{told}"))
}

/// The next rows of the input.
fn batch(input: &mut impl Read) -> Result<Vec<Entry>> {
    let mut batch = Vec::with_capacity(BATCH);
    let mut lengths = [0; 6];
    while batch.len() < BATCH {
        match input.read_exact(&mut lengths) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => break,
            other => other?,
        }
        let mut key = vec![0; u16::from_le_bytes([lengths[0], lengths[1]]).into()];
        let mut value =
            vec![0; u32::from_le_bytes([lengths[2], lengths[3], lengths[4], lengths[5]]) as usize];
        input.read_exact(&mut key)?;
        input.read_exact(&mut value)?;
        batch.push((key, value));
    }
    Ok(batch)
}

/// Waits until everything is in tables and no compaction has run for half a second.
fn settle(database: &Database, table: &Keyspace) -> Result<()> {
    table.rotate_memtable_and_wait()?;
    let mut quiet = 0;
    while quiet < 5 {
        quiet =
            if database.active_compactions() + database.outstanding_flushes() == 0 { quiet + 1 } else { 0 };
        sleep(Duration::from_millis(100));
    }
    Ok(database.persist(PersistMode::SyncAll)?)
}

/// The median and the 99th percentile of the look-ups, in microseconds.
fn latencies(keys: &[Vec<u8>], get: impl Fn(&[u8]) -> Result<bool>, expected: bool) -> Result<[f64; 2]> {
    let mut spent = Vec::with_capacity(keys.len());
    for key in keys {
        let start = Instant::now();
        let found = get(key)?;
        spent.push(start.elapsed().as_secs_f64() * 1e6);
        if found != expected {
            return Err(format!("found: {found}, expected: {expected}").into());
        }
    }
    spent.sort_by(f64::total_cmp);
    Ok([spent[spent.len() / 2], spent[spent.len() * 99 / 100]])
}

/// The CPU time of this process, in seconds.
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

/// The peak resident memory, in MiB.
fn peak() -> f64 {
    let told = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = told.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.trim().split(' ').next()?.parse::<f64>().ok())
        .map_or(0.0, |kibibytes| kibibytes / 1024.0)
}

fn size(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        bytes += if entry.file_type()?.is_dir() { size(&entry.path())? } else { entry.metadata()?.len() };
    }
    Ok(bytes)
}
