use std::path::Path;

use proptest::prelude::*;

use super::*;

fn fixture(name: &str) -> String {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/gluster");
    std::fs::read_to_string(directory.join(name)).unwrap()
}

fn calls(stats: &GlusterStats, name: &str) -> u64 {
    stats.operations.get(name).map_or(0, |one| one.calls)
}

#[test]
fn a_real_profile_is_read_to_the_last_number() {
    let profile = parse_gluster_profile_text(&fixture("after-create.txt")).unwrap();
    assert_eq!(profile.bricks.len(), 4);
    let brick = &profile.bricks[0];
    assert_eq!(brick.name, "10.77.0.1:/srv/lab/gl/b1");
    let stats = brick.cumulative.as_ref().unwrap();
    assert_eq!((stats.duration_s, stats.written_bytes), (36, 4_816_896));
    assert_eq!(
        stats.blocks[&16384],
        GlusterBlocks {
            reads: 0,
            writes: 294
        }
    );
    let lookup = stats.operations["LOOKUP"];
    assert_eq!(lookup.calls, 382);
    assert!((lookup.mean_ns - 148_576.92).abs() < 0.01);
    assert_eq!((lookup.min_ns, lookup.max_ns), (22_723.0, 5_405_108.0));
    assert_eq!(stats.operations["RELEASE"].mean_ns, 0.0);
    let interval = brick.interval.as_ref().unwrap();
    assert_eq!(calls(interval, "LOOKUP"), 379);
    assert_eq!(interval.duration_s, 33);
}

#[test]
fn text_and_xml_of_the_same_moment_agree() {
    for name in ["cumulative", "idle", "after-clear"] {
        let text = parse_gluster_profile_text(&fixture(&format!("{name}.txt"))).unwrap();
        let unit = GlusterUnit::of_version(10);
        let xml = parse_gluster_profile_xml(&fixture(&format!("{name}.xml")), unit).unwrap();
        assert_eq!(text.bricks.len(), xml.bricks.len(), "{name}");
        for (text, xml) in text.bricks.iter().zip(&xml.bricks) {
            assert_eq!(text.name, xml.name);
            let (Some(text), Some(xml)) = (&text.cumulative, &xml.cumulative) else {
                panic!("{name}: both are cumulative");
            };
            // The moments are a little apart: what was looked at in between
            // can only have grown.
            for (operation, in_xml) in &xml.operations {
                let in_text = text.operations[operation];
                assert!(in_text.calls <= in_xml.calls + 50, "{name} {operation}");
                assert!(in_xml.mean_ns >= 1000.0, "{name} {operation}: nanoseconds");
            }
            assert!(!xml.operations.contains_key("RELEASE"));
        }
    }
}

#[test]
fn older_versions_count_in_microseconds() {
    let old = "Brick: gprfs018:/t4\n-------------------\nCumulative Stats:\n\
        \x20%-latency   Avg-latency   Min-Latency   Max-Latency   No. of calls         Fop\n\
        \x20---------   -----------   -----------   -----------   ------------        ----\n\
        \x20    93.29     386.48 us     100.00 us    2622.00 us          20997      LOOKUP\n";
    let profile = parse_gluster_profile_text(old).unwrap();
    let stats = profile.bricks[0].cumulative.as_ref().unwrap();
    let lookup = stats.operations["LOOKUP"];
    assert_eq!((lookup.calls, lookup.mean_ns), (20_997, 386_480.0));
    assert_eq!(GlusterUnit::of_version(9), GlusterUnit::Microseconds);
    let old = GlusterUnit::of_version(9);
    let new = GlusterUnit::of_version(11);
    let xml = fixture("cumulative.xml");
    let of = |unit| {
        let profile = parse_gluster_profile_xml(&xml, unit).unwrap();
        let stats = profile.bricks[0].cumulative.clone().unwrap();
        stats.operations["LOOKUP"].mean_ns
    };
    assert_eq!(of(old), 1000.0 * of(new));
}

#[test]
fn an_upcall_does_not_take_the_place_of_an_operation() {
    let xml = "<cliOutput><opErrstr/><volProfile><brick><brickName>h:/a&amp;b</brickName>\
        <cumulativeStats><fopStats>\
        <fop><name>MKNOD</name><hits>5</hits><avgLatency>7.0</avgLatency></fop>\
        <fop><name>MKNOD</name><hits>99</hits><avgLatency>0.0</avgLatency></fop>\
        </fopStats></cumulativeStats></brick></volProfile></cliOutput>";
    let profile = parse_gluster_profile_xml(xml, GlusterUnit::Nanoseconds).unwrap();
    assert_eq!(profile.bricks[0].name, "h:/a&b");
    let stats = profile.bricks[0].cumulative.as_ref().unwrap();
    assert_eq!(calls(stats, "MKNOD"), 5);
}

