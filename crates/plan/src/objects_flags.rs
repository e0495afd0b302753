//! Work on an object store as flags, and how a store is reached.

use clap::{ArgMatches, Args, Command, FromArgMatches};
use fathom_model::workload::{EngineKind, ObjectStore};
use fathom_model::{OpKind, Target};

use crate::diagnostic::{Diagnostics, Problem, Problems, Source, error};
use crate::flags::{IoFlags, arg, has_flag};
use crate::keys::{PauseKeys, PlanKeys, WorkloadKeys};
use crate::node::Located;
use crate::plan::Plan;
use crate::section::{Key, Section};
use crate::spelling::Spelling;
use crate::value::{Count, Name, RequestsValue, Seconds, Switch, Targets, Time, Value};
use crate::works::Works;

const DEFAULT_RUNTIME_NS: u64 = 30_000_000_000;

/// Modes that warp's users know by another word than the request, or as a mix. Every
/// request is a mode as well.
const MODES: [(&str, &str); 10] = [
    ("delete", "delete_many"),
    ("stat", "head"),
    ("mixed", "get:45,head:30,put:15,delete:10"),
    (
        "versioned",
        "get_version:45,head_version:30,put_version:15,delete_version:10",
    ),
    ("multipart", "get_parallel"),
    ("multipart-put", "put_multipart"),
    ("range", "get_range"),
    ("delete-one", "delete"),
    ("versions", "list_versions"),
    ("retention", "put_retention"),
];

/// What a mode asks for.
fn requests_of(mode: &str) -> Option<RequestsValue> {
    let own = MODES.iter().find(|(name, _)| *name == mode);
    let text = own.map_or_else(|| mode.replace('-', "_"), |(_, text)| (*text).to_owned());
    let known = own.is_some() || OpKind::ALL.iter().any(|kind| is_request(*kind, &text));
    known
        .then(|| RequestsValue::from_text(&text).ok())
        .flatten()
}

fn is_request(kind: OpKind, name: &str) -> bool {
    kind.is_object() && kind.name() == name
}

/// Every mode, requests first.
fn modes() -> impl Iterator<Item = String> {
    let requests = OpKind::ALL.into_iter().filter(|kind| kind.is_object());
    let requests = requests.map(|kind| kind.name().replace('_', "-"));
    let others = MODES.iter().map(|(name, _)| (*name).to_owned());
    let covered = |name: &String| MODES.iter().any(|(mode, _)| mode == name);
    requests.filter(move |name| !covered(name)).chain(others)
}

/// Keys that say how a store is reached.
const OF_STORE: [&str; 9] = [
    "endpoint",
    "s3_region",
    "virtual_host",
    "credentials_file",
    "profile",
    "anonymous",
    "ca_file",
    "unverified_tls",
    "request_timeout",
];

/// The flags that mean something for work on an object store.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ObjectsFlags {
    flags: IoFlags,
}

/// The flags that say how a store is reached.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StoreFlags {
    flags: IoFlags,
}

fn is_flag(key: &&'static Key) -> bool {
    let chosen = [
        "engine",
        "matrix",
        "name",
        "start_delay",
        "direct",
        "buffered",
        "drop_cache",
        "batch",
        "together",
    ];
    has_flag(key) && key.works.holds(Works::OBJECTS) && !chosen.contains(&key.name)
}

fn is_of_store(key: &&'static Key) -> bool {
    OF_STORE.contains(&key.name)
}

macro_rules! flags {
    ($Flags:ty, $is_flag:path) => {
        impl Args for $Flags {
            fn augment_args(command: Command) -> Command {
                command.args(WorkloadKeys::keys().iter().filter($is_flag).map(arg))
            }

            fn augment_args_for_update(command: Command) -> Command {
                Self::augment_args(command)
            }
        }

        impl FromArgMatches for $Flags {
            fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
                let mut flags = Self::default();
                flags.update_from_arg_matches(matches)?;
                Ok(flags)
            }

            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
                self.flags.update_from_arg_matches(matches)
            }
        }
    };
}

flags!(ObjectsFlags, is_flag);
flags!(StoreFlags, is_of_store);

