//! The models in words, for `docs/reference/lab-models.md` and help texts.

use std::fmt::Write;

use fathom_model::unit;

use super::description::common_parameters;
use super::parameter::{Parameter, Quantity};
use super::{Model, models};

/// Every model with what it imitates and its parameters, in Markdown.
pub fn models_markdown() -> String {
    let mut text = String::from(
        "## Models\n\n\
         A drive is named `MODEL`, `MODEL?parameter=value,…`, or `@FILE.toml` with the same in a \
         file:\n\n\
         ```toml\n\
         model = \"slc\"\n\
         seed = 7\n\
         cache = \"24GB\"\n\
         drain_mibs = 150\n\
         ```\n\n\
         A size is a number of bytes or has a unit (`64KiB`, `1TB`); other values are numbers in the \
         unit that ends the parameter's name. `seed` sets everything random.\n\n\
         | model | what it is |\n|---|---|\n",
    );
    for model in models() {
        let _ = writeln!(text, "| `{}` | {} |", model.name, model.summary);
    }
    for model in models() {
        describe(&mut text, model);
    }
    text.push_str(
        "\n### Around every model\n\n\
         These can be added to any model. Operations count from 1 over all kinds, times from \
         the first operation.\n\n",
    );
    table(&mut text, common_parameters());
    text
}

fn describe(text: &mut String, model: &Model) {
    let _ = write!(text, "\n### `{}`\n\n{}\n\n", model.name, model.imitates);
    table(text, model.parameters);
}

fn table<'a>(text: &mut String, parameters: impl IntoIterator<Item = &'a Parameter>) {
    text.push_str("| parameter | default | from | to | what it sets |\n|---|---|---|---|---|\n");
    for parameter in parameters {
        let show = |value| value_text(parameter.quantity, value);
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} | {} |",
            parameter.name,
            show(parameter.default),
            show(parameter.least),
            show(parameter.most),
            parameter.help
        );
    }
}

fn value_text(quantity: Quantity, value: f64) -> String {
    match quantity {
        Quantity::Bytes if value >= 1000.0 && (value % 1e6) == 0.0 => {
            unit::throughput_decimal(value)
                .trim_end_matches("/s")
                .to_owned()
        }
        Quantity::Bytes => unit::bytes_exact(value as u64),
        Quantity::Number if value >= 1e5 => format!("{value:e}"),
        Quantity::Number => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_what_the_declarations_say() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/reference/lab-models.md"
        );
        let text = models_markdown();
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path, &text).unwrap();
        }
        let page = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            page == text,
            "docs/reference/lab-models.md is out of date: run UPDATE_DOCS=1 cargo test -p \
             fathom-drives"
        );
    }

    #[test]
    fn every_default_lies_within_its_limits_and_names_are_distinct() {
        for model in models() {
            let mut names = std::collections::BTreeSet::new();
            for p in model.parameters.iter().chain(common_parameters()) {
                assert!((p.least..=p.most).contains(&p.default), "{}", p.name);
                // `flaky` sets a default of its own for a common parameter.
                assert!(
                    names.insert(p.name) || (model.name, p.name) == ("flaky", "eio_every"),
                    "{}: {}",
                    model.name,
                    p.name
                );
            }
        }
    }
}
