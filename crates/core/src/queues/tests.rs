//! The contract of every queue; and the lock-free one in all interleavings of a few threads, by loom.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn one_thread_sees_a_fifo(steps in prop::collection::vec(prop::option::weighted(0.6, any::<u64>()), 0..300)) {
        for (_, kind) in Kind::ALL {
            let (queue, mut model) = (queue(*kind, 20), VecDeque::new());
            for step in &steps {
                match step {
                    Some(number) => {
                        let is_full = model.len() == 20 && *kind != Kind::Mutex;
                        prop_assert_eq!(queue.push(*number), !is_full);
                        if !is_full {
                            model.push_back(*number);
                        }
                    }
                    None => prop_assert_eq!(queue.pop(), model.pop_front()),
                }
            }
        }
    }
}

#[test]
fn many_threads_lose_nothing_and_keep_each_others_order() {
    const EACH: u64 = 5000;
    for (_, kind) in Kind::ALL {
        let queue = queue(*kind, 64);
        let queue = &*queue;
        let taken: Vec<Vec<u64>> = std::thread::scope(|scope| {
            for producer in 0..3u64 {
                scope.spawn(move || {
                    for number in 0..EACH {
                        while !queue.push(producer << 32 | number) {
                            std::thread::yield_now();
                        }
                    }
                });
            }
            let consume = || {
                let mut taken = Vec::new();
                while taken.len() < EACH as usize {
                    match queue.pop() {
                        Some(number) => taken.push(number),
                        None => std::thread::yield_now(),
                    }
                }
                taken
            };
            let consumers: Vec<_> = (0..3).map(|_| scope.spawn(consume)).collect();
            consumers.into_iter().map(|one| one.join().unwrap()).collect()
        });
        // What one consumer gets of one producer is in order, and all of it together is everything once.
        for producer in 0..3u64 {
            for taken in &taken {
                let of_one: Vec<u64> =
                    taken.iter().copied().filter(|number| number >> 32 == producer).collect();
                assert!(of_one.windows(2).all(|pair| pair[0] < pair[1]), "{kind}");
            }
        }
        let mut all: Vec<u64> = taken.concat();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len() as u64, 3 * EACH, "{kind}");
        assert_eq!(queue.pop(), None);
    }
}

#[test]
fn what_is_measured_is_whole_and_what_cannot_be_is_refused() {
    for (_, kind) in Kind::ALL {
        for threads in [1, 3] {
            assert!(measure(*kind, threads, 2000, &Pulse::STEADY).unwrap() > 0.0);
        }
        let stop = || false;
        assert!(matches!(measure(*kind, 2, 10, &Pulse::new(&stop)), Err(Error::Stopped)));
        assert!(matches!(measure(*kind, 0, 10, &Pulse::STEADY), Err(Error::Invalid(_))));
    }
}

/// Runs a model with at most `preemptions` involuntary switches in each execution.
fn model(preemptions: usize, run: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(run);
}

#[test]
fn in_every_interleaving_two_producers_lose_nothing() {
    model(3, || {
        let queue = loom::sync::Arc::new(modelled::michael_scott::MichaelScott::new(2));
        let other = queue.clone();
        let thread = loom::thread::spawn(move || assert!(other.push(1)));
        assert!(queue.push(2));
        thread.join().unwrap();
        let mut taken = [queue.pop().unwrap(), queue.pop().unwrap()];
        taken.sort_unstable();
        assert_eq!((taken, queue.pop()), ([1, 2], None));
    });
}

#[test]
fn in_every_interleaving_each_number_is_taken_once() {
    // One node is reused at once: what the counters of the links are for.
    model(2, || {
        let queue = loom::sync::Arc::new(modelled::michael_scott::MichaelScott::new(2));
        assert!(queue.push(1));
        let other = queue.clone();
        let thread = loom::thread::spawn(move || {
            let first = other.pop();
            (first, other.push(3))
        });
        let mine = queue.pop();
        assert!(queue.push(2));
        let (theirs, pushed) = thread.join().unwrap();
        assert!(pushed);
        let mut taken: Vec<u64> = [mine, theirs].into_iter().flatten().collect();
        while let Some(number) = queue.pop() {
            taken.push(number);
        }
        taken.sort_unstable();
        assert_eq!(taken, [1, 2, 3]);
    });
}
