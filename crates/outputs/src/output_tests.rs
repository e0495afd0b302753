use std::os::unix::fs::{MetadataExt, symlink};

use super::*;

const OWN: &str = "{\"schema\": \"fathom.run/1\"}";

fn write(path: &Path, force: bool) -> Result<(), Refused> {
    let output = Output::admit(path, Mark::Document, force)?;
    output.write(|out| out.write_all(OWN.as_bytes()))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn a_new_file_and_one_of_fathoms_are_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.json");
    write(&path, false).unwrap();
    write(&path, false).unwrap();
    assert_eq!(read(&path), OWN);
    assert_eq!(path.metadata().unwrap().mode() & 0o7777, 0o600);
    std::fs::write(&path, "").unwrap();
    write(&path, false).unwrap();
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn a_file_of_somebody_else_takes_force() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("thesis.txt");
    std::fs::write(&path, "years of work").unwrap();
    let refused = write(&path, false).unwrap_err().to_string();
    assert!(
        refused.contains("was not written by fathom") && refused.contains("--force"),
        "{refused}"
    );
    assert_eq!(read(&path), "years of work");
    write(&path, true).unwrap();
    assert_eq!(read(&path), OWN);
}

#[test]
fn a_result_as_text_is_replaced_until_somebody_edits_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("result.txt");
    let put = |text: &str| {
        let output = Output::admit(&path, Mark::Document, false)?;
        output.write(|out| out.write_all(text.as_bytes()))
    };
    put("fathom: 12,300 IOPS").unwrap();
    if !signature::is_noted(&path) {
        println!(
            "skipped: no extended attributes in {}",
            dir.path().display()
        );
        return;
    }
    put("fathom: 12,400 IOPS").unwrap();
    assert_eq!(read(&path), "fathom: 12,400 IOPS");
    std::fs::write(&path, "fathom: 12,400 IOPS, and what I think of it").unwrap();
    assert!(matches!(
        put("fathom: 12,500 IOPS"),
        Err(Refused::Edited(_))
    ));
}

#[test]
fn a_link_is_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let victim = dir.path().join("victim");
    let link = dir.path().join("link");
    symlink(&victim, &link).unwrap();
    // It names nothing yet; following it would make the file.
    assert!(matches!(write(&link, false), Err(Refused::Link(_))));
    assert!(!victim.exists());
    // Not even a file of fathom's is written through it.
    std::fs::write(&victim, OWN).unwrap();
    assert!(matches!(write(&link, false), Err(Refused::Link(_))));
    write(&link, true).unwrap();
    assert!(link.symlink_metadata().unwrap().is_symlink());
}

#[test]
fn what_comes_between_is_looked_at_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.json");
    let output = Output::admit(&path, Mark::Document, false).unwrap();
    std::fs::write(&path, "came later").unwrap();
    let refused = output.write(|out| out.write_all(b"x")).unwrap_err();
    assert!(matches!(refused, Refused::Foreign(_)), "{refused}");
    assert_eq!(read(&path), "came later");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    std::fs::remove_file(&path).unwrap();
    let victim = dir.path().join("victim");
    symlink(&victim, &path).unwrap();
    assert!(output.write(|out| out.write_all(b"x")).is_err());
    assert!(!victim.exists());
}

#[test]
fn streams_are_written_to_and_folders_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    write(Path::new("/dev/null"), false).unwrap();
    assert!(
        Path::new("/dev/null")
            .symlink_metadata()
            .unwrap()
            .file_type()
            .is_char_device()
    );
    assert!(matches!(
        write(dir.path(), false),
        Err(Refused::NoFile { .. })
    ));
    assert!(matches!(
        write(&dir.path().join("none/a.json"), false),
        Err(Refused::Io { .. })
    ));
    assert!(Output::admit(Path::new("/dev/stdout"), Mark::Page, false).is_ok());
}

#[test]
fn lines_are_added_to_a_table_of_fathoms_only() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("results.csv");
    let add = || -> Result<(), Refused> {
        let output = Output::admit(&path, Mark::Table("a,b"), false)?;
        output.append()?.write_all(b"a,b\n1,2\n").unwrap();
        Ok(())
    };
    add().unwrap();
    add().unwrap();
    assert_eq!(read(&path).lines().count(), 4);
    std::fs::write(&path, "x,y\n").unwrap();
    assert!(add().is_err());
}

