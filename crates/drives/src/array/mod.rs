//! A storage array: a buffer that takes writes, a cache that answers reads, and
//! between them and the medium whatever makes data smaller. What a write costs
//! depends on its content ([`super::SimContent`]).

mod fingerprints;
mod lru;

use fathom_model::OpKind;

use self::fingerprints::Fingerprints;
use self::lru::Lru;
use super::flash::{Flash, Write, flash_parameters};
use super::mechanism::Mechanism;
use super::parameter::{Parameter, Parameters};
use super::truth::{Expected, Inside};
use super::{MIB, SimAnswer, SimEnd, SimOp, transfer_ns};

const BUFFER: Parameter = Parameter::bytes(
    "buffer",
    1_073_741_824.0,
    0.0,
    "buffer that takes writes at the rate of the link",
);
#[rustfmt::skip]
const MEDIA_MIBS: Parameter = Parameter::number("media_mibs", 300.0, 0.1, 1e7, "rate at which the buffer empties onto the medium, MiB/s of what is left of the data");
#[rustfmt::skip]
const MEDIA_READ_MIBS: Parameter = Parameter::number("media_read_mibs", 600.0, 0.1, 1e7, "rate at which the medium is read, MiB/s");
#[rustfmt::skip]
const CACHE_US: Parameter = Parameter::number("cache_us", 60.0, 0.0, 1e9, "time of a read that the cache answers");
const CACHE_HELP: &str = "read cache, also filled by writes; 0 is none";
#[rustfmt::skip]
const DEDUP: &str = "1: a block whose content is there already costs no medium";
const COMPRESS: &str = "1: data are compressed before they go to the medium";

#[rustfmt::skip]
pub(super) const ARRAY_PARAMETERS: &[Parameter] = flash_parameters![
    BUFFER, MEDIA_MIBS, MEDIA_READ_MIBS, CACHE_US,
    Parameter::bytes("cache", 8_589_934_592.0, 0.0, CACHE_HELP),
    Parameter::number("dedup", 0.0, 0.0, 1.0, DEDUP),
    Parameter::number("compress", 0.0, 0.0, 1.0, COMPRESS),
];

#[rustfmt::skip]
pub(super) const DEDUP_PARAMETERS: &[Parameter] = flash_parameters![
    BUFFER, MEDIA_MIBS, MEDIA_READ_MIBS, CACHE_US,
    Parameter::bytes("cache", 0.0, 0.0, CACHE_HELP),
    Parameter::number("dedup", 1.0, 0.0, 1.0, DEDUP),
    Parameter::number("compress", 1.0, 0.0, 1.0, COMPRESS),
];

pub(super) struct Array {
    flash: Flash,
    media_read_mibs: f64,
    media_read_ns: u64,
    read_mibs: f64,
    link_ns: u64,
    cache: Option<Lru>,
    cache_ns: u64,
    fingerprints: Option<Fingerprints>,
    compress: bool,
    logical_bytes: u64,
    stored_bytes: u64,
    media_read_bytes: u64,
    duplicates: u64,
}

impl Array {
    pub(super) fn new(parameters: &Parameters, seed: u64) -> Array {
        let buffer = parameters.get("buffer");
        let flash = Flash::new(parameters, seed).with_buffer(buffer, parameters.get("media_mibs"));
        Array {
            flash,
            media_read_mibs: parameters.get("media_read_mibs"),
            media_read_ns: 0,
            read_mibs: parameters.get("read_mibs"),
            link_ns: 0,
            cache: Lru::new(parameters.whole("cache")),
            cache_ns: parameters.us("cache_us"),
            fingerprints: parameters.on("dedup").then(Fingerprints::default),
            compress: parameters.on("compress"),
            logical_bytes: 0,
            stored_bytes: 0,
            media_read_bytes: 0,
            duplicates: 0,
        }
    }

    /// What is left of so many bytes of data as they were written on average.
    fn left_of(&self, bytes: u32) -> u32 {
        if self.logical_bytes == 0 {
            return bytes;
        }
        let share = self.stored_bytes as f64 / self.logical_bytes as f64;
        (f64::from(bytes) * share.min(1.0)) as u32
    }

    fn read(&mut self, now_ns: u64, op: &SimOp) -> u64 {
        let cache = self.cache.as_mut();
        if cache.is_some_and(|cache| cache.touch(op.offset, op.bytes)) {
            let transfer_ns = transfer_ns(op.bytes, self.read_mibs);
            self.link_ns = self.link_ns.max(now_ns) + transfer_ns;
            return self.link_ns + self.cache_ns;
        }
        let bytes = self.left_of(op.bytes);
        self.media_read_bytes += u64::from(bytes);
        let transfer_ns = transfer_ns(bytes, self.media_read_mibs);
        self.media_read_ns = self.media_read_ns.max(now_ns) + transfer_ns;
        self.flash.read(self.media_read_ns, op.offset, op.bytes)
    }

    fn write(&mut self, now_ns: u64, op: &SimOp) -> u64 {
        if let Some(cache) = &mut self.cache {
            cache.fill(op.offset, op.bytes);
        }
        let known = self.fingerprints.as_mut();
        let known = known.is_some_and(|fingerprints| fingerprints.has(op.content.fingerprint));
        let stored = if known {
            self.duplicates += 1;
            0
        } else if self.compress {
            let kept = u64::from(op.content.kept_permille.min(1000));
            (u64::from(op.bytes) * kept / 1000) as u32
        } else {
            op.bytes
        };
        self.logical_bytes += u64::from(op.bytes);
        self.stored_bytes += u64::from(stored);
        self.flash.carry_out(
            now_ns,
            Write {
                offset: op.offset,
                bytes: op.bytes,
                stored,
                ready_ns: 0,
            },
        )
    }
}

impl Mechanism for Array {
    fn submit(&mut self, now_ns: u64, op: &SimOp) -> SimAnswer {
        let at_ns = match op.kind {
            OpKind::Read => self.read(now_ns, op),
            OpKind::Write => self.write(now_ns, op),
            OpKind::Trim => self.flash.trim(now_ns, op.offset, op.bytes),
            _ => self.flash.flush(now_ns),
        };
        SimAnswer::Ends(SimEnd {
            at_ns,
            result: Ok(op.bytes),
        })
    }

    fn capacity_bytes(&self) -> u64 {
        self.flash.capacity_bytes()
    }

    fn expected(&self) -> Expected {
        let flash = self.flash.expected();
        let medium = self.media_read_mibs * MIB;
        Expected {
            // Of data that nothing makes smaller.
            read_bytes_per_second: Some(medium.min(self.read_mibs * MIB)),
            read_4k: None,
            random_read_mean_ns: None,
            ..flash
        }
    }

    fn inside(&self, now_ns: u64) -> Inside {
        let (cache_hits, cache_misses) = self.cache.as_ref().map_or((0, 0), Lru::counts);
        Inside {
            media_write_bytes: Some(self.stored_bytes),
            media_read_bytes: Some(self.media_read_bytes),
            cache_hits,
            cache_misses,
            duplicates: self.duplicates,
            ..self.flash.inside(now_ns)
        }
    }
}
