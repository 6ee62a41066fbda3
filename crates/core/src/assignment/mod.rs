//! Assignment: which agent a host belongs to, computed by every agent alone.
//!
//! For a set A of agents, δ_A maps every key (a host or a registrable domain, see [`key_of`]) to an agent in A.
//! Two properties matter:
//!
//! - *balance*: an agent gets about the share w_a / Σ w of the keys, w being its weight;
//! - *contravariance*: if A ⊆ B, then δ_B⁻¹(a) ⊆ δ_A⁻¹(a) for every a in A. An agent that is added takes keys
//!   from the others, and no key moves between the others; an agent that is lost gives its keys away, and no
//!   other key moves.
//!
//! | [`Method`] | contravariant | weights | time per key | memory | relative deviation of a share, n agents |
//! | --- | --- | --- | --- | --- | --- |
//! | `consistent` | yes | yes | O(1): a cache line | 20 to 31 bytes per replica | 1/√C, with C replicas |
//! | `min-hash` | yes | yes | O(n) | 8 bytes per agent | 0 |
//! | `permutation` | within a universe P | equal only | O(P / n) | 4 bytes per element of P | 0 |
//! | `modulo` | no: n/(n+1) of the keys move | equal only | O(1) | none | 0 |
//!
//! To the deviation is added that of drawing k keys at random, √((n − 1)/k).
//!
//! [`Assignment::next_agent`] is the agent of a key in A without some agents: δ of the smaller set, without
//! building it (go on shuffling; the next minimum; the next replica of another agent).
//!
//! **This is a protocol between machines**: every agent must compute the same function, on any platform and
//! in any later version. It is defined by XXH3-64 with seed [`KEY_SEED`] of the key's bytes, by SplitMix64
//! ([`random`](crate::signature::hash::random)) of that hash and of the agents' ids, and by the text of each
//! method's module; ties go to the smaller id, and the order in which agents are given does not matter. Tests
//! pin its values.
//!
//! Sources: David Karger and others, "Consistent hashing and random trees", 1997; David Thaler and Chinya
//! Ravishankar, "Using name-based mappings to increase hit rates", 1998 (min hashing as rendezvous); Paolo
//! Boldi, Bruno Codenotti, Massimo Santini and Sebastiano Vigna, "UbiCrawler", 2004.

mod key;
mod min_hash;
mod permutation;
mod ring;
pub mod simulate;

use serde::{Deserialize, Serialize};

use crate::settings::choices;
use crate::{Error, Pulse, Result};

pub use key::{By, KEY_SEED, hash_of, key_of};
use min_hash::MinHash;
use permutation::Permutation;
use ring::Ring;

choices! {
    /// How keys are assigned to agents.
    pub enum Method, "method of assignment" {
        /// Replicas of each agent on a circle; a key belongs to the next one.
        Consistent = "consistent",
        /// The agent with the smallest hash of key and agent.
        MinHash = "min-hash",
        /// The first live agent in a random order that depends on the key.
        Permutation = "permutation",
        /// The hash modulo the number of agents: adding one moves nearly every key.
        Modulo = "modulo",
    }
}

/// The number of replicas of an agent of weight 1, unless set.
pub const REPLICAS: u32 = 300;
/// The largest number of agents.
pub const MOST_AGENTS: usize = u16::MAX as usize;
/// The largest number of replicas of all agents together.
const MOST_REPLICAS: f64 = (1u64 << 28) as f64;
/// The smallest default universe of permutations: sets of agents with ids below it share one.
const SMALLEST_UNIVERSE: u32 = 1 << 10;
/// The largest universe of permutations.
const LARGEST_UNIVERSE: u32 = 1 << 20;

/// The keys that are hashed before the first of them is looked up: their cache lines come meanwhile.
const CHUNK: usize = 64;
/// The work between two beats of the pulse, in keys times agents: some milliseconds.
const WORK_PER_BEAT: usize = 1 << 22;

