//! Plans for common purposes, compiled in, commented to teach.
//!
//! Some take numbers from the machine on which they are written: their texts
//! hold words in double braces. The profiles for mounts and the disk tests
//! follow the benchmarking guide of Virtuozzo Hybrid Infrastructure ("Setting
//! up the benchmark for NFS and iSCSI", "Preparing benchmarks for disks").

use fathom_model::nearest::did_you_mean;
use fathom_model::unit;

const GIB: u64 = 1 << 30;

/// A plan for a purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Template {
    /// Name, one word.
    pub name: &'static str,
    /// What it is for, in one line.
    pub purpose: &'static str,
    /// The plan file with its comments; words in double braces stand for
    /// what [`Template::written`] puts there.
    pub text: &'static str,
    words: &'static [(&'static str, &'static str)],
}

/// What a template takes from the machine on which it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TemplateFacts {
    /// CPU threads; at least 1 is taken.
    pub cpu_threads: u32,
    /// Memory in bytes.
    pub ram_bytes: u64,
}

impl Template {
    /// The plan file for a machine.
    pub fn written(&self, facts: &TemplateFacts) -> String {
        let cores = u64::from(facts.cpu_threads.max(1));
        // Whole gibibytes for each thread, at least twice the memory together.
        let each_bytes = facts.ram_bytes.saturating_mul(2).div_ceil(cores);
        let each_gib = each_bytes.div_ceil(GIB).clamp(1, 1 << 16);
        let of_machine = [
            ("cores", cores.to_string()),
            ("half", (cores / 2).max(1).to_string()),
            ("ram", unit::bytes(facts.ram_bytes).to_string()),
            ("each", format!("{each_gib} GiB")),
            ("size", format!("{}g", each_gib * cores)),
            ("name", self.name.to_owned()),
        ];
        let mut text = self.text.to_owned();
        for (word, value) in self.words {
            text = text.replace(&format!("{{{{{word}}}}}"), value);
        }
        for (word, value) in of_machine {
            text = text.replace(&format!("{{{{{word}}}}}"), &value);
        }
        text
    }

    /// The plan file for a machine with one of its workloads alone; `None`
    /// when it has none of this name.
    pub fn written_with_one(&self, workload: &str, facts: &TemplateFacts) -> Option<String> {
        let text = self.written(facts);
        let (head, list) = text.split_once("workloads:\n")?;
        // A workload ends with the next one, or where the indentation does.
        let mut kept = String::new();
        let (mut keeping, mut found) = (false, false);
        for line in list.lines() {
            if let Some(name) = line.strip_prefix("  - name: ") {
                keeping = name.trim() == workload;
                found |= keeping;
            } else if line.starts_with(|c: char| !c.is_whitespace()) {
                keeping = true;
            }
            if keeping {
                kept.push_str(line);
                kept.push('\n');
            }
        }
        let head = head.replace(
            &format!("name: {}\n", self.name),
            &format!("name: {}-{workload}\n", self.name),
        );
        found.then(|| format!("{head}workloads:\n{kept}"))
    }

    /// Names of its workloads in order.
    pub fn workloads(&self) -> Vec<&'static str> {
        let names = self.text.lines();
        let names = names.filter_map(|line| line.strip_prefix("  - name: "));
        names
            .map(|name| name.split('#').next().unwrap_or(name).trim())
            .collect()
    }
}

/// The template of a name, and one of its workloads where the name goes on
/// with it: `nfs-randread` is the workload `randread` of `nfs`.
pub fn find_template(name: &str) -> Option<(&'static Template, Option<&str>)> {
    let exact = TEMPLATES.iter().find(|template| template.name == name);
    if let Some(template) = exact {
        return Some((template, None));
    }
    TEMPLATES.iter().find_map(|template| {
        let workload = name.strip_prefix(template.name)?.strip_prefix('-')?;
        let known = template.workloads().contains(&workload);
        known.then_some((template, Some(workload)))
    })
}

