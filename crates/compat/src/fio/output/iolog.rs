//! The operations of a job written down for a replay: fio's I/O log, version 3
//! (`HOWTO`, "Trace file format v3").

use std::collections::BTreeSet;
use std::io::{self, Write};

use fathom_model::{OpKind, Operation, RunRecord, TrialRecord};

use super::gather::trial_of;
use super::view::{FioJob, FioView};

/// One list of operations.
#[derive(Debug, Clone)]
pub struct FioIoLog<'r> {
    name: String,
    job: &'r FioJob,
    trial: &'r TrialRecord,
}

/// The lists that the jobs asked for. Jobs that name the same file get one
/// each, with their number behind the name.
pub fn iologs<'r>(record: &'r RunRecord, view: &'r FioView) -> Vec<FioIoLog<'r>> {
    let of = |(name, job)| trial_of(job, record).map(|trial| FioIoLog { name, job, trial });
    named(view).into_iter().filter_map(of).collect()
}

/// The names that the lists of these jobs will have.
pub fn iolog_names(view: &FioView) -> Vec<String> {
    let names = named(view).into_iter();
    names.map(|(name, _)| name).collect()
}

fn named(view: &FioView) -> Vec<(String, &FioJob)> {
    let mut taken = BTreeSet::new();
    let mut named = Vec::new();
    for job in &view.jobs {
        let Some(name) = &job.logs.operations else {
            continue;
        };
        let name = match taken.insert(name.clone()) {
            true => name.clone(),
            false => format!("{name}.{}", job.number),
        };
        named.push((name, job));
    }
    named
}

impl FioIoLog<'_> {
    /// Name of the file, as the job gave it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Operations for which the log had no room.
    pub fn missed(&self) -> u64 {
        let end = self.trial.end.as_ref();
        end.map_or(0, |end| end.engine.unlogged_ops)
    }

    /// Writes the lines, in the order in which the operations began.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let all = self.trial.samples.iter().flat_map(|s| &s.operations);
        let mut operations: Vec<&Operation> = all.collect();
        operations.sort_by_key(|operation| operation.started_ns());
        let files: BTreeSet<u32> = operations.iter().map(|operation| operation.file).collect();
        let last_us = operations.iter().map(|o| o.ended_ns / 1000).max();
        writeln!(out, "fio version 3 iolog")?;
        for action in ["add", "open"] {
            for file in &files {
                writeln!(out, "0 {} {action}", self.file(*file))?;
            }
        }
        for operation in operations {
            let word = match operation.kind {
                OpKind::Sync | OpKind::Commit => "sync",
                kind => kind.name(),
            };
            let at_us = operation.started_ns() / 1000;
            let name = self.file(operation.file);
            let (offset, bytes) = (operation.offset_bytes, operation.bytes);
            writeln!(out, "{at_us} {name} {word} {offset} {bytes}")?;
        }
        for file in &files {
            writeln!(out, "{} {} close", last_us.unwrap_or(0), self.file(*file))?;
        }
        Ok(())
    }

    fn file(&self, number: u32) -> String {
        let named = self.trial.spec.workload.data_set.named.as_ref();
        match named.and_then(|named| named.paths.get(number as usize)) {
            Some(path) => path.display().to_string(),
            None => format!("{}.{}.{number}", self.job.name, self.job.number - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_record;
    use super::*;

    #[test]
    fn operations_are_written_in_the_order_in_which_they_began() {
        let mut record = test_record::run(vec![test_record::trial(0, false)]);
        let operation = |kind, offset_bytes, ended_ns, service_ns| Operation {
            kind,
            worker: 0,
            file: 0,
            bytes: 4096,
            offset_bytes,
            ended_ns,
            service_ns,
            submission_ns: 0,
        };
        let trial = record.trials.last_mut().unwrap();
        trial.samples.iter_mut().for_each(|s| s.operations.clear());
        trial.samples[0].operations = vec![
            operation(OpKind::Write, 8192, 9_000, 1_000),
            operation(OpKind::Read, 0, 10_000, 9_000),
        ];
        let mut job = FioJob::new("a", trial.spec.index);
        job.number = 1;
        job.logs.operations = Some("x.log".to_owned());
        let view = FioView {
            version: String::new(),
            global_options: Vec::new(),
            jobs: vec![job.clone(), FioJob { number: 2, ..job }],
        };
        let logs = iologs(&record, &view);
        let names: Vec<&str> = logs.iter().map(FioIoLog::name).collect();
        assert_eq!(names, ["x.log", "x.log.2"]);
        let mut text = Vec::new();
        logs[0].write(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let name = logs[0].file(0);
        assert_eq!(
            text,
            format!(
                "fio version 3 iolog\n0 {name} add\n0 {name} open\n1 {name} read 0 4096\n\
                 8 {name} write 8192 4096\n10 {name} close\n"
            )
        );
    }
}
