//! Resolving the addresses of a page, most of which are short paths from where the page is.
//!
//! [`Base::resolve`] promises exactly what [`canonical`] gives. A reference whose path is made of letters,
//! digits and a few signs that the standard leaves as they are is put after the directory of the base, `.` and
//! `..` taken away, without being parsed or allocated. So is an address that begins with the
//! base's own origin. Whatever else there is goes to [`canonical`].

use super::{MAX_LENGTH, Url, canonical};

/// The address that others are resolved against.
pub struct Base {
    url: Url,
    /// The canonical directory of the base, up to its last slash; none if references must all be parsed.
    directory: Option<String>,
    /// How much of the directory is scheme, host and port.
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

    /// The address itself.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Writes the canonical form of `href` to `address`, and tells whether it has one.
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

    /// What a simple reference is put after, and its path.
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

/// Puts the segments of `path` after `address`, which ends in a slash and stays at least `root` bytes long.
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

/// The bytes that stay as they are in any path, and mean nothing but themselves, dots and slashes.
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
