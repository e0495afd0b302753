//! Networks between the hosts of a fleet: their agents serve for the time.

use super::{Net, NetFormat, matrix};
use crate::exit::{CommandError, Exit};
use crate::present;

/// All pairs of the hosts.
pub(super) fn run(net: &Net, format: NetFormat) -> anyhow::Result<Exit> {
    if format == NetFormat::Iperf3 {
        let problem = "iperf3 has no form for more than two hosts; name one host";
        return Err(CommandError::usage(problem).into());
    }
    let fleet = net
        .agents
        .gather(&fathom_model::Schedule::nothing("network"))?;
    for missing in fleet.missing() {
        present::complain(&format!("going on without {missing}"));
    }
    let hosts = fleet.serve_network();
    let hosts = hosts.map_err(|refused| anyhow::anyhow!("{refused}"))?;
    if hosts.len() < 2 {
        let problem = "a network has two hosts at least; to measure from here, name one HOST";
        return Err(CommandError::usage(problem).into());
    }
    // The agents serve as long as the fleet lives.
    let exit = matrix::run(net, &hosts, format);
    drop(fleet);
    exit
}
