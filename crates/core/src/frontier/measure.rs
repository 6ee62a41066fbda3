//! What the frontier costs, by `cargo test --release -p crivello-core --lib frontier::measure -- --ignored
//! --nocapture`.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Instant;

use super::{Frontier, HostKey, Options};
use crate::Signature;

const URLS: u64 = 10_000_000;
const HOSTS: u32 = 200_000;
/// One URL in so many is of the largest host.
const LARGEST: u64 = 10;

fn resident() -> f64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: f64 = pages.split_whitespace().nth(1).unwrap().parse().unwrap();
    pages * 4096.0 / f64::from(1 << 20)
}

/// Seconds on the clock, and of the processor: on a busy machine the second tell more.
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

fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    // User and system time, in hundredths of a second.
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
}

/// A host by its rank, as Zipf's law has it: the logarithm of the rank is uniform.
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

#[test]
#[ignore = "takes half a minute in a release build and prints what it measures"]
fn ten_million_urls_over_two_hundred_thousand_hosts() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("frontier")).unwrap();
    let before = resident();
    let mut frontier = Frontier::new(folder.path(), Options { max_hosts: 20_000, quantum: 100 }).unwrap();
    let mut random = 88_172_645_463_325_252u64;
    let watch = Watch::start();
    for url in 0..URLS {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        frontier.push(key(host(random)), 3, url * 60).unwrap();
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
        now = frontier.next_moment().unwrap().max(now + 1);
        let token = frontier.take(now).unwrap();
        for _ in 0..10 {
            popped += u64::from(frontier.pop(&token).unwrap().is_some());
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
}
