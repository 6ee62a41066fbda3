//! Name resolution, against our own name server.

use std::io::Write;

use tokio::net::UdpSocket;

use super::*;

/// A name server that answers with a code and addresses, and counts the queries.
struct NameServer {
    address: SocketAddr,
    questions: Rc<Cell<usize>>,
}

type Answer = (u8, Vec<IpAddr>, u32);

impl NameServer {
    async fn answering(answer: impl Fn(&str) -> Answer + 'static) -> NameServer {
        let socket = UdpSocket::bind((LOOPBACK, 0)).await.unwrap();
        let address = socket.local_addr().unwrap();
        let questions = Rc::new(Cell::new(0));
        let counted = Rc::clone(&questions);
        tokio::task::spawn_local(async move {
            let mut buffer = [0; 512];
            loop {
                let (length, asker) = socket.recv_from(&mut buffer).await.unwrap();
                counted.set(counted.get() + 1);
                let reply = reply(&buffer[..length], &answer);
                socket.send_to(&reply, asker).await.unwrap();
            }
        });
        NameServer { address, questions }
    }

    fn client(&self, allow_private: bool) -> Client {
        client_with(Options { name_server: Some(self.address.to_string()), allow_private, ..options() })
    }
}

/// The reply to a query in the format of RFC 1035, section 4.
fn reply(question: &[u8], answer: &impl Fn(&str) -> Answer) -> Vec<u8> {
    let (mut name, mut at) = (String::new(), 12);
    while question[at] != 0 {
        let end = at + 1 + usize::from(question[at]);
        name += std::str::from_utf8(&question[at + 1..end]).unwrap();
        name.push('.');
        at = end;
    }
    let kind = u16::from_be_bytes([question[at + 1], question[at + 2]]);
    let (code, addresses, lifetime) = answer(&name);
    let wanted: Vec<&IpAddr> = addresses.iter().filter(|address| address.is_ipv4() == (kind == 1)).collect();
    let mut reply = question[..2].to_vec();
    reply.extend([0x81, 0x80 | code, 0, 1, 0, wanted.len() as u8, 0, 0, 0, 0]);
    reply.extend(&question[12..at + 5]);
    for address in wanted {
        let bytes = match address {
            IpAddr::V4(address) => address.octets().to_vec(),
            IpAddr::V6(address) => address.octets().to_vec(),
        };
        reply.extend([0xc0, 12]);
        reply.extend(kind.to_be_bytes());
        reply.extend([0, 1]);
        reply.extend(lifetime.to_be_bytes());
        reply.extend([0, bytes.len() as u8]);
        reply.extend(bytes);
    }
    reply
}

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// Advances the clock of the client's cache, without making sockets time out.
async fn later(seconds: u64) {
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(seconds)).await;
    tokio::time::resume();
}

#[test]
fn prefers_ipv4_and_skips_private_addresses() {
    run(async {
        let server = NameServer::answering(|name| {
            let addresses: &[&str] = match name {
                "both.example." => &["2606:4700::1111", "1.1.1.1"],
                "six.example." => &["2606:4700::1111"],
                "mixed.example." => &["10.0.0.1", "1.0.0.1"],
                "fallback.example." => &["127.0.0.1", "2606:4700::1111"],
                "inside.example." => &["192.168.0.1", "::1"],
                _ => &[],
            };
            (0, addresses.iter().map(|text| address(text)).collect(), 300)
        })
        .await;
        let client = server.client(false);
        for (name, expected) in [
            ("both.example", "1.1.1.1"),
            ("six.example", "2606:4700::1111"),
            ("mixed.example", "1.0.0.1"),
            ("fallback.example", "2606:4700::1111"),
            ("1.2.3.4", "1.2.3.4"),
            ("[2606:4700::1]", "2606:4700::1"),
        ] {
            assert_eq!(client.resolve(name).await, Ok(address(expected)), "{name}");
        }
        for name in ["inside.example", "127.0.0.1", "[::1]", "[::ffff:7f00:1]", "localhost", "a.localhost"] {
            assert_eq!(class(client.resolve(name).await), Class::Private, "{name}");
        }
        assert_eq!(class(client.resolve("none.example").await), Class::Dns);
        assert_eq!(server.client(true).resolve("inside.example").await, Ok(address("192.168.0.1")));
        assert_eq!(server.client(true).resolve("[::1]").await, Ok(address("::1")));
    });
}

