//! One command to a QEMU program over its machine protocol: a greeting, the
//! negotiation, then a line of JSON each way.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::Error;

const NAME: &str = "qemu-storage-daemon";
const PATIENCE: Duration = Duration::from_secs(10);

/// Executes `command` on the server at `socket`.
pub(super) fn execute(socket: &Path, command: &str, arguments: &Value) -> Result<(), Error> {
    let stream = UnixStream::connect(socket).map_err(Error::io("connect to", socket))?;
    stream
        .set_read_timeout(Some(PATIENCE))
        .map_err(Error::io("use", socket))?;
    let mut writer = stream.try_clone().map_err(Error::io("use", socket))?;
    let mut lines = BufReader::new(stream).lines();
    let mut next = || -> Result<Value, Error> {
        let line = lines.next().and_then(Result::ok).unwrap_or_default();
        serde_json::from_str(&line)
            .map_err(|error| Error::program(NAME, format!("answered '{line}': {error}")))
    };
    let greeting = next()?;
    if greeting.get("QMP").is_none() {
        return Err(Error::program(NAME, format!("greeted with {greeting}")));
    }
    for request in [
        json!({"execute": "qmp_capabilities"}),
        json!({"execute": command, "arguments": arguments}),
    ] {
        writeln!(writer, "{request}").map_err(Error::io("write to", socket))?;
        let answer = loop {
            let answer = next()?;
            // Events may come between.
            if answer.get("event").is_none() {
                break answer;
            }
        };
        if answer.get("return").is_none() {
            return Err(Error::program(NAME, format!("{command}: {answer}")));
        }
    }
    Ok(())
}
