//! The URLs in a `srcset`, as in `small.png 1x, "large.png" 2x`.
//!
//! Split by the WHATWG standard: a URL ends at white space, or at a comma that ends it; the text between it
//! and the next comma outside of parentheses is its descriptor.

/// The URL of each candidate.
pub fn candidates(srcset: &str) -> impl Iterator<Item = &str> {
    let mut rest = srcset;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|character: char| character.is_ascii_whitespace() || character == ',');
        let end = rest.find(|character: char| character.is_ascii_whitespace()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let address = word.trim_end_matches(',');
        rest = if address.len() < word.len() { after } else { past_description(after) };
        (!address.is_empty()).then_some(address)
    })
}

fn past_description(text: &str) -> &str {
    let mut in_parentheses = false;
    let end = text.find(|character| {
        match character {
            '(' => in_parentheses = true,
            ')' => in_parentheses = false,
            _ => {}
        }
        character == ',' && !in_parentheses
    });
    &text[end.unwrap_or(text.len())..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_belong_to_addresses_unless_they_end_them() {
        let found = |srcset| candidates(srcset).collect::<Vec<_>>();
        assert_eq!(found("a.png, b.png 2x,\n c,d.png 100w 5h ,e"), ["a.png", "b.png", "c,d.png", "e"]);
        assert_eq!(found("data:,x 1x, a (b, c) 2x, ,, d,,"), ["data:,x", "a", "d"]);
        assert!(found(" , ").is_empty());
    }
}
