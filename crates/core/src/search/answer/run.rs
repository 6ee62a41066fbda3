//! One search: the plan of a query, its leaves after lookup, and the tasks that find its top-k documents.

use std::panic::resume_unwind;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::facets::{Facets, Tally};
use super::part::Part;
use super::pinned::{Distinct, Pinned, distinct, scoring, terms};
use super::request::Request;
use super::resolve::{Resolved, resolve};
use super::{Searcher, Statistics};
use crate::index::format::zone::{ZONES, ZoneSet};
use crate::search::language::tree::Query;
use crate::search::matching::leaf::{LeafCursor, Scoring, WINDOW};
use crate::search::matching::{Leaves, Node, Plan, Slot};
use crate::search::rank::{Limits, Method, Nearness, Prior, Ranked, Scored, Task, Top};
use crate::search::rank::{conjunction, count, exhaustive, lead, maxscore, taat, wand};
use crate::search::score::LeafScore;
use crate::{Error, Pulse, Result};

/// One search.
pub struct Run<'s> {
    pub searcher: &'s Searcher,
    pub request: &'s Request<'s>,
    pub plan: Plan<'s>,
    statistics: Statistics,
    /// The distinct leaves.
    pub resolved: Vec<Resolved>,
    /// For each slot, the index of its distinct leaf.
    which: Vec<usize>,
    /// The score function of each distinct leaf, with its boost.
    pub scores: Vec<LeafScore>,
    /// The scoring leaves: the slot whose cursor is read, the index of the distinct leaf, and its boost.
    pub scoring: Vec<(Slot, usize, f64)>,
    /// The required leaves: no document matches without all of them.
    required: Vec<Slot>,
    deadline: Option<Instant>,
    pulse: &'s Pulse<'s>,
    partial: bool,
}

