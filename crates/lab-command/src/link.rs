//! `fathom-lab link`: two interfaces and a wire between them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::thread::sleep;

use anyhow::Context;
use clap::Args;
use fathom_console::{Exit, admit, complain, write_file, write_stderr, write_stdout};
use fathom_lab::{SimulatedLink, WayTruth, Wire};
use fathom_model::unit;
use fathom_outputs::Mark;

use crate::signals::{LOOK, Signals};

/// Join two network interfaces by a wire that delays, loses and limits.
///
/// The interfaces are made for it (TAP devices, which takes root); put them
/// into network namespaces or on bridges, and whatever goes over them is
/// treated as told, in both directions. The kernel needs no netem for it. What
/// really passed is told at the end.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fathom-lab link west east --delay 2ms --loss 0.5% --rate 1gbit
                                     Until Ctrl-C; then, in another terminal:
  ip netns add w; ip link set west netns w; ip -n w addr add 10.9.0.1/24 dev west
  ip -n w link set west up           and the same for east
  fathom-lab link west east --delay 20ms -- ./my-test
                                     While a command runs")]
pub(crate) struct Link {
    /// Name of the first interface.
    a: String,
    /// Name of the second interface.
    b: String,
    /// Time from one end to the other; a round trip takes twice as long.
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = unit::parse_duration)]
    delay: u64,
    /// Share of the frames that is lost, for example 0.5%.
    #[arg(long, value_name = "PERCENT", default_value = "0%", value_parser = share)]
    loss: f64,
    /// Bits a second that pass in each direction, for example 100mbit or 1gbit.
    /// What waits for longer than 20 ms is dropped.
    #[arg(long, value_name = "RATE", value_parser = bits)]
    rate: Option<u64>,
    /// Seed of what is lost.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write what passed to this file at the end, as JSON.
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
    /// Keep the link while this command runs.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

fn share(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    match number.parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("a share is 0% to 100%".to_owned()),
    }
}

fn bits(text: &str) -> Result<u64, String> {
    let lower = text.trim().to_ascii_lowercase();
    let units = [("kbit", 1e3), ("mbit", 1e6), ("gbit", 1e9), ("bit", 1.0)];
    let found = units
        .iter()
        .find_map(|(unit, factor)| Some((lower.strip_suffix(unit)?, factor)));
    let value =
        found.and_then(|(number, factor)| Some(number.trim().parse::<f64>().ok()? * factor));
    match value {
        Some(bits) if (1_000.0..=1e12).contains(&bits) => Ok(bits as u64),
        _ => Err("a rate is 1kbit to 1000gbit, for example 100mbit".to_owned()),
    }
}

pub(crate) fn serve(link: &Link) -> anyhow::Result<Exit> {
    if let Some(file) = &link.truth {
        admit(file, Mark::Document)?;
    }
    let wire = Wire {
        delay_ns: link.delay,
        loss: link.loss,
        rate_bits: link.rate,
    };
    let signals = Signals::listen().context("cannot listen for signals")?;
    let made = match SimulatedLink::make((&link.a, &link.b), wire, link.seed) {
        Ok(made) => made,
        Err(error @ fathom_lab::Error::Description(_)) => {
            complain(&error.to_string());
            return Ok(Exit::Usage);
        }
        Err(error) => return Err(error.into()),
    };
    let exit = match link.command.split_first() {
        None => {
            write_stdout(&format!(
                "the interfaces {} and {} are joined; Ctrl-C ends it\n",
                link.a, link.b
            ))?;
            while signals.count() == 0 {
                sleep(LOOK);
            }
            Exit::Success
        }
        Some((program, words)) => {
            let mut child = std::process::Command::new(program)
                .args(words)
                .spawn()
                .with_context(|| format!("cannot run {}", program.display()))?;
            Exit::of_command(child.wait().context("cannot wait for the command")?)
        }
    };
    let (there, back) = made.truth();
    if let Some(file) = &link.truth {
        let text = serde_json::json!({"schema": "fathom.lab.link/1", "there": there, "back": back});
        write_file(file, Mark::Document, &format!("{text:#}\n"))?;
    }
    write_stderr(&format!(
        "What the link did ({} to {}, and back):\n{}{}",
        link.a,
        link.b,
        line("there", &there),
        line("back", &back)
    ));
    Ok(exit)
}

fn line(name: &str, way: &WayTruth) -> String {
    let mut text = format!(
        "  {name:5} {} frames ({}), {} lost, {} found the buffer full",
        unit::group(way.frames),
        unit::bytes(way.bytes),
        unit::group(way.lost),
        unit::group(way.dropped),
    );
    if way.late > 0 {
        text += &format!(
            "; {} came more than 1 ms late, for the machine was busy",
            unit::group(way.late)
        );
    }
    text + "\n"
}
