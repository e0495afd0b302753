//! `--help`: what a command is for, with the flags that are taught first; the
//! hundred others of the large commands are left to `--help-all`.

use clap::Command;

use super::{flags, styled};

/// More options than these are not all shown.
const OPTIONS_MOST: usize = 40;

/// The page of a command.
pub(super) fn page(command: Command) -> String {
    let all = flags::of(&command).count();
    if all <= OPTIONS_MOST {
        return super::everything(command);
    }
    let name = command.get_bin_name().unwrap_or("fathom").to_owned();
    let of = command.get_name().to_owned();
    let mut command = command.max_term_width(100).mut_args(|arg| {
        let shown = arg.is_positional() || arg.get_id() == "help" || flags::is_taught(&arg, &of);
        arg.hide_long_help(!shown)
    });
    let shown = flags::of(&command).filter(|arg| !arg.is_hide_long_help_set());
    let more = all - shown.count();
    let page = styled(command.render_long_help());
    format!("{page}\n{more} more options: {name} --help-all\n")
}
