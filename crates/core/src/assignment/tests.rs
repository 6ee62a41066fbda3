//! The contract of an assignment, for every method.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;

const METHODS: [Method; 4] = [Method::Consistent, Method::MinHash, Method::Permutation, Method::Modulo];

fn methods() -> impl Strategy<Value = Method> {
    prop::sample::select(METHODS.to_vec())
}

fn weighted(method: Method) -> bool {
    matches!(method, Method::Consistent | Method::MinHash)
}

/// Agents with distinct ids below 1,024; of unequal weights if the method takes them.
fn agents(method: Method, most: usize) -> impl Strategy<Value = Vec<Agent>> {
    let weight = if weighted(method) { 0.1..4.0 } else { 1.0..1.000_000_1 };
    prop::collection::hash_map(0u32..1024, weight, 1..=most).prop_map(move |agents| {
        let of = |(id, weight)| if weighted(method) { Agent { id, weight } } else { Agent::new(id) };
        agents.into_iter().map(of).collect()
    })
}

fn keys(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("www{}.example-{number}.org", number % 7)).collect()
}

fn assignment(method: Method, agents: &[Agent]) -> Assignment {
    Assignment::new(method, agents, 20).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Adding agents moves keys only to them; removing agents moves only their keys.
    #[test]
    fn is_contravariant(
        (method, all, some) in prop::sample::select(METHODS[..3].to_vec()).prop_flat_map(|method| {
            agents(method, 24).prop_flat_map(move |all| {
                let count = all.len();
                (Just(method), Just(all).prop_shuffle(), 1..=count)
            })
        }),
    ) {
        let (small, large) = (assignment(method, &all[..some]), assignment(method, &all));
        let keys = keys(300);
        let moved = small.agents(&keys).into_iter().zip(large.agents(&keys));
        for (before, after) in moved {
            prop_assert!(before == after || all[some..].iter().any(|agent| agent.id == after));
        }
    }

    /// The next agent is the agent of the set without those that are gone, for all methods.
    #[test]
    fn next_is_the_agent_of_the_others(
        (method, all, some) in methods().prop_flat_map(|method| {
            agents(method, 24).prop_flat_map(move |all| {
                let count = all.len();
                (Just(method), Just(all).prop_shuffle(), 0..=count)
            })
        }),
    ) {
        let whole = assignment(method, &all);
        let mut without: Vec<u32> = all[some..].iter().map(|agent| agent.id).collect();
        without.extend([5000, 5000]);
        let keys = keys(200);
        if some == 0 {
            prop_assert_eq!(whole.next_agent(keys[0].as_bytes(), &without), None);
            prop_assert_eq!(whole.next_agents(&keys, &without), None);
        } else {
            let rest = assignment(method, &all[..some]).agents(&keys);
            prop_assert_eq!(whole.next_agents(&keys, &without), Some(rest.clone()));
            prop_assert_eq!(whole.next_agent(keys[7].as_bytes(), &without), Some(rest[7]));
        }
    }

    /// Neither the order of the agents matters, nor whether keys come alone, in batches or as hashes.
    #[test]
    fn is_a_function_of_the_set(
        (method, ordered, shuffled) in methods().prop_flat_map(|method| {
            agents(method, 24).prop_flat_map(move |all| (Just(method), Just(all.clone()), Just(all).prop_shuffle()))
        }),
    ) {
        let (one, other) = (assignment(method, &ordered), assignment(method, &shuffled));
        let keys = keys(150);
        let found = one.agents(&keys);
        prop_assert_eq!(&found, &other.agents(&keys));
        prop_assert_eq!(&found, &keys.iter().map(|key| one.agent(key.as_bytes())).collect::<Vec<_>>());
        let hashes: Vec<u64> = keys.iter().map(|key| hash_of(key.as_bytes())).collect();
        prop_assert_eq!(&found, &one.agents_of_hashes(&hashes, &Pulse::STEADY).unwrap());
        prop_assert!(found.iter().all(|id| ordered.iter().any(|agent| agent.id == *id)));
    }

    /// Of equal weights those that are not written as 1 are no others.
    #[test]
    fn equal_weights_are_relative_for_min_hash(ids in prop::collection::hash_set(0u32..1024, 1..24), odd in 0.1..9.0) {
        let of = |weight| ids.iter().map(|&id| Agent { id, weight }).collect::<Vec<_>>();
        let keys = keys(100);
        let plain = assignment(Method::MinHash, &of(1.0)).agents(&keys);
        prop_assert_eq!(&plain, &assignment(Method::MinHash, &of(odd)).agents(&keys));
        // An agent that is gone makes the others weighted; they are in the same order.
        let mut mixed = of(odd);
        mixed.push(Agent { id: 2000, weight: odd / 2.0 });
        prop_assert_eq!(Some(plain), assignment(Method::MinHash, &mixed).next_agents(&keys, &[2000]));
    }
}

