//! The host queues: for each host a queue of waiting URLs per priority level, on disk: first in, first out
//! (breadth first), or last in, first out (depth first: a stack).
//!
//! A URL is represented by its offset in the log of all URLs. A FIFO is a linked list of blocks in the
//! scratch file (see [`blocks`](super::blocks)); only its first offset is in memory, so a FIFO of one URL has
//! no block at all. FIFOs are created when a level gets its first URL and recycled when they are empty:
//! memory is 4 bytes per host and 40 per FIFO, and none per URL. A push touches the FIFO's last block and a
//! pop its first one, and most of both are cached: ten URLs cost about one read and one write of the file. A
//! stack is the same list with pushes at its front.

use std::path::Path;

use super::blocks::{Blocks, LARGEST_OFFSET, PER_BLOCK};
use crate::settings::choices;
use crate::{Error, Result};

choices! {
    /// The order in which the URLs of a host are visited.
    pub enum VisitingOrder, "visiting order" {
        /// First in, first out.
        BreadthFirst = "breadth-first",
        /// Last in, first out.
        DepthFirst = "depth-first",
    }
}

/// The number of priority levels; level 0 is served first.
pub const LEVELS: u8 = 8;

/// How many blocks are cached: 16 MiB of them.
const CACHE: usize = 1 << 18;

const NONE: u32 = u32::MAX;

/// The URLs of one level of one host. The first is here, the others are in the blocks.
#[derive(Clone, Copy)]
struct Fifo {
    first: u64,
    /// A lower bound for the URLs that were pushed after a larger one.
    floor: u64,
    count: u32,
    head: u32,
    tail: u32,
    /// The FIFO of the host's next level, or the next free one.
    next: u32,
    /// The index of the second URL in the first block.
    head_place: u8,
    /// The index of the next URL in the last block.
    tail_place: u8,
    level: u8,
}

/// The waiting URLs of all hosts, which are numbered from 0.
pub struct HostQueues {
    visit: VisitingOrder,
    blocks: Blocks,
    fifos: Vec<Fifo>,
    free: u32,
    /// The first FIFO of each host; the FIFOs of a host are linked in order of their levels.
    hosts: Vec<u32>,
    urls: u64,
}

impl HostQueues {
    /// Empty queues, with a scratch file at a path.
    pub fn create(path: &Path, visit: VisitingOrder) -> Result<HostQueues> {
        HostQueues::with_cache(path, visit, CACHE)
    }

    fn with_cache(path: &Path, visit: VisitingOrder, cache: usize) -> Result<HostQueues> {
        let blocks = Blocks::create(path, cache)?;
        Ok(HostQueues { visit, blocks, fifos: Vec::new(), free: NONE, hosts: Vec::new(), urls: 0 })
    }

    /// Enqueues a URL at a level of a host.
    pub fn push(&mut self, host: u32, level: u8, offset: u64) -> Result<()> {
        if level >= LEVELS || offset > LARGEST_OFFSET {
            return Err(Error::Invalid(format!("no URL can wait at level {level} with offset {offset}")));
        }
        if host as usize >= self.hosts.len() {
            self.hosts.resize(host as usize + 1, NONE);
        }
        let (mut before, mut at) = (NONE, self.hosts[host as usize]);
        while at != NONE && self.fifos[at as usize].level < level {
            (before, at) = (at, self.fifos[at as usize].next);
        }
        if at != NONE && self.fifos[at as usize].level == level {
            match self.visit {
                VisitingOrder::BreadthFirst => self.append(at as usize, offset)?,
                VisitingOrder::DepthFirst => self.prepend(at as usize, offset)?,
            }
        } else {
            let fifo = self.new_fifo(Fifo {
                first: offset,
                floor: u64::MAX,
                count: 1,
                head: 0,
                tail: 0,
                next: at,
                head_place: 0,
                tail_place: 0,
                level,
            });
            match before {
                NONE => self.hosts[host as usize] = fifo,
                _ => self.fifos[before as usize].next = fifo,
            }
        }
        self.urls += 1;
        Ok(())
    }

    /// Dequeues the first URL of the host's best level.
    pub fn pop(&mut self, host: u32) -> Result<Option<u64>> {
        let Some(at) = self.best(host) else { return Ok(None) };
        let fifo = self.fifos[at];
        let offset = fifo.first;
        if fifo.count == 1 {
            self.hosts[host as usize] = fifo.next;
            // So that the search for the oldest ignores it.
            self.fifos[at] = Fifo { first: u64::MAX, floor: u64::MAX, count: 0, next: self.free, ..fifo };
            self.free = at as u32;
        } else {
            self.advance(at)?;
        }
        self.urls -= 1;
        Ok(Some(offset))
    }

