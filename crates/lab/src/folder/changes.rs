//! What differs between the settings of two runs, in words.

use std::collections::BTreeSet;

use serde_json::Value;

/// Characters of a value that are shown.
const SHOWN: usize = 60;

/// The first setting that differs, with both values; none where one side has no settings at all.
pub(super) fn first(key: &str, had: Option<&Value>, wanted: Option<&Value>) -> Option<String> {
    let (had, wanted) = (had?, wanted?);
    if had.is_null() || wanted.is_null() {
        return None;
    }
    // A file names its settings without the word for all of them.
    let root = if had.is_object() { "" } else { key };
    let (path, had, wanted) = difference(root, Some(had), Some(wanted))?;
    Some(match (had, wanted) {
        (None, Some(now)) => format!("`{path}` was not given, and is {} now", shown(now)),
        (Some(before), None) => format!("`{path}` was {}, and is not given now", shown(before)),
        (before, now) => {
            let [before, now] = [before, now].map(|value| value.map_or_else(String::new, shown));
            format!("`{path}` was {before}, and is {now} now")
        }
    })
}

/// A path with what each side has there.
type Difference<'a> = (String, Option<&'a Value>, Option<&'a Value>);

/// Where two values differ first, as deep as tables go.
fn difference<'a>(
    path: &str,
    had: Option<&'a Value>,
    wanted: Option<&'a Value>,
) -> Option<Difference<'a>> {
    // What is not given and what is given as nothing are the same to a user.
    let [had, wanted] = [had, wanted].map(|value| value.filter(|value| !value.is_null()));
    if had == wanted {
        return None;
    }
    let (Some(Value::Object(before)), Some(Value::Object(now))) = (had, wanted) else {
        return Some((path.to_owned(), had, wanted));
    };
    let keys: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    keys.into_iter().find_map(|key| {
        let below = match path {
            "" => key.clone(),
            _ => format!("{path}.{key}"),
        };
        difference(&below, before.get(key), now.get(key))
    })
}

/// A value as JSON, cut where it is long.
fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_change_is_named_with_both_values() {
        let before = json!({"learner": {"k": 2, "oracle": "exact"}, "seeds": 1, "list": [1, 2]});
        for (now, words) in [
            (
                json!({"learner": {"k": 3, "oracle": "exact"}, "seeds": 1, "list": [1, 2]}),
                "`learner.k` was 2, and is 3 now",
            ),
            (
                json!({"learner": {"k": null, "oracle": "exact"}, "seeds": 1, "list": [1, 2]}),
                "`learner.k` was 2, and is not given now",
            ),
            (
                json!({"learner": {"k": 2, "oracle": "exact"}, "new": "a", "seeds": 1, "list": [1, 3]}),
                "`list` was [1,2], and is [1,3] now",
            ),
            (
                json!({"learner": {"k": 2, "oracle": "exact"}, "new": "a", "seeds": 1, "list": [1, 2]}),
                "`new` was not given, and is \"a\" now",
            ),
        ] {
            let found = first("experiment", Some(&before), Some(&now));
            assert_eq!(found.as_deref(), Some(words));
        }
        let versions = (json!("0.1.0"), json!("0.2.0"));
        assert_eq!(
            first("version", Some(&versions.0), Some(&versions.1)).as_deref(),
            Some("`version` was \"0.1.0\", and is \"0.2.0\" now")
        );
        assert_eq!(first("experiment", Some(&Value::Null), Some(&before)), None);
        let long = json!({"a": "x".repeat(100)});
        let found = first("experiment", Some(&json!({"a": 1})), Some(&long));
        assert!(found.is_some_and(|text| text.ends_with("… now")));
    }
}
