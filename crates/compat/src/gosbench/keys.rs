//! The keys of GOSBench's configuration, those of its fork included, each with
//! what becomes of it here.

/// A map of the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConfigurationMap {
    Top,
    Store,
    Test,
    Objects,
    Buckets,
    Parts,
}

/// What becomes of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It means what it means there.
    Meant,
    /// It has no effect, for this reason.
    Dead(&'static str),
}

/// One key.
#[derive(Debug)]
pub(super) struct KeyRow {
    pub(super) part: ConfigurationMap,
    pub(super) name: &'static str,
    pub(super) fate: Fate,
}

const fn meant(part: ConfigurationMap, name: &'static str) -> KeyRow {
    KeyRow {
        part,
        name,
        fate: Fate::Meant,
    }
}

const fn dead(part: ConfigurationMap, name: &'static str, why: &'static str) -> KeyRow {
    KeyRow {
        part,
        name,
        fate: Fate::Dead(why),
    }
}

use ConfigurationMap::{Buckets, Objects, Parts, Store, Test, Top};

/// Every key.
pub(super) const KEYS: &[KeyRow] = &[
    meant(Top, "s3_config"),
    meant(Top, "s3_configs"),
    meant(Top, "tests"),
    dead(
        Top,
        "grafana_config",
        "GOSBench reads it and never uses it; see `--metrics` and `fathom help metrics`",
    ),
    dead(
        Top,
        "report_config",
        "results go to gosbench_results.csv and to the store of runs; `fathom report` writes the rest",
    ),
    dead(
        Top,
        "global_config",
        "which worker sits beside which gateway is said with --hosts and the endpoints",
    ),
    meant(Store, "access_key"),
    meant(Store, "secret_key"),
    meant(Store, "region"),
    meant(Store, "endpoint"),
    meant(Store, "skipSSLverify"),
    meant(Store, "usePathStyle"),
    dead(
        Store,
        "timeout",
        "GOSBench reads it and never uses it; see `request_timeout` of fathom's plans",
    ),
    dead(Store, "name", "endpoints are named by their addresses"),
    meant(Test, "name"),
    meant(Test, "objects"),
    meant(Test, "buckets"),
    meant(Test, "bucket_prefix"),
    meant(Test, "object_prefix"),
    meant(Test, "stop_with_runtime"),
    meant(Test, "stop_with_ops"),
    meant(Test, "oneshot"),
    meant(Test, "workers"),
    meant(Test, "workers_share_buckets"),
    meant(Test, "skip_prepare"),
    meant(Test, "parallel_clients"),
    meant(Test, "clean_after"),
    meant(Test, "read_weight"),
    meant(Test, "existing_read_weight"),
    meant(Test, "write_weight"),
    meant(Test, "list_weight"),
    meant(Test, "delete_weight"),
    meant(Test, "write_option"),
    meant(Test, "read_option"),
    meant(Test, "payload_generator"),
    meant(Objects, "size_min"),
    meant(Objects, "size_max"),
    meant(Objects, "size_distribution"),
    meant(Objects, "number_min"),
    meant(Objects, "number_max"),
    meant(Objects, "number_distribution"),
    meant(Objects, "unit"),
    dead(
        Objects,
        "part_size",
        "GOSBench reads it and sends every object in one part; see write_option",
    ),
    meant(Buckets, "number_min"),
    meant(Buckets, "number_max"),
    meant(Buckets, "number_distribution"),
    meant(Parts, "max_upload_parts"),
    meant(Parts, "concurrency"),
    meant(Parts, "chunk_size"),
    meant(Parts, "unit"),
];

/// The names of a map's keys.
pub(super) fn names(part: ConfigurationMap) -> impl Iterator<Item = &'static str> {
    KEYS.iter()
        .filter(move |row| row.part == part)
        .map(|row| row.name)
}

/// The key of that name.
pub(super) fn find(part: ConfigurationMap, name: &str) -> Option<&'static KeyRow> {
    KEYS.iter().find(|row| row.part == part && row.name == name)
}
