//! What a page is shown with: its icon and its style sheets.

/// The most style sheets taken from a page.
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
