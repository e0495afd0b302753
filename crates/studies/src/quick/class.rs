//! What the storage is good for, in one sentence: its reads beside the figures that
//! makers publish for classes of storage. The figures are rules (`class` in
//! `fathom_rules`), so `fathom explain class-sata-ssd` names their sources.

use fathom_model::judged::{OpSummary, ResultRow};
use fathom_model::workload::OpMix;
use fathom_model::{JudgedRun, Limiter, OpKind, Target, Validity, unit};
use fathom_rules::{Rule, class};

use super::sheet;

/// A class with its published figures.
struct Class {
    rule: &'static Rule,
    /// With its article: `a SATA SSD`.
    name: &'static str,
    sequential_read: f64,
    random_read: f64,
    /// Not published for every class.
    single_read: Option<f64>,
    /// What storage is for that reaches this class and exceeds it in part; that of the
    /// class where it is the same.
    use_above: Option<&'static str>,
}

/// The classes, the slowest first.
const CLASSES: [Class; 3] = [
    Class {
        rule: class::CLASS_HARD_DISK,
        name: "a hard disk",
        sequential_read: class::class_hard_disk::SEQUENTIAL_READ,
        random_read: class::class_hard_disk::RANDOM_READ,
        single_read: None,
        use_above: Some(
            "Count the IOPS that databases and virtual machines need before they move there",
        ),
    },
    Class {
        rule: class::CLASS_SATA_SSD,
        name: "a SATA SSD",
        sequential_read: class::class_sata_ssd::SEQUENTIAL_READ,
        random_read: class::class_sata_ssd::RANDOM_READ,
        single_read: Some(class::class_sata_ssd::SINGLE_READ),
        use_above: None,
    },
    Class {
        rule: class::CLASS_NVME_SSD,
        name: "an NVMe SSD",
        sequential_read: class::class_nvme_ssd::SEQUENTIAL_READ,
        random_read: class::class_nvme_ssd::RANDOM_READ,
        single_read: Some(class::class_nvme_ssd::SINGLE_READ),
        use_above: None,
    },
];

/// What was measured of what is published, of rows that can be believed.
#[derive(Debug, Default)]
struct Measured {
    /// MB/s.
    sequential_read: Option<f64>,
    /// IOPS with many in flight.
    random_read: Option<f64>,
    /// IOPS with one in flight.
    single_read: Option<f64>,
    /// MB/s of the slowest row of large writes.
    sequential_write: Option<f64>,
    /// Commits per second.
    commits: Option<f64>,
    /// The generator's CPU set one of the figures: the storage may do more.
    is_least: bool,
    /// Durable writes were tried, and gave no figure that can be believed.
    commits_failed: bool,
}

/// A measured figure beside the published one.
struct Beside {
    what: &'static str,
    unit: &'static str,
    measured: f64,
    published: f64,
}

/// What the storage is good for, the answer first; nothing where too little of it
/// was measured or can be believed.
pub(super) fn answers(run: &JudgedRun) -> Vec<String> {
    let measured = Measured::of(run);
    if measured.sequential_read.is_none() || measured.random_read.is_none() {
        return Vec::new();
    }
    if measured.is_beyond_drives() {
        return vec![
            "Reads faster than any drive: look whether they reach the storage at all".to_owned(),
        ];
    }
    let mut answers = match measured.cloud_baseline() {
        Some(answer) => vec![answer],
        None => measured.class_answers(),
    };
    if measured.commits_failed {
        // What it is good for is open without them.
        let likeness = likeness(&answers);
        answers = vec![NO_COMMITS.to_owned()];
        answers.extend(likeness);
    }
    let slow = measured.slow_writes();
    if !slow.is_empty() {
        answers = with_slow_writes(&answers, &slow);
    }
    if !run.trials.iter().any(|trial| trial.workload.mix.modifies()) {
        answers.push(
            "Writes were not measured: what a database or a mail server waits for is open"
                .to_owned(),
        );
    }
    answers
}

/// What it is like, without what it is good for.
fn likeness(answers: &[String]) -> Vec<String> {
    let likeness = answers
        .iter()
        .filter_map(|answer| answer.split(". ").next());
    likeness.map(str::to_owned).collect()
}

/// What reads are like decides nothing for who waits for slow writes.
fn with_slow_writes(answers: &[String], slow: &[String]) -> Vec<String> {
    let slow = slow.join(", and ");
    let mut likeness = likeness(answers);
    match likeness.first_mut() {
        Some(first) => {
            let and = if first.starts_with("Reads") {
                ", but "
            } else {
                "; "
            };
            first.push_str(&format!("{and}{slow}"));
        }
        None => {
            let mut letters = slow.chars();
            let first = letters.next().map(char::to_uppercase).into_iter().flatten();
            likeness.push(first.chain(letters).collect());
        }
    }
    likeness
}

