//! What the user typed, for a page that says how it was made.

use fathom_model::secret::masked_arguments;

/// The command line without secrets, beginning with `fathom`.
pub(crate) fn typed_command() -> String {
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let mut words = masked_arguments(words);
    if let Some(program) = words.first_mut() {
        *program = "fathom".to_owned();
    }
    words.join(" ")
}
