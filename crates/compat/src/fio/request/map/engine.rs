//! fio's engines and what takes their place.

use fathom_model::OpKind;
use fathom_model::workload::EngineKind;

use super::asked::Asked;

/// fio's engine without `ioengine`.
const DEFAULT: &str = "psync";

/// An engine of a job.
pub(super) struct Chosen {
    pub(super) kind: EngineKind,
    /// It does one operation at a time.
    pub(super) synchronous: bool,
    /// Nothing is read or written.
    pub(super) null: bool,
    /// It works on names: this is done to each file or directory.
    pub(super) names: Option<OpKind>,
}

/// What becomes of an engine.
enum Fate {
    Same(EngineKind),
    Near(EngineKind, &'static str),
    /// An operation on names, in a tree of fathom's own.
    Names(OpKind),
    Refused(&'static str),
}

fn fate(name: &str) -> Fate {
    match name {
        "psync" => Fate::Same(EngineKind::Psync),
        "libaio" => Fate::Same(EngineKind::Libaio),
        "io_uring" => Fate::Same(EngineKind::Uring),
        "mmap" => Fate::Same(EngineKind::Mmap),
        "null" | "cpp_null" => Fate::Same(EngineKind::Null),
        "sync" | "pvsync" | "pvsync2" => {
            Fate::Near(EngineKind::Psync, "one pread or pwrite at a time, as psync")
        }
        "vsync" => Fate::Near(
            EngineKind::Psync,
            "one pread or pwrite at a time; neighbours are not joined",
        ),
        "posixaio" => Fate::Near(EngineKind::Uring, "asynchronous through io_uring"),
        "http" => Fate::Same(EngineKind::S3),
        "nfs" => Fate::Refused("mount the share and name a directory of the mount"),
        "libiscsi" => Fate::Refused("log in to the target and name its block device"),
        "net" => Fate::Same(EngineKind::Net),
        "netsplice" => Fate::Refused("data do not go through pipes; use ioengine=net"),
        "rdma" => Fate::Refused("RDMA is not measured; for now use the real fio"),
        "filecreate" => Fate::Names(OpKind::Create),
        "filestat" => Fate::Names(OpKind::Stat),
        "filedelete" => Fate::Names(OpKind::Unlink),
        "dircreate" => Fate::Names(OpKind::Mkdir),
        "dirstat" => Fate::Names(OpKind::Statdir),
        "dirdelete" => Fate::Names(OpKind::Rmdir),
        "cpuio" => {
            Fate::Refused("it burns CPU time and does no I/O; start `stress-ng` beside fathom")
        }
        "falloc" => Fate::Same(EngineKind::Falloc),
        "ftruncate" => Fate::Same(EngineKind::Ftruncate),
        "e4defrag" => Fate::Refused("it changes files and moves no data; use the real fio"),
        "exec" => Fate::Refused("a job file starts no programs; start it beside fathom"),
        "splice" => Fate::Refused("data do not go through pipes; use ioengine=psync"),
        "sg" | "io_uring_cmd" | "libblkio" | "xnvme" | "libzbc" => {
            Fate::Refused("commands are not sent past the block layer; use ioengine=io_uring")
        }
        "page_fault" | "dev-dax" | "libpmem" => {
            Fate::Refused("memory is not measured; a file on it is: use ioengine=mmap")
        }
        "rbd" | "rados" | "gfapi" | "gfapi_async" | "libhdfs" | "dfs" | "ime_psync"
        | "ime_psyncv" | "ime_aio" | "nbd" => {
            Fate::Refused("mount it, or map it as a block device, and name that")
        }
        "libcufile" | "libhipfile" => Fate::Refused("memory of graphics cards is not used"),
        "mtd" => Fate::Refused("raw flash is not written to; name a file system on it"),
        "external" | "skeleton_external" => Fate::Refused("plug-ins are not loaded"),
        "solarisaio" | "windowsaio" => {
            Fate::Refused("it is of another system; use ioengine=libaio")
        }
        name if name.starts_with("external:") => Fate::Refused("plug-ins are not loaded"),
        _ => Fate::Refused("fio has no such engine that is known here; see --enghelp"),
    }
}

/// Every engine that fio documents, with what becomes of it.
pub(crate) const ENGINES: [&str; 52] = [
    "sync",
    "psync",
    "vsync",
    "pvsync",
    "pvsync2",
    "io_uring",
    "io_uring_cmd",
    "libaio",
    "posixaio",
    "solarisaio",
    "windowsaio",
    "mmap",
    "splice",
    "sg",
    "libzbc",
    "null",
    "net",
    "netsplice",
    "cpuio",
    "rdma",
    "falloc",
    "ftruncate",
    "e4defrag",
    "rados",
    "rbd",
    "http",
    "gfapi",
    "gfapi_async",
    "libhdfs",
    "mtd",
    "dev-dax",
    "external",
    "filecreate",
    "filestat",
    "filedelete",
    "dircreate",
    "dirstat",
    "dirdelete",
    "libpmem",
    "ime_psync",
    "ime_psyncv",
    "ime_aio",
    "libiscsi",
    "nbd",
    "libcufile",
    "libhipfile",
    "dfs",
    "nfs",
    "exec",
    "xnvme",
    "libblkio",
    "page_fault",
];

/// An engine with what becomes of it: `run`, `mapped` or `refused`, and a
/// remark.
pub(crate) fn described(name: &str) -> (&'static str, String) {
    match fate(name) {
        Fate::Same(kind) => ("run", format!("as `{}`", kind.name())),
        Fate::Near(kind, remark) => ("mapped", format!("as `{}`: {remark}", kind.name())),
        Fate::Names(kind) => ("mapped", names_remark(kind)),
        Fate::Refused(remark) => ("refused", remark.to_owned()),
    }
}

fn names_remark(kind: OpKind) -> String {
    format!(
        "as `meta`, operation {}: in a tree of fathom's own below the directory, which is removed \
         afterwards",
        kind.name()
    )
}

/// Chooses the engine of a job.
pub(super) fn choose(asked: &mut Asked<'_>) -> Option<Chosen> {
    let name = asked.word("ioengine", DEFAULT);
    let mut names = None;
    let kind = match fate(name) {
        Fate::Same(kind) => kind,
        Fate::Names(operation) => {
            asked.mapped("ioengine", names_remark(operation));
            names = Some(operation);
            EngineKind::Meta
        }
        Fate::Near(kind, remark) => {
            asked.mapped("ioengine", format!("`{}`: {remark}", kind.name()));
            kind
        }
        Fate::Refused(remark) => {
            asked.refused("ioengine", remark);
            return None;
        }
    };
    Some(Chosen {
        kind,
        // Requests of fio's engine `http` wait for one another.
        synchronous: kind.one_at_a_time() || kind == EngineKind::S3,
        null: matches!(kind, EngineKind::Null | EngineKind::Net),
        names,
    })
}
