use std::sync::Arc;
use std::time::Duration;

use fathom_model::workload::{CacheMode, EngineKind, OpMix};
use fathom_model::{Job, Target, Workload};

use super::*;
use crate::clock::HostClock;
use crate::engine::{Broken, Capabilities, Completion, Engine, Op, Queued};
use crate::in_flight::InFlight;
use crate::payload::PayloadPool;
use crate::prepare::{NoHooks, prepare};
use crate::record::{Cuts, Exchange};
use crate::worker::{Control, Parts, Visible, drive};
use crate::{access::AccessStream, arena::Buffers};

const BLOCK: u64 = 64 << 10;
const PARTS: usize = BLOCK as usize / PART_BYTES;
const SEED: u64 = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    Queued { slot: u32, buffer: u32 },
    Look,
    Wait,
}

/// Keeps operations until it is waited for.
#[derive(Default)]
struct Held {
    events: Vec<Event>,
    under_way: Vec<(u32, u32, u32)>,
    /// The first submission and the first wait last this long.
    blocked: [Option<Duration>; 2],
}

impl Engine for Held {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            max_depth: 64,
            trim: false,
            timed_reap: true,
        }
    }

    fn queue(&mut self, op: &Op, buffer: u32) -> Queued {
        // A flush has none.
        let buffer = match op.kind {
            OpKind::Sync => u32::MAX,
            _ => buffer,
        };
        let taken = self.under_way.iter().any(|(_, taken, _)| *taken == buffer);
        assert!(!taken, "buffer {buffer} is in flight already");
        let slot = op.slot;
        self.events.push(Event::Queued { slot, buffer });
        self.under_way.push((slot, buffer, op.len));
        Queued::Yes
    }

    fn submit(&mut self) -> Result<(), Broken> {
        if let Some(time) = self.blocked[0].take() {
            std::thread::sleep(time);
        }
        Ok(())
    }

    fn reap(
        &mut self,
        min: u32,
        _timeout_ns: Option<u64>,
        out: &mut Vec<Completion>,
    ) -> Result<(), Broken> {
        if let (1.., Some(time)) = (min, self.blocked[1]) {
            self.blocked[1] = None;
            std::thread::sleep(time);
        }
        self.events
            .push(if min > 0 { Event::Wait } else { Event::Look });
        for _ in 0..min {
            let (slot, _, len) = self.under_way.remove(0);
            out.push(Completion {
                slot,
                result: len as i32,
            });
        }
        Ok(())
    }

    fn close(&mut self) {}
}

/// A worker that writes `ops` blocks, with `spare` additional buffers.
fn worker(depth: u32, spare: u32, ops: u64) -> Worker {
    let mut workload = Workload::example("ahead");
    workload.engine = EngineKind::Null;
    workload.cache = CacheMode::Buffered;
    workload.block = fathom_model::workload::BlockSizes::Fixed(BLOCK);
    workload.align_bytes = BLOCK;
    workload.data_set.size_bytes = Some(64 * BLOCK);
    workload.mix = OpMix {
        read_percent: 0,
        write_percent: 100,
        trim_percent: 0,
    };
    workload.bounds.ops = Some(ops);
    workload.bounds.time_ns = None;
    workload.warmup_ns = 0;
    let job = Job {
        workload,
        target: Target::Null,
        seed: SEED,
        run_tag: 1,
        destructive: false,
        keep_files: false,
        file_prefix: "ahead".to_owned(),
    };
    let prepared = prepare(&job, &mut NoHooks).unwrap();
    let workload = &job.workload;
    let shape = crate::record::Shape::new(vec![OpKind::Write, OpKind::Sync], false);
    let parts = Parts {
        think: super::super::Think::new(workload),
        pairs: false,
        step: None,
        depth_search: None,
        reads_back: false,
        ends_when_full: false,
        replays: false,
        own_budget: super::super::OwnBudget::new(&workload.each_worker, 0),
        depth,
        batch: 1,
        think_ns: 0,
        first_file: 0,
        files: 1,
        final_flush: false,
        flush_every: super::super::Rhythm::NEVER,
        writes: true,
        stop_on_error: true,
        workers: 1,
        max_block_bytes: BLOCK,
        stream: AccessStream::new(workload, &prepared.layout, 0, SEED).unwrap(),
        payload: Some(payload()),
        verifier: None,
        pace: None,
        buffers: Buffers::new(depth + spare, BLOCK, false).unwrap().0,
        visible: Arc::new(Visible {
            in_flight: InFlight::new(Worker::slots(depth)),
            exchange: Arc::new(Exchange::new(shape, 0).unwrap()),
        }),
        control: Arc::new(Control::new(workload, depth)),
    };
    let origin_ns = crate::clock::Clock::now(&HostClock::new());
    Worker::new(parts, Cuts::new(origin_ns, 0, None), None)
}

fn payload() -> PayloadPool {
    let payload = &Workload::example("ahead").payload;
    PayloadPool::new(payload, SEED, 0)
}

