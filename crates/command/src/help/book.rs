//! Pages of the documentation as topics of `fathom help`, for a host on which there
//! is only the binary.

use std::fmt::Write;

use fathom_model::nearest::nearest;
use fathom_report::page::Page;

use super::short::{bold, literal, width};

/// A page and the word it is asked for by.
struct Topic {
    word: &'static str,
    /// Its path below `docs`, as other pages link to it.
    path: &'static str,
    text: &'static str,
}

/// Topics by the part of the book that they are of.
struct Part {
    title: &'static str,
    topics: &'static [Topic],
}

macro_rules! part {
    ($title:literal: $($word:literal $path:literal),* $(,)?) => {
        Part {
            title: $title,
            topics: &[$(Topic {
                word: $word,
                path: $path,
                text: include_str!(concat!("../../../../docs/", $path)),
            }),*],
        }
    };
}

const PARTS: [Part; 6] = [
    part!("Start":
        "installing" "guide/installing.md",
        "first-number" "start/first-number.md",
        "three-tasks" "guide/three-tasks.md",
        "words" "start/words.md",
    ),
    part!("How to":
        "measuring" "guide/measuring.md",
        "diagnosis" "guide/diagnosis.md",
        "database" "how-to/database.md",
        "acceptance" "how-to/acceptance.md",
        "ci-gate" "how-to/ci-gate.md",
        "storage-classes" "how-to/kubernetes.md",
        "objects" "guide/objects.md",
        "small-files" "guide/metadata.md",
        "network" "guide/network.md",
        "hosts" "guide/fleet.md",
        "fio-jobs" "guide/fio.md",
        "gosbench-files" "guide/gosbench.md",
        "metrics" "guide/metrics.md",
        "settings" "guide/settings.md",
        "laboratory" "guide/lab.md",
    ),
    part!("Concepts":
        "traps" "concepts/traps.md",
        "latency" "concepts/latency.md",
        "intervals" "concepts/intervals.md",
        "caches" "concepts/caches.md",
        "verdicts" "concepts/verdicts.md",
    ),
    part!("Coming from":
        "from-fio" "coming-from/fio.md",
        "from-elbencho" "coming-from/elbencho.md",
        "from-warp" "coming-from/warp.md",
        "from-iperf3" "coming-from/iperf3.md",
        "from-smallfile" "coming-from/smallfile.md",
        "from-ioping" "coming-from/ioping.md",
        "from-kdiskmark" "coming-from/kdiskmark.md",
        "from-tkperf" "coming-from/tkperf.md",
        "from-hcibench" "coming-from/hcibench.md",
    ),
    part!("Evidence":
        "wrong-answers" "evidence/known-wrong-answers.md",
        "threats" "evidence/threat-model.md",
    ),
    part!("Contributing":
        "contributing" "contributing/README.md",
    ),
];

/// The page that a command is described in.
const OF_COMMANDS: [(&str, &[&str]); 13] = [
    ("first-number", &["quick", "report", "runs"]),
    (
        "measuring",
        &[
            "io", "ping", "run", "plan", "curve", "ab", "compare", "disks", "snia",
        ],
    ),
    ("diagnosis", &["diagnose", "watch", "record", "use"]),
    ("objects", &["s3"]),
    ("small-files", &["meta", "enumerate", "gluster"]),
    ("network", &["net", "size"]),
    ("hosts", &["fleet", "agent", "scale"]),
    ("storage-classes", &["kubernetes"]),
    ("from-fio", &["fio", "judge", "crosscheck"]),
    ("from-smallfile", &["smallfile"]),
    ("gosbench-files", &["gosbench"]),
    ("settings", &["config"]),
    ("verdicts", &["explain"]),
];

/// The topic to read about a command.
pub(super) fn of_command(name: &str) -> Option<&'static str> {
    let mut rows = OF_COMMANDS.iter();
    let found = rows.find(|(_, commands)| commands.contains(&name));
    found.map(|(topic, _)| *topic)
}

fn topics() -> impl Iterator<Item = &'static Topic> {
    PARTS.iter().flat_map(|part| part.topics)
}

/// The words that pages are asked for by.
pub(crate) fn words() -> impl Iterator<Item = &'static str> {
    topics().map(|topic| topic.word)
}

/// The page of a topic, for this terminal.
pub(super) fn page(word: &str) -> Option<String> {
    topics().find(|topic| topic.word == word).map(Topic::page)
}

/// The page of a topic as it is written.
pub(super) fn text(word: &str) -> Option<&'static str> {
    let topic = topics().find(|topic| topic.word == word)?;
    Some(topic.text)
}

/// The page for users of a tool, by the name of the tool.
pub(super) fn page_of_tool(name: &str) -> Option<String> {
    topic_of_tool(name).map(Topic::page)
}

impl Topic {
    fn page(&self) -> String {
        let page = Page {
            width: width(),
            topic_of: &|target| typed_for(self.path, target),
            heading: &bold,
        };
        page.render(self.text)
    }
}

