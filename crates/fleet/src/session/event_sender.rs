//! The thread of a session that passes on to the coordinator what the agent
//! says.

use std::io::ErrorKind;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};

use crate::protocol::frame::FrameWriter;
use crate::protocol::link::{Ack, Message};
use crate::protocol::message::Event;
use crate::protocol::reason::Reason;
use crate::protocol::wire::FromAgent;
use crate::session::leftovers::Journal;
use crate::session::spool::UnstoredEvents;

/// Passes on what the agent says, to its end. When nobody listens any more it
/// goes on without: the agent must not hang.
pub(crate) fn send_events(
    events: &Receiver<(usize, Message)>,
    writer: &Arc<FrameWriter>,
    (waiting, unfinished): (&Mutex<Option<Ack>>, &AtomicUsize),
    (journal, unstored): (Option<&Journal>, Option<&UnstoredEvents>),
) {
    for (_, message) in events {
        let message = match message {
            // The files of this host are of no use in the coordinator's list.
            Message::Event {
                event: Event::FileFound { .. },
                ack: Some(ack),
            } => {
                // Files of earlier runs are not kept in mind on this host.
                ack.answer(Err(Reason::of("fathom did not make it")));
                continue;
            }
            Message::Event {
                event:
                    event @ (Event::FileCreating(_) | Event::FileCreated { .. } | Event::FileRemoved(_)),
                ack,
            } => {
                match (&event, journal) {
                    (Event::FileCreating(path), Some(journal)) => journal.making(path),
                    (Event::FileCreated { path, identity }, Some(journal)) => {
                        journal.made(path, identity);
                    }
                    (Event::FileRemoved(path), Some(journal)) => journal.removed(path),
                    _ => {}
                }
                if let Some(ack) = ack {
                    ack.answer(Ok(()));
                }
                continue;
            }
            Message::Event { event, ack } => {
                if let Some(unstored) = unstored {
                    unstored.keep(&event);
                }
                let waits = ack.is_some();
                *waiting.lock().unwrap_or_else(PoisonError::into_inner) = ack;
                FromAgent::Event { event, waits }
            }
            Message::Ready => FromAgent::Ready,
            Message::Refused(refused) => FromAgent::Refused(refused),
            Message::Done => {
                unfinished.fetch_sub(1, Relaxed);
                FromAgent::Done
            }
            Message::Lost(_) | Message::Held(_) | Message::NetworkServed(_) => continue,
        };
        let sent = match writer.send(&message) {
            Err(error) if error.kind() == ErrorKind::InvalidInput => shorter(message, writer),
            sent => sent,
        };
        if let Err(error) = sent {
            answer(waiting, Err(Reason::of(error)));
        }
    }
}

/// Sends what is too long for a message without its log of single operations,
/// and says so.
fn shorter(message: FromAgent, writer: &FrameWriter) -> std::io::Result<()> {
    let FromAgent::Event {
        event: Event::Interval(mut intervals),
        waits,
    } = message
    else {
        return Err(ErrorKind::InvalidInput.into());
    };
    let samples = intervals.iter_mut().flat_map(|i| &mut i.samples);
    samples.for_each(|sample| sample.operations.clear());
    let text = "more operations in a second than can be sent one by one; their log has a gap";
    writer.send(&FromAgent::Event {
        event: Event::Note(text.to_owned()),
        waits: false,
    })?;
    writer.send(&FromAgent::Event {
        event: Event::Interval(intervals),
        waits,
    })
}

pub(crate) fn answer(waiting: &Mutex<Option<Ack>>, result: Result<(), Reason>) {
    let ack = waiting
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    if let Some(ack) = ack {
        ack.answer(result);
    }
}
