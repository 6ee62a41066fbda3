//! How fast pages are parsed and archived on one core: `CRIVELLO_PAGES=folder cargo bench --bench pages`
//! reads every `.html` file under the folder into memory, then times each step over all of them. The time is
//! CPU time, so that other load on the machine matters little.

use std::env;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};

use crivello_core::parse;
use crivello_core::warc::warc_record;

/// The fastest of this many runs counts.
const RUNS: usize = 5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(env::var("CRIVELLO_PAGES")?);
    let mut pages = Vec::new();
    collect(&folder, &folder, &mut pages)?;
    let bytes: usize = pages.iter().map(|(_, body)| body.len()).sum();
    println!("{} pages, {:.1} MB", pages.len(), bytes as f64 / 1e6);
    timed("parse", bytes, || {
        pages.iter().map(|(url, body)| parse::parse(body, url, Some("text/html")).text.len()).sum()
    });
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
    timed("warc_record", bytes, || {
        let fields = |url: &str| [("WARC-Target-URI".to_owned(), url.to_owned())];
        let length = |(url, body): &(String, Vec<u8>)| {
            warc_record("response", &fields(url), head, body).map_or(0, |record| record.len())
        };
        pages.iter().map(length).sum()
    });
    Ok(())
}

fn timed(step: &str, bytes: usize, run: impl Fn() -> usize) {
    let (mut written, mut best) = (0, f64::INFINITY);
    for _ in 0..RUNS {
        let start = seconds();
        written = black_box(run());
        best = best.min(seconds() - start);
    }
    println!("{step}: {:.1} MB/s, {:.1} MB out", bytes as f64 / 1e6 / best, written as f64 / 1e6);
}

/// The CPU time of this process, as Linux reports it; zero elsewhere.
fn seconds() -> f64 {
    let told = fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    told.split(' ').next().and_then(|nanoseconds| nanoseconds.parse().ok()).map_or(0.0, |all: f64| all / 1e9)
}

fn collect(root: &Path, folder: &Path, pages: &mut Vec<(String, Vec<u8>)>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(root, &path, pages)?;
        } else if path.extension().is_some_and(|extension| extension == "html") {
            let place = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            pages.push((format!("http://pages.example/{place}"), fs::read(&path)?));
        }
    }
    Ok(())
}
