use super::*;
use std::io::Write;
use std::os::unix::fs::FileExt;

fn file_of(bytes: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new_in("/var/tmp").unwrap();
    file.write_all(bytes).unwrap();
    file
}

#[test]
fn shares_are_over_all_files_by_bytes() {
    let written = file_of(&vec![1; 3 << 20]);
    let sparse = file_of(&[]);
    sparse.as_file().set_len(1 << 20).unwrap();
    let paths = [written.path().to_owned(), sparse.path().to_owned()];
    let state = data_state(&paths, None);
    assert_eq!(
        state.unwritten_share,
        Some(0.25),
        "{}",
        state.unwritten_method
    );
    let cached = state.cached_share.unwrap();
    assert!(
        (0.74..=0.76).contains(&cached),
        "{cached} {}",
        state.cached_method
    );
    let mut report = DataReport::default();
    state.enter(&mut report);
    assert_eq!(report.unwritten_share, Some(0.25));
    assert!(report.cached_method.is_some());
}

#[test]
fn a_range_narrows_the_look() {
    let file = file_of(&[]);
    file.as_file().set_len(2 << 20).unwrap();
    file.as_file().write_all_at(&vec![1; 1 << 20], 0).unwrap();
    let paths = [file.path().to_owned()];
    assert_eq!(
        data_state(&paths, Some(0..1 << 20)).unwritten_share,
        Some(0.0)
    );
    assert_eq!(
        data_state(&paths, Some(1 << 20..9 << 20)).unwritten_share,
        Some(1.0)
    );
    let outside = data_state(&paths, Some(5 << 20..6 << 20));
    assert_eq!(outside.unwritten_share, None);
}

#[test]
fn what_cannot_be_told_says_why() {
    let state = data_state(&["/no/such/file".into()], None);
    assert_eq!((state.cached_share, state.unwritten_share), (None, None));
    assert!(
        state.cached_method.contains("/no/such/file"),
        "{}",
        state.cached_method
    );
    let state = data_state(&[PathBuf::from("/var/tmp")], None);
    assert!(
        state.unwritten_method.contains("neither a file nor"),
        "{}",
        state.unwritten_method
    );
    let state = data_state(&[], None);
    assert_eq!(state.cached_share, None);
    let written = file_of(&[1; 4096]);
    let paths = [written.path().to_owned(), "/no/such/file".into()];
    assert_eq!(
        data_state(&paths, None).unwritten_share,
        None,
        "one unknown file is enough"
    );
}
