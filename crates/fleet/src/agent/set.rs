//! A set of trials from the first look at its targets to the last: all are
//! prepared one after the other, then loaded at the same time, then checked. A
//! trial that runs alone is a set of one.

use std::collections::{BTreeMap, HashMap, HashSet};

use fathom_engine::{Group, Prepared};
use fathom_model::fingerprint::TargetFingerprint;
use fathom_model::sample::Phase;
use fathom_model::schedule::MAX_TOGETHER;
use fathom_model::{Job, RunState, ScheduledTrial, Target};
use fathom_observe::gluster::{GlusterLook, gluster_look, gluster_use};
use fathom_observe::{HostWatch, Observer, unix_now_ns};

use crate::admission::{self, SetError};
use crate::agent::load::{self, Watches};
use crate::agent::member::{Member, end_all};
use crate::agent::refusal::TrialRefusal;
use crate::agent::target_facts::TargetFacts;
use crate::agent::{Agent, EarlyEnd};
use crate::agent::{ceiling, device_pause, host_part};
use crate::protocol::message::{Event, TrialStart};

/// Volumes of Gluster by target.
type Volumes = BTreeMap<String, GlusterLook>;

/// Where in a set something went wrong, and what.
type Failure = (usize, EarlyEnd);

impl Agent {
    /// Carries out trials at the same time, from their beginning to their end.
    pub(crate) fn set(&mut self, specs: Vec<ScheduledTrial>) {
        let mut looked = TargetFacts::new(&self.sysroot);
        let (specs, divided) = self.divide(specs);
        let allowed = divided.is_ok();
        let starts = specs.iter().map(|spec| TrialStart {
            spec: spec.clone(),
            started_unix_ns: unix_now_ns(),
            // Nothing is looked at that the owner does not allow.
            target_before: match allowed {
                true => looked.target(&spec.target),
                false => None,
            },
        });
        self.link.send(Event::TrialsStarted(starts.collect()));
        let mut members: Vec<Member> = specs
            .into_iter()
            .map(|spec| {
                let job = self.job(&spec);
                Member::new(spec, job)
            })
            .collect();
        if allowed {
            self.wait_for_quiet(&mut members, &mut looked);
        }
        let mut apart = Vec::new();
        let done = divided.and_then(|()| self.carry_out(&mut members, &mut apart, &mut looked));
        if let Err((culprit, early)) = done {
            end_all(&mut members, culprit, early);
        }
        put_back(&mut members, apart);
        // Seen anew: the trials may have changed it.
        let mut looked = TargetFacts::new(&self.sysroot);
        for member in members.iter_mut().filter(|_| allowed) {
            member.end.target_after = looked.target(&member.spec.target);
        }
        let endings = members.into_iter().map(Member::ending);
        self.link.send(Event::TrialsEnded(endings.collect()));
    }

    /// Waits before the first trials until their devices are quiet, and notes the
    /// wait before these trials with each of them. Between trials the coordinator
    /// says when.
    fn wait_for_quiet(&mut self, members: &mut [Member], looked: &mut TargetFacts) {
        let first = std::mem::take(&mut self.is_fresh);
        let pause = members.first().map(|member| member.spec.pause);
        if let (true, Some(pause)) = (first, pause)
            && pause.until_quiet
            && pause.ceiling_ns > 0
        {
            let targets = members.iter();
            let facts: Vec<TargetFingerprint> = targets
                .filter_map(|member| looked.target(&member.spec.target))
                .collect();
            // Simulated and null targets have no device that could be busy.
            let observer = (!facts.is_empty()).then(|| Observer::of_targets(&self.sysroot, &facts));
            if let Some(mut observer) = observer.filter(|o| o.watched().next().is_some()) {
                self.link.send(Event::Pausing {
                    ceiling_ns: pause.ceiling_ns,
                });
                self.gate = Some(device_pause::before_first(
                    pause,
                    &mut observer,
                    &self.interrupt,
                ));
            }
        }
        let gate = self.gate.take();
        let loaded = members.iter_mut().filter(|m| !is_simulated(&m.job));
        for member in loaded {
            member.end.gate = gate.clone().map(Box::new);
        }
    }

