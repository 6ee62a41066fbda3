//! Requests per second of one thread; run with `--release -- --ignored --nocapture fetch::tests::speed`.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Instant;

use super::*;

/// A minimal server in its own thread, so that the client is what is measured.
fn serve(body: usize) -> SocketAddr {
    let listener = TcpListener::bind((LOOPBACK, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let response = page(&"x".repeat(body));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, response) = (stream.unwrap(), response.clone());
            stream.set_nodelay(true).unwrap();
            std::thread::spawn(move || {
                let mut buffer = [0; 4096];
                while stream.read(&mut buffer).is_ok_and(|length| length > 0) {
                    if stream.write_all(&response).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

fn measure(body: usize, connections: usize, requests: usize) {
    let port = serve(body).port();
    let spent = processor_time();
    let start = Instant::now();
    run(async move {
        let client = Rc::new(client_with(Options { max_bytes: 1 << 24, ..options() }));
        let visits = (0..connections).map(|_| {
            let client = Rc::clone(&client);
            tokio::task::spawn_local(async move {
                let origin = Origin { scheme: Scheme::Http, host: LOOPBACK.to_string(), port };
                let url = format!("{origin}/some/page.html");
                let mut connection = client.connect(&origin, LOOPBACK).await.unwrap();
                for _ in 0..requests / connections {
                    let response =
                        connection.get(&Request { url: &url, ..Request::default() }).await.unwrap();
                    assert_eq!(response.body.len(), body);
                    assert!(connection.is_open());
                }
            })
        });
        for visit in visits.collect::<Vec<_>>() {
            visit.await.unwrap();
        }
    });
    let each = |time: Duration| time.as_secs_f64() * 1e6 / requests as f64;
    let (took, spent) = (start.elapsed(), processor_time() - spent);
    println!(
        "{body:>8} bytes, {connections:>3} connections: {:>7.0} requests/s, {:.1} µs each, of which {:.1} µs of this thread",
        requests as f64 / took.as_secs_f64(),
        each(took),
        each(spent),
    );
}

/// The CPU time of this thread.
fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec on the stack, which the call fills in.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[test]
#[ignore = "a measurement"]
fn speed() {
    for (body, connections, requests) in
        [(1000, 1, 50_000), (1000, 64, 200_000), (20_000, 64, 100_000), (1_000_000, 16, 4_000)]
    {
        measure(body, connections, requests);
    }
}
