//! `--help`, `--version`, `--cmdhelp`, `--enghelp`, `--showcmd`.

use super::output::DEFAULT_VERSION;
use super::request::{
    FioFate, FioJobs, FioOption, FioRequest, FioSetting, fio_engines, fio_option, fio_options,
    fio_steady_words,
};

/// What `--parse-only --debug=parse` says.
pub fn parsed(request: &FioRequest) -> String {
    let debug = request.run.debug.as_deref().unwrap_or_default();
    match debug
        .split(',')
        .any(|part| part == "parse" || part == "all")
    {
        true => fio_steady_words(&request.jobs),
        false => String::new(),
    }
}

/// What `--version` says.
pub fn version() -> String {
    // Scripts look at how it begins.
    format!("{DEFAULT_VERSION}-fathom-{}\n", env!("CARGO_PKG_VERSION"))
}

/// What `--help` says.
pub fn usage() -> String {
    format!(
        "fathom {} as fio: runs fio's job files and command lines

Usage: fathom fio [switches] [options of jobs] [job files, - is standard input]

  --output=FILE            results go to FILE
  --output-format=F[,F]    normal, terse, json, json+
  --minimal                terse; --terse-version=2..5; --append-terse
  --eta=WHEN               progress: always, never, auto
  --section=NAME           only this job; may be repeated
  --status-interval=TIME   interim results this often
  --readonly               refuse to write to anything
  --max-jobs=N             at most N jobs
  --aux-path=DIRECTORY     logs go there
  --parse-only             read, check, run nothing
  --showcmd                print the jobs as a command line
  --cmdhelp[=OPTION]       explain options; --enghelp[=ENGINE]
  --warnings-fatal --alloc-size=KB --debug=PARTS --idle-prof=HOW
  --client=HOST            run there, at the same time; may be repeated, and may be
                           a file with one host to a line; no server is needed
  --version, --help

Of fathom:
  --account                what becomes of every option, run nothing
  --plan                   the trials that the jobs become, run nothing
  --lenient                leave options out that fio does not know, and say so
  --strict                 an ignored option is an error; the verdict sets the exit status
  --destructive            devices and files that were there may be overwritten
                           (or FATHOM_DESTRUCTIVE=1)
  --quiet                  errors only on standard error (or FATHOM_FIO_QUIET=1); so it
                           is by the name of fio, unless FATHOM_FIO_QUIET=0
  --launcher=HOW           how agents of --client are started: ssh, static, slurm, mpi;
                           --fleet=DIR, --allow-missing=N
  --store=FILE --html=FILE where the run and its report are kept

Examples:
  fathom fio job.fio
  fathom fio --name=a --rw=randread --bs=4k --size=1g --runtime=10 --time_based
  fathom fio --output-format=json --output=result.json job.fio
",
        env!("CARGO_PKG_VERSION")
    )
}

/// The list of options, or one; `None` for an unknown name.
pub fn options(name: Option<&str>) -> Option<String> {
    let Some(name) = name else {
        let main = fio_options().iter().filter(|option| !option.of_engine);
        let line = |option: &FioOption| {
            let (how, remark) = fate(option);
            format!("{:<30}  {how}: {remark}\n", option.name)
        };
        return Some(main.map(line).collect());
    };
    let option = fio_option(name)?;
    let (how, remark) = fate(option);
    let mut text = format!("{:>10}: {}\n", option.name, remark);
    if !option.aliases.is_empty() {
        text += &format!("{:>10}: {}\n", "alias", option.aliases.join(", "));
    }
    text += &format!("{:>10}: {}\n", "value", option.kind.words());
    text += &format!(
        "{:>10}: {}\n",
        "default",
        option.default.unwrap_or("no default")
    );
    text += &format!("{:>10}: {how}\n", "in fathom");
    Some(text)
}

fn fate(option: &FioOption) -> (&'static str, String) {
    match option.fate {
        FioFate::Run(remark) => ("run", remark.to_owned()),
        FioFate::Mapped(remark) => ("mapped", remark.to_owned()),
        FioFate::Ignored(remark) => ("ignored", remark.to_owned()),
        FioFate::Refused(remark) => ("refused", remark.to_owned()),
        FioFate::OtherEngine(engine) => ("refused", format!("belongs to the engine {engine}")),
    }
}

/// The engines, or the options of one.
pub fn engines(name: Option<&str>) -> String {
    let Some(name) = name else {
        let mut text = String::from("Engines of fio:\n");
        for (engine, how, remark) in fio_engines() {
            text += &format!("  {engine:<14}  {how:<8}  {remark}\n");
        }
        return text;
    };
    let of = |option: &&FioOption| {
        option.of_engine
            && (option.group == name
                || matches!(option.fate, FioFate::OtherEngine(engine) if engine == name))
    };
    let line = |option: &FioOption| {
        let (how, remark) = fate(option);
        format!("{:<30}  {how}: {remark}\n", option.name)
    };
    fio_options().iter().filter(of).map(line).collect()
}

/// The jobs as one command line.
pub fn command_line(jobs: &FioJobs) -> String {
    let mut text = String::from("fio");
    let mut add = |setting: &FioSetting| {
        text += " --";
        text += setting.option.name;
        if let Some(value) = &setting.value {
            text += "=";
            text += &quoted(value);
        }
    };
    jobs.globals.iter().for_each(&mut add);
    for job in &jobs.jobs {
        if job.settings.first().is_none_or(|s| s.option.name != "name") {
            let mut name = job.settings.first().cloned();
            if let Some(option) = fio_option("name") {
                name = Some(FioSetting {
                    option,
                    value: Some(job.name.clone()),
                    place: job.place.clone(),
                    value_place: job.place.clone(),
                });
            }
            name.iter().for_each(&mut add);
        }
        job.settings.iter().for_each(&mut add);
    }
    text + "\n"
}

/// As a shell takes it.
fn quoted(value: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,%+=@".contains(c);
    match !value.is_empty() && value.chars().all(plain) {
        true => value.to_owned(),
        false => format!("'{}'", value.replace('\'', r"'\''")),
    }
}
