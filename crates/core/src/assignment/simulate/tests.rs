//! The model against closed forms, and against a slow one that looks at everything before each request.

use proptest::prelude::*;

use super::*;

const MACHINE: Machine = Machine {
    slots: 4,
    fetch: 0.5,
    process: 0.0,
    delay: 2.0,
    links: 0.0,
    batch: 100,
    flush: 1.0,
    until: f64::INFINITY,
    bin: 1.0,
};

/// One agent with these hosts (pages, address, start).
fn one(machine: &Machine, hosts: &[(u32, u32, f64)], rests: &[f64]) -> Outcome {
    let pages: Vec<u32> = hosts.iter().map(|host| host.0).collect();
    let addresses: Vec<u32> = hosts.iter().map(|host| host.1).collect();
    let starts: Vec<f64> = hosts.iter().map(|host| host.2).collect();
    let hosts = Hosts {
        offsets: &[0, hosts.len() as u64],
        pages: &pages,
        addresses: &addresses,
        starts: &starts,
        marks: &pages,
        rests,
        ranks: &[0],
        shares: &[1.0, 3.0],
    };
    simulate(machine, &hosts, 7, &Pulse::STEADY).unwrap().remove(0)
}

fn equal(count: u32, pages: u32) -> Vec<(u32, u32, f64)> {
    (0..count).map(|host| (pages, host, 0.0)).collect()
}

fn near(found: f64, expected: f64, margin: f64) {
    assert!((found / expected - 1.0).abs() <= margin, "{found}, and expected {expected}");
}

#[test]
fn a_host_gives_a_page_per_rest_and_request() {
    let found = one(&MACHINE, &equal(1, 101), &[0.0]);
    near(found.end, 101.0 * 0.5 + 100.0 * 2.0, 1e-12);
    assert_eq!((found.pages, found.fetched), (101, vec![101]));
    assert_eq!(found.bins.iter().sum::<u64>(), 101);
    near(found.busy, 101.0 * 0.5, 1e-12);
}

#[test]
fn the_slots_the_hosts_or_the_processor_bound_the_rate() {
    for (hosts, slots, process) in
        [(3, 64, 0.0), (100, 4, 0.0), (100, 64, 0.1), (100, 4, 0.05), (10, 4, 0.001)]
    {
        let machine = Machine { slots, process, ..MACHINE };
        let rests = vec![0.0; hosts as usize];
        let found = one(&machine, &equal(hosts, 200), &rests);
        let bounds = [slots as f64 / (0.5 + process), f64::from(hosts) / 2.5, 1.0 / process];
        let bound = bounds.into_iter().fold(f64::INFINITY, f64::min);
        near(found.pages as f64 / found.end, bound, 0.02);
    }
}

#[test]
fn the_hosts_of_an_address_share_its_rest() {
    let hosts: Vec<(u32, u32, f64)> = (0..50).map(|_| (20, 0, 0.0)).collect();
    let found = one(&MACHINE, &hosts, &[0.25]);
    near(found.end, 1000.0 * 0.5 + 999.0 * 0.25, 1e-9);
}

#[test]
fn a_host_that_comes_later_is_fetched_from_then_on() {
    let found = one(&MACHINE, &[(3, 0, 0.0), (3, 1, 100.0)], &[0.0, 0.0]);
    assert_eq!(found.finished, [5.5, 105.5]);
    assert_eq!(found.reached, found.finished);
    let cut = one(&Machine { until: 101.0, ..MACHINE }, &[(3, 0, 0.0), (3, 1, 100.0)], &[0.0, 0.0]);
    assert_eq!((cut.fetched, cut.reached), (vec![3, 1], vec![5.5, 0.0]));
}

/// Three of four links leave. A receiver's message waits for `flush`, or for its batch.
#[test]
fn messages_are_as_many_as_renewals() {
    for (links, flush) in [(0.1, 10.0), (2.0, 10.0), (0.5, 100.0)] {
        let machine = Machine { slots: 64, links, flush, batch: u32::MAX, ..MACHINE };
        let found = one(&machine, &equal(40, 2000), &[0.0; 40]);
        let rate = found.sent as f64 / found.end;
        near(found.sent as f64 / (found.sent + found.kept) as f64, 0.75, 0.03);
        near((found.sent + found.kept) as f64 / found.pages as f64, links, 0.03);
        // Pages come 40 at a time here, every 2.5 seconds: the wait for the first is up to that much shorter.
        near(found.messages as f64 / found.end, rate / (1.0 + rate * flush), 0.15);
    }
    let machine = Machine { slots: 64, links: 4.0, flush: 1e6, batch: 30, ..MACHINE };
    let found = one(&machine, &equal(40, 500), &[0.0; 40]);
    assert_eq!(found.messages, found.sent.div_ceil(30));
}