fn counts(assignment: &Assignment, keys: usize) -> HashMap<u32, f64> {
    let mut counts: HashMap<u32, f64> = assignment.members().iter().map(|agent| (agent.id, 0.0)).collect();
    for id in assignment.agents(self::keys(keys)) {
        *counts.entry(id).or_default() += 1.0;
    }
    counts
}

/// Pearson's statistic against the shares that the weights give.
fn chi_square(assignment: &Assignment, keys: usize) -> f64 {
    let total: f64 = assignment.members().iter().map(|agent| agent.weight).sum();
    let counts = counts(assignment, keys);
    let of = |agent: &Agent| {
        let expected = keys as f64 * agent.weight / total;
        (counts[&agent.id] - expected).powi(2) / expected
    };
    assignment.members().iter().map(of).sum()
}

/// Keys fall to the agents as to the sides of a fair (or a loaded) die: chi-square has n − 1 degrees of
/// freedom, and is within 5 standard deviations, √(2 (n − 1)), of its mean.
#[test]
fn methods_without_replicas_are_balanced_exactly() {
    let equal: Vec<Agent> = (0..100).map(|id| Agent::new(id * 3)).collect();
    let unequal: Vec<Agent> = (0..100).map(|id| Agent { id, weight: 0.5 + f64::from(id % 4) }).collect();
    let cases = [
        (Method::MinHash, &equal),
        (Method::Permutation, &equal),
        (Method::Modulo, &equal),
        (Method::MinHash, &unequal),
    ];
    for (method, agents) in cases {
        let found = chi_square(&assignment(method, agents), 50_000);
        assert!((found - 99.0).abs() < 5.0 * 198f64.sqrt(), "{method}: {found}");
    }
}

/// The share of an agent with C of nC replicas has a relative variance of (n − 1) / (nC + 1), and k keys
/// add (n − 1) / k.
#[test]
fn consistent_hashing_deviates_as_replicas_say() {
    let (agents, keys) = (200usize, 100_000);
    let members: Vec<Agent> = (0..agents as u32).map(Agent::new).collect();
    for replicas in [10u32, 100, 300] {
        let assignment = Assignment::new(Method::Consistent, &members, replicas).unwrap();
        let mean = keys as f64 / agents as f64;
        let of = |count: &f64| (count / mean - 1.0).powi(2);
        let found = (counts(&assignment, keys).values().map(of).sum::<f64>() / agents as f64).sqrt();
        let others = agents as f64 - 1.0;
        let theory = (others / (agents as f64 * f64::from(replicas) + 1.0) + others / keys as f64).sqrt();
        assert!((found / theory - 1.0).abs() < 0.2, "{replicas} replicas: {found} and {theory}");
    }
}

/// With weights shares are in proportion, up to the deviation of replicas.
#[test]
fn consistent_hashing_follows_weights() {
    let members: Vec<Agent> = (0..40).map(|id| Agent { id, weight: f64::from(1 + id % 4) }).collect();
    let assignment = Assignment::new(Method::Consistent, &members, REPLICAS).unwrap();
    let counts = counts(&assignment, 100_000);
    for weight in 1..=4 {
        let of = members.iter().filter(|agent| agent.weight == f64::from(weight));
        let share: f64 = of.map(|agent| counts[&agent.id]).sum::<f64>() / 100_000.0;
        assert!((share / (f64::from(weight) / 10.0) - 1.0).abs() < 0.1, "{weight}: {share}");
    }
}

