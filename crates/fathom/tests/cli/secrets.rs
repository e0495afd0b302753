//! Secrets stand in nothing that fathom writes or prints, wherever they came
//! from.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fathom_s3::{Script, StoreServer};
use tempfile::TempDir;

/// One for each entrance, so that a leak names its own.
const SECRETS: [&str; 27] = [
    "FlagKeySecret01",
    "FlagSseKeySecret02",
    "FlagPassSecret03",
    "JobFileSecret04",
    "EnvironmentSecret05",
    "EnvironmentToken06",
    "CredentialsFile07",
    "PlanUrlSecret08",
    "GosbenchSecret09",
    "GosbenchUrlSecret10",
    "EndpointSecret11",
    "PushSecret12",
    "0123456789abcdef0123456789abcd13",
    "TargetSecret14",
    "HostSecret15",
    "ApartSecret16",
    "ShortenedSecret17",
    "MalformedToken18",
    "UnequalSecret19",
    "DescribedSecret20",
    "BeforeSecret21",
    "LabelSecret22",
    "LoginSecret23",
    "PlanNameSecret24",
    "BehindEqualsSecret25",
    "PlanMapSecret26",
    "PlanKeySecret27",
];

struct Place {
    home: TempDir,
    said: Vec<(String, Vec<u8>)>,
}

impl Place {
    fn call(&mut self, line: &str, environment: &[(&str, &str)]) {
        let words: Vec<&str> = line.split(' ').collect();
        self.call_words(&words, environment);
    }

    fn call_words(&mut self, words: &[&str], environment: &[(&str, &str)]) {
        let line = words.join(" ");
        let here = self.home.path();
        let output = Command::new(env!("CARGO_BIN_EXE_fathom"))
            .args(words)
            .current_dir(here)
            .env("HOME", here)
            .env("FATHOM_STORE", here.join("store/fathom.db"))
            .env_remove("AWS_ACCESS_KEY_ID")
            .env_remove("AWS_SECRET_ACCESS_KEY")
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .output()
            .expect("fathom runs");
        self.said
            .push((format!("standard output of {line}"), output.stdout));
        self.said
            .push((format!("standard error of {line}"), output.stderr));
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.home.path().join(name), text).unwrap();
    }
}

fn all_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        match entry.path() {
            path if path.is_dir() => all_below(&path, found),
            path => found.push(path),
        }
    }
}

fn holds(bytes: &[u8], secret: &str) -> bool {
    bytes
        .windows(secret.len())
        .any(|window| window == secret.as_bytes())
}

/// Everything that goes wrong early, each with a secret in an address.
fn addresses(place: &mut Place) {
    let s3 = "s3 put s3://b/p --objects 3 --object-size 1k --runtime 200ms --anonymous";
    place.call(
        &format!("{s3} --endpoint http://KEY:EndpointSecret11@127.0.0.1:1"),
        &[],
    );
    place.call(
        &format!("{s3} --endpoint KEY:EndpointSecret11@127.0.0.1:1"),
        &[],
    );
    place.call(
        s3,
        &[(
            "AWS_ENDPOINT_URL",
            "http://KEY:EndpointSecret11@127.0.0.1:1",
        )],
    );
    place.call(
        "io null: --runtime 100ms --metrics-push http://me:PushSecret12@127.0.0.1:1",
        &[],
    );
    place.call(
        "io null: --runtime 100ms",
        &[("FATHOM_METRICS_PUSH", "http://me:PushSecret12@h:1")],
    );
    place.call(
        "s3 get s3://KEY:TargetSecret14@bucket/p --anonymous --runtime 100ms",
        &[],
    );
    place.call("io s3://KEY:TargetSecret14@bucket/p --rw read", &[]);
    place.call(
        "s3 put --endpiont http://KEY:EndpointSecret11@h s3://b/p",
        &[],
    );
    place.write(
        "plan.yaml",
        "plan: 1\ntargets: s3://b/p\nworkloads:\n- {request: put, runtime: 1s, endpoint: \
         'http://KEY:PlanUrlSecret08@127.0.0.1:1'}\n",
    );
    for command in ["plan check", "plan show", "plan export --fio", "run"] {
        place.call(&format!("{command} plan.yaml"), &[]);
    }
    place.write(
        "url.yaml",
        "s3_config:\n- access_key: id\n  secret_key: GosbenchSecret09\n  endpoint: \
         http://KEY:GosbenchUrlSecret10@127.0.0.1:1\ntests:\n- name: t\n  read_weight: 0\n  \
         write_weight: 100\n  objects: {size_min: 1, size_max: 1, part_size: 0, \
         size_distribution: constant, unit: KB, number_min: 3, number_max: 3, \
         number_distribution: constant}\n  buckets: {number_min: 1, number_max: 1, \
         number_distribution: constant}\n  bucket_prefix: b\n  object_prefix: o\n  stop_with_ops: 5\n  \
         workers: 1\n  parallel_clients: 1\n",
    );
    place.call("gosbench url.yaml", &[]);
    place.call("gosbench url.yaml --show", &[]);
    place.call(
        "agent --token fathom-join-1a2b3c4d-0123456789abcdef0123456789abcd13 --listen 256.0.0.1:x",
        &[],
    );
    place.call("agent --token MalformedToken18", &[]);
    place.write("unequal.fio", "[j]\nsize=4k\nhttp_pass UnequalSecret19\n");
    place.write("first.fio", "http_pass UnequalSecret19\n");
    for line in [
        "fio unequal.fio",
        "fio --account unequal.fio",
        "fio first.fio",
    ] {
        place.call(line, &[]);
    }
    let described = "fio --name=a --ioengine=null --rw=read --size=64k --filename=null \
                     --description=http://u:DescribedSecret20@h/";
    for format in ["normal", "json", "terse"] {
        let line = format!("{described} --output-format={format}");
        place.call(&line, &[]);
        place.call(&format!("{line} --output=described-{format}"), &[]);
    }
    place.call(
        "agent --tokne fathom-join-1a2b3c4d-0123456789abcdef0123456789abcd13",
        &[],
    );
}

