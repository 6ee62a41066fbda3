//! The contract of the sieves as a property test, the same for every kind, against a list as the model.

use std::collections::HashSet;

use proptest::prelude::*;

use crate::disk::tests::is_full;
use crate::disk::tests::watch::{Loss, Watch, restore};
use crate::sieve::{Batch, Checkpoint, Files, Opening, Sieve, State};
use crate::{Pulse, Result, Signature};

/// An operation on a sieve.
#[derive(Clone, Debug)]
pub enum Step {
    Add(Vec<u8>),
    Take(usize),
    Flush,
    Checkpoint,
    Crash,
}

pub fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => prop::collection::vec(any::<u8>(), 0..20).prop_map(Step::Add),
        3 => (0usize..15).prop_map(Step::Take),
        1 => Just(Step::Flush),
        2 => Just(Step::Checkpoint),
        1 => Just(Step::Crash),
    ];
    prop::collection::vec(step, 0..40)
}

/// Opens a sieve of one kind.
pub type Opener = fn(Opening) -> Box<dyn Sieve>;

/// A collection's folder and its manifest.
struct Collection {
    folder: tempfile::TempDir,
    files: Files,
    state: State,
}

impl Collection {
    fn new() -> Collection {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("frontier")).unwrap();
        Collection { folder, files: Files::new(), state: State::new() }
    }

    fn opening(&self, start: Option<u64>) -> Opening<'_> {
        Opening { folder: self.folder.path(), files: &self.files, state: &self.state, start }
    }

    fn commit(&mut self, checkpoint: Checkpoint) {
        for (name, length) in checkpoint.files {
            match length {
                Some(length) => drop(self.files.insert(name, length)),
                None => {
                    assert!(self.files.remove(&name).is_some(), "{name} was never committed");
                    std::fs::remove_file(self.folder.path().join(name)).unwrap();
                }
            }
        }
        self.state = checkpoint.state;
    }

    /// Truncates every file to its committed length.
    fn cut_back(&self) {
        for entry in std::fs::read_dir(self.folder.path().join("frontier")).unwrap() {
            let name = format!("frontier/{}", entry.unwrap().file_name().to_str().unwrap());
            let path = self.folder.path().join(&name);
            match self.files.get(&name) {
                Some(&length) => {
                    let file = std::fs::File::options().write(true).open(&path).unwrap();
                    assert!(file.metadata().unwrap().len() >= length, "{name} is too short");
                    file.set_len(length).unwrap();
                }
                None => std::fs::remove_file(path).unwrap(),
            }
        }
    }
}

/// Each URL once, in first-seen order, with its first tag; and a crash goes back to the checkpoint.
pub fn check(steps: Vec<Step>, open: Opener) {
    let mut collection = Collection::new();
    let mut sieve = open(collection.opening(None));
    let (mut order, mut taken): (Vec<(u8, u32)>, usize) = (Vec::new(), 0);
    let mut saved = (Vec::new(), 0);
    let mut tag = 0;
    for step in steps {
        match step {
            Step::Add(values) => {
                let mut batch = Batch::default();
                for value in values {
                    tag += 1;
                    let url = format!("http://a.example/{value}").into_bytes();
                    batch.push(Signature::of(&url), Signature::check(&url), tag, &url);
                    if !order.iter().any(|(other, _)| *other == value) {
                        order.push((value, tag));
                    }
                }
                sieve.add(&batch, &Pulse::STEADY).unwrap();
            }
            Step::Take(n) => {
                let entries = sieve.take(n, &Pulse::STEADY).unwrap();
                for entry in entries.iter() {
                    let (value, tag) = order[taken];
                    assert_eq!((entry.url, entry.tag), (format!("http://a.example/{value}").as_str(), tag));
                    taken += 1;
                }
                assert!(n == 0 || !entries.is_empty() || taken == order.len(), "URLs are left");
            }
            Step::Flush => {
                sieve.flush(&Pulse::STEADY).unwrap();
                let stats = sieve.stats();
                assert_eq!((stats.seen, stats.pending), (order.len() as u64, 0));
            }
            Step::Checkpoint => {
                collection.commit(sieve.checkpoint().unwrap());
                saved = (order.clone(), taken);
            }
            Step::Crash => {
                drop(sieve);
                collection.cut_back();
                sieve = open(collection.opening(None));
                (order, taken) = saved.clone();
            }
        }
        let stats = sieve.stats();
        assert!(stats.seen <= order.len() as u64 && order.len() as u64 <= stats.seen + stats.pending);
        assert_eq!(stats.waiting, stats.seen - taken as u64);
        assert_eq!(stats.collisions, 0);
    }
}

/// Dequeuing can restart at any entry that was emitted.
pub fn check_restart(open: Opener) {
    let mut collection = Collection::new();
    let mut sieve = open(collection.opening(None));
    let urls: Vec<String> = (0..30).map(|number| format!("http://a.example/{number}")).collect();
    let mut batch = Batch::default();
    batch.extend(urls.iter().map(String::as_str));
    sieve.add(&batch, &Pulse::STEADY).unwrap();
    sieve.flush(&Pulse::STEADY).unwrap();
    let entries = sieve.take(20, &Pulse::STEADY).unwrap();
    let offsets: Vec<u64> = entries.iter().map(|entry| entry.offset).collect();
    collection.commit(sieve.checkpoint().unwrap());
    drop(sieve);
    for (index, offset) in offsets.into_iter().enumerate() {
        let mut again = open(collection.opening(Some(offset)));
        assert_eq!(again.stats().waiting, 30 - index as u64);
        let rest = again.take(100, &Pulse::STEADY).unwrap();
        assert!(rest.iter().map(|entry| entry.url).eq(urls[index..].iter().map(String::as_str)));
    }
}

