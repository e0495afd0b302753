//! Leave that is given by variables of the environment.

use fathom_compat::fio::DESTRUCTIVE_VARIABLE;

/// Whether scripts that cannot pass a switch may overwrite what was there.
pub(super) fn may_destroy() -> bool {
    says_yes(DESTRUCTIVE_VARIABLE)
}

/// Whether a variable of the environment says yes.
pub(super) fn says_yes(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| !value.is_empty() && value != "0")
}

/// Whether it says no.
pub(super) fn says_no(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| value == "0")
}
