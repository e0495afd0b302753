//! The kinds of trouble, and how the figures of a case are drawn.
//!
//! Ranges are those in which a small machine can carry the mechanism: some
//! hundreds of operations a second, so that serving the drive takes no CPU to
//! speak of.

use fathom_lab::Wire;
use fathom_lab::application::{Application, BlockIo, Operation};
use fathom_model::diagnosis::{Answer, Shortage};
use fathom_model::rng::{Rng, derive_seed};

use super::case::{CaseStorage, DiagnosisCase, Setting, TARGET, Truth};
use super::figures::{SIZE, cores, flush_us, of_commits, pick, setting};
use super::programs;

type Draw = fn(&mut Rng) -> (String, Setting, Truth);

/// A family, and how a case of it is drawn.
const FAMILIES: [(&str, Draw); 24] = [
    ("volume with a cap", capped),
    ("CPU hog", cpu_hog),
    ("one thread bound by fsync", fsync_bound),
    ("healthy under load", healthy),
    ("neighbour on the same device", neighbour),
    ("wait for a file lock", file_lock),
    ("busy disk that limits nothing", busy_disk),
    ("control group with a limit", throttled),
    ("memory paged out to swap", swapping),
    ("network mount behind a slow link", slow_link),
    ("volume with a cap that is known", capped_as_known),
    ("idle", idle),
    ("disk at its end", disk_at_its_end),
    ("wait for a lock in memory", memory_lock),
    ("volume with a throughput cap", capped_in_bytes),
    ("CPU hog beside a busy disk", cpu_hog_and_disk),
    ("batches with room", batches),
    (
        "database that commits row by row",
        programs::database_that_commits,
    ),
    ("compilers", programs::compilers),
    (
        "backup beside a database",
        programs::backup_beside_a_database,
    ),
    ("mail spool", programs::mail_spool),
    (
        "copy to a volume with a throughput cap",
        programs::copy_to_a_capped_volume,
    ),
    (
        "queries of a database in memory",
        programs::database_in_memory,
    ),
    ("archive of small files", programs::archive_of_small_files),
];

/// Their names.
pub fn families() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().map(|(name, _)| *name)
}

/// Case number `number` of the exam of a seed: families take turns.
pub fn draw(seed: u64, number: u32, only: &str) -> Option<DiagnosisCase> {
    let chosen: Vec<&(&str, Draw)> = FAMILIES.iter().filter(|f| f.0.contains(only)).collect();
    let (family, draw) = chosen.get(number as usize % chosen.len().max(1))?;
    let mut rng = Rng::new(derive_seed(seed, u64::from(number)));
    let (figures, setting, truth) = draw(&mut rng);
    Some(DiagnosisCase {
        family,
        figures,
        setting,
        truth,
    })
}

/// One of them.
fn one_of<T: Copy>(rng: &mut Rng, all: &[T]) -> T {
    all[rng.below(all.len() as u64) as usize]
}

fn read_or_write(rng: &mut Rng) -> Operation {
    one_of(rng, &[Operation::Read, Operation::Write])
}

/// Threads at the target that want more now and less then.
fn changing(rng: &mut Rng, operation: Operation, block_bytes: u32) -> BlockIo {
    let most = pick(rng, 20, 36) as u32;
    // Quiet for two steps, then long and longer queues in turn.
    let active = vec![3, 3, most / 2, most, most / 2, most];
    BlockIo {
        path: TARGET.into(),
        operation,
        block_bytes,
        active,
        step_ms: pick(rng, 900, 1100),
        every_us: 0,
        batched_per_second: 0,
        seed: rng.next_u64(),
    }
}

/// Threads at the target that begin so many operations a second together,
/// whatever the device does.
fn paced(rng: &mut Rng, operation: Operation, threads: u32, per_second: u64) -> BlockIo {
    BlockIo {
        path: TARGET.into(),
        operation,
        block_bytes: 4096,
        active: vec![threads],
        step_ms: 1000,
        batched_per_second: 0,
        every_us: u64::from(threads) * 1_000_000 / per_second.max(1),
        seed: rng.next_u64(),
    }
}

fn drive(model: String, gives: f64) -> CaseStorage {
    CaseStorage::Drive { model, gives }
}

