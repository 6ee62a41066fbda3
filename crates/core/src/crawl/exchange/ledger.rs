//! The positions of both sides of the exchange, shared by the writer thread and whoever carries the batches.
//!
//! For every peer: written ≥ flushed ≥ committed ≥ sent ≥ acknowledged. Only what is committed is sent, so what a peer
//! has accepted is never taken back by a crash here; only what a peer has committed is dropped, so what it loses in a crash
//! is sent again. For every sender: accepted ≥ flushed ≥ committed, and the sender learns the last two.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use super::membership::{Accepted, State};
use super::outbox::{self, Part};
use super::record::Batch;
use crate::{Error, Result};

/// What is known of a peer.
#[derive(Clone, Debug, Default)]
struct Peer {
    parts: Vec<Part>,
    written: u64,
    flushed: u64,
    committed: u64,
    sent: u64,
    acknowledged: u64,
    records: u64,
}

/// What is known of a sender.
#[derive(Clone, Copy, Debug, Default)]
struct Sender {
    accepted: Accepted,
    flushed: Accepted,
    committed: Accepted,
}

#[derive(Debug, Default)]
struct Positions {
    peers: BTreeMap<u32, Peer>,
    senders: BTreeMap<u32, Sender>,
}

/// The positions, and where the outboxes are.
#[derive(Debug)]
pub struct Ledger {
    /// This agent.
    pub agent: u32,
    /// The epoch of this run.
    pub epoch: u64,
    /// See [`State::incarnation`].
    pub incarnation: u64,
    folder: PathBuf,
    positions: Mutex<Positions>,
    /// One batch is received at a time: batches hold no permits, and must not fill the writer's queue.
    pub(crate) gate: Mutex<()>,
}

/// The exchange with another agent, for reports; positions and lengths are in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct Traffic {
    pub written: u64,
    pub committed: u64,
    pub sent: u64,
    pub acknowledged: u64,
    pub received: u64,
    pub received_committed: u64,
    pub urls_sent: u64,
    pub urls_received: u64,
}

impl Ledger {
    /// A ledger that goes on from a committed state.
    pub fn new(agent: u32, epoch: u64, folder: PathBuf, state: &State) -> Ledger {
        let sender =
            |accepted: &Accepted| Sender { accepted: *accepted, flushed: *accepted, committed: *accepted };
        let senders = state.senders.iter().map(|(id, accepted)| (*id, sender(accepted))).collect();
        let positions = Positions { peers: BTreeMap::new(), senders };
        let incarnation = state.incarnation;
        Ledger { agent, epoch, incarnation, folder, positions: Mutex::new(positions), gate: Mutex::new(()) }
    }

    fn lock(&self) -> MutexGuard<'_, Positions> {
        // The positions are consistent after every statement.
        self.positions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an outbox as it was committed, of which the peer has `acknowledged`.
    pub fn add_peer(&self, peer: u32, parts: &[Part], acknowledged: u64, records: u64) {
        let end = parts.last().map_or(0, |part| part.end);
        let base = parts.first().map_or(0, |part| part.base);
        let acknowledged = acknowledged.clamp(base, end);
        let (parts, sent) = (parts.to_vec(), acknowledged);
        let known = Peer { parts, written: end, flushed: end, committed: end, sent, acknowledged, records };
        self.lock().peers.insert(peer, known);
    }

    /// Forgets an outbox.
    pub fn remove_peer(&self, peer: u32) {
        self.lock().peers.remove(&peer);
    }

    /// Records what was written for a peer.
    pub fn write(&self, peer: u32, parts: &[Part], records: u64) {
        let mut positions = self.lock();
        let known = positions.peers.entry(peer).or_default();
        known.written = parts.last().map_or(0, |part| part.end);
        known.parts = parts.to_vec();
        known.records = records;
    }

    /// What is about to be committed, for the state: acknowledged positions and records of peers, and what was accepted.
    pub fn flush(&self, state: &mut State) {
        let mut positions = self.lock();
        for known in positions.peers.values_mut() {
            known.flushed = known.written;
        }
        state.acknowledged = positions.peers.iter().map(|(id, known)| (*id, known.acknowledged)).collect();
        state.urls = positions.peers.iter().map(|(id, known)| (*id, known.records)).collect();
        for known in positions.senders.values_mut() {
            known.flushed = known.accepted;
        }
        state.senders = positions.senders.iter().map(|(id, known)| (*id, known.flushed)).collect();
    }

