//! Which IP addresses are on the public internet (protection against server-side request forgery).
//!
//! [`is_public`] is true only for global unicast addresses, according to the special-purpose registries of
//! IANA (RFC 6890 and what was added since). An IPv6 address that only embeds an IPv4 address (mapped, NAT64,
//! 6to4) is judged by the embedded one, because that is where its packets end. By hand, because the standard
//! library's `is_global` is unstable.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The IP address in a URL's host, if it is a literal and not a name.
pub fn literal(host: &str) -> Option<IpAddr> {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host).parse().ok()
}

/// Whether an address is on the public internet.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// The IPv4 blocks that are not for single hosts of the public internet: prefix and its length.
const NOT_PUBLIC_V4: [(Ipv4Addr, u32); 15] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),       // this network
    (Ipv4Addr::new(10, 0, 0, 0), 8),      // private
    (Ipv4Addr::new(100, 64, 0, 0), 10),   // carrier-grade NAT
    (Ipv4Addr::new(127, 0, 0, 0), 8),     // loopback
    (Ipv4Addr::new(169, 254, 0, 0), 16),  // link-local, with the metadata services of clouds
    (Ipv4Addr::new(172, 16, 0, 0), 12),   // private
    (Ipv4Addr::new(192, 0, 0, 0), 24),    // protocol assignments
    (Ipv4Addr::new(192, 0, 2, 0), 24),    // documentation
    (Ipv4Addr::new(192, 88, 99, 0), 24),  // deprecated 6to4 relays
    (Ipv4Addr::new(192, 168, 0, 0), 16),  // private
    (Ipv4Addr::new(198, 18, 0, 0), 15),   // benchmarks
    (Ipv4Addr::new(198, 51, 100, 0), 24), // documentation
    (Ipv4Addr::new(203, 0, 113, 0), 24),  // documentation
    (Ipv4Addr::new(224, 0, 0, 0), 4),     // multicast
    (Ipv4Addr::new(240, 0, 0, 0), 4),     // reserved, and broadcast
];

/// The blocks of 2000::/3, the only part of IPv6 in public use, that are not for single hosts.
const NOT_PUBLIC_V6: [(Ipv6Addr, u32); 3] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23), // protocol assignments, Teredo among them
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32), // documentation
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20), // documentation
];

fn is_public_v4(address: Ipv4Addr) -> bool {
    let within = |&(block, length): &(Ipv4Addr, u32)| {
        (address.to_bits() ^ block.to_bits()).checked_shr(32 - length) == Some(0)
    };
    !NOT_PUBLIC_V4.iter().any(within)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(carried) = carried(address) {
        return is_public_v4(carried);
    }
    let within = |&(block, length): &(Ipv6Addr, u32)| {
        (address.to_bits() ^ block.to_bits()).checked_shr(128 - length) == Some(0)
    };
    address.segments()[0] & 0xe000 == 0x2000 && !NOT_PUBLIC_V6.iter().any(within)
}

/// The IPv4 address embedded in an IPv6 address.
fn carried(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let bits = address.to_bits();
    let at = |shift: u32| Some(Ipv4Addr::from_bits((bits >> shift) as u32));
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => at(0),
        [0x2002, ..] => at(80),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_the_public_internet() {
        let public = [
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2606:4700::1111",
            "2001:200::1",
            "2a00:1450:4001::1",
            "3ffe::1",
            "::ffff:1.1.1.1",
            "64:ff9b::101:101",
            "2002:101:101::1",
        ];
        let other = [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.255",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1.1.1.1",
            "100::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::1",
            "2002:c0a8:101::1",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "4000::1",
        ];
        for address in public {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
        for address in other {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn tells_addresses_from_names() {
        assert_eq!(literal("[::1]"), Some(IpAddr::from(Ipv6Addr::LOCALHOST)));
        assert_eq!(literal("127.0.0.1"), Some(IpAddr::from(Ipv4Addr::LOCALHOST)));
        assert_eq!(literal("localhost"), None);
        assert_eq!(literal("[localhost]"), None);
    }
}