/// The number of URLs that each round of [`work`] adds, and the number it dequeues.
const ROUND: (usize, usize) = (8, 3);
const ROUNDS: usize = 3;

fn url(number: usize) -> String {
    format!("http://a.example/{number}")
}

fn add(sieve: &mut dyn Sieve, numbers: std::ops::Range<usize>) -> Result<()> {
    let urls: Vec<String> = numbers.map(url).collect();
    let mut batch = Batch::default();
    batch.extend(urls.iter().map(String::as_str));
    sieve.add(&batch, &Pulse::STEADY)
}

/// One round: some URLs again and some new ones, a flush, and a checkpoint, which is committed.
fn work(sieve: &mut dyn Sieve, collection: &mut Collection, round: usize) -> Result<()> {
    add(sieve, 0..(round + 1) * ROUND.0)?;
    sieve.flush(&Pulse::STEADY)?;
    sieve.take(ROUND.1, &Pulse::STEADY)?;
    add(sieve, round * ROUND.0..(round + 1) * ROUND.0)?;
    collection.commit(sieve.checkpoint()?);
    Ok(())
}

/// Reopens what is left, and finds every URL that was not dequeued before the last of these commits.
fn check_after(collection: &Collection, commits: usize, open: Opener) {
    collection.cut_back();
    let mut sieve = open(collection.opening(None));
    add(&mut *sieve, 0..ROUNDS * ROUND.0).unwrap();
    let entries = sieve.take(usize::MAX, &Pulse::STEADY).unwrap();
    let mut found: Vec<String> = entries.iter().map(|entry| entry.url.to_owned()).collect();
    sieve.flush(&Pulse::STEADY).unwrap();
    found.extend(sieve.take(usize::MAX, &Pulse::STEADY).unwrap().iter().map(|entry| entry.url.to_owned()));
    assert!(found.into_iter().eq((commits * ROUND.1..ROUNDS * ROUND.0).map(url)));
}

/// A crash at any operation, whatever it loses of what was not synced, goes back to the last commit.
pub fn check_crash(open: Opener) {
    let mut collection = Collection::new();
    let watch = Watch::record(collection.folder.path());
    let mut sieve = open(collection.opening(None));
    let mut commits = vec![(0, Files::new(), State::new())];
    for round in 0..ROUNDS {
        work(&mut *sieve, &mut collection, round).unwrap();
        commits.push((watch.len(), collection.files.clone(), collection.state.clone()));
    }
    drop(sieve);
    let mut checked = HashSet::new();
    for count in 0..=watch.len() {
        let committed = commits.iter().rposition(|(end, ..)| *end <= count).unwrap();
        let (_, files, state) = &commits[committed];
        for loss in Loss::all() {
            let remains = watch.crash_after(count, loss);
            if !checked.insert((committed, remains.clone())) {
                continue;
            }
            let left = Collection { files: files.clone(), state: state.clone(), ..Collection::new() };
            restore(&remains, left.folder.path());
            check_after(&left, committed, open);
        }
    }
}

/// A full disk at any operation is one error, and the last commit is intact.
pub fn check_full_disk(open: Opener) {
    for number in 0.. {
        let mut collection = Collection::new();
        let mut sieve = open(collection.opening(None));
        let watch = Watch::fail(collection.folder.path(), number);
        let mut commits = 0;
        let result: Result<()> = (0..ROUNDS).try_for_each(|round| {
            work(&mut *sieve, &mut collection, round)?;
            commits += 1;
            Ok(())
        });
        let failed = watch.len() > number;
        drop((sieve, watch));
        assert!(result.is_ok() || is_full(&result), "{result:?} after {number}");
        check_after(&collection, commits, open);
        if !failed {
            return;
        }
    }
}

/// Tests one kind of sieve.
macro_rules! test {
    ($name:ident, $open:expr) => {
        mod $name {
            use super::*;
            use proptest::prelude::*;

            const OPEN: contract::Opener = $open;

            proptest! {
                // Every checkpoint waits for the disk.
                #![proptest_config(ProptestConfig::with_cases(crate::cases(24)))]
                #[test]
                fn gives_each_url_once_in_order(steps in contract::steps()) {
                    contract::check(steps, OPEN);
                }
            }

            #[test]
            fn starts_again_at_any_entry() {
                contract::check_restart(OPEN);
            }

            #[test]
            fn a_crash_at_any_operation_goes_back_to_the_commit() {
                contract::check_crash(OPEN);
            }

            #[test]
            fn a_full_disk_at_any_operation_leaves_the_commit() {
                contract::check_full_disk(OPEN);
            }
        }
    };
}

pub(in crate::sieve) use test;
