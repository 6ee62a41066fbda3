//! Requests through a proxy.

use tokio::io::copy_bidirectional;

use super::*;

fn through(proxy: &Server, credentials: &str) -> Options {
    Options {
        proxy: Some(format!("http://{credentials}{}", proxy.address)),
        allow_private: false,
        ..options()
    }
}

#[test]
fn asks_the_proxy_for_whole_urls() {
    run(async {
        let proxy = Server::answering(|head| (page(head.split(' ').nth(1).unwrap()), Then::Listen)).await;
        let client = client_with(through(&proxy, "user:pass@"));
        let origin = Origin::of("http://site.example:8080/").unwrap();
        let address = client.resolve(&origin.host).await.unwrap();
        assert_eq!(address, LOOPBACK, "the proxy's");
        let mut connection = client.connect(&origin, address).await.unwrap();
        for url in ["http://site.example:8080/", "http://site.example:8080/a?b"] {
            let response = connection.get(&Request { url, ..Request::default() }).await.unwrap();
            assert_eq!(response.body, url.as_bytes());
        }
        let head = proxy.heads.borrow()[0].clone();
        assert!(head.contains("Host: site.example:8080\r\n"), "{head}");
        assert!(head.contains("Proxy-Authorization: Basic dXNlcjpwYXNz\r\n"), "{head}");
        assert_eq!(proxy.connections.get(), 1);
    });
}

#[test]
fn tunnels_what_is_encrypted() {
    run(async {
        let (acceptor, _) = encryption::acceptor(&["http/1.1"]);
        let accept = async move |stream| acceptor.accept(stream).await.ok();
        let site = Server::over(|_| (page("behind"), Then::Listen), accept).await;
        let target = site.address;
        let head = Rc::new(RefCell::new(String::new()));
        let seen = Rc::clone(&head);
        let tunnel = async move |mut stream: TcpStream| {
            let mut read = Vec::new();
            while !read.ends_with(b"\r\n\r\n") {
                stream.read_buf(&mut read).await.unwrap();
            }
            *seen.borrow_mut() = String::from_utf8(read).unwrap();
            stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await.unwrap();
            let mut site = TcpStream::connect(target).await.unwrap();
            let _ = copy_bidirectional(&mut stream, &mut site).await;
            None::<TcpStream>
        };
        let proxy = Server::over(|_| (vec![], Then::Close), tunnel).await;
        let client = client_with(through(&proxy, "user:pass@"));
        let origin = Origin::of("https://site.example/").unwrap();
        let mut connection =
            client.connect(&origin, client.resolve(&origin.host).await.unwrap()).await.unwrap();
        for _ in 0..2 {
            let request = Request { url: "https://site.example/a", ..Request::default() };
            assert_eq!(connection.get(&request).await.unwrap().body, b"behind");
        }
        assert_eq!(
            *head.borrow(),
            "CONNECT site.example:443 HTTP/1.1\r\nHost: site.example:443\r\n\
             Proxy-Authorization: Basic dXNlcjpwYXNz\r\n\r\n"
        );
        let heads = site.heads.borrow();
        assert!(heads[0].starts_with("GET /a HTTP/1.1\r\n") && !heads[0].contains("Proxy"), "{}", heads[0]);
    });
}

#[test]
fn names_the_proxy_where_it_fails() {
    run(async {
        let answers = [
            "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n",
            "HTTP/1.1 502 Bad Gateway\r\n\r\n",
            "",
            "junk\r\n\r\n",
        ];
        for answer in answers {
            let proxy = Server::saying(answer, Then::Close).await;
            let client = client_with(through(&proxy, ""));
            let origin = Origin::of("https://site.example/").unwrap();
            assert_eq!(class(client.connect(&origin, LOOPBACK).await.map(drop)), Class::Proxy, "{answer}");
        }
        let proxy = Server::saying(answers[0], Then::Close).await;
        let client = client_with(through(&proxy, ""));
        let mut connection =
            client.connect(&Origin::of("http://site.example/").unwrap(), LOOPBACK).await.unwrap();
        let request = Request { url: "http://site.example/", ..Request::default() };
        assert_eq!(class(connection.get(&request).await), Class::Proxy);

        let free = TcpListener::bind((LOOPBACK, 0)).await.unwrap().local_addr().unwrap();
        let client = client_with(Options { proxy: Some(format!("http://{free}")), ..options() });
        let failure = client
            .connect(&Origin::of("http://site.example/").unwrap(), LOOPBACK)
            .await
            .map(drop)
            .unwrap_err();
        assert_eq!(failure.class, Class::Proxy);
    });
}

#[test]
fn does_not_ask_the_proxy_for_private_addresses() {
    run(async {
        let proxy = Server::saying(page("secret"), Then::Listen).await;
        let client = client_with(through(&proxy, ""));
        for url in ["http://127.0.0.1/", "https://[::1]/", "http://169.254.169.254/"] {
            let origin = Origin::of(url).unwrap();
            assert_eq!(class(client.resolve(&origin.host).await), Class::Private);
            assert_eq!(class(client.connect(&origin, LOOPBACK).await.map(drop)), Class::Private);
        }
        assert_eq!(proxy.connections.get(), 0);
    });
}