#[test]
fn remembers_names_for_their_time() {
    run(async {
        let server = NameServer::answering(|name| match name {
            "short.example." => (0, vec![address("1.1.1.1")], 1),
            "long.example." => (0, vec![address("1.1.1.1")], 1_000_000),
            _ => (3, vec![], 0),
        })
        .await;
        let client = server.client(false);
        let asked = async |name: &str| {
            let before = server.questions.get();
            let _ = client.resolve(name).await;
            server.questions.get() > before
        };
        for (name, remembered, forgotten) in
            [("short.example", 55, 10), ("long.example", 3590, 20), ("none.example", 25, 10)]
        {
            assert!(asked(name).await, "{name}");
            assert!(!asked(name).await, "{name}");
            later(remembered).await;
            assert!(!asked(name).await, "{name}");
            later(forgotten).await;
            assert!(asked(name).await, "{name}");
        }
    });
}

#[test]
fn tells_names_that_do_not_exist_from_servers_that_do_not_answer() {
    run(async {
        let server = NameServer::answering(|name| match name {
            "broken.example." => (2, vec![], 0),
            "closed.example." => (5, vec![], 0),
            _ => (3, vec![], 0),
        })
        .await;
        let client = server.client(false);
        let failure = client.resolve("none.example").await.unwrap_err();
        assert_eq!(
            (failure.class, failure.reason.as_str()),
            (Class::Dns, "the name none.example does not exist")
        );
        assert_eq!(class(client.resolve("broken.example").await), Class::NameServer);
        assert_eq!(class(client.resolve("closed.example").await), Class::NameServer);
        assert_eq!(class(client.resolve(&format!("{}.example", "x".repeat(64))).await), Class::Dns);

        let silent = UdpSocket::bind((LOOPBACK, 0)).await.unwrap();
        let name_server = Some(silent.local_addr().unwrap().to_string());
        let limit = Duration::from_millis(300);
        let client = client_with(Options { name_server, total_timeout: limit, ..options() });
        assert_eq!(class(client.resolve("a.example").await), Class::NameServer);
    });
}

#[test]
fn stays_with_the_address_that_was_checked() {
    run(async {
        let inside = Server::saying(page("secret"), Then::Listen).await;
        let turned = Rc::new(Cell::new(false));
        let turn = Rc::clone(&turned);
        let server = NameServer::answering(move |_| {
            let text = if turn.replace(true) { "127.0.0.1" } else { "192.31.196.1" };
            (0, vec![address(text)], 0)
        })
        .await;
        let options = Options {
            name_server: Some(server.address.to_string()),
            allow_private: false,
            connect_timeout: Duration::from_millis(300),
            ..options()
        };
        let client = client_with(options);
        let origin = Origin { host: "rebinding.example".to_owned(), ..inside.origin() };
        let public = client.resolve(&origin.host).await.unwrap();
        assert_eq!(public, address("192.31.196.1"));
        assert!(turned.get());
        // Nothing listens at that address; the test is about which servers were not queried.
        assert!(client.connect(&origin, public).await.is_err());
        assert_eq!((server.questions.get(), inside.connections.get()), (1, 0));
        assert_eq!(client.resolve(&origin.host).await, Ok(public), "remembered, though valid for 0 s");
        later(70).await;
        assert_eq!(class(client.resolve(&origin.host).await), Class::Private);
        assert_eq!(class(client.connect(&origin, LOOPBACK).await.map(drop)), Class::Private);
        assert_eq!(inside.connections.get(), 0);
    });
}

#[test]
fn takes_names_from_the_hosts_file_first() {
    run(async {
        let server = NameServer::answering(|_| (0, vec![address("1.1.1.1")], 300)).await;
        let pages = Server::saying(page("from the file"), Then::Listen).await;
        let mut file = tempfile::NamedTempFile::new().unwrap();
        writeln!(file, "127.0.0.1 Site.example # ours\n127.0.0.9 nine.example\n::1 nine.example").unwrap();
        let options = Options {
            name_server: Some(server.address.to_string()),
            hosts_file: Some(file.path().to_str().unwrap().to_owned()),
            ..options()
        };
        let client = client_with(options.clone());
        let origin = Origin { host: "site.example".to_owned(), ..pages.origin() };
        let found = client.resolve(&origin.host).await.unwrap();
        let mut connection = client.connect(&origin, found).await.unwrap();
        let response =
            connection.get(&Request { url: &format!("{origin}/"), ..Request::default() }).await.unwrap();
        assert_eq!(response.body, b"from the file");
        assert!(pages.heads.borrow()[0].contains(&format!("Host: site.example:{}\r\n", origin.port)));
        assert_eq!(client.resolve("nine.example").await, Ok(address("127.0.0.9")));
        assert_eq!(server.questions.get(), 0);
        assert_eq!(client.resolve("other.example").await, Ok(address("1.1.1.1")));
        let strict = client_with(Options { allow_private: false, ..options });
        assert_eq!(class(strict.resolve("site.example").await), Class::Private);
    });
}
