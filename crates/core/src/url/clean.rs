//! URL clean-ups beyond the standard: different spellings that nearly always lead to the same page.
//!
//! They are heuristics, so each is a setting. A session id makes every page a new URL on every visit, and a
//! tracking parameter on every click: both are dropped by default. Sorting parameters and dropping the name
//! of an index page are right for most servers, but not for all: both are off by default. Everything else is
//! kept byte for byte. A URL without `?` and `;` costs one scan for them.

use serde::Deserialize;

use super::parser::dots;

/// Which clean-ups are applied, named as in the section `[crawl]` of the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct CleanUp {
    /// Drops session ids: `PHPSESSID`, `;jsessionid=`, `CFID`, `ASPSESSIONID…`, `sid` with 16 or
    /// more hexadecimal digits, and the like.
    #[serde(rename = "clean_session_ids")]
    pub session_ids: bool,
    /// Drops the tracking parameters of advertisers: `utm_…`, `fbclid`, `gclid` …
    #[serde(rename = "clean_tracking")]
    pub tracking: bool,
    /// Sorts the parameters by name; the sort is stable.
    #[serde(rename = "sort_queries")]
    pub sort_query: bool,
    /// Drops `index.html`, `index.php` and the like from the end of the path.
    #[serde(rename = "clean_index_pages")]
    pub index_pages: bool,
}

impl CleanUp {
    /// No clean-up at all.
    pub const NONE: CleanUp =
        CleanUp { session_ids: false, tracking: false, sort_query: false, index_pages: false };
}

#[cfg(test)]
impl Default for CleanUp {
    fn default() -> CleanUp {
        CleanUp { session_ids: true, tracking: true, ..CleanUp::NONE }
    }
}

const TRACKING: [&str; 35] = [
    "_ga",
    "_gl",
    "_hsenc",
    "_hsmi",
    "dclid",
    "epik",
    "fbclid",
    "gbraid",
    "gclid",
    "gclsrc",
    "hsctatracking",
    "igsh",
    "igshid",
    "li_fat_id",
    "mc_cid",
    "mc_eid",
    "mkt_tok",
    "msclkid",
    "oly_anon_id",
    "oly_enc_id",
    "pk_campaign",
    "pk_content",
    "pk_keyword",
    "pk_kwd",
    "pk_medium",
    "pk_source",
    "rb_clickid",
    "srsltid",
    "ttclid",
    "twclid",
    "vero_id",
    "wbraid",
    "wickedid",
    "yclid",
    "ymclid",
];
const TRACKING_PREFIXES: [&str; 2] = ["mtm_", "utm_"];
const SESSIONS: [&str; 7] = ["cfid", "cftoken", "jsessionid", "oscsid", "phpsessid", "sessid", "zenid"];
const SESSION_PREFIX: &str = "aspsessionid";
/// Names that denote a session only if their value looks like an id.
const PERHAPS_SESSIONS: [&str; 5] = ["s", "session", "session_id", "sessionid", "sid"];
const ID_LENGTH: usize = 16;
const INDEX_PAGES: [&str; 10] = [
    "default.asp",
    "default.aspx",
    "default.htm",
    "default.html",
    "index.asp",
    "index.htm",
    "index.html",
    "index.jsp",
    "index.php",
    "index.shtml",
];

/// Applies the clean-ups to a canonical URL.
pub fn clean(url: &mut String, clean_up: &CleanUp) {
    if !clean_up.index_pages && memchr::memchr2(b'?', b';', url.as_bytes()).is_none() {
        return;
    }
    if *clean_up == CleanUp::NONE {
        return;
    }
    clean_query(url, clean_up);
    let Some(path) = url.find("://").and_then(|end| url[end + 3..].find('/').map(|slash| end + 3 + slash))
    else {
        return;
    };
    if clean_up.session_ids {
        drop_path_sessions(url, path);
    }
    if clean_up.index_pages {
        drop_index_page(url, path);
    }
}

fn clean_query(url: &mut String, clean_up: &CleanUp) {
    let Some(question) = memchr::memchr(b'?', url.as_bytes()) else { return };
    let query = &url[question + 1..];
    let drops = |parameter: &str| {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        clean_up.session_ids && is_session(name, value) || clean_up.tracking && is_tracking(name)
    };
    let dropped = query.split('&').any(drops);
    if !dropped && !clean_up.sort_query {
        return;
    }
    let mut kept: Vec<&str> = query.split('&').filter(|parameter| !drops(parameter)).collect();
    if clean_up.sort_query {
        kept.sort_by_key(|parameter| parameter.split('=').next());
    }
    let kept = kept.join("&");
    url.truncate(question + 1);
    url.push_str(&kept);
    if dropped && kept.is_empty() {
        url.truncate(question);
    }
}

fn is_tracking(name: &str) -> bool {
    TRACKING.iter().any(|known| name.eq_ignore_ascii_case(known))
        || TRACKING_PREFIXES.iter().any(|prefix| starts_with(name, prefix))
}