/// What databases, mail and virtual machines wait for is then not known.
const NO_COMMITS: &str = "Durable writes gave no figure that can be believed: settle that before \
                          databases move there";

/// Whether a row measured storage: the null target does nothing, and what stays in memory
/// is lost with it.
fn is_storage(row: &ResultRow) -> bool {
    row.target != Target::Null && row.verdict.limiter != Limiter::Memory
}

fn is_durable(run: &JudgedRun, row: &ResultRow) -> bool {
    let mut trials = row.trials.iter().filter_map(|at| run.trials.get(*at));
    trials.any(|trial| sheet::is_durable(&trial.workload))
}

impl Measured {
    fn of(run: &JudgedRun) -> Measured {
        let mut measured = Measured::default();
        for row in &run.rows {
            // A row of a second target would mix two systems.
            let is_first = run
                .rows
                .first()
                .is_some_and(|first| first.target == row.target);
            let is_trusted = row.verdict.validity != Validity::NotTrusted;
            if is_first && is_storage(row) && is_trusted {
                measured.take(run, row);
            }
            measured.commits_failed |= is_first && !is_trusted && is_durable(run, row);
        }
        measured
    }

    fn take(&mut self, run: &JudgedRun, row: &ResultRow) {
        let mut trials = row.trials.iter().filter_map(|at| run.trials.get(*at));
        let Some(workload) = trials.next().map(|trial| &trial.workload) else {
            return;
        };
        if workload.rate.is_some() {
            return;
        }
        let rate = |kinds: &[OpKind], of: fn(&OpSummary) -> Option<f64>| {
            let mut ops = row.ops.iter().filter(|op| kinds.contains(&op.kind));
            ops.find_map(of)
        };
        if sheet::is_durable(workload) {
            self.commits = rate(&[OpKind::Commit], |op| op.ops_per_second.value);
            return;
        }
        let name = sheet::sheet_name(workload);
        if workload.mix == OpMix::WRITE && name.as_deref().is_some_and(|n| n.starts_with("SEQ1M")) {
            let slowest = rate(&[OpKind::Write], |op| op.bytes_per_second.value);
            let slowest = slowest.map(|bytes_per_second| bytes_per_second / 1e6);
            let slowest = self.sequential_write.into_iter().chain(slowest);
            self.sequential_write = slowest.reduce(f64::min);
            return;
        }
        let name = name.filter(|_| workload.mix == OpMix::READ);
        let place = match name.as_deref() {
            Some("SEQ1M Q8T1") => &mut self.sequential_read,
            Some("RND4K Q32T1") => &mut self.random_read,
            Some("RND4K Q1T1") => &mut self.single_read,
            _ => return,
        };
        *place = match name.as_deref() {
            Some("SEQ1M Q8T1") => rate(&[OpKind::Read], |op| op.bytes_per_second.value)
                // Megabytes, as data sheets have them.
                .map(|bytes_per_second| bytes_per_second / 1e6),
            _ => rate(&[OpKind::Read], |op| op.ops_per_second.value),
        };
        self.is_least |= row.verdict.limiter == Limiter::GeneratorCpu;
    }

    /// The figures that a class publishes and this measured.
    fn beside(&self, class: &Class) -> Vec<Beside> {
        let figures = [
            (
                "sequential reads",
                "MB/s",
                self.sequential_read,
                Some(class.sequential_read),
            ),
            (
                "random reads at depth 32",
                "IOPS",
                self.random_read,
                Some(class.random_read),
            ),
            (
                "random reads one at a time",
                "IOPS",
                self.single_read,
                class.single_read,
            ),
        ];
        let both = figures
            .into_iter()
            .filter_map(|(what, unit, measured, published)| {
                Some(Beside {
                    what,
                    unit,
                    measured: measured?,
                    published: published?,
                })
            });
        both.collect()
    }

    /// The highest class that every figure reaches, and what keeps it from the next.
    fn class_answers(&self) -> Vec<String> {
        let reaches = |class: &&Class| self.beside(class).iter().all(Beside::reaches);
        let reached = CLASSES.iter().take_while(reaches).count();
        let class = reached.checked_sub(1).and_then(|at| CLASSES.get(at));
        let next = CLASSES.get(reached).and_then(|next| self.short_of(next));
        match (class, next) {
            // More than the lower class has in one figure, less than the higher one in
            // another: neither name alone would do.
            (Some(class), Some(short)) if !self.is_least && self.exceeds(class) => {
                vec![between(class, &short)]
            }
            (class, next) => {
                let is_above = |class| next.is_some() && self.exceeds(class);
                let like = class.map(|class| like(class, self.is_least || is_above(class)));
                like.into_iter().chain(next.iter().map(slower)).collect()
            }
        }
    }