    /// Records that what was flushed last is committed.
    pub fn commit(&self) {
        let mut positions = self.lock();
        positions.peers.values_mut().for_each(|known| known.committed = known.flushed);
        positions.senders.values_mut().for_each(|known| known.committed = known.flushed);
    }

    /// The position up to which a peer has committed.
    pub fn acknowledged(&self, peer: u32) -> u64 {
        self.lock().peers.get(&peer).map_or(0, |known| known.acknowledged)
    }

    /// The next batch for a peer, of about `limit` bytes: the positions of its begin and end, and the batch. It is
    /// empty if everything that is committed was sent and not all is acknowledged; `None` if all is.
    pub fn outgoing(&self, peer: u32, limit: usize) -> Result<Option<(u64, u64, Vec<u8>)>> {
        let (parts, from, to, base) = {
            let positions = self.lock();
            let Some(known) = positions.peers.get(&peer) else { return Ok(None) };
            if known.acknowledged == known.committed {
                return Ok(None);
            }
            (known.parts.clone(), known.sent, known.committed, known.acknowledged)
        };
        let mut batch = Batch::begin(self.incarnation, base);
        let end = outbox::read(&self.folder, peer, &parts, (from, to), limit, &mut batch)?;
        let mut positions = self.lock();
        if let Some(known) = positions.peers.get_mut(&peer)
            && known.sent == from
        {
            known.sent = end;
        }
        Ok(Some((from, end, batch)))
    }

    /// The peer expects what begins at a position: it is sent from there.
    pub fn rewind(&self, peer: u32, position: u64) {
        if let Some(known) = self.lock().peers.get_mut(&peer) {
            known.sent = position.clamp(known.acknowledged, known.committed);
        }
    }

    /// The peer has committed everything before a position.
    pub fn acknowledge(&self, peer: u32, position: u64) {
        if let Some(known) = self.lock().peers.get_mut(&peer) {
            known.acknowledged = known.acknowledged.max(position.min(known.committed));
            known.sent = known.sent.max(known.acknowledged);
        }
    }

    /// The position from which a sender's next batch is accepted, and the one up to which was committed.
    pub fn expected(&self, sender: u32, batch: &Batch) -> (u64, u64) {
        match self.lock().senders.get(&sender) {
            Some(known) if known.accepted.incarnation == batch.incarnation => {
                let committed = if known.committed.incarnation == batch.incarnation {
                    known.committed.position
                } else {
                    batch.base
                };
                // What the sender has dropped was acknowledged by an earlier state of this collection.
                (known.accepted.position.max(batch.base), committed.max(batch.base))
            }
            _ => (batch.base, batch.base),
        }
    }

    /// Records that a sender's records were accepted up to a position.
    pub fn accept(&self, sender: u32, incarnation: u64, position: u64, records: u64) {
        let mut positions = self.lock();
        let known = positions.senders.entry(sender).or_default();
        let before = if known.accepted.incarnation == incarnation { known.accepted.records } else { 0 };
        known.accepted = Accepted { incarnation, position, records: before + records };
    }

    /// Refuses a sender in another epoch.
    pub fn check_epoch(&self, sender: u32, epoch: u64) -> Result<()> {
        if epoch == self.epoch {
            return Ok(());
        }
        Err(Error::Invalid(format!(
            "agent {sender} is in epoch {epoch}, and agent {} in epoch {}: {}",
            self.agent,
            self.epoch,
            if epoch < self.epoch { "the sender is out of date" } else { "the receiver is out of date" }
        )))
    }

    /// The exchange with every other agent.
    pub fn traffic(&self) -> BTreeMap<u32, Traffic> {
        let positions = self.lock();
        let mut all: BTreeMap<u32, Traffic> = BTreeMap::new();
        for (id, known) in &positions.peers {
            let of = all.entry(*id).or_default();
            (of.written, of.committed, of.sent) = (known.written, known.committed, known.sent);
            (of.acknowledged, of.urls_sent) = (known.acknowledged, known.records);
        }
        for (id, known) in &positions.senders {
            let of = all.entry(*id).or_default();
            (of.received, of.urls_received) = (known.accepted.position, known.accepted.records);
            of.received_committed = known.committed.position;
        }
        all
    }

    /// Whether anything was written or accepted that is not committed.
    pub fn is_behind(&self) -> bool {
        let positions = self.lock();
        positions.peers.values().any(|known| known.written > known.committed)
            || positions.senders.values().any(|known| known.accepted != known.committed)
    }

    /// Whether every peer has committed everything that was written for it.
    pub fn is_delivered(&self) -> bool {
        self.lock().peers.values().all(|known| known.written == known.acknowledged)
    }
}
