//! Applications that others wrote, on storage whose figures are known.

use fathom_lab::application::{Application, Program};
use fathom_model::diagnosis::{Answer, Shortage};
use fathom_model::rng::Rng;

use super::case::{CaseStorage, Setting, TARGET, Truth};
use super::figures::{SIZE, cores, flush_us, of_commits, pick, setting};

/// A program of Python, with an argument.
fn python(text: &str, argument: u64) -> Application {
    program(
        "python3",
        ["-c".to_owned(), text.to_owned(), argument.to_string()],
    )
}

/// A program of the shell, with an argument.
fn shell(text: &str, argument: u64) -> Application {
    let [flag, name] = ["-c", "sh"].map(str::to_owned);
    program("sh", [flag, text.to_owned(), name, argument.to_string()])
}

fn program<const N: usize>(name: &str, arguments: [String; N]) -> Application {
    Application::Program(Program {
        name: name.to_owned(),
        arguments: arguments.into(),
        folder: TARGET.into(),
    })
}

/// A volume that answers each operation in a given time, many at once.
fn of_latency(latency_us: u64) -> CaseStorage {
    let model = format!("ideal?latency_us={latency_us},parallel=32,{SIZE}");
    CaseStorage::Volume { model }
}

fn one_by_one(latency_us: u64, program: Application, truth: Truth) -> (String, Setting, Truth) {
    (
        format!("{latency_us} µs for each operation"),
        setting(of_latency(latency_us), vec![program]),
        truth,
    )
}

/// Each commit waits for the one before.
pub(super) fn database_that_commits(rng: &mut Rng) -> (String, Setting, Truth) {
    let latency_us = flush_us(rng, 2000, 7000);
    let program = python(include_str!("commits.py"), 1);
    one_by_one(latency_us, program, of_commits(latency_us))
}

pub(super) fn mail_spool(rng: &mut Rng) -> (String, Setting, Truth) {
    let latency_us = flush_us(rng, 2000, 7000);
    let program = python(include_str!("spool.py"), 1);
    one_by_one(latency_us, program, of_commits(latency_us))
}

/// One file after the other is read.
pub(super) fn archive_of_small_files(rng: &mut Rng) -> (String, Setting, Truth) {
    let truth = Truth::of(Answer::No, &[Shortage::OneByOne]);
    let program = shell(include_str!("archive.sh"), 1);
    one_by_one(pick(rng, 3000, 8000), program, truth)
}

/// Storage has no part in it: everything is in memory.
fn for_the_cpus(threads: u64, program: Application) -> (String, Setting, Truth) {
    (
        format!("{threads} processes on {} CPUs", cores()),
        setting(CaseStorage::Memory, vec![program]),
        Truth::of(Answer::No, &[Shortage::CpuQueue]),
    )
}

pub(super) fn compilers(rng: &mut Rng) -> (String, Setting, Truth) {
    let threads = u64::from(cores()) * pick(rng, 2, 4);
    for_the_cpus(threads, shell(include_str!("compile.sh"), threads))
}

pub(super) fn database_in_memory(rng: &mut Rng) -> (String, Setting, Truth) {
    let threads = u64::from(cores()) * pick(rng, 2, 4);
    for_the_cpus(threads, python(include_str!("queries.py"), threads))
}

/// The database waits behind what the backup reads.
pub(super) fn backup_beside_a_database(rng: &mut Rng) -> (String, Setting, Truth) {
    let iops = pick(rng, 200, 500);
    let streams = pick(rng, 5, 10);
    let model = format!("cloud?iops={iops},mibs=500,latency_us=600,{SIZE}");
    let mut truth = Truth::of(Answer::Yes, &[Shortage::VolumeCap, Shortage::Disk]);
    truth.names_program = Some("dd");
    let applications = vec![
        shell(include_str!("backup.sh"), streams),
        python(include_str!("commits.py"), 1),
    ];
    (
        format!("{iops} operations/s, {streams} streams"),
        setting(CaseStorage::Volume { model }, applications),
        truth,
    )
}

/// One copy, with more than the volume passes.
pub(super) fn copy_to_a_capped_volume(rng: &mut Rng) -> (String, Setting, Truth) {
    let mibs = pick(rng, 10, 40);
    let model = format!("cloud?iops=5000,mibs={mibs},latency_us=700,{SIZE}");
    (
        format!("{mibs} MiB/s, blocks of 1 MiB"),
        setting(
            CaseStorage::Volume { model },
            vec![shell(include_str!("copy.sh"), 1)],
        ),
        Truth::of(Answer::Yes, &[Shortage::VolumeCap, Shortage::Disk]),
    )
}