impl StoreFlags {
    /// How the store is reached.
    pub fn store(&self) -> ObjectStore {
        crate::resolve::store_of(&self.flags.keys)
    }

    /// These keys, and those of the workload where they say nothing.
    pub fn over(&self, keys: WorkloadKeys) -> WorkloadKeys {
        let mine = self.flags.keys.clone();
        WorkloadKeys {
            endpoint: mine.endpoint.or(keys.endpoint),
            s3_region: mine.s3_region.or(keys.s3_region),
            virtual_host: mine.virtual_host.or(keys.virtual_host),
            credentials_file: mine.credentials_file.or(keys.credentials_file),
            profile: mine.profile.or(keys.profile),
            anonymous: mine.anonymous.or(keys.anonymous),
            ca_file: mine.ca_file.or(keys.ca_file),
            unverified_tls: mine.unverified_tls.or(keys.unverified_tls),
            request_timeout: mine.request_timeout.or(keys.request_timeout),
            ..keys
        }
    }

    /// Whether they say whose keys sign.
    pub fn names_keys(&self) -> bool {
        let keys = &self.flags.keys;
        let own = keys.endpoint.as_ref().is_some_and(|e| e.value.names_keys());
        own || keys.credentials_file.is_some() || keys.profile.is_some() || keys.anonymous.is_some()
    }
}

impl ObjectsFlags {
    /// A plan on `target`: what `mode` names, unless the flags say what is
    /// requested. One iteration, no pauses; a mix runs for half a minute unless
    /// told otherwise.
    ///
    /// # Errors
    /// A mode that is none, and every combination of flags that cannot run.
    pub fn to_plan(&self, target: Target, mode: &str) -> Result<Plan, Diagnostics> {
        let source = Source::new("command line", "");
        let mut problems = Problems::default();
        let mut keys = self.flags.keys.clone();
        if let Err(problem) = take_mode(&mut keys, mode) {
            problems.push(problem);
            return Err(problems.finish(&source));
        }
        let mix = keys.request.as_ref().is_some_and(|r| r.value.0.len() > 1);
        let open = keys.rate.is_some() || keys.rate_iops.is_some();
        if (mix || open) && keys.runtime.is_none() && keys.number_ios.is_none() {
            keys.runtime = Some(Located::new(Seconds(DEFAULT_RUNTIME_NS)));
        }
        keys.engine = Some(Located::new(EngineKind::S3));
        keys.name = Some(Located::new(Name(mode.to_owned())));
        let zero = || Some(Located::new(Time(0)));
        let plan = PlanKeys {
            targets: Some(Located::new(Targets(vec![Located::new(target)]))),
            iterations: Some(Located::new(Count(1))),
            pause: Some(Located::new(PauseKeys {
                floor: zero(),
                ceiling: zero(),
                until_quiet: Some(Located::new(Switch(false))),
            })),
            ..Plan::build("objects", vec![keys])
        };
        Plan::checked(plan, source, Spelling::Flags, problems)
    }
}

/// What a mode asks for; requests that are given as well must be a mix of one's
/// own.
fn take_mode(keys: &mut WorkloadKeys, mode: &str) -> Result<(), Problem> {
    let Some(asked) = requests_of(mode) else {
        let names: Vec<String> = modes().collect();
        let message = format!("'{mode}' is not a mode; known: {}", names.join(", "));
        return Err(error("bad_value", None, message).help("for example get"));
    };
    match &keys.request {
        None => keys.request = Some(Located::new(asked)),
        Some(given) if given.value != asked && asked.0.len() == 1 => {
            let message = format!("the mode {mode} and --request ask for different things");
            let help = "remove --request, or take the mode mixed";
            return Err(error("conflict", None, message).help(help));
        }
        Some(_) => {}
    }
    Ok(())
}

