use super::*;

#[test]
fn versions_are_read() {
    assert_eq!(version_number("fio-3.33"), Some((3, 33)));
    assert_eq!(version_number("fio-3.42-135-gf5344"), Some((3, 42)));
    assert_eq!(version_number("fio-2.1.10"), Some((2, 1)));
    assert_eq!(version_number("3.33"), None);
    assert_eq!(version_number("fio-x"), None);
}

#[test]
fn what_is_no_fio_is_told() {
    let missing = Peer::find(Path::new("/nonexistent/fio"));
    let missing = missing.err().unwrap().to_string();
    assert!(missing.contains("install fio"), "{missing}");
    let other = Peer::find(Path::new("/bin/echo"));
    let other = other.err().unwrap().to_string();
    assert!(other.contains("does not say that it is fio"), "{other}");
}

#[test]
fn one_that_hangs_is_ended_with_all_that_it_started() {
    // Both ignore what they are asked.
    let script = "trap '' INT TERM; (trap '' INT TERM; exec sleep 600) & sleep 600 & wait; wait";
    let mut command = fathom_deadline::command("sh").unwrap();
    command.args(["-c", script]).process_group(0);
    let child = command.spawn().unwrap();
    let group = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    let interrupt = Interrupt::new();
    let mut looks = 0;
    let begun = Instant::now();
    let ended = wait(
        child,
        Some(Duration::ZERO),
        &interrupt.clone(),
        &mut |_| {
            looks += 1;
            if looks == 4 {
                interrupt.raise();
            }
        },
        &|| 0,
    );
    assert!(matches!(ended, Err(Ending::InterruptedAndKilled)));
    assert!(begun.elapsed() < Duration::from_secs(30));
    // The children are reaped by the process that inherits them.
    let until = Instant::now() + Duration::from_secs(60);
    let runs = || {
        let table = std::fs::read_dir("/proc").unwrap().flatten();
        let stats =
            table.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
        stats.into_iter().any(|stat| {
            let (_, rest) = stat.rsplit_once(')').unwrap_or_default();
            let fields: Vec<&str> = rest.split_whitespace().collect();
            fields.first() != Some(&"Z") && fields.get(2) == Some(&group.to_string().as_str())
        })
    };
    while runs() {
        assert!(Instant::now() < until, "a process of the group still runs");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Makes a script that can be run. Another process writes it: while this one has it
/// open, a child that another test starts inherits that, and running it is "text file
/// busy" (ETXTBSY).
fn program(path: &Path, script: &str) {
    let write = "printf %s \"$2\" >\"$1\" && chmod 755 \"$1\"";
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", write, "sh"]).arg(path).arg(script);
    assert!(shell.status().unwrap().success());
}

#[test]
fn one_that_never_says_its_version_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let hangs = folder.path().join("fio");
    program(&hangs, "#!/bin/sh\nexec sleep 600\n");
    let error = Peer::find(&hangs).err().unwrap();
    assert!(matches!(error, PeerError::Silent(_)), "{error}");
    assert!(error.to_string().contains("version within 2 s"), "{error}");
}

#[test]
fn one_that_prints_without_end_is_killed_and_its_last_lines_are_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("messages");
    let messages = std::fs::File::create(&path).unwrap();
    let mut command = fathom_deadline::command("yes").unwrap();
    command.arg("much ado").stdout(messages).process_group(0);
    let child = command.spawn().unwrap();
    let printed = || std::fs::metadata(&path).map_or(0, |facts| facts.len());
    let ended = wait(child, None, &Interrupt::new(), &mut |_| {}, &printed);
    assert!(matches!(ended, Err(Ending::Flood)));
    assert!(end_of(&path).unwrap().len() as u64 <= LAST_BYTES);
    let said = said(&path);
    assert!(said.contains("much ado") && said.len() < 200, "{said}");
}
