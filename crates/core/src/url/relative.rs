//! Resolving the links of a page, most of which are short relative paths.
//!
//! [`Base::resolve`] returns exactly what [`canonical`] does. A reference whose path consists of letters,
//! digits and a few signs that the standard leaves unchanged is appended to the directory of the base, with
//! `.` and `..` removed, without parsing or allocation. So is a URL that begins with the base's own origin.
//! Everything else goes to [`canonical`].

use super::{MAX_LENGTH, Url, canonical};

/// The base URL against which references are resolved.
pub struct Base {
    url: Url,
    /// The canonical directory of the base, up to its last slash; `None` if all references must be parsed.
    directory: Option<String>,
    /// The length of the directory's origin: scheme, host and port.
    origin: usize,
}

impl Base {
    /// A base at `url`.
    pub fn new(url: Url) -> Base {
        let is_plain = matches!(url.scheme(), "http" | "https")
            && url.username().is_empty()
            && url.password().is_empty()
            && !url.path().contains(';');
        let whole = canonical(url.as_str(), None).filter(|_| is_plain);
        let mut base = Base { url, directory: None, origin: 0 };
        if let Some(mut whole) = whole {
            let host = whole.find("://").map_or(0, |scheme| scheme + 3);
            base.origin = whole[host..].find('/').map_or(whole.len(), |length| host + length);
            let path = whole.find('?').unwrap_or(whole.len());
            whole.truncate(whole[..path].rfind('/').map_or(path, |slash| slash + 1));
            base.directory = Some(whole);
        }
        base
    }

    /// The base URL.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Writes the canonical form of `href` to `address`, and returns whether it has one.
    pub fn resolve(&self, href: &str, address: &mut String) -> bool {
        let href = href.trim();
        if let Some(directory) = &self.directory
            && let Some((start, path)) = self.simple(directory, href)
        {
            address.clear();
            address.push_str(start);
            append(address, path, self.origin + 1);
            return address.len() <= MAX_LENGTH;
        }
        match canonical(href, Some(&self.url)) {
            Some(url) => {
                *address = url;
                true
            }
            None => false,
        }
    }

    /// The prefix to which a simple reference is appended, and its path.
    fn simple<'a>(&self, directory: &'a str, href: &'a str) -> Option<(&'a str, &'a str)> {
        let (origin, root) = (&directory[..self.origin], &directory[..=self.origin]);
        let own = href.strip_prefix(origin).filter(|rest| rest.starts_with('/'));
        let reference = own.unwrap_or(href);
        let simple = reference.bytes().take_while(|byte| SIMPLE[usize::from(*byte)]).count();
        if simple == 0 || !matches!(reference.as_bytes().get(simple), None | Some(b'#')) {
            return None;
        }
        let path = &reference[..simple];
        match path.strip_prefix('/') {
            None => Some((directory, path)),
            Some(rest) if own.is_none() && rest.starts_with('/') => None,
            Some(rest) => Some((root, rest)),
        }
    }
}

/// Appends the segments of `path` to `address`, which ends in a slash and keeps at least `root` bytes.
fn append(address: &mut String, path: &str, root: usize) {
    let mut rest = path;
    loop {
        let end = memchr::memchr(b'/', rest.as_bytes());
        match &rest[..end.unwrap_or(rest.len())] {
            "." => {}
            ".." => {
                let parent = address[..address.len() - 1].rfind('/').map_or(root, |slash| slash + 1);
                address.truncate(parent.max(root));
            }
            segment => {
                address.push_str(segment);
                address.push_str(if end.is_some() { "/" } else { "" });
            }
        }
        match end {
            Some(end) => rest = &rest[end + 1..],
            None => return,
        }
    }
}

/// The bytes that are unchanged in any path and have no special meaning, plus dots and slashes.
static SIMPLE: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    let signs = b"-._~/!$&()*+,=@";
    let mut next = 0;
    while next < signs.len() {
        table[signs[next] as usize] = true;
        next += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn is_the_canonical_form(
            base in prop::sample::select(vec![
                "http://a.example", "https://a.example:8080/b/c.html?q/r=1#f", "http://a.example/b//c/%7e%c3/d",
                "http://user:secret@a.example/b/", "http://a.example/b;c/d", "data:text/plain,x", "http://[::1]/a/b/",
                "ftp://a.example/b",
            ]),
            href in "(http://a\\.example|https?:|/)?([.]{1,3}/|[a-c]{1,2}/|/|[%?#:;~ é\\\\()&=@+'\\[]|[.]{0,2}|[a-zA-Z0-9._~!$&()*+,=@-]{1,3}){0,7}",
        ) {
            let base = Url::parse(base).unwrap();
            let mut address = String::new();
            let found = Base::new(base.clone()).resolve(&href, &mut address).then_some(address);
            prop_assert_eq!(found, canonical(&href, Some(&base)));
        }
    }

    #[test]
    fn long_addresses_are_none() {
        let base = Base::new(Url::parse("http://a.example/b/").unwrap());
        let mut address = String::new();
        assert!(!base.resolve(&"x".repeat(MAX_LENGTH), &mut address));
        assert!(base.resolve(&"x/../".repeat(MAX_LENGTH), &mut address));
        assert_eq!(address, "http://a.example/b/");
    }
}
