//! The protocol against a simulated crawl: real sieves, outboxes and ledgers, a web that is a function, and a network that
//! loses, repeats and reorders batches between agents that crash.
//!
//! The contract: every page that can be reached is fetched and committed by exactly one agent, however the agents crash, are
//! added and removed; and if agents are lost with their disks, or come back with them or with empty ones, whether they had
//! left before or not, by at least one agent that is there or has left, and by one alone of those that were there all the
//! time.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::Arc;

use proptest::prelude::*;
use tempfile::TempDir;

use super::known::Reason;
use super::membership::{Membership, State};
use super::{Exchange, Recipient};
use crate::Pulse;
use crate::assignment::Agent;
use crate::crawl::exchange::record::Batch;
use crate::sieve::{self, Front, Opening, Options};

const HOSTS: u32 = 12;
const PAGES: u32 = 7;
const ADDRESSES: u8 = 5;
/// The ids that agents may have.
const AGENTS: u32 = 5;

fn url(host: u32, page: u32) -> String {
    format!("http://h{host}.example/{page}")
}

fn place(url: &str) -> (u32, u32) {
    let (host, page) = url.strip_prefix("http://h").unwrap().split_once(".example/").unwrap();
    (host.parse().unwrap(), page.parse().unwrap())
}

fn host(url: &str) -> String {
    format!("http://h{}.example", place(url).0)
}

fn address(url: &str) -> IpAddr {
    IpAddr::from([10, 0, 0, place(url).0 as u8 % ADDRESSES])
}

/// Every page of a host is reached from its first, that from any other, and the hosts from the first.
fn links(from: &str) -> Vec<String> {
    let (host, page) = place(from);
    let mut links = vec![url(host, 0), url((host + 3) % HOSTS, (page + host) % PAGES)];
    links.extend(
        [2 * page + 1, 2 * page + 2].into_iter().filter(|page| *page < PAGES).map(|page| url(host, page)),
    );
    if page == 0 {
        links.extend(
            [2 * host + 1, 2 * host + 2].into_iter().filter(|host| *host < HOSTS).map(|host| url(host, 0)),
        );
    }
    links
}

fn everything() -> BTreeSet<String> {
    (0..HOSTS).flat_map(|host| (0..PAGES).map(move |page| url(host, page))).collect()
}

/// What a checkpoint makes durable beside the files of sieve and exchange.
#[derive(Clone, Default)]
struct Model {
    rows: BTreeSet<String>,
    pins: BTreeMap<String, IpAddr>,
}

/// What the manifest of an agent has.
#[derive(Clone, Default)]
struct Saved {
    files: HashMap<String, u64>,
    sieve: HashMap<String, u64>,
    position: Option<u64>,
    state: Option<State>,
    model: Model,
}

struct Node {
    folder: Arc<TempDir>,
    saved: Saved,
    sieve: Front,
    exchange: Exchange,
    model: Model,
    /// What was emitted and has no row: offset, tag and URL.
    open: Vec<(u64, u32, String)>,
}

struct Delivery<'a> {
    sieve: &'a mut Front,
    reopened: Vec<(u64, u32, String)>,
    pins: &'a mut BTreeMap<String, IpAddr>,
}

impl Recipient for Delivery<'_> {
    fn offer(&mut self, url: &str, tag: u32) {
        self.sieve.offer(url, tag);
    }

    fn reopen(&mut self, url: &str, tag: u32, offset: u64) {
        if offset < self.sieve.next() {
            self.reopened.push((offset, tag, url.to_owned()));
        }
    }

    fn pin(&mut self, url: &str, address: IpAddr) {
        self.pins.insert(host(url), address);
    }

    fn widen(&mut self, _: &str) {}

    fn ask(&mut self, _: u32, _: &str, _: &str, _: IpAddr) {}

    fn answer(&mut self, _: &str, _: &[u8]) {}
}

impl Node {
    fn start(folder: Arc<TempDir>, saved: Saved, membership: &Membership) -> Node {
        std::fs::create_dir_all(folder.path().join("frontier")).unwrap();
        let options = Options { memory: 1 << 16, cache: 8, capacity: 1000, error: 1e-6, signature_bits: 64 };
        let membership = Membership { state: saved.state.clone(), ..membership.clone() };
        let opening = Opening {
            folder: folder.path(),
            files: &saved.files,
            state: &saved.sieve,
            start: if membership.begins_anew() { Some(0) } else { saved.position },
        };
        let sieve = sieve::open("mercator", opening, options, &Pulse::STEADY).unwrap();
        let exchange = Exchange::open(folder.path(), &membership, &saved.files, 8, &Pulse::STEADY).unwrap();
        let model = saved.model.clone();
        let mut node = Node { folder, saved, sieve, exchange, model, open: Vec::new() };
        let (files, rows) = (node.saved.files.clone(), node.model.rows.clone());
        node.deliver(|exchange, delivery| {
            exchange.hand_over(&files, &[], |url| Ok(rows.contains(url)), delivery, &Pulse::STEADY).unwrap();
        });
        node
    }

