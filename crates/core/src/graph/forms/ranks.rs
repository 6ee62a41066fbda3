//! The ranks of Common Crawl's web graphs: a line for each host, the most central first.
//!
//! ```text
//! #harmonicc_pos  #harmonicc_val  #pr_pos  #pr_val  #host_rev  [#n_hosts]
//! 1               3.1249E7        2        0.0081   com.example
//! ```
//!
//! Fields are separated by tabs; positions begin at 1; ties are in the order of nodes.

use std::path::Path;

use rayon::slice::ParallelSliceMut;

use super::common_crawl::reversed;
use super::output::Output;
use super::text::{Text, number};
use crate::graph::Names;
use crate::{Error, Pulse, Result};

const HEADER: &str = "#harmonicc_pos\t#harmonicc_val\t#pr_pos\t#pr_val\t#host_rev";
const HOSTS: &str = "\t#n_hosts";

/// The lines of a file of ranks, in its order.
#[derive(Debug, Default, PartialEq)]
pub struct HostRanks {
    /// The hosts.
    pub hosts: Vec<String>,
    /// Their harmonic centralities.
    pub harmonic: Vec<f64>,
    /// Their positions by PageRank, from 1.
    pub positions: Vec<u64>,
    /// Their PageRanks.
    pub pagerank: Vec<f64>,
    /// The numbers of hosts of domains; empty in a file of hosts.
    pub sizes: Vec<u64>,
}

/// Reads a file of ranks.
pub fn read_ranks(path: &Path, pulse: &Pulse) -> Result<HostRanks> {
    let mut text = Text::open(path, pulse)?;
    let mut ranks = HostRanks::default();
    let header = text.line()?.unwrap_or_default();
    let has_sizes = match header.strip_prefix(HEADER.as_bytes()) {
        Some(b"") => false,
        Some(rest) if rest == HOSTS.as_bytes() => true,
        _ => return Err(text.malformed(format!("expected the header {:?}", HEADER.replace('\t', " ")))),
    };
    while let Some(line) = text.line()? {
        if line.is_empty() {
            continue;
        }
        if let Err(reason) = ranks.push(line, has_sizes) {
            return Err(text.malformed(reason));
        }
    }
    Ok(ranks)
}

impl HostRanks {
    fn push(&mut self, line: &[u8], has_sizes: bool) -> std::result::Result<(), String> {
        let line = std::str::from_utf8(line).map_err(|_| "the line is not UTF-8".to_owned())?;
        let fields: Vec<&str> = line.split('\t').collect();
        let expected = if has_sizes { 6 } else { 5 };
        if fields.len() != expected {
            return Err(format!("expected {expected} fields, separated by tabs, not {}", fields.len()));
        }
        let whole =
            |field: &str| number(field.as_bytes()).ok_or_else(|| format!("{field:?} is not a position"));
        let value = |field: &str| match field.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => Err(format!("{field:?} is not a value")),
        };
        let place = self.hosts.len() as u64 + 1;
        if whole(fields[0])? != place {
            return Err(format!("expected position {place}, not {}", fields[0]));
        }
        let (harmonic, position, pagerank) = (value(fields[1])?, whole(fields[2])?, value(fields[3])?);
        if has_sizes {
            self.sizes.push(whole(fields[5])?);
        }
        self.hosts.push(reversed(fields[4]));
        self.harmonic.push(harmonic);
        self.positions.push(position);
        self.pagerank.push(pagerank);
        Ok(())
    }
}

/// Writes the ranks of a graph's nodes, by two measures in node order; returns the length of the file.
pub fn write_ranks(
    names: &Names,
    harmonic: &[f64],
    pagerank: &[f64],
    sizes: Option<&[u64]>,
    path: &Path,
    pulse: &Pulse,
) -> Result<u64> {
    let nodes = names.len();
    let lengths = [harmonic.len(), pagerank.len(), sizes.map_or(nodes, <[u64]>::len)];
    if lengths.iter().any(|length| *length != nodes) {
        return Err(Error::Invalid(format!(
            "there must be {nodes} values of each measure, one for each node"
        )));
    }
    let order = best_first(harmonic);
    let mut positions = vec![0u32; nodes];
    for (position, node) in best_first(pagerank).into_iter().enumerate() {
        positions[node as usize] = position as u32;
    }
    let mut output = Output::create(path)?;
    output.text(HEADER)?;
    output.text(if sizes.is_some() { HOSTS } else { "" })?;
    output.text("\n")?;
    for (place, node) in order.into_iter().enumerate() {
        if place.is_multiple_of(1 << 12) {
            pulse.beat()?;
            pulse.set(place as u64, nodes as u64);
        }
        let at = node as usize;
        let host = reversed(&names.get(node)?);
        let (place, position) = (place + 1, u64::from(positions[at]) + 1);
        output.text(&format!("{place}\t{}\t{position}\t{}\t{host}", harmonic[at], pagerank[at]))?;
        if let Some(sizes) = sizes {
            output.text("\t")?;
            output.number(sizes[at])?;
        }
        output.text("\n")?;
    }
    output.finish()
}

/// The nodes by decreasing value; ties in node order.
fn best_first(values: &[f64]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..values.len() as u32).collect();
    order.par_sort_by(|one, other| values[*other as usize].total_cmp(&values[*one as usize]));
    order
}