/// Something to do beside what is short, at the end of which no device is.
fn a_little_io(rng: &mut Rng) -> (CaseStorage, Application) {
    let io = paced(rng, Operation::Read, 1, 30);
    let place = drive(
        format!("cloud?iops=5000,mibs=500,latency_us=500,{SIZE}"),
        0.0,
    );
    (place, Application::BlockIo(io))
}

fn capped(rng: &mut Rng) -> (String, Setting, Truth) {
    let iops = pick(rng, 120, 600);
    let latency_us = pick(rng, 300, 1500);
    let operation = read_or_write(rng);
    let io = changing(
        rng,
        operation,
        one_of(&mut rng.clone(), &[4096, 8192, 16384]),
    );
    let figures = format!(
        "{iops} operations/s, {latency_us} µs, up to {} threads",
        io.active[3]
    );
    let model = format!("cloud?iops={iops},mibs=500,latency_us={latency_us},{SIZE}");
    let place = drive(model, iops as f64);
    (
        figures,
        setting(place, vec![Application::BlockIo(io)]),
        Truth::of(Answer::Yes, &[Shortage::VolumeCap]),
    )
}

fn capped_in_bytes(rng: &mut Rng) -> (String, Setting, Truth) {
    let mibs = pick(rng, 10, 40);
    let operation = read_or_write(rng);
    let io = changing(rng, operation, 65_536);
    let figures = format!(
        "{mibs} MiB/s, blocks of 64 KiB, up to {} threads",
        io.active[3]
    );
    let model = format!("cloud?iops=5000,mibs={mibs},latency_us=700,{SIZE}");
    let place = drive(model, mibs as f64 * 16.0);
    (
        figures,
        setting(place, vec![Application::BlockIo(io)]),
        Truth::of(Answer::Yes, &[Shortage::VolumeCap]),
    )
}

/// The user knows the limit of the volume, and the load is always the same.
fn capped_as_known(rng: &mut Rng) -> (String, Setting, Truth) {
    let iops = pick(rng, 120, 600);
    let threads = pick(rng, 4, 24) as u32;
    let mut io = changing(rng, Operation::Read, 4096);
    io.active = vec![threads];
    let place = drive(
        format!("cloud?iops={iops},mibs=500,latency_us=600,{SIZE}"),
        iops as f64,
    );
    let mut setting = setting(place, vec![Application::BlockIo(io)]);
    setting.options = vec![format!("--ceiling-iops={iops}")];
    (
        format!("{iops} operations/s, {threads} threads all the time"),
        setting,
        Truth::of(Answer::Yes, &[Shortage::VolumeCap, Shortage::Disk]),
    )
}

/// A flash drive of few units. How evenly it gives what it can is its own
/// matter: from the host a cap cannot be told from it.
fn disk_at_its_end(rng: &mut Rng) -> (String, Setting, Truth) {
    let units = pick(rng, 1, 2);
    let read_us = pick(rng, 2000, 5000);
    let io = changing(rng, Operation::Read, 4096);
    let figures = format!(
        "{units} units of {read_us} µs, up to {} threads",
        io.active[3]
    );
    let model = format!("ssd?units={units},read_us={read_us},tail=0.5,{SIZE}");
    let gives = units as f64 * 1e6 / read_us as f64;
    (
        figures,
        // Places are not spread evenly over its units.
        setting(drive(model, 0.6 * gives), vec![Application::BlockIo(io)]),
        Truth::of(Answer::Yes, &[Shortage::Disk, Shortage::VolumeCap]),
    )
}

/// The application asks little and waits for what another asks.
fn neighbour(rng: &mut Rng) -> (String, Setting, Truth) {
    let iops = pick(rng, 150, 500);
    let own = iops / pick(rng, 8, 20);
    let applications = vec![
        Application::BlockIo(paced(rng, Operation::Read, 1, own)),
        Application::BlockIo(changing(rng, Operation::Read, 16_384)),
    ];
    let model = format!("cloud?iops={iops},mibs=500,latency_us=600,{SIZE}");
    let mut truth = Truth::of(Answer::Yes, &[Shortage::VolumeCap, Shortage::Disk]);
    truth.names = Some(1);
    (
        format!("{iops} operations/s for both, {own} wanted by the application"),
        setting(drive(model, iops as f64), applications),
        truth,
    )
}