const TEMPLATES: &[Template] = &[
    Template {
        name: "general",
        purpose: "what a storage can do: throughput, operations, latency, by depth",
        text: include_str!("../templates/general.yaml"),
        words: &[],
    },
    Template {
        name: "database",
        purpose: "random pages and a durable commit after every 32 writes",
        text: include_str!("../templates/database.yaml"),
        words: &[],
    },
    Template {
        name: "backup",
        purpose: "backup and cold storage: long streams, past all caches",
        text: include_str!("../templates/backup.yaml"),
        words: &[],
    },
    Template {
        name: "vm",
        purpose: "virtual machines: many guests, mixed blocks, latency at a rate",
        text: include_str!("../templates/vm.yaml"),
        words: &[],
    },
    Template {
        name: "etcd",
        purpose: "a write-ahead log that flushes every record",
        text: include_str!("../templates/etcd.yaml"),
        words: &[],
    },
    Template {
        name: "disk-zones",
        purpose: "a hard disk's rate by position: one pass over all of it",
        text: include_str!("../templates/disk-zones.yaml"),
        words: &[],
    },
    Template {
        name: "nfs",
        purpose: "an NFS share: random and sequential, from one mount",
        text: include_str!("../templates/mount.yaml"),
        words: &[
            ("title", "An NFS share"),
            (
                "mount",
                "Mount it first: mount -t nfs -o vers=4.0 SERVER:SHARE /mnt/test",
            ),
        ],
    },
    Template {
        name: "nfs-prepare",
        purpose: "the data set of the plan nfs, written beforehand",
        text: include_str!("../templates/mount-prepare.yaml"),
        words: &[("service", "nfs")],
    },
    Template {
        name: "iscsi",
        purpose: "an iSCSI volume: random and sequential, from its mount",
        text: include_str!("../templates/mount.yaml"),
        words: &[
            ("title", "An iSCSI volume"),
            (
                "mount",
                "Attach it, make a file system on it, and mount that at /mnt/test.",
            ),
        ],
    },
    Template {
        name: "iscsi-prepare",
        purpose: "the data set of the plan iscsi, written beforehand",
        text: include_str!("../templates/mount-prepare.yaml"),
        words: &[("service", "iscsi")],
    },
    Template {
        name: "cluster-disks",
        purpose: "a data disk of a cluster; `fathom disks` tests all of them",
        text: include_str!("../templates/cluster-disks.yaml"),
        words: &[],
    },
    Template {
        name: "gluster-small-files",
        purpose: "small files on a Gluster volume: lookups, cold and warm",
        text: include_str!("../templates/gluster-small-files.yaml"),
        words: &[],
    },
    Template {
        name: "tiny-writes",
        purpose: "millions of short lines: unbuffered, buffered, through a pipe",
        text: include_str!("../templates/tiny-writes.yaml"),
        words: &[],
    },
    Template {
        name: "minimal",
        purpose: "the smallest plan, to start your own",
        text: include_str!("../templates/minimal.yaml"),
        words: &[],
    },
];

/// Every template.
pub fn templates() -> &'static [Template] {
    TEMPLATES
}

/// What there are templates for, in a list.
pub fn purposes() -> String {
    let mut text = String::from("Purposes (fathom plan new PURPOSE > plan.yaml):\n\n");
    for template in TEMPLATES {
        text += &format!("  {:<13} {}\n", template.name, template.purpose);
    }
    text += "\nPURPOSE-WORKLOAD is one of its workloads alone, for example nfs-randread.\n";
    text
}

/// No template has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no template '{name}'{meant} There are {}", names().join(", "))]
pub struct UnknownTemplate {
    name: String,
    /// The end of the sentence, with what may be meant.
    meant: String,
}

impl UnknownTemplate {
    fn new(name: &str) -> UnknownTemplate {
        let with_one = TEMPLATES.iter().flat_map(|template| {
            let workloads = template.workloads().into_iter();
            workloads.map(|workload| format!("{}-{workload}", template.name))
        });
        let with_one: Vec<String> = with_one.collect();
        let all = names()
            .into_iter()
            .chain(with_one.iter().map(String::as_str));
        let meant = did_you_mean(name, all);
        UnknownTemplate {
            name: name.to_owned(),
            // A suggestion and a list are two sentences, a list alone is the same one.
            meant: match meant.is_empty() {
                true => ".".to_owned(),
                false => meant,
            },
        }
    }
}

