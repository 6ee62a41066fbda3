//! The exchange: a crawl divided among agents, each of which hands over the URLs that are not its own.
//!
//! An agent is a crawl like any other, with a collection of its own. Of the URLs that it finds, those of names that
//! another agent owns ([`membership`]) go to an *outbox* for that agent ([`outbox`]), and come out of it in batches
//! ([`record`]); those of its own names go through its sieve, and if the address of their host is another agent's they are
//! forwarded to that. An outbox is a replicated log: both sides persist their position with everything else that a
//! checkpoint commits ([`ledger`]), and agree on it again after any crash.
//!
//! **Responsibility.** From the moment at which the sieve of its name owner has a URL, exactly one agent is to fetch it. That
//! passes to another only by a *token*, [`Message::Hand`] or [`Message::Forward`]: an agent that hands a URL over writes it to an
//! outbox and to what is [`known`], in one commit; the receiver commits it to its sieve (or reopens it) together with its
//! position. So it is nowhere lost: until the receiver has committed it, the sender keeps it; and nowhere doubled: an agent
//! emits nothing that it knows to be another's.
//!
//! **Changes of membership** happen between runs, when every agent has stopped fetching and everything that was written is
//! committed where it is for. At the first start in a new epoch an agent tells the new owners what it knows of their URLs, and
//! ends with a mark ([`handover`]); nothing is emitted before the marks of all others have come, so nothing is fetched that
//! another agent has already.
//!
//! Costs: 21 bytes a URL sent beside the URL itself, 10 bytes of memory for each recent signature that is not sent again,
//! [`known::Known`], and 256 KiB of buffer for each outbox.

pub(crate) mod handover;
pub(crate) mod known;
pub(crate) mod ledger;
pub(crate) mod membership;
pub(crate) mod outbox;
pub(crate) mod record;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use self::known::{Known, KnownCommit, Reason};
use self::ledger::Ledger;
use self::membership::{Membership, Owners, State};
use self::outbox::Outbox;
use self::record::{Batch, Message};
use crate::collection::layout::{EXCHANGE, copies, copies_of};
use crate::disk::file::DurableFile;
use crate::disk::format::Format;
use crate::disk::log::LogWriter;
use crate::sieve::RecentSignatures;
use crate::sorted::Change;
use crate::url::host_of;
use crate::{Error, Pulse, Result, Signature};

pub use ledger::Traffic;

/// The format of the copies of another agent's first URLs.
const COPIES: Format = Format { kind: *b"COPY", version: 1 };
/// The number of recent hosts of which the first URL was copied.
const COPIED_HOSTS: usize = 1 << 16;

/// The crawl to which URLs are delivered.
pub trait Recipient {
    /// Offers a URL to the sieve.
    fn offer(&mut self, url: &str, tag: u32);
    /// Fetches a URL that the sieve has emitted before, at this offset of its queue.
    fn reopen(&mut self, url: &str, tag: u32, offset: u64);
    /// Crawls the host of a URL at an address, which is this agent's, whoever owns the name.
    fn pin(&mut self, url: &str, address: IpAddr);
    /// A seed leads to this URL: it widens the scope.
    fn widen(&mut self, url: &str);
    /// Tells an agent the robots.txt of an origin, which is at a URL at an address that is this agent's.
    fn ask(&mut self, agent: u32, origin: &str, url: &str, address: IpAddr);
    /// This is the robots.txt of an origin that was asked for.
    fn answer(&mut self, origin: &str, response: &[u8]);
}

/// The part of the exchange that the writer thread owns.
pub struct Exchange {
    folder: PathBuf,
    owners: Arc<Owners>,
    membership: Membership,
    state: State,
    outboxes: BTreeMap<u32, Outbox>,
    /// The outboxes that were written to since the ledger was told.
    touched: BTreeSet<u32>,
    /// The URLs that were sent lately.
    recent: RecentSignatures,
    /// The hosts of which the first URL was copied lately.
    copied: RecentSignatures,
    known: Known,
    copies: BTreeMap<u32, LogWriter>,
    /// Files to be removed with the next commit.
    removed: Vec<Change>,
    /// The agents whose marks are still to come.
    awaited: BTreeSet<u32>,
    ledger: Arc<Ledger>,
}

