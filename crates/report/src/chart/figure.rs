//! One chart, ready to be shown: on a page, or as a file of its own.

use std::fmt;

use super::plot::escaped;

/// A chart with its title, legend, picture and the numbers for the script.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ChartFigure {
    /// Classes of the element on a page: `chart time`.
    pub(crate) class: &'static str,
    /// What it shows, in plain words.
    pub(crate) title: String,
    /// The legend, in order.
    pub(crate) keys: Vec<Key>,
    /// The picture: an `svg` element.
    pub(crate) svg: String,
    /// What the script reads out, as JSON.
    pub(crate) data: Option<String>,
}

/// An entry of a legend.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Key {
    /// A line of a chart.
    Line {
        /// The class of the line.
        class: &'static str,
        /// What it shows.
        name: String,
        /// A page lets its reader hide the line.
        can_hide: bool,
    },
    /// Fields of these colours with words.
    Colour {
        /// The class of the colour.
        class: &'static str,
        /// What it means.
        words: String,
    },
    /// A row of colours between two values.
    Scale {
        /// The value of the first colour.
        from: String,
        /// Classes of the colours, ascending.
        classes: Vec<String>,
        /// The value of the last colour.
        to: String,
    },
    /// A remark.
    Words(String),
}

impl ChartFigure {
    /// The chart where nothing moves: without numbers for a script and buttons.
    pub(crate) fn still(mut self) -> ChartFigure {
        self.data = None;
        for key in &mut self.keys {
            if let Key::Line { can_hide, .. } = key {
                *can_hide = false;
            }
        }
        self
    }

    /// About how long its element is.
    pub(crate) fn bytes(&self) -> usize {
        self.svg.len() + self.data.as_ref().map_or(0, String::len)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Line {
                class,
                name,
                can_hide,
            } => {
                let (tag, attributes) = match can_hide {
                    true => (
                        "button",
                        "type=\"button\" class=\"key\" aria-pressed=\"true\"",
                    ),
                    false => ("span", "class=\"key\""),
                };
                write!(
                    out,
                    "<{tag} {attributes}><svg viewBox=\"0 0 22 8\" aria-hidden=\"true\">\
                     <path class=\"{class}\" d=\"M0 4H22\"/></svg>{}</{tag}>",
                    escaped(name)
                )
            }
            Key::Colour { class, words } => {
                let words = escaped(words);
                write!(
                    out,
                    "<span class=\"scale\"><i class=\"{class}\"></i> {words}</span>"
                )
            }
            Key::Scale { from, classes, to } => {
                write!(out, "<span class=\"scale\">{from} ")?;
                for class in classes {
                    write!(out, "<i class=\"{class}\"></i>")?;
                }
                write!(out, " {to}</span>")
            }
            Key::Words(words) => write!(out, "<span>{}</span>", escaped(words)),
        }
    }
}

impl fmt::Display for ChartFigure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let title = escaped(&self.title);
        write!(
            out,
            "<figure class=\"{}\"><figcaption>{title}</figcaption>",
            self.class
        )?;
        if !self.keys.is_empty() {
            out.write_str("<div class=\"keys\">")?;
            for key in &self.keys {
                write!(out, "{key}")?;
            }
            out.write_str("</div>")?;
        }
        out.write_str(&self.svg)?;
        if let Some(data) = &self.data {
            write!(
                out,
                "<output></output><script type=\"application/json\">{data}</script>"
            )?;
        }
        out.write_str("</figure>")
    }
}
