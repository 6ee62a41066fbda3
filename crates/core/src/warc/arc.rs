//! The header of an ARC record: one line with the URL, the IP address, the date, the media type, in version 2
//! some more fields, and the length of the block, which is an HTTP response.

/// The first bytes of an ARC file.
pub(super) const FIRST: &[u8] = b"filedesc://";

type Fields = Vec<(String, String)>;

/// The fields that a WARC record would have, and the length of the block; `None` if it is no header.
pub(super) fn header(line: &[u8]) -> Option<(Fields, u64)> {
    let line = std::str::from_utf8(line).ok()?.trim_end();
    let mut words = line.split(' ');
    let (url, address, date) = (words.next()?, words.next()?, words.next()?);
    let length = words.next_back()?.parse().ok()?;
    let is_date = date.len() == 14 && date.bytes().all(|byte| byte.is_ascii_digit());
    if !is_date || !url.contains(':') {
        return None;
    }
    let is_first = line.as_bytes().starts_with(FIRST);
    let moment = format!(
        "{}-{}-{}T{}:{}:{}Z",
        &date[..4],
        &date[4..6],
        &date[6..8],
        &date[8..10],
        &date[10..12],
        &date[12..]
    );
    let kind = if is_first { "warcinfo" } else { "response" };
    let content = if is_first { "text/plain" } else { "application/http; msgtype=response" };
    let fields = [
        ("warc-type", kind),
        ("warc-target-uri", url),
        ("warc-date", moment.as_str()),
        ("warc-ip-address", address),
        ("content-type", content),
    ];
    Some((fields.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(), length))
}

/// Whether bytes begin like the header of a record.
pub(super) fn is_header(bytes: &[u8]) -> bool {
    [&b"http://"[..], b"https://", b"dns:", b"ftp://", FIRST].iter().any(|scheme| bytes.starts_with(scheme))
}