    fn deliver<T>(&mut self, work: impl FnOnce(&mut Exchange, &mut Delivery) -> T) -> T {
        let mut delivery =
            Delivery { sieve: &mut self.sieve, reopened: Vec::new(), pins: &mut self.model.pins };
        let done = work(&mut self.exchange, &mut delivery);
        self.open.extend(delivery.reopened);
        self.sieve.settle(&Pulse::STEADY).unwrap();
        done
    }

    fn offer(&mut self, url: &str) {
        if self.exchange.is_own(url, 0).unwrap() {
            self.sieve.offer(url, 0);
        }
        self.exchange.publish();
        self.sieve.settle(&Pulse::STEADY).unwrap();
    }

    fn emit(&mut self, is_forced: bool) {
        if self.exchange.is_waiting() {
            return;
        }
        let taken = if is_forced { self.sieve.take(3, &Pulse::STEADY) } else { self.sieve.take_ready(3) };
        for entry in taken.unwrap().iter() {
            if !self.model.rows.contains(entry.url)
                && self.exchange.emits(entry.url, entry.tag, entry.offset).unwrap()
            {
                self.open.push((entry.offset, entry.tag, entry.url.to_owned()));
            }
        }
        self.exchange.publish();
    }

    /// Fetches one URL, or hands it over; returns whether there was one.
    fn work(&mut self, which: Option<prop::sample::Index>) -> bool {
        if self.open.is_empty() {
            return false;
        }
        let at = which.map_or(0, |which| which.index(self.open.len()));
        let (offset, tag, url) = self.open.swap_remove(at);
        let owners = Arc::clone(self.exchange.owners());
        let known = if owners.of_name(&url) == owners.me { Some(address(&url)) } else { self.pin(&url) };
        let (agent, address) = match known {
            Some(address) => (owners.of_address(address), Some(address)),
            None => (owners.of_name(&url), None),
        };
        if agent == owners.me {
            let known = self.exchange.known(&url).unwrap();
            assert!(matches!(known, None | Some(Reason::Taken { .. })), "{url} is another's: {known:?}");
            self.model.rows.insert(url.clone());
            links(&url).iter().for_each(|link| self.offer(link));
        } else {
            self.exchange.hand(&url, tag, offset, agent, address).unwrap();
            self.exchange.publish();
        }
        true
    }

    fn pin(&self, url: &str) -> Option<IpAddr> {
        self.model.pins.get(&host(url)).copied()
    }

    fn checkpoint(&mut self) {
        let sieve = self.sieve.checkpoint().unwrap();
        let exchange = self.exchange.checkpoint().unwrap();
        for (name, length) in sieve.files.into_iter().chain(exchange.files) {
            match length {
                Some(length) => drop(self.saved.files.insert(name, length)),
                None => {
                    self.saved.files.remove(&name);
                    drop(std::fs::remove_file(self.folder.path().join(name)));
                }
            }
        }
        let oldest = self.open.iter().map(|(offset, ..)| *offset).min();
        let next = self.sieve.next();
        self.saved.sieve = sieve.state;
        self.saved.position = Some(oldest.map_or(next, |oldest| oldest.min(next)));
        self.saved.state = Some(serde_json::from_str(&exchange.state).unwrap());
        self.saved.model = self.model.clone();
        self.exchange.ledger().commit();
    }
}

/// A batch on its way: sender, receiver, epoch, start, bytes.
type Letter = (u32, u32, u64, u64, Vec<u8>);

struct Cluster {
    epoch: u64,
    members: BTreeSet<u32>,
    leaving: BTreeSet<u32>,
    /// The last epoch in which responsibilities were given anew.
    reset: u64,
    nodes: BTreeMap<u32, Node>,
    /// The agents that do not run: those that never did, and those that have left.
    stopped: BTreeMap<u32, (Arc<TempDir>, Saved)>,
    /// Those that were lost, as they were.
    lost: BTreeMap<u32, (Arc<TempDir>, Saved)>,
    /// The last epoch that began without each that was ever lost, or with a new disk.
    lost_in: BTreeMap<u32, u64>,
    /// Those that were lost or have left at any time.
    absent: BTreeSet<u32>,
    /// Those that have left and got an empty disk since, which nobody has noticed.
    replaced: BTreeSet<u32>,
    was_any_lost: bool,
    letters: Vec<Letter>,
}

