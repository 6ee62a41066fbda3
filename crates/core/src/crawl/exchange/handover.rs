//! What an agent does at its first start in a new epoch: the owners of its URLs may have changed.
//!
//! One pass over the log of URLs, with a look-up in the table and in what is [`known`](super::known) for those that it has to
//! tell of. What this agent still has to fetch is not touched here: its frontier hands it over, host by host, when their turn
//! comes.
//!
//! **A planned change**: whatever this agent has of a name that has a new owner is told to that as known, and *taken* if it is
//! still to be fetched here: its token may follow, or it may stay. An agent that is leaving says of everything that it has
//! fetched that this is done.
//!
//! **A reset**, after an agent was lost or came back: what this agent has fetched is told to the owners of the names, and
//! everything else is offered to them as if it had just been found. What nobody has fetched is so its name owner's, who
//! emits all of its log again. Tokens that were given before are void, and so is what an agent that is lost has said to be
//! done: that is offered, too.
//!
//! In both, copies of the first URLs of hosts go to the agents that would take the hosts over now; after a loss they are
//! offered to the new owners first. Every other member is told where seeds redirect to, which may be new to it, and gets the
//! mark of the epoch.

use std::collections::HashMap;

use super::known::Reason;
use super::membership::Owners;
use super::outbox::Outbox;
use super::record::{Message, Witness};
use super::{COPIES, Exchange, Recipient};
use crate::collection::layout::{URLS, copies_of};
use crate::disk::log::LogStream;
use crate::sieve::{queue, unpack};
use crate::{Error, Pulse, Result};

const RECORDS_PER_BEAT: u64 = 1 << 12;

/// A URL of the log.
struct Logged<'a> {
    url: &'a str,
    tag: u32,
    offset: u64,
    is_done: bool,
}

impl Exchange {
    /// Hands over what the new members require, if this is the first start with them. `led_to` is where seeds redirect to,
    /// and `is_done` tells whether a URL has a row.
    pub fn hand_over(
        &mut self,
        files: &HashMap<String, u64>,
        led_to: &[String],
        mut is_done: impl FnMut(&str) -> Result<bool>,
        recipient: &mut impl Recipient,
        pulse: &Pulse,
    ) -> Result<()> {
        if self.state.division.is_some() && self.state.epoch == self.membership.epoch {
            return Ok(());
        }
        self.state.reset = self.membership.reset;
        let before = self.state.division.clone();
        let before = before.map(|division| Owners::new(self.owners.me, division)).transpose()?;
        self.end_outboxes(recipient, pulse)?;
        self.tell_of_the_log(files, before.as_ref(), &mut is_done, pulse)?;
        self.tell_of_what_was_told(before.as_ref(), recipient, pulse)?;
        self.pass_copies_on(files, recipient, pulse)?;
        led_to.iter().try_for_each(|url| self.widen(url))?;
        let mark = Message::Mark { epoch: self.membership.epoch };
        self.members_but_me().into_iter().try_for_each(|peer| self.post(peer, &mark))?;
        self.publish();
        Ok(())
    }

    /// Whether responsibilities were given anew since this agent was last there.
    fn gives_anew(&self) -> bool {
        self.state.epoch < self.membership.reset
    }

    /// Removes the outboxes of agents that are gone. In a reset also those that were not delivered: what they have is offered
    /// again, since its tokens are void.
    fn end_outboxes(&mut self, recipient: &mut impl Recipient, pulse: &Pulse) -> Result<()> {
        let others = self.membership.others();
        let reset = self.gives_anew();
        let is_ended = |(peer, outbox): (&u32, &Outbox), acknowledged| {
            !others.contains(peer) || (reset && acknowledged < outbox.end())
        };
        let ended: Vec<u32> = self
            .outboxes
            .iter()
            .filter(|(peer, outbox)| is_ended((peer, outbox), self.ledger.acknowledged(**peer)))
            .map(|(peer, _)| *peer)
            .collect();
        for peer in ended {
            let Some(mut outbox) = self.outboxes.remove(&peer) else { continue };
            let acknowledged = self.ledger.acknowledged(peer);
            self.state.ended.insert(peer, outbox.end());
            self.ledger.remove_peer(peer);
            if reset {
                outbox.each_from(acknowledged, pulse, |message| match message {
                    Message::Url { tag, url }
                    | Message::Hand { tag, url }
                    | Message::Forward { tag, url, .. } => {
                        self.deliver(None, Message::Url { tag, url }, recipient)
                    }
                    // These are sent again, or nobody waits for them any more.
                    _ => Ok(()),
                })?;
            }
            self.removed.extend(outbox.remove());
        }
        Ok(())
    }