/// What a checkpoint of the exchange commits.
pub struct ExchangeCommit {
    /// The files.
    pub files: Vec<Change>,
    /// The files to sync before committing.
    pub handles: Vec<DurableFile>,
    /// The state, as JSON.
    pub state: String,
}

impl Exchange {
    /// Opens the exchange as it was committed; `recent` is the number of signatures that are not sent again.
    pub fn open(
        folder: &Path,
        membership: &Membership,
        files: &HashMap<String, u64>,
        recent: usize,
        pulse: &Pulse,
    ) -> Result<Exchange> {
        membership.check()?;
        let path = folder.join(EXCHANGE);
        std::fs::create_dir_all(&path).map_err(Error::io(&path))?;
        let mut state = membership.state.clone().unwrap_or_default();
        if state.incarnation == 0 {
            state.incarnation = new_incarnation(folder);
        }
        let owners = Arc::new(Owners::new(membership.agent, membership.division())?);
        let ledger = Ledger::new(membership.agent, membership.epoch, folder.to_path_buf(), &state);
        let mut outboxes = BTreeMap::new();
        for peer in Outbox::peers(files) {
            let records = state.urls.get(&peer).copied().unwrap_or(0);
            let outbox = Outbox::open(folder, peer, files, records)?;
            let acknowledged = state.acknowledged.get(&peer).copied().unwrap_or(0);
            ledger.add_peer(peer, outbox.parts(), acknowledged, records);
            outboxes.insert(peer, outbox);
        }
        let mut kept = BTreeMap::new();
        for (name, length) in files {
            if let Some((owner, epoch)) = copies_of(name)
                && epoch == membership.epoch
            {
                kept.insert(owner, LogWriter::open(&folder.join(name), COPIES, *length)?);
            }
        }
        let marks = &state.marks;
        let has_come = |id: &u32| marks.get(id) == Some(&membership.epoch);
        // An agent that is leaving fetches nothing, so it need not know what others have.
        let is_member = owners.has(membership.agent);
        let awaited = membership.others().into_iter().filter(|id| is_member && !has_come(id)).collect();
        Ok(Exchange {
            folder: folder.to_path_buf(),
            known: Known::open(folder, files, &state.known, pulse)?,
            owners,
            membership: membership.clone(),
            state,
            outboxes,
            touched: BTreeSet::new(),
            recent: RecentSignatures::new(recent),
            copied: RecentSignatures::new(COPIED_HOSTS),
            copies: kept,
            removed: Vec::new(),
            awaited,
            ledger: Arc::new(ledger),
        })
    }

    /// Whose URLs are.
    pub fn owners(&self) -> &Arc<Owners> {
        &self.owners
    }

    /// The positions.
    pub fn ledger(&self) -> &Arc<Ledger> {
        &self.ledger
    }

    /// Whether the marks of other agents are still to come: nothing may be emitted before.
    pub fn is_waiting(&self) -> bool {
        !self.awaited.is_empty()
    }

    /// Whether a URL that was found is this agent's; if not, it goes to its owner, unless it did so lately.
    pub fn is_own(&mut self, url: &str, tag: u32) -> Result<bool> {
        let owner = self.owners.of_name(url);
        if owner == self.owners.me {
            return Ok(true);
        }
        let bytes = url.as_bytes();
        if !self.recent.touch(Signature::of(bytes), Signature::check(bytes)) {
            self.post(owner, &Message::Url { tag, url })?;
            self.copy(url, tag)?;
        }
        Ok(false)
    }

    /// Whether a URL that the sieve emits, from an offset of its queue, is this agent's to fetch or to hand over.
    pub fn emits(&mut self, url: &str, tag: u32, offset: u64) -> Result<bool> {
        match self.known(url)? {
            Some(Reason::Taken { .. }) => {}
            Some(Reason::Told { offset: None }) => {
                self.known.suppress(url, offset)?;
                return Ok(false);
            }
            Some(_) => return Ok(false),
            None => {
                // It was added to the sieve when the name was this agent's, and decided only now.
                if !self.is_own(url, tag)? {
                    self.known.pass(url, offset)?;
                    self.state.passed = true;
                    return Ok(false);
                }
            }
        }
        self.copy(url, tag)?;
        Ok(true)
    }

