//! The posting lists of hot terms, kept by the broker.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::index::read::extract::Extract;

/// The posting lists of a term: the index of each segment that has it, and its lists there.
pub type OfTerm = Vec<(usize, Arc<Extract>)>;

/// The number of terms whose rent is remembered.
const RENTED: usize = 100_000;

/// Posting lists within a memory budget; the least recently used leave first.
pub struct Hot {
    budget: usize,
    bytes: usize,
    /// The time, in uses.
    now: u64,
    terms: HashMap<String, Kept>,
    /// The terms by the time of their last use.
    order: BTreeMap<u64, String>,
    /// The bytes that parts of lists have cost so far.
    rent: HashMap<String, u64>,
}

struct Kept {
    lists: OfTerm,
    positions: bool,
    bytes: usize,
    used: u64,
}

impl Hot {
    /// Nothing yet.
    pub fn new(budget: usize) -> Hot {
        let (terms, order, rent) = Default::default();
        Hot { budget, bytes: 0, now: 0, terms, order, rent }
    }

    /// The lists of a term, if they are kept, and with positions if those are needed.
    pub fn get(&mut self, term: &str, positions: bool) -> Option<OfTerm> {
        let kept = self.terms.get_mut(term).filter(|kept| kept.positions || !positions)?;
        self.order.remove(&kept.used);
        self.now += 1;
        kept.used = self.now;
        self.order.insert(self.now, term.to_owned());
        Some(kept.lists.clone())
    }

    /// Keeps the whole lists of a term; those that would take more than a quarter of the budget are not kept.
    pub fn keep(&mut self, term: &str, lists: &OfTerm) {
        let own = lists.iter().map(|(_, extract)| extract.bytes()).sum::<usize>();
        let bytes = own + 2 * term.len() + size_of::<Kept>();
        if bytes > self.budget / 4 {
            return;
        }
        self.drop(term);
        self.rent.remove(term);
        self.now += 1;
        let positions = lists.iter().all(|(_, extract)| extract.has_positions());
        self.terms.insert(term.to_owned(), Kept { lists: lists.clone(), positions, bytes, used: self.now });
        self.order.insert(self.now, term.to_owned());
        self.bytes += bytes;
        while self.bytes > self.budget {
            let Some((_, oldest)) = self.order.pop_first() else { break };
            self.drop(&oldest);
        }
    }

    /// Adds to the rent of a term what a part of its lists has cost.
    pub fn pay(&mut self, term: &str, bytes: u64) {
        if self.rent.len() >= RENTED {
            self.rent.clear();
        }
        *self.rent.entry(term.to_owned()).or_default() += bytes;
    }

    /// Whether the whole lists of a term, of this many bytes, are worth having: their rent has reached the price.
    pub fn is_worth(&self, term: &str, bytes: u64) -> bool {
        bytes <= self.budget as u64 / 4 && self.rent.get(term).is_some_and(|rent| *rent >= bytes)
    }

    /// The memory that the lists take in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    fn drop(&mut self, term: &str) {
        if let Some(kept) = self.terms.remove(term) {
            self.order.remove(&kept.used);
            self.bytes -= kept.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::format::codes::Codes;
    use crate::index::read::extract::Taken;

    fn lists(term: &str, bytes: usize) -> OfTerm {
        let mut taken = Taken { positions: true, ..Taken::default() };
        // An entry of one posting in the body: one document without counts, its document and its position.
        taken.entry.extend([0, 0, 0]);
        taken.components[0].extend(vec![0; bytes]);
        vec![(0, Arc::new(Extract::new(term, taken, Arc::new(Codes::plain().unwrap()), 1).unwrap()))]
    }

    #[test]
    fn the_least_recently_used_leave_first_and_the_budget_holds() {
        let mut hot = Hot::new(40_000);
        for term in ["a", "b", "c", "d"] {
            hot.keep(term, &lists(term, 8000));
        }
        assert!(hot.get("a", true).is_some());
        hot.keep("e", &lists("e", 8000));
        assert!(hot.bytes() <= 40_000);
        let kept: Vec<&str> =
            ["a", "b", "c", "d", "e"].into_iter().filter(|term| hot.get(term, false).is_some()).collect();
        assert_eq!(kept, ["a", "c", "d", "e"]);
        hot.keep("f", &lists("f", 20_000));
        assert!(hot.get("f", false).is_none(), "a list of half the budget is not kept");
    }

    #[test]
    fn a_list_is_worth_having_once_its_rent_has_reached_the_price() {
        let mut hot = Hot::new(40_000);
        assert!(!hot.is_worth("a", 0) && !hot.is_worth("a", 100));
        hot.pay("a", 60);
        assert!(!hot.is_worth("a", 100));
        hot.pay("a", 60);
        assert!(hot.is_worth("a", 100) && !hot.is_worth("a", 20_000));
    }
}
