//! The cost of the frontier: `cargo bench --bench frontier` pushes ten million URLs of two hundred thousand
//! hosts, pops them all, and prints the rates and the memory.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Instant;

use crivello_core::Signature;
use crivello_core::frontier::{Frontier, HostKey, Options, VisitingOrder};

const URLS: u64 = 10_000_000;
const HOSTS: u32 = 200_000;
/// One URL in this many is of the largest host.
const LARGEST: u64 = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    std::fs::create_dir(folder.path().join("frontier"))?;
    let before = resident();
    let mut frontier = Frontier::new(
        folder.path(),
        Options { max_hosts: 20_000, quantum: 100, visit: VisitingOrder::BreadthFirst },
    )?;
    let mut random = 88_172_645_463_325_252u64;
    let watch = Watch::start();
    for url in 0..URLS {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        frontier.push(key(host(random)), 3, url * 60)?;
    }
    println!("push: {}, {:.1} MiB", watch.millions_a_second(URLS), resident() - before);
    println!("{:?}", frontier.stats());
    let start = Instant::now();
    assert_eq!(frontier.oldest(), Some(0));
    println!("oldest: {:.2} ms", start.elapsed().as_secs_f64() * 1e3);

    let watch = Watch::start();
    let (mut popped, mut visits, mut now, mut most) = (0, 0u64, 0, 0.0f64);
    while popped < URLS {
        while let Some((host, _)) = frontier.next_admitted() {
            frontier.place(host, IpAddr::V4(Ipv4Addr::from_bits(host.0 as u32)), now);
        }
        while frontier.next_evicted().is_some() {}
        now = frontier.next_moment().ok_or("no host is ever ready")?.max(now + 1);
        let token = frontier.take(now).ok_or("no host is ready at its moment")?;
        for _ in 0..10 {
            popped += u64::from(frontier.pop(&token)?.is_some());
        }
        frontier.give_back(token, now + 10_000, now + 1000, false);
        visits += 1;
        if visits.is_multiple_of(100_000) {
            most = most.max(resident() - before);
        }
    }
    println!("pop: {} in {visits} visits, at most {most:.1} MiB", watch.millions_a_second(URLS));
    println!("{:?}", frontier.stats());
    assert_eq!((frontier.stats().urls, frontier.oldest()), (0, None));
    Ok(())
}

/// A host by its rank, with a Zipf distribution: the logarithm of the rank is uniform.
fn host(random: u64) -> u32 {
    if random.is_multiple_of(LARGEST) {
        return 0;
    }
    let uniform = (random >> 11) as f64 / (1u64 << 53) as f64;
    f64::from(HOSTS).powf(uniform) as u32
}

fn key(host: u32) -> HostKey {
    HostKey(Signature::of(&host.to_le_bytes()).0)
}

/// Wall-clock and CPU seconds: on a busy machine the second are more reliable.
struct Watch(Instant, f64);

impl Watch {
    fn start() -> Watch {
        Watch(Instant::now(), processor_seconds())
    }

    fn millions_a_second(&self, count: u64) -> String {
        let (clock, processor) = (self.0.elapsed().as_secs_f64(), processor_seconds() - self.1);
        let rate = |seconds: f64| count as f64 / seconds / 1e6;
        format!("{:.2} M/s by the clock, {:.2} M/s of the processor", rate(clock), rate(processor))
    }
}

/// User and system time, which Linux reports in hundredths of a second; zero elsewhere.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    fields.filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// Resident memory in MiB, as Linux reports it; zero elsewhere.
fn resident() -> f64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = pages.split_whitespace().nth(1).and_then(|pages| pages.parse::<f64>().ok());
    pages.unwrap_or_default() * 4096.0 / f64::from(1 << 20)
}
