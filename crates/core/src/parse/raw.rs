//! The end of raw text (script, style …): the next end tag of its element.
//!
//! In a script an end tag does not count while an inner `<script>` is open inside `<!--` (the standard's
//! "script data double escaped" states, which keep old pages working).
//! Linear: each byte is read once, at the speed of `memchr` outside of candidates.

use memchr::{memchr, memchr2};

/// The offset of the end tag of the element `name` at or after `from`; the length of `bytes` if there is
/// none.
pub fn end_of_text(bytes: &[u8], from: usize, name: &[u8]) -> usize {
    let mut at = from;
    while let Some(found) = memchr(b'<', &bytes[at..]) {
        at += found;
        if is_tag(&bytes[at + 1..], b"/", name) {
            return at;
        }
        at += 1;
    }
    bytes.len()
}

/// The same for a script.
pub fn end_of_script(bytes: &[u8], from: usize) -> usize {
    const NAME: &[u8] = b"script";
    let (mut at, mut inside) = (from, Inside::Script);
    while let Some(found) = memchr2(b'<', b'-', &bytes[at..]) {
        at += found;
        let rest = &bytes[at..];
        if rest[0] == b'-' {
            if rest.starts_with(b"-->") {
                inside = Inside::Script;
            }
        } else if is_tag(&rest[1..], b"/", NAME) {
            if inside != Inside::ScriptInComment {
                return at;
            }
            inside = Inside::Comment;
        } else if inside == Inside::Comment && is_tag(&rest[1..], b"", NAME) {
            inside = Inside::ScriptInComment;
        } else if inside == Inside::Script && rest.starts_with(b"<!--") {
            inside = Inside::Comment;
            // Its own dashes may already be those of `-->`.
            at += 1;
        }
        at += 1;
    }
    bytes.len()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Script,
    Comment,
    ScriptInComment,
}

/// Whether what follows a `<` is `slash`, a name, and the end of the name.
fn is_tag(rest: &[u8], slash: &[u8], name: &[u8]) -> bool {
    let Some(rest) = rest.strip_prefix(slash) else { return false };
    let Some((written, after)) = rest.split_at_checked(name.len()) else { return false };
    let ended = matches!(after, [b'\t' | b'\n' | b'\x0c' | b'\r' | b' ' | b'/' | b'>', ..]);
    ended && written.eq_ignore_ascii_case(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_ends_where_browsers_end_it() {
        for (script, end) in [
            ("a</script>", 1),
            ("a</scripty></SCRIPT >", 11),
            ("<!--</script>", 4),
            ("<!--<script></script></script>", 21),
            ("<!--<script>--></script>", 15),
            ("<!--><script></script>", 13),
            ("<!--<scripty></script>", 13),
            ("<!--<script </script/</script>", 21),
            ("</script", 8),
        ] {
            assert_eq!(end_of_script(script.as_bytes(), 0), end, "{script}");
        }
    }
}
