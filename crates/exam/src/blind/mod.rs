//! The exam that outsiders write.
//!
//! A batch is a file of cases: shell commands that set a system up and take it
//! down, the command that asks fathom, the truth in a sentence, and which answers
//! are right. It is written by somebody who knows what fathom promises and not how
//! it judges, with nothing of this project's code: what is wrong with a system is
//! not limited to what its authors thought of.
//!
//! A batch tells something the first time only. Once its misses are known, rules
//! are mended, and a second sitting shows what was learnt by heart. So the result
//! carries the digest of the batch, and the page shows the first sitting of each.

mod batch;
mod expectation;
mod page;
mod paper;
mod sitting;

pub use batch::{Batch, BatchError, BlindCase};
pub use page::blind_page;
pub use paper::{BlindGrade, BlindPaper, BlindResult, PaperError, Sitting};
pub use sitting::BlindDesk;
