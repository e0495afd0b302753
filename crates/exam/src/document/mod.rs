//! `docs/evidence/accuracy.md`, written from what was simulated and measured: every
//! figure in it comes from the run that wrote it.

mod measured;
mod scenarios;
mod simulated;

use fathom_lab::Error;

use crate::grade::{Paper, sit};
use crate::real::{RealAnswer, Rig, all as real_scenarios};
use crate::truth::{TruthRow, held_against_truth};

/// How much is done, and what is said of the circumstances.
#[derive(Debug, Clone)]
pub struct Setting {
    /// The first seed; the exam is sat with this and the following ones.
    pub seed: u64,
    /// How many seeds.
    pub seeds: u32,
    /// Cases of each scenario with each seed.
    pub repeats: u32,
    /// Simulated series of each setting.
    pub series: u32,
    /// Simulated comparisons of each setting.
    pub comparisons: u32,
    /// Drives of each quantity that is held against the truth.
    pub drives: u32,
    /// Day of the run.
    pub date: String,
    /// Version of fathom.
    pub version: String,
    /// The machine in neutral words.
    pub machine: String,
}

/// What became of the real scenarios.
#[derive(Debug, Clone, Default)]
pub struct RealPaper {
    /// Those that were sat.
    pub answers: Vec<RealAnswer>,
    /// Those that this machine cannot do, or that broke: name and reason.
    pub without: Vec<(&'static str, String)>,
    /// The fio that was compared with.
    pub fio_version: Option<String>,
}

/// Sits all real scenarios, telling which one is next.
pub fn sit_real(rig: &Rig, tell: &mut dyn FnMut(&str)) -> RealPaper {
    let mut paper = RealPaper {
        fio_version: rig.fio_version(),
        ..RealPaper::default()
    };
    for scenario in real_scenarios() {
        tell(scenario.name);
        match scenario.sit(rig) {
            Ok(answer) => paper.answers.push(answer),
            Err(Error::Absent(reason)) => paper.without.push((scenario.name, reason)),
            Err(error) => {
                let reason = format!("broken: {error}");
                paper.without.push((scenario.name, reason));
            }
        }
    }
    paper
}

/// The exam with several seeds, one beside the other: a virtual clock is not
/// disturbed by it.
pub fn sit_seeds(seed: u64, seeds: u32, repeats: u32) -> Paper {
    let mut all = Paper::default();
    let papers: Vec<Paper> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..u64::from(seeds))
            .map(|offset| scope.spawn(move || sit(seed + offset, repeats)))
            .collect();
        let joined = started.into_iter().map(std::thread::ScopedJoinHandle::join);
        // A case that panics is a fault of the exam and must be seen.
        joined
            .map(|paper| paper.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    for paper in papers {
        all.answers.extend(paper.answers);
        all.broken.extend(paper.broken);
    }
    all
}

/// The whole document. Without a rig its real part says that it is missing.
pub fn markdown(setting: &Setting, rig: Option<&Rig>, tell: &mut dyn FnMut(&str)) -> String {
    tell("intervals");
    let intervals = simulated::intervals(setting.series);
    tell("steadiness");
    let steadiness = simulated::steadiness(setting.series);
    tell("comparisons");
    let comparisons = simulated::comparisons(setting.comparisons);
    tell("figures against the truth");
    let truth: Vec<TruthRow> = held_against_truth(setting.seed, setting.drives);
    tell("the exam");
    let paper = sit_seeds(setting.seed, setting.seeds, setting.repeats);
    let real = rig.map(|rig| sit_real(rig, tell)).unwrap_or_default();
    [
        introduction(setting, &paper, &real),
        intervals,
        steadiness,
        comparisons,
        measured::figures(&truth, &real),
        scenarios::exam(setting, &paper),
        measured::scenarios(&real),
        REMAKE.to_owned(),
    ]
    .join("\n")
}

fn introduction(setting: &Setting, paper: &Paper, real: &RealPaper) -> String {
    let fio = real.fio_version.as_deref().unwrap_or("none");
    format!(
        "\
# Accuracy

How often is what fathom says right? This page is written by `scripts/accuracy`; no figure in it was
typed. It is of {date}, fathom {version}, on {machine}; fio for comparison: {fio}.

In short:

{short}
**How the truth is known.** A statistic is tried on series whose mean and percentiles are chosen
beforehand. A measurement is tried on drives that keep their own record. A verdict is tried on
systems with, or without, one fault that was put there.

**What is simulated.** The exam and the first tables run under a virtual clock: the engine's own
loop measures a simulated drive, and the simulated host shows what a real one shows (device
counters, CPU, page cache, mount table). Parameters are drawn from ranges by a seed. A scenario is
only as true as its model, and who wrote the models wrote the judgement.

**What is real.** The last table is the real program with real I/O, and fio beside it: loop devices,
file systems, FUSE, QEMU's storage daemon, nbdkit, control groups, on whatever machine ran the
script. They are few, and most are limited or broken on purpose by software.

**What is not covered.** Drives that one can hold: no real hard disk, SSD, array or cloud volume is
behind any figure here. Networks and object stores. More than one host. Faults that nobody thought
of: the share of right answers is that of these scenarios, not of the world.
",
        date = setting.date,
        version = setting.version,
        machine = setting.machine,
        short = scenarios::in_short(paper),
    )
}

const REMAKE: &str = "\
## How to make this page again

```sh
scripts/accuracy
```

builds the release binary and writes this file; it says on the way what it does and at the end how
long it took. As root it does all real scenarios; without root, or without fio, QEMU's storage daemon, nbdkit or
FUSE, it leaves out what needs them and says so. `fathom-lab accuracy` prints the page without
writing it, `fathom-lab exam` sits the simulated exam alone:

```console
$ fathom-lab exam --seed 7 --scenario sound
```
";

/// A table in Markdown. The first column is text, the others are numbers
/// unless their head ends in a blank.
pub(crate) fn table(heads: &[&str], rows: &[Vec<String>]) -> String {
    let rule: String = heads
        .iter()
        .enumerate()
        .map(|(column, head)| match column == 0 || head.ends_with(' ') {
            true => "---|",
            false => "--:|",
        })
        .collect();
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let heads: Vec<String> = heads.iter().map(|head| head.trim().to_owned()).collect();
    let body: String = rows.iter().map(|row| line(row)).collect();
    format!("{}|{rule}\n{body}", line(&heads))
}

pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::{Setting, markdown};

    #[test]
    fn the_page_is_whole() {
        let setting = Setting {
            seed: 1,
            seeds: 1,
            repeats: 1,
            series: 10,
            comparisons: 50,
            drives: 1,
            date: "2026-01-02".to_owned(),
            version: "0".to_owned(),
            machine: "a machine".to_owned(),
        };
        let mut told = 0;
        let page = markdown(&setting, None, &mut |_| told += 1);
        assert!(told >= 5);
        for part in [
            "95 %",
            "fio",
            "SLC cache fills",
            "not done",
            "scripts/accuracy",
        ] {
            assert!(page.contains(part), "{part} is not in\n{page}");
        }
        // A table's lines have as many cells as its head.
        let mut cells = None;
        for line in page.lines() {
            let found = line.starts_with('|').then(|| line.matches('|').count());
            if found.is_some() && cells.is_some() {
                assert_eq!(found, cells, "{line}");
            }
            cells = found;
        }
    }
}
