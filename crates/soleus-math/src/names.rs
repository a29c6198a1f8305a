//! Suggestions for misspelled names.

/// The name most similar to `wanted`: the one with the smallest edit distance, ignoring case, if at most a fraction
/// 1/`share` of the letters differ, or two, but fewer than half. For paths, as many trailing parts are compared as `wanted` has, unless it
/// is an absolute path.
pub fn nearest_name<'n>(
    wanted: &str,
    names: impl IntoIterator<Item = &'n str>,
    share: usize,
) -> Option<&'n str> {
    let lower = wanted.to_lowercase();
    let distance = |name: &str| {
        let parts = 1 + wanted.matches('/').count();
        let from = name.rmatch_indices('/').nth(parts - 1).filter(|_| !wanted.starts_with('/'));
        let end = from.map_or(name, |(at, _)| &name[at + 1..]);
        edit_distance(&end.to_lowercase(), &lower)
    };
    let near = names.into_iter().map(|n| (distance(n), n)).min()?;
    let letters = wanted.chars().count();
    (2 * near.0 < letters && near.0 <= 2.max(wanted.len() / share)).then_some(near.1)
}

/// Number of letters to insert, delete or replace to convert one word to the other (Levenshtein 1966). For words of
/// more than 200 bytes, the length of the longer one, which is an upper bound: the time is proportional to the product
/// of the lengths.
pub fn edit_distance(a: &str, b: &str) -> usize {
    const LONGEST: usize = 200;
    if a.len().max(b.len()) > LONGEST {
        return if a == b { 0 } else { a.len().max(b.len()) };
    }
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_nearest_name() {
        let names = ["/jointset/knee/knee_angle", "/jointset/hip/hip_flexion"];
        assert_eq!(nearest_name("Knee_angel", names, 2), Some(names[0]));
        assert_eq!(nearest_name("/jointset/hip/hip_flexoin", names, 2), Some(names[1]));
        assert_eq!(nearest_name("knee/knee_angel", names, 2), Some(names[0]));
        assert_eq!(nearest_name("elbow", names, 2), None);
        assert_eq!(nearest_name("", names, 2), None);
        assert_eq!(nearest_name("S2", ["C7", "S"], 3), None);
        assert_eq!(nearest_name("fitler", ["filter", "id"], 3), Some("filter"));
    }

    #[test]
    fn analytic_edit_distance() {
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("same", "same"), 0);
        assert_eq!(edit_distance(&"a".repeat(1 << 20), &"b".repeat(1 << 20)), 1 << 20);
    }
}
