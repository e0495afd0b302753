//! The loop of operations that are no blocks: files and objects.
//!
//! A turn looks whether the load ends, begins what is due while there is room,
//! and waits for something to end. When that may be is decided here and in
//! [`LoadState`] alone; what an operation is, and what its end means, is known
//! to [`Operations`] alone.

use super::first_done::Reached;
use super::load_state::{LoadState, Pause};

/// Answer to [`Operations::draw`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Draw<T> {
    Task(T),
    /// Something that is in flight has to end first.
    Wait,
    /// Nothing is left to do.
    Done,
}

/// Operations of one kind of target: which comes next, and how it is carried out.
pub(crate) trait Operations {
    /// One operation that is to be done.
    type Task;

    /// An operation is carried out within [`Operations::begin`], so that there is
    /// never one in flight outside of it.
    const BLOCKS: bool;

    /// The next operation.
    fn draw(&mut self) -> Draw<Self::Task>;

    /// Makes an operation ready in a slot and starts it; where operations block,
    /// carries it out.
    fn begin(&mut self, load: &mut LoadState, slot: u32, task: Self::Task, due_ns: u64);

    /// Waits for operations in flight to end, if there are any, and takes note of
    /// those that have.
    fn wait(&mut self, load: &mut LoadState, pause: Pause);

    /// When something else has to be done than to begin an operation.
    fn wakes_ns(&self) -> Option<u64> {
        None
    }

    /// The first worker has done its part.
    fn first_is_done(&mut self) {}
}

/// Runs turns until nothing is left, a bound is reached, or the load ends. How far
/// the worker came.
pub(crate) fn drive_operations<O: Operations>(operations: &mut O, mut load: LoadState) -> Reached {
    let mut began = false;
    loop {
        // The end of an operation that blocked has just been read from the clock.
        if !(O::BLOCKS && began) {
            load.tick();
        }
        if load.look_for_first() {
            operations.first_is_done();
        }
        load.look_for_end();
        began = begin_due(operations, &mut load);
        if O::BLOCKS && began {
            continue;
        }
        if load.is_over() {
            return load.finish();
        }
        let pause = load.pause(operations.wakes_ns());
        operations.wait(&mut load, pause);
    }
}

/// Begins what is due while there is room. Whether anything was begun.
#[inline]
fn begin_due<O: Operations>(operations: &mut O, load: &mut LoadState) -> bool {
    let mut began = false;
    while let Some(due_ns) = load.due_ns()
        && let Some(slot) = load.take_slot()
    {
        if !load.pay() {
            load.give_back_slot(slot);
            break;
        }
        match operations.draw() {
            Draw::Task(task) => {
                load.advance();
                operations.begin(load, slot, task, due_ns);
                began = true;
                if O::BLOCKS {
                    break;
                }
            }
            other => {
                load.give_back_slot(slot);
                load.refund();
                if matches!(other, Draw::Done) {
                    load.note_nothing_left();
                }
                break;
            }
        }
    }
    began
}
