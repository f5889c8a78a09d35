//! "Did you mean": the valid name that is nearest to a mistyped one.

/// The one of `names` that is close to `given`, if one is.
pub fn nearest<'a>(given: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let lower = given.to_lowercase();
    names
        .map(|name| (strsim::damerau_levenshtein(&lower, &name.to_lowercase()), name))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, name)| {
            *distance <= (name.len().max(given.len()) / 3).max(1) && *distance < name.len()
        })
        .map(|(_, name)| name)
}

/// `; did you mean ..?` if one of `names` is close to `given`, else nothing.
pub fn hint<'a>(given: &str, names: impl Iterator<Item = &'a str>) -> String {
    nearest(given, names).map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

/// `names`, sorted and separated by commas.
pub fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_close_names_are_offered() {
        let names = ["rate", "buffer", "rate_changes"];
        assert_eq!(nearest("rat", names.into_iter()), Some("rate"));
        assert_eq!(nearest("Rate", names.into_iter()), Some("rate"));
        assert_eq!(nearest("rate_change", names.into_iter()), Some("rate_changes"));
        assert_eq!(nearest("xyz", names.into_iter()), None);
        assert_eq!(hint("mbps", ["bps", "Mbps"].into_iter()), "; did you mean `Mbps`?");
    }
}
