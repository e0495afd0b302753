//! A chart as a file of its own: an SVG document with its title, legend, style and a
//! light background, for slides, papers and tickets.

use std::fmt::Write as _;

use super::figure::{ChartFigure, Key};
use super::plot::escaped;
use super::svg::n;

/// Around the picture.
const MARGIN: f64 = 14.0;
/// Line of the title, and of the legend.
const TITLE_LINE: f64 = 24.0;
const KEY_LINE: f64 = 19.0;
/// Width of a picture that is as wide as its page.
const WIDE: f64 = 1080.0;
/// Width of a letter of the legend, roughly.
const LETTER: f64 = 6.4;
/// Sample of a line, and of a colour.
const SAMPLE: f64 = 22.0;
const FIELD: f64 = 15.0;

/// What is said of text first; classes of charts say otherwise where they must.
const TEXT: &str = "text{font-family:\"DejaVu Sans\",Verdana,system-ui,sans-serif;font-size:11.5px;fill:var(--dim)}\
     .title{font-size:14px;font-weight:700;fill:var(--fg)}.narrow{display:none}\
     .line{stroke-width:2.6;fill:none;stroke-linecap:round}.nm text,.nm tspan{font-size:11px}";

impl ChartFigure {
    /// The chart as an SVG document.
    pub(crate) fn standalone(&self) -> String {
        let (tag, inside) = self.svg.split_once('>').unwrap_or((&self.svg, ""));
        let inside = inside.strip_suffix("</svg>").unwrap_or(inside);
        let (width, height, frame) = size_of(tag);
        let mut legend = Legend::new(width);
        for key in &self.keys {
            legend.push(key);
        }
        let top = MARGIN + TITLE_LINE + legend.height();
        let (all_wide, all_high) = (width + 2.0 * MARGIN, top + height + MARGIN);
        let title = escaped(&self.title);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" data-generator=\"fathom {}\" \
             width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" role=\"img\" aria-label=\"{title}\">\n\
             <title>{title}</title>\n<style>{}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
             <text class=\"title\" x=\"{}\" y=\"{}\">{title}</text>\n",
            env!("CARGO_PKG_VERSION"),
            style(),
            n(MARGIN),
            n(MARGIN + 13.0),
            w = n(all_wide),
            h = n(all_high),
        );
        out.push_str(&legend.out);
        let _ = write!(
            out,
            "<svg x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{frame}>{inside}</svg>\n</svg>\n",
            n(MARGIN),
            n(top),
            n(width),
            n(height)
        );
        out
    }
}

/// Width and height of a picture, and its coordinates where it has its own.
fn size_of(tag: &str) -> (f64, f64, String) {
    let value = |name: &str| {
        let start = format!(" {name}=\"");
        let after = tag.split_once(start.as_str())?.1;
        Some(after.split_once('"')?.0)
    };
    let number = |text: &str| text.parse::<f64>().ok().filter(|n| *n > 0.0);
    if let Some(frame) = value("viewBox") {
        let sizes: Vec<f64> = frame.split(' ').skip(2).filter_map(number).collect();
        if let [width, height] = sizes[..] {
            return (width, height, format!(" viewBox=\"{frame}\""));
        }
    }
    let height = value("height").and_then(number).unwrap_or(WIDE / 2.0);
    (WIDE, height, String::new())
}

/// The legend, from left to right in as many lines as it takes.
struct Legend {
    out: String,
    width: f64,
    x: f64,
    line: usize,
    is_empty: bool,
}

impl Legend {
    fn new(width: f64) -> Legend {
        Legend {
            out: String::new(),
            width,
            x: 0.0,
            line: 0,
            is_empty: true,
        }
    }

    fn height(&self) -> f64 {
        match self.is_empty {
            true => 0.0,
            false => KEY_LINE * (self.line + 1) as f64 + 4.0,
        }
    }

    /// Room for an entry of this width: where it begins and its middle line.
    fn place(&mut self, width: f64) -> (f64, f64) {
        if self.x > 0.0 && self.x + width > self.width {
            (self.x, self.line) = (0.0, self.line + 1);
        }
        self.is_empty = false;
        let x = MARGIN + self.x;
        self.x += width + 14.0;
        (x, MARGIN + TITLE_LINE + KEY_LINE * (self.line as f64 + 0.5))
    }

