//! `fathom clean --hosts`: asks agents what killed ones left on their hosts.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::coordinator::error::HostError;
use crate::host_list::HostName;
use crate::interrupt::Interrupt;
use crate::launchers::Launcher;
use crate::protocol::frame::{FrameReader, FrameWriter};
use crate::protocol::wire::{FromAgent, Greeting, ToAgent};
use crate::session::leftovers::{CleanOrder, CleaningReport};
use crate::transport::{ConnectionError, Transport};

/// What each of the hosts has, or why it could not be asked. `interrupt` ends
/// the wait for those that have not answered.
pub fn clean_hosts(
    hosts: &[HostName],
    launcher: &Launcher,
    order: CleanOrder,
    interrupt: &Interrupt,
) -> Vec<Result<CleaningReport, HostError>> {
    let answers: Vec<Mutex<Option<Result<CleaningReport, HostError>>>> =
        hosts.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..launcher.at_once(hosts.len()) {
            let begun = std::thread::Builder::new().spawn_scoped(scope, || {
                while let Some(host) = hosts.get(next.fetch_add(1, Relaxed)) {
                    let answer = launcher.launch(host, interrupt);
                    let answer = answer.map_err(HostError::from);
                    let answer = answer.and_then(|host| ask(host, order));
                    let place = hosts.iter().position(|other| other == host);
                    let slot = place.and_then(|place| answers.get(place)?.lock().ok());
                    if let Some(mut slot) = slot {
                        *slot = Some(answer);
                    }
                }
            });
            // The others do the work of those that cannot be had.
            if begun.is_err() {
                break;
            }
        }
    });
    let answers = answers
        .into_iter()
        .map(|slot| slot.into_inner().ok().flatten());
    answers
        .map(|answer| answer.unwrap_or(Err(HostError::NotAsked)))
        .collect()
}

fn ask(transport: Transport, order: CleanOrder) -> Result<CleaningReport, HostError> {
    let Transport {
        input,
        output,
        close,
        complaint,
    } = transport;
    let talk = || -> Result<CleaningReport, HostError> {
        let writer = FrameWriter::new(output);
        let mut reader = FrameReader::new(input);
        let sent = writer.send(&Greeting::coordinator());
        let greeting: Greeting = reader.next()?;
        greeting.check("agent")?;
        sent.map_err(ConnectionError::of_coordinator)?;
        reader.trust();
        writer
            .send(&ToAgent::Clean(order))
            .map_err(HostError::unsent)?;
        loop {
            match reader.next::<FromAgent>()? {
                FromAgent::Cleaned(cleaned) => return Ok(cleaned),
                FromAgent::About(_) => {}
                _ => return Err(HostError::OtherAnswer),
            }
        }
    };
    let cleaned = talk().map_err(|error| complaint().map_or(error, HostError::Carrier));
    close();
    cleaned
}