/// Keys where only the name of a place for keys may stand, or under a name that is
/// not one of a plan.
fn keys_in_wrong_places(place: &mut Place) {
    let behind = "http://127.0.0.1:1=KEY:BehindEqualsSecret25";
    place.call(
        &format!("s3 get s3://b/p --endpoint {behind} --objects 5"),
        &[],
    );
    place.call(&format!("clean s3://b/p --endpoint {behind}"), &[]);
    let vary = format!("endpoint={behind}|http://127.0.0.1:2");
    place.call(&format!("ab s3://b/p --request get --vary {vary}"), &[]);
    place.write(
        "map.yaml",
        "plan: 1\ntargets: s3://b/p\nworkloads:\n- request: get\n  runtime: 1s\n  endpoint: \
         {'http://127.0.0.1:1': 'KEY:PlanMapSecret26'}\n",
    );
    let names = [
        "secret_access_key",
        "access_key",
        "private_key",
        "passphrase",
    ];
    for (at, name) in names.into_iter().enumerate() {
        let file = format!("key{at}.yaml");
        let text = format!(
            "plan: 1\n{name}: PlanKeySecret27\ntargets: s3://b/p\nworkloads:\n- request: get\n"
        );
        place.write(&file, &text);
        place.call(&format!("plan check {file}"), &[]);
        place.call(&format!("run {file}"), &[]);
        let text = format!(
            "plan: 1\ntargets: s3://b/p\nworkloads:\n- request: get\n  {name}: PlanKeySecret27\n"
        );
        place.write(&file, &text);
        place.call(&format!("plan show {file}"), &[]);
        fs::remove_file(place.home.path().join(file)).unwrap();
    }
    for command in ["plan check", "plan show", "run"] {
        place.call(&format!("{command} map.yaml"), &[]);
    }
}

/// Commands of others, and names.
fn free_texts(place: &mut Place) {
    let before = "true postgres://u:BeforeSecret21@h/db AWS_SECRET_ACCESS_KEY=BeforeSecret21";
    let words = [
        "ab",
        "sim:ssd",
        "sim:ssd",
        "--runtime",
        "1s",
        "--pairs",
        "2",
        "--before-a",
        before,
        "--before-b=true -u me:LoginSecret23",
        "--label-a",
        "http://u:LabelSecret22@h",
        "--html",
        "ab.html",
    ];
    place.call_words(&words, &[]);
    place.call("runs show latest --json", &[]);
    let words = [
        "ab",
        "sim:ssd",
        "sim:ssd",
        "--runtime",
        "1s",
        "--before-a",
        "false --password LoginSecret23",
    ];
    place.call_words(&words, &[]);
    place.call(
        "io sim:ssd --runtime 1s --name http://u:PlanNameSecret24@h",
        &[],
    );
}

