//! The contract of the frontier as a property test, against a model with linear searches.

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr};

use proptest::prelude::*;
use proptest::sample::Index;

use crate::frontier::{Frontier, HostKey, LEVELS, Moment, Options, PATIENCE, Token, VisitingOrder};

const HOSTS: u64 = 14;
const ADDRESSES: u64 = 4;
/// The maximum of URLs popped per visit.
const VISIT: usize = 3;

#[derive(Clone, Debug)]
enum Step {
    Push { host: u64, level: u8 },
    Admit,
    Place { host: Index, address: u64, delay: Moment },
    Take { after: Moment },
    Pop { token: Index },
    GiveBack { token: Index, host: Moment, address: Moment, keep: bool },
    Evict,
}

/// The length of a politeness delay.
fn rest() -> impl Strategy<Value = Moment> {
    prop_oneof![6 => 0u64..20, 1 => PATIENCE - 2..PATIENCE + 20]
}

fn steps(keep: f64) -> impl Strategy<Value = Vec<Step>> {
    let index = any::<Index>;
    let host = prop_oneof![1 => Just(0), 2 => 0..HOSTS];
    let level = prop_oneof![3 => Just(3), 1 => 0..LEVELS];
    let step = prop_oneof![
        9 => (host, level).prop_map(|(host, level)| Step::Push { host, level }),
        4 => Just(Step::Admit),
        4 => (index(), 0..ADDRESSES, 0u64..20)
            .prop_map(|(host, address, delay)| Step::Place { host, address, delay }),
        6 => prop_oneof![20 => 0u64..6, 1 => rest()].prop_map(|after| Step::Take { after }),
        6 => index().prop_map(|token| Step::Pop { token }),
        5 => (index(), rest(), 0u64..20, prop::bool::weighted(keep))
            .prop_map(|(token, host, address, keep)| Step::GiveBack { token, host, address, keep }),
        1 => Just(Step::Evict),
    ];
    prop::collection::vec(step, 0..400)
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Place {
    #[default]
    Outside,
    InLine,
    Parked,
    Admitted,
    Resolving,
    At(u64),
    Taken(u64),
}

#[derive(Default)]
struct Host {
    /// Waiting URLs, by level.
    urls: [VecDeque<u64>; LEVELS as usize],
    /// Its first URL, for the order of first appearance.
    known: Option<u64>,
    place: Place,
    ready: Moment,
    /// The level at which it is served.
    level: usize,
    served: u32,
    is_kept: bool,
    /// The upper bound on the total number of pops when it enters.
    bound: usize,
}

impl Host {
    fn is_empty(&self) -> bool {
        self.urls.iter().all(VecDeque::is_empty)
    }

    /// The level of its next URL, or of what it was kept for.
    fn first_level(&self) -> usize {
        self.urls.iter().position(|level| !level.is_empty()).unwrap_or(0)
    }

    fn is_inside(&self) -> bool {
        !matches!(self.place, Place::Outside | Place::InLine | Place::Parked)
    }
}

struct Test {
    _folder: tempfile::TempDir,
    frontier: Frontier,
    options: Options,
    hosts: Vec<Host>,
    address_ready: HashMap<u64, Moment>,
    line: VecDeque<u64>,
    admitted: VecDeque<u64>,
    /// Each with the number of pops so far.
    tokens: Vec<(Token, usize)>,
    now: Moment,
    pushed: u64,
    popped: Vec<u64>,
    /// Whether some host was kept in the workbench.
    is_bounded: bool,
}

fn ip(address: u64) -> IpAddr {
    Ipv4Addr::from_bits(address as u32).into()
}

impl Test {
    fn new(options: Options) -> Test {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("frontier")).unwrap();
        Test {
            frontier: Frontier::new(folder.path(), options).unwrap(),
            _folder: folder,
            options,
            hosts: (0..HOSTS).map(|_| Host::default()).collect(),
            address_ready: HashMap::new(),
            line: VecDeque::new(),
            admitted: VecDeque::new(),
            tokens: Vec::new(),
            now: 0,
            pushed: 0,
            popped: Vec::new(),
            is_bounded: true,
        }
    }

    fn host(&mut self, host: u64) -> &mut Host {
        &mut self.hosts[host as usize]
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Push { host, level } => self.push(host, level),
            Step::Admit => self.admit(),
            Step::Place { host, address, delay } => {
                let resolving = |host: &u64| self.hosts[*host as usize].place == Place::Resolving;
                let resolving: Vec<u64> = (0..HOSTS).filter(resolving).collect();
                if !resolving.is_empty() {
                    self.place(resolving[host.index(resolving.len())], address, self.now + delay);
                }
            }
            Step::Take { after } => {
                self.now += after;
                self.take();
            }
            Step::Pop { token } if !self.tokens.is_empty() => self.pop(token.index(self.tokens.len())),
            Step::GiveBack { token, host, address, keep } if !self.tokens.is_empty() => {
                self.give_back(token.index(self.tokens.len()), self.now + host, self.now + address, keep);
            }
            Step::Evict => self.evict(),
            _ => {}
        }
        self.check();
    }

    fn push(&mut self, host: u64, level: u8) {
        self.pushed += 1;
        let offset = self.pushed * 10;
        self.frontier.push(HostKey(host), level, offset).unwrap();
        self.host(host).urls[usize::from(level)].push_back(offset);
        let known = self.host(host);
        known.known.get_or_insert(offset);
        known.level = known.level.min(usize::from(level));
        if known.place == Place::Outside {
            self.join(host);
            self.let_in();
        }
    }

    fn join(&mut self, host: u64) {
        self.line.push_back(host);
        let stays = self.options.max_hosts + self.line.len() - 1;
        let bound = self.popped.len() + stays * (self.options.quantum as usize + VISIT - 1);
        let host = self.host(host);
        (host.place, host.bound) = (Place::InLine, bound);
    }

    fn let_in(&mut self) {
        while self.hosts.iter().filter(|host| host.is_inside()).count() < self.options.max_hosts {
            let Some(next) = self.line.pop_front().or_else(|| self.first_parked()) else { return };
            let (pops, is_bounded) = (self.popped.len(), self.is_bounded);
            let host = self.host(next);
            let was_in_line = host.place == Place::InLine;
            assert!(!(is_bounded && was_in_line) || pops <= host.bound, "{pops} pops, not {}", host.bound);
            (host.place, host.served) = (Place::Admitted, 0);
            self.admitted.push_back(next);
        }
    }

    fn first_parked(&self) -> Option<u64> {
        let parked = (0..HOSTS).filter(|host| self.hosts[*host as usize].place == Place::Parked);
        parked.min_by_key(|host| (self.hosts[*host as usize].ready, self.hosts[*host as usize].known))
    }

    fn admit(&mut self) {
        let expected = self.admitted.pop_front();
        let first = |host: u64| *self.hosts[host as usize].urls.iter().flatten().next().unwrap();
        let answer = self.frontier.next_admitted();
        assert_eq!(answer, expected.map(|host| (HostKey(host), first(host))));
        expected.into_iter().for_each(|host| self.host(host).place = Place::Resolving);
    }

    fn place(&mut self, host: u64, address: u64, ready: Moment) {
        self.frontier.place(HostKey(host), ip(address), ready);
        let host = self.host(host);
        (host.place, host.ready) = (Place::At(address), host.ready.max(ready));
        host.level = host.first_level();
    }

    /// The hosts that could be taken: from which moment on, and at which level.
    fn candidates(&self) -> impl Iterator<Item = (Moment, usize)> {
        self.hosts.iter().filter_map(|host| match host.place {
            Place::At(address) if self.hosts.iter().all(|other| other.place != Place::Taken(address)) => {
                Some((host.ready.max(*self.address_ready.get(&address).unwrap_or(&0)), host.level))
            }
            _ => None,
        })
    }

    fn take(&mut self) {
        while let Some(host) = self.first_parked()
            && self.host(host).ready <= self.now
        {
            self.join(host);
        }
        let ready = self.candidates().filter(|(moment, _)| *moment <= self.now);
        let best = ready.map(|(_, level)| level).min();
        let Some(token) = self.frontier.take(self.now) else {
            assert_eq!(best, None, "somebody was ready");
            return;
        };
        let host = &self.hosts[token.host.0 as usize];
        let Place::At(address) = host.place else { panic!("{token:?} was {:?}", host.place) };
        assert_eq!(token.address, ip(address));
        assert_eq!(Some(host.level), best, "not the best level");
        assert!(host.ready <= self.now, "too early for the host");
        assert!(self.address_ready.get(&address).is_none_or(|ready| *ready <= self.now), "for the address");
        assert!(self.hosts.iter().all(|other| other.place != Place::Taken(address)), "two at an address");
        assert!(host.is_kept || !host.is_empty(), "there is nothing to do");
        self.host(token.host.0).place = Place::Taken(address);
        self.tokens.push((token, 0));
    }

    fn pop(&mut self, token: usize) {
        let (token, pops) = &mut self.tokens[token];
        if *pops == VISIT {
            return;
        }
        *pops += 1;
        let host = &mut self.hosts[token.host.0 as usize];
        let expected = host.urls.iter_mut().find_map(VecDeque::pop_front);
        assert_eq!(self.frontier.pop(token).unwrap(), expected);
        host.served += u32::from(expected.is_some());
        self.popped.extend(expected);
    }

    fn give_back(&mut self, token: usize, host_ready: Moment, address_ready: Moment, keep: bool) {
        let number = self.end(token, host_ready, address_ready);
        let token = self.tokens.swap_remove(token).0;
        self.frontier.give_back(token, host_ready, address_ready, keep);
        self.is_bounded &= !keep;
        let (quantum, is_alone) = (self.options.quantum, self.line.is_empty());
        let is_parked = self.host(number).ready > self.now + PATIENCE;
        let host = self.host(number);
        host.is_kept = keep;
        let is_over = host.served >= quantum || is_parked;
        if keep || (!host.is_empty() && (!is_over || is_alone)) {
            return;
        }
        host.place = if is_parked { Place::Parked } else { Place::Outside };
        if host.is_empty() {
            host.place = Place::Outside;
        } else if !is_parked {
            self.join(number);
        }
        self.let_in();
    }

    /// Updates the model at the end of a visit.
    fn end(&mut self, token: usize, host_ready: Moment, address_ready: Moment) -> u64 {
        let number = self.tokens[token].0.host.0;
        let host = self.host(number);
        let Place::Taken(address) = host.place else { panic!("a token that is not out") };
        (host.place, host.ready) = (Place::At(address), host.ready.max(host_ready));
        host.level = host.first_level();
        let known = self.address_ready.entry(address).or_insert(0);
        *known = address_ready.max(*known);
        number
    }

    fn evict(&mut self) {
        let mut seen = Vec::new();
        while let Some(host) = self.frontier.next_evicted() {
            assert!(!self.host(host.0).is_inside() && !seen.contains(&host));
            seen.push(host);
        }
    }

    fn check(&self) {
        let count = |wanted: fn(&Host) -> bool| self.hosts.iter().filter(|host| wanted(host)).count();
        let stats = self.frontier.stats();
        assert_eq!(stats.urls, self.pushed - self.popped.len() as u64);
        assert_eq!(stats.hosts_in_workbench, count(Host::is_inside));
        assert!(stats.hosts_in_workbench <= self.options.max_hosts);
        let parked = count(|host| host.place == Place::Parked);
        assert_eq!(stats.hosts_waiting, self.line.len() + parked);
        assert_eq!(stats.hosts_taken, self.tokens.len());
        let resolving = count(|host| matches!(host.place, Place::Admitted | Place::Resolving));
        assert_eq!(stats.resolving, resolving);
        let moment = self.candidates().map(|(moment, _)| moment.max(self.now)).min();
        assert_eq!(self.frontier.next_moment(), moment);
        let urls = self.hosts.iter().flat_map(|host| host.urls.iter().flatten());
        assert_eq!(self.frontier.oldest(), urls.min().copied());
        for (number, host) in (0..).zip(&self.hosts) {
            let waiting = host.urls.iter().map(VecDeque::len).sum::<usize>();
            assert_eq!(self.frontier.waiting(HostKey(number)), waiting as u64);
        }
    }

    /// Runs until nothing waits: every URL has been popped exactly once.
    fn drain(mut self) {
        loop {
            while !self.admitted.is_empty() {
                self.admit();
            }
            for host in 0..HOSTS {
                if self.host(host).place == Place::Resolving {
                    self.place(host, host % ADDRESSES, self.now);
                }
            }
            while !self.tokens.is_empty() {
                (0..VISIT).for_each(|_| self.pop(0));
                self.give_back(0, self.now + 5, self.now + 2, false);
            }
            self.check();
            match self.frontier.next_moment() {
                Some(moment) => self.now = moment,
                None if self.admitted.is_empty() => break,
                None => continue,
            }
            self.take();
            assert_eq!(self.tokens.len(), 1, "the moment has come");
        }
        self.evict();
        self.popped.sort_unstable();
        assert!(self.popped.into_iter().eq((1..=self.pushed).map(|url| url * 10)));
        let stats = self.frontier.stats();
        assert_eq!((stats.urls, stats.hosts_in_workbench, stats.hosts_waiting), (0, 0, 0));
    }
}