impl Cluster {
    fn new(members: &BTreeSet<u32>) -> Cluster {
        let stopped = (0..AGENTS).map(|id| (id, (Arc::new(tempfile::tempdir().unwrap()), Saved::default())));
        let mut cluster = Cluster {
            epoch: 0,
            members: members.clone(),
            leaving: BTreeSet::new(),
            reset: 0,
            nodes: BTreeMap::new(),
            stopped: stopped.collect(),
            lost: BTreeMap::new(),
            lost_in: BTreeMap::new(),
            absent: BTreeSet::new(),
            replaced: BTreeSet::new(),
            was_any_lost: false,
            letters: Vec::new(),
        };
        cluster.begin(&BTreeSet::new(), false);
        cluster
    }

    /// Begins an epoch; who crashes loses what it has not committed.
    fn begin(&mut self, crashing: &BTreeSet<u32>, is_reset: bool) {
        for (id, mut node) in std::mem::take(&mut self.nodes) {
            if !crashing.contains(&id) {
                node.checkpoint();
            }
            self.stopped.insert(id, (node.folder, node.saved));
        }
        self.epoch += 1;
        if is_reset {
            self.reset = self.epoch;
        }
        for id in self.members.union(&self.leaving).copied().collect::<Vec<_>>() {
            self.restart(id);
        }
    }

    /// Changes the members, after everything that was written has arrived.
    fn change(&mut self, members: &BTreeSet<u32>, crashing: &BTreeSet<u32>) {
        self.drain();
        let has_work = |node: &Node| {
            let stats = node.sieve.stats();
            !node.open.is_empty() || stats.waiting + stats.pending > 0
        };
        let mut leaving: BTreeSet<u32> = self.members.difference(members).copied().collect();
        for id in self.leaving.difference(members) {
            if has_work(&self.nodes[id]) {
                leaving.insert(*id);
            }
        }
        self.absent.extend(&leaving);
        let is_replaced = members.iter().any(|id| self.replaced.contains(id));
        for id in members {
            if self.replaced.remove(id) {
                self.lost_in.insert(*id, self.epoch + 1);
            }
        }
        let is_back = is_replaced || members.iter().any(|id| self.lost.contains_key(id));
        for id in members {
            if let Some(found) = self.lost.remove(id) {
                self.stopped.insert(*id, found);
            }
        }
        (self.members, self.leaving) = (members.clone(), leaving);
        self.begin(crashing, is_back);
    }

    /// Loses an agent that is not the last member.
    fn lose(&mut self, id: u32, crashing: &BTreeSet<u32>) {
        if self.members.len() == 1 && self.members.contains(&id) {
            return;
        }
        let Some(node) = self.nodes.remove(&id) else { return };
        self.lost.insert(id, (node.folder, node.saved));
        self.members.remove(&id);
        self.leaving.remove(&id);
        self.lost_in.insert(id, self.epoch + 1);
        self.absent.insert(id);
        self.was_any_lost = true;
        self.drain();
        self.begin(crashing, true);
    }

    /// Gives an agent an empty disk, whether it is running, was lost or has left; if it is running this is noticed at once,
    /// otherwise when it comes back.
    fn replace_disk(&mut self, id: u32, crashing: &BTreeSet<u32>) {
        let new = (Arc::new(tempfile::tempdir().unwrap()), Saved::default());
        self.absent.insert(id);
        self.was_any_lost = true;
        if let Some(lost) = self.lost.get_mut(&id) {
            *lost = new;
        } else if self.nodes.remove(&id).is_some() {
            self.stopped.insert(id, new);
            self.restart(id);
            self.lost_in.insert(id, self.epoch + 1);
            self.drain();
            self.begin(crashing, true);
        } else {
            self.stopped.insert(id, new);
            self.replaced.insert(id);
        }
    }

    fn restart(&mut self, id: u32) {
        let (folder, saved) = self.stopped.remove(&id).unwrap();
        let membership = Membership {
            agent: id,
            epoch: self.epoch,
            members: self.members.iter().map(|id| Agent::new(*id)).collect(),
            leaving: self.leaving.iter().copied().collect(),
            reset: self.reset,
            lost: self.lost_in.clone(),
            method: "consistent".to_owned(),
            replicas: 20,
            by: "host".to_owned(),
            rest: 0.0,
            state: None,
        };
        let mut node = Node::start(folder, saved, &membership);
        // Every start offers the seeds again.
        node.offer(&url(0, 0));
        self.nodes.insert(id, node);
    }

