//! Who the agents of a crawl are, and whose a URL is.
//!
//! The members are constant during a run. Every URL has a *name owner*, the agent that its host or registrable domain is
//! assigned to: its sieve sees every URL of the host, and it resolves the name. Every IP address has an *address owner*,
//! the agent that the text of the address is assigned to: it crawls every host at the address, so its workbench alone
//! keeps the politeness of host and address. Behind a proxy, addresses are not known, and the name owner crawls.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::record::Witness;
use crate::assignment::{Agent, Assignment, By, Method, key_of};
use crate::{Error, Result, sorted};

/// The section `exchange` of a plan.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Membership {
    /// This agent.
    pub(crate) agent: u32,
    /// The number of this set of members; it grows with each change.
    pub(crate) epoch: u64,
    /// All agents that URLs are assigned to; an agent that is leaving is not among them.
    pub(crate) members: Vec<Agent>,
    /// The agents that are no members any more, and hand over what they have in this epoch.
    #[serde(default)]
    pub(crate) leaving: Vec<u32>,
    /// The last epoch that began because an agent was lost, or one that was lost was back: who was last there before it says
    /// again what it has fetched, and what nobody has fetched is its name owner's. 0: there was none.
    #[serde(default)]
    pub(crate) reset: u64,
    /// Of each agent that was ever lost, the last epoch that began without it, or with another disk: what it had fetched
    /// before counts only if it says so itself.
    #[serde(default)]
    pub(crate) lost: BTreeMap<u32, u64>,
    pub(crate) method: String,
    pub(crate) replicas: u32,
    pub(crate) by: String,
    /// The longest rest of a host at any other agent, in seconds: addresses may have come from there.
    #[serde(default)]
    pub(crate) rest: f64,
    /// What was committed; `None` at the first start.
    #[serde(default)]
    pub(crate) state: Option<State>,
}

/// How URLs are divided: what all agents of an epoch agree on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Division {
    members: Vec<Agent>,
    method: String,
    replicas: u32,
    by: String,
}

/// What is committed of the exchange.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct State {
    /// Distinguishes the outboxes of this collection from those of another one of the same agent.
    pub incarnation: u64,
    /// The last epoch whose moves are complete on this side.
    pub epoch: u64,
    /// How URLs were divided in it.
    pub division: Option<Division>,
    /// The last epoch at which responsibilities were given anew: tokens of earlier ones are void.
    #[serde(default)]
    pub reset: u64,
    /// Whether any URL was passed on because its name had gone before the sieve decided about it.
    #[serde(default)]
    pub passed: bool,
    /// The position up to which each peer has committed what it was sent.
    pub acknowledged: BTreeMap<u32, u64>,
    /// The position after the last record for each peer whose outbox was removed: it goes on from there.
    #[serde(default)]
    pub ended: BTreeMap<u32, u64>,
    /// What was accepted of each sender.
    pub senders: BTreeMap<u32, Accepted>,
    /// The epoch of the last mark of each sender.
    pub marks: BTreeMap<u32, u64>,
    /// The map of known URLs.
    pub known: sorted::State,
    /// The number of URLs that were written for each peer.
    pub urls: BTreeMap<u32, u64>,
}

/// What was accepted of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Accepted {
    /// The incarnation of its outboxes.
    pub incarnation: u64,
    /// The position.
    pub position: u64,
    /// The number of records.
    pub records: u64,
}

impl Membership {
    /// Checks that a crawl can be divided like this.
    pub fn check(&self) -> Result<()> {
        Owners::new(self.agent, self.division())?;
        let Some(state) = self.state.as_ref().filter(|state| state.division.is_some()) else { return Ok(()) };
        if self.epoch < state.epoch {
            return Err(Error::Invalid(format!(
                "agent {} has been in epoch {} already, and cannot go back to {}",
                self.agent, state.epoch, self.epoch
            )));
        }
        if self.epoch == state.epoch && state.division != Some(self.division()) {
            return Err(Error::Invalid(format!(
                "agent {} was started with other agents, but the epoch is still {}",
                self.agent, self.epoch
            )));
        }
        Ok(())
    }

    /// Whether the sieve emits everything again: at the first start in an epoch that gives responsibilities anew, or in
    /// which a URL that was passed on may have come back with its name.
    pub fn begins_anew(&self) -> bool {
        let is_needed = |state: &State| state.epoch < self.reset || state.passed;
        self.state.as_ref().is_some_and(|state| is_needed(state) && state.epoch < self.epoch)
    }

    /// Whether an agent was lost since it said that it has a page.
    pub fn has_lost(&self, by: Witness) -> bool {
        self.lost.get(&by.agent).is_some_and(|lost| by.epoch < *lost)
    }

    /// How URLs are divided.
    pub fn division(&self) -> Division {
        let mut members = self.members.clone();
        members.sort_by_key(|agent| agent.id);
        Division { members, method: self.method.clone(), replicas: self.replicas, by: self.by.clone() }
    }

    /// The agents other than this one that may speak in this epoch.
    pub fn others(&self) -> BTreeSet<u32> {
        let members = self.members.iter().map(|agent| agent.id);
        members.chain(self.leaving.iter().copied()).filter(|id| *id != self.agent).collect()
    }
}

/// Whose a URL or an address is.
#[derive(Debug)]
pub struct Owners {
    /// This agent.
    pub me: u32,
    by: By,
    assignment: Assignment,
}

impl Owners {
    /// The owners as agent `me` sees them, who need not be one.
    pub fn new(me: u32, division: Division) -> Result<Owners> {
        let method: Method = division.method.parse()?;
        let assignment = Assignment::new(method, &division.members, division.replicas)?;
        Ok(Owners { me, by: division.by.parse()?, assignment })
    }

    /// The owner of the name in a canonical URL.
    #[inline]
    pub fn of_name(&self, url: &str) -> u32 {
        self.assignment.agent(key_of(url, self.by))
    }

    /// The owner of an address.
    pub fn of_address(&self, address: IpAddr) -> u32 {
        self.assignment.agent(address.to_string().as_bytes())
    }

    /// The agent that the name in a URL goes to if its owner is lost; `None` if there is no other.
    pub fn successor(&self, url: &str) -> Option<u32> {
        let key = key_of(url, self.by);
        self.assignment.next_agent(key, &[self.assignment.agent(key)])
    }

    /// Whether an agent is a member.
    pub fn has(&self, agent: u32) -> bool {
        self.assignment.members().iter().any(|member| member.id == agent)
    }
}