fn check(steps: Vec<Step>, max_hosts: usize, quantum: u32) {
    let mut test = Test::new(Options { max_hosts, quantum, visit: VisitingOrder::BreadthFirst });
    steps.into_iter().for_each(|step| test.step(step));
    test.drain();
}

proptest! {
    /// No URL lost or duplicated, no token twice, no visit too early, and the bound on the wait in the line.
    #[test]
    fn every_url_comes_out_once_politely_and_in_order(steps in steps(0.0), max_hosts in 1usize..6, quantum in 1u32..8) {
        check(steps, max_hosts, quantum);
    }

    /// The same with hosts that are kept or placed again.
    #[test]
    fn hosts_can_be_kept_and_placed_again(steps in steps(0.3), max_hosts in 1usize..6, quantum in 1u32..8) {
        check(steps, max_hosts, quantum);
    }
}

/// A host with very many URLs makes way for the others, which wait no longer than the bound.
#[test]
fn a_large_host_does_not_starve_the_rest() {
    let mut test = Test::new(Options { max_hosts: 1, quantum: 4, visit: VisitingOrder::BreadthFirst });
    (0..5000).for_each(|_| test.push(0, 3));
    (1..HOSTS).for_each(|host| test.push(host, 7));
    let mut done = HOSTS as usize;
    for visits in 0.. {
        while !test.admitted.is_empty() {
            test.admit();
        }
        let inside = (0..HOSTS).find(|&host| test.host(host).place == Place::Resolving);
        inside.into_iter().for_each(|host| test.place(host, 0, test.now));
        test.now = test.frontier.next_moment().unwrap();
        test.take();
        (0..VISIT).for_each(|_| test.pop(0));
        test.give_back(0, test.now + 5, test.now + 2, false);
        done = done.min(test.hosts[1..].iter().filter(|host| !host.is_empty()).count());
        if done == 0 {
            assert!(visits < 3 * HOSTS, "{visits} visits");
            break;
        }
    }
    assert!(test.hosts[0].urls[3].len() > 4900);
    test.drain();
}
