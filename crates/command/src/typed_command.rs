//! What the user typed, for a page that says how it was made.

use fathom_model::secret::masked_arguments;

/// The command line without secrets, beginning with `fathom` or `kubectl fathom`.
pub(crate) fn typed_command() -> String {
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let mut words = masked_arguments(words);
    if let Some(program) = words.first_mut() {
        let is_plugin = program.ends_with("kubectl-fathom");
        *program = if is_plugin {
            "kubectl fathom"
        } else {
            "fathom"
        }
        .to_owned();
    }
    words.join(" ")
}
