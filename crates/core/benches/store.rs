//! The rows of a synthetic crawl, at any size: `cargo bench --bench store -- rows N`.
//!
//! Writes the cells of `N` rows to standard output, in the order in which a crawl would write them: for each the length of
//! the key (2 bytes, little-endian), that of the value (4 bytes), the key and the value. Engines are measured on them.

use std::env;
use std::error::Error;
use std::io::{BufWriter, Write, stdout};

use crivello_core::collection::{Outcome, Row};
use crivello_core::graph::order;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The hosts of the rows.
const HOSTS: u64 = 9973;
/// An odd factor scatters successive numbers over all hosts and folders, as a crawl does.
const SCATTER: u64 = 2_654_435_761;
/// 2026-01-01, in seconds since 1970.
const START: f64 = 1_767_225_600.0;

fn main() -> Result<()> {
    // `cargo bench` adds `--bench` after our own arguments.
    let arguments: Vec<String> = env::args().skip(1).filter(|one| one != "--bench").collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["rows", count] => rows(count.replace('_', "").parse()?),
        _ => Err("usage: store rows N".into()),
    }
}

fn rows(count: u64) -> Result<()> {
    let mut output = BufWriter::with_capacity(1 << 20, stdout().lock());
    for number in 0..count {
        let row = row(number);
        let key = key(&row);
        let value = Row { url: String::new(), ..row }.encode()?;
        output.write_all(&(key.len() as u16).to_le_bytes())?;
        output.write_all(&(value.len() as u32).to_le_bytes())?;
        output.write_all(&key)?;
        output.write_all(&value)?;
    }
    Ok(output.flush()?)
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

/// The key of a row: its URL with the host reversed, the column group, the newest time first.
fn key(row: &Row) -> Vec<u8> {
    let mut key = order::key(&row.url);
    key.extend([0, 0]);
    key.extend((!((row.fetched_at * 1e6) as u64)).to_be_bytes());
    key
}

/// 64 well mixed bits of a number: the finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}
