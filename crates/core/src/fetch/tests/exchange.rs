//! Requests as sent, responses as read.

use super::*;

#[test]
fn keeps_the_connection_and_says_who_asks() {
    run(async {
        let server = Server::answering(|head| (page(head.split(' ').nth(1).unwrap()), Then::Listen)).await;
        let language = Some("it, en;q=0.5".to_owned());
        let mut connection = server.connect(Options { accept_language: language, ..options() }).await;
        for path in ["/", "/a?b=c|{}&d='", "/%C3%A4[]"] {
            let url = crate::url::canonical(&server.url(path), None).unwrap();
            assert!(connection.is_open());
            let response = connection.get(&Request { url: &url, ..Request::default() }).await.unwrap();
            assert_eq!((response.status, response.version), (200, "HTTP/1.1"));
            assert_eq!(response.reason, "OK");
            assert_eq!(response.body, url.strip_prefix(&server.origin().to_string()).unwrap().as_bytes());
            assert_eq!(response.header("Content-Type"), Some("text/html"));
            assert!(!response.truncated && response.first_byte <= response.took);
        }
        assert_eq!(server.connections.get(), 1);
        assert_eq!(connection.address(), LOOPBACK);
        let head = server.heads.borrow()[0].clone();
        let expected = [
            "GET / HTTP/1.1".to_owned(),
            format!("Host: {}", server.address),
            "Connection: keep-alive".to_owned(),
            "User-Agent: crivello/0 (+https://crivello.example)".to_owned(),
            "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8".to_owned(),
            format!("Accept-Encoding: {}", crate::encoding::ACCEPTED),
            "Accept-Language: it, en;q=0.5".to_owned(),
        ];
        assert_eq!(head.trim_end().split("\r\n").collect::<Vec<_>>(), expected);
    });
}

#[test]
fn asks_only_for_what_changed() {
    run(async {
        let server =
            Server::saying("HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n", Then::Listen).await;
        let mut connection = server.connect(options()).await;
        let request = Request {
            url: &server.url("/"),
            etag: Some("W/\"é\""),
            last_modified: Some("Sun, 06 Nov 1994 08:49:37 GMT"),
            cookie: Some("a=b"),
            first_bytes: None,
            noted: true,
        };
        for number in 0..2 {
            let response = connection.get(&request).await.unwrap();
            assert_eq!((response.status, response.body.len()), (304, 0));
            let sent = String::from_utf8(response.request).unwrap();
            assert_eq!(sent.trim_end(), server.heads.borrow()[number].trim_end());
        }
        let head = server.heads.borrow()[1].clone();
        for line in
            ["If-None-Match: W/\"é\"", "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT", "Cookie: a=b"]
        {
            assert!(head.contains(&format!("\r\n{line}\r\n")), "{head}");
        }
        let unsendable = Request { url: &server.url("/"), etag: Some("a\r\nb"), ..Request::default() };
        assert!(connection.get(&unsendable).await.unwrap().request.is_empty());
        assert!(!server.heads.borrow()[2].contains("None-Match"));
        assert_eq!(server.connections.get(), 1);
    });
}

#[test]
fn reads_every_kind_of_body() {
    run(async {
        let chunked = "HTTP/1.1 200 Fine by me\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nA: b\r\n\r\n";
        let cases: [(&str, Then, u16, &str, bool); 6] = [
            (chunked, Then::Listen, 200, "abcde", true),
            ("HTTP/1.0 200 OK\r\n\r\nto the end", Then::Close, 200, "to the end", false),
            (
                "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno",
                Then::Close,
                404,
                "no",
                false,
            ),
            ("HTTP/1.1 204 No Content\r\n\r\n", Then::Listen, 204, "", true),
            (
                "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
                Then::Listen,
                200,
                "x",
                true,
            ),
            (
                "HTTP/1.1 302 Found\r\nLocation : /b\r\nFolded: a\r\n b\r\nContent-Length: 0\r\n\r\n",
                Then::Listen,
                302,
                "",
                true,
            ),
        ];
        for (bytes, then, status, body, open) in cases {
            let server = Server::saying(bytes, then).await;
            let mut connection = server.connect(options()).await;
            let url = server.url("/");
            let request = Request { url: &url, ..Request::default() };
            let response = connection.get(&request).await.unwrap();
            assert_eq!((response.status, response.body.as_slice()), (status, body.as_bytes()), "{bytes}");
            assert_eq!(connection.is_open(), open, "{bytes}");
            if open {
                assert_eq!(connection.get(&request).await.unwrap().headers, response.headers, "{bytes}");
            }
        }
        let server = Server::saying(chunked, Then::Listen).await;
        assert_eq!(server.fetch(options()).await.unwrap().reason, "Fine by me");
    });
}

