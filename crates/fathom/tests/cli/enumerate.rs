//! `fathom enumerate`: how listing scales.

use crate::bench::Bench;

#[test]
fn listings_grow_with_their_entries_and_leave_nothing_behind() {
    let bench = Bench::new();
    let args = ["enumerate", "data", "--sizes", "200,1000,3000,9000"];
    let (output, result) = bench.json(args);
    output.expect_measured();
    let found = &result["enumeration"];
    let points = found["points"].as_array().unwrap();
    assert_eq!(points.len(), 8);
    for (at, point) in points.iter().enumerate() {
        let kind = if at < 4 { "readdir" } else { "readdir_stat" };
        assert_eq!(point["kind"], kind);
        assert_eq!(point["entries"], [200, 1000, 3000, 9000][at % 4]);
        assert!(point["listings"].as_u64().unwrap() >= 3);
        assert!(point["listing_ns"]["value"].as_f64().unwrap() > 0.0);
    }
    for growth in found["growth"].as_array().unwrap() {
        assert_eq!(growth["points"], 3, "the smallest directory is left out");
        assert!(growth["exponent"]["value"].as_f64().unwrap() > 0.0);
        assert!(growth["exponent"]["low"].as_f64().is_some());
    }
    assert!(bench.data_files().is_empty(), "{:?}", bench.data_files());
    let shown = bench.fathom(["runs", "show", "latest"]);
    for word in ["names alone", "names and facts", "9,000", "an entry"] {
        assert!(shown.stdout.contains(word), "{word}:\n{}", shown.stdout);
    }
    let markdown = bench.fathom(["runs", "show", "latest", "--markdown"]);
    let row = "| names alone | 9,000 |";
    assert!(markdown.stdout.contains(row), "{}", markdown.stdout);
    let page = bench.fathom(["report", "latest", "--output", "-"]).stdout;
    for part in [
        "<h2 id=\"study\">Listing</h2>",
        "<th scope=\"row\">names and facts</th><td class=\"n\">9,000</td>",
        ">Names alone: time grows with entries",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn what_cannot_be_listed_is_refused() {
    let bench = Bench::new();
    let told = |args: &[&str]| {
        let output = bench.fathom(args);
        output.expect_status(2);
        output.stderr.clone()
    };
    assert!(told(&["enumerate", "nowhere"]).contains("not a directory"));
    assert!(told(&["enumerate", "null:"]).contains("not a directory"));
    assert!(told(&["enumerate", "data", "--sizes", "0"]).contains("from 1"));
}

/// The lookups of two profiles that were taken on a server.
#[test]
fn two_profiles_of_gluster_tell_the_lookups_in_between() {
    let fixtures = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../observe/tests/fixtures/gluster"
    );
    let path = |name: &str| format!("{fixtures}/{name}");
    let bench = Bench::new();
    let (before, after) = (path("idle.txt"), path("after-create.txt"));
    let output = bench.fathom(["gluster", &before, &after, "--operations", "600"]);
    output.expect_status(0);
    assert!(
        output.stdout.contains(" LOOKUPs at 4 bricks"),
        "{}",
        output.stdout
    );
    assert!(output.stdout.contains("for each of 600 operations"));
    assert!(output.stdout.contains("features.cache-invalidation on"));
    assert!(output.stdout.contains("Caveats: "));
    assert!(
        output
            .stdout
            .contains("performance.cache-samba-metadata on   (where Samba serves the volume)")
    );
    assert!(!output.stdout.contains("may already keep"));
    let info = bench.path().join("info.txt");
    let options = "Volume Name: gv0\nType: Replicate\nOptions Reconfigured:\n\
                   performance.cache-samba-metadata: on\nfeatures.cache-invalidation: on\n\
                   performance.md-cache-timeout: 1\n";
    std::fs::write(&info, options).unwrap();
    let told = bench.fathom([
        "gluster",
        &before,
        &after,
        "--operations",
        "600",
        "--info",
        info.to_str().unwrap(),
    ]);
    told.expect_status(0);
    assert!(
        told.stdout.contains(
            "may already keep what they looked up: features.cache-invalidation on, \
             performance.cache-samba-metadata on."
        ),
        "{}",
        told.stdout
    );
    assert!(
        !told
            .stdout
            .contains("set VOLUME features.cache-invalidation on")
    );
    assert!(told.stdout.contains("performance.md-cache-timeout 600"));
    let xml = path("cumulative.xml");
    let unit = bench.fathom(["gluster", &xml]);
    unit.expect_status(2).expect_in_stderr("--version");
    let (old, new) = (
        bench.json(["gluster", &xml, "--version", "9"]).1,
        bench.json(["gluster", &xml, "--version", "10"]).1,
    );
    let time =
        |result: &serde_json::Value| result["bricks"][0]["calls"][0]["time_ns"].as_f64().unwrap();
    assert!((time(&old) / time(&new) - 1000.0).abs() < 1e-6);
    bench
        .fathom(["gluster", &path("not-started.txt")])
        .expect_status(2);
}
