//! "Did you mean": the nearest valid name to a mistyped one.

use strsim::osa_distance;

/// The candidate nearest to `name`, if it is near enough to be what the user
/// meant: one edit per three letters, at least one. An
/// edit is a letter inserted, deleted or replaced, or two neighbours swapped.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = plain(name);
    let letters = wanted.chars().count();
    if letters == 0 || letters > 64 {
        return None;
    }
    let limit = (letters / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (osa_distance(&wanted, &plain(candidate)), candidate))
        .filter(|(distance, _)| *distance <= limit)
        // Of equally near ones that with the same first letter, which is seldom mistyped.
        .min_by_key(|(distance, candidate)| {
            let first = plain(candidate).chars().next();
            (*distance, first != wanted.chars().next())
        })
        .map(|(_, candidate)| candidate)
}

/// What follows the refusal of a name: "; did you mean 'X'?", or nothing where no
/// candidate is near.
pub fn did_you_mean<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, candidates).map_or_else(String::new, |meant| format!("; did you mean '{meant}'?"))
}

/// Spelling without what people mix up: case, `-` and `_`.
fn plain(name: &str) -> String {
    name.chars()
        .filter(|c| !matches!(c, '-' | '_' | ' '))
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_mistakes_find_their_name() {
        let names = ["iodepth", "numjobs", "runtime", "rw", "rwmixread"];
        for (typed, meant) in [
            ("iodpeth", Some("iodepth")),
            ("io-depth", Some("iodepth")),
            ("numjob", Some("numjobs")),
            ("Runtime", Some("runtime")),
            ("rwmixraed", Some("rwmixread")),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, names), meant, "{typed}");
        }
        assert_eq!(did_you_mean("rumtime", names), "; did you mean 'runtime'?");
        assert_eq!(did_you_mean("colour", names), "");
        assert_eq!(nearest("sdd", ["hdd", "ssd"]), Some("ssd"));
    }

    #[test]
    fn distance_counts_a_swap_as_one() {
        let d = |a: &str, b: &str| osa_distance(&plain(a), &plain(b));
        assert_eq!(d("abcd", "abdc"), 1);
        assert_eq!(d("kitten", "sitting"), 3);
        assert_eq!(d("", "abc"), 3);
    }
}
