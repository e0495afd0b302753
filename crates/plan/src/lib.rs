//! Text to plan to schedule.
//!
//! A plan is what a user wrote: targets, workloads, a matrix, iterations,
//! order, pauses; as a YAML file ([`parse`]), as flags ([`IoFlags`]), as one of
//! the [`templates`], or from code ([`PlanBuilder`]). It is read with every
//! mistake reported at its place, and unrolled into an ordered list of trials
//! ([`Plan::schedule`]) with everything filled in. Nothing here does I/O,
//! reads a clock or draws a random number.
//!
//! ```
//! use fathom_plan::{ScheduleContext, parse};
//!
//! let text = "
//! plan: 1
//! targets: /mnt/data
//! workloads:
//!   - rw: randread
//!     bs: 4k
//!     iodepth: 32
//!     runtime: 30s
//! ";
//! let plan = parse("disks.yaml", text)?;
//! let schedule = plan.schedule(&ScheduleContext::default())?;
//! assert_eq!(schedule.trials[0].label, "randread-4k q32 j1");
//!
//! let told = parse("disks.yaml", &text.replace("iodepth", "iodpeth")).unwrap_err();
//! assert_eq!(told.items()[0].help.as_deref(), Some("did you mean `iodepth`?"));
//! # Ok::<(), fathom_plan::Diagnostics>(())
//! ```

mod builder;
mod check;
mod cost;
mod diagnostic;
mod files_flags;
mod fit;
mod flags;
mod foreign;
mod host_mode;
mod host_mode_flags;
pub mod keys;
mod label;
mod limits;
mod lint;
mod node;
mod objects_flags;
mod pause;
mod payload_probe;
mod plan;
mod reference;
mod render;
mod resolve;
mod rows;
mod schedule;
mod schema;
mod section;
mod spelling;
mod template;
mod together;
pub mod value;
mod works;
pub mod yaml;

pub use builder::PlanBuilder;
pub use cost::{Cost, CostAssumptions, Speed, cost};
pub use diagnostic::{Diagnostic, Diagnostics, Place, Problem, Problems, Severity, Source};
pub use files_flags::FilesFlags;
pub use flags::{IoFlags, PlanFlags, RUNTIME};
pub use host_mode_flags::HostModeArgs;
pub use limits::MAX_TRIALS;
pub use node::{Located, Span};
pub use objects_flags::{ObjectsFlags, StoreFlags};
pub use plan::{Plan, parse};
pub use reference::reference;
pub use schedule::{ScheduleContext, TargetFacts, TargetKind};
pub use schema::schema;
pub use spelling::{Spelling, ToolOptions};
pub use template::{
    Template, TemplateFacts, UnknownTemplate, find_template, purposes, template, templates,
};

#[cfg(test)]
mod defaults_tests;
#[cfg(test)]
mod robustness_tests;
