//! A text that names of devices, mounts, processes and interfaces have to hold.

use fathom_report::table::clean;

/// Longer texts are not typed.
const LONGEST: usize = 60;

/// A filter; an empty one takes everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    text: String,
    /// The same in small letters.
    needle: String,
}

impl Filter {
    /// Of a text; capital and small letters are alike.
    #[must_use]
    pub fn new(text: &str) -> Filter {
        let text: String = clean(text).chars().take(LONGEST).collect();
        Filter {
            needle: text.trim().to_lowercase(),
            text,
        }
    }

    /// The text as it was given.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it takes everything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.needle.is_empty()
    }

    /// Whether it takes this name.
    #[must_use]
    pub fn takes(&self, name: &str) -> bool {
        self.is_empty() || name.to_lowercase().contains(&self.needle)
    }

    /// The filter with one more character.
    #[must_use]
    pub(crate) fn with(&self, character: char) -> Filter {
        Filter::new(&format!("{}{character}", self.text))
    }

    /// The filter without its last character.
    #[must_use]
    pub(crate) fn shortened(&self) -> Filter {
        let mut text = self.text.clone();
        text.pop();
        Filter::new(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_alike_and_blanks_around_do_not_count() {
        let filter = Filter::new(" Post ");
        assert!(filter.takes("812 postgres") && filter.takes("POSTFIX"));
        assert!(!filter.takes("812 tar"));
        assert!(Filter::new("  ").takes("anything"));
        assert!(Filter::default().is_empty());
    }

    #[test]
    fn it_is_typed_and_shortened() {
        let filter = Filter::default().with('s').with('d');
        assert_eq!(filter.text(), "sd");
        assert!(filter.takes("sda") && !filter.takes("vda"));
        assert!(filter.shortened().shortened().shortened().is_empty());
        // Nothing that moves the cursor.
        assert_eq!(Filter::default().with('\u{1b}').text(), "?");
        assert_eq!(Filter::new(&"x".repeat(200)).text().len(), LONGEST);
    }
}
