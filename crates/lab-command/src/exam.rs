//! `fathom-lab exam` and `fathom-lab accuracy`: how often is the judgement
//! right?

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context;
use clap::Args;
use fathom_console::{Exit, complain, write_stderr, write_stdout};
use fathom_exam::document::{Setting, markdown};
use fathom_exam::real::Rig;
use fathom_observe::Sysroot;

use crate::blind::BlindOptions;
use crate::programs::programs;

/// Run the exam: judge simulated systems with known faults.
///
/// Each scenario is a system with one fault, or with none, under a virtual
/// clock; its parameters are drawn by the seed. The table says how often the
/// judgement was right, and every wrong one is shown with what was said.
/// Status 1 when less than 95 % are right or a sound system is called not
/// trusted.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom-lab exam                    Each scenario once
  fathom-lab exam --seed 7 --repeats 10
                                     Other parameters, ten cases each
  fathom-lab exam --scenario SLC     Only those with SLC in their name
  fathom-lab exam --json | jq '.answers[] | select(.grade != \"right\")'
  fathom-lab exam --blind batch.toml --keep result.json
                                     Cases that somebody else wrote, on this host
  fathom-lab exam --page result.json Their page")]
pub(crate) struct Exam {
    /// Seed from which the cases are drawn.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Cases of each scenario.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    repeats: u32,
    /// Only scenarios whose name contains this.
    #[arg(long, default_value = "", hide_default_value = true)]
    scenario: String,
    /// Print JSON (schema fathom.exam/1) and nothing else on standard output.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    blind: BlindOptions,
}

/// Print docs/evidence/accuracy.md: every figure about fathom's own accuracy.
///
/// Simulates the promises of the statistics, sits the exam with several seeds,
/// and measures shaped real targets with fathom and, where it is installed,
/// fio. Takes ten to twenty minutes with an optimized build; progress goes to
/// standard error. `scripts/accuracy` builds and writes the file.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom-lab accuracy > docs/evidence/accuracy.md
  fathom-lab accuracy --quick        Fewer cases and shorter loads
  fathom-lab accuracy --simulated    Without the real targets")]
pub(crate) struct Accuracy {
    /// First seed of the exam.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A tenth of the cases, and real loads of a few seconds: to see that it
    /// works, not to publish.
    #[arg(long)]
    quick: bool,
    /// Leave out the real targets.
    #[arg(long)]
    simulated: bool,
    /// Where the real targets are made and removed; a file system on a device,
    /// not in memory.
    #[arg(long, value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    /// The fathom that is examined. Default: the one beside this program.
    #[arg(long, value_name = "PROGRAM")]
    fathom: Option<PathBuf>,
}

pub(crate) fn sit(exam: &Exam) -> anyhow::Result<Exit> {
    if let Some(done) = exam.blind.carry_out(exam.json) {
        return done;
    }
    let paper = fathom_exam::sit_some(exam.seed, exam.repeats, |name| {
        name.contains(&exam.scenario)
    });
    if paper.answers.is_empty() && paper.broken.is_empty() {
        complain(&format!(
            "no scenario has '{}' in its name; without --scenario all are listed",
            exam.scenario
        ));
        return Ok(Exit::Usage);
    }
    if exam.json {
        let json = serde_json::to_string_pretty(&paper.to_json(exam.seed))?;
        write_stdout(&format!("{json}\n"))?;
    } else {
        write_stdout(&paper.to_string())?;
    }
    let passed = paper.passed();
    Ok(if passed { Exit::Success } else { Exit::Failure })
}

pub(crate) fn accuracy(accuracy: &Accuracy) -> anyhow::Result<Exit> {
    let started = Instant::now();
    let rig = match accuracy.simulated {
        true => None,
        false => Some(rig(accuracy)?),
    };
    let mut tell = |what: &str| {
        let seconds = started.elapsed().as_secs();
        write_stderr(&format!("{seconds:>5} s  {what}\n"));
    };
    let page = markdown(&setting(accuracy), rig.as_ref(), &mut tell);
    write_stdout(&page)?;
    tell("done");
    Ok(Exit::Success)
}

fn rig(accuracy: &Accuracy) -> anyhow::Result<Rig> {
    let programs = programs(accuracy.fathom.as_deref())?;
    let folder = fathom_deadline::paths::canonicalize(&accuracy.folder)
        .with_context(|| format!("cannot use {}", accuracy.folder.display()))?;
    Rig::new(&programs.fathom, &folder, !accuracy.quick)
        .with_context(|| format!("cannot make a folder in {}", folder.display()))
}

fn setting(accuracy: &Accuracy) -> Setting {
    let (seeds, repeats, series, comparisons, drives) = match accuracy.quick {
        true => (1, 2, 60, 400, 3),
        false => (4, 4, 1_000, 10_000, 20),
    };
    Setting {
        seed: accuracy.seed,
        seeds,
        repeats,
        series,
        comparisons,
        drives,
        date: jiff::Timestamp::now().strftime("%Y-%m-%d").to_string(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        machine: machine(),
    }
}

/// The machine without its name or anything else of its owner.
pub(crate) fn machine() -> String {
    let host = fathom_observe::host_fingerprint(&Sysroot::host());
    let kernel: Vec<&str> = host.kernel.split('.').take(2).collect();
    let guest = match host.virtualization.as_deref() {
        None | Some("none") => String::new(),
        Some(hypervisor) => format!(", a virtual machine ({hypervisor})"),
    };
    format!(
        "{} CPUs {}, Linux {}{guest}",
        host.cpus,
        host.architecture,
        kernel.join(".")
    )
}
