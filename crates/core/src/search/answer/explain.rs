//! Score explanations: a tree of parts whose values add up exactly to the score.

use serde::{Deserialize, Serialize};

use super::run::Run;
use crate::Result;
use crate::search::language::tree::{Leaf, Pattern};
use crate::search::rank::Ranked;
use crate::search::score::{Scorer, Shape};

/// A part of a score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// What the part stands for.
    pub label: String,
    /// Its contribution to the score.
    pub value: f64,
    /// How it was computed.
    pub detail: String,
    /// The parts it is the sum of.
    pub parts: Vec<Explanation>,
}

/// Explains the score of a document.
pub fn explain(run: &Run<'_>, hit: &Ranked) -> Result<Explanation> {
    let document = hit.document;
    let part = &run.searcher.parts[hit.segment];
    let mut leaves = run.leaves(hit.segment)?;
    let mut parts = Vec::new();
    for (slot, which, boost) in &run.scoring {
        let cursor = &mut leaves.cursors[*slot];
        if cursor.skip_to(document)? != document {
            continue;
        }
        let counts = cursor.counts()?;
        let x = counts.iter().map(|(.., x)| x).sum::<f64>();
        let in_zone = |(zone, count, x): &(crate::index::Zone, u32, f64)| -> Result<String> {
            let words = part.segment.words(document, *zone)?;
            Ok(format!("{count} in {} of {words} words: {x:.4}", zone.name()))
        };
        let zones = counts.iter().map(in_zone).collect::<Result<Vec<String>>>()?.join("; ");
        let found = &run.resolved[*which].found;
        let of_shape = match run.scores[*which].shape {
            Shape::Saturating { weight, k1 } => format!("{weight:.4} · x / ({k1} + x)"),
            Shape::Pivoted { weight, .. } => format!("{weight:.4} · (1 + ln(1 + ln x)) / length"),
            Shape::Dirichlet { inverse, .. } => format!("ln(1 + x · {inverse:.4})"),
        };
        let boosted = if *boost == 1.0 { String::new() } else { format!(", weighs {boost}") };
        let detail = format!(
            "x = {x:.4} ({zones}); {of_shape}; idf {:.4} for {} documents{boosted}",
            run.scores[*which].idf, found.documents
        );
        parts.push(Explanation {
            label: name(run.plan.leaves[*slot]),
            value: cursor.score()?,
            detail,
            parts: Vec::new(),
        });
    }
    let of_length = run.of_length();
    let prior = run.prior(part, &of_length)?;
    let of_rank = run.request.options.rank_weight * f64::from(part.ranks[document.0 as usize]);
    if of_rank != 0.0 {
        let value = crate::search::score::grain(of_rank);
        let detail = format!(
            "{} · ln(1 + {:.4})",
            run.request.options.rank_weight,
            f64::from(part.ranks[document.0 as usize]).exp_m1()
        );
        parts.push(Explanation { label: "static rank".into(), value, detail, parts: Vec::new() });
    }
    if run.request.options.model.scorer == Scorer::QueryLikelihood {
        let value = prior.of(document) - crate::search::score::grain(of_rank);
        let detail = format!("ln(μ / (μ + words)) for each word, μ = {}", run.request.options.model.mu);
        parts.push(Explanation { label: "length".into(), value, detail, parts: Vec::new() });
    }
    if let Some(mut nearness) = run.nearness() {
        let mut leaves = run.leaves(hit.segment)?;
        let close = nearness.parts(document, &mut leaves)?;
        // Only the top documents were reranked by proximity: the score shows whether this one was among them.
        let so_far = parts.iter().map(|part| part.value).sum::<f64>();
        if !close.is_empty() && hit.score > so_far {
            let value = close.iter().map(|(_, part)| part).sum::<f64>();
            let of_zone = |(zone, part): &(crate::index::Zone, f64)| Explanation {
                label: zone.name().into(),
                value: *part,
                detail: "words of the query close together".into(),
                parts: Vec::new(),
            };
            let detail = format!("weighs {}", run.request.options.proximity.weight);
            let parts_of_it = close.iter().map(of_zone).collect();
            parts.push(Explanation { label: "proximity".into(), value, detail, parts: parts_of_it });
        }
    }
    let value = parts.iter().map(|part| part.value).sum::<f64>();
    Ok(Explanation { label: "score".into(), value, detail: String::new(), parts })
}

/// A leaf in the syntax of the query language.
fn name(leaf: &Leaf) -> String {
    let zones =
        leaf.zones.map(|zones| zones.zones().map(|zone| format!("{}:", zone.name())).collect::<String>());
    let pattern = match &leaf.pattern {
        Pattern::Term(term) => term.clone(),
        Pattern::Prefix { start, .. } => format!("{start}*"),
        Pattern::Fuzzy { term, changes } => format!("{term}~{changes}"),
    };
    format!("{}{pattern}", zones.unwrap_or_default())
}
