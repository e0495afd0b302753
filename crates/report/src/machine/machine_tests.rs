use fathom_model::machine::{MachineLink, MachineNode, ResourceUse};

use super::*;

fn example() -> MachineUse {
    let figure = |title: &str, value: f64, unit: &str, beyond: bool| UseFigure {
        quantity: title.to_owned(),
        title: title.to_owned(),
        value: Some(value),
        unit: unit.to_owned(),
        how: "read somewhere".to_owned(),
        threshold: beyond.then_some(10.0),
        source: Some("a source".to_owned()),
        beyond,
        ..UseFigure::default()
    };
    let node =
        |name: &str, kind: &str, above: Option<&str>, link: Option<MachineLink>| MachineNode {
            name: name.to_owned(),
            kind: kind.to_owned(),
            label: format!("a {kind}"),
            above: above.map(str::to_owned),
            link,
        };
    let link = MachineLink {
        kind: "pcie".to_owned(),
        now: Some("8.0 GT/s x2".to_owned()),
        bits_per_second: Some(15.75e9),
        most: Some("8.0 GT/s x4".to_owned()),
        below_rated: true,
        narrowest: true,
        used: Some(0.25),
        ..MachineLink::default()
    };
    MachineUse {
        host: "node1".to_owned(),
        seconds: 5.0,
        resources: vec![ResourceUse {
            kind: "disk".to_owned(),
            name: "nvme0n1".to_owned(),
            utilisation: vec![figure("operations", 1234.0, "1/s", false)],
            saturation: vec![figure("queue", 12.0, "requests", true)],
            errors: vec![figure("errors", 0.0, "1/s", false)],
        }],
        picture: vec![
            node("socket 0", "socket", None, None),
            node("0000:01:00.0", "adapter", Some("socket 0"), Some(link)),
            node("nvme0n1", "disk", Some("0000:01:00.0"), None),
        ],
        ..MachineUse::default()
    }
}

#[test]
fn the_table_names_what_is_beyond_and_the_picture_what_was_trained_down() {
    insta::assert_snapshot!(text(&example(), 80, false));
    let how = text(&example(), 80, true);
    assert!(how.contains("disk operations: read somewhere"), "{how}");
}

#[test]
fn the_page_has_the_picture_and_nothing_from_outside() {
    let page = html(&example(), &PageMoment::default()).unwrap();
    assert!(page.contains("TRAINED DOWN"));
    let part = "<li style=\"--wide:7.3px\" class=\"down\"><div class=\"part\"><b>0000:01:00.0</b>";
    assert!(page.contains(part), "{page}");
    assert!(page.contains("Made 1970-01-01 00:00:00 UTC"));
    // Style and script are our own, and stand in the page.
    let (body, script) = page.split_once("<script>").unwrap();
    let (_, body) = body.split_once("</style>").unwrap();
    assert!(!body.contains("src=") && !body.contains("<link") && !body.contains("http"));
    assert_eq!(script.matches("<script").count(), 0);
}

#[test]
fn a_picture_that_bites_its_tail_ends() {
    let mut odd = example();
    odd.picture[0].above = Some("nvme0n1".to_owned());
    odd.picture.push(MachineNode {
        name: "x".to_owned(),
        above: Some("x".to_owned()),
        ..MachineNode::default()
    });
    assert!(html(&odd, &PageMoment::default()).is_ok());
    assert!(text(&odd, 80, false).len() < 10_000);
}

#[test]
fn counts_are_exact_and_many_queues_are_cut() {
    let figure = |title: &str, value: f64, unit: &str| UseFigure {
        title: title.to_owned(),
        value: Some(value),
        unit: unit.to_owned(),
        ..UseFigure::default()
    };
    let queue = |number: usize| ResourceUse {
        kind: "queue".to_owned(),
        name: format!("eth0 rx-{number}"),
        utilisation: vec![figure("interrupts", 5.0, "1/s")],
        ..ResourceUse::default()
    };
    let mut found = MachineUse {
        resources: vec![ResourceUse {
            kind: "disk".to_owned(),
            name: "sda".to_owned(),
            errors: vec![figure("replaced", 1288.0, "sectors")],
            ..ResourceUse::default()
        }],
        notes: vec!["SMART of sdb: asleep".to_owned()],
        ..MachineUse::default()
    };
    found.resources.extend((0..20).map(queue));
    let shown = text(&found, 80, false);
    assert!(shown.contains("replaced 1,288\n"), "{shown}");
    assert!(
        shown.contains("eth0 rx-7") && !shown.contains("eth0 rx-8"),
        "{shown}"
    );
    assert!(
        shown.contains("and 12 more queues (--json has all)"),
        "{shown}"
    );
    assert!(
        shown.contains("Remarks:\n  - SMART of sdb: asleep"),
        "{shown}"
    );
}
