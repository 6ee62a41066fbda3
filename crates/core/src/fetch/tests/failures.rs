//! Every way a server can fail, each with its class and within its time limit.

use super::*;

const SHORT: Duration = Duration::from_millis(200);

#[test]
fn ends_what_is_too_slow() {
    run(async {
        let drip = Then::Repeat(b'x', 1, Duration::from_millis(20));
        let cases = [
            ("", Then::Stall),
            ("", drip),
            ("HTTP/1.1 200 OK\r\nA: b\r\n", Then::Stall),
            ("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", Then::Stall),
            ("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", drip),
            ("HTTP/1.1 200 OK\r\n\r\n", drip),
        ];
        for (bytes, then) in cases {
            let server = Server::saying(bytes, then).await;
            let limits = Options { first_byte_timeout: SHORT, total_timeout: 2 * SHORT, ..options() };
            let mut connection = server.connect(limits).await;
            let url = server.url("/");
            let failure = connection.get(&Request { url: &url, ..Request::default() }).await.unwrap_err();
            let dripped_head = bytes.is_empty() && matches!(then, Then::Repeat(..));
            // A sequence of x is not an HTTP head, which may be noticed before the timeout.
            assert!(failure.class == Class::Timeout || dripped_head, "{bytes:?} {failure:?}");
            assert!(!failure.stale && !connection.is_open(), "{bytes:?}");
        }
    });
}

#[test]
fn ends_a_connection_that_takes_too_long() {
    run(async {
        // A server that accepts but never answers the TLS handshake.
        let server = Server::saying("", Then::Stall).await;
        let client = client_with(Options { connect_timeout: SHORT, ..options() });
        let origin = Origin { scheme: Scheme::Https, ..server.origin() };
        assert_eq!(class(client.connect(&origin, LOOPBACK).await.map(drop)), Class::ConnectTimeout);
    });
}

#[test]
fn ends_what_is_too_large() {
    run(async {
        let cases = [
            ("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n", Then::Stall),
            ("HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\n", Then::Stall),
            ("HTTP/1.1 200 OK\r\n\r\n", Then::Repeat(b'x', 10_000, Duration::ZERO)),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFF\r\n",
                Then::Repeat(b'x', 10_000, Duration::ZERO),
            ),
        ];
        for (bytes, then) in cases {
            let server = Server::saying(bytes, then).await;
            let failure = server.fetch(Options { max_bytes: 1000, ..options() }).await.unwrap_err();
            let expected = match bytes.contains("18446744073709551615") {
                true => vec![Class::TooLarge, Class::BadResponse],
                false => vec![Class::TooLarge],
            };
            assert!(expected.contains(&failure.class), "{bytes} {failure:?}");
        }
        let server = Server::saying(page(&"x".repeat(1000)), Then::Listen).await;
        let (first_byte_timeout, total_timeout) = (Duration::MAX, Duration::MAX);
        let patient = Options { max_bytes: 1000, first_byte_timeout, total_timeout, ..options() };
        assert!(server.fetch(patient).await.is_ok());
    });
}

#[test]
fn refuses_what_is_not_http() {
    run(async {
        let many: String = (0..201).map(|number| format!("A{number}: b\r\n")).collect();
        let bad = [
            "SSH-2.0-OpenSSH_9.6\r\n".to_owned(),
            "<html>no head</html>\r\n\r\n".to_owned(),
            "HTTP/1.1 banana\r\n\r\n".to_owned(),
            "HTTP/1.1 200 OK\r\nno colon\r\n\r\n".to_owned(),
            "HTTP/1.1 200 OK\r\nNu\0l: a\r\n\r\n".to_owned(),
            "HTTP/1.1 200 OK\r\nA: nu\0l\r\n\r\n".to_owned(),
            "HTTP/1.1 200 OK\r\nContent-Length: ten\r\n\r\n0123456789".to_owned(),
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n".to_owned(),
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc".to_owned(),
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n".to_owned(),
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n".to_owned(),
            format!("HTTP/1.1 200 OK\r\n{many}\r\n"),
            format!("HTTP/1.1 200 OK\r\nA: {}\r\n\r\n", "b".repeat(1 << 16)),
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n".to_owned(),
        ];
        for bytes in bad {
            let server = Server::saying(bytes.as_bytes(), Then::Stall).await;
            let start: String = bytes.chars().take(90).collect();
            assert_eq!(class(server.fetch(options()).await), Class::BadResponse, "{start:?}");
        }
        let endless =
            Server::saying("HTTP/1.1 200 OK\r\nA: ", Then::Repeat(b'a', 10_000, Duration::ZERO)).await;
        assert_eq!(class(endless.fetch(options()).await), Class::BadResponse);
        let allowed: String = (0..199).map(|number| format!("A{number}: b\r\n")).collect();
        let server = Server::saying(format!("HTTP/1.1 204 OK\r\n{allowed}\r\n"), Then::Listen).await;
        assert_eq!(server.fetch(options()).await.unwrap().headers.len(), 199);
    });
}

#[test]
fn notices_that_something_is_missing() {
    run(async {
        let cut = [
            "HTTP/1.1 200",
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        ];
        for bytes in cut {
            let server = Server::saying(bytes, Then::Close).await;
            let failure = server.fetch(options()).await.unwrap_err();
            assert_eq!((failure.class, failure.stale), (Class::Reset, false), "{bytes}");
        }
    });
}

#[test]
fn names_the_reason_why_there_is_no_connection() {
    run(async {
        let free = TcpListener::bind((LOOPBACK, 0)).await.unwrap().local_addr().unwrap().port();
        let origin = Origin { scheme: Scheme::Http, host: LOOPBACK.to_string(), port: free };
        let client = client_with(options());
        let failure = client.connect(&origin, LOOPBACK).await.map(drop).unwrap_err();
        assert_eq!(
            (failure.class, failure.reason.as_str()),
            (Class::Refused, "no connection: connection refused")
        );
        // The broadcast address is not the address of a host.
        let nowhere = IpAddr::from([255, 255, 255, 255]);
        assert_eq!(class(client.connect(&origin, nowhere).await.map(drop)), Class::Unreachable);
    });
}

#[test]
fn states_a_rule_for_every_class() {
    let again =
        [Class::NameServer, Class::Refused, Class::Unreachable, Class::ConnectTimeout, Class::Timeout];
    let again: Vec<Class> = again.into_iter().chain([Class::Reset, Class::Proxy]).collect();
    let names: std::collections::HashSet<&str> = Class::ALL.iter().map(|class| class.as_str()).collect();
    assert_eq!(names.len(), Class::ALL.len());
    for class in Class::ALL {
        assert_eq!(class.again(), again.contains(&class), "{class}");
    }
}

#[test]
fn refuses_options_that_cannot_be_sent() {
    for wrong in [
        Options { accept_language: Some("a\0b".to_owned()), ..options() },
        Options { proxy: Some("socks5://a.example".to_owned()), ..options() },
        Options { name_server: Some("a.example".to_owned()), ..options() },
        Options { hosts_file: Some("/no/such/file".to_owned()), ..options() },
    ] {
        assert!(Client::new(wrong, USER_AGENT).is_err());
    }
    assert!(Client::new(options(), "a\nb").is_err());
}