    /// Lets everything arrive that was written, while nobody fetches.
    fn drain(&mut self) {
        self.letters.clear();
        for round in 0.. {
            assert!(round < 2000, "the agents never have everything");
            self.nodes.values_mut().for_each(Node::checkpoint);
            if !self.exchange_all() {
                return;
            }
        }
    }

    /// Carries a batch from each agent to each other; returns whether there was any.
    fn exchange_all(&mut self) -> bool {
        let ids: Vec<u32> = self.nodes.keys().copied().collect();
        let mut is_busy = false;
        for (from, to) in ids.iter().flat_map(|from| ids.iter().map(move |to| (*from, *to))) {
            if self.send(from, to, 3000) {
                is_busy = true;
                let letter = self.letters.pop().unwrap();
                self.arrive(&letter, true);
            }
        }
        is_busy
    }

    fn send(&mut self, from: u32, to: u32, limit: usize) -> bool {
        let outgoing = self.nodes[&from].exchange.ledger().outgoing(to, limit).unwrap();
        let Some((start, _, batch)) = outgoing else { return false };
        self.letters.push((from, to, self.epoch, start, batch));
        true
    }

    fn arrive(&mut self, letter: &Letter, is_answered: bool) {
        let (from, to, epoch, start, bytes) = letter;
        let Some(receiver) = self.nodes.get_mut(to) else { return };
        if receiver.exchange.ledger().check_epoch(*from, *epoch).is_err() {
            return;
        }
        let batch = Batch::read(bytes).unwrap();
        let (accepted, committed) =
            receiver.deliver(|exchange, delivery| exchange.receive(*from, *start, &batch, delivery).unwrap());
        if let (true, Some(sender)) = (is_answered, self.nodes.get(from)) {
            let ledger = sender.exchange.ledger();
            if accepted != start + batch.length() {
                ledger.rewind(*to, accepted);
            }
            ledger.acknowledge(*to, committed);
        }
    }

    /// Runs until nothing is left to do.
    fn finish(&mut self) {
        self.letters.clear();
        let ids: Vec<u32> = self.nodes.keys().copied().collect();
        for round in 0.. {
            assert!(round < 2000, "the agents never come to rest");
            let mut is_busy = false;
            for id in &ids {
                let node = self.nodes.get_mut(id).unwrap();
                is_busy |= node.exchange.is_waiting();
                loop {
                    let start = node.sieve.next();
                    node.emit(true);
                    let mut is_idle = node.sieve.next() == start;
                    while node.work(None) {
                        is_idle = false;
                    }
                    if is_idle {
                        break;
                    }
                    is_busy = true;
                }
                if node.exchange.ledger().is_behind() || is_busy || round == 0 {
                    node.checkpoint();
                }
            }
            is_busy |= self.exchange_all();
            if !is_busy {
                return;
            }
        }
    }

    /// Lets those come back that have left and got an empty disk since: only then is it seen that their pages are gone.
    fn find_replaced_disks(&mut self) {
        if !self.replaced.is_empty() {
            let members = self.members.union(&self.replaced).copied().collect();
            self.change(&members, &BTreeSet::new());
        }
    }

    /// How many agents have committed each page: of all but the lost, and of those that were there all the time.
    fn rows(&self) -> (BTreeMap<String, usize>, BTreeMap<String, usize>) {
        let running = self.nodes.iter().map(|(id, node)| (id, &node.saved.model.rows));
        let all = running.chain(self.stopped.iter().map(|(id, (_, saved))| (id, &saved.model.rows)));
        let (mut counts, mut constant) = (BTreeMap::new(), BTreeMap::new());
        for (id, url) in all.flat_map(|(id, rows)| rows.iter().map(move |url| (id, url))) {
            *counts.entry(url.clone()).or_default() += 1;
            if !self.absent.contains(id) {
                *constant.entry(url.clone()).or_default() += 1;
            }
        }
        (counts, constant)
    }
}

#[derive(Clone, Debug)]
enum Step {
    Emit(u32, bool),
    Work(u32, prop::sample::Index),
    Checkpoint(u32),
    Crash(u32),
    Send(u32, u32, usize),
    Arrive {
        which: prop::sample::Index,
        stays: bool,
        is_answered: bool,
    },
    /// A new epoch with other members, before which some crash.
    Change(BTreeSet<u32>, BTreeSet<u32>),
    /// An agent is lost, and some crash.
    Lose(u32, BTreeSet<u32>),
    /// An agent gets an empty disk, and some crash.
    ReplaceDisk(u32, BTreeSet<u32>),
}

