//! The shape of a URL: its path and query with all numbers treated as equal.
//!
//! A calendar links to the next month for ever, and each month is a new URL with a new page (a spider trap).
//! Its sign is that page after page links only to pages of the same shape. So the crawler checks for each
//! link whether it has the shape of the page that contains it, and cuts chains of such links. Hosts are
//! compared literally: `www1` and `www2` are different hosts, not different numbers. Allocates nothing;
//! linear in the length of the shorter URL.

/// Whether two canonical URLs differ but have the same shape: the same host and port, and the same path and
/// query once every run of digits is replaced by a single `0`.
pub fn same_shape(left: &str, right: &str) -> bool {
    if !may_have_same_shape(left, right) {
        return false;
    }
    let ((left_host, left_rest), (right_host, right_rest)) = (split(left), split(right));
    left_host == right_host && without_numbers(left_rest).eq(without_numbers(right_rest))
}

/// A fast rejection: most pairs first differ in something other than a digit.
fn may_have_same_shape(left: &str, right: &str) -> bool {
    let same = left.bytes().zip(right.bytes()).take_while(|(left, right)| left == right).count();
    let is_number = |url: &str| url.as_bytes().get(same).is_some_and(u8::is_ascii_digit);
    is_number(left) || is_number(right)
}

/// The host (with its port) of a canonical URL, and what follows it.
fn split(url: &str) -> (&str, &str) {
    let address = url.split_once("://").map_or(url, |(_, address)| address);
    address.split_at(address.find('/').unwrap_or(address.len()))
}

fn without_numbers(text: &str) -> impl Iterator<Item = u8> {
    let mut in_number = false;
    text.bytes().filter_map(move |byte| {
        let continues = in_number && byte.is_ascii_digit();
        in_number = byte.is_ascii_digit();
        (!continues).then_some(if in_number { b'0' } else { byte })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_do_not_make_a_shape() {
        let page = "http://a.example/calendar/2024/1?day=9";
        assert!(same_shape(page, "http://a.example/calendar/2024/12?day=10"));
        assert!(same_shape(page, "http://a.example/calendar/0/0?day=0"));
    }

    #[test]
    fn everything_else_does() {
        let page = "http://a1.example/calendar/2024";
        for other in [
            page,
            "http://a1.example/calendar/",
            "http://a1.example/calendar/2024/",
            "http://a1.example/calendar/2024-1",
            "http://a1.example/calendar/2024?page=1",
            "http://a2.example/calendar/2025",
            "http://a1.example:8080/calendar/2025",
        ] {
            assert!(!same_shape(page, other), "{other}");
        }
    }
}
