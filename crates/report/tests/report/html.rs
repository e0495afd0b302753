//! The HTML file as text.

use fathom_report::html::{render, summary_page};

use crate::synthetic;

#[test]
fn the_file_needs_nothing_else() {
    let page = render(&synthetic::quick_caveats()).unwrap();
    for outside in ["http://", "https://", "src=", "@import", "url("] {
        let allowed = match outside {
            // The SVG name space, and the clip paths that the script makes.
            "http://" => page.matches("http://www.w3.org/2000/svg").count(),
            "url(" => page.matches("url(#").count(),
            _ => 0,
        };
        assert_eq!(page.matches(outside).count(), allowed, "{outside}");
    }
    assert!(page.starts_with("<!doctype html>"), "{}", &page[..80]);
}

#[test]
fn the_three_questions_come_first_and_apart() {
    let page = render(&synthetic::quick_caveats()).unwrap();
    let order = [
        "<h1>",
        "class=\"key-figure\"",
        "class=\"meaning\"",
        "Validity: is it true?",
        "trusted with caveats",
        "Limiter: what set it?",
        ">Overview<",
        ">Results<",
        "DURABLE 4K",
        ">Trials<",
        ">Checks<",
        "fathom explain V03",
        ">Host and target<",
        ">Plan<",
    ];
    let mut from = 0;
    for part in order {
        let at = page[from..].find(part);
        assert!(at.is_some(), "{part} is missing or out of order");
        from += at.unwrap();
    }
}

#[test]
fn names_cannot_become_markup() {
    let page = render(&synthetic::hostile()).unwrap();
    assert!(!page.contains("<script>alert"));
    assert!(page.contains("&#60;script&#62;alert"));
    let own = ["<script>(() => {", "<script>/*"];
    let scripts = page.matches("<script").count();
    let data = page.matches("<script type=\"application/json\">").count();
    assert_eq!(
        scripts - data,
        1,
        "only one script, the page's own: {own:?}"
    );
    // The plan may not end its box.
    assert_eq!(page.matches("</pre>").count(), 1);
}

#[test]
fn names_cannot_move_what_stands_around_them() {
    let mut run = synthetic::quick_caveats();
    run.run.name = "a\u{1b}[31m\u{202e}b".to_owned();
    run.trials[0].label = "c\u{202e}d\u{9b}".to_owned();
    let page = render(&run).unwrap();
    let csv = fathom_report::csv::render(&run);
    let markdown = fathom_report::markdown::render(&run);
    for text in [page, csv, markdown] {
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{9b}']));
        assert!(text.contains("a?"), "the name is shown without them");
    }
}

#[test]
fn every_chart_names_itself_its_axes_and_its_data() {
    let page = render(&synthetic::open_loop_lag()).unwrap();
    let charts: Vec<&str> = page.split("<figure class=\"chart ").skip(1).collect();
    // Operations, throughput twice, CPU, and for reads and for writes: percentiles, heat
    // map, distribution, curve.
    assert_eq!(charts.len(), 4 + 2 * 4);
    for chart in charts {
        let chart = chart.split("</figure>").next().unwrap();
        assert!(chart.contains("role=\"img\" aria-label=\""));
        assert!(chart.contains("class=\"ax\"") && chart.contains("class=\"ay\""));
        let data = chart.split("application/json\">").nth(1).unwrap();
        let data = data.split("</script>").next().unwrap();
        serde_json::from_str::<serde_json::Value>(data).unwrap();
    }
    assert!(page.contains("warm-up"));
    assert!(page.contains("Read response latency"));
}

#[test]
fn an_hour_stays_small_and_keeps_its_stall() {
    let run = synthetic::long_run(3600);
    let page = render(&run).unwrap();
    assert!(page.len() < 2 << 20, "{} bytes", page.len());
    let throughput = page.split("<figure class=\"chart time\">").nth(1).unwrap();
    let data = throughput.split("application/json\">").nth(1).unwrap();
    let data = data.split("</script>").next().unwrap();
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    let of = |key: &str| {
        let values = data["s"][0][key].as_array().unwrap().iter();
        values.filter_map(serde_json::Value::as_f64)
    };
    let lowest = of("lo").fold(f64::MAX, f64::min);
    let highest = of("hi").fold(0.0, f64::max);
    assert!(lowest < highest / 100.0, "{lowest} {highest}");
    assert!(of("hi").count() <= 600);
}

#[test]
fn a_thousand_trials_stay_bounded() {
    let mut run = synthetic::errors();
    let trial = run.trials[0].clone();
    run.trials = (0..1000)
        .map(|index| {
            let mut trial = trial.clone();
            trial.index = index;
            trial
        })
        .collect();
    let page = render(&run).unwrap();
    assert!(page.len() < 16 << 20, "{} bytes", page.len());
    assert!(page.contains("id=\"trial-1000\""));
    assert!(page.contains("are left out to keep this file small"));
}

/// Relative luminance of `#rrggbb` (WCAG 2.2).
fn luminance(color: &str) -> f64 {
    let channel = |at: usize| {
        let value = u8::from_str_radix(&color[at..at + 2], 16).unwrap();
        let share = f64::from(value) / 255.0;
        if share <= 0.04045 {
            share / 12.92
        } else {
            ((share + 0.055) / 1.055).powf(2.4)
        }
    };
    0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
}

