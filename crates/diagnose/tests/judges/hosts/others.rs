//! What waits beside the devices: mounts, links, locks, quotas and tasks.

use fathom_diagnose::recording::{
    LinkMoment, Moment, NfsMoment, QuotaMoment, StuckTask, WaitedMount,
};

use crate::course::Course;
use crate::draw::Draw;

/// Most hosts have none or one of them.
pub(super) struct Others {
    nfs: Option<Nfs>,
    mount: Course,
    silent: Course,
    stuck: Vec<(&'static str, f64)>,
    quota: Course,
    second_quota: Course,
    locks: Course,
    network: Course,
    link: Course,
    link_speed: Option<f64>,
    lost: Course,
    out_of_order: Course,
}

struct Nfs {
    operations: Course,
    queue: Course,
    round_trip_ms: Course,
    execute_ms: Course,
    again: Course,
}

fn of(draw: &mut Draw, is_there: bool, values: &[f64]) -> Course {
    match is_there {
        true => Course::drawn(draw, values),
        false => Course::Unknown,
    }
}

impl Others {
    pub(super) fn drawn(draw: &mut Draw, plain: bool) -> Others {
        // Of twenty, eight have something.
        let kind = if plain { 20 } else { draw.below(20) };
        let tasks = [
            "7 cp in percpu_rwsem_wait",
            "8 mv in do_freezer_trap",
            "9 dd in futex_wait",
            "10 ls in ext4_readdir",
            "11 rm",
        ];
        let waiting = [0.0, 0.49, 0.5, 0.51, 1.0, 4.0, 16.0];
        let even = [65_536.0, 131_071.0, 131_072.0, 1e6];
        let stuck = tasks.iter().filter(|_| kind == 3 && draw.one_in(2));
        let stuck: Vec<&&str> = stuck.collect();
        let stuck = stuck.into_iter();
        Others {
            stuck: stuck
                .map(|name| (*name, draw.pick(&[7.9, 8.0, 30.0])))
                .collect(),
            nfs: (kind == 0).then(|| Nfs {
                operations: Course::known(draw, &[0.0, 10.0, 400.0]),
                queue: Course::known(draw, &waiting),
                round_trip_ms: Course::drawn(draw, &[1.0, 4.9, 5.0, 9.0]),
                execute_ms: Course::drawn(draw, &[10.0]),
                again: Course::known(draw, &[0.0, 0.1, 0.11, 4.0, 4.1]),
            }),
            mount: of(draw, kind == 1 || kind == 0, &waiting),
            silent: of(draw, kind == 2, &[0.0, 1.0]),
            quota: of(draw, kind == 4, &[0.0, 0.49, 0.5, 0.51, 0.9]),
            second_quota: of(draw, kind == 4, &[0.0, 0.5, 0.6, 1.0]),
            locks: of(draw, kind == 5, &[1.0, 1.9, 2.0, 7.0]),
            network: of(draw, kind == 6, &[0.1, 0.89, 0.9, 0.91]),
            link: of(draw, kind == 6 || kind == 7, &even),
            link_speed: draw.maybe(&[0.0, 1e7, 1e9]),
            lost: of(draw, kind == 7, &[0.0, 0.5, 3.0]),
            out_of_order: of(draw, kind == 7, &[0.0, 2.0]),
        }
    }

    pub(super) fn put_into(&self, moment: &mut Moment, place: usize) {
        moment.nfs = self.nfs.iter().map(|nfs| nfs.at(place)).collect();
        let waited = self.mount.at(place).map(|waiting| WaitedMount {
            name: "/far".to_owned(),
            waiting,
        });
        moment.waited_mounts = waited.into_iter().collect();
        if self.silent.or(place, 0.0) > 0.0 {
            moment.silent = vec!["/lost".to_owned()];
        }
        let stuck = self.stuck.iter().map(|(name, seconds)| StuckTask {
            name: (*name).to_owned(),
            seconds: *seconds,
        });
        moment.stuck = stuck.collect();
        let quotas = [("/pod", &self.quota), ("/pod/app", &self.second_quota)];
        let quotas = quotas.into_iter().filter_map(|(name, held)| {
            Some(QuotaMoment {
                name: name.to_owned(),
                held_back: held.at(place)?,
            })
        });
        moment.quotas = quotas.collect();
        moment.lock_waiters = self.locks.at(place);
        moment.network_use = self.network.at(place);
        let link = self.link.at(place).map(|bytes| LinkMoment {
            name: "eth0".to_owned(),
            received_bytes: bytes,
            sent_bytes: 0.5 * bytes,
            speed_bits: self.link_speed,
            errors: self.lost.or(place, 0.0),
            drops: self.out_of_order.or(place, 0.0),
        });
        moment.links = link.into_iter().collect();
        moment.retransmits = self.lost.at(place).map(|lost| (lost, 0.01 * lost));
        moment.out_of_order = self.out_of_order.at(place);
    }
}

impl Nfs {
    fn at(&self, place: usize) -> NfsMoment {
        let operations = self.operations.or(place, 0.0);
        NfsMoment {
            name: "filer:/vol on /mnt".to_owned(),
            operations,
            bytes: 4096.0 * operations,
            round_trip_ms: self.round_trip_ms.at(place),
            execute_ms: self.execute_ms.at(place),
            queue: self.queue.or(place, 0.0),
            retransmits: self.again.or(place, 0.0),
        }
    }
}
