//! `fathom-lab models`: which drives there are.

use fathom_drives::{Parameter, Quantity, common_parameters, models};
use fathom_model::unit;

/// Every model with its parameters, their defaults and ranges.
pub(crate) fn text() -> String {
    let mut text = String::new();
    for model in models() {
        text += &format!("{}\n  {}\n", model.name, model.summary);
        text += &parameters_text(model.parameters.iter());
        text.push('\n');
    }
    text += "every model\n";
    text + &parameters_text(common_parameters())
}

fn parameters_text<'a>(parameters: impl Iterator<Item = &'a Parameter>) -> String {
    let mut text = String::new();
    for parameter in parameters {
        let default = match parameter.quantity {
            Quantity::Bytes => unit::bytes_exact(parameter.default as u64),
            Quantity::Number => parameter.default.to_string(),
        };
        let setting = format!("{}={default}", parameter.name);
        text += &format!("  {setting:<28} {}\n", parameter.help);
    }
    text
}
