//! Robots directives of a page, in its `<meta>` tags and X-Robots-Tag headers.
//!
//! The directives are `noindex`, `nofollow` and `none` (both); the others have no effect here. Directives for
//! all robots and those for our user agent add up: the union of the restrictions applies.

/// Header directives that have a value, so that the text before their colon is not a user agent.
const VALUED: [&str; 4] = ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"];

/// The restrictions of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Directives {
    pub noindex: bool,
    pub nofollow: bool,
}

impl Directives {
    /// Adds a `<meta>` of this name, if it applies to `agent`.
    pub fn add_meta(&mut self, name: &str, content: &str, agent: &str) {
        let name = name.trim();
        if name.eq_ignore_ascii_case("robots") || is_agent(name, agent) {
            content.split(',').for_each(|directive| self.add(directive));
        }
    }

    /// Adds the value of a header, such as `noindex` or `somebot: noindex, nofollow`: a user agent applies up
    /// to the next one.
    pub fn add_header(&mut self, value: &str, agent: &str) {
        let mut is_ours = true;
        for part in value.split(',').map(str::trim) {
            let directive = match part.split_once(':') {
                Some((name, rest)) if is_name(name.trim()) => {
                    is_ours = is_agent(name.trim(), agent);
                    rest
                }
                _ => part,
            };
            if is_ours {
                self.add(directive);
            }
        }
    }

    fn add(&mut self, directive: &str) {
        let directive = directive.trim();
        let is_none = directive.eq_ignore_ascii_case("none");
        self.noindex |= is_none || directive.eq_ignore_ascii_case("noindex");
        self.nofollow |= is_none || directive.eq_ignore_ascii_case("nofollow");
    }
}

fn is_agent(name: &str, agent: &str) -> bool {
    !agent.is_empty() && name.eq_ignore_ascii_case(agent)
}

/// Whether the text before a colon is a user agent, rather than a directive or part of a date.
fn is_name(text: &str) -> bool {
    let is_word = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'*'));
    let starts = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '*');
    is_word && starts && !VALUED.iter().any(|directive| directive.eq_ignore_ascii_case(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(value: &str) -> (bool, bool) {
        let mut found = Directives::default();
        found.add_header(value, "crivello");
        (found.noindex, found.nofollow)
    }

    #[test]
    fn headers_are_for_everybody_or_by_name() {
        assert_eq!(header("NoIndex"), (true, false));
        assert_eq!(header("otherbot: noindex, nofollow"), (false, false));
        assert_eq!(header("Crivello: none"), (true, true));
        assert_eq!(header("nofollow, otherbot: noindex"), (false, true));
        assert_eq!(header("otherbot: noindex, crivello: nofollow"), (false, true));
        assert_eq!(header("max-snippet: 20, noindex"), (true, false));
        assert_eq!(header("unavailable_after: Friday, 25 Jun 2010 15:00:00 PST, nofollow"), (false, true));
        assert_eq!(header(""), (false, false));
    }

    #[test]
    fn what_everybody_and_we_are_told_adds_up() {
        let mut found = Directives::default();
        found.add_meta("robots", "noindex", "crivello");
        found.add_meta(" CRIVELLO ", "index, nofollow", "crivello");
        assert_eq!(found, Directives { noindex: true, nofollow: true });
        let mut found = Directives::default();
        found.add_meta("otherbot", "none", "crivello");
        found.add_meta("", "none", "");
        assert_eq!(found, Directives::default());
    }
}
