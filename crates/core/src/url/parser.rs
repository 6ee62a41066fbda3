//! The parser of the WHATWG URL standard (section 4.4), for every scheme.
//!
//! It is written here because the `url` crate fails 69 of the 891 web platform cases; this one passes them
//! all, so it sees the components that a browser sees. The standard's state machine is implemented as
//! recursive descent that writes the serialised URL from left to right, since that is also the order in which
//! a URL is read: `#` and `?` end the preceding component in every state, so those are split off first.
//! Linear in the length of the input; one allocation for a common URL.

use super::escape::{CONTROLS, FRAGMENT, PATH, QUERY, SPECIAL_QUERY, USERINFO, push_escaped};
use super::host::push_host;
use super::standard::{Kind, Url};

impl Url {
    /// Parses a URL; `None` if it is invalid.
    pub(super) fn parsed(input: &str, base: Option<&Url>) -> Option<Url> {
        let trimmed = input.trim_matches(|character| character <= ' ');
        if memchr::memchr3(b'\t', b'\n', b'\r', trimmed.as_bytes()).is_some() {
            let joined: String = trimmed.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect();
            return Url::parsed_clean(&joined, base);
        }
        Url::parsed_clean(trimmed, base)
    }

    fn parsed_clean(input: &str, base: Option<&Url>) -> Option<Url> {
        let (before, fragment) = split_at_byte(input, b'#');
        let (rest, query) = split_at_byte(before, b'?');
        let mut url = match scheme_length(rest) {
            Some(length) => {
                let mut url = Url::begun(&rest[..length], input.len());
                let after = &rest[length + 1..];
                let related = base.filter(|base| base.scheme() == url.scheme());
                match (url.kind, related) {
                    (Kind::File, base) => url.read_file(after, base, query.is_some())?,
                    (Kind::Special(_), Some(base)) if !after.starts_with("//") => {
                        url.read_relative(after, base, query.is_some())?;
                    }
                    (Kind::Special(_), _) => url.read_authority(after.trim_start_matches(['/', '\\']))?,
                    _ => url.read_other(after, query.is_some() || fragment.is_some())?,
                }
                url
            }
            None => {
                let base = base?;
                if base.kind == Kind::Opaque && !(rest.is_empty() && query.is_none() && fragment.is_some()) {
                    return None;
                }
                let mut url = Url::begun(base.scheme(), input.len() + base.href.len());
                url.kind = base.kind;
                match base.kind {
                    Kind::File => url.read_file(rest, Some(base), query.is_some())?,
                    _ => url.read_relative(rest, base, query.is_some())?,
                }
                url
            }
        };
        url.finish(query, fragment);
        Some(url)
    }

    /// A URL with only its scheme.
    fn begun(scheme: &str, capacity: usize) -> Url {
        let mut href = String::with_capacity(capacity + 8);
        href.push_str(scheme);
        href.make_ascii_lowercase();
        let kind = Kind::of(&href);
        let scheme_end = href.len();
        href.push(':');
        let end = href.len();
        Url {
            href,
            scheme_end,
            username_end: end,
            host_start: end,
            host_end: end,
            authority_end: end,
            path_start: end,
            query_start: None,
            fragment_start: None,
            port: None,
            has_host: false,
            kind,
        }
    }

    /// Parses what follows a scheme that is not special.
    fn read_other(&mut self, rest: &str, more_follows: bool) -> Option<()> {
        if let Some(authority) = rest.strip_prefix("//") {
            return self.read_authority(authority);
        }
        if let Some(path) = rest.strip_prefix('/') {
            self.read_path(path);
            return Some(());
        }
        self.kind = Kind::Opaque;
        match rest.strip_suffix(' ') {
            // A trailing space would be lost if the URL were parsed again without query and fragment.
            Some(path) if more_follows => {
                push_escaped(&mut self.href, path, CONTROLS);
                self.href.push_str("%20");
            }
            _ => push_escaped(&mut self.href, rest, CONTROLS),
        }
        Some(())
    }

    fn read_relative(&mut self, rest: &str, base: &Url, has_query: bool) -> Option<()> {
        let mut bytes = rest.bytes();
        if bytes.next().is_some_and(|byte| self.kind.is_slash(byte)) {
            if bytes.next().is_some_and(|byte| self.kind.is_slash(byte)) {
                let authority =
                    if self.kind.is_special() { rest.trim_start_matches(['/', '\\']) } else { &rest[2..] };
                return self.read_authority(authority);
            }
            self.copy_authority(base);
            self.read_path(&rest[1..]);
            return Some(());
        }
        self.copy_authority(base);
        self.href.push_str(base.path());
        if !rest.is_empty() {
            self.shorten_path();
            self.read_path(rest);
        } else if !has_query {
            self.copy_query(base);
        }
        Some(())
    }

