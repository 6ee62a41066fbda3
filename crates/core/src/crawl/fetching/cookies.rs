//! The cookie jar of a host, for crawls that keep cookies (RFC 6265, limited to one host and one run).
//!
//! Cookies live as long as the host is known in this run. A cookie is sent only to the host that set it, to
//! the paths that it names, and only over HTTPS if it is marked `Secure`. A jar holds at most [`MOST`]
//! cookies of at most [`LONGEST`] bytes each.

/// The maximum number of cookies per host; the oldest are evicted.
const MOST: usize = 50;
/// Longer cookies are ignored.
const LONGEST: usize = 4096;

/// The cookies of a host.
#[derive(Default)]
pub struct Cookies(Vec<Cookie>);

struct Cookie {
    name: String,
    value: String,
    path: String,
    is_secure: bool,
}

impl Cookies {
    /// Applies a Set-Cookie header of a response to `path`.
    pub fn set(&mut self, header: &str, path: &str) {
        let mut parts = header.split(';').map(str::trim);
        let Some((name, value)) = parts.next().and_then(|pair| pair.split_once('=')) else { return };
        let (name, value) = (name.trim(), value.trim());
        let is_text = |text: &str| text.bytes().all(|byte| (0x20..0x7f).contains(&byte));
        if name.is_empty() || header.len() > LONGEST || !is_text(name) || !is_text(value) {
            return;
        }
        let folder =
            path.split('?').next().unwrap_or_default().rsplit_once('/').map_or("/", |(folder, _)| folder);
        let mut cookie = Cookie {
            name: name.to_owned(),
            value: value.to_owned(),
            path: if folder.is_empty() { "/" } else { folder }.to_owned(),
            is_secure: false,
        };
        let mut is_over = false;
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            match key.trim().to_ascii_lowercase().as_str() {
                "path" if value.trim().starts_with('/') => cookie.path = value.trim().to_owned(),
                "secure" => cookie.is_secure = true,
                "max-age" => is_over = value.trim().parse::<i64>().is_ok_and(|seconds| seconds <= 0),
                _ => {}
            }
        }
        self.0.retain(|known| known.name != cookie.name || known.path != cookie.path);
        if !is_over {
            self.0.push(cookie);
        }
        if self.0.len() > MOST {
            self.0.remove(0);
        }
    }

    /// The Cookie header of a request to `path`, most specific path first.
    pub fn header(&self, path: &str, is_secure: bool) -> Option<String> {
        let mut sent: Vec<&Cookie> = self.0.iter().filter(|cookie| cookie.belongs(path, is_secure)).collect();
        sent.sort_by_key(|cookie| std::cmp::Reverse(cookie.path.len()));
        let pairs: Vec<String> =
            sent.iter().map(|cookie| format!("{}={}", cookie.name, cookie.value)).collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }
}

impl Cookie {
    fn belongs(&self, path: &str, is_secure: bool) -> bool {
        let rest = path.strip_prefix(&self.path);
        let inside = rest
            .is_some_and(|rest| self.path.ends_with('/') || rest.is_empty() || rest.starts_with(['/', '?']));
        inside && (is_secure || !self.is_secure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_goes_back_where_it_belongs() {
        let mut cookies = Cookies::default();
        cookies.set("a=1", "/shop/list");
        cookies.set("b=2; Path=/; Secure; HttpOnly", "/shop/list");
        cookies.set("c = 3 ; path=/shop/cart", "/");
        assert_eq!(cookies.header("/shop/", false).as_deref(), Some("a=1"));
        assert_eq!(cookies.header("/shop?x=1", true).as_deref(), Some("a=1; b=2"));
        assert_eq!(cookies.header("/shop/cart/2", true).as_deref(), Some("c=3; a=1; b=2"));
        assert_eq!(cookies.header("/shopping", false), None);
        cookies.set("a=9", "/shop/other");
        cookies.set("b=; Path=/; Max-Age=0", "/");
        assert_eq!(cookies.header("/shop/", true).as_deref(), Some("a=9"));
    }

    #[test]
    fn nonsense_is_not_kept() {
        let mut cookies = Cookies::default();
        for header in ["", "=x", "novalue", "a=b\r\nEvil: yes", &format!("a={}", "x".repeat(LONGEST))] {
            cookies.set(header, "/");
        }
        assert_eq!(cookies.header("/", true), None);
        for number in 0..2 * MOST {
            cookies.set(&format!("c{number}=1"), "/");
        }
        assert_eq!(cookies.header("/", true).unwrap().matches('=').count(), MOST);
    }
}
