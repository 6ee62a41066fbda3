//! What a page is shown with: its icon, its style sheets, and those that these import.

/// The most style sheets taken from a page, or imported by a style sheet.
pub const MAX_STYLES: usize = 20;

/// What a `<link>` says of an asset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asset {
    /// `icon`, also as `shortcut icon`.
    Icon,
    /// `apple-touch-icon`, also `-precomposed`: a large one, without transparency.
    TouchIcon,
    /// `stylesheet`, but no alternative one, which a reader would have to choose.
    Style,
}

impl Asset {
    /// The asset that the relations of a `<link>` name.
    pub fn of(relations: &str) -> Option<Asset> {
        let is =
            |word: &str| relations.split_ascii_whitespace().any(|other| other.eq_ignore_ascii_case(word));
        if is("stylesheet") {
            (!is("alternate")).then_some(Asset::Style)
        } else if is("icon") {
            Some(Asset::Icon)
        } else {
            (is("apple-touch-icon") || is("apple-touch-icon-precomposed")).then_some(Asset::TouchIcon)
        }
    }
}

/// The assets of a page.
#[derive(Default)]
pub struct Assets {
    icon: Option<String>,
    touch_icon: Option<String>,
    pub styles: Vec<String>,
}

impl Assets {
    /// Adds an asset at a canonical URL.
    pub fn add(&mut self, asset: Asset, url: String) {
        match asset {
            Asset::Icon => _ = self.icon.get_or_insert(url),
            Asset::TouchIcon => _ = self.touch_icon.get_or_insert(url),
            Asset::Style if self.styles.len() < MAX_STYLES && !self.styles.contains(&url) => {
                self.styles.push(url);
            }
            Asset::Style => {}
        }
    }

    /// The icon.
    pub fn icon(&mut self) -> Option<String> {
        self.icon.take().or(self.touch_icon.take())
    }
}

/// The addresses that a style sheet imports: `@import` counts only before all rules, so the rest is not read.
pub fn imports(sheet: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = sheet.trim_start_matches('\u{feff}');
    while found.len() < MAX_STYLES
        && let Some(statement) = skip_blank(rest).strip_prefix('@')
    {
        let name = &statement[..statement.find(|sign: char| !sign.is_ascii_alphabetic()).unwrap_or(0)];
        let is = |word: &str| name.eq_ignore_ascii_case(word);
        if !is("import") && !is("charset") && !is("layer") {
            break;
        }
        let body = &statement[name.len()..];
        let Some(end) = end_of(body) else { break };
        found.extend(is("import").then(|| address(skip_blank(&body[..end]))).flatten());
        rest = &body[(end + 1).min(body.len())..];
    }
    found
}

/// A text without the white space and the comments at its start.
fn skip_blank(text: &str) -> &str {
    let mut text = text.trim_start();
    while let Some(comment) = text.strip_prefix("/*") {
        text = comment.find("*/").map_or("", |end| comment[end + 2..].trim_start());
    }
    text
}

/// Where the statement at the start of a text ends; `None` if it has a block.
fn end_of(text: &str) -> Option<usize> {
    let (mut quote, mut in_address) = (None, false);
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (Some(open), byte) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'(') => in_address = true,
            (None, b')') => in_address = false,
            (None, b';') if !in_address => return Some(at),
            (None, b'{') if !in_address => return None,
            _ => {}
        }
    }
    Some(text.len())
}

/// The address at the start of a text: a string, or `url()` of one or of plain characters.
fn address(text: &str) -> Option<&str> {
    let quoted = |text: &'_ str| -> Option<usize> {
        let quote = text.chars().next().filter(|sign| matches!(sign, '"' | '\''))?;
        text[1..].find(quote).map(|end| end + 1)
    };
    if let Some(end) = quoted(text) {
        return Some(&text[1..end]);
    }
    let inside =
        text.get(..4).filter(|word| word.eq_ignore_ascii_case("url(")).map(|_| text[4..].trim_start())?;
    match quoted(inside) {
        Some(end) => Some(&inside[1..end]),
        None => inside.find(')').map(|end| inside[..end].trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_stand_before_the_rules() {
        let sheet = "\u{feff}/* @import 'no' */ @charset \"utf-8\";\n@IMPORT url( a.css ) screen;@import url('b;(.css')\
            layer(x);@layer x, y;/**/@import \"c d.css\" ; @import url(data:text/css;p) ; p { color: red } @import 'late';";
        assert_eq!(imports(sheet), ["a.css", "b;(.css", "c d.css", "data:text/css;p"]);
        assert_eq!(imports("@import 'a'"), ["a"]);
        assert_eq!(imports(&"@import 'a';".repeat(30)).len(), MAX_STYLES);
        for none in [
            "",
            "@",
            "@import",
            "@import ;",
            "@import url(",
            "@import 'a",
            "/*",
            "@media print { @import 'a'; }",
        ] {
            assert!(imports(none).is_empty(), "{none}");
        }
        assert!(imports("@layer x { p {} } @import 'a';").is_empty());
        assert_eq!(imports("@import\u{e9};@import 'é.css';"), ["é.css"]);
    }
}
