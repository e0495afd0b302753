//! The charts of a run as files.

use std::path::{Path, PathBuf};

use anyhow::Context;
use fathom_model::RunRecord;
use fathom_outputs::Mark;
use fathom_report::images::{self, ChartImage};

use crate::exit::{CommandError, Exit};
use crate::present;

/// The bytes of a chart in a format.
type Encoding = fn(&ChartImage) -> anyhow::Result<Vec<u8>>;

/// Writes every chart into a folder, or the first one into a file whose name ends as
/// the format is called; prints the paths.
pub(super) fn write(
    record: &RunRecord,
    svg: Option<&Path>,
    png: Option<&Path>,
) -> anyhow::Result<Exit> {
    let charts = images::charts(&fathom_studies::judge(record));
    if charts.is_empty() {
        let id = &record.meta.id;
        anyhow::bail!("run {id} has no charts; try `fathom report {id}`");
    }
    refuse_other_ending(svg, "svg", "png")?;
    refuse_other_ending(png, "png", "svg")?;
    let formats: [(&str, Option<&Path>, Encoding); 2] = [
        ("svg", svg, |chart| Ok(chart.svg.clone().into_bytes())),
        ("png", png, |chart| Ok(images::png(chart)?)),
    ];
    let mut paths = String::new();
    for (ending, target, encoding) in formats {
        let Some(target) = target else { continue };
        for (path, chart) in places(&charts, target, ending)? {
            let bytes = encoding(chart)?;
            present::admit(&path, Mark::Image)?.write(|out| out.write_all(&bytes))?;
            paths.push_str(&format!("{}\n", path.display()));
        }
    }
    present::write_stdout(&paths)?;
    Ok(Exit::Success)
}

/// A name that ends as another format is called is not a folder.
fn refuse_other_ending(target: Option<&Path>, own: &str, other: &str) -> anyhow::Result<()> {
    let is_other = |path: &&Path| path.extension().is_some_and(|end| end == other);
    match target.filter(is_other) {
        Some(path) => {
            let path = path.display();
            let problem = format!("--{own} {path}: this is the name of a file of another format");
            Err(CommandError::Usage(format!("{problem}\nhelp: --{other} {path}")).into())
        }
        None => Ok(()),
    }
}

/// Which chart goes where.
fn places<'a>(
    charts: &'a [ChartImage],
    target: &Path,
    ending: &str,
) -> anyhow::Result<Vec<(PathBuf, &'a ChartImage)>> {
    if target.extension().is_some_and(|end| end == ending) {
        let first = charts.first().map(|chart| (target.to_owned(), chart));
        return Ok(first.into_iter().collect());
    }
    fathom_outputs::make_folder(target)
        .with_context(|| format!("cannot create {}", target.display()))?;
    let named = charts.iter().map(|chart| {
        let path = target.join(format!("{}.{ending}", chart.name));
        (path, chart)
    });
    Ok(named.collect())
}