    /// What is furthest below a class.
    fn short_of(&self, class: &Class) -> Option<Short> {
        let figures = self.beside(class).into_iter();
        let figure = figures.min_by(|a, b| a.share().total_cmp(&b.share()))?;
        Some(Short {
            class: class.name,
            figure,
        })
    }

    /// Whether a figure is many times that of the fastest class.
    fn is_beyond_drives(&self) -> bool {
        let beyond = |figure: &Beside| figure.share() > class::class_of_storage::BEYOND_DRIVES;
        let fastest = CLASSES.last();
        fastest.is_some_and(|class| self.beside(class).iter().any(beyond))
    }

    fn exceeds(&self, class: &Class) -> bool {
        self.beside(class).iter().any(Beside::exceeds)
    }

    /// Where the rate is the one that cloud volumes come with.
    fn cloud_baseline(&self) -> Option<String> {
        let baseline = class::class_cloud_baseline::BASELINE;
        let near = class::CLASS_CLOUD_BASELINE.threshold?;
        let random_read = self.random_read?;
        let is_near = (random_read / baseline - 1.0).abs() <= near;
        let use_of = class::CLASS_CLOUD_BASELINE.remedy.trim_end_matches('.');
        is_near.then(|| {
            format!(
                "Random reads run at the baseline of general purpose cloud volumes ({} IOPS). {use_of}",
                unit::count(baseline)
            )
        })
    }

    /// What writes keep storage from, whatever its reads do.
    fn slow_writes(&self) -> Vec<String> {
        let commits = self.slow_commits();
        commits.into_iter().chain(self.slow_sequence()).collect()
    }

    /// Commits that wait for a platter, or for longer than reads like these let expect.
    fn slow_commits(&self) -> Option<String> {
        let platter = class::class_hard_disk::COMMITS;
        let commits = self.commits?;
        let reads_fast = CLASSES.last().is_some_and(|fastest| {
            let figures = self.beside(fastest);
            !figures.is_empty() && figures.iter().all(Beside::reaches)
        });
        if commits <= platter {
            Some(format!(
                "commits are as slow as a hard disk's ({} per second): databases will wait for them",
                unit::count(commits)
            ))
        } else if reads_fast && commits < class::class_of_storage::BUSY_COMMITS {
            Some(format!(
                "one commit takes {} ({} per second): busy databases will wait for them",
                unit::latency(1e9 / commits),
                unit::count(commits)
            ))
        } else {
            None
        }
    }

    /// Large writes that are slower than those of a hard disk, and than the reads.
    fn slow_sequence(&self) -> Option<String> {
        let least = class::CLASS_OF_STORAGE.threshold?;
        let published = class::class_hard_disk::SEQUENTIAL_READ;
        let (writes, reads) = (self.sequential_write?, self.sequential_read?);
        (writes < least * published && writes < least * reads).then(|| {
            format!(
                "large writes are slower than a hard disk's ({} of {} MB/s): backups and copies to it \
                 will take long",
                unit::count(writes),
                unit::count(published)
            )
        })
    }
}

/// The figure that keeps storage from a class.
struct Short {
    class: &'static str,
    figure: Beside,
}

fn use_of(class: &Class) -> &'static str {
    class.rule.remedy.trim_end_matches('.')
}

fn like(class: &Class, is_least: bool) -> String {
    let least = if is_least { " at least" } else { "" };
    format!("Reads{least} like {}. {}", class.name, use_of(class))
}

fn slower(short: &Short) -> String {
    let figure = &short.figure;
    format!(
        "Slower than {} in {}: {} of {} {} published for one",
        short.class,
        figure.what,
        unit::count(figure.measured),
        unit::count(figure.published),
        figure.unit
    )
}

fn between(class: &Class, short: &Short) -> String {
    let figure = &short.figure;
    format!(
        "Reads faster than {}, but slower than {} in {} ({} of the {} {} published for one). {}",
        class.name,
        short.class,
        figure.what,
        unit::count(figure.measured),
        unit::count(figure.published),
        figure.unit,
        class.use_above.unwrap_or_else(|| use_of(class))
    )
}

impl Beside {
    fn share(&self) -> f64 {
        self.measured / self.published
    }

    fn reaches(&self) -> bool {
        class::CLASS_OF_STORAGE
            .threshold
            .is_some_and(|least| self.share() >= least)
    }

    /// As far above the published figure as one that reaches it may be below.
    fn exceeds(&self) -> bool {
        class::CLASS_OF_STORAGE
            .threshold
            .is_some_and(|least| self.share() * least > 1.0)
    }
}

#[cfg(test)]
#[path = "class_tests.rs"]
mod tests;
