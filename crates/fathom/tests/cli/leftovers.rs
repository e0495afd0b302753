//! What agents leave when they are killed, and how it is found again.

use crate::bench::{Bench, finish};
use crate::fleet::{agents, eventually, fleet, has_files, io, test_files};

#[test]
fn what_a_killed_agent_left_is_found_on_its_host_and_from_afar() {
    let bench = Bench::new();
    let mut agents = agents(&bench, 2);
    let run = io(&bench, &agents, 20, &[]).spawn().unwrap();
    eventually("the load", || test_files(&bench) == 2);
    agents[1].signal("KILL");
    finish(run).expect_status(1);
    assert_eq!(test_files(&bench), 1, "those of the other are gone");
    // On its host: the store of the agents lies beside that of the bench.
    let listed = bench.fathom(["clean"]);
    listed.expect_status(0);
    let left = bench.data_files();
    for path in &left {
        assert!(
            listed.stdout.contains(path.to_str().unwrap()),
            "{}",
            listed.stdout
        );
    }
    // From afar: another agent of that host answers.
    agents.truncate(1);
    let host = agents[0].host.clone();
    let clean = |more: &[&str]| {
        let mut command = bench.command(["clean", "--launcher", "static", "--hosts", &host]);
        command
            .args(more)
            .env("FATHOM_FLEET", bench.path().join("fleet"));
        finish(command.spawn().unwrap())
    };
    let listed = clean(&[]);
    listed.expect_status(0);
    assert!(
        listed
            .stdout
            .contains(&format!("{host}: {}", left[0].display())),
        "{}",
        listed.stdout
    );
    assert!(
        listed.stdout.contains("--yes removes them"),
        "{}",
        listed.stdout
    );
    let removed = clean(&["--yes"]);
    removed.expect_status(0);
    assert!(removed.stdout.contains("removed"), "{}", removed.stdout);
    assert!(!has_files(&bench), "{:?}", bench.data_files());
    let again = clean(&[]);
    assert!(
        again.stdout.contains("nothing to clean"),
        "{}",
        again.stdout
    );
    fleet(
        &bench,
        &["status", "--launcher", "static", "--hosts", &host],
    )
    .expect_status(0);
}