/// What to type for the page that a link of another one leads to.
fn typed_for(from: &str, target: &str) -> Option<String> {
    let target = target.split('#').next()?;
    let mut folders: Vec<&str> = from.split('/').collect();
    folders.pop();
    for part in target.split('/') {
        match part {
            ".." => _ = folders.pop(),
            part => folders.push(part),
        }
    }
    let path = folders.join("/");
    let topic = topics().find(|topic| topic.path == path && topic.path != from)?;
    Some(format!("fathom help {}", topic.word))
}

/// All topics with the titles of their pages.
pub(super) fn list() -> String {
    let mut text = String::new();
    let longest = words().map(str::len).max().unwrap_or(0);
    for part in &PARTS {
        let _ = writeln!(text, "{}", bold(&format!("{}:", part.title)));
        for topic in part.topics {
            let padding = " ".repeat(longest - topic.word.len());
            let title = topic.title();
            let _ = writeln!(text, "  {}{padding}  {title}", literal(topic.word));
        }
        text.push('\n');
    }
    text + "Type `fathom help TOPIC`, such as `fathom help traps`. Tables: exit-status, environment.\n\
            Rules and thresholds: `fathom explain`.\n"
}

impl Topic {
    /// The first heading of the page.
    fn title(&self) -> &'static str {
        let mut lines = self.text.lines();
        let heading = lines.find_map(|line| line.strip_prefix("# "));
        heading.unwrap_or(self.word)
    }
}

/// Words that stand for the page about a tool, beside its own name: programs of its
/// package, and other spellings.
const OTHER_NAMES: [(&str, &str); 7] = [
    ("from-iperf3", "iperf"),
    ("from-elbencho", "elbencho-chart"),
    ("from-warp", "minio-warp"),
    ("from-warp", "minio"),
    ("from-smallfile", "smallfile_cli"),
    ("from-kdiskmark", "crystaldiskmark"),
    ("from-hcibench", "vdbench"),
];

fn topic_of_tool(word: &str) -> Option<&'static Topic> {
    let word = word.to_ascii_lowercase();
    let word = word.strip_suffix(".py").unwrap_or(&word);
    let other = OTHER_NAMES.iter().find(|(_, name)| *name == word);
    let topic = other.map_or_else(|| format!("from-{word}"), |(topic, _)| (*topic).to_owned());
    topics().find(|known| known.word == topic)
}

/// What is wrong with a word that names neither a command nor a topic.
pub(super) fn unknown(word: &str, commands: &[&str]) -> String {
    let near = nearest(word, commands.iter().copied()).or_else(|| nearest(word, words()));
    let hint = match near {
        Some(near) => format!("\nhelp: did you mean `fathom help {near}`?"),
        None => "\nhelp: `fathom help topics` lists the pages, `fathom --help` the commands".into(),
    };
    format!("'{word}' names no command and no topic{hint}")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::CommandFactory;

    use super::*;

    #[test]
    fn no_topic_hides_a_command() {
        let mut all = crate::cli::Cli::command();
        all.build();
        let hidden: Vec<&str> = words()
            .filter(|word| all.find_subcommand(word).is_some())
            .collect();
        assert!(hidden.is_empty(), "{hidden:?}");
    }

    #[test]
    fn a_tool_finds_the_page_for_its_users_by_its_name() {
        for topic in topics() {
            let Some(tool) = topic.word.strip_prefix("from-") else {
                continue;
            };
            let found = topic_of_tool(tool).map(|found| found.word);
            assert_eq!(found, Some(topic.word));
        }
        for (word, name) in OTHER_NAMES {
            assert_eq!(topic_of_tool(name).map(|found| found.word), Some(word));
        }
        let spelled = topic_of_tool("Smallfile_CLI.py").map(|found| found.word);
        assert_eq!(spelled, Some("from-smallfile"));
        assert!(topic_of_tool("pingu").is_none());
    }

    #[test]
    fn commands_point_to_topics_that_exist() {
        let all = crate::cli::Cli::command();
        for (topic, commands) in OF_COMMANDS {
            assert!(words().any(|word| word == topic), "{topic}");
            let unknown = commands
                .iter()
                .find(|name| all.find_subcommand(name).is_none());
            assert_eq!(unknown, None);
        }
    }

    #[test]
    fn every_page_fits_the_terminal_and_says_something() {
        for topic in topics() {
            let text = page(topic.word).unwrap_or_default();
            assert!(text.lines().count() > 10, "{}", topic.word);
            assert!(!text.contains("]("), "{}:\n{text}", topic.word);
            assert!(topic.title() != topic.word, "{}", topic.word);
        }
    }

    #[test]
    fn links_between_topics_say_what_to_type() {
        let typed = typed_for("coming-from/fio.md", "../guide/fio.md#job-files");
        assert_eq!(typed.as_deref(), Some("fathom help fio-jobs"));
        assert_eq!(typed_for("guide/fio.md", "../reference/fio.md"), None);
    }

    #[test]
    fn pages_that_users_follow_are_topics() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        for folder in ["start", "how-to", "concepts", "coming-from", "guide"] {
            let files = std::fs::read_dir(docs.join(folder)).expect("the folder is there");
            for file in files {
                let name = file.expect("it can be listed").file_name();
                let path = format!("{folder}/{}", name.to_string_lossy());
                assert!(topics().any(|topic| topic.path == path), "{path}");
            }
        }
    }
}
