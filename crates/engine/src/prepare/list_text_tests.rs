//! Texts that are lists, damaged lists, and no lists.

use proptest::prelude::*;

use super::*;

fn written(inode: u64) -> ListedFile {
    ListedFile {
        state: FileState::Written,
        inode,
        born_ns: Some(inode + 100),
        run_tag: 0xABC,
    }
}

fn list(entries: &[(&str, ListedFile)]) -> BTreeMap<String, ListedFile> {
    let named = entries
        .iter()
        .map(|(name, entry)| ((*name).to_owned(), *entry));
    named.collect()
}

#[test]
fn what_is_added_and_taken_off_is_read_back() {
    let first = list(&[("t.0", written(1)), ("t.tree", ListedFile::creating(7))]);
    let mut text = format!("{HEADER}\n{}", render(&BTreeMap::new(), &first));
    assert_eq!(parse(&text, "t").unwrap(), first);
    let second = list(&[("t.0", written(2)), ("t.11", written(3))]);
    text += &render(&first, &second);
    assert_eq!(parse(&text, "t").unwrap(), second);
    assert_eq!(render(&second, &second), "");
}

#[test]
fn a_line_that_was_cut_off_is_left_out() {
    let text = format!("{FIRST_HEADER}\nwritten 5 00ff t.0\nwritten 6 0");
    let entries = parse(&text, "t").unwrap();
    assert_eq!(entries.keys().collect::<Vec<_>>(), ["t.0"]);
    // Within the name of t.12.
    let text = format!("{FIRST_HEADER}\nwritten 5 00ff t.0\nwritten 6 00ff t.1");
    assert_eq!(parse(&text, "t").unwrap().len(), 1);
    let whole = format!(
        "{HEADER}\n{}",
        render(
            &BTreeMap::new(),
            &list(&[("t.0", written(1)), ("t.12", written(2))])
        )
    );
    for end in HEADER.len() + 1..whole.len() {
        let kept = parse(&whole[..end], "t").unwrap();
        assert!(
            kept.len() < 2 && kept.values().all(|e| *e == written(1)),
            "{end}"
        );
        // What is added behind the damage counts.
        let more = format!(
            "{}\n{}",
            &whole[..end],
            render(&BTreeMap::new(), &list(&[("t.3", written(3))]))
        );
        assert_eq!(parse(&more, "t").unwrap()["t.3"], written(3), "{end}");
    }
}

#[test]
fn a_name_that_leads_elsewhere_makes_the_whole_list_untrusted() {
    let names = [
        "../secret",
        "t.0/../../x",
        "/etc/passwd",
        ".t.0",
        "t.",
        "t",
        "t.0x",
        "u.0",
        "t.manifest",
        "t.0\0",
        "t.tree/..",
        "",
        " ",
        "t.0 ",
    ];
    for name in names {
        let text = format!("{FIRST_HEADER}\nwritten 5 00ff t.0\nwritten 6 00ff {name}\n");
        assert_eq!(parse(&text, "t"), Err(ListFault::Name(3)), "{name:?}");
        let lines = render(
            &BTreeMap::new(),
            &list(&[("t.0", written(1)), (name, written(2))]),
        );
        let text = format!("{HEADER}\n{lines}");
        assert!(
            matches!(parse(&text, "t"), Err(ListFault::Name(_))),
            "{name:?}"
        );
    }
    // A line of the first version in a list of the second.
    let text = format!("{HEADER}\nwritten 6 00ff ../secret/important\n");
    assert_eq!(parse(&text, "t"), Err(ListFault::Name(2)));
    let text = format!("{HEADER}\nwritten 6 00ff t.0\n");
    assert_eq!(parse(&text, "t"), Ok(BTreeMap::new()), "it has no sum");
}

proptest! {
    #[test]
    fn no_text_breaks_the_reader(text in any::<String>(), tail in any::<String>()) {
        let _ = parse(&text, "t");
        for header in [HEADER, FIRST_HEADER] {
            let read = parse(&format!("{header}\n{tail}"), "t");
            prop_assert!(read != Err(ListFault::NoList));
            prop_assert!(read.unwrap_or_default().keys().all(|name| is_name(name, "t")));
        }
    }
}