    /// The URL that [`pop`](Self::pop) would return.
    pub fn first(&self, host: u32) -> Option<u64> {
        self.best(host).map(|at| self.fifos[at].first)
    }

    /// The best level at which the host has a URL.
    pub fn first_level(&self, host: u32) -> Option<u8> {
        self.best(host).map(|at| self.fifos[at].level)
    }

    /// The number of waiting URLs of the host.
    pub fn len(&self, host: u32) -> u64 {
        let mut at = self.hosts.get(host as usize).copied().unwrap_or(NONE);
        let mut sum = 0;
        while at != NONE {
            sum += u64::from(self.fifos[at as usize].count);
            at = self.fifos[at as usize].next;
        }
        sum
    }

    /// The total number of waiting URLs.
    pub fn urls(&self) -> u64 {
        self.urls
    }

    /// The smallest waiting offset, in one pass over the FIFOs and without disk access. It is exact if
    /// offsets were pushed in increasing order at each level of each host; if one was not, it may be too
    /// small, never too large, until that FIFO has been empty.
    pub fn oldest(&self) -> Option<u64> {
        if self.urls == 0 {
            return None;
        }
        self.fifos.iter().map(|fifo| fifo.first.min(fifo.floor)).min()
    }

    /// The maximum memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.blocks.bytes()
            + self.fifos.capacity() * size_of::<Fifo>()
            + self.hosts.capacity() * size_of::<u32>()
    }

    fn best(&self, host: u32) -> Option<usize> {
        self.hosts.get(host as usize).filter(|&&at| at != NONE).map(|&at| at as usize)
    }

    fn new_fifo(&mut self, fifo: Fifo) -> u32 {
        if self.free == NONE {
            self.fifos.push(fifo);
            return self.fifos.len() as u32 - 1;
        }
        let at = self.free;
        self.free = std::mem::replace(&mut self.fifos[at as usize], fifo).next;
        at
    }

    /// Appends to a nonempty FIFO.
    fn append(&mut self, at: usize, offset: u64) -> Result<()> {
        let Fifo { count, tail, tail_place, .. } = self.fifos[at];
        let count = one_more(count)?;
        let last;
        if count == 2 || tail_place == PER_BLOCK {
            let block = self.blocks.allocate()?;
            self.blocks.write(block, |content| content.set_offset(0, offset))?;
            last = if count == 2 {
                self.fifos[at].head = block;
                self.fifos[at].head_place = 0;
                self.fifos[at].first
            } else {
                self.blocks.write(tail, |content| {
                    content.set_next(block);
                    content.offset(PER_BLOCK - 1)
                })?
            };
            self.fifos[at].tail = block;
            self.fifos[at].tail_place = 1;
        } else {
            last = self.blocks.write(tail, |content| {
                content.set_offset(tail_place, offset);
                content.offset(tail_place - 1)
            })?;
            self.fifos[at].tail_place += 1;
        }
        if offset < last {
            self.fifos[at].floor = self.fifos[at].floor.min(offset);
        }
        self.fifos[at].count = count;
        Ok(())
    }

    /// Puts a URL in front of a nonempty FIFO.
    fn prepend(&mut self, at: usize, offset: u64) -> Result<()> {
        let Fifo { first, floor, count, head, head_place, .. } = self.fifos[at];
        let count = one_more(count)?;
        // The former first URL goes before the others, from the last place of a new block towards its first.
        let (block, place) = if count == 2 || head_place == 0 {
            (self.blocks.allocate()?, PER_BLOCK - 1)
        } else {
            (head, head_place - 1)
        };
        self.blocks.write(block, |content| {
            content.set_offset(place, first);
            if block != head {
                content.set_next(head);
            }
        })?;
        if count == 2 {
            self.fifos[at].tail = block;
            self.fifos[at].tail_place = PER_BLOCK;
        }
        let moved = Fifo {
            first: offset,
            floor: floor.min(first),
            count,
            head: block,
            head_place: place,
            ..self.fifos[at]
        };
        self.fifos[at] = moved;
        Ok(())
    }

    /// Moves to the second URL of a FIFO that has one.
    fn advance(&mut self, at: usize) -> Result<()> {
        let Fifo { count, head, head_place, .. } = self.fifos[at];
        let content = self.blocks.read(head)?;
        let was_last_of_all = count == 2;
        if was_last_of_all || head_place + 1 == PER_BLOCK {
            self.blocks.release(head)?;
            self.fifos[at].head = content.next();
            self.fifos[at].head_place = 0;
        } else {
            self.fifos[at].head_place += 1;
        }
        self.fifos[at].first = content.offset(head_place);
        self.fifos[at].count -= 1;
        Ok(())
    }
}

