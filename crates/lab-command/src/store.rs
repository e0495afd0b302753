//! `fathom-lab s3`: an object store in memory, with faults by script.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::thread::sleep;

use anyhow::Context;
use clap::Args;
use fathom_console::{Exit, admit, complain, write_file, write_stderr, write_stdout};
use fathom_outputs::Mark;
use fathom_s3::{Script, StoreServer};

use crate::signals::{LOOK, Signals};

/// Serve an object store in memory, to try fathom or any other tool on.
///
/// Speaks enough of S3 for measuring (objects, ranges, listings, batch deletes,
/// uploads in parts, copies, tags, checksums) and plain PUT, GET and DELETE besides. It
/// checks no keys, so it listens on this host alone unless told otherwise. A
/// script makes some requests slow or fail: METHOD:ACTION@EVERY, where METHOD
/// is GET, PUT, HEAD, DELETE, POST or LIST, and ACTION is delay=20ms, a status,
/// close, truncate, corrupt, hang=5s, drip=100ms, pretend (removals are confirmed
/// and not done), forget (what is put is confirmed and not kept), shorten (half of
/// it is kept), other-range and whole-object (instead of the part that was asked
/// for), no-tag, or what is wrong with listings, such as ignore-prefix or
/// endless (docs/guide/objects.md).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom-lab s3
  fathom-lab s3 --listen 127.0.0.1:9000 --script GET:delay=20ms@100,PUT:503@50
  fathom-lab s3 --tls /tmp/ca.pem
  fathom-lab s3 -- sh -c 'fathom s3 put s3://b/p --endpoint http://$ADDRESS --anonymous'")]
pub(crate) struct Store {
    /// Where it listens; port 0 is any that is free.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// What is done to which requests.
    #[arg(long, value_name = "RULES", default_value = "")]
    pub(crate) script: String,
    /// Speak TLS 1.3, with an authority made for this server. Its certificate is
    /// written to this file, for --ca-file.
    #[arg(long, value_name = "FILE")]
    pub(crate) tls: Option<PathBuf>,
    /// Keep the versions of objects, in every bucket.
    #[arg(long)]
    pub(crate) versions: bool,
    /// Memory for objects at most.
    #[arg(long, value_name = "SIZE", default_value = "1g", value_parser = fathom_model::unit::parse_bytes)]
    pub(crate) keep_at_most: u64,
    /// Write the address to this file once it is served.
    #[arg(long, value_name = "FILE")]
    pub(crate) address_file: Option<PathBuf>,
    /// Serve while this command runs, with ADDRESS and ENDPOINT in its environment.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// Stands above the certificate of an authority that fathom made.
const AUTHORITY: &str = "fathom-lab s3: the authority of a server in memory";

fn start(store: &Store, script: Script) -> anyhow::Result<StoreServer> {
    let what = || format!("cannot listen on {}", store.listen);
    let Some(file) = &store.tls else {
        return StoreServer::start(store.listen, store.keep_at_most, script).with_context(what);
    };
    let identity = fathom_lab::server_identity(store.listen.ip())?;
    let text = format!("{AUTHORITY}\n{}", identity.authority_pem);
    write_file(file, Mark::Line(AUTHORITY), &text)?;
    let pair = (vec![identity.certificate_der], identity.key_der);
    StoreServer::start_tls(store.listen, store.keep_at_most, script, pair).with_context(what)
}

pub(crate) fn serve(store: &Store) -> anyhow::Result<Exit> {
    let script = match Script::parse(&store.script) {
        Ok(script) => script,
        Err(message) => {
            complain(&message.to_string());
            return Ok(Exit::Usage);
        }
    };
    if let Some(file) = &store.address_file {
        admit(file, Mark::Address)?;
    }
    let signals = Signals::listen()?;
    let server = start(store, script)?;
    if store.versions {
        server.keep_versions();
    }
    let address = server.address();
    let endpoint = server.endpoint();
    if let Some(file) = &store.address_file {
        write_file(file, Mark::Address, &format!("{address}\n"))?;
    }
    let trust = match &store.tls {
        Some(file) => format!(" --ca-file {}", file.display()),
        None => String::new(),
    };
    let Some((program, words)) = store.command.split_first() else {
        write_stdout(&format!(
            "an object store in memory is served at\n  {endpoint}\n\nTry:\n  \
             fathom s3 mixed s3://bucket/try --endpoint {endpoint}{trust} --anonymous \
             --runtime 5s\n\n\
             Ctrl-C ends it.\n"
        ))?;
        while signals.count() == 0 {
            sleep(LOOK);
        }
        write_stderr(&format!("{} requests were answered\n", server.requests()));
        return Ok(Exit::Success);
    };
    let mut child = std::process::Command::new(program)
        .args(words)
        .env("ADDRESS", address.to_string())
        .env("ENDPOINT", endpoint)
        .spawn()
        .with_context(|| format!("cannot run {}", program.display()))?;
    let status = child.wait().context("cannot wait for the command")?;
    Ok(Exit::of_command(status))
}