    fn push(&mut self, key: &Key) {
        let wide = |text: &str| text.chars().count() as f64 * LETTER;
        match key {
            Key::Line { class, name, .. } => {
                let (x, y) = self.place(SAMPLE + 6.0 + wide(name));
                let _ = write!(
                    self.out,
                    "<path class=\"line {class}\" d=\"M{} {}h{SAMPLE}\"/>",
                    n(x),
                    n(y)
                );
                self.text(x + SAMPLE + 6.0, y, name);
            }
            Key::Colour { class, words } => {
                let (x, y) = self.place(FIELD + 5.0 + wide(words));
                self.field(class, x, y);
                self.text(x + FIELD + 5.0, y, words);
            }
            Key::Scale { from, classes, to } => {
                let fields = FIELD * classes.len() as f64;
                let (x, y) = self.place(wide(from) + wide(to) + fields + 12.0);
                self.text(x, y, from);
                let first = x + wide(from) + 6.0;
                for (at, class) in classes.iter().enumerate() {
                    self.field(class, first + FIELD * at as f64, y);
                }
                self.text(first + fields + 6.0, y, to);
            }
            Key::Words(words) => {
                let (x, y) = self.place(wide(words));
                self.text(x, y, words);
            }
        }
    }

    fn field(&mut self, class: &str, x: f64, y: f64) {
        let _ = write!(
            self.out,
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{FIELD}\" height=\"10\"/>",
            n(x),
            n(y - 5.0)
        );
    }

    fn text(&mut self, x: f64, y: f64, text: &str) {
        let _ = writeln!(
            self.out,
            "<text x=\"{}\" y=\"{}\">{}</text>",
            n(x),
            n(y + 4.0),
            escaped(text)
        );
    }
}

/// The style of charts with the colours of the light theme in place of their names,
/// which few programs besides browsers know.
fn style() -> String {
    let css = format!("{TEXT}\n{}", include_str!("../../assets/chart.css"));
    let theme = include_str!("../../assets/report.css");
    let theme = theme.split_once(":root {").map_or("", |(_, rest)| rest);
    let theme = theme.split_once('}').map_or("", |(theme, _)| theme);
    let colour = |name: &str| {
        let found = theme.split(';').find_map(|entry| {
            let (key, value) = entry.trim().split_once(':')?;
            (key == name).then(|| value.trim())
        });
        found.unwrap_or("#000000")
    };
    let mut parts = css.split("var(");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(')').unwrap_or((part, ""));
        out.push_str(colour(name));
        out.push_str(rest);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(svg: &str) -> ChartFigure {
        ChartFigure {
            class: "chart",
            title: "Rate <of> it".to_owned(),
            keys: vec![
                Key::Line {
                    class: "k-read",
                    name: "read".to_owned(),
                    can_hide: true,
                },
                Key::Words("a remark".to_owned()),
            ],
            svg: svg.to_owned(),
            data: Some("{}".to_owned()),
        }
    }

    #[test]
    fn a_file_has_its_own_style_size_and_background() {
        let text = figure("<svg viewBox=\"0 0 560 230\" role=\"img\"><path d=\"M0 0\"/></svg>");
        let text = text.standalone();
        assert!(
            text.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" data-generator=\"fathom ")
        );
        assert!(text.contains("width=\"588\""), "{text}");
        assert!(text.contains(
            "<svg x=\"14\" y=\"61\" width=\"560\" height=\"230\" viewBox=\"0 0 560 230\"><path"
        ));
        assert!(text.contains("Rate &lt;of&gt; it</text>"));
        assert!(text.contains(".k-read { stroke: #0072b2; }"));
        assert!(!text.contains("var(") && !text.contains("script"));
        assert_eq!(text.matches("</svg>").count(), 2);
    }

    #[test]
    fn a_picture_as_wide_as_its_page_gets_a_width() {
        let text =
            figure("<svg width=\"100%\" height=\"42\" style=\"height:42px\"></svg>").standalone();
        assert!(
            text.contains(&format!("width=\"{WIDE}\" height=\"42\">")),
            "{text}"
        );
    }
}