fn throttled(rng: &mut Rng) -> (String, Setting, Truth) {
    let iops = pick(rng, 60, 300);
    let operation = read_or_write(rng);
    let io = changing(rng, operation, 4096);
    let model = format!("cloud?iops=5000,mibs=500,latency_us=500,{SIZE}");
    let figures = format!("{iops} operations/s, up to {} threads", io.active[3]);
    (
        figures,
        setting(
            CaseStorage::Throttled { model, iops },
            vec![Application::BlockIo(io)],
        ),
        Truth::of(Answer::Yes, &[Shortage::VolumeCap]),
    )
}

fn cpu_hog(rng: &mut Rng) -> (String, Setting, Truth) {
    let threads = cores() * pick(rng, 2, 4) as u32;
    let (place, little) = a_little_io(rng);
    (
        format!("{threads} threads on {} CPUs", cores()),
        setting(place, vec![Application::Compute { threads }, little]),
        Truth::of(Answer::No, &[Shortage::CpuQueue]),
    )
}

/// A device that is busy all the time, and has room, beside the hog.
fn cpu_hog_and_disk(rng: &mut Rng) -> (String, Setting, Truth) {
    let threads = cores() * pick(rng, 2, 4) as u32;
    let latency_us = pick(rng, 2000, 6000);
    let mut io = changing(rng, Operation::Read, 4096);
    io.active = vec![1];
    let model = format!("ideal?latency_us={latency_us},parallel=32,{SIZE}");
    let applications = vec![Application::Compute { threads }, Application::BlockIo(io)];
    (
        format!(
            "{threads} threads on {} CPUs, one reader of {latency_us} µs",
            cores()
        ),
        setting(drive(model, 0.0), applications),
        Truth::of(Answer::No, &[Shortage::CpuQueue]),
    )
}

fn swapping(rng: &mut Rng) -> (String, Setting, Truth) {
    let mib = pick(rng, 24, 64);
    let touch = Application::Touch {
        bytes: mib << 20,
        page_out: true,
        pause_ms: pick(rng, 20, 200),
    };
    (
        format!("{mib} MiB out and back in"),
        setting(CaseStorage::Swap(128 << 20), vec![touch]),
        Truth::of(Answer::No, &[Shortage::Memory]),
    )
}

fn fsync_bound(rng: &mut Rng) -> (String, Setting, Truth) {
    let latency_us = flush_us(rng, 2000, 9000);
    let mut io = changing(rng, Operation::WriteAndSync, 4096);
    io.active = vec![1];
    let model = format!("ideal?latency_us={latency_us},parallel=32,{SIZE}");
    (
        format!("{latency_us} µs for each write and each flush"),
        setting(drive(model, 0.0), vec![Application::BlockIo(io)]),
        of_commits(latency_us),
    )
}

fn slow_link(rng: &mut Rng) -> (String, Setting, Truth) {
    let mbit = pick(rng, 10, 60);
    let delay_ms = pick(rng, 1, 5);
    let wire = Wire {
        delay_ns: delay_ms * 1_000_000,
        loss: 0.0,
        rate_bits: Some(mbit * 1_000_000),
    };
    let mut io = changing(rng, Operation::Read, 131_072);
    io.active = vec![pick(rng, 8, 16) as u32];
    (
        format!("{mbit} Mbit/s, {delay_ms} ms each way"),
        setting(CaseStorage::Mount(wire), vec![Application::BlockIo(io)]),
        Truth::of(Answer::No, &[Shortage::Network]),
    )
}

fn file_lock(rng: &mut Rng) -> (String, Setting, Truth) {
    let (threads, hold_ms) = (pick(rng, 4, 16) as u32, pick(rng, 5, 80));
    let lock = Application::Lock {
        file: Some(TARGET.into()),
        threads,
        hold_ms,
    };
    (
        format!("{threads} threads, each keeps it for {hold_ms} ms"),
        setting(CaseStorage::Folder, vec![lock]),
        Truth::of(Answer::No, &[Shortage::Lock]),
    )
}

/// From outside, threads that wait for a lock in memory are threads that sleep.
fn memory_lock(rng: &mut Rng) -> (String, Setting, Truth) {
    let (threads, hold_ms) = (pick(rng, 4, 16) as u32, pick(rng, 5, 80));
    let (place, little) = a_little_io(rng);
    let lock = Application::Lock {
        file: None,
        threads,
        hold_ms,
    };
    (
        format!("{threads} threads, each keeps it for {hold_ms} ms"),
        setting(place, vec![lock, little]),
        Truth::of(Answer::No, &[Shortage::Lock, Shortage::Nothing]),
    )
}

