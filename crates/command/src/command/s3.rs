//! `fathom s3`: requests to an object store.

use clap::Args;
use fathom_model::Target;
use fathom_plan::{HostModeArgs, ObjectsFlags, PlanFlags};

use crate::command::hosts::HostArgs;
use crate::command::run::execute_plan_on;
use crate::exit::{CommandError, Exit};
use crate::output_flags::Output;
use crate::present;

/// Measure an object store.
///
/// Works below a prefix of its own (fathom-…/) in the bucket, changes and
/// removes only what it made there, and refuses the root of a bucket that
/// holds anything else. What a mode reads is made first, outside of what is
/// measured. Connections are made before the load begins; connecting, TLS,
/// the first byte, the transfer and the whole request are measured apart.
///
/// Modes: get, put, delete (batches), list, stat, mixed, versioned, multipart
/// (objects read in parts), multipart-put, range, delete-one, copy, versions,
/// put-version, get-version, head-version, delete-version (the bucket keeps
/// versions, as for versioned), put-tags, get-tags, retention (the bucket has
/// object lock).
///
/// Keys come from the environment (AWS_ACCESS_KEY_ID and so on), from
/// ~/.aws/credentials or from --credentials-file, never from the command line.
/// An endpoint can have keys of its own, named by where they are found.
#[derive(Debug, Args)]
#[command(mut_arg(fathom_plan::RUNTIME, |arg| arg.visible_alias("for").alias("seconds")))]
#[command(after_help = "\
Examples:
  fathom s3 put s3://bench/try --endpoint http://127.0.0.1:7070 --object-size 4k
  fathom s3 get s3://bench/try --endpoint http://a:9000,http://b:9000 \\
      --object-size 1m --numjobs 4 --iodepth 16 --runtime 60s
  fathom s3 mixed s3://bench/try --objects 10k --object-size log2:1m --retries 3
  fathom s3 get s3://bench/try \\
      --endpoint http://a:9000=profile:one,http://b:9000=env:TWO
                                      Each endpoint with keys of its own
  fathom s3 versioned s3://bench/try --versions 3 --runtime 30s
  fathom s3 put s3://bench/try --checksum crc32c --checksum-trailing
  fathom s3 get s3://archive/2024 --existing          What is there, in place
  fathom s3 get s3://bench/try --hosts node[01-04]    On four hosts at the same time
  fathom s3 get null: --object-size 4k --iodepth 8    What the client itself can do
  fathom clean s3://bench/try --yes                   What a killed run left behind")]
pub(crate) struct S3 {
    /// What is done.
    #[arg(value_name = "MODE")]
    pub(crate) mode: String,
    /// A bucket, with a prefix or without: s3://BUCKET/PREFIX.
    #[arg(value_name = "TARGET")]
    pub(crate) target: String,
    /// Not an option here; people who know other clients type it.
    #[arg(long, hide = true, value_name = "NAME", value_parser = bucket_is_target)]
    bucket: Option<String>,
    #[command(flatten)]
    pub(crate) flags: ObjectsFlags,
    #[command(flatten)]
    pub(crate) plan: PlanFlags,
    #[command(flatten)]
    pub(crate) hosts: HostArgs,
    #[command(flatten)]
    pub(crate) host_mode: HostModeArgs,
    #[command(flatten)]
    pub(crate) output: Output,
}

pub(crate) fn run(s3: S3) -> anyhow::Result<Exit> {
    let target: Target = s3.target.parse().map_err(CommandError::usage)?;
    if !matches!(target, Target::Bucket(_) | Target::Null) {
        let problem =
            format!("'{target}' is not a bucket\nhelp: name one, for example s3://bucket/prefix");
        return Err(CommandError::Usage(problem).into());
    }
    let plan = s3
        .flags
        .to_plan(target, &s3.mode)
        .and_then(|plan| s3.plan.apply(&plan))
        .and_then(|plan| s3.host_mode.apply(plan));
    let plan = plan.map_err(|problems| CommandError::plan(problems, s3.output.format.color))?;
    if !plan.warnings().is_empty() {
        let color = present::use_color(s3.output.format.color, &std::io::stderr());
        present::write_styled_stderr(&plan.warnings().render(color));
    }
    execute_plan_on(&s3.hosts, plan, s3.output)
}

fn bucket_is_target(name: &str) -> Result<String, String> {
    Err(format!("name the bucket as the target: s3://{name}/PREFIX"))
}