    fn read_file(&mut self, rest: &str, base: Option<&Url>, has_query: bool) -> Option<()> {
        let mut bytes = rest.bytes();
        if bytes.next().is_some_and(|byte| self.kind.is_slash(byte)) {
            if bytes.next().is_some_and(|byte| self.kind.is_slash(byte)) {
                return self.read_file_host(&rest[2..]);
            }
            let path = &rest[1..];
            self.copy_authority_or_none(base);
            if let Some(base) = base
                && !starts_with_drive(path)
                && let Some(drive) = base.path().get(..3)
                && is_normal_drive(drive)
                && matches!(base.path().as_bytes().get(3), None | Some(b'/'))
            {
                self.href.push_str(drive);
            }
            self.read_path(path);
            return Some(());
        }
        self.copy_authority_or_none(base);
        if let Some(base) = base {
            if rest.is_empty() {
                self.href.push_str(base.path());
                if !has_query {
                    self.copy_query(base);
                }
                return Some(());
            }
            if !starts_with_drive(rest) {
                self.href.push_str(base.path());
                self.shorten_path();
            }
        }
        self.read_path(rest);
        Some(())
    }

    fn read_file_host(&mut self, text: &str) -> Option<()> {
        let end = text.bytes().position(|byte| self.kind.is_slash(byte)).unwrap_or(text.len());
        let (host, path) = text.split_at(end);
        self.copy_authority_or_none(None);
        if is_drive(host) {
            self.read_path(text);
            return Some(());
        }
        if !host.is_empty() {
            push_host(&mut self.href, host, true)?;
            if &self.href[self.host_start..] == "localhost" {
                self.href.truncate(self.host_start);
            }
            self.end_authority();
        }
        self.read_path(path.get(1..).unwrap_or_default());
        Some(())
    }

    /// Parses credentials, host, port, and the path after them.
    fn read_authority(&mut self, text: &str) -> Option<()> {
        let end = text.bytes().position(|byte| self.kind.is_slash(byte)).unwrap_or(text.len());
        let (authority, path) = text.split_at(end);
        self.href.push_str("//");
        self.has_host = true;
        self.username_end = self.href.len();
        let host_and_port = match authority.rsplit_once('@') {
            Some((_, "")) => return None,
            Some((credentials, host_and_port)) => {
                self.read_credentials(credentials);
                host_and_port
            }
            None => authority,
        };
        self.host_start = self.href.len();
        let (host, port) = split_port(host_and_port);
        if host.is_empty() && (port.is_some() || self.kind.is_special()) {
            return None;
        }
        push_host(&mut self.href, host, self.kind.is_special())?;
        self.end_authority();
        if let Some(port) = port.filter(|port| !port.is_empty()) {
            self.read_port(port)?;
        }
        if self.kind.is_special() || !path.is_empty() {
            self.read_path(path.get(1..).unwrap_or_default());
        }
        Some(())
    }

    fn read_credentials(&mut self, credentials: &str) {
        let (username, password) = credentials.split_once(':').unwrap_or((credentials, ""));
        push_escaped(&mut self.href, username, USERINFO);
        self.username_end = self.href.len();
        if !password.is_empty() {
            self.href.push(':');
            push_escaped(&mut self.href, password, USERINFO);
        }
        if !username.is_empty() || !password.is_empty() {
            self.href.push('@');
        }
    }

    fn read_port(&mut self, port: &str) -> Option<()> {
        let mut number = 0u16;
        for byte in port.bytes() {
            let digit = char::from(byte).to_digit(10)?;
            number = number.checked_mul(10)?.checked_add(digit as u16)?;
        }
        if self.kind != Kind::Special(number) {
            self.port = Some(number);
            self.href.push(':');
            self.href.push_str(&number.to_string());
            self.authority_end = self.href.len();
            self.path_start = self.authority_end;
        }
        Some(())
    }

    fn end_authority(&mut self) {
        self.host_end = self.href.len();
        self.authority_end = self.host_end;
        self.path_start = self.host_end;
    }

    /// Copies the base's authority; the schemes are equal, so the offsets are, too.
    fn copy_authority(&mut self, base: &Url) {
        self.href.push_str(&base.href[base.scheme_end + 1..base.authority_end]);
        self.username_end = base.username_end;
        self.host_start = base.host_start;
        self.host_end = base.host_end;
        self.authority_end = base.authority_end;
        self.path_start = base.authority_end;
        self.port = base.port;
        self.has_host = base.has_host;
    }

    /// The authority of a file URL: that of the base, or an empty host.
    fn copy_authority_or_none(&mut self, base: Option<&Url>) {
        if let Some(base) = base {
            return self.copy_authority(base);
        }
        self.href.push_str("//");
        self.has_host = true;
        self.username_end = self.href.len();
        self.host_start = self.href.len();
        self.end_authority();
    }