#[test]
fn what_is_no_profile_says_so() {
    let told = parse_gluster_profile_text(&fixture("not-started.txt")).unwrap_err();
    let told = told.to_string();
    assert!(told.contains("is not started"), "{told}");
    assert!(parse_gluster_profile_text("").is_err());
    let xml = "<cliOutput><opErrstr>Volume x does not exist</opErrstr></cliOutput>";
    let told = parse_gluster_profile_xml(xml, GlusterUnit::Nanoseconds).unwrap_err();
    assert_eq!(told.to_string(), "Volume x does not exist");
}

#[test]
fn bricks_of_three_hosts_are_told_apart() {
    let profile = parse_gluster_profile_text(&fixture("three-hosts.txt")).unwrap();
    let names: std::collections::BTreeSet<&str> = profile
        .bricks
        .iter()
        .map(|brick| brick.name.as_str())
        .collect();
    assert_eq!(names.len(), profile.bricks.len());
    assert!(names.len() >= 3, "{names:?}");
}

#[test]
fn a_volume_has_its_bricks_tiers_and_changed_options() {
    let volume = parse_gluster_volume(&fixture("volume-info.txt"));
    assert_eq!(volume.kind, "Distributed-Replicate");
    assert_eq!(volume.bricks.len(), 4);
    assert_eq!(volume.bricks[3].0, "10.77.0.1:/srv/lab/gl/b4");
    let option = ("performance.client-io-threads".to_owned(), "off".to_owned());
    assert!(volume.options.contains(&option));
    let tiered = parse_gluster_volume(
        "Type: Tier\nHot Tier :\nHot Tier Type : Replicate\nNumber of Bricks: 1 x 2 = 2\n\
         Brick1: h1:/hot\nCold Tier:\nCold Tier Type : Disperse\nBrick2: h1:/cold (arbiter)\n",
    );
    assert_eq!(
        volume_tiers(&tiered),
        [("h1:/hot", "hot"), ("h1:/cold", "cold")]
    );
}

fn volume_tiers(volume: &GlusterVolume) -> Vec<(&str, &str)> {
    let bricks = volume.bricks.iter();
    bricks
        .map(|(name, tier)| (name.as_str(), tier.as_deref().unwrap_or_default()))
        .collect()
}

#[test]
fn the_volume_follows_from_the_source_of_the_mount() {
    let of = |source: &str| reader::volume_of(source);
    assert_eq!(of("10.0.0.1:/gv0").as_deref(), Some("gv0"));
    assert_eq!(of("10.0.0.1:gv0/folder").as_deref(), Some("gv0"));
    assert_eq!(of("[::1]:/gv-1").as_deref(), Some("gv-1"));
    assert_eq!(of("h:/--remote-host=x"), None);
    assert_eq!(of("/dev/sda1"), None);
}

fn look(text: &str) -> GlusterLook {
    GlusterLook {
        volume: "gv0".to_owned(),
        layout: parse_gluster_volume(&fixture("volume-info.txt")),
        profile: parse_gluster_profile_text(text).map_err(|error| error.to_string()),
    }
}

#[test]
fn what_happened_in_between_is_the_difference() {
    let (before, after) = (
        look(&fixture("idle.txt")),
        look(&fixture("after-create.txt")),
    );
    let used = gluster_use(Some(before.clone()), Some(after.clone())).unwrap();
    assert_eq!(used.bricks.len(), 4);
    let of = |look: &GlusterLook, brick: usize| {
        let profile = look.profile.as_ref().unwrap();
        calls(profile.bricks[brick].cumulative.as_ref().unwrap(), "LOOKUP")
    };
    for (at, brick) in used.bricks.iter().enumerate() {
        assert_eq!(brick.calls_of("LOOKUP"), of(&after, at) - of(&before, at));
    }
    let backwards = gluster_use(Some(after.clone()), Some(before)).unwrap();
    assert!(
        backwards.notes[0].contains("began anew"),
        "{:?}",
        backwards.notes
    );
    let silent = gluster_use(Some(look("")), Some(after)).unwrap();
    assert!(silent.bricks.is_empty() && silent.notes.len() == 1);
    assert_eq!(gluster_use(None, None), None);
}

proptest! {
    #[test]
    fn no_text_breaks_a_reader(text in any::<String>(), cut in any::<prop::sample::Index>()) {
        let _ = parse_gluster_profile_text(&text);
        let _ = parse_gluster_profile_xml(&text, GlusterUnit::Nanoseconds);
        let _ = parse_gluster_volume(&text);
        for name in ["after-create.txt", "cumulative.xml"] {
            let whole = fixture(name);
            let cut = whole.get(..cut.index(whole.len())).unwrap_or_default();
            let _ = parse_gluster_profile_text(cut);
            let _ = parse_gluster_profile_xml(cut, GlusterUnit::Microseconds);
        }
    }
}