#[test]
fn reads_large_bodies_whole() {
    run(async {
        let body: String = (0..200_000).map(|number| format!("{number} ")).collect();
        let server = Server::saying(page(&body), Then::Listen).await;
        let response = server.fetch(Options { max_bytes: body.len(), ..options() }).await.unwrap();
        assert!(response.body == body.as_bytes());
    });
}

#[test]
fn stops_where_enough_was_read() {
    run(async {
        let endless = "HTTP/1.1 200 OK\r\n\r\n";
        let server = Server::saying(endless, Then::Repeat(b'r', 1000, Duration::ZERO)).await;
        let mut connection = server.connect(options()).await;
        let request =
            Request { url: &server.url("/robots.txt"), first_bytes: Some(5000), ..Request::default() };
        let response = connection.get(&request).await.unwrap();
        assert!(response.truncated && response.body == vec![b'r'; 5000]);
        assert!(!connection.is_open());

        // Above the general size limit, and not a byte more than there is.
        let server = Server::saying(page("0123456789"), Then::Listen).await;
        let mut connection = server.connect(Options { max_bytes: 4, ..options() }).await;
        for (enough, length, truncated) in [(100, 10, false), (10, 10, false), (9, 9, true)] {
            let request = Request { url: &server.url("/"), first_bytes: Some(enough), ..Request::default() };
            let response = connection.get(&request).await.unwrap();
            assert_eq!((response.body.len(), response.truncated), (length, truncated));
        }
    });
}

#[test]
fn sees_that_the_server_closed_the_connection() {
    run(async {
        let server = Server::saying(page("bye"), Then::Close).await;
        let mut connection = server.connect(options()).await;
        let url = server.url("/");
        let request = Request { url: &url, ..Request::default() };
        connection.get(&request).await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        let failure = connection.get(&request).await.unwrap_err();
        assert_eq!((failure.class, failure.stale), (Class::Reset, true));
        assert!(!connection.is_open());
        // However often it is requested.
        assert!(connection.get(&request).await.unwrap_err().stale);

        let mut connection = server.connect(options()).await;
        connection.get(&request).await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert!(!connection.is_open());
    });
}

#[test]
fn tells_a_stale_connection_from_a_broken_response() {
    run(async {
        let closes = Server::saying("", Then::Close).await;
        let failure = closes.fetch(options()).await.unwrap_err();
        assert_eq!((failure.class, failure.stale), (Class::Reset, false), "never answered");

        let server = Server::answering(|head| match head.contains("/first") {
            true => (page("x"), Then::Listen),
            false => (b"HTTP/1.1 200 OK\r\nContent-".to_vec(), Then::Close),
        })
        .await;
        let mut connection = server.connect(options()).await;
        connection.get(&Request { url: &server.url("/first"), ..Request::default() }).await.unwrap();
        let failure =
            connection.get(&Request { url: &server.url("/second"), ..Request::default() }).await.unwrap_err();
        assert_eq!((failure.class, failure.stale), (Class::Reset, false), "began to answer");
    });
}

#[test]
fn does_not_take_what_follows_a_body_for_the_next_response() {
    run(async {
        let mut bytes = page("mine");
        bytes.extend(page("forged"));
        let server = Server::saying(bytes, Then::Listen).await;
        let mut connection = server.connect(options()).await;
        let url = server.url("/");
        let request = Request { url: &url, ..Request::default() };
        assert_eq!(connection.get(&request).await.unwrap().body, b"mine");
        assert!(!connection.is_open());
        assert_eq!(class(connection.get(&request).await), Class::Reset);
    });
}

#[test]
fn refuses_urls_of_other_origins() {
    run(async {
        let server = Server::saying(page("x"), Then::Listen).await;
        let mut connection = server.connect(options()).await;
        for url in ["http://other.example/", &format!("{}0/", server.origin()), "nonsense"] {
            assert_eq!(
                class(connection.get(&Request { url, ..Request::default() }).await),
                Class::BadResponse
            );
        }
        assert!(server.heads.borrow().is_empty());
        assert!(connection.get(&Request { url: &server.url("/"), ..Request::default() }).await.is_ok());
    });
}
