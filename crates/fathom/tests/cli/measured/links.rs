//! Shaped links of network namespaces.

use std::process::Stdio;

use serde_json::Value;

use super::{expect_mostly, near};
use crate::net::{Hosts, Served, in_namespace, json, sh};

#[test]
#[ignore = "measured: `scripts/run-tests measured` runs it alone"]
fn a_limited_link_is_measured_and_named_and_agrees_with_iperf3() {
    let Some(hosts) = Hosts::new('l', 2) else {
        return;
    };
    // So slow that the bucket outlasts the moments in which a busy machine sends nothing.
    if !(hosts.shape(0, "50mbit") && hosts.shape(1, "50mbit")) {
        println!("skipped: no token bucket filter here");
        return;
    }
    let _served = hosts.serve(1);
    expect_mostly("the limit of a link", || the_limit_is_named(&hosts));
    expect_mostly("fathom beside iperf3", || agrees_with_iperf3(&hosts));
}

fn the_limit_is_named(hosts: &Hosts) -> Result<(), String> {
    let report = json(&hosts.run(0, &["net", &hosts.address(1), "-t", "3", "--json"]));
    let limits = report["limits"].as_array().unwrap();
    assert_eq!(limits.len(), 2);
    assert_eq!(report["mtu"]["path_mtu_bytes"], 9000);
    let wrong = limits.iter().find(|limit| {
        let wire = limit[1]["wire_bits"].as_f64().unwrap_or(0.0);
        limit[1]["kind"] != "rate_limit" || (wire / 50e6 - 1.0).abs() >= 0.03
    });
    wrong.map_or(Ok(()), |limit| Err(limit.to_string()))
}

fn agrees_with_iperf3(hosts: &Hosts) -> Result<(), String> {
    let address = hosts.address(1);
    let one = json(&hosts.run(0, &["net", &address, "-t", "3", "--format", "iperf3"]));
    let ours = one["end"]["sum_received"]["bits_per_second"].as_f64();
    let ours = ours.unwrap();
    let Some(theirs) = rate_of_iperf3(hosts) else {
        println!("skipped: iperf3 is not installed");
        return Ok(());
    };
    near("bit/s beside iperf3", ours, theirs, 0.03)
}

fn rate_of_iperf3(hosts: &Hosts) -> Option<f64> {
    let mut server = in_namespace(&hosts.name(1), "iperf3")
        .args(["-s", "-1"])
        .stdout(Stdio::null())
        .spawn()
        .ok()?;
    // The server says nothing when it listens; the client is tried until it does.
    let theirs = (0..50).find_map(|_| {
        let mut client = in_namespace(&hosts.name(0), "iperf3");
        client.args(["-c", &hosts.address(1), "-J", "-t", "3", "-O", "1"]);
        let output = client.output().ok()?;
        let found: Value = serde_json::from_slice(&output.stdout).ok()?;
        let rate = found["end"]["sum_received"]["bits_per_second"].as_f64();
        if rate.is_none() {
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        rate
    });
    let _ = server.kill();
    let _ = server.wait();
    theirs
}

#[test]
#[ignore = "measured: `scripts/run-tests measured` runs it alone"]
fn the_bad_link_among_twelve_is_found() {
    let Some(hosts) = Hosts::new('x', 4) else {
        return;
    };
    let all = (0..4).all(|host| hosts.shape(host, "20mbit"));
    // What the second host sends to the third is held at less than half.
    let (from, to) = (1, 2);
    let slow = format!(
        "ip netns exec {} nft 'add table inet t; add chain inet t c {{ type filter hook input \
         priority 0; }}; add rule inet t c ip saddr {} limit rate over 500 kbytes/second drop'",
        hosts.name(to),
        hosts.address(from)
    );
    if !(all && sh(&slow)) {
        println!("skipped: no token bucket filter or no nftables here");
        return;
    }
    let served: Vec<Served> = (0..4).map(|host| hosts.serve(host)).collect();
    let addresses: Vec<String> = (0..4).map(|host| hosts.address(host)).collect();
    let mut arguments: Vec<&str> = vec!["net"];
    arguments.extend(addresses.iter().map(String::as_str));
    arguments.extend(["--mode", "alone", "-t", "1", "-O", "0", "--json"]);
    expect_mostly("one bad link among twelve", || {
        let report = json(&hosts.run(0, &arguments));
        assert_eq!(report["rounds"][0]["cells"].as_array().unwrap().len(), 12);
        let links = report["outliers"]["links"].as_array().unwrap();
        match &links[..] {
            [link] if link["from"] == from && link["to"] == to => Ok(()),
            _ => Err(report["outliers"].to_string()),
        }
    });
    drop(served);
}
