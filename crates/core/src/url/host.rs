//! Hosts: names, IPv4 and IPv6 addresses (WHATWG URL standard, section 3).
//!
//! The host of a special scheme is a domain: it is percent-decoded, non-ASCII letters become punycode, and
//! a host that ends in a number must be an IPv4 address, however it is spelled (`0x7f.1`). Any other scheme's
//! host is opaque: it is only escaped. An ASCII name is only lower-cased.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::escape::{CONTROLS, push_escaped, unescaped};

/// Appends the serialised host; `None` if `input` is not a valid host.
pub fn push_host(output: &mut String, input: &str, special: bool) -> Option<()> {
    if let Some(inside) = input.strip_prefix('[') {
        let address = inside.strip_suffix(']')?.parse().ok()?;
        push_ipv6(output, address);
        return Some(());
    }
    if !special {
        if input.bytes().any(forbidden_in_host) {
            return None;
        }
        push_escaped(output, input, CONTROLS);
        return Some(());
    }
    let start = output.len();
    let domain = unescaped(input);
    if domain.is_ascii() {
        output.push_str(&domain);
        output[start..].make_ascii_lowercase();
    } else {
        output.push_str(&idna::domain_to_ascii_cow(domain.as_bytes(), idna::AsciiDenyList::URL).ok()?);
    }
    let host = &output[start..];
    if host.is_empty() || host.bytes().any(forbidden_in_domain) {
        return None;
    }
    if ends_in_number(host) {
        let address = ipv4(host)?.to_string();
        output.truncate(start);
        output.push_str(&address);
    }
    Some(())
}

fn forbidden_in_host(byte: u8) -> bool {
    matches!(
        byte,
        0 | b'\t'
            | b'\n'
            | b'\r'
            | b' '
            | b'#'
            | b'/'
            | b':'
            | b'<'
            | b'>'
            | b'?'
            | b'@'
            | b'['
            | b'\\'
            | b']'
            | b'^'
            | b'|'
    )
}

fn forbidden_in_domain(byte: u8) -> bool {
    forbidden_in_host(byte) || byte < 0x20 || byte == b'%' || byte == 0x7f
}

/// Whether a host can only be an IPv4 address.
pub fn ends_in_number(host: &str) -> bool {
    let mut labels = host.strip_suffix('.').unwrap_or(host).rsplit('.');
    let last = labels.next().unwrap_or_default();
    let decimal = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
    decimal || (last.starts_with("0x") && number(last).is_some())
}

fn ipv4(host: &str) -> Option<Ipv4Addr> {
    let labels = host.strip_suffix('.').unwrap_or(host).split('.');
    let mut numbers = [0; 4];
    let mut count = 0;
    for label in labels {
        *numbers.get_mut(count)? = number(label)?;
        count += 1;
    }
    let (last, first) = numbers[..count].split_last()?;
    if first.iter().any(|&number| number > 255) || *last >= 256u64.pow(5 - count as u32) {
        return None;
    }
    let high = first.iter().enumerate().map(|(index, number)| number << (8 * (3 - index))).sum::<u64>();
    Some(Ipv4Addr::from((high + last) as u32))
}

/// A decimal, octal (`017`) or hexadecimal (`0xf`) number in lower case; saturates on overflow.
fn number(label: &str) -> Option<u64> {
    let (digits, radix) = match label.as_bytes() {
        [] => return None,
        [b'0', b'x', ..] => (&label[2..], 16),
        [b'0', _, ..] => (&label[1..], 8),
        _ => (label, 10),
    };
    let mut value = 0u64;
    for digit in digits.chars() {
        value = value.saturating_mul(u64::from(radix)).saturating_add(u64::from(digit.to_digit(radix)?));
    }
    Some(value)
}

/// The first longest run of at least two zeros becomes `::`; an embedded IPv4 address is written in
/// hexadecimal.
fn push_ipv6(output: &mut String, address: Ipv6Addr) {
    let pieces = address.segments();
    let (mut zeros, mut start) = (0..0, 0);
    for end in 0..=pieces.len() {
        if end == pieces.len() || pieces[end] != 0 {
            if end - start > zeros.len().max(1) {
                zeros = start..end;
            }
            start = end + 1;
        }
    }
    output.push('[');
    for (index, piece) in pieces.iter().enumerate() {
        if zeros.contains(&index) {
            if index == zeros.start {
                output.push_str("::");
            }
            continue;
        }
        if index > 0 && index != zeros.end {
            output.push(':');
        }
        output.push_str(&format!("{piece:x}"));
    }
    output.push(']');
}
