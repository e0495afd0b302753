//! What is wrong with the way layers lie on one another.
//!
//! The rules and their thresholds are in `stack.toml`. Alignment is followed
//! through the whole stack: where the first byte of the target lies on each
//! device below, as far as that can be told.

mod landing;
mod layers;
mod mounts;
mod striping;

use fathom_model::stack::{Gravity, Stack, StackFinding};

use crate::rules::{Rule, stack_rules};

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
    fn add(&mut self, rule: &str, at: &str, found: String) {
        let Some(rule) = stack_rules().find(rule) else {
            return;
        };
        if self.0.iter().any(|f| f.rule == rule.name && f.at == at) {
            return;
        }
        self.0.push(StackFinding {
            rule: rule.name.clone(),
            gravity: match rule.severity.as_str() {
                "critical" => Gravity::Danger,
                "warning" => Gravity::Costs,
                _ => Gravity::Note,
            },
            at: at.to_owned(),
            found,
            remedy: rule.remedy.clone(),
            source: rule.source.clone(),
        });
    }
}

/// The threshold of a rule of stacks.
fn limit(rule: &str) -> f64 {
    stack_rules().find(rule).map_or(f64::INFINITY, Rule::limit)
}

#[cfg(test)]
#[path = "stack_tests.rs"]
mod tests;
