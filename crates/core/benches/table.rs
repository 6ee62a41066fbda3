//! The cost of the sorted map: `cargo bench --bench table` puts ten million entries of about 200 bytes under
//! URL-like keys in random order, reads and scans them, and prints rates, sizes and memory.
//!
//! `TABLE_ENTRIES` and `TABLE_MEMORY` (MiB) set other sizes.

use std::error::Error;
use std::time::Instant;

use crivello_core::sorted::{Options, SortedMap, SortedReader, State};

/// The number of point reads.
const READS: u64 = 100_000;
/// The puts between two checkpoints.
const PER_CHECKPOINT: u64 = 500_000;

fn main() -> Result<(), Box<dyn Error>> {
    let entries = setting("TABLE_ENTRIES", 10_000_000);
    let memory = setting("TABLE_MEMORY", 128) as usize;
    let folder = tempfile::tempdir()?;
    let options = || Options {
        memory: memory << 20,
        name: |number| format!("run-{number:06}"),
        filtered: |key| key,
        keep: None,
    };
    let before = resident("VmRSS");
    let mut map = SortedMap::open(folder.path(), options(), &State::default())?;
    let (mut key, mut value) = (Vec::new(), Vec::new());
    let (mut content, mut runs) = (0, 0);
    let start = Instant::now();
    let mut last = Instant::now();
    for number in 0..entries {
        url(number, &mut key);
        row(number, &mut value);
        content += key.len() + value.len();
        map.put(&key, Some(&value), number + 1)?;
        if (number + 1).is_multiple_of(PER_CHECKPOINT) {
            for (name, length) in map.checkpoint()?.files {
                if length.is_none() {
                    std::fs::remove_file(folder.path().join(name))?;
                }
            }
            runs = runs.max(map.runs());
        }
        if (number + 1).is_multiple_of(entries / 5) {
            let rate = (entries / 5) as f64 / last.elapsed().as_secs_f64() / 1e3;
            println!(
                "put: {rate:.0} k/s, {} runs, {:.0} MiB resident",
                map.runs(),
                resident("VmRSS") - before
            );
            last = Instant::now();
        }
    }
    map.flush()?;
    let put = start.elapsed().as_secs_f64();
    map.settle()?;
    let settled = start.elapsed().as_secs_f64();
    let state = map.checkpoint()?.state;
    let size: u64 = state.runs.iter().map(|run| run.bytes).sum();
    println!(
        "{entries} entries of {} bytes: {:.0} k/s, {:.0} k/s with all merges; {} bytes an entry in {} runs, at most {runs}",
        content as u64 / entries,
        entries as f64 / put / 1e3,
        entries as f64 / settled / 1e3,
        size / entries,
        state.runs.len(),
    );
    println!("written {:.1} bytes for each byte put", written() / content as f64);
    println!("at most {:.0} MiB resident of {memory} MiB", resident("VmHWM") - before);
    drop(map);

    let reader = SortedReader::open(folder.path(), options(), &state)?;
    for (what, shift) in [("present", 0), ("absent", entries)] {
        let mut micros = Vec::new();
        for read in 0..READS {
            url(mix(read) % entries + shift, &mut key);
            let start = Instant::now();
            let found = reader.get(&key)?;
            micros.push(start.elapsed().as_secs_f64() * 1e6);
            assert_eq!(found.is_some(), shift == 0);
        }
        micros.sort_by(f64::total_cmp);
        let at = |share: f64| micros[(share * (micros.len() - 1) as f64) as usize];
        println!("get, {what}: median {:.1} µs, 99 % {:.1} µs", at(0.5), at(0.99));
    }
    let start = Instant::now();
    let mut scan = reader.scan(&[], None)?;
    let (mut scanned, mut bytes) = (0, 0);
    while let Some((key, value)) = scan.advance()? {
        scanned += 1;
        bytes += key.len() + value.len();
    }
    assert_eq!((scanned, bytes), (entries, content));
    let seconds = start.elapsed().as_secs_f64();
    println!("scan: {:.0} k/s, {:.0} MB/s", scanned as f64 / seconds / 1e3, bytes as f64 / seconds / 1e6);
    Ok(())
}

fn mix(number: u64) -> u64 {
    let mixed = (number ^ (number >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ (mixed >> 32)
}

/// A URL with its host reversed; different numbers have different URLs, in no order.
fn url(number: u64, key: &mut Vec<u8>) {
    use std::io::Write;
    let mixed = mix(number);
    key.clear();
    let host = (mixed >> 40) % 20_000;
    let _ = write!(key, "(org,site{host},www,)/articles/{}/the-page-number-{number}.html", mixed % 977);
}

/// What a row of the page table looks like: numbers, a title, a digest that does not compress.
fn row(number: u64, value: &mut Vec<u8>) {
    use std::io::Write;
    value.clear();
    let (digest, other) = (mix(number ^ 1), mix(number ^ 2));
    let _ =
        write!(value, "fetched 200 text/html en {digest:016x}{other:016x} A page about the number {number}");
    value.extend_from_slice(&mix(number ^ 3).to_le_bytes().repeat(2));
    value.extend_from_slice(&number.to_le_bytes());
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// A figure of the process's memory, in MiB.
fn resident(name: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(name));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kib.unwrap_or_default() / 1024.0
}

/// The bytes that the process has written to files.
fn written() -> f64 {
    let io = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    let line = io.lines().find(|line| line.starts_with("wchar"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or_default()
}
