//! Results of other tools: recordings of warp, fio's JSON, terse output and logs.
#![no_main]

use fathom_compat::results::{ResultFile, gather, read_results};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for name in ["results.csv", "job_clat.1.log"] {
        match read_results(name, text) {
            Ok(ResultFile::Log(log)) => {
                let mut results = Vec::new();
                let _ = gather(&mut results, vec![log]);
            }
            Ok(ResultFile::Results(results)) => {
                for result in &results {
                    assert!(result.jobs.len() <= text.len());
                }
            }
            Ok(ResultFile::Own(_)) | Err(_) => {}
        }
    }
});