impl<'s> Run<'s> {
    /// Plans a search and looks up its leaves.
    pub fn new(
        searcher: &'s Searcher,
        query: &'s Query,
        request: &'s Request<'s>,
        begun: Instant,
        pulse: &'s Pulse<'s>,
        pinned: Option<&Pinned>,
    ) -> Result<Run<'s>> {
        let searched = request.options.model.searched();
        let plan = Plan::new(query, searched, request.options.intersection);
        let Distinct { leaves, which, most } = distinct(&plan);
        let mut resolved = Vec::with_capacity(leaves.len());
        for (number, leaf) in leaves.into_iter().enumerate() {
            let pin = pinned.and_then(|pinned| pinned.leaves.get(number));
            if pinned.is_some() && pin.is_none() {
                return Err(Error::Invalid("the statistics are those of another query".into()));
            }
            resolved.push(resolve(searcher, leaf, searched, most, pin)?);
        }
        let scoring = scoring(query, &plan, &which);
        let statistics = pinned.map_or_else(|| searcher.statistics(), |pinned| pinned.statistics);
        let mut boosts = vec![1.0; resolved.len()];
        scoring.iter().for_each(|(_, number, boost)| boosts[*number] = *boost);
        let score =
            |(leaf, boost): (&Resolved, &f64)| request.options.model.leaf(&statistics, &leaf.found, *boost);
        let scores = resolved.iter().zip(&boosts).map(score).collect();
        let deadline = request.options.time_limit.and_then(|limit| begun.checked_add(limit));
        let required = plan.required();
        Ok(Run {
            required,
            searcher,
            request,
            plan,
            statistics,
            resolved,
            which,
            scores,
            scoring,
            deadline,
            pulse,
            partial: false,
        })
    }

    /// Whether the time limit ended the search early.
    pub fn partial(&self) -> bool {
        self.partial
    }

    /// The terms that score, each with the number of its leaf.
    pub fn terms(&self) -> Vec<(String, usize)> {
        terms(&self.scoring, |which| &self.resolved[which].terms)
    }

    /// The top-k documents, best first.
    pub fn best(&mut self) -> Result<Vec<Ranked>> {
        let mut best = self.candidates()?;
        if let Some(mut nearness) = self.nearness() {
            self.bring_together(&mut best, &mut nearness)?;
            best.truncate(self.request.depth);
        }
        Ok(best)
    }

    /// The number of top documents to find: k, or as many as are reranked by proximity.
    pub fn depth(&self) -> usize {
        match self.nearness() {
            Some(_) => self.request.depth.max(self.request.options.proximity.depth),
            None => self.request.depth,
        }
    }

    /// The top documents before they are reranked by proximity, best first.
    pub fn candidates(&mut self) -> Result<Vec<Ranked>> {
        let depth = self.depth();
        let floor = AtomicU64::new(f64::NEG_INFINITY.to_bits());
        let limits = Limits { deadline: self.deadline, pulse: self.pulse, floor: &floor };
        let tasks = self.tasks();
        let threads = self.threads().min(tasks.len());
        let mut top = Top::new(depth);
        if threads <= 1 {
            for (number, range) in tasks {
                let (found, partial) = self.search(number, range, Top::new(depth), &limits)?;
                top.absorb(found);
                self.partial |= partial;
            }
        } else {
            for (found, partial) in self.search_together(&tasks, threads, depth, &limits)? {
                top.absorb(found);
                self.partial |= partial;
            }
        }
        Ok(top.into_sorted())
    }

    /// The number of matches, given how many were ranked; whether it is exact; and the facets, if requested.
    pub fn count_past(&mut self, ranked: usize) -> Result<(u64, bool, Option<Facets>)> {
        let all_ranked = ranked < self.request.depth && !self.partial;
        let ranked = ranked as u64;
        if self.request.facets == 0 && (all_ranked || self.request.count <= ranked) {
            return Ok((ranked, all_ranked, None));
        }
        let (matches, whole, tally) = self.count(self.request.count.max(ranked))?;
        let facets = tally.map(|tally| tally.counts().facets(self.request.facets));
        Ok((matches.max(ranked), whole || all_ranked, facets))
    }

    /// The number of matches, counted up to `limit`; whether it is exact; and the tally for facets, if requested.
    pub fn count(&mut self, limit: u64) -> Result<(u64, bool, Option<Tally>)> {
        let mut tally = (self.request.facets > 0).then(Tally::default);
        let floor = AtomicU64::new(0);
        let limits = Limits { deadline: self.deadline, pulse: self.pulse, floor: &floor };
        let mut matches = 0u64;
        let mut whole = limit > 0;
        for (number, part) in self.searcher.parts.iter().enumerate() {
            if !whole {
                break;
            }
            if self.is_missing(number) {
                continue;
            }
            let mut leaves = self.leaves(number)?;
            let range = 0..part.documents();
            let mut of_part = tally.as_ref().map(|_| Tally::of_segment(&part.segment));
            let slots: Vec<Slot> = self.scoring.iter().map(|(slot, ..)| *slot).collect();
            let any = self.plan.is_disjunction() && self.plan.restriction(&mut leaves)?.is_none();
            let all = self.plan.is_conjunction() && count::is_dense(&leaves, &slots);
            if (any || all) && of_part.is_none() {
                whole &=
                    count::by_windows(&mut leaves, &slots, all, range, &part.replaced, &limits, |found| {
                        matches += found;
                        matches < limit
                    })?;
            } else {
                let mut leaves = self.leaves(number)?;
                let mut node = self.plan.node(&mut leaves)?;
                whole &=
                    count::matches(&mut leaves, &mut node, range, &part.replaced, &limits, |document| {
                        matches += 1;
                        if let Some(tally) = &mut of_part {
                            tally.add(&part.segment, document);
                        }
                        matches < limit
                    })?;
            }
            if let (Some(tally), Some(of_part)) = (&mut tally, of_part) {
                tally.absorb(of_part, &part.segment);
            }
        }
        self.partial |= !whole && matches < limit;
        // A window may have overshot the limit.
        Ok((matches.min(limit), whole, tally))
    }

    /// Whether a segment lacks a required leaf, so that no document of it matches.
    fn is_missing(&self, number: usize) -> bool {
        self.required.iter().any(|slot| self.resolved[self.which[*slot]].lists[number].is_empty())
    }

    /// The cursors of the leaves on a segment.
    pub fn leaves(&self, number: usize) -> Result<Leaves<'s>> {
        let part = &self.searcher.parts[number];
        let mut cursors = Vec::with_capacity(self.which.len());
        for which in &self.which {
            cursors.push(self.cursor(number, *which)?);
        }
        Ok(Leaves { segment: &part.segment, cursors })
    }

    /// A cursor of a distinct leaf on a segment.
    fn cursor(&self, number: usize, which: usize) -> Result<LeafCursor<'s>> {
        let part = &self.searcher.parts[number];
        let resolved = &self.resolved[which];
        let scoring = self.scoring_on(part, self.scores[which], resolved)?;
        LeafCursor::new(&part.segment, &resolved.lists[number], &scoring)
    }

    fn scoring_on(&self, part: &Part, score: LeafScore, leaf: &Resolved) -> Result<Scoring> {
        let zones = leaf.found.zones;
        let mut lengths = [const { None }; ZONES];
        let bag = self.request.options.model.is_bag();
        let together = if bag { Some(part.lengths(zones)?) } else { None };
        for zone in zones.zones() {
            lengths[zone as usize] = match &together {
                Some(together) => Some(together.clone()),
                None => {
                    let mut alone = ZoneSet::default();
                    alone.insert(zone);
                    Some(part.lengths(alone)?)
                }
            };
        }
        Ok(Scoring { score, lengths, bag: together, alone: leaf.alone })
    }

    /// The query-independent part of the score on a segment.
    pub fn prior<'a>(
        &'a self,
        part: &'a Part,
        of_length: &'a (dyn Fn(f64) -> f64 + Sync),
    ) -> Result<Prior<'a>> {
        let model = &self.request.options.model;
        let counts = model.of_length(1.0, 1.0) != 0.0;
        let length = if counts { Some((part.lengths(model.searched())?, of_length)) } else { None };
        let weight = self.request.options.rank_weight;
        Ok(Prior { ranks: &part.ranks, maxima: &part.rank_maxima, weight, length })
    }

    /// The length penalty of a document.
    pub fn of_length(&self) -> impl Fn(f64) -> f64 + Sync {
        let boosts = self.scoring.iter().map(|(.., boost)| boost).sum::<f64>();
        let model = self.request.options.model;
        move |words| model.of_length(boosts, words)
    }

    /// The proximity scorer, if proximity counts for this query.
    pub fn nearness(&self) -> Option<Nearness> {
        let leaf = |(slot, which, _): &(Slot, usize, f64)| {
            (*slot, self.scores[*which], self.resolved[*which].found.zones)
        };
        let leaves: Vec<(Slot, LeafScore, ZoneSet)> = self.scoring.iter().map(leaf).collect();
        Nearness::new(&self.request.options.proximity, &self.request.options.model, &self.statistics, &leaves)
    }

    /// The tasks: segments, or ranges of documents of a segment.
    fn tasks(&self) -> Vec<(usize, std::ops::Range<u32>)> {
        let threads = self.threads() as u32;
        let mut tasks = Vec::new();
        for (number, part) in self.searcher.parts.iter().enumerate() {
            let documents = part.documents();
            let stretch = documents.div_ceil(threads).next_multiple_of(WINDOW).max(WINDOW);
            let starts = (0..documents).step_by(stretch as usize);
            tasks.extend(starts.map(|start| (number, start..(start + stretch).min(documents))));
        }
        tasks
    }

    /// The number of threads that pays.
    fn threads(&self) -> usize {
        let lists = self.resolved.iter().flat_map(|leaf| &leaf.lists).flatten();
        let postings = lists.map(|(_, list)| u64::from(list.frequency)).sum::<u64>();
        self.request.options.threads.min((postings / self.request.worth_a_thread.max(1)) as usize + 1).max(1)
    }

    fn search_together(
        &self,
        tasks: &[(usize, std::ops::Range<u32>)],
        threads: usize,
        depth: usize,
        limits: &Limits<'_>,
    ) -> Result<Vec<(Top, bool)>> {
        let next = AtomicUsize::new(0);
        let work = || -> Result<Vec<(Top, bool)>> {
            let mut found = Vec::new();
            while let Some((number, range)) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                found.push(self.search(*number, range.clone(), Top::new(depth), limits)?);
            }
            Ok(found)
        };
        let found = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut found = vec![work()];
            found.extend(
                others.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))),
            );
            found
        });
        Ok(found.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }

    fn search(
        &self,
        number: usize,
        range: std::ops::Range<u32>,
        top: Top,
        limits: &Limits<'_>,
    ) -> Result<(Top, bool)> {
        let part = &self.searcher.parts[number];
        if self.is_missing(number) {
            return Ok((top, false));
        }
        let of_length = self.of_length();
        let mut task = Task {
            leaves: self.leaves(number)?,
            scoring: self.scoring.iter().map(|(slot, ..)| Scored { slot: *slot }).collect(),
            number,
            replaced: &part.replaced,
            range,
            prior: self.prior(part, &of_length)?,
            top,
            limits,
            partial: false,
            floor: f64::NEG_INFINITY,
        };
        let disjunction = self.plan.is_disjunction();
        match self.request.options.method {
            Method::Exhaustive => {
                let node = self.node(&mut task)?;
                exhaustive::exhaustive(&mut task, node)?;
            }
            Method::Wand | Method::BlockMaxWand if disjunction => {
                let restriction = self.plan.restriction(&mut task.leaves)?;
                wand::wand(&mut task, restriction, self.request.options.method == Method::BlockMaxWand)?;
            }
            Method::Taat if disjunction => {
                let restriction = self.plan.restriction(&mut task.leaves)?;
                taat::union(&mut task, restriction)?;
            }
            Method::Taat if self.plan.is_conjunction() => taat::intersection(&mut task)?,
            _ if disjunction => {
                let restriction = self.plan.restriction(&mut task.leaves)?;
                maxscore::maxscore(&mut task, restriction)?;
            }
            _ => match self.required.as_slice() {
                [] => {
                    let node = self.node(&mut task)?;
                    lead::lead(&mut task, node)?;
                }
                required => {
                    let leads = conjunction::leader(&task, required);
                    let (mut node, mut leader) = (None, leads);
                    if !self.plan.is_decided() {
                        node = Some(self.node(&mut task)?);
                        // The node has already moved the leader's cursor ahead, so the leader needs a second
                        // one.
                        leader = task.leaves.cursors.len();
                        task.leaves.cursors.push(self.cursor(number, self.which[leads])?);
                    }
                    conjunction::conjunction(&mut task, node, required, leads, leader)?;
                }
            },
        }
        Ok((task.top, task.partial))
    }

    /// The matching documents of a task's segment. Leaves that the nodes read ahead get a second cursor for
    /// scoring.
    fn node(&self, task: &mut Task<'s>) -> Result<Node> {
        let ahead = self.plan.ahead();
        for scored in task.scoring.iter_mut().filter(|scored| ahead.contains(&scored.slot)) {
            let cursor = self.cursor(task.number, self.which[scored.slot])?;
            scored.slot = task.leaves.cursors.len();
            task.leaves.cursors.push(cursor);
        }
        self.plan.node(&mut task.leaves)
    }

    /// Adds proximity to the scores of the top documents and re-sorts them.
    fn bring_together(&self, best: &mut [Ranked], nearness: &mut Nearness) -> Result<()> {
        let depth = self.request.options.proximity.depth.min(best.len());
        let near = &mut best[..depth];
        self.add_nearness(near, nearness)?;
        near.sort_by(|left, right| right.cmp(left));
        Ok(())
    }

    /// Adds proximity to the scores of some documents, and sorts them by their places.
    pub fn add_nearness(&self, near: &mut [Ranked], nearness: &mut Nearness) -> Result<()> {
        near.sort_by_key(|ranked| (ranked.segment, ranked.document));
        let mut open: Option<(usize, Leaves<'_>)> = None;
        for ranked in near.iter_mut() {
            if open.as_ref().is_none_or(|(number, _)| *number != ranked.segment) {
                open = Some((ranked.segment, self.leaves(ranked.segment)?));
            }
            if let Some((_, leaves)) = &mut open {
                let parts = nearness.parts(ranked.document, leaves)?;
                ranked.score += parts.iter().map(|(_, part)| part).sum::<f64>();
            }
        }
        Ok(())
    }
}