fn names() -> Vec<&'static str> {
    TEMPLATES.iter().map(|template| template.name).collect()
}

/// The text of a template, or of one of its workloads, for a machine.
///
/// # Errors
/// There is none of this name.
pub fn template(name: &str, facts: &TemplateFacts) -> Result<String, UnknownTemplate> {
    let found = find_template(name);
    let (template, workload) = found.ok_or_else(|| UnknownTemplate::new(name))?;
    let text = match workload {
        None => Some(template.written(facts)),
        Some(workload) => template.written_with_one(workload, facts),
    };
    Ok(text.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ScheduleContext, parse};

    const GUIDE: TemplateFacts = TemplateFacts {
        cpu_threads: 4,
        ram_bytes: 16 << 30,
    };

    fn plan_of(name: &str) -> crate::Plan {
        let (template, workload) = find_template(name).unwrap();
        let text = match workload {
            None => template.written(&GUIDE),
            Some(workload) => template.written_with_one(workload, &GUIDE).unwrap(),
        };
        parse(&format!("{name}.yaml"), &text).unwrap_or_else(|e| panic!("{text}\n{e}"))
    }

    #[test]
    fn mounts_are_sized_by_memory_and_threads() {
        // The guide's example: 4g each on a machine with 8 GiB and 4 threads.
        let small = TemplateFacts {
            cpu_threads: 4,
            ram_bytes: 8 << 30,
        };
        let (template, _) = find_template("nfs").unwrap();
        let text = template.written(&small);
        assert!(text.contains("4 GiB for each of the 4 threads"), "{text}");
        assert!(!text.contains("{{"), "{text}");
        for name in ["nfs", "iscsi"] {
            let schedule = plan_of(name).schedule(&ScheduleContext::default()).unwrap();
            assert_eq!(schedule.trials.len(), 15);
            for trial in &schedule.trials {
                assert_eq!(trial.workload.data_set.size_bytes, Some(32 << 30));
                assert_eq!(
                    (trial.workload.workers, trial.workload.queue_depth),
                    (4, 32)
                );
            }
        }
        let odd = TemplateFacts {
            cpu_threads: 0,
            ram_bytes: 0,
        };
        for template in templates() {
            parse("odd.yaml", &template.written(&odd)).unwrap();
        }
    }

    #[test]
    fn a_workload_is_had_alone() {
        for (name, percent) in [
            ("nfs-randread", 100),
            ("nfs-randrw", 70),
            ("nfs-randwrite", 0),
            ("iscsi-seqread", 100),
            ("iscsi-seqwrite", 0),
        ] {
            let plan = plan_of(name);
            assert_eq!(plan.name(), name);
            let schedule = plan.schedule(&ScheduleContext::default()).unwrap();
            assert_eq!(schedule.trials.len(), 3);
            let mix = schedule.trials[0].workload.mix;
            assert_eq!(mix.read_percent, percent, "{name}");
        }
        let prepare = plan_of("nfs-prepare");
        let schedule = prepare.schedule(&ScheduleContext::default()).unwrap();
        assert_eq!(schedule.trials[0].workload.bounds.bytes, Some(32 << 30));
        assert!(find_template("nfs-nothing").is_none());
        assert!(find_template("").is_none());
    }

    #[test]
    fn each_template_runs_without_a_warning() {
        for template in templates() {
            let plan = plan_of(template.name);
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
            let plan = plan_of(name);
            let schedule = plan.schedule(&ScheduleContext::default()).unwrap();
            let trial = schedule.trials.iter().find(|t| t.label.starts_with(row));
            trial.unwrap().workload.sync.every_writes
        };
        assert_eq!(every("database", "commits"), 32);
        assert_eq!(every("etcd", "wal"), 1);
    }
}