/// One agent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// Its identity; the numbers of a set are distinct, and need not be consecutive.
    pub id: u32,
    /// Its capacity beside that of the others; 1 if all are equal.
    pub weight: f64,
}

impl Agent {
    /// An agent of weight 1.
    pub fn new(id: u32) -> Agent {
        Agent { id, weight: 1.0 }
    }
}

/// The structure of a method; it speaks of agents by their ranks in the order of ids.
#[derive(Clone, Debug)]
enum Rule {
    Consistent(Ring),
    MinHash(MinHash),
    Permutation(Permutation),
    Modulo,
}

/// An assignment of keys to a set of agents. Immutable: another set is another assignment.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// In the order of ids.
    agents: Vec<Agent>,
    method: Method,
    rule: Rule,
}

impl Assignment {
    /// The assignment to `agents`, in any order; `replicas` is the number of replicas of an agent of weight 1
    /// (an agent of weight w has the rounded w times that, and at least one), and only `consistent` has them.
    /// The universe of `permutation` is that of [`Assignment::in_universe`] for the largest id: 0 to 1,023,
    /// or to the next power of two.
    pub fn new(method: Method, agents: &[Agent], replicas: u32) -> Result<Assignment> {
        let largest = agents.iter().map(|agent| agent.id).max().unwrap_or(0);
        let universe = u64::from(largest).saturating_add(1).next_power_of_two();
        let universe = u32::try_from(universe).unwrap_or(u32::MAX).max(SMALLEST_UNIVERSE);
        Assignment::in_universe(method, agents, replicas, universe)
    }

    /// The assignment whose permutations are those of the numbers below `universe`, which all ids must be.
    /// Contravariance of `permutation` holds between sets of one universe.
    pub fn in_universe(method: Method, agents: &[Agent], replicas: u32, universe: u32) -> Result<Assignment> {
        let agents = checked(method, agents)?;
        let rule = match method {
            Method::Consistent => Rule::Consistent(Ring::new(&replicas_of(&agents, replicas)?)),
            Method::MinHash => Rule::MinHash(MinHash::new(&agents)),
            Method::Permutation => {
                let largest = agents.last().map_or(0, |agent| agent.id);
                if largest >= universe || universe > LARGEST_UNIVERSE {
                    return Err(Error::Invalid(format!(
                        "the method permutation takes agents with ids below the universe, {universe}, which is \
                         at most {LARGEST_UNIVERSE}; there is agent {largest}"
                    )));
                }
                let ids: Vec<u32> = agents.iter().map(|agent| agent.id).collect();
                Rule::Permutation(Permutation::new(universe, &ids))
            }
            Method::Modulo => Rule::Modulo,
        };
        Ok(Assignment { agents, method, rule })
    }

    /// The agents, in the order of ids.
    pub fn members(&self) -> &[Agent] {
        &self.agents
    }

    /// The method.
    pub fn method(&self) -> Method {
        self.method
    }

    /// The memory of the structure in bytes.
    pub fn memory(&self) -> usize {
        let rule = match &self.rule {
            Rule::Consistent(ring) => ring.memory(),
            Rule::MinHash(hashes) => hashes.memory(),
            Rule::Permutation(permutation) => permutation.memory(),
            Rule::Modulo => 0,
        };
        rule + size_of_val(&self.agents[..])
    }

    /// The id of the agent that a key belongs to.
    pub fn agent(&self, key: &[u8]) -> u32 {
        self.of_hash(hash_of(key))
    }

    /// The agent of each key: quicker than one call a key.
    pub fn agents<K: AsRef<[u8]>>(&self, keys: impl IntoIterator<Item = K>) -> Vec<u32> {
        // A steady pulse never stops the loop.
        self.agents_with(keys, &Pulse::STEADY).unwrap_or_default()
    }

