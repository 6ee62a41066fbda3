//! Documents of other formats, converted to HTML by a pool of worker processes.
//!
//! A worker is kept warm for the next documents, and replaced after a number of them. One that dies, hangs or
//! writes too much is replaced at once, and costs its document alone, which then says why. If it had served
//! others before, the document gets a second chance in a new one: what killed it may have been their remains.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::worker::{Trouble, Waiting, Worker};
use crate::settings::{seconds, threads};

/// The settings of conversions.
#[derive(Clone, Debug, Deserialize)]
pub struct Limits {
    /// The time that a document may take.
    #[serde(rename = "convert_time", deserialize_with = "seconds")]
    pub(crate) time: Duration,
    /// The maximum bytes of the HTML of a document.
    #[serde(rename = "convert_output")]
    pub(crate) output: usize,
    /// The number of processes.
    #[serde(rename = "convert_processes", deserialize_with = "threads")]
    pub(crate) processes: usize,
    /// The number of documents after which a process is replaced.
    #[serde(rename = "convert_documents")]
    pub(crate) documents: u32,
}

/// A document to convert.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    /// Its URL.
    pub url: &'a str,
    /// Its media type, under its usual name.
    pub media_type: &'a str,
    /// The charset of its bytes; `None` if it has its own way to say.
    pub charset: Option<&'a str>,
    /// Its bytes.
    #[serde(skip)]
    pub body: &'a [u8],
}

/// What was found in a document.
#[derive(Debug, Default, Deserialize, PartialEq)]
#[serde(default)]
pub struct Converted {
    /// Its title, as declared.
    pub title: String,
    /// Its declared language.
    pub language: String,
    /// When it was written, in ISO 8601.
    pub date: String,
    /// Why it has no content or not all of it, in one sentence; empty otherwise.
    pub failure: String,
    /// What only a feed has.
    pub feed: Option<serde_json::Value>,
    /// Its content as HTML.
    #[serde(skip)]
    pub body: String,
}

impl Converted {
    fn failed(reason: String) -> Converted {
        Converted { failure: reason, ..Converted::default() }
    }

    /// Whether there is anything to keep.
    pub fn is_empty(&self) -> bool {
        self.title.is_empty() && self.body.is_empty() && self.feed.is_none()
    }

