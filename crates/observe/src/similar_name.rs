//! "Did you mean": the file of a folder whose name is nearest to a mistyped one.

use std::path::Path;

use fathom_deadline::paths;
use fathom_model::nearest::nearest;
use fathom_model::printable;

/// The path of a file in the same folder that is called nearly like `path`, printable;
/// `None` where none is, or the folder cannot be read soon.
pub fn similar_name(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let entries = paths::entries(folder.unwrap_or(Path::new("."))).ok()?;
    let names: Vec<String> = entries
        .into_iter()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|other| other != name)
        .collect();
    let found = nearest(name, names.iter().map(String::as_str))?;
    let found = path.with_file_name(found);
    Some(printable::one_line(found.to_str()?))
}

/// "; did you mean 'X'?" after a name that leads nowhere, or nothing.
pub fn did_you_mean_file(path: &Path) -> String {
    similar_name(path).map_or_else(String::new, |found| format!("; did you mean '{found}'?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_of_the_same_folder_is_found() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("iostat.json"), "").unwrap();
        std::fs::write(folder.path().join("other.txt"), "").unwrap();
        let told = did_you_mean_file(&folder.path().join("iostta.json"));
        assert!(told.ends_with("/iostat.json'?"), "{told}");
        assert_eq!(did_you_mean_file(&folder.path().join("plan.yaml")), "");
        assert_eq!(did_you_mean_file(Path::new("/nowhere/at/all")), "");
    }
}