    /// The agent of each key; stops when the pulse does.
    pub fn agents_with<K: AsRef<[u8]>>(
        &self,
        keys: impl IntoIterator<Item = K>,
        pulse: &Pulse,
    ) -> Result<Vec<u32>> {
        let keys = keys.into_iter();
        let mut found = Vec::with_capacity(keys.size_hint().0);
        let mut lookup = Lookup::new(self, &[], pulse)?;
        let mut hashes = [0; CHUNK];
        let mut length = 0;
        for key in keys {
            hashes[length] = hash_of(key.as_ref());
            length += 1;
            if length == CHUNK {
                lookup.append(&hashes, &mut found)?;
                length = 0;
            }
        }
        lookup.append(&hashes[..length], &mut found)?;
        Ok(found)
    }

    /// The agent of each key given by its hash ([`hash_of`]).
    pub fn agents_of_hashes(&self, hashes: &[u64], pulse: &Pulse) -> Result<Vec<u32>> {
        self.next_agents_of_hashes(hashes, &[], pulse).map(Option::unwrap_or_default)
    }

    /// The agent that a key belongs to when the agents `without` are gone; `None` if no other is left. Ids
    /// that are not in the set do not matter.
    pub fn next_agent(&self, key: &[u8], without: &[u32]) -> Option<u32> {
        let found = self.next_agents_of_hashes(&[hash_of(key)], without, &Pulse::STEADY);
        found.ok().flatten()?.first().copied()
    }

    /// [`Assignment::next_agent`] of each key.
    pub fn next_agents<K: AsRef<[u8]>>(
        &self,
        keys: impl IntoIterator<Item = K>,
        without: &[u32],
    ) -> Option<Vec<u32>> {
        let hashes: Vec<u64> = keys.into_iter().map(|key| hash_of(key.as_ref())).collect();
        self.next_agents_of_hashes(&hashes, without, &Pulse::STEADY).ok().flatten()
    }

    /// [`Assignment::next_agent`] of each key given by its hash.
    pub fn next_agents_of_hashes(
        &self,
        hashes: &[u64],
        without: &[u32],
        pulse: &Pulse,
    ) -> Result<Option<Vec<u32>>> {
        let mut lookup = Lookup::new(self, without, pulse)?;
        if lookup.left.is_empty() {
            return Ok(None);
        }
        let mut found = Vec::with_capacity(hashes.len());
        for chunk in hashes.chunks(CHUNK) {
            lookup.append(chunk, &mut found)?;
        }
        Ok(Some(found))
    }

    fn of_hash(&self, hash: u64) -> u32 {
        let rank = match &self.rule {
            Rule::Consistent(ring) => ring.agent(hash),
            Rule::MinHash(hashes) => hashes.agent(hash),
            Rule::Permutation(permutation) => permutation.agent(hash, &mut permutation.shuffle(), &[]),
            Rule::Modulo => (hash % self.agents.len() as u64) as usize,
        };
        self.agents[rank].id
    }
}

/// A batch of look-ups among the agents that are left.
struct Lookup<'a> {
    assignment: &'a Assignment,
    /// By rank; empty if no agent is.
    gone: Vec<bool>,
    /// The ranks of the agents that are left.
    left: Vec<u16>,
    shuffle: permutation::Shuffle,
    pulse: &'a Pulse<'a>,
    work_left: usize,
}