fn is_session(name: &str, value: &str) -> bool {
    let is_id = || value.len() >= ID_LENGTH && value.bytes().all(|byte| byte.is_ascii_hexdigit());
    SESSIONS.iter().any(|known| name.eq_ignore_ascii_case(known))
        || starts_with(name, SESSION_PREFIX)
        || (PERHAPS_SESSIONS.iter().any(|known| name.eq_ignore_ascii_case(known)) && is_id())
}

fn starts_with(name: &str, prefix: &str) -> bool {
    name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// Drops path parameters that are session ids, as in `/page;jsessionid=1A2B?q=1`.
fn drop_path_sessions(url: &mut String, path: usize) {
    let end = memchr::memchr(b'?', url.as_bytes()).unwrap_or(url.len());
    if memchr::memchr(b';', &url.as_bytes()[path..end]).is_none() {
        return;
    }
    let is_session =
        |parameter: &str| parameter.split_once('=').is_some_and(|(name, value)| is_session(name, value));
    let mut cleaned = String::with_capacity(end - path);
    for segment in url[path..end].split('/').skip(1) {
        let mut parameters = segment.split(';');
        let start = cleaned.len();
        cleaned.push('/');
        cleaned.push_str(parameters.next().unwrap_or_default());
        for parameter in parameters.filter(|parameter| !is_session(parameter)) {
            cleaned.push(';');
            cleaned.push_str(parameter);
        }
        // `/..;sid=1/` is an ordinary segment; without its parameter it would become the parent folder.
        if dots(&cleaned[start + 1..]) > 0 {
            cleaned.truncate(start + 1);
            cleaned.push_str(segment);
        }
    }
    url.replace_range(path..end, &cleaned);
}

fn drop_index_page(url: &mut String, path: usize) {
    let end = memchr::memchr(b'?', url.as_bytes()).unwrap_or(url.len());
    let name = url[path..end].rfind('/').map_or(end, |slash| path + slash + 1);
    if INDEX_PAGES.iter().any(|page| url[name..end].eq_ignore_ascii_case(page)) {
        url.replace_range(name..end, "");
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{canonical, canonical_with};
    use super::*;

    const ALL: CleanUp = CleanUp { session_ids: true, tracking: true, sort_query: true, index_pages: true };

    fn cleaned(rest: &str, clean_up: CleanUp) -> String {
        let url = canonical_with(&format!("http://a.example{rest}"), None, &clean_up).unwrap();
        url["http://a.example".len()..].to_owned()
    }

    #[test]
    fn sessions_and_tracking_go_by_default() {
        let cases = [
            ("/?utm_source=x&a=1&UTM_medium=y", "/?a=1"),
            ("/?fbclid=1", "/"),
            ("/?a=1&gclid=2&b=3", "/?a=1&b=3"),
            ("/p;jsessionid=1A2B.node?q=1", "/p?q=1"),
            ("/a;v=1;JSESSIONID=9/b;jsessionid=9", "/a;v=1/b"),
            ("/?PHPSESSID=abc&x", "/?x"),
            ("/?ASPSESSIONIDQQ=1&cfid=1&CFTOKEN=2", "/"),
            ("/?sid=0123456789abcdef0", "/"),
        ];
        for (input, expected) in cases {
            assert_eq!(cleaned(input, CleanUp::default()), expected, "{input}");
        }
    }

    #[test]
    fn everything_else_stays_byte_for_byte() {
        for rest in
            ["/?", "/?&&", "/?sid=7", "/?b&a", "/;x", "/?utm=1", "/index.html", "/..;sid=1/?s=q", "/?a;b"]
        {
            assert_eq!(cleaned(rest, CleanUp::default()), rest);
        }
        for rest in ["/?utm_source=1&PHPSESSID=2", "/;jsessionid=1", "/?b&a", "/index.html"] {
            assert_eq!(cleaned(rest, CleanUp::NONE), rest);
        }
    }

    #[test]
    fn a_dot_segment_is_never_made() {
        assert_eq!(cleaned("/a/..;jsessionid=1/b", CleanUp::default()), "/a/..;jsessionid=1/b");
    }

    #[test]
    fn the_others_are_made_when_asked_for() {
        let sort = CleanUp { sort_query: true, ..CleanUp::NONE };
        assert_eq!(cleaned("/?b=1&a=2&b=0&a", sort), "/?a=2&a&b=1&b=0");
        let index = CleanUp { index_pages: true, ..CleanUp::NONE };
        assert_eq!(cleaned("/a/Index.HTML?x", index), "/a/?x");
        assert_eq!(cleaned("/a/my-index.html", index), "/a/my-index.html");
    }

    proptest! {
        #[test]
        fn cleaning_twice_changes_nothing(
            rest in "(/|;|\\?|&|=|\\.|%2e|sid=|jsessionid=|0123456789abcdef|utm_a|index\\.html|a|b){0,12}",
            flags in any::<[bool; 4]>(),
        ) {
            let [session_ids, tracking, sort_query, index_pages] = flags;
            let clean_up = CleanUp { session_ids, tracking, sort_query, index_pages };
            for clean_up in [clean_up, ALL] {
                let once = canonical_with(&format!("http://a.example/{rest}"), None, &clean_up).unwrap();
                prop_assert_eq!(canonical(&once, None), Some(once.clone()));
                prop_assert_eq!(canonical_with(&once, None, &clean_up), Some(once));
            }
        }
    }
}