/// The protocol: these values never change. A model in Python, made from the documentation, gives them too.
#[test]
fn is_the_documented_function() {
    assert_eq!(hash_of(b"example.org"), 7_166_500_906_126_303_934);
    let members: Vec<Agent> = (0..1000).map(Agent::new).collect();
    let weighted: Vec<Agent> = (0..1000).map(|id| Agent { id, weight: f64::from(id + 1) }).collect();
    let keys = ["example.org", "www.example.org", "crivello.example", ""];
    let found = |method, members: &[Agent]| Assignment::new(method, members, REPLICAS).unwrap().agents(keys);
    assert_eq!(found(Method::Consistent, &members), [354, 95, 554, 921]);
    assert_eq!(found(Method::MinHash, &members), [185, 477, 528, 270]);
    assert_eq!(found(Method::MinHash, &weighted), [855, 477, 528, 270]);
    assert_eq!(found(Method::Permutation, &members), [128, 693, 327, 653]);
    assert_eq!(found(Method::Modulo, &members), [934, 266, 712, 763]);
    let weighted = Assignment::new(Method::Consistent, &weighted, 3).unwrap().agents(keys);
    assert_eq!(weighted, [943, 716, 761, 808]);
}

#[test]
fn modulo_moves_nearly_all_keys() {
    let members: Vec<Agent> = (0..11).map(Agent::new).collect();
    let of = |count| assignment(Method::Modulo, &members[..count]).agents(keys(20_000));
    let moved = of(10).iter().zip(of(11)).filter(|(before, after)| *before != after).count();
    assert!((moved as f64 / 20_000.0 - 10.0 / 11.0).abs() < 0.02, "{moved}");
}

#[test]
fn refuses_what_is_no_set_of_agents() {
    let of = |method, agents: &[Agent], replicas| {
        Assignment::new(method, agents, replicas).map(|_| ()).unwrap_err().to_string()
    };
    let unequal = [Agent::new(1), Agent { id: 2, weight: 2.0 }];
    let huge = [Agent { id: 1, weight: 1e9 }];
    for (found, said) in [
        (of(Method::Consistent, &[], 300), "at least one agent"),
        (of(Method::MinHash, &[Agent::new(1), Agent::new(1)], 300), "agent 1 is given twice"),
        (
            of(Method::MinHash, &[Agent { id: 1, weight: f64::NAN }], 300),
            "must be a positive number, not NaN",
        ),
        (of(Method::Modulo, &[Agent { id: 1, weight: 0.0 }], 300), "must be a positive number, not 0"),
        (of(Method::Modulo, &unequal, 300), "modulo takes agents of equal weights only"),
        (of(Method::Permutation, &unequal, 300), "permutation takes agents of equal weights only"),
        (of(Method::Permutation, &[Agent::new(u32::MAX)], 300), "below the universe"),
        (of(Method::Consistent, &[Agent::new(1)], 0), "at least one replica"),
        (of(Method::Consistent, &huge, 300), "give fewer replicas"),
    ] {
        assert!(found.contains(said), "{found}");
    }
}

#[test]
fn a_batch_stops_when_it_is_told_to() {
    let assignment = assignment(Method::MinHash, &[Agent::new(1)]);
    assert!(matches!(assignment.agents_with(keys(1), &Pulse::new(&|| false)), Err(Error::Stopped)));
}

#[test]
fn the_key_is_the_host_or_its_registrable_domain() {
    let of = |url, by| std::str::from_utf8(key_of(url, by)).unwrap();
    let url = "https://www.example.co.uk:8443/a?b";
    assert_eq!((of(url, By::Host), of(url, By::Domain)), ("www.example.co.uk", "example.co.uk"));
    let url = "http://127.0.0.1/";
    assert_eq!((of(url, By::Host), of(url, By::Domain)), ("127.0.0.1", "127.0.0.1"));
}
