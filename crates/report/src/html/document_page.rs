//! The page of a report that is not a run's: the answer first, then one look at
//! everything, then the details. Networks, clusters and diagnoses share it.

use askama::Template;

use super::answer::Answer;
use crate::chart::figure::ChartFigure;
use crate::listing::Listing;
use crate::table::Align;

/// What a page shows, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct DocumentPage {
    /// What it is about: `Network of 4 hosts`.
    pub(crate) title: String,
    /// Style of its own.
    pub(crate) style: &'static str,
    /// When and how it was made.
    pub(crate) below: Vec<String>,
    /// The first screen.
    pub(crate) answer: Answer,
    /// Its sentence answers the question of the title, and stands above the figures.
    pub(crate) is_sentence_first: bool,
    /// Charts of everything at once.
    pub(crate) overview: Vec<ChartFigure>,
    /// How to read them.
    pub(crate) overview_notes: Vec<String>,
    /// The details.
    pub(crate) parts: Vec<PagePart>,
}

/// A section of details.
#[derive(Debug, Clone)]
pub(crate) struct PagePart {
    /// By which the page links to it: a word.
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) blocks: Vec<PageBlock>,
}

impl PagePart {
    /// A section; nothing where it has no block.
    pub(crate) fn new(id: &str, title: &str, blocks: Vec<PageBlock>) -> Option<PagePart> {
        (!blocks.is_empty()).then(|| PagePart {
            id: id.to_owned(),
            title: title.to_owned(),
            blocks,
        })
    }

    /// A section of lines; nothing where there are none.
    pub(crate) fn list(id: &str, title: &str, lines: Vec<String>) -> Option<PagePart> {
        let list = (!lines.is_empty()).then_some(PageBlock::List(lines));
        PagePart::new(id, title, list.into_iter().collect())
    }
}

/// One piece of a section.
#[derive(Debug, Clone)]
pub(crate) enum PageBlock {
    /// Lines, a dot before each.
    List(Vec<String>),
    /// How to read what stands above.
    Note(String),
    /// Names with values.
    Facts(Vec<(String, String)>),
    /// A table.
    Table(PageTable),
    /// This crate's own markup, with every text in it escaped.
    Drawn(String),
}

/// A table of a page.
#[derive(Debug, Clone)]
pub(crate) struct PageTable {
    /// What it shows.
    pub(crate) caption: String,
    /// Classes of the element.
    pub(crate) class: &'static str,
    /// Heads of the columns; a first column of text names the row.
    pub(crate) heads: Vec<(String, Align)>,
    pub(crate) rows: Vec<Vec<PageCell>>,
}

/// A cell of a table.
#[derive(Debug, Clone, Default)]
pub(crate) struct PageCell {
    pub(crate) text: String,
    /// A class of its own.
    pub(crate) class: &'static str,
    /// What a reader learns on demand.
    pub(crate) hint: String,
    /// Percent of the strongest colour.
    pub(crate) share: Option<u32>,
    /// Lines in place of the text.
    pub(crate) lines: Vec<PageLine>,
}

/// A line of a cell.
#[derive(Debug, Clone, Default)]
pub(crate) struct PageLine {
    pub(crate) text: String,
    /// A class of its own.
    pub(crate) class: &'static str,
    /// What a reader learns on demand.
    pub(crate) hint: String,
}

impl PageCell {
    /// A cell of text.
    pub(crate) fn text(text: impl Into<String>) -> PageCell {
        PageCell {
            text: text.into(),
            ..PageCell::default()
        }
    }
}

impl From<Listing> for Vec<PageBlock> {
    fn from(listing: Listing) -> Vec<PageBlock> {
        let rest = (listing.more > 0).then(|| PageBlock::Note(listing.rest()));
        // Bars of letters are for the terminal.
        let is_bar = |text: &String| !text.is_empty() && text.bytes().all(|byte| byte == b'#');
        let is_drawn = |column: usize| {
            let mut rows = listing.rows.iter();
            rows.all(|row| row.get(column).is_some_and(is_bar))
        };
        let columns = 0..listing.heads.len();
        let kept: Vec<usize> = columns.filter(|column| !is_drawn(*column)).collect();
        let cells = |row: &Vec<String>| {
            let cells = kept.iter().filter_map(|column| row.get(*column));
            cells.map(PageCell::text).collect()
        };
        let table = PageTable {
            caption: listing.title.to_owned(),
            class: "sort",
            heads: kept
                .iter()
                .map(|column| listing.heads[*column])
                .map(|(head, align)| (head.replace('\n', " ").trim().to_owned(), align))
                .collect(),
            rows: listing.rows.iter().map(cells).collect(),
        };
        [PageBlock::Table(table)].into_iter().chain(rest).collect()
    }
}

#[derive(Template)]
#[template(path = "document.html")]
struct Filled<'a> {
    style: &'static str,
    script: &'static str,
    version: &'static str,
    page: &'a DocumentPage,
    figures: &'a [super::key_figures::KeyFigure],
}

/// The page as one HTML document.
///
/// # Errors
/// Only when the template engine fails.
pub(crate) fn render(page: &DocumentPage) -> crate::Result<String> {
    super::page(&Filled {
        style: super::STYLE,
        script: super::SCRIPT,
        version: env!("CARGO_PKG_VERSION"),
        page,
        figures: &page.answer.figures,
    })
}

fn is_right(align: &Align) -> bool {
    *align == Align::Right
}

/// The classes of a cell, where it has any.
fn class_of(align: &Align, cell: &PageCell) -> Option<String> {
    let number = is_right(align).then_some("n");
    let own = (!cell.class.is_empty()).then_some(cell.class);
    let classes: Vec<&str> = number.into_iter().chain(own).collect();
    (!classes.is_empty()).then(|| classes.join(" "))
}
