//! The page on fio says what the code does.
//!
//! `FATHOM_BLESS=1 cargo test -p fathom-compat --test documents` writes it anew.

use std::path::Path;

use fathom_compat::fio::request::fio_page;

#[test]
fn the_page_on_fio_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/fio.md");
    let generated = fio_page();
    if std::env::var_os("FATHOM_BLESS").is_some() {
        std::fs::write(&path, &generated).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stored == generated,
        "docs/reference/fio.md is stale; write it anew with FATHOM_BLESS=1"
    );
}
