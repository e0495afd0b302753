//! What is wrong with the way layers lie on one another.
//!
//! The rules and their thresholds are [`fathom_rules::stack`]. Alignment is followed
//! through the whole stack: where the first byte of the target lies on each
//! device below, as far as that can be told.

mod landing;
mod layers;
mod mounts;
mod striping;

use fathom_model::stack::{Gravity, Stack, StackFinding};
use fathom_rules::{Rule, Severity};

pub use landing::{Landing, landings};

/// Fills in the findings, the gravest first.
pub fn judge_stack(stack: &mut Stack) {
    let mut found = Findings::default();
    mounts::judge(stack, &mut found);
    layers::judge(stack, &mut found);
    striping::judge(stack, &mut found);
    found.0.sort_by_key(|finding| finding.gravity);
    stack.findings = found.0;
}

/// Findings so far.
#[derive(Debug, Default)]
struct Findings(Vec<StackFinding>);

impl Findings {
    /// Adds what a rule found. A rule speaks once of one place.
    fn add(&mut self, rule: &Rule, at: &str, found: String) {
        if self.0.iter().any(|f| f.rule == rule.id && f.at == at) {
            return;
        }
        self.0.push(StackFinding {
            rule: rule.id.to_owned(),
            gravity: match rule.gravity() {
                Severity::Critical => Gravity::Danger,
                Severity::Warning => Gravity::Costs,
                Severity::Info => Gravity::Note,
            },
            at: at.to_owned(),
            found,
            remedy: rule.remedy.to_owned(),
            source: rule.source.to_owned(),
        });
    }
}

#[cfg(test)]
#[path = "stack_tests.rs"]
mod tests;
