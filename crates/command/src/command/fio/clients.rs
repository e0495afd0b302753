//! `fathom fio --client=HOST`: jobs on other hosts, over the fleet.

use std::path::{Path, PathBuf};

use fathom_compat::fio::request::FioRun;
use fathom_fleet::{HostName, parse_hosts, parse_hosts_file};

use crate::command::hosts::HostArgs;
use crate::exit::CommandError;

/// Longest list of hosts.
const LIST_BYTES: u64 = 1 << 20;

/// The hosts of all `--client`: names as fio takes them (`host`, `ip:host`,
/// `ip6:host`, with `,port`), or files with one to a line.
pub(super) fn hosts(run: &FioRun) -> Result<HostArgs, CommandError> {
    let mut hosts: Vec<HostName> = Vec::new();
    for client in &run.clients {
        for host in of_client(client)? {
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
    }
    let fleet = run.fleet.as_ref().map(PathBuf::from);
    let launcher = run.launcher.as_deref();
    Ok(HostArgs::named(hosts, launcher, fleet, run.allow_missing)?)
}

fn of_client(client: &str) -> Result<Vec<HostName>, CommandError> {
    let option = format!("--client={client}");
    let path = Path::new(client);
    if fathom_deadline::paths::is_file(path) {
        let text = fathom_deadline::paths::read_text_soon(path, LIST_BYTES)
            .map_err(CommandError::about(&option))?;
        let lines: Vec<String> = text.lines().map(bare_name).collect();
        return parse_hosts_file(&lines.join("\n")).map_err(CommandError::about(&option));
    }
    if client.starts_with("sock:") {
        let problem = "agents are not reached through a socket of this host";
        return Err(CommandError::about(option)(problem));
    }
    parse_hosts(&bare_name(client)).map_err(CommandError::about(option))
}

/// A host without what tells fio how to reach its server.
fn bare_name(text: &str) -> String {
    let text = text.trim();
    let kinds = ["ip:", "ip4:", "ip6:"];
    let text = kinds
        .iter()
        .find_map(|kind| text.strip_prefix(kind))
        .unwrap_or(text);
    match text.rsplit_once(',') {
        Some((host, port)) if port.parse::<u16>().is_ok() => host.to_owned(),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_named_as_fio_names_them() {
        let names = |client: &str| -> Vec<String> {
            let hosts = of_client(client).unwrap();
            hosts.iter().map(ToString::to_string).collect()
        };
        assert_eq!(names("h1"), ["h1"]);
        assert_eq!(names("ip:10.0.0.1,8765"), ["10.0.0.1"]);
        assert_eq!(names("ip6:fe80::1"), ["fe80::1"]);
        assert_eq!(names("node[1-2]"), ["node1", "node2"]);
        let directory = tempfile::tempdir().unwrap();
        let list = directory.path().join("list");
        std::fs::write(&list, "h1\nip4:h2,8765\n\n").unwrap();
        assert_eq!(names(list.to_str().unwrap()), ["h1", "h2"]);
        let told = |client: &str| of_client(client).unwrap_err().to_string();
        assert!(told("sock:/tmp/x").contains("socket"));
        assert!(told("-oX").contains("not a host name"));
    }
}
