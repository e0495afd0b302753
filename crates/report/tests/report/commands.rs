//! Commands in sentences are code on every kind of page: no backtick is printed.

use fathom_analysis::{CompareOptions, compare_runs};
use fathom_report::diagnosis::PageOrigin;
use fathom_report::html::{compared, render, summary_page};
use fathom_report::machine::PageMoment;
use fathom_report::{cluster, diagnosis, machine, network};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{synthetic, synthetic_documents};

/// Keys of documents whose texts are sentences.
const SENTENCES: [&str; 13] = [
    "evidence",
    "limiter_evidence",
    "remedy",
    "remarks",
    "settle",
    "words",
    "answers",
    "sentences",
    "notes",
    "warnings",
    "reasons",
    "explanation",
    "text",
];

/// A document whose sentences end with a command.
fn with_commands<T: Serialize + DeserializeOwned>(document: &T) -> T {
    let mut value = serde_json::to_value(document).unwrap();
    add(&mut value, false);
    serde_json::from_value(value).unwrap()
}

fn add(value: &mut Value, is_sentence: bool) {
    match value {
        Value::String(text) if is_sentence => text.push_str(" `fathom doctor`"),
        Value::Array(all) => all.iter_mut().for_each(|one| add(one, is_sentence)),
        Value::Object(all) => {
            for (key, one) in all {
                add(one, SENTENCES.contains(&key.as_str()));
            }
        }
        _ => {}
    }
}

/// The text of a page that a reader sees, without what is set as code of its own.
fn text_of(page: &str) -> String {
    let mut text = page.to_owned();
    for element in ["script", "style", "pre", "title"] {
        let (open, close) = (format!("<{element}"), format!("</{element}>"));
        while let Some(from) = text.find(&open) {
            let to = text[from..].find(&close).unwrap() + close.len();
            text.replace_range(from..from + to, "");
        }
    }
    let mut seen = String::new();
    for part in text.split('<') {
        seen.push_str(part.split_once('>').map_or(part, |(_, text)| text));
    }
    seen
}

#[test]
fn no_page_prints_backticks() {
    let run = with_commands(&synthetic::not_trusted_cache());
    let quick = with_commands(&synthetic::quick_caveats());
    let options = CompareOptions {
        margin_percent: 3.0,
        decides: None,
        declared: Vec::new(),
    };
    let sides = [[synthetic::quick()], [synthetic::quick()]];
    let comparison = with_commands(&compare_runs(&sides[0], &sides[1], &options));
    let moment = PageMoment {
        unix_ns: 1_795_275_930_000_000_000,
        command: "fathom use".to_owned(),
    };
    let pages = [
        ("report", render(&run)),
        ("report of quick", render(&quick)),
        ("summary", summary_page::render(&run)),
        (
            "comparison",
            compared::render(&sides[0], &[(comparison, sides[1].to_vec())]),
        ),
        (
            "pair",
            network::pair_html(&with_commands(&synthetic_documents::pair())),
        ),
        (
            "matrix",
            network::matrix_html(&with_commands(&synthetic_documents::matrix())),
        ),
        (
            "cluster",
            cluster::html(&with_commands(&synthetic_documents::cluster())),
        ),
        (
            "diagnosis",
            diagnosis::html(
                &with_commands(&synthetic_documents::diagnosis()),
                &PageOrigin::default(),
            ),
        ),
        (
            "machine",
            machine::html(&with_commands(&synthetic_documents::machine()), &moment),
        ),
    ];
    for (name, page) in pages {
        let page = page.unwrap();
        assert!(page.contains("<code>fathom d"), "{name} has no command");
        let text = text_of(&page);
        let bare: Vec<&str> = text.lines().filter(|line| line.contains('`')).collect();
        assert!(bare.is_empty(), "{name}: {bare:?}");
    }
}
