//! The file `NAME.properties`: lines of a key, `=` and a value.

use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;

use crate::codes::streamed::Single;
use crate::codes::words::{Pi, Zeta};
use crate::graph::coding::Options;
use crate::{Error, Result};

/// The parts as the compression flags name them, each with its default code.
const FLAGS: [(&str, Single); 5] = [
    ("OUTDEGREES", Single::Gamma),
    ("REFERENCES", Single::Unary),
    ("BLOCKS", Single::Gamma),
    ("INTERVALS", Single::Gamma),
    ("RESIDUALS", Single::Zeta(Zeta(3))),
];

const CHECKSUM: &str = "crc32properties=";

/// What the properties say.
pub struct Properties {
    /// The number of nodes.
    pub nodes: usize,
    /// The number of arcs.
    pub arcs: u64,
    /// How many of the preceding lists a list may copy from.
    pub window: usize,
    /// The minimum length of an interval; 0: no intervals.
    pub interval: u64,
    /// The codes of outdegrees, references, blocks, intervals and residuals.
    pub codes: [Single; 5],
    /// Whether bits are numbered from the lowest of a byte.
    pub little_endian: bool,
    /// The length of the graph in bits.
    pub length: Option<u64>,
    /// The checksums of the graph and of the offsets, if they were written here.
    pub checksums: Option<(u32, u32)>,
}

impl Properties {
    /// Reads the file.
    pub fn read(path: &Path) -> Result<Properties> {
        let bytes = std::fs::read(path).map_err(Error::io(path))?;
        let text = String::from_utf8_lossy(&bytes);
        if let Some(start) = text.find(CHECKSUM) {
            let said = text[start + CHECKSUM.len()..].strip_suffix('\n').unwrap_or_default();
            if said != format!("{:08x}", crc32fast::hash(&bytes[..start.min(bytes.len())])) {
                return Err(Error::corrupt(path, start as u64, "it does not match its checksum"));
            }
        }
        let lines = text.lines().map(str::trim).filter(|line| !line.starts_with(['#', '!']));
        let pairs = lines.filter_map(|line| line.split_once('='));
        let pairs =
            pairs.map(|(key, value)| (key.trim().to_owned(), value.trim().replace('\\', ""))).collect();
        parse(&pairs).map_err(|reason| Error::Invalid(format!("{}: {reason}", path.display())))
    }
}

/// The text of the file for a graph with the default codes, big-endian, of `length` bits.
pub fn text(nodes: u64, arcs: u64, length: u64, options: Options, checksums: (u32, u32)) -> String {
    let Options { window, chain, interval } = options;
    let mut text = format!(
        "#BVGraph properties\ngraphclass=it.unimi.dsi.webgraph.BVGraph\nversion=0\nendianness=big\n\
         nodes={nodes}\narcs={arcs}\nwindowsize={window}\nmaxrefcount={chain}\nminintervallength={interval}\n\
         zetak=3\ncompressionflags=\nlength={length}\n"
    );
    if nodes > 0 && arcs > 0 {
        let (per_node, per_link) = (length as f64 / nodes as f64, length as f64 / arcs as f64);
        text += &format!("bitspernode={per_node:.3}\nbitsperlink={per_link:.3}\n");
    }
    text += &format!("crc32graph={:08x}\ncrc32offsets={:08x}\n", checksums.0, checksums.1);
    let checksum = crc32fast::hash(text.as_bytes());
    text + &format!("{CHECKSUM}{checksum:08x}\n")
}

type Pairs = BTreeMap<String, String>;

fn parse(pairs: &Pairs) -> std::result::Result<Properties, String> {
    if let Some(class) = pairs.get("graphclass").filter(|class| !class.ends_with("BVGraph")) {
        return Err(format!("{class} is not a BVGraph"));
    }
    let version: u32 = number(pairs, "version")?.unwrap_or(0);
    if version > 1 {
        return Err(format!("version {version} of BVGraph is not known"));
    }
    let nodes: u64 = number(pairs, "nodes")?.ok_or("it does not say the number of nodes")?;
    if nodes > 1 << 32 {
        return Err(format!("a graph has at most 2^32 nodes, not {nodes}"));
    }
    let little_endian = match pairs.get("endianness").map(String::as_str) {
        None | Some("big") => false,
        Some("little") => true,
        Some(other) => return Err(format!("{other} is not an order of bits")),
    };
    let checksum = |key: &str| pairs.get(key).and_then(|text| u32::from_str_radix(text, 16).ok());
    Ok(Properties {
        nodes: nodes as usize,
        arcs: number(pairs, "arcs")?.ok_or("it does not say the number of arcs")?,
        window: number::<u16>(pairs, "windowsize")?.unwrap_or(7).into(),
        interval: number::<u32>(pairs, "minintervallength")?.unwrap_or(4).into(),
        codes: codes(pairs)?,
        little_endian,
        length: number(pairs, "length")?,
        checksums: checksum("crc32graph").zip(checksum("crc32offsets")),
    })
}

fn number<T: FromStr>(pairs: &Pairs, key: &str) -> std::result::Result<Option<T>, String> {
    let Some(text) = pairs.get(key) else { return Ok(None) };
    text.parse().map(Some).map_err(|_| format!("{key}={text} is not possible"))
}

fn codes(pairs: &Pairs) -> std::result::Result<[Single; 5], String> {
    let zeta: u32 = number(pairs, "zetak")?.unwrap_or(3);
    if !(1..=63).contains(&zeta) {
        return Err(format!("zetak={zeta} is not possible"));
    }
    let mut codes = FLAGS.map(|(_, code)| code);
    codes[4] = Single::Zeta(Zeta(zeta));
    let flags = pairs.get("compressionflags").map_or("", String::as_str);
    for flag in flags.split('|').map(str::trim).filter(|flag| !flag.is_empty()) {
        let unknown = || format!("the compression flag {flag} is not known");
        let (part, code) = flag.split_once('_').ok_or_else(unknown)?;
        let code = match code {
            "UNARY" => Single::Unary,
            "GAMMA" => Single::Gamma,
            "DELTA" => Single::Delta,
            "OMEGA" => Single::Omega,
            "PI1" => Single::Pi(Pi(1)),
            "PI2" => Single::Pi(Pi(2)),
            "PI3" => Single::Pi(Pi(3)),
            "PI4" => Single::Pi(Pi(4)),
            "ZETA" => Single::Zeta(Zeta(zeta)),
            other => match other.strip_prefix("ZETA").and_then(|k| k.parse().ok()) {
                Some(k @ 1..=7) => Single::Zeta(Zeta(k)),
                _ => return Err(unknown()),
            },
        };
        match FLAGS.iter().position(|(name, _)| *name == part) {
            Some(index) => codes[index] = code,
            None if flag == "OFFSETS_GAMMA" => {}
            None => return Err(unknown()),
        }
    }
    Ok(codes)
}
