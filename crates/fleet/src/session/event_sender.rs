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

/// What the thread works with.
pub(crate) struct EventSender {
    pub(crate) writer: Arc<FrameWriter>,
    /// Whoever waits until the coordinator has handled an event.
    pub(crate) waiting: Arc<Mutex<Option<Ack>>>,
    /// Commands that take a while and have not been carried out.
    pub(crate) unfinished: Arc<AtomicUsize>,
    /// Where files that are made are noted.
    pub(crate) journal: Option<Journal>,
    /// What the coordinator may not have stored.
    pub(crate) unstored: Option<Arc<UnstoredEvents>>,
}

impl EventSender {
    /// Passes on what the agent says, to its end. When nobody listens any more it
    /// goes on without: the agent must not hang.
    pub(crate) fn send_all(&self, events: &Receiver<(usize, Message)>) {
        for (_, message) in events {
            if let Some(message) = self.taken_in(message) {
                self.send(message);
            }
        }
    }

    /// The message for the coordinator, unless it is for this host alone.
    fn taken_in(&self, message: Message) -> Option<FromAgent> {
        Some(match message {
            // The files of this host are of no use in the coordinator's list.
            Message::Event {
                event: Event::FileFound { .. },
                ack: Some(ack),
            } => {
                // Files of earlier runs are not kept in mind on this host.
                ack.answer(Err(Reason::of("fathom did not make it")));
                return None;
            }
            Message::Event {
                event:
                    event @ (Event::FileCreating(_) | Event::FileCreated { .. } | Event::FileRemoved(_)),
                ack,
            } => {
                self.note_file(&event);
                if let Some(ack) = ack {
                    ack.answer(Ok(()));
                }
                return None;
            }
            Message::Event { event, ack } => {
                if let Some(unstored) = &self.unstored {
                    unstored.keep(&event);
                }
                let waits = ack.is_some();
                *self.waiting.lock().unwrap_or_else(PoisonError::into_inner) = ack;
                FromAgent::Event { event, waits }
            }
            Message::Ready => FromAgent::Ready,
            Message::Refused(refused) => FromAgent::Refused(refused),
            Message::Done => {
                self.unfinished.fetch_sub(1, Relaxed);
                FromAgent::Done
            }
            Message::Lost(_) | Message::Held(_) | Message::NetworkServed(_) => return None,
        })
    }

    fn note_file(&self, event: &Event) {
        let Some(journal) = &self.journal else {
            return;
        };
        match event {
            Event::FileCreating(path) => journal.making(path),
            Event::FileCreated { path, identity } => journal.made(path, identity),
            Event::FileRemoved(path) => journal.removed(path),
            _ => {}
        }
    }

    fn send(&self, message: FromAgent) {
        let sent = match self.writer.send(&message) {
            Err(error) if error.kind() == ErrorKind::InvalidInput => shorter(message, &self.writer),
            sent => sent,
        };
        if let Err(error) = sent {
            answer(&self.waiting, Err(Reason::of(error)));
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