#[test]
fn a_pipe_without_a_reader_is_an_error_and_one_with_a_reader_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let output = Output::admit(&pipe, Mark::Document, false).unwrap();
    let error = output.write(|out| out.write_all(b"{}")).unwrap_err();
    assert!(error.to_string().contains("nobody reads"), "{error}");
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).unwrap()
    });
    output.write(|out| out.write_all(b"{}")).unwrap();
    assert_eq!(reader.join().unwrap(), "{}");
}

#[test]
fn what_another_program_wrote_in_the_same_form_takes_force() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("july_bw.1.log");
    std::fs::write(&path, "1000, 52000, 0, 4096\n").unwrap();
    let write = |force| {
        let output = Output::admit(&path, Mark::FioLog, force)?;
        output.write(|out| out.write_all(b"1000, 1, 0, 4096\n"))
    };
    assert!(matches!(write(false), Err(Refused::Foreign(_))));
    assert_eq!(read(&path), "1000, 52000, 0, 4096\n");
    write(true).unwrap();
    match Signature::of(&path) == Signature::Ours {
        true => write(false).unwrap(),
        false => println!("skipped: this file system keeps no attributes"),
    }
}

const PAGE: &str =
    "<!doctype html>\n<meta name=\"generator\" content=\"fathom 0.1.0\">\n<p>fast</p>\n";

fn write_page(path: &Path) -> Result<(), Refused> {
    let output = Output::admit(path, Mark::Page, false)?;
    output.write(|out| out.write_all(PAGE.as_bytes()))
}

#[test]
fn a_page_with_notes_of_the_user_takes_force() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("report.html");
    write_page(&path).unwrap();
    write_page(&path).unwrap();
    let page = read(&path);
    assert!(page.starts_with(PAGE), "{page}");
    // An editor saves in place, or makes another file of the same name.
    let noted = page.replace("fast", "fast, since Tuesday");
    let beside = dir.path().join("saved");
    for renames in [false, true] {
        std::fs::write(if renames { &beside } else { &path }, &noted).unwrap();
        if renames {
            std::fs::rename(&beside, &path).unwrap();
        }
        let refused = write_page(&path).unwrap_err();
        assert!(matches!(refused, Refused::Edited(_)), "{refused}");
        assert!(refused.to_string().contains("--force"), "{refused}");
        assert_eq!(read(&path), noted);
    }
    let appended = format!("{page}<p>mine</p>");
    std::fs::write(&path, &appended).unwrap();
    assert!(matches!(write_page(&path), Err(Refused::Edited(_))));
    Output::admit(&path, Mark::Page, true).unwrap();
}

#[test]
fn what_a_user_made_from_a_page_or_document_takes_force() {
    let dir = tempfile::tempdir().unwrap();
    let page = dir.path().join("report.html");
    write_page(&page).unwrap();
    let begun = format!("{}my own words", &read(&page)[..PAGE.len() - 10]);
    let mine = dir.path().join("mine.html");
    std::fs::write(&mine, &begun).unwrap();
    assert!(matches!(write_page(&mine), Err(Refused::Foreign(_))));
    assert_eq!(read(&mine), begun);
    // A copy of the whole page is known by the digest at its end.
    let copy = dir.path().join("copy.html");
    std::fs::write(&copy, std::fs::read(&page).unwrap()).unwrap();
    write_page(&copy).unwrap();

    let document = dir.path().join("run.json");
    let text = "{\"schema\": \"fathom.run/1\", \"note\": \"mine\"}";
    std::fs::write(&document, text).unwrap();
    if Signature::of(&document) == Signature::NotKept {
        println!("skipped: this file system keeps no attributes");
        return;
    }
    let refused = Output::admit(&document, Mark::Document, false);
    assert!(matches!(refused, Err(Refused::Foreign(_))));
    let output = Output::admit(&document, Mark::Document, true).unwrap();
    output.write(|out| out.write_all(text.as_bytes())).unwrap();
    Output::admit(&document, Mark::Document, false).unwrap();
}

#[test]
fn what_others_go_on_writing_is_not_called_edited() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("messages");
    let mark = Mark::Line("of fathom");
    let output = Output::admit(&path, mark, false).unwrap();
    output.write(|out| out.write_all(b"of fathom\n")).unwrap();
    let mut messages = crate::append(&path).unwrap();
    messages.write_all(b"more\n").unwrap();
    Output::admit(&path, mark, false).unwrap();
    let empty = dir.path().join("document.json");
    drop(
        Output::admit(&empty, Mark::Document, false)
            .unwrap()
            .make_empty()
            .unwrap(),
    );
    std::fs::write(&empty, OWN).unwrap();
    Output::admit(&empty, Mark::Document, false).unwrap();
}
