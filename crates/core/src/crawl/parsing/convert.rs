//! Converts documents of other formats to text, each in a separate process whose crash does no harm.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;

/// The text of a document.
#[derive(Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
pub struct Converted {
    /// Its title, as declared.
    pub title: String,
    /// Its text.
    pub text: String,
    /// Why a third-party converter produced no text, in one sentence.
    pub failure: Option<String>,
}

impl Converted {
    /// Its title, or else the last segment of its URL.
    pub fn title_or(&self, url: &str) -> String {
        let title = self.title.trim();
        if title.is_empty() {
            url.rsplit('/').next().unwrap_or_default().to_owned()
        } else {
            title.to_owned()
        }
    }
}

/// The text of a document, by running a command that takes the media type as its last argument, reads the
/// document on stdin and writes title and text as JSON; `None` if it fails, times out, or the crawl is
/// stopping.
pub fn convert(
    command: &[String],
    media_type: &str,
    body: &[u8],
    timeout: Duration,
    go_on: &dyn Fn() -> bool,
) -> Option<Converted> {
    let (program, arguments) = command.split_first()?;
    let mut child = Command::new(program)
        .args(arguments)
        .arg(media_type)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .ok()?;
    let (mut input, mut output) = (child.stdin.take()?, child.stdout.take()?);
    let deadline = Instant::now() + timeout;
    let written = thread::scope(|scope| {
        // A converter need not read its input to the end.
        scope.spawn(move || drop(input.write_all(body)));
        let reading = scope.spawn(move || {
            let mut written = Vec::new();
            output.read_to_end(&mut written).ok().map(|_| written)
        });
        while !reading.is_finished() && Instant::now() < deadline && go_on() {
            thread::sleep(Duration::from_millis(2));
        }
        // Killing the process group closes both pipes, and so ends both threads.
        kill_group(&mut child);
        reading.join().ok().flatten()
    })?;
    serde_json::from_slice(&written).ok()
}

/// Kills a process and its descendants, which may hold its pipes open.
fn kill_group(child: &mut Child) {
    // SAFETY: the call takes plain numbers. The process leads its group, and its id is not reused before it
    // is waited for.
    unsafe { libc::kill(-(child.id() as libc::pid_t), libc::SIGKILL) };
    drop(child.wait());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Vec<String> {
        ["sh", "-c", script].map(str::to_owned).to_vec()
    }

    #[test]
    fn what_the_process_writes_is_the_text() {
        let script = "cat > /dev/null; printf '{\"title\": \" A \", \"text\": \"%s\"}' \"$0\"";
        let converted =
            convert(&shell(script), "application/pdf", &[7; 1 << 20], Duration::from_secs(20), &|| true)
                .unwrap();
        assert_eq!((converted.title_or("x").as_str(), converted.text.as_str()), ("A", "application/pdf"));
    }

    #[test]
    fn a_crawl_that_ends_does_not_wait() {
        let started = Instant::now();
        assert_eq!(convert(&shell("exec sleep 60"), "a/b", b"", Duration::from_secs(60), &|| false), None);
        assert!(started.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn a_process_that_fails_or_hangs_does_no_harm() {
        for script in ["exit 1", "kill -9 $$", "printf nonsense", "exec sleep 60", "sleep 60; :"] {
            assert_eq!(
                convert(&shell(script), "a/b", &[7; 1 << 20], Duration::from_millis(300), &|| true),
                None,
                "{script}"
            );
        }
        assert_eq!(
            convert(&["no-such-program".to_owned()], "a/b", b"", Duration::from_secs(1), &|| true),
            None
        );
    }
}