impl Plan {
    /// Says how the store of all workloads is reached, where `flags` say it.
    pub fn reach(&mut self, flags: &StoreFlags) {
        for workload in self
            .keys
            .workloads
            .iter_mut()
            .flat_map(|all| &mut all.value.0)
        {
            workload.value = flags.over(std::mem::take(&mut workload.value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ScheduleContext;
    use fathom_model::workload::{KeyLayout, ObjectSizes};

    fn flags(arguments: &[&str]) -> ObjectsFlags {
        let command = ObjectsFlags::augment_args(Command::new("s3"));
        let words = std::iter::once("s3").chain(arguments.iter().copied());
        let words: Vec<String> = words.map(str::to_owned).collect();
        ObjectsFlags::from_arg_matches(&command.get_matches_from(words)).unwrap()
    }

    fn bucket() -> Target {
        "s3://bucket/p".parse().unwrap()
    }

    #[test]
    fn modes_become_requests() {
        let given = flags(&[
            "--endpoint",
            "http://a:1,http://b:2",
            "--objects",
            "10k",
            "--object-size",
            "log2:1m",
            "--iodepth",
            "8",
            "--key-layout",
            "tree:2x4",
        ]);
        for mode in modes() {
            let text = requests_of(&mode).unwrap().to_text();
            let plan = given.to_plan(bucket(), &mode).unwrap();
            let schedule = plan.schedule(&ScheduleContext::default()).unwrap();
            let workload = &schedule.trials[0].workload;
            let object = workload.requests().unwrap();
            assert_eq!(RequestsValue(object.ops.clone()).to_text(), text, "{mode}");
            assert_eq!(object.objects, 10_000);
            assert_eq!(object.sizes, ObjectSizes::Log2 { max_bytes: 1 << 20 });
            assert_eq!(
                object.keys,
                KeyLayout::Tree {
                    depth: 2,
                    fan_out: 4
                }
            );
            assert_eq!(workload.queue_depth, 8);
            let store = workload.store().unwrap();
            assert_eq!(store.endpoints, ["http://a:1", "http://b:2"]);
            assert_eq!(object.repeat, text.contains(','), "{mode}");
            let again = crate::parse("objects.yaml", &plan.to_yaml()).unwrap();
            assert_eq!(plan, again, "{mode}");
        }
    }

    #[test]
    fn what_is_wrong_is_told() {
        let told = |arguments: &[&str], mode: &str| {
            let problems = flags(arguments).to_plan(bucket(), mode).unwrap_err();
            problems.render(false)
        };
        assert!(told(&[], "gett").contains("is not a mode"));
        assert!(told(&["--existing"], "put").contains("only read"));
        assert!(told(&["--checksum-trailing"], "put").contains("--checksum crc32c"));
        let both = [
            "--checksum-trailing",
            "--checksum",
            "sha1",
            "--sign-payload",
        ];
        assert!(told(&both, "put").contains("not signed with it"));
        assert!(told(&["--rate", "1MiB/s"], "get").contains("in operations"));
        assert!(told(&["--request", "put"], "get").contains("different things"));
        assert!(told(&["--verify", "after"], "get").contains("--verify on_read"));
        assert!(told(&["--verify", "on_read"], "put").contains("nothing is read"));
        assert!(told(&["--request-timeout", "1us"], "get").contains("at least 1 ms"));
        assert!(told(&["--runtime", "0"], "get").contains("measures nothing"));
    }

    #[test]
    fn keys_of_other_requests_are_pointed_out() {
        let plan = |mode: &str| flags(&["--part-size", "8m"]).to_plan(bucket(), mode);
        assert!(plan("multipart").unwrap().warnings().is_empty());
        let warned = plan("get").unwrap().warnings().render(false);
        assert!(warned.contains("--part-size has no effect"), "{warned}");
    }

    #[test]
    fn blocks_on_a_bucket_are_objects() {
        let text = "plan: 1\ntargets: s3://bucket\nworkloads:\n- rw: randrw\n  rwmixread: 70\n  bs: 64k\n  \
                    size: 64m\n  runtime: 5s\n";
        let plan = crate::parse("x.yaml", text).unwrap();
        let schedule = plan.schedule(&ScheduleContext::default()).unwrap();
        let workload = &schedule.trials[0].workload;
        let object = workload.requests().unwrap();
        let shares: Vec<_> = object.ops.iter().map(|s| (s.kind, s.weight)).collect();
        assert_eq!(shares, [(OpKind::Get, 70), (OpKind::Put, 30)]);
        assert_eq!(
            (object.objects, &object.sizes),
            (1024, &ObjectSizes::Fixed(65_536))
        );
    }
}