/// Loads that run, with keys that have to be kept.
fn loads(place: &mut Place, server: &StoreServer) {
    let endpoint = server.endpoint();
    let address = endpoint.trim_start_matches("http://");
    let fio = format!(
        "fio --name=a --ioengine=http --http_mode=s3 --http_host={address} --http_s3_keyid=ID \
         --filename=/bucket/o --rw=write --bs=4k --size=64k"
    );
    place.call(
        &format!(
            "{fio} --http_s3_key=FlagKeySecret01 --http_s3_sse_customer_key=FlagSseKeySecret02 \
             --output-format=json+ --write_bw_log=l"
        ),
        &[],
    );
    place.call(&format!("{fio} --http_s3_key ApartSecret16"), &[]);
    place.call(&format!("{fio} --http_s3_ke=ShortenedSecret17"), &[]);
    place.call(
        &format!("{fio} --http_s3_key=FlagKeySecret01 --nonsense=FlagKeySecret01"),
        &[],
    );
    place.call(
        &format!(
            "fio --name=a --ioengine=http --http_host={address} --http_user=me \
             --http_pass=FlagPassSecret03 --filename=/d/o --rw=write --bs=4k --size=64k --account"
        ),
        &[],
    );
    place.call(
        "fio --name=a --ioengine=http --http_host=me:HostSecret15@127.0.0.1:1 --rw=read",
        &[],
    );
    place.write(
        "job.fio",
        &format!(
            "[j]\nioengine=http\nhttp_mode=s3\nhttp_host={address}\nhttp_s3_keyid=ID\n\
             http_s3_key=JobFileSecret04\nfilename=/bucket/j\nrw=write\nbs=4k\nsize=64k\n"
        ),
    );
    for line in [
        "fio job.fio",
        "fio --account job.fio",
        "fio --showcmd job.fio",
        "fio --plan job.fio",
    ] {
        place.call(line, &[]);
    }
    let put = format!(
        "s3 put s3://bucket/p --objects 3 --object-size 1k --runtime 200ms --endpoint {endpoint}"
    );
    let keys = [
        ("AWS_ACCESS_KEY_ID", "ID"),
        ("AWS_SECRET_ACCESS_KEY", "EnvironmentSecret05"),
        ("AWS_SESSION_TOKEN", "EnvironmentToken06"),
    ];
    place.call(&format!("{put} --html page.html --json"), &keys);
    place.write(
        "keys",
        "[default]\naws_access_key_id=ID\naws_secret_access_key=CredentialsFile07\n",
    );
    place.call(&format!("{put} --credentials-file keys --csv"), &[]);
    place.write(
        "gos.yaml",
        &fs::read_to_string(place.home.path().join("url.yaml"))
            .unwrap()
            .replace("http://KEY:GosbenchUrlSecret10@127.0.0.1:1", &endpoint),
    );
    place.call("gosbench gos.yaml", &[]);
    place.call("record --for 2s -o r.frec", &keys);
    for line in [
        "runs list --json",
        "runs show latest --json",
        "runs export latest",
        "runs export latest --csv",
        "runs export latest --format fio-json --directory out",
        "report latest -o again.html",
    ] {
        place.call(line, &[]);
    }
}

#[test]
fn no_secret_is_in_anything_that_is_written_or_printed() {
    let any = ([127, 0, 0, 1], 0).into();
    let server = StoreServer::start(any, 1 << 28, Script::parse("").unwrap()).unwrap();
    let mut place = Place {
        home: TempDir::new().unwrap(),
        said: Vec::new(),
    };
    free_texts(&mut place);
    addresses(&mut place);
    keys_in_wrong_places(&mut place);
    loads(&mut place, &server);
    let given = [
        "plan.yaml",
        "url.yaml",
        "gos.yaml",
        "job.fio",
        "keys",
        "unequal.fio",
        "first.fio",
        "map.yaml",
    ];
    let mut files = Vec::new();
    all_below(place.home.path(), &mut files);
    files.retain(|path| !given.iter().any(|name| path.ends_with(name)));
    assert!(
        files.iter().any(|path| path.ends_with("store/fathom.db")),
        "{files:?}"
    );
    assert!(
        files.iter().any(|path| path.ends_with("page.html")),
        "{files:?}"
    );
    let mut texts = place.said;
    texts.extend(
        files
            .iter()
            .map(|path| (path.display().to_string(), fs::read(path).unwrap())),
    );
    let mut leaks = Vec::new();
    for (what, bytes) in &texts {
        for secret in SECRETS {
            if holds(bytes, secret) {
                let text = String::from_utf8_lossy(bytes);
                let line = text.lines().find(|line| line.contains(secret));
                leaks.push(format!(
                    "{secret} in {what}: {:.200}",
                    line.unwrap_or("binary")
                ));
            }
        }
    }
    assert!(leaks.is_empty(), "{}", leaks.join("\n"));
    // The loads did run: their keys had something to leak into.
    let runs = texts
        .iter()
        .find(|(what, _)| what.ends_with("runs list --json"));
    let runs = String::from_utf8_lossy(&runs.unwrap().1)
        .matches("\"id\"")
        .count();
    assert!(runs >= 5, "{runs}");
}