    /// Makes each workload that of this host's part of the data.
    fn divide(&self, mut specs: Vec<ScheduledTrial>) -> (Vec<ScheduledTrial>, Result<(), Failure>) {
        // In a local run the plan has been checked in the same process.
        if self.policy.is_some()
            && let Err(SetError { place, error }) = admission::check_set(&specs)
        {
            let refusal = TrialRefusal::Inadmissible(error);
            return (specs, Err((place, EarlyEnd::failed(refusal))));
        }
        for (place, spec) in specs.iter_mut().enumerate() {
            if let Err(refusal) = self.admit(spec) {
                return (specs, Err((place, EarlyEnd::failed(refusal))));
            }
        }
        (specs, Ok(()))
    }

    /// Members that cannot be loaded, and that spare the others, are set
    /// `apart`.
    fn carry_out(
        &mut self,
        members: &mut Vec<Member>,
        apart: &mut Vec<(usize, Member)>,
        looked: &mut TargetFacts,
    ) -> Result<(), Failure> {
        check(members)?;
        self.check_policy(members)?;
        self.rests.clear();
        self.observer = None;
        let held_up = self.watch_changes(members.iter().map(|member| &member.job.target));
        for place in 0..members.len() {
            if let Err(early) = self.prepare_member(members, place) {
                spare(members, place, early)?;
            }
        }
        set_apart(members, apart);
        for member in members.iter_mut() {
            self.look_at(member, looked);
        }
        if self.interrupt.is_raised() {
            let text = format!("{} before the load began", self.interrupt.why());
            return Err((0, EarlyEnd::interrupted(text)));
        }
        let mut groups = Vec::with_capacity(members.len());
        for place in 0..members.len() {
            let member = &members[place];
            let Some(prepared) = &member.prepared else {
                continue;
            };
            match Group::start(&member.job, prepared) {
                Ok(group) => groups.push(group),
                Err(error) => spare(members, place, EarlyEnd::failed(error))?,
            }
        }
        set_apart(members, apart);
        if members.is_empty() {
            return Ok(());
        }
        let watches = self.watch_host(members, looked);
        let volumes = look_at_volumes(members, looked);
        drop(held_up);
        let opening_ns = self.wait_for_opening().map_err(|early| (0, early))?;
        self.observer = load::run(
            &self.link,
            &self.interrupt,
            members,
            groups,
            watches,
            opening_ns,
        );
        let stuck = |member: &Member| !member.end.engine.stuck.is_empty();
        self.left_operations |= self.interrupt.is_raised() && members.iter().any(stuck);
        self.fell_silent |= members.iter().any(|member| member.fell_silent);
        count_on_volumes(members, volumes, looked);
        self.look_for_disturbances(members);
        members.iter_mut().for_each(look_for_holes);
        self.look_at_ceilings_again(members);
        for member in members.iter_mut().filter(|m| m.early.is_none()) {
            member.early = self.verify(member).err();
            if !member.fell_silent {
                self.look_at_objects(member);
            }
        }
        Ok(())
    }

    /// Refuses what the owner of this host does not allow.
    fn check_policy(&self, members: &[Member]) -> Result<(), Failure> {
        let Some(policy) = &self.policy else {
            return Ok(());
        };
        for (place, member) in members.iter().enumerate() {
            policy
                .check(&member.spec, self.settings.destructive)
                .map_err(|reason| (place, EarlyEnd::failed(reason)))?;
        }
        Ok(())
    }

    fn prepare_member(&mut self, members: &mut [Member], place: usize) -> Result<(), EarlyEnd> {
        let (before, from) = members.split_at_mut(place);
        let Some(member) = from.first_mut() else {
            return Ok(());
        };
        self.phase(Some(member.spec.index), Phase::Prepare);
        let others: Vec<&Prepared> = before.iter().filter_map(|b| b.prepared.as_ref()).collect();
        let of_another = host_part::of_another(&member.spec);
        let mut prepared = self.prepare(&member.job, of_another, &others)?;
        if of_another && !prepared.data.reused {
            return Err(EarlyEnd::failed(host_part::unseen(&member.job.target)));
        }
        let same_target = before.iter().filter(|b| b.job.target == member.job.target);
        let others = same_target.count();
        self.keep_drive(&member.job, &mut prepared, others);
        member.end.data = prepared.data.clone();
        for note in &prepared.notes {
            self.link.send(Event::Note(note.clone()));
        }
        member.prepared = Some(prepared);
        Ok(())
    }

