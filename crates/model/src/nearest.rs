//! "Did you mean": the nearest valid name to a mistyped one.

/// The candidate nearest to `name`, if it is near enough to be what the user
/// meant: one edit per three letters, at least one.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = plain(name);
    if wanted.is_empty() || wanted.len() > 64 {
        return None;
    }
    let limit = (wanted.len() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (distance(&wanted, &plain(candidate)), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// What follows the refusal of a name: "; did you mean 'X'?", or nothing where no
/// candidate is near.
pub fn did_you_mean<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, candidates).map_or_else(String::new, |meant| format!("; did you mean '{meant}'?"))
}

/// Spelling without what people mix up: case, `-` and `_`.
fn plain(name: &str) -> Vec<char> {
    name.chars()
        .filter(|c| !matches!(c, '-' | '_' | ' '))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Edits between two words: insert, delete, replace, swap of neighbours
/// (optimal string alignment; Boytsov 2011, section 2).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replace = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replace.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = last;
        last = row;
    }
    last[b.len()]
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
    }

    #[test]
    fn distance_counts_a_swap_as_one() {
        let d = |a: &str, b: &str| distance(&plain(a), &plain(b));
        assert_eq!(d("abcd", "abdc"), 1);
        assert_eq!(d("kitten", "sitting"), 3);
        assert_eq!(d("", "abc"), 3);
    }
}
