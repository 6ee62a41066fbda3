//! What an errand must not do: coincide with a visit at a host or an address, or come too early.

use std::net::IpAddr;

use crate::frontier::{Frontier, HostKey, Options, VisitingOrder};

fn frontier() -> (tempfile::TempDir, Frontier) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("frontier")).unwrap();
    let frontier = Frontier::new(
        folder.path(),
        Options { max_hosts: 10, quantum: 100, visit: VisitingOrder::BreadthFirst },
    )
    .unwrap();
    (folder, frontier)
}

fn address(last: u8) -> IpAddr {
    [192, 0, 2, last].into()
}

#[test]
fn waits_for_the_visit_at_its_address_and_holds_up_the_next() {
    let (_folder, mut frontier) = frontier();
    frontier.push(HostKey(1), 0, 100).unwrap();
    frontier.push(HostKey(1), 0, 200).unwrap();
    frontier.next_admitted().unwrap();
    frontier.place(HostKey(1), address(1), 0);
    let token = frontier.take(5).unwrap();
    assert!(!frontier.hold(address(1), 5));
    assert!(frontier.hold(address(2), 5));
    assert!(!frontier.hold(address(2), 5));
    frontier.pop(&token).unwrap();
    frontier.give_back(token, 20, 10, false);
    assert!(frontier.hold(address(1), 6));
    // An unknown host waits for its address; one in its own politeness delay waits for that, too.
    assert_eq!(frontier.ready_for_errand(HostKey(2), address(1), false), 10);
    assert_eq!(frontier.ready_for_errand(HostKey(1), address(1), false), 20);
    assert!(frontier.take(25).is_none());
    frontier.let_rest(HostKey(2), address(1), 40, 30);
    frontier.release(address(1));
    assert_eq!(frontier.next_moment(), Some(30));
    assert!(frontier.take(30).is_some());
}

#[test]
fn lets_its_own_host_rest() {
    let (_folder, mut frontier) = frontier();
    frontier.push(HostKey(1), 0, 100).unwrap();
    frontier.next_admitted().unwrap();
    frontier.place(HostKey(1), address(1), 0);
    assert!(frontier.hold(address(1), 5));
    assert!(frontier.take(6).is_none());
    frontier.let_rest(HostKey(1), address(1), 50, 10);
    frontier.release(address(1));
    assert_eq!(frontier.next_moment(), Some(50));
    assert!(frontier.take(49).is_none());
    assert!(frontier.take(50).is_some());
}