    fn tell_of_the_log(
        &mut self,
        files: &HashMap<String, u64>,
        before: Option<&Owners>,
        is_done: &mut impl FnMut(&str) -> Result<bool>,
        pulse: &Pulse,
    ) -> Result<()> {
        let Some(committed) = files.get(URLS).copied().filter(|length| *length > 0) else { return Ok(()) };
        let path = self.folder.join(URLS);
        let mut urls = LogStream::open(&path, queue::FORMAT, 0, committed)?;
        let is_leaving = !self.owners.has(self.owners.me);
        let mut count = 0;
        while let Some(sealed) = urls.advance()? {
            count += 1;
            if count % RECORDS_PER_BEAT == 0 {
                pulse.beat()?;
            }
            let record = sealed.open(&path)?;
            let offset = record.offset;
            let (tag, url) =
                unpack(record.payload).map_err(|reason| Error::corrupt(&path, offset, reason))?;
            self.copy(url, tag)?;
            let owner = self.owners.of_name(url);
            let has_moved = owner != before.map_or(self.owners.me, |owners| owners.of_name(url));
            if !self.gives_anew() && !is_leaving && (!has_moved || owner == self.owners.me) {
                if self.state.passed
                    && owner == self.owners.me
                    && matches!(self.known(url)?, Some(Reason::Passed { .. }))
                {
                    self.known.clear(url)?;
                }
                continue;
            }
            let logged = Logged { url, tag, offset, is_done: is_done(url)? };
            if logged.is_done && is_leaving {
                let by = Witness { agent: self.owners.me, epoch: self.membership.epoch };
                self.post(owner, &Message::Done { tag, by, url })?;
            } else if self.gives_anew() {
                self.offer_again(&logged, owner)?;
            } else if has_moved {
                self.tell(&logged, owner)?;
            }
        }
        Ok(())
    }

    /// Tells the new owner of a name that it need not fetch a URL.
    fn tell(&mut self, logged: &Logged, owner: u32) -> Result<()> {
        let Logged { url, tag, .. } = *logged;
        let known = self.known(url)?;
        match known {
            Some(Reason::Done { by }) => return self.post(owner, &Message::Done { tag, by, url }),
            Some(Reason::Passed { .. }) => return Ok(()),
            _ => {}
        }
        if known.is_none() && !logged.is_done {
            self.known.take(url, self.membership.epoch)?;
        }
        self.post(owner, &Message::Known { tag, url })
    }

    /// Claims a URL that was fetched here; leaves one that was not to the owner of its name.
    fn offer_again(&mut self, logged: &Logged, owner: u32) -> Result<()> {
        let Logged { url, tag, offset, is_done } = *logged;
        let (is_own, known) = (owner == self.owners.me, self.known.get(url)?);
        match known {
            _ if is_done && is_own => Ok(()),
            _ if is_done => self.post(owner, &Message::Known { tag, url }),
            Some(Reason::Done { by }) if !self.membership.has_lost(by) => {
                if is_own {
                    Ok(())
                } else {
                    self.post(owner, &Message::Done { tag, by, url })
                }
            }
            None if is_own => Ok(()),
            Some(_) if is_own => self.known.clear(url),
            _ => {
                if !matches!(known, Some(Reason::Passed { .. })) {
                    self.known.pass(url, offset)?;
                    self.state.passed = true;
                }
                self.post(owner, &Message::Url { tag, url })
            }
        }
    }

    /// What others have told of, and the sieve has not emitted.
    fn tell_of_what_was_told(
        &mut self,
        before: Option<&Owners>,
        recipient: &mut impl Recipient,
        pulse: &Pulse,
    ) -> Result<()> {
        let (reset, mut next) = (self.gives_anew(), Some(0));
        while let Some(from) = next {
            pulse.beat()?;
            let urls;
            (urls, next) = self.known.told(from)?;
            for (tag, url) in &urls {
                let owner = self.owners.of_name(url);
                let is_own = owner == self.owners.me;
                let has_moved = before.is_none_or(|before| before.of_name(url) != owner);
                let is_open = |reason: &Reason| match reason {
                    Reason::Told { offset } => offset.is_none(),
                    Reason::Done { by } => self.membership.has_lost(*by),
                    _ => false,
                };
                match self.known.get(url)? {
                    Some(reason) if reset && is_open(&reason) => {
                        self.known.clear(url)?;
                        if is_own {
                            recipient.offer(url, *tag);
                        } else {
                            self.post(owner, &Message::Url { tag: *tag, url })?;
                        }
                    }
                    Some(Reason::Done { by }) if !is_own && (reset || has_moved) => {
                        self.post(owner, &Message::Done { tag: *tag, by, url })?;
                    }
                    Some(Reason::Told { offset: None }) if has_moved && !is_own => {
                        self.post(owner, &Message::Known { tag: *tag, url })?;
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Copies the first URLs of hosts to the agents that would take the hosts over now.
    fn pass_copies_on(
        &mut self,
        files: &HashMap<String, u64>,
        recipient: &mut impl Recipient,
        pulse: &Pulse,
    ) -> Result<()> {
        let epoch = self.membership.epoch;
        let mut kept: Vec<(&String, u64)> = files
            .iter()
            .filter(|(name, _)| copies_of(name).is_some_and(|(_, since)| since < epoch))
            .map(|(name, length)| (name, *length))
            .collect();
        kept.sort_unstable();
        for (name, length) in kept {
            let path = self.folder.join(name);
            let (mut records, mut count) = (LogStream::open(&path, COPIES, 0, length)?, 0);
            while let Some(sealed) = records.advance()? {
                count += 1;
                if count % RECORDS_PER_BEAT == 0 {
                    pulse.beat()?;
                }
                let record = sealed.open(&path)?;
                if let Some(Message::Copy { tag, url }) = Message::decode(record.payload) {
                    if self.gives_anew() {
                        self.deliver(None, Message::Url { tag, url }, recipient)?;
                    }
                    self.copy(url, tag)?;
                }
            }
            self.removed.push((name.clone(), None));
        }
        Ok(())
    }
}