fn steps(losses: u32) -> impl Strategy<Value = Vec<Step>> {
    let agent = 0..AGENTS;
    let index = any::<prop::sample::Index>;
    let crashing = || prop::collection::btree_set(0..AGENTS, 0..3);
    let members = || prop::collection::btree_set(0..AGENTS, 1..=AGENTS as usize);
    let step = prop_oneof![
        30 => (agent.clone(), any::<bool>()).prop_map(|(id, is_forced)| Step::Emit(id, is_forced)),
        60 => (agent.clone(), index()).prop_map(|(id, which)| Step::Work(id, which)),
        20 => agent.clone().prop_map(Step::Checkpoint),
        4 => agent.clone().prop_map(Step::Crash),
        40 => (agent.clone(), agent.clone(), 1usize..400).prop_map(|(from, to, limit)| Step::Send(from, to, limit)),
        60 => (index(), prop::bool::weighted(0.3), prop::bool::weighted(0.7))
            .prop_map(|(which, stays, is_answered)| Step::Arrive { which, stays, is_answered }),
        3 => (members(), crashing()).prop_map(|(members, crashing)| Step::Change(members, crashing)),
        losses => (agent.clone(), crashing()).prop_map(|(id, crashing)| Step::Lose(id, crashing)),
        losses / 2 => (agent, crashing()).prop_map(|(id, crashing)| Step::ReplaceDisk(id, crashing)),
    ];
    prop::collection::vec(step, 0..600)
}

impl Cluster {
    fn take(&mut self, step: &Step) {
        match step {
            Step::Emit(id, is_forced) => {
                if let Some(node) = self.nodes.get_mut(id) {
                    node.emit(*is_forced);
                }
            }
            Step::Work(id, which) => {
                if let Some(node) = self.nodes.get_mut(id) {
                    node.work(Some(*which));
                }
            }
            Step::Checkpoint(id) => {
                if let Some(node) = self.nodes.get_mut(id) {
                    node.checkpoint();
                }
            }
            Step::Crash(id) => {
                if let Some(node) = self.nodes.remove(id) {
                    self.stopped.insert(*id, (node.folder, node.saved));
                    self.restart(*id);
                }
            }
            Step::Send(from, to, limit) => {
                if self.nodes.contains_key(from) {
                    self.send(*from, *to, *limit);
                }
            }
            Step::Arrive { which, stays, is_answered } => {
                if !self.letters.is_empty() {
                    let at = which.index(self.letters.len());
                    let letter = if *stays { self.letters[at].clone() } else { self.letters.swap_remove(at) };
                    self.arrive(&letter, *is_answered);
                }
            }
            Step::Change(members, crashing) => self.change(members, crashing),
            Step::Lose(id, crashing) => self.lose(*id, crashing),
            Step::ReplaceDisk(id, crashing) => self.replace_disk(*id, crashing),
        }
    }

    fn check(&mut self) {
        self.find_replaced_disks();
        self.finish();
        let (rows, constant) = self.rows();
        let found: BTreeSet<String> = rows.keys().cloned().collect();
        let missing: Vec<_> = everything().difference(&found).cloned().collect();
        assert!(missing.is_empty(), "missing: {missing:?}");
        let counts = if self.was_any_lost { constant } else { rows };
        let doubled: Vec<_> = counts.iter().filter(|(_, count)| **count != 1).collect();
        assert!(doubled.is_empty(), "doubled: {doubled:?}");
        let ids: BTreeSet<u32> = self.nodes.keys().copied().collect();
        for node in self.nodes.values() {
            for (peer, of) in node.exchange.ledger().traffic() {
                assert!(!ids.contains(&peer) || of.written == of.acknowledged, "{peer} has not everything");
            }
        }
    }
}

fn run(members: &BTreeSet<u32>, steps: &[Step]) {
    let mut cluster = Cluster::new(members);
    steps.iter().for_each(|step| cluster.take(step));
    cluster.check();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::cases(12), max_shrink_iters: 3000, ..ProptestConfig::default() })]

    #[test]
    fn every_page_is_committed_by_exactly_one_agent(
        members in prop::collection::btree_set(0..AGENTS, 1..=AGENTS as usize), steps in steps(0),
    ) {
        run(&members, &steps);
    }

    #[test]
    fn what_lost_agents_had_is_fetched_by_the_others(
        members in prop::collection::btree_set(0..AGENTS, 2..=AGENTS as usize), steps in steps(3),
    ) {
        run(&members, &steps);
    }
}