    /// A simulated drive is the same one throughout a run. Loads of the same
    /// set cannot share one, because each has a time of its own.
    fn keep_drive(&mut self, job: &Job, prepared: &mut Prepared, others: usize) {
        let Some(fresh) = prepared.drive.take() else {
            return;
        };
        let name = match others {
            0 => job.target.to_string(),
            _ => format!("{} beside {others}", job.target),
        };
        if others == 1 {
            self.link.send(Event::Note(format!(
                "{}: each trial of the set has a drive of its own, because simulated time is \
                 not shared",
                job.target
            )));
        }
        let drive = self.drives.entry(name).or_insert(fresh).clone();
        if job.workload.sync.every_writes > 0 {
            // The first flush of a load pays for its own writes, not for those before.
            drive.flush();
        }
        self.rests.push(drive.clone());
        prepared.drive = Some(drive);
    }

    /// Looks at the data and measures the ceiling, right before the load.
    fn look_at(&mut self, member: &mut Member, looked: &mut TargetFacts) {
        let Some(prepared) = &member.prepared else {
            return;
        };
        let failures = looked.data(&member.job, prepared, &mut member.end.data);
        for failure in failures {
            self.link.send(Event::Note(failure));
        }
        let glance_ns = self.settings.ceiling_ns;
        member.end.ceiling = self.ceilings.of(&member.job, glance_ns);
    }

    /// Real hosts are observed, once for all; simulated drives have no host
    /// and no real time.
    fn watch_host(&self, members: &mut [Member], looked: &mut TargetFacts) -> Watches {
        let mut facts: BTreeMap<String, TargetFingerprint> = BTreeMap::new();
        for member in members.iter_mut() {
            let (Some(prepared), false) = (&member.prepared, is_simulated(&member.job)) else {
                continue;
            };
            let of_target = looked.prepared(&member.job, prepared);
            let names = of_target.devices.iter().map(|device| device.name.clone());
            member.devices = names.collect();
            facts.insert(member.job.target.to_string(), of_target);
        }
        if facts.is_empty() {
            return None;
        }
        let mut facts: Vec<TargetFingerprint> = facts.into_values().collect();
        let observer = Observer::of_targets(&self.sysroot, &facts);
        let mut all = facts.pop().unwrap_or_default();
        for device in facts.into_iter().flat_map(|facts| facts.devices) {
            if all.devices.iter().all(|known| known.name != device.name) {
                all.devices.push(device);
            }
        }
        Some((observer, HostWatch::new(&self.sysroot, &all)))
    }

    /// Says which test files somebody else removed or replaced during the load.
    fn look_for_disturbances(&self, members: &[Member]) {
        let prepared = members.iter().filter_map(|m| m.prepared.as_ref());
        for text in prepared.flat_map(Prepared::disturbed) {
            self.link.send(match self.settings.keep_files {
                true => Event::LeftBehind(text),
                // Removing them will find it as well.
                false => Event::Note(text),
            });
        }
    }

    /// Ceilings that a load came near are measured again, once per shape.
    fn look_at_ceilings_again(&mut self, members: &mut [Member]) {
        let glance_ns = self.settings.ceiling_ns;
        // The fastest of a shape tells whether its ceiling is near.
        let mut order: Vec<&mut Member> = members.iter_mut().collect();
        order.sort_by(|a, b| b.ops_per_second.total_cmp(&a.ops_per_second));
        let mut looked = HashSet::new();
        for Member {
            job,
            end,
            ops_per_second,
            ..
        } in order
        {
            end.ceiling = if looked.insert(ceiling::shape(&job.workload)) {
                let glance = end.ceiling;
                let ceilings = &mut self.ceilings;
                ceilings.refined(job, glance_ns, glance, *ops_per_second)
            } else {
                self.ceilings.of(job, glance_ns)
            };
        }
    }
}

/// A member cannot be loaded: notes why if it spares the others.
fn spare(members: &mut [Member], place: usize, early: EarlyEnd) -> Result<(), Failure> {
    let member = &mut members[place];
    let spares = member.spec.spares_others && early.state == RunState::Failed;
    if !spares {
        return Err((place, early));
    }
    member.early = Some(early);
    Ok(())
}

