//! A whole drive: a mechanism, with its faults, its changing speed, its
//! neighbour and its book-keeping around it.

use std::collections::HashMap;

use fathom_model::OpKind;

use super::counters::{Counters, DriveTally};
use super::fault_injection::{FaultInjection, OpFault};
use super::mechanism::Mechanism;
use super::model::Model;
use super::neighbour::Neighbour;
use super::parameter::Parameters;
use super::speed::ModelClock;
use super::truth::{Inside, Truth};
use super::{Drive, SimAnswer, SimEnd, SimOp};

/// A mechanism and what is around it.
pub(super) struct Device {
    mechanism: Box<dyn Mechanism>,
    model: &'static Model,
    parameters: Parameters,
    seed: u64,
    faults: FaultInjection,
    model_clock: Option<ModelClock>,
    neighbour: Option<Neighbour>,
    tally: DriveTally,
    /// When the first operation came.
    origin_ns: Option<u64>,
    /// The latest time that the drive was told.
    now_ns: u64,
    /// The same on the mechanism's scale.
    model_now_ns: u64,
    /// Operations whose end is not known.
    open: HashMap<u64, Open>,
    /// Own ones among them.
    own_open: usize,
    wake_ns: Option<u64>,
    found: Vec<(u64, SimEnd)>,
    /// Own operations whose end is known and not told yet.
    ready: Vec<(u64, SimEnd)>,
}

/// An operation whose end is not known.
struct Open {
    kind: OpKind,
    start_ns: u64,
    /// `None` for the neighbour's.
    fault: Option<OpFault>,
}

impl Device {
    pub(super) fn new(
        mechanism: Box<dyn Mechanism>,
        model: &'static Model,
        parameters: Parameters,
        seed: u64,
    ) -> Device {
        let capacity = mechanism.capacity_bytes();
        Device {
            faults: FaultInjection::new(&parameters),
            model_clock: ModelClock::new(&parameters, seed),
            neighbour: Neighbour::new(&parameters, seed, capacity),
            mechanism,
            model,
            parameters,
            seed,
            tally: DriveTally::new(),
            origin_ns: None,
            now_ns: 0,
            model_now_ns: 0,
            open: HashMap::new(),
            own_open: 0,
            wake_ns: None,
            found: Vec::new(),
            ready: Vec::new(),
        }
    }

    /// The mechanism's time at `now_ns`.
    #[inline]
    fn enter(&mut self, now_ns: u64) -> u64 {
        self.now_ns = self.now_ns.max(now_ns);
        let since_ns = self.now_ns - self.origin_ns.unwrap_or(self.now_ns);
        self.model_now_ns = match &mut self.model_clock {
            None => self.now_ns,
            Some(model_clock) => model_clock.model_ns(since_ns).max(self.model_now_ns),
        };
        self.model_now_ns
    }

    /// The clock's time of an end of the mechanism.
    #[inline]
    fn leave(&mut self, mut end: SimEnd) -> SimEnd {
        if let Some(model_clock) = &mut self.model_clock
            && end.at_ns != u64::MAX
        {
            let origin_ns = self.origin_ns.unwrap_or(0);
            end.at_ns = origin_ns.saturating_add(model_clock.clock_ns(end.at_ns));
        }
        end.at_ns = end.at_ns.max(self.now_ns);
        end
    }

    /// Lets the neighbour do what is due up to `now_ns`.
    fn let_neighbour(&mut self, now_ns: u64) {
        let origin_ns = self.origin_ns.unwrap_or(now_ns);
        loop {
            let Some(neighbour) = &mut self.neighbour else {
                return;
            };
            let at_ns = origin_ns.saturating_add(neighbour.next_ns());
            if at_ns > now_ns {
                return;
            }
            let op = neighbour.take();
            let at_ns = at_ns.max(self.now_ns);
            let model_ns = self.enter(at_ns);
            self.collect(model_ns);
            let open = self.open.len() - self.own_open;
            let neighbour = self.neighbour.as_mut();
            if !neighbour.is_some_and(|n| n.has_room(at_ns, open)) {
                continue;
            }
            match self.mechanism.submit(model_ns, &op) {
                SimAnswer::Ends(end) => {
                    let end = self.leave(end);
                    self.end_foreign(op.kind, at_ns, &end);
                }
                SimAnswer::Later(number) => self.keep_open(number, op.kind, at_ns, None),
            }
        }
    }

    /// Takes what the mechanism has found out up to its time `model_ns`.
    fn collect(&mut self, model_ns: u64) {
        if self.open.is_empty() {
            return;
        }
        let mut found = std::mem::take(&mut self.found);
        self.mechanism.advance(model_ns, &mut found);
        for (number, end) in found.drain(..) {
            let Some(open) = self.open.remove(&number) else {
                continue;
            };
            let end = self.leave(end);
            match open.fault {
                Some(fault) => {
                    self.own_open -= 1;
                    let end = fault.applied_to(end);
                    self.tally.count(open.kind, open.start_ns, &end);
                    self.ready.push((number, end));
                }
                None => self.end_foreign(open.kind, open.start_ns, &end),
            }
        }
        self.found = found;
    }