#[test]
fn the_next_block_is_there_before_the_one_in_flight_ends() {
    let (mut worker, mut engine, clock) = (worker(1, 1, 20), Held::default(), HostClock::new());
    let now = || crate::clock::Clock::now(&clock);
    worker.settle(now(), &[]);
    let mut expected = vec![0u8; BLOCK as usize];
    for number in 0..20u64 {
        worker.issue(&mut engine, &clock).unwrap();
        let Some(Event::Queued { buffer, .. }) = engine.events.last().copied() else {
            panic!("operation {number} was not queued");
        };
        // Taking a number would be generating: the block was complete before.
        payload().fill_numbered(number, 0, &mut expected);
        let block = worker.buffers.block(buffer, BLOCK as u32);
        assert!(block == expected, "block {number}");
        let mut parts = 0;
        while worker.has_payload_to_generate() {
            worker.generate_part();
            parts += 1;
        }
        assert_eq!(parts, PARTS);
        assert!(worker.ahead.is_ready());
        let generated = worker.payload.clone().unwrap().take_number();
        assert_eq!(generated, number + 2);
        let mut ended = Vec::new();
        engine.reap(1, None, &mut ended).unwrap();
        worker.settle(now(), &ended);
        let generated = worker.payload.clone().unwrap().take_number();
        assert_eq!(generated, number + 2, "nothing is generated in between");
    }
}

#[test]
fn payload_is_generated_between_hand_over_and_wait() {
    let (mut worker, mut engine) = (worker(1, 1, 10), Held::default());
    drive(&mut worker, &mut engine, &HostClock::new(), false).unwrap();
    let queued = |event: &Event| matches!(event, Event::Queued { .. });
    let turns: Vec<&[Event]> = engine.events.split(queued).collect();
    assert_eq!(turns.len(), 11);
    // Each part has its look, and nothing lies between an end and the next start.
    for turn in &turns[1..10] {
        assert_eq!(turn[..PARTS], [Event::Look; PARTS], "{turn:?}");
        assert_eq!(turn.last(), Some(&Event::Wait), "{turn:?}");
        let waits = turn.iter().filter(|event| **event == Event::Wait);
        assert_eq!(waits.count(), 1, "{turn:?}");
    }
}

#[test]
fn deep_queues_are_filled_and_buffers_change_hands() {
    let (mut worker, mut engine) = (worker(4, 2, 200), Held::default());
    drive(&mut worker, &mut engine, &HostClock::new(), false).unwrap();
    let (mut slots, mut buffers) = ([0u32; 4], [0u32; 6]);
    for event in &engine.events {
        if let Event::Queued { slot, buffer } = event {
            slots[*slot as usize] += 1;
            buffers[*buffer as usize] += 1;
        }
    }
    assert_eq!(slots.iter().sum::<u32>(), 200);
    assert!(buffers.iter().all(|uses| *uses > 0), "{buffers:?}");
}

#[test]
fn spare_buffers_stay_within_the_memory() {
    assert_eq!(spare_buffers(32, 4096, 1), 0, "small blocks gain nothing");
    assert_eq!(spare_buffers(1, 1 << 20, 1), 1);
    assert_eq!(spare_buffers(8, 1 << 20, 1), 4);
    assert_eq!(spare_buffers(8, 1 << 20, 32), 2);
    assert_eq!(spare_buffers(8, 1 << 20, 65), 0, "64 MiB for all workers");
    assert_eq!(spare_buffers(1, 64 << 20, 1), 1);
    assert_eq!(spare_buffers(1, 128 << 20, 1), 0);
    for (depth, block, workers) in [(1, 16 << 10, 4096), (4096, 32 << 10, 3), (7, 3 << 20, 5)] {
        let spare = spare_buffers(depth, block, workers);
        assert!(spare <= depth);
        assert!(u64::from(spare) * block * u64::from(workers) <= GROUP_BYTES);
    }
}

#[test]
fn a_submission_that_blocks_is_no_stop_of_the_worker() {
    let mut worker = worker(2, 0, 10);
    let visible = Arc::clone(&worker.visible);
    let mut engine = Held {
        blocked: [Some(Duration::from_millis(400)); 2],
        ..Held::default()
    };
    drive(&mut worker, &mut engine, &HostClock::new(), false).unwrap();
    assert_eq!(engine.blocked, [None, None], "both were met");
    worker.finish();
    let buffer = visible.exchange.find_full(0).unwrap();
    let (_, stall_ns) = visible.exchange.load(buffer);
    assert!(stall_ns < 300_000_000, "{stall_ns}");
}

#[test]
fn a_flush_beside_writes_is_one_of_the_operations_in_flight() {
    let (mut worker, mut engine, clock) = (worker(4, 0, 40), Held::default(), HostClock::new());
    let rhythm = crate::worker::Rhythm {
        every: [4, 0],
        undrained: true,
        ..crate::worker::Rhythm::NEVER
    };
    worker.commit = crate::worker::Commit::new(rhythm, false, 1);
    worker.plain = false;
    let now = || crate::clock::Clock::now(&clock);
    worker.settle(now(), &[]);
    let mut queued = Vec::new();
    for _ in 0..20 {
        engine.events.clear();
        worker.issue(&mut engine, &clock).unwrap();
        for event in &engine.events {
            if let Event::Queued { slot, .. } = event {
                queued.push(*slot);
            }
        }
        assert_eq!(engine.under_way.len(), 4, "{queued:?}");
        let mut ended = Vec::new();
        engine.reap(1, None, &mut ended).unwrap();
        worker.settle(now(), &ended);
    }
    // The flush waits for the first write to end, and the fifth write for another.
    assert_eq!(queued[..6], [0, 1, 2, 3, 4, 1]);
}