impl<'a> Lookup<'a> {
    fn new(assignment: &'a Assignment, without: &[u32], pulse: &'a Pulse<'a>) -> Result<Lookup<'a>> {
        pulse.beat()?;
        let agents = &assignment.agents;
        let mut gone = vec![false; agents.len()];
        for id in without {
            if let Ok(rank) = agents.binary_search_by_key(id, |agent| agent.id) {
                gone[rank] = true;
            }
        }
        let left: Vec<u16> = (0..agents.len()).filter(|&rank| !gone[rank]).map(|rank| rank as u16).collect();
        if left.len() == agents.len() {
            gone.clear();
        }
        let shuffle = match &assignment.rule {
            Rule::Permutation(permutation) => permutation.shuffle(),
            _ => permutation::Shuffle::default(),
        };
        Ok(Lookup { assignment, gone, left, shuffle, pulse, work_left: WORK_PER_BEAT })
    }

    /// Appends the agents of at most [`CHUNK`] keys.
    fn append(&mut self, hashes: &[u64], found: &mut Vec<u32>) -> Result<()> {
        let agents = &self.assignment.agents;
        let all = self.gone.is_empty();
        let mut push = |rank: usize| found.push(agents[rank].id);
        let work = match &self.assignment.rule {
            Rule::Consistent(ring) if all => {
                ring.each(hashes, push);
                1
            }
            Rule::Consistent(ring) => {
                hashes.iter().for_each(|&hash| push(ring.next_agent(hash, &self.gone)));
                agents.len() / self.left.len() + 1
            }
            Rule::MinHash(rule) if all => {
                hashes.iter().for_each(|&hash| push(rule.agent(hash)));
                agents.len()
            }
            Rule::MinHash(rule) => {
                hashes.iter().for_each(|&hash| push(rule.next_agent(hash, &self.left)));
                agents.len()
            }
            Rule::Permutation(_) if self.left.len() == 1 => {
                hashes.iter().for_each(|_| push(self.left[0].into()));
                1
            }
            Rule::Permutation(rule) => {
                for &hash in hashes {
                    push(rule.agent(hash, &mut self.shuffle, &self.gone));
                }
                rule.universe() / self.left.len() + 1
            }
            Rule::Modulo => {
                let left = &self.left;
                hashes.iter().for_each(|&hash| push(left[(hash % left.len() as u64) as usize].into()));
                1
            }
        };
        match self.work_left.checked_sub(work * hashes.len()) {
            Some(rest) => self.work_left = rest,
            None => {
                self.pulse.beat()?;
                self.work_left = WORK_PER_BEAT;
            }
        }
        Ok(())
    }
}

/// The agents in the order of ids, if they are a set that the method can take.
fn checked(method: Method, agents: &[Agent]) -> Result<Vec<Agent>> {
    let mut agents = agents.to_vec();
    agents.sort_by_key(|agent| agent.id);
    let Some(first) = agents.first() else {
        return Err(Error::Invalid("an assignment needs at least one agent".into()));
    };
    if agents.len() > MOST_AGENTS {
        return Err(Error::Invalid(format!(
            "an assignment has at most {MOST_AGENTS} agents, not {}",
            agents.len()
        )));
    }
    if let Some(pair) = agents.windows(2).find(|pair| pair[0].id == pair[1].id) {
        return Err(Error::Invalid(format!("agent {} is given twice", pair[0].id)));
    }
    if let Some(agent) = agents.iter().find(|agent| !(agent.weight.is_normal() && agent.weight > 0.0)) {
        let Agent { id, weight } = agent;
        return Err(Error::Invalid(format!(
            "the weight of agent {id} must be a positive number, not {weight}"
        )));
    }
    let weightless = matches!(method, Method::Permutation | Method::Modulo);
    if weightless && agents.iter().any(|agent| agent.weight != first.weight) {
        return Err(Error::Invalid(format!(
            "the method {method} takes agents of equal weights only; consistent and min-hash take any"
        )));
    }
    Ok(agents)
}

/// The number of replicas of each agent. It depends on the agent alone: otherwise a new agent would move
/// those of the others.
fn replicas_of(agents: &[Agent], replicas: u32) -> Result<Vec<(u32, u32)>> {
    if replicas == 0 {
        return Err(Error::Invalid("an agent needs at least one replica".into()));
    }
    let of = |agent: &Agent| (agent.weight * f64::from(replicas)).round().max(1.0);
    let total: f64 = agents.iter().map(of).sum();
    if total > MOST_REPLICAS {
        return Err(Error::Invalid(format!(
            "{total:.0} replicas are more than the {MOST_REPLICAS} that a circle takes: give fewer replicas, or \
             smaller weights"
        )));
    }
    Ok(agents.iter().map(|agent| (agent.id, of(agent) as u32)).collect())
}

#[cfg(test)]
mod tests;
