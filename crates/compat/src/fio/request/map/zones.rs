//! fio's `zonemode` and what goes with it.

use fathom_model::Workload;
use fathom_model::workload::ZoneWalk;

use super::asked::Asked;
use crate::fio::request::account::OptionOutcome;

/// Zones that a load goes through one after the other.
pub(super) fn fill(asked: &mut Asked<'_>, workload: &mut Workload) {
    const COMPANIONS: [&str; 3] = ["zonesize", "zonerange", "zoneskip"];
    match asked.word("zonemode", "none") {
        "none" => {
            for name in COMPANIONS {
                asked.ignored(name, "goes with zonemode=strided");
            }
        }
        "strided" => {
            let bytes = |name| asked.bytes(name).filter(|bytes| *bytes > 0);
            let (stay, range) = (bytes("zonesize"), bytes("zonerange"));
            let skip = bytes("zoneskip").unwrap_or(0);
            let Some((stay_bytes, zone_bytes)) = stay.or(range).zip(range.or(stay)) else {
                asked.problem("zonemode", "zonemode=strided needs zonesize or zonerange");
                return;
            };
            for name in COMPANIONS.into_iter().chain(["zonemode"]) {
                asked.becomes(name, OptionOutcome::Run);
            }
            workload.zone_walk = Some(ZoneWalk {
                zone_bytes,
                stay_bytes,
                skip_bytes: skip,
            });
        }
        _ => asked.refused("zonemode", "zoned devices are not supported"),
    }
}