fn one_more(count: u32) -> Result<u32> {
    count.checked_add(1).ok_or_else(|| Error::Invalid("a host has too many URLs".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The queues of one host, by level.
    type Lists = [Vec<u64>; LEVELS as usize];

    fn check(steps: Vec<(u32, Option<u8>, u64)>, visit: VisitingOrder, ascending: bool) {
        let folder = tempfile::tempdir().unwrap();
        let mut queues = HostQueues::with_cache(&folder.path().join("scratch"), visit, 8).unwrap();
        let mut model: Vec<Lists> = vec![Lists::default(); 8];
        let mut clock = 0;
        for (host, level, step) in steps {
            let lists = &mut model[host as usize];
            match level {
                Some(level) => {
                    clock += step;
                    let offset = if ascending { clock } else { step };
                    queues.push(host, level, offset).unwrap();
                    lists[usize::from(level)].push(offset);
                }
                None => {
                    for _ in 0..step % 30 {
                        let list = lists.iter_mut().find(|list| !list.is_empty());
                        let expected = list.map(|list| match visit {
                            VisitingOrder::BreadthFirst => list.remove(0),
                            VisitingOrder::DepthFirst => list.pop().unwrap(),
                        });
                        assert_eq!(queues.first(host), expected);
                        assert_eq!(queues.pop(host).unwrap(), expected);
                    }
                }
            }
            let lists = &model[host as usize];
            assert_eq!(queues.len(host), lists.iter().map(Vec::len).sum::<usize>() as u64);
            let level = lists.iter().position(|list| !list.is_empty());
            assert_eq!(queues.first_level(host), level.map(|level| level as u8));
            let all = model.iter().flatten().flatten();
            assert_eq!(queues.urls(), all.clone().count() as u64);
            let oldest = all.min().copied();
            assert!(if ascending { queues.oldest() == oldest } else { queues.oldest() <= oldest });
            assert_eq!(queues.oldest().is_none(), oldest.is_none());
        }
    }

    fn steps() -> impl Strategy<Value = Vec<(u32, Option<u8>, u64)>> {
        let level = prop_oneof![5 => Just(Some(3)), 2 => (0..LEVELS).prop_map(Some), 1 => Just(None)];
        prop::collection::vec((0u32..8, level, 1u64..1000), 0..600)
    }

    proptest! {
        /// Compared with vectors: first in, first out at each level, the best level first, and the oldest.
        #[test]
        fn each_level_of_each_host_is_a_fifo(steps in steps()) {
            check(steps, VisitingOrder::BreadthFirst, true);
        }

        #[test]
        fn or_a_stack(steps in steps()) {
            check(steps, VisitingOrder::DepthFirst, true);
        }

        #[test]
        fn the_oldest_is_never_too_large(steps in steps()) {
            check(steps.clone(), VisitingOrder::BreadthFirst, false);
            check(steps, VisitingOrder::DepthFirst, false);
        }
    }

    #[test]
    fn a_short_queue_needs_few_blocks_for_any_number_of_urls() {
        let folder = tempfile::tempdir().unwrap();
        let mut queues =
            HostQueues::with_cache(&folder.path().join("scratch"), VisitingOrder::BreadthFirst, 8).unwrap();
        for offset in 0..10_000 {
            queues.push(0, 3, offset).unwrap();
            if offset % 2000 >= 25 {
                queues.pop(0).unwrap();
            }
            if offset % 2000 == 1999 {
                while queues.pop(0).unwrap().is_some() {}
            }
        }
        assert!(queues.blocks.made <= 4, "{} blocks", queues.blocks.made);
        assert_eq!(queues.fifos.len(), 1);
    }

    #[test]
    fn what_cannot_wait_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut queues =
            HostQueues::create(&folder.path().join("scratch"), VisitingOrder::BreadthFirst).unwrap();
        assert!(matches!(queues.push(0, LEVELS, 1), Err(Error::Invalid(_))));
        assert!(matches!(queues.push(0, 0, LARGEST_OFFSET + 1), Err(Error::Invalid(_))));
        assert_eq!((queues.len(0), queues.first(0)), (0, None));
        assert_eq!((queues.pop(0).unwrap(), queues.oldest()), (None, None));
    }
}