/// Takes those out that cannot be loaded. Whoever was to follow them follows
/// whom they followed.
fn set_apart(members: &mut Vec<Member>, apart: &mut Vec<(usize, Member)>) {
    while let Some(place) = members.iter().position(|member| member.early.is_some()) {
        let gone = members.remove(place);
        for member in members.iter_mut() {
            if member.spec.follows == Some(gone.spec.index) {
                member.spec.follows = gone.spec.follows;
            }
        }
        apart.push((place, gone));
    }
}

/// Puts those back that were taken out, the last one first.
fn put_back(members: &mut Vec<Member>, mut apart: Vec<(usize, Member)>) {
    while let Some((place, member)) = apart.pop() {
        members.insert(place.min(members.len()), member);
    }
}

pub(crate) fn is_simulated(job: &Job) -> bool {
    matches!(job.target, Target::Sim(_))
}

/// Refuses what cannot be a set, before anything is done for it.
fn check(members: &[Member]) -> Result<(), Failure> {
    if members.len() > MAX_TOGETHER {
        let text = format!(
            "{} trials were to run at the same time; the limit is {MAX_TOGETHER}",
            members.len()
        );
        return Err((0, EarlyEnd::failed(text)));
    }
    let mut places: HashMap<u32, usize> = HashMap::new();
    for (place, member) in members.iter().enumerate() {
        let index = member.spec.index;
        if places.insert(index, place).is_some() {
            let text = format!("two trials of the set have the index {index}");
            return Err((place, EarlyEnd::failed(text)));
        }
    }
    for (place, member) in members.iter().enumerate() {
        if let Err(error) = check_follows(member, members, &places) {
            return Err((place, EarlyEnd::failed(error)));
        }
    }
    Ok(())
}

/// Why trials cannot follow one another as a set says.
#[derive(Debug, thiserror::Error)]
enum OrderError {
    #[error("'{label}' follows trial {followed}, which does not run at the same time")]
    Apart { label: String, followed: u32 },
    #[error(
        "'{label}' would wait for ever: the trials that it follows follow one another in a circle"
    )]
    Circle { label: String },
}

/// A trial can follow one of its set, and in the end one that follows none.
fn check_follows(
    member: &Member,
    members: &[Member],
    places: &HashMap<u32, usize>,
) -> Result<(), OrderError> {
    let (mut at, mut steps) = (member, 0);
    while let Some(followed) = at.spec.follows {
        let Some(next) = places.get(&followed) else {
            return Err(OrderError::Apart {
                label: at.spec.label.clone(),
                followed,
            });
        };
        at = &members[*next];
        steps += 1;
        if steps > members.len() {
            return Err(OrderError::Circle {
                label: member.spec.label.clone(),
            });
        }
    }
    Ok(())
}

/// The volumes under the targets, each once, as they are before the load.
fn look_at_volumes(members: &[Member], looked: &mut TargetFacts) -> Volumes {
    let mut volumes = Volumes::new();
    for member in members {
        let target = &member.spec.target;
        if !volumes.contains_key(&target.to_string())
            && let Some(look) = looked.target(target).as_ref().and_then(gluster_look)
        {
            volumes.insert(target.to_string(), look);
        }
    }
    volumes
}

/// What was asked of them since. Trials at the same time cannot be told apart.
fn count_on_volumes(members: &mut [Member], before: Volumes, looked: &mut TargetFacts) {
    for (target, look) in before {
        let of_target = |member: &&mut Member| member.spec.target.to_string() == target;
        let mut own = members.iter_mut().filter(of_target);
        let Some(first) = own.next() else {
            continue;
        };
        let after = looked.target(&first.spec.target);
        let after = after.as_ref().and_then(gluster_look);
        first.end.gluster = gluster_use(Some(look), after).map(Box::new);
    }
}

/// Whether data that a load only read have become holes since it was prepared.
fn look_for_holes(member: &mut Member) {
    let came_back = member.end.engine.stuck.is_empty();
    if member.job.workload.mix.modifies() || !came_back {
        return;
    }
    let now = member
        .prepared
        .as_ref()
        .and_then(Prepared::unwritten_share_now);
    let data = &mut member.end.data;
    // What was written for this load had no holes then.
    let before = data.unwritten_share.unwrap_or(0.0);
    if let Some(now) = now.filter(|now| *now > before) {
        data.unwritten_share = Some(now);
    }
}
