//! The models that exist.

use super::error::DescriptionError;
use super::mechanism::Mechanism;
use super::parameter::{Parameter, Parameters};
use super::{array, cloud, flash, hdd, ideal, rmw, thin, volatile};

/// A model: its name, its parameters, and how a drive is made from them.
pub struct Model {
    /// Its name, as in `sim:NAME`.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// What it imitates and how.
    pub imitates: &'static str,
    /// Its own parameters, without [`super::common_parameters`].
    pub parameters: &'static [Parameter],
    pub(super) build: fn(&Parameters, u64) -> Box<dyn Mechanism>,
}

/// Every model.
pub fn models() -> &'static [Model] {
    MODELS
}

/// The model of this name.
pub(super) fn model_named(name: &str) -> Result<&'static Model, DescriptionError> {
    MODELS
        .iter()
        .find(|model| model.name == name)
        .ok_or_else(|| DescriptionError::UnknownModel {
            name: name.to_owned(),
            models: MODELS.iter().map(|model| model.name).collect(),
        })
}

const MODELS: &[Model] = &[
    Model {
        name: "ideal",
        summary: "a fixed latency, some operations at once",
        imitates: "Nothing real: `parallel` servers behind one queue, each busy for \
                   `latency_us` per operation. Queueing theory says exactly what it does.",
        parameters: ideal::PARAMETERS,
        build: |p, _| Box::new(ideal::Ideal::new(p)),
    },
    Model {
        name: "hdd",
        summary: "hard disk: seek, rotation, zones, write cache, reordering",
        imitates: "A hard disk with one head: seek time grows with the square root of the \
                   distance, then the sector must come round, then data pass at the rate of \
                   their zone. With `ncq` above 1 it picks the operation that it reaches first \
                   out of so many; with `cache` it acknowledges writes at once and writes them \
                   when nothing else waits, sweeping across the disk; a flush waits for that.",
        parameters: hdd::PARAMETERS,
        build: |p, _| Box::new(hdd::Hdd::new(p)),
    },
    Model {
        name: "ssd",
        summary: "solid-state drive: parallel units behind a link",
        imitates: "A solid-state drive in an unchanging state: units that each take one \
                   operation at a time, latencies with a log-normal tail, a link per direction.",
        parameters: flash::SSD_PARAMETERS,
        build: |p, seed| Box::new(flash::Flash::new(p, seed)),
    },
    Model {
        name: "slc",
        summary: "consumer SSD: a fast write cache that fills, the cliff, recovery",
        imitates: "A consumer drive: writes go to a fast cache until it is full, then they are \
                   as slow as the flash behind it. Idle time empties the cache. Stalls for \
                   collecting garbage come from `hiccup_every_s` and its kin.",
        parameters: flash::SLC_PARAMETERS,
        build: |p, seed| Box::new(flash::Flash::new(p, seed)),
    },
    Model {
        name: "enterprise",
        summary: "enterprise SSD: fresh against preconditioned, write amplification",
        imitates: "A drive whose collection of garbage takes from its own writes: a page mapping \
                   with greedy collection. Fresh, it writes at full speed; random overwrites \
                   slow it down over about two capacities to a steady state that the spare share \
                   sets. Sequential overwrites stay fast.",
        parameters: flash::ENTERPRISE_PARAMETERS,
        build: |p, seed| Box::new(flash::Flash::new(p, seed)),
    },
    Model {
        name: "cloud",
        summary: "cloud volume: caps on operations and bytes, burst credits",
        imitates: "A network volume whose owner sold a number of operations and bytes per \
                   second: what is beyond waits in a queue. Credits saved in quiet times allow \
                   a faster burst.",
        parameters: cloud::PARAMETERS,
        build: |p, seed| Box::new(cloud::Cloud::new(p, seed)),
    },
    Model {
        name: "thin",
        summary: "thin-provisioned volume: first writes slower, unwritten reads far too fast",
        imitates: "A volume whose regions are allocated by their first write, one at a time, and \
                   which answers reads of what was never written without any medium.",
        parameters: thin::PARAMETERS,
        build: |p, seed| Box::new(thin::Thin::new(p, seed)),
    },
    Model {
        name: "volatile",
        summary: "volatile write cache: acknowledges at once, pays at flush, may lie",
        imitates: "A drive without protection against loss of power: writes are acknowledged when \
                   they have arrived, a flush waits until all of them are on the medium. With \
                   `lies` it acknowledges flushes and does nothing.",
        parameters: volatile::PARAMETERS,
        build: |p, seed| Box::new(volatile::Volatile::new(p, seed)),
    },
    Model {
        name: "rmw",
        summary: "4 KiB-native device: smaller or misaligned writes read first",
        imitates: "A device that shows small sectors and writes large blocks: a write that covers \
                   a block only in part reads it first.",
        parameters: rmw::PARAMETERS,
        build: |p, seed| Box::new(rmw::Rmw::new(p, seed)),
    },
    Model {
        name: "dedup",
        summary: "compressing and deduplicating array: speed depends on the data",
        imitates: "An array that keeps only what is new and compresses it: zeros and repeated \
                   blocks are written at the rate of the link, random data at that of the medium \
                   once the buffer is full.",
        parameters: array::DEDUP_PARAMETERS,
        build: |p, seed| Box::new(array::Array::new(p, seed)),
    },
    Model {
        name: "array",
        summary: "array or server with a cache: a second pass over the same range is faster",
        imitates: "A server with memory in front of its disks: reads of what was read or written \
                   lately come from the cache, writes go into a buffer until it is full.",
        parameters: array::ARRAY_PARAMETERS,
        build: |p, seed| Box::new(array::Array::new(p, seed)),
    },
    Model {
        name: "thermal",
        summary: "drive with a thermal limit: throttles when hot, recovers when cool",
        imitates: "A drive that each byte warms and the air cools. Above `limit_c` it works at \
                   `throttle_percent` of its speed until it has cooled to `resume_c`.",
        parameters: flash::THERMAL_PARAMETERS,
        build: |p, seed| Box::new(flash::Flash::new(p, seed)),
    },
    Model {
        name: "flaky",
        summary: "`ideal` with errors",
        imitates: "A drive that fails one operation in `eio_every`.",
        parameters: ideal::FLAKY_PARAMETERS,
        build: |p, _| Box::new(ideal::Ideal::new(p)),
    },
];