    /// The document as an HTML page; without a title, the last segment of its URL is one.
    pub fn page(&self, url: &str) -> String {
        let title = match self.title.trim() {
            "" => url.trim_end_matches('/').rsplit('/').next().unwrap_or_default(),
            title => title,
        };
        let attribute = |start: &str, value: &str, end: &str| match value {
            "" => String::new(),
            value => format!("{start}=\"{}\"{end}", escaped(value)),
        };
        format!(
            "<!doctype html>\n<html{}><head><meta charset=\"utf-8\"><title>{}</title>{}</head><body>\n{}</body></html>\n",
            attribute(" lang", &self.language, ""),
            escaped(title),
            attribute("<meta name=\"date\" content", &self.date, ">"),
            self.body
        )
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The pool. Each caller waits for its own document, so there are at most as many processes as callers.
pub struct Converters {
    command: Vec<String>,
    limits: Limits,
    idle: Mutex<Vec<Worker>>,
}

impl Converters {
    /// A pool of processes that this command starts; none is started yet.
    pub fn new(command: &[String], limits: &Limits) -> Converters {
        Converters { command: command.to_vec(), limits: limits.clone(), idle: Mutex::default() }
    }

    /// Converts a document; `None` if the crawl is stopping.
    pub fn convert(&self, document: &Document<'_>, go_on: &dyn Fn() -> bool) -> Option<Converted> {
        loop {
            let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let is_new = idle.is_none();
            let mut worker = match idle.map_or_else(|| Worker::start(&self.command), Ok) {
                Ok(worker) => worker,
                Err(error) => {
                    return Some(Converted::failed(format!("no reader could be started ({error})")));
                }
            };
            let waiting = Waiting { deadline: Instant::now() + self.limits.time, go_on };
            let reason = match self.ask(&mut worker, document, &waiting) {
                Ok(converted) => {
                    if worker.served < self.limits.documents {
                        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
                    }
                    return Some(converted);
                }
                Err(Trouble::Stopping) => return None,
                Err(Trouble::Late) => format!("it took longer than {:?}", self.limits.time),
                Err(Trouble::TooLarge) => "its text is larger than allowed".to_owned(),
                Err(Trouble::Died(_)) if !is_new => continue,
                Err(Trouble::Died(reason)) => reason,
            };
            return Some(Converted::failed(reason));
        }
    }

    fn ask(
        &self,
        worker: &mut Worker,
        document: &Document<'_>,
        waiting: &Waiting<'_>,
    ) -> Result<Converted, Trouble> {
        let nonsense = |_| Trouble::Died("its reader made no sense".to_owned());
        let head = serde_json::to_vec(document).map_err(nonsense)?;
        let (head, body) = worker.ask(&head, document.body, self.limits.output, waiting)?;
        let found: Converted = serde_json::from_slice(&head).map_err(nonsense)?;
        let body =
            String::from_utf8(body).map_err(|_| Trouble::Died("its reader made no sense".to_owned()))?;
        Ok(Converted { body, ..found })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pool of workers written in the shell, and the reply to one document.
    fn ask(script: &str, body: &[u8], time: Duration) -> Option<Converted> {
        pool(script, time, 9).convert(&document(body), &|| true)
    }

    fn pool(script: &str, time: Duration, documents: u32) -> Converters {
        let command = ["python3", "-c", &format!("{LIBRARY}\n{script}")].map(str::to_owned);
        Converters::new(&command, &Limits { time, output: 1000, processes: 1, documents })
    }

    fn document(body: &[u8]) -> Document<'_> {
        Document { url: "http://a.example/b", media_type: "a/b", charset: None, body }
    }

    const LIBRARY: &str = "
import json, os, sys, time
def exactly(n):
    data = b''
    while len(data) < n:
        more = os.read(0, n - len(data))
        if not more: sys.exit(0)
        data += more
    return data
def frame(): return exactly(int.from_bytes(exactly(4), 'big'))
def put(data):
    data = len(data).to_bytes(4, 'big') + data
    while data: data = data[os.write(0, data):]
def get(): return json.loads(frame()), frame()
";
    const LONG: Duration = Duration::from_secs(30);

    #[test]
    fn a_worker_serves_several_documents_and_is_then_replaced() {
        let script = "
n = 0
while True:
    head, body = get()
    n += 1
    put(json.dumps({'title': head['media_type'], 'language': str(n)}).encode())
    put(str(len(body)).encode())";
        let pool = pool(script, LONG, 2);
        let large = vec![7; 1 << 21];
        for n in ["1", "2", "1"] {
            let converted = pool.convert(&document(&large), &|| true).unwrap();
            assert_eq!((converted.title.as_str(), converted.body.as_str()), ("a/b", "2097152"));
            assert_eq!(converted.language, n);
        }
    }

    #[test]
    fn a_document_is_a_page() {
        let found = Converted {
            title: "A < B".to_owned(),
            language: "it".to_owned(),
            date: "2024-05-06".to_owned(),
            body: "<h1>C</h1>".to_owned(),
            ..Converted::default()
        };
        let page =
            crate::parse::parse(found.page("http://a.example/b").as_bytes(), "http://a.example/b", None);
        assert_eq!((page.title.as_str(), page.text.as_str()), ("A < B", "C"));
        assert_eq!((page.headings, page.language.as_deref()), (vec!["C".to_owned()], Some("it")));
        assert!(Converted::default().page("http://a.example/b/").contains("<title>b</title>"));
    }

    #[test]
    fn a_crawl_that_ends_does_not_wait() {
        let pool = pool("time.sleep(60)", LONG, 2);
        assert_eq!(pool.convert(&document(b""), &|| false), None);
    }

    #[test]
    fn a_worker_that_fails_or_hangs_costs_its_document_alone() {
        let second = Duration::from_millis(1500);
        for (script, time, reason) in [
            ("sys.exit(3)", LONG, "its reader failed (exit code 3)"),
            ("get(); os.kill(os.getpid(), 11)", LONG, "its reader crashed (signal 11)"),
            ("get(); put(b'nonsense'); put(b'')", LONG, "its reader made no sense"),
            ("get(); put(b'{}'); put(b'\\xff')", LONG, "its reader made no sense"),
            ("get(); put(b'{}'); put(b'x' * 1001)", LONG, "its text is larger than allowed"),
            ("time.sleep(60)", second, "it took longer than 1.5s"),
            ("get(); put(b'{}'); time.sleep(60)", second, "it took longer than 1.5s"),
            ("os.fork(); time.sleep(60)", second, "it took longer than 1.5s"),
        ] {
            let converted = ask(script, &vec![7; 1 << 21], time).unwrap();
            assert_eq!(converted.failure, reason, "{script}");
        }
        let pool = Converters::new(
            &["no-such-program".to_owned()],
            &Limits { time: LONG, output: 9, processes: 1, documents: 9 },
        );
        let reason = pool.convert(&document(b""), &|| true).unwrap().failure;
        assert!(reason.starts_with("no reader could be started"), "{reason}");
    }

    #[test]
    fn a_document_does_not_pay_for_those_before_it() {
        let script = "
get(); put(b'{\"title\": \"x\"}'); put(b'')
get(); os._exit(1)";
        let pool = pool(script, LONG, 9);
        for _ in 0..3 {
            assert_eq!(pool.convert(&document(b""), &|| true).unwrap().title, "x");
        }
    }
}
