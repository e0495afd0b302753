//! Names that people bring from fio and that fathom does not need or does
//! not have. Each is answered with what to do instead of "unknown key".

/// What to say about a foreign name.
pub(crate) struct Foreign {
    /// fio's name.
    pub(crate) name: &'static str,
    /// It asks for what happens anyway, so it may stay.
    pub(crate) harmless: bool,
    /// What happens, or what to do instead.
    pub(crate) remark: &'static str,
}

const fn harmless(name: &'static str, remark: &'static str) -> Foreign {
    Foreign {
        name,
        harmless: true,
        remark,
    }
}

const fn refused(name: &'static str, remark: &'static str) -> Foreign {
    Foreign {
        name,
        harmless: false,
        remark,
    }
}

const FOREIGN: &[Foreign] = &[
    harmless(
        "time_based",
        "a trial with a runtime always starts over at the end of its data",
    ),
    harmless(
        "group_reporting",
        "the workers of a trial are always reported together",
    ),
    harmless("thread", "workers are always threads"),
    harmless(
        "randrepeat",
        "a seed always gives the same offsets; set `seed` in the plan",
    ),
    harmless("refill_buffers", "every written block is new"),
    harmless(
        "clat_percentiles",
        "percentiles come from the stored histograms",
    ),
    harmless(
        "lat_percentiles",
        "percentiles come from the stored histograms",
    ),
    harmless(
        "percentile_list",
        "any percentile can be asked for after the run",
    ),
    harmless(
        "disk_util",
        "the devices under a target are always observed",
    ),
    harmless("log_avg_msec", "every second is stored"),
    harmless(
        "write_bw_log",
        "every second is stored; export the run to get logs",
    ),
    harmless(
        "write_lat_log",
        "every second is stored; export the run to get logs",
    ),
    harmless(
        "write_iops_log",
        "every second is stored; export the run to get logs",
    ),
    harmless("stonewall", "workloads always run one after another"),
    refused("trimwrite", "write `rw: trimwrite`"),
    refused("filesize", "use `size` (all files together) and `nrfiles`"),
    refused("fill_device", "use `precondition: fill`"),
    refused("zonemode", "write zones: 256m+2g"),
    refused("rwmixcycle", "reads and writes are always mixed one by one"),
    refused(
        "steadystate",
        "use `until: steady`, or `until: iops 10% over 30s`",
    ),
    refused("write_iolog", "traces are not written"),
    refused("randseed", "use `seed` in the plan"),
    refused("include", "a plan is one file"),
];

/// The remark on a foreign name.
pub(crate) fn lookup(name: &str) -> Option<&'static Foreign> {
    let name = name.replace('-', "_");
    FOREIGN.iter().find(|foreign| foreign.name == name)
}

/// Every foreign name.
pub(crate) fn all() -> &'static [Foreign] {
    FOREIGN
}