/// Many short operations: the kernel counts nearly every tick as busy.
fn busy_disk(rng: &mut Rng) -> (String, Setting, Truth) {
    let latency_us = pick(rng, 150, 300);
    let per_second = pick(rng, 400, 800);
    let operation = read_or_write(rng);
    let io = paced(rng, operation, 2, per_second);
    let model = format!("ideal?latency_us={latency_us},parallel=32,{SIZE}");
    (
        format!("{per_second} operations/s of {latency_us} µs"),
        setting(drive(model, 0.0), vec![Application::BlockIo(io)]),
        Truth::of(Answer::No, &[Shortage::Nothing]),
    )
}

/// A third to a half of what the volume can give, with CPUs half in use.
fn healthy(rng: &mut Rng) -> (String, Setting, Truth) {
    let iops = pick(rng, 800, 1500);
    let share = pick(rng, 20, 45);
    let latency_us = pick(rng, 300, 800);
    let per_second = iops * share / 100;
    let mut io = paced(rng, Operation::Read, 8, per_second);
    // Demand comes and goes.
    io.active = vec![8, 4, 6, 2, 8];
    let model = format!("cloud?iops={iops},mibs=500,latency_us={latency_us},{SIZE}");
    (
        format!("up to {per_second} of {iops} operations/s of {latency_us} µs"),
        setting(drive(model, 0.0), vec![Application::BlockIo(io)]),
        Truth::of(Answer::No, &[Shortage::Nothing]),
    )
}

/// An even pace in batches of changing size: the queue grows and the rate stays,
/// as at a cap, and the volume is empty most of the time. The user knows its
/// limit.
fn batches(rng: &mut Rng) -> (String, Setting, Truth) {
    let iops = pick(rng, 2500, 5000);
    let per_second = pick(rng, 200, 400);
    let most = pick(rng, 80, 160) as u32;
    let mut io = changing(rng, Operation::Read, 4096);
    io.active = vec![10, most / 2, most, most / 3];
    io.step_ms *= 2;
    io.batched_per_second = per_second;
    let model = format!("cloud?iops={iops},mibs=500,latency_us=500,{SIZE}");
    let mut setting = setting(drive(model, 0.0), vec![Application::BlockIo(io)]);
    setting.options = vec![format!("--ceiling-iops={iops}")];
    (
        format!("{per_second} of {iops} operations/s, up to {most} at once"),
        setting,
        Truth::of(Answer::No, &[Shortage::Nothing]),
    )
}

fn idle(_: &mut Rng) -> (String, Setting, Truth) {
    (
        "nothing runs".to_owned(),
        setting(CaseStorage::Nowhere, Vec::new()),
        Truth::of(Answer::No, &[Shortage::Nothing]),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thirty_cases_hold_every_family_and_the_seed_draws_them() {
        let all = |seed| -> Vec<DiagnosisCase> {
            (0..30)
                .filter_map(|number| draw(seed, number, ""))
                .collect()
        };
        let cases = all(1);
        assert_eq!(cases.len(), 30);
        for family in families() {
            assert!(cases.iter().any(|case| case.family == family), "{family}");
        }
        let figures = |cases: &[DiagnosisCase]| -> Vec<String> {
            cases.iter().map(|case| case.figures.clone()).collect()
        };
        assert_eq!(figures(&cases), figures(&all(1)));
        assert_ne!(figures(&cases), figures(&all(2)));
    }

    #[test]
    fn families_are_chosen_by_name() {
        let of_locks = (0..4).filter_map(|number| draw(1, number, "lock"));
        let names: Vec<&str> = of_locks.map(|case| case.family).collect();
        assert_eq!(names[0], names[2]);
        assert_ne!(names[0], names[1]);
        assert!(draw(1, 0, "no such thing").is_none());
    }

    #[test]
    fn no_system_that_is_not_disk_bound_may_be_answered_with_yes() {
        for number in 0..64 {
            let case = draw(3, number, "").expect("a case");
            // Commits one by one are the storage's where its flushes are slow.
            if case.truth.limiters == [Shortage::OneByOne] {
                continue;
            }
            let storage = [Shortage::Disk, Shortage::VolumeCap];
            let of_storage = case.truth.limiters.iter().all(|l| storage.contains(l));
            assert_eq!(
                case.truth.answer == Answer::Yes,
                of_storage,
                "{}",
                case.family
            );
        }
    }
}
