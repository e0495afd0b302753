//! Job files of fio: read, mapped to a plan, and the plan expanded to trials.
#![no_main]

use fathom_compat::fio::request::{FixedSurroundings, map_fio, read_fio};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut machine = FixedSurroundings::default();
    machine.files.insert("job.fio".to_owned(), text.to_owned());
    machine.variables.insert("V".to_owned(), "4k".to_owned());
    match read_fio(&["job.fio".to_owned()], &machine) {
        Ok(request) => {
            let (account, mapped) = map_fio(&request, &machine, 7);
            let _ = (account.render(), mapped.is_ok());
        }
        Err(problems) => assert!(!problems.to_string().is_empty()),
    }
});
