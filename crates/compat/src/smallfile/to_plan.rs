//! From what smallfile was asked to do to a plan.

use std::path::Path;

use fathom_model::workload::{EngineKind, FileSizes, MetaShare};
use fathom_model::{OpKind, Target};

use super::Smallfile;
use fathom_plan::Located;
use fathom_plan::Plan;
use fathom_plan::keys::{PauseKeys, PayloadKeys, PlanKeys, WorkloadKeys};
use fathom_plan::value::{
    Count, FileSizesValue, Name, OperationsValue, PathsChoice, Percent, Size, Switch, Targets,
    Time, VerifyChoice,
};
use fathom_plan::{Diagnostics, Problems, Source};
use fathom_plan::{Spelling, ToolOptions};

const KIB: u64 = 1024;
/// The longest record.
const MOST_RECORD_KIB: u64 = 1024;
/// An exponential size is limited to this many times its mean.
const LIMIT_FACTOR: u64 = 8;
/// Its pattern of 1,024 bytes, over and over, all but vanishes when compressed.
const COMPRESSES_PERCENT: u8 = 90;

fn some<T>(value: T) -> Option<Located<T>> {
    Some(Located::new(value))
}

/// How messages name the options of this tool.
const OPTIONS: ToolOptions = ToolOptions {
    keys: &[
        ("files", "--files"),
        ("numjobs", "--threads"),
        ("bs", "--record-size"),
        ("file_size", "--file-size"),
        ("size", "--file-size"),
        ("operation", "--operation"),
    ],
    pairs: &[],
};

impl Smallfile {
    /// KiB that one call moves.
    pub fn record_kib(&self) -> u64 {
        let asked = match self.record_size_kib {
            0 => self.file_size_kib,
            size => size,
        };
        asked.min(MOST_RECORD_KIB)
    }

    /// The plan for files in `top`; one workload, whose files stay.
    ///
    /// # Errors
    /// The operation has no workload (`cleanup`), or a value is
    /// out of its bounds.
    pub fn to_plan(&self, top: &Path) -> Result<Plan, Diagnostics> {
        let source = Source::new("command line", "");
        let mut problems = Problems::default();
        let Some(kind) = self.operation.kind() else {
            let message = format!("{} is not work on files", self.operation.name());
            problems.error("no_operation", None, message);
            return Err(problems.finish(&source));
        };
        let target = Target::Path(top.to_owned());
        let zero = || some(Time(0));
        let plan = PlanKeys {
            targets: some(Targets(vec![Located::new(target)])),
            iterations: some(Count(1)),
            keep_files: some(Switch(true)),
            pause: some(PauseKeys {
                floor: zero(),
                ceiling: zero(),
                until_quiet: some(Switch(false)),
            }),
            probe: some(Switch(false)),
            ..Plan::build("smallfile", vec![self.keys(kind)])
        };
        Plan::checked(plan, source, Spelling::Tool(&OPTIONS), problems)
    }

    fn keys(&self, kind: OpKind) -> WorkloadKeys {
        let on = |given: bool| given.then(|| Located::new(Switch(true)));
        let file_bytes = self.file_size_kib.saturating_mul(KIB);
        let sizes = match self.exponential {
            true => FileSizes::Exponential {
                mean_bytes: file_bytes,
                max_bytes: file_bytes.saturating_mul(LIMIT_FACTOR),
            },
            false => FileSizes::Fixed(file_bytes),
        };
        let record = self.record_kib().max(1) * KIB;
        let verifies = self.verify_read && matches!(kind, OpKind::ReadFile | OpKind::SwiftGet);
        let compresses = PayloadKeys {
            compress: some(Percent(COMPRESSES_PERCENT)),
            ..PayloadKeys::default()
        };
        WorkloadKeys {
            name: some(Name(format!("smallfile {}", self.operation.name()))),
            engine: some(EngineKind::Meta),
            operation: some(OperationsValue(vec![MetaShare { kind, weight: 1 }])),
            numjobs: some(Count(self.threads)),
            nrfiles: some(Count(self.files)),
            file_size: some(FileSizesValue(sizes)),
            record_size: some(Size(record)),
            append_size: (kind == OpKind::Append && file_bytes > 0)
                .then(|| Located::new(Size(file_bytes))),
            files_per_dir: some(Count(self.files_per_dir)),
            fan_out: some(Count(self.dirs_per_dir)),
            shared_dirs: on(self.same_dir),
            hashed_dirs: on(self.hash_into_dirs),
            // It names every file by its whole path.
            paths: some(PathsChoice::Whole),
            first_ends: on(self.stonewall && !self.finish),
            repeat: some(Switch(false)),
            fsync: self.fsync.then(|| Located::new(Count(1))),
            xattr_size: (self.xattr_size > 0).then(|| Located::new(Size(self.xattr_size))),
            xattr_count: (self.xattr_count > 0).then(|| Located::new(Count(self.xattr_count))),
            think_time: (self.pause_us > 0).then(|| Located::new(Time(self.pause_us * 1000))),
            verify: verifies.then(|| Located::new(VerifyChoice::OnRead)),
            payload: (!self.incompressible).then(|| Located::new(compresses)),
            ..WorkloadKeys::default()
        }
    }
}
