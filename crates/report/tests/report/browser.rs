//! The page's script in a real browser, where one is installed.

use std::path::Path;
use std::process::Command;

use fathom_report::html;

use crate::synthetic;

/// Runs before the page's own script: notes what goes wrong.
const BEFORE: &str = "<script>addEventListener('error', (e) => {
  document.documentElement.dataset.error = e.message;
});</script></head>";

/// Runs after it: uses the page as a reader would and notes what happened.
const AFTER: &str = "<script>(() => {
  const note = document.documentElement.dataset;
  const chart = document.querySelector('figure.time > svg');
  const box = chart.getBoundingClientRect();
  const fire = (type, share, target) => (target || chart).dispatchEvent(new PointerEvent(type, {
    bubbles: true, pointerType: 'mouse', pointerId: 1, button: 0,
    clientX: box.left + box.width * share, clientY: box.top + box.height * .5,
  }));
  chart.setPointerCapture = () => {};
  const labels = () => [...chart.querySelectorAll('.xt text')].map((t) => t.textContent).join(' ');
  note.before = labels();
  fire('pointermove', .3);
  note.read = chart.parentNode.querySelector('output').textContent;
  fire('pointerdown', .3);
  fire('pointermove', .5);
  fire('pointerup', .5);
  note.zoomed = labels();
  fire('dblclick', .5);
  note.after = labels();
  for (const kind of ['heat', 'dist', 'curve']) {
    const svg = document.querySelector('figure.' + kind + ' > svg');
    const at = svg.getBoundingClientRect();
    svg.dispatchEvent(new PointerEvent('pointermove', {
      clientX: at.left + at.width * .4, clientY: at.top + at.height * .7 }));
    note[kind] = svg.parentNode.querySelector('output').textContent;
  }
  document.querySelector('.key').click();
  note.pressed = document.querySelector('.key').getAttribute('aria-pressed');
  const head = [...document.querySelectorAll('.index thead th')].find((t) => t.textContent === 'IOPS');
  const first = () => head.closest('table').tBodies[0].rows[0].cells[0].textContent;
  head.click();
  note.least = first();
  head.click();
  note.most = first();
  document.getElementById('theme').click();
  note.theme = document.getElementById('theme').textContent;
})();</script></body>";

fn browser() -> Option<&'static str> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    names.into_iter().find(|name| {
        let version = Command::new(name).arg("--version").output();
        version.is_ok_and(|v| v.status.success())
    })
}

/// The document after its scripts ran.
fn dump(browser: &str, directory: &Path, page: &str) -> Option<String> {
    let file = directory.join("report.html");
    std::fs::write(&file, page).unwrap();
    let profile = directory.join("profile");
    let out = Command::new(browser)
        .args(["--headless=new", "--no-sandbox", "--disable-gpu"])
        .args(["--disable-dev-shm-usage", "--window-size=1200,2400"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(["--timeout=30000", "--dump-dom"])
        .arg(format!("file://{}", file.display()))
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    text.contains("</html>").then_some(text)
}

#[test]
fn the_script_reads_out_zooms_toggles_and_sorts() {
    let Some(browser) = browser() else {
        println!("skipped: no chromium is installed");
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let mut run = synthetic::matrix();
    run.trials.truncate(2);
    let page = html::render(&run).unwrap();
    let page = page.replacen(
        "<details class=\"trial\"",
        "<details open class=\"trial\"",
        2,
    );
    let page = page
        .replacen("</head>", BEFORE, 1)
        .replacen("</body>", AFTER, 1);
    let Some(dom) = dump(browser, directory.path(), &page) else {
        println!("skipped: {browser} does not run here");
        return;
    };
    let root = dom
        .split("<html")
        .nth(1)
        .unwrap()
        .split('>')
        .next()
        .unwrap();
    let note = |name: &str| {
        let start = format!("data-{name}=\"");
        let value = root
            .split(start.as_str())
            .nth(1)
            .unwrap_or_else(|| panic!("{name}: {root}"));
        value.split('"').next().unwrap().to_owned()
    };
    assert!(!root.contains("data-error"), "{root}");
    assert_eq!(note("ready"), "1");
    // Small blocks: the first chart is of operations.
    assert!(note("read").contains("IOPS"), "{root}");
    assert_eq!(note("before"), "0 2 4 6 8 10");
    assert_ne!(note("zoomed"), note("before"));
    assert_eq!(note("after"), note("before"));
    assert!(note("heat").contains("operations"), "{root}");
    assert!(note("dist").contains("operations"), "{root}");
    assert!(note("curve").contains("took at most"), "{root}");
    assert_eq!(note("pressed"), "false");
    assert_ne!(note("least"), note("most"));
    assert_eq!(note("theme"), "Theme: light");
}
