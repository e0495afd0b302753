//! What is said about a run after its end: label, tags and note by the user, and
//! the digest that lists show.

use rusqlite::{ToSql, params};

use crate::rows::to_json;
use crate::{Error, Store};

/// A digest as it is stored. Its form is its writer's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredDigest {
    /// Another version is out of date.
    pub version: u32,
    /// JSON.
    pub content: String,
}

impl Store {
    /// Gives a run another label, or none.
    ///
    /// # Errors
    /// [`Error::NoSuchRun`], or the store cannot be written.
    pub fn set_label(&mut self, id: &str, label: Option<&str>) -> Result<(), Error> {
        self.set(id, "label", &label)
    }

    /// Gives a run a note, or removes it.
    ///
    /// # Errors
    /// As [`Store::set_label`].
    pub fn set_note(&mut self, id: &str, note: Option<&str>) -> Result<(), Error> {
        self.set(id, "note", &note)
    }

    /// Replaces the tags of a run.
    ///
    /// # Errors
    /// As [`Store::set_label`].
    pub fn set_tags(&mut self, id: &str, tags: &[String]) -> Result<(), Error> {
        let tags = to_json("tags", &tags)?;
        self.set(id, "tags", &tags)
    }

    fn set(&mut self, id: &str, column: &'static str, value: &dyn ToSql) -> Result<(), Error> {
        let changed = self
            .transaction(|transaction| {
                let statement = format!("UPDATE run SET {column} = ?1 WHERE id = ?2");
                Ok(transaction.execute(&statement, params![value, id])?)
            })
            .map_err(|failure| failure.into_error(&self.path))?;
        match changed {
            0 => Err(Error::NoSuchRun {
                text: id.to_owned(),
                hint: String::new(),
            }),
            _ => Ok(()),
        }
    }

    /// Keeps the digest of a run, in place of an earlier one.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn keep_digest(&mut self, id: &str, digest: &StoredDigest) -> Result<(), Error> {
        self.transaction(|transaction| {
            transaction.execute(
                "INSERT OR REPLACE INTO digest (run_key, version, content)
                 SELECT key, ?2, ?3 FROM run WHERE id = ?1",
                params![id, digest.version, digest.content],
            )?;
            Ok(())
        })
        .map_err(|failure| failure.into_error(&self.path))
    }
}

#[cfg(test)]
mod tests {
    use fathom_model::RunState;

    use super::*;
    use crate::fixtures;

    #[test]
    fn what_is_said_about_a_run_is_listed_with_it_and_goes_with_it() {
        let mut store = Store::in_memory().unwrap();
        let key = store
            .begin_run(&fixtures::meta("20261121-153042-k3f9", 0))
            .unwrap();
        store.end_run(key, RunState::Complete, 1, None).unwrap();
        let id = store.find("k3f9").expect("the end of an id finds it");
        store.set_label(&id, Some("before")).unwrap();
        store.set_note(&id, Some("old firmware")).unwrap();
        store
            .set_tags(&id, &["db".to_owned(), "rack 4".to_owned()])
            .unwrap();
        for content in ["{}", "{\"a\":1}"] {
            let digest = StoredDigest {
                version: 1,
                content: content.to_owned(),
            };
            store.keep_digest(&id, &digest).unwrap();
        }
        let listing = store.list(None).unwrap().remove(0);
        assert_eq!(listing.label.as_deref(), Some("before"));
        assert_eq!(listing.note.as_deref(), Some("old firmware"));
        assert_eq!(listing.tags, ["db", "rack 4"]);
        assert_eq!(listing.digest.unwrap().content, "{\"a\":1}");
        store.remove(&id).unwrap();
        let left: u32 = store
            .connection
            .query_row("SELECT count(*) FROM digest", [], |row| row.get(0))
            .unwrap();
        assert_eq!(left, 0);
        assert!(store.set_label(&id, None).is_err());
    }
}