    fn end_foreign(&mut self, kind: OpKind, start_ns: u64, end: &SimEnd) {
        self.tally
            .count_foreign(kind == OpKind::Write, start_ns, end);
        if let Some(neighbour) = &mut self.neighbour {
            neighbour.note_end(end.at_ns);
        }
    }

    fn keep_open(&mut self, number: u64, kind: OpKind, start_ns: u64, fault: Option<OpFault>) {
        self.own_open += usize::from(fault.is_some());
        let open = Open {
            kind,
            start_ns,
            fault,
        };
        self.open.insert(number, open);
    }

    /// Finds out when to be called again.
    #[inline]
    fn set_wake(&mut self) {
        self.wake_ns = (!self.ready.is_empty()).then_some(self.now_ns);
        if self.own_open == 0 || self.wake_ns.is_some() {
            return;
        }
        if let Some(model_ns) = self.mechanism.wake_ns() {
            let end = SimEnd {
                at_ns: model_ns,
                result: Ok(0),
            };
            let mut wake_ns = self.leave(end).at_ns;
            if let (Some(neighbour), Some(origin_ns)) = (&self.neighbour, self.origin_ns) {
                wake_ns = wake_ns.min(origin_ns.saturating_add(neighbour.next_ns()));
            }
            self.wake_ns = Some(wake_ns);
        }
    }

    /// The model's own counts, on the scale of the clock where they are times.
    fn inside(&self, now_ns: u64) -> Inside {
        let ahead_ns = now_ns.saturating_sub(self.now_ns);
        self.mechanism
            .inside(self.model_now_ns.saturating_add(ahead_ns))
    }
}

impl Drive for Device {
    #[inline]
    fn submit(&mut self, now_ns: u64, op: &SimOp) -> SimAnswer {
        self.origin_ns.get_or_insert(now_ns);
        let fault = self.faults.next(op);
        if op.offset.saturating_add(u64::from(op.bytes)) > self.mechanism.capacity_bytes() {
            let end = SimEnd {
                at_ns: now_ns,
                result: Err(libc::ENOSPC),
            };
            self.tally.count(op.kind, now_ns, &end);
            return SimAnswer::Ends(end);
        }
        if self.neighbour.is_some() {
            self.let_neighbour(now_ns);
        }
        let model_ns = self.enter(now_ns);
        let answer = match self.mechanism.submit(model_ns, op) {
            SimAnswer::Ends(end) => {
                let end = fault.applied_to(self.leave(end));
                self.tally.count(op.kind, now_ns, &end);
                SimAnswer::Ends(end)
            }
            later @ SimAnswer::Later(number) => {
                self.keep_open(number, op.kind, now_ns, Some(fault));
                later
            }
        };
        self.set_wake();
        answer
    }

    fn wake_ns(&self) -> Option<u64> {
        self.wake_ns
    }

    fn advance(&mut self, now_ns: u64, known: &mut Vec<(u64, SimEnd)>) {
        if self.open.is_empty() && self.ready.is_empty() {
            return;
        }
        self.let_neighbour(now_ns);
        let model_ns = self.enter(now_ns);
        self.collect(model_ns);
        known.append(&mut self.ready);
        self.set_wake();
    }

    fn capacity_bytes(&self) -> u64 {
        self.mechanism.capacity_bytes()
    }

    fn written_share(&self, start: u64, bytes: u64) -> Option<f64> {
        self.mechanism.written_share(start, bytes)
    }

    fn truth(&self) -> Truth {
        let origin_ns = self.origin_ns.unwrap_or(0);
        let last_ns = self.tally.last_end_ns().max(self.now_ns);
        let past_ns = self.now_ns.saturating_sub(origin_ns);
        let mean_speed = match &self.model_clock {
            Some(_) if past_ns > 0 => self.model_now_ns as f64 / past_ns as f64,
            _ => 1.0,
        };
        let parameters = self.parameters.iter();
        Truth {
            model: self.model.name.to_owned(),
            parameters: parameters.map(|(n, v)| (n.to_owned(), v)).collect(),
            seed: self.seed,
            capacity_bytes: self.mechanism.capacity_bytes(),
            expected: self.mechanism.expected(),
            done: self.tally.done(),
            hung: self.tally.hung(),
            foreign_ops: self.tally.foreign_ops(),
            foreign_bytes: self.tally.foreign_bytes(),
            busy_ns: self.tally.busy_ns(),
            elapsed_ns: last_ns.saturating_sub(origin_ns),
            mean_speed,
            inside: self.inside(self.now_ns),
        }
    }

    fn counters(&self, now_ns: u64) -> Counters {
        self.tally.counters(now_ns, self.inside(now_ns))
    }
}