    /// What is known of a URL; a token from before responsibilities were given anew is void, and so is what an agent has
    /// said to be done before it was lost.
    fn known(&self, url: &str) -> Result<Option<Reason>> {
        let is_void = |reason: &Reason| match reason {
            Reason::Taken { epoch } => *epoch < self.state.reset,
            Reason::Done { by } => self.membership.has_lost(*by),
            _ => false,
        };
        Ok(self.known.get(url)?.filter(|reason| !is_void(reason)))
    }

    /// Copies the first URL of a host to the agent that would take the host over if its owner were lost.
    fn copy(&mut self, url: &str, tag: u32) -> Result<()> {
        let host = host_of(url).as_bytes();
        if self.copied.touch(Signature::of(host), Signature::check(host)) {
            return Ok(());
        }
        match self.owners.successor(url) {
            Some(successor) if successor == self.owners.me => {
                self.keep_copy(&Message::Copy { tag, url }, url)
            }
            Some(successor) => self.post(successor, &Message::Copy { tag, url }),
            None => Ok(()),
        }
    }

    /// Hands a URL that this agent was to fetch, and that is at an offset of the sieve's queue, to an agent: to the owner
    /// of its address, or without one to that of its name.
    pub fn hand(
        &mut self,
        url: &str,
        tag: u32,
        offset: u64,
        agent: u32,
        address: Option<IpAddr>,
    ) -> Result<()> {
        self.known.hand(url, offset)?;
        match address {
            Some(address) => self.post(agent, &Message::Forward { tag, address, url }),
            None => self.post(agent, &Message::Hand { tag, url }),
        }
    }

    /// Tells all other members that a seed leads to a URL.
    pub fn widen(&mut self, url: &str) -> Result<()> {
        for peer in self.members_but_me() {
            self.post(peer, &Message::Reach { url })?;
        }
        Ok(())
    }

    /// Asks the owner of an address for the robots.txt of an origin, which is there.
    pub fn ask(&mut self, owner: u32, origin: &str, url: &str, address: IpAddr) -> Result<()> {
        self.post(owner, &Message::Ask { agent: self.owners.me, address, origin, url })
    }

    /// Answers that question of another agent.
    pub fn answer(&mut self, agent: u32, origin: &str, response: &[u8]) -> Result<()> {
        if !self.owners.has(agent) {
            return Ok(());
        }
        self.post(agent, &Message::Answer { origin, response })
    }

    /// Accepts a sender's batch; returns the positions up to which it is accepted and committed.
    pub fn receive(
        &mut self,
        sender: u32,
        start: u64,
        batch: &Batch,
        recipient: &mut impl Recipient,
    ) -> Result<(u64, u64)> {
        let (expected, committed) = self.ledger.expected(sender, batch);
        let end = start + batch.length();
        if start > expected || end <= expected {
            return Ok((expected, committed));
        }
        let mut records = 0;
        for sealed in batch.records() {
            let record = sealed?.open("a batch".as_ref())?;
            if start + record.offset < expected {
                continue;
            }
            records += 1;
            let damaged = || Error::Invalid("a batch of another agent is damaged".to_owned());
            self.deliver(Some(sender), Message::decode(record.payload).ok_or_else(damaged)?, recipient)?;
        }
        self.ledger.accept(sender, batch.incarnation, end, records);
        self.publish();
        Ok((end, committed))
    }

    /// Delivers a message to this agent, or passes it on to the one that it is for now.
    fn deliver(&mut self, sender: Option<u32>, message: Message, to: &mut impl Recipient) -> Result<()> {
        let me = self.owners.me;
        match message {
            Message::Url { tag, url } => {
                if self.is_own(url, tag)? {
                    to.offer(url, tag);
                }
            }
            Message::Hand { tag, url } => match self.owners.of_name(url) {
                owner if owner == me => self.take(url, tag, to)?,
                owner => self.post(owner, &message)?,
            },
            Message::Forward { tag, address, url } => match self.owners.of_address(address) {
                owner if owner == me => {
                    to.pin(url, address);
                    self.take(url, tag, to)?;
                }
                owner => self.post(owner, &message)?,
            },
            Message::Known { tag, url } => match self.known(url)? {
                None => self.known.tell(url, tag)?,
                Some(Reason::Passed { offset }) => self.known.suppress(url, offset)?,
                Some(_) => {}
            },
            Message::Done { tag, by, url } => self.known.finish(url, tag, by)?,
            Message::Mark { epoch } => {
                if let Some(sender) = sender {
                    self.state.marks.insert(sender, epoch);
                    if epoch == self.membership.epoch {
                        self.awaited.remove(&sender);
                    }
                }
            }
            Message::Reach { url } => to.widen(url),
            Message::Ask { agent, address, origin, url } => match self.owners.of_address(address) {
                owner if owner == me => to.ask(agent, origin, url, address),
                owner => self.post(owner, &message)?,
            },
            Message::Answer { origin, response } => to.answer(origin, response),
            Message::Copy { url, .. } => self.keep_copy(&message, url)?,
        }
        Ok(())
    }