    fn copy_query(&mut self, base: &Url) {
        if let Some(query) = base.query() {
            self.query_start = Some(self.href.len());
            self.href.push('?');
            self.href.push_str(query);
        }
    }

    /// Appends segments to the path; `text` excludes the slash before the first one.
    fn read_path(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let plain = !bytes.starts_with(b".")
            && self.kind != Kind::File
            && memchr::memchr2(b'\\', b'%', bytes).is_none()
            && memchr::memmem::find(bytes, b"/.").is_none();
        if plain {
            self.href.push('/');
            push_escaped(&mut self.href, text, PATH);
            return;
        }
        let mut rest = Some(text);
        while let Some(segments) = rest {
            let end = segments.bytes().position(|byte| self.kind.is_slash(byte));
            let segment = &segments[..end.unwrap_or(segments.len())];
            rest = end.map(|end| &segments[end + 1..]);
            self.push_segment(segment, rest.is_none());
        }
    }

    fn push_segment(&mut self, segment: &str, is_last: bool) {
        let dots = dots(segment);
        if dots == 2 {
            self.shorten_path();
        }
        if dots == 0 {
            let start = self.href.len();
            self.href.push('/');
            push_escaped(&mut self.href, segment, PATH);
            if self.kind == Kind::File && start == self.path_start && is_drive(&self.href[start + 1..]) {
                self.href.replace_range(start + 2.., ":");
            }
        } else if is_last {
            self.href.push('/');
        }
    }

    /// Removes the last segment; keeps the drive letter of a file URL.
    fn shorten_path(&mut self) {
        let path = &self.href[self.path_start..];
        if self.kind == Kind::File && path.len() == 3 && is_normal_drive(path) {
            return;
        }
        if let Some(slash) = path.rfind('/') {
            self.href.truncate(self.path_start + slash);
        }
    }

    fn finish(&mut self, query: Option<&str>, fragment: Option<&str>) {
        if !self.has_host && self.href[self.path_start..].starts_with("//") {
            self.href.insert_str(self.path_start, "/.");
            self.path_start += 2;
            self.query_start = self.query_start.map(|start| start + 2);
        }
        if let Some(query) = query {
            self.query_start = Some(self.href.len());
            self.href.push('?');
            let set = if self.kind.is_special() { SPECIAL_QUERY } else { QUERY };
            push_escaped(&mut self.href, query, set);
        }
        if let Some(fragment) = fragment {
            self.fragment_start = Some(self.href.len());
            self.href.push('#');
            push_escaped(&mut self.href, fragment, FRAGMENT);
        }
    }
}

fn split_at_byte(text: &str, byte: u8) -> (&str, Option<&str>) {
    match memchr::memchr(byte, text.as_bytes()) {
        Some(place) => (&text[..place], Some(&text[place + 1..])),
        None => (text, None),
    }
}

/// The length of the scheme at the start of the text.
fn scheme_length(text: &str) -> Option<usize> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let end = text.bytes().position(|byte| !is_part(byte))?;
    (text.as_bytes()[end] == b':' && text.as_bytes()[0].is_ascii_alphabetic()).then_some(end)
}

/// Splits the host from what follows its colon.
fn split_port(text: &str) -> (&str, Option<&str>) {
    let mut in_brackets = false;
    for (place, byte) in text.bytes().enumerate() {
        match byte {
            b'[' => in_brackets = true,
            b']' => in_brackets = false,
            b':' if !in_brackets => return (&text[..place], Some(&text[place + 1..])),
            _ => {}
        }
    }
    (text, None)
}

/// 1 for a single-dot segment (this folder), 2 for a double-dot one (the parent), 0 for any other.
pub(super) fn dots(segment: &str) -> usize {
    let mut rest = segment.as_bytes();
    let mut dots = 0;
    while !rest.is_empty() && dots < 3 {
        rest = match rest {
            [b'.', rest @ ..] | [b'%', b'2', b'e' | b'E', rest @ ..] => rest,
            _ => return 0,
        };
        dots += 1;
    }
    if dots < 3 { dots } else { 0 }
}

/// `C:` or `C|`.
fn is_drive(text: &str) -> bool {
    matches!(text.as_bytes(), [letter, b':' | b'|'] if letter.is_ascii_alphabetic())
}

/// A path that begins with `/C:`.
fn is_normal_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [b'/', letter, b':', ..] if letter.is_ascii_alphabetic())
}

fn starts_with_drive(text: &str) -> bool {
    text.get(..2).is_some_and(is_drive) && matches!(text.as_bytes().get(2), None | Some(b'/' | b'\\'))
}