#[test]
fn alias_draws_in_proportion() {
    let shares = [0.0, 1.0, 5.0, 0.5, 3.5];
    let alias = Alias::new(&shares);
    let mut counts = [0.0; 5];
    (0..100_000).for_each(|index| counts[alias.pick(random(1, index))] += 1.0);
    assert_eq!(counts[0], 0.0);
    for (count, share) in counts.into_iter().zip(shares).skip(1) {
        near(count, share * 10_000.0, 0.05);
    }
}

/// Looks at all hosts for the next request.
fn slow(machine: &Machine, hosts: &[(u32, u32, f64)], rests: &[f64]) -> (Vec<f64>, u64) {
    let mut left: Vec<u32> = hosts.iter().map(|host| host.0).collect();
    let mut host_next: Vec<u64> = hosts.iter().map(|host| nanoseconds(host.2)).collect();
    let mut address_next = vec![0; rests.len()];
    let mut slots = vec![0u64; machine.slots];
    let (mut finished, mut processor, mut pages) = (vec![0.0; hosts.len()], 0, 0);
    let first = |address: u32| hosts.iter().position(|host| host.1 == address).unwrap();
    loop {
        let polite = |host: &usize| {
            let address = hosts[*host].1 as usize;
            // As the model breaks ties: by address, then by when a host may be asked, then by host.
            (host_next[*host].max(address_next[address]), address, host_next[*host], *host)
        };
        let Some(host) = (0..hosts.len()).filter(|&host| left[host] > 0).min_by_key(polite) else {
            return (finished, pages);
        };
        let slot = (0..slots.len()).min_by_key(|&slot| slots[slot]).unwrap();
        let start = polite(&host).0.max(slots[slot]);
        let end = start + nanoseconds(machine.fetch);
        processor = processor.max(end) + nanoseconds(machine.process);
        slots[slot] = processor;
        host_next[host] = end + nanoseconds(machine.delay);
        address_next[hosts[host].1 as usize] =
            end + nanoseconds(rests[hosts[first(hosts[host].1)].1 as usize]);
        left[host] -= 1;
        finished[host] = processor as f64 / SECOND;
        pages += 1;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn is_the_slow_model(
        hosts in prop::collection::vec((0u32..6, 0u32..4, 0.0..20f64), 1..12),
        slots in 1usize..5,
        process in 0.0..0.5f64,
        delay in 0.0..3f64,
        rests in prop::collection::vec(0.0..2f64, 4),
    ) {
        let machine = Machine { slots, process, delay, ..MACHINE };
        let found = one(&machine, &hosts, &rests);
        prop_assert_eq!((found.finished, found.pages), slow(&machine, &hosts, &rests));
    }
}

#[test]
fn refuses_what_it_cannot_run() {
    let hosts = Hosts {
        offsets: &[0, 1],
        pages: &[1],
        addresses: &[0],
        starts: &[0.0],
        marks: &[],
        rests: &[0.0],
        ranks: &[0],
        shares: &[1.0],
    };
    let refused = |machine: &Machine, hosts: &Hosts| {
        simulate(machine, hosts, 0, &Pulse::STEADY).map(|_| ()).unwrap_err().to_string()
    };
    assert!(refused(&Machine { slots: 0, ..MACHINE }, &hosts).contains("at least one slot"));
    assert!(refused(&Machine { delay: f64::NAN, ..MACHINE }, &hosts).contains("times"));
    assert!(refused(&MACHINE, &Hosts { offsets: &[0, 2], ..hosts }).contains("offsets"));
    assert!(refused(&MACHINE, &Hosts { addresses: &[1], ..hosts }).contains("rest"));
    assert!(refused(&MACHINE, &Hosts { ranks: &[1], ..hosts }).contains("share"));
    assert!(simulate(&MACHINE, &hosts, 0, &Pulse::new(&|| false)).is_ok());
}