    /// Takes the responsibility for a URL, whose token came.
    fn take(&mut self, url: &str, tag: u32, to: &mut impl Recipient) -> Result<()> {
        let offset = match self.known(url)? {
            Some(Reason::Done { .. }) => return Ok(()),
            Some(Reason::Handed { offset } | Reason::Passed { offset }) => Some(offset),
            Some(Reason::Told { offset }) => offset,
            Some(Reason::Taken { .. }) | None => None,
        };
        self.known.take(url, self.membership.epoch)?;
        match offset {
            Some(offset) => to.reopen(url, tag, offset),
            None => to.offer(url, tag),
        }
        Ok(())
    }

    fn keep_copy(&mut self, message: &Message, url: &str) -> Result<()> {
        let owner = self.owners.of_name(url);
        let mut payload = Vec::new();
        message.encode(&mut payload);
        if !self.copies.contains_key(&owner) {
            let path = self.folder.join(copies(owner, self.membership.epoch));
            self.copies.insert(owner, LogWriter::open(&path, COPIES, 0)?);
        }
        match self.copies.get_mut(&owner) {
            Some(log) => log.append(message.key(), &payload).map(drop),
            None => Ok(()),
        }
    }

    /// Writes a message for a peer.
    fn post(&mut self, peer: u32, message: &Message) -> Result<()> {
        if !self.outboxes.contains_key(&peer) {
            let base = self.state.ended.remove(&peer).unwrap_or(0);
            let outbox = Outbox::begin(&self.folder, peer, base)?;
            self.ledger.add_peer(peer, outbox.parts(), base, 0);
            self.outboxes.insert(peer, outbox);
        }
        self.touched.insert(peer);
        match self.outboxes.get_mut(&peer) {
            Some(outbox) => outbox.append(message),
            None => Ok(()),
        }
    }

    /// Tells the ledger what was written.
    pub fn publish(&mut self) {
        for peer in std::mem::take(&mut self.touched) {
            if let Some(outbox) = self.outboxes.get(&peer) {
                self.ledger.write(peer, outbox.parts(), outbox.records);
            }
        }
    }

    fn members_but_me(&self) -> Vec<u32> {
        let ids = self.membership.members.iter().map(|agent| agent.id);
        ids.filter(|id| *id != self.owners.me).collect()
    }

    /// Flushes everything, and returns what to commit.
    pub fn checkpoint(&mut self) -> Result<ExchangeCommit> {
        self.publish();
        self.ledger.flush(&mut self.state);
        let mut commit = ExchangeCommit {
            files: std::mem::take(&mut self.removed),
            handles: Vec::new(),
            state: String::new(),
        };
        for (peer, outbox) in &mut self.outboxes {
            let (files, handles) = outbox.checkpoint(self.ledger.acknowledged(*peer))?;
            commit.files.extend(files);
            commit.handles.extend(handles);
        }
        for (owner, log) in &mut self.copies {
            commit.files.push((copies(*owner, self.membership.epoch), Some(log.flush()?)));
            commit.handles.push(log.handle()?);
        }
        let KnownCommit { files, log, state } = self.known.checkpoint()?;
        commit.files.extend(files);
        commit.handles.push(log);
        self.state.known = state;
        self.state.epoch = self.membership.epoch;
        self.state.division = Some(self.membership.division());
        let failed =
            |error: serde_json::Error| Error::Invalid(format!("the exchange does not encode: {error}"));
        commit.state = serde_json::to_string(&self.state).map_err(failed)?;
        Ok(commit)
    }
}

/// A number that no other collection of this agent has.
fn new_incarnation(folder: &Path) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    Signature::of(format!("{now} {} {}", std::process::id(), folder.display()).as_bytes()).0.max(1)
}
