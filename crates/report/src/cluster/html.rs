//! A judged cluster as one page, without scripts or anything from outside.

use askama::Template;
use fathom_model::cluster::ClusterLook;

use super::tables::{Listing, tables};
use super::{NOTHING, title};
use crate::table::Align;

#[derive(Template)]
#[template(path = "cluster.html")]
struct ClusterPage<'a> {
    title: String,
    nothing: &'static str,
    look: &'a ClusterLook,
    listings: Vec<Shown>,
}

struct Shown {
    title: &'static str,
    heads: Vec<ClusterCell>,
    rows: Vec<Vec<ClusterCell>>,
    rest: Option<String>,
}

struct ClusterCell {
    class: &'static str,
    text: String,
    /// Length of a bar that is drawn instead.
    bar: Option<usize>,
}

/// The page.
///
/// # Errors
/// Only when the template engine fails.
pub fn html(look: &ClusterLook) -> crate::Result<String> {
    let page = ClusterPage {
        title: title(look),
        nothing: NOTHING,
        look,
        listings: tables(look).into_iter().map(shown).collect(),
    };
    crate::html::page(&page)
}

fn shown(listing: Listing) -> Shown {
    let rest = (listing.more > 0).then(|| listing.rest());
    let cell = |(text, align): (String, Align)| {
        let is_bar = !text.is_empty() && text.bytes().all(|byte| byte == b'#');
        ClusterCell {
            class: match align {
                Align::Right => "num",
                Align::Left => "",
            },
            bar: is_bar.then_some(text.len()),
            text,
        }
    };
    let aligns: Vec<Align> = listing.heads.iter().map(|(_, align)| *align).collect();
    let heads = listing.heads.iter();
    let row = |row: Vec<String>| row.into_iter().zip(aligns.clone()).map(cell).collect();
    Shown {
        title: listing.title,
        heads: heads
            .map(|(head, align)| cell(((*head).to_owned(), *align)))
            .collect(),
        rows: listing.rows.into_iter().map(row).collect(),
        rest,
    }
}
