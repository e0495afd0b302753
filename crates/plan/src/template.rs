//! Plans for common purposes, compiled in, commented to teach.

/// A plan for a purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Template {
    /// Name, one word.
    pub name: &'static str,
    /// What it is for, in one line.
    pub purpose: &'static str,
    /// The plan file with its comments.
    pub text: &'static str,
}

const TEMPLATES: &[Template] = &[
    Template {
        name: "general",
        purpose: "what a storage can do: throughput, operations, latency, by depth",
        text: include_str!("../templates/general.yaml"),
    },
    Template {
        name: "database",
        purpose: "random pages and a durable commit after every 32 writes",
        text: include_str!("../templates/database.yaml"),
    },
    Template {
        name: "backup",
        purpose: "backup and cold storage: long streams, past all caches",
        text: include_str!("../templates/backup.yaml"),
    },
    Template {
        name: "vm",
        purpose: "virtual machines: many guests, mixed blocks, latency at a rate",
        text: include_str!("../templates/vm.yaml"),
    },
    Template {
        name: "etcd",
        purpose: "a write-ahead log that flushes every record",
        text: include_str!("../templates/etcd.yaml"),
    },
    Template {
        name: "disk-zones",
        purpose: "a hard disk's rate by position: one pass over all of it",
        text: include_str!("../templates/disk-zones.yaml"),
    },
    Template {
        name: "minimal",
        purpose: "the smallest plan, to start your own",
        text: include_str!("../templates/minimal.yaml"),
    },
];

/// Every template.
pub fn templates() -> &'static [Template] {
    TEMPLATES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ScheduleContext, parse};

    #[test]
    fn each_template_runs_without_a_warning() {
        for template in templates() {
            let file = format!("{}.yaml", template.name);
            let plan = parse(&file, template.text).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(plan.name(), template.name);
            // A host on which the sizes of the templates exceed the memory.
            let context = ScheduleContext {
                ram_bytes: Some(256 << 20),
                ..ScheduleContext::default()
            };
            let schedule = plan.schedule(&context).unwrap_or_else(|e| panic!("{e}"));
            assert!(!schedule.trials.is_empty());
            let found = plan.lint(&context);
            assert!(found.is_empty(), "{}:\n{found}", template.name);
        }
    }

    #[test]
    fn templates_teach() {
        for template in templates() {
            let comments = template.text.matches('#').count();
            let lines = template.text.lines().count();
            assert!(
                comments * 4 >= lines,
                "{}: {comments} of {lines}",
                template.name
            );
            assert!(template.text.starts_with("# "), "{}", template.name);
        }
    }

    #[test]
    fn the_database_commits_after_32_writes_and_etcd_after_each() {
        let every = |name: &str, row: &str| {
            let template = templates().iter().find(|t| t.name == name).unwrap();
            let plan = parse(name, template.text).unwrap();
            let schedule = plan.schedule(&ScheduleContext::default()).unwrap();
            let trial = schedule.trials.iter().find(|t| t.label.starts_with(row));
            trial.unwrap().workload.sync.every_writes
        };
        assert_eq!(every("database", "commits"), 32);
        assert_eq!(every("etcd", "wal"), 1);
    }
}