fn contrast(a: &str, b: &str) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn text_is_readable_in_both_themes() {
    let style = include_str!("../../assets/report.css");
    let block = |start: &str| {
        let from = style.find(start).unwrap() + start.len();
        style[from..].split('}').next().unwrap()
    };
    let dark = block(":root[data-theme=\"dark\"] {");
    let by_system = block(":root:not([data-theme=\"light\"]) {");
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words(dark), words(by_system), "both ways to the dark theme");
    for theme in [block(":root {"), dark] {
        let color = |name: &str| {
            let start = format!("--{name}: ");
            let value = theme.split(start.as_str()).nth(1).unwrap();
            value.split(';').next().unwrap()
        };
        for (text, behind) in [
            ("fg", "bg"),
            ("fg", "card"),
            ("dim", "bg"),
            ("dim", "card"),
            ("link", "bg"),
            ("link", "card"),
            ("good", "card"),
            ("warn", "card"),
            ("bad", "card"),
            ("good", "good-bg"),
            ("warn", "warn-bg"),
            ("bad", "bad-bg"),
            ("fg", "bad-bg"),
            ("fg", "warn-bg"),
        ] {
            let ratio = contrast(color(text), color(behind));
            assert!(ratio >= 4.5, "{text} on {behind}: {ratio:.2}");
        }
        for line in [
            "read", "write", "trim", "sync", "commit", "p50", "p90", "p99", "max",
        ] {
            let ratio = contrast(color(line), color("bg"));
            assert!(ratio >= 3.0, "{line}: {ratio:.2}");
        }
    }
}

#[test]
fn hosts_are_drawn_beside_one_another_and_the_slowest_named() {
    let run = synthetic::fleet(4, 60);
    let page = render(&run).unwrap();
    assert_eq!(page.matches("<figure class=\"hosts\">").count(), 2);
    assert!(page.contains("Slowest by share of the median: node003.storage.example.org 5"));
    assert!(page.contains("1 host is far below the median."));
    let strip = page.split("<figure class=\"hosts\">").nth(1).unwrap();
    let strip = strip.split("</figure>").next().unwrap();
    assert!(strip.contains("role=\"img\" aria-label=\"Rate of each host over time. Slowest"));
    // The slow host, the second without an operation, and the domain that all share.
    assert!(strip.contains("class=\"v-2\" d=\"M0 2.44h60\""));
    assert!(strip.contains("<path class=\"vs\" d=\"M17 1.44h1\""));
    assert!(strip.contains(">node003</text>"));
    let data = strip.split("application/json\">").nth(1).unwrap();
    let data = data.split("</script>").next().unwrap();
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    assert_eq!(data["h"][2], "node003.storage.example.org");
    assert_eq!(data["v"][3].as_array().unwrap().len(), 60);
    assert_eq!(data["z"][0], 60 + 17);
    // The figures of all together come first, then those of single hosts.
    let names: Vec<&str> = page
        .split("<p class=\"name\">")
        .skip(1)
        .map(|part| part.split('<').next().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "4 hosts together",
            "p99 of all",
            "Median host",
            "Slowest host"
        ]
    );
}

#[test]
fn a_large_page_leaves_folded_charts_to_the_script() {
    let small = render(&synthetic::fleet(4, 60)).unwrap();
    assert!(!small.contains("<template"));
    let page = render(&synthetic::fleet(84, 300)).unwrap();
    assert_eq!(page.matches("<template class=\"later\">").count(), 84);
    assert!(page.contains("<figure class=\"chart time bare\">"));
    let inside = page.split("<template").nth(1).unwrap();
    let inside = inside.split("</template>").next().unwrap();
    assert!(inside.contains("<path class=\"k-read\" d=\"\"/>"));
    assert!(inside.contains("<path class=\"h7\" d=\"\"/>"));
    // What everybody sees needs no script.
    assert!(!page.split("<template").next().unwrap().contains("bare\""));
}

#[test]
fn tables_have_captions_and_heads_a_scope() {
    let runs = [
        synthetic::quick(),
        synthetic::matrix(),
        synthetic::errors(),
        synthetic::fleet(4, 60),
    ];
    for run in &runs {
        for page in [render(run).unwrap(), summary_page::render(run).unwrap()] {
            for table in page.split("<table").skip(1) {
                let inside = table.split_once('>').unwrap().1.trim_start();
                assert!(inside.starts_with("<caption"), "{}", &inside[..200]);
            }
            for head in page.split("<th ").skip(1) {
                let tag = head.split('>').next().unwrap();
                assert!(tag.contains("scope="), "{tag}");
            }
            assert!(!page.contains("<th>"));
        }
    }
}

#[test]
fn the_summary_is_short_and_needs_no_script() {
    for run in [synthetic::quick_caveats(), synthetic::open_loop_lag()] {
        let page = summary_page::render(&run).unwrap();
        let order = [
            "<h1>",
            "class=\"key-figure\"",
            "class=\"meaning\"",
            "Validity: is it true?",
            "Limiter: what set it?",
            ">Results<",
            "Command: ",
            ">Charts<",
            "<figure",
        ];
        let mut from = 0;
        for part in order {
            let at = page[from..].find(part);
            assert!(at.is_some(), "{part} is missing or out of order");
            from += at.unwrap();
        }
        assert!(!page.contains("<script") && !page.contains("<button"));
        assert!(page.matches("<figure").count() <= 6);
    }
}
