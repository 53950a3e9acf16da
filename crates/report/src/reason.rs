//! Reasons of plans in words that need no explanation.
//!
//! `plans.csv` and the command keep the strategies' own words, with their numbers; pages for people say them like this.

/// The reason of a plan's item for people; what is not known is left as it is.
///
/// ```
/// use taskscout_report::plain_reason;
///
/// let reason = "serves the target (cosine 0.8412, 45 % of the predicted risk)";
/// assert_eq!(plain_reason(reason), "behaves like the target (similarity 0.84, of at most 1)");
/// ```
#[must_use]
pub fn plain_reason(reason: &str) -> String {
    known(reason)
        .or_else(|| known_parts(reason))
        .unwrap_or_else(|| reason.to_owned())
}

/// A task that several parts of a plan ask for has the reason of each.
fn known_parts(reason: &str) -> Option<String> {
    let (first, rest) = reason.split_once("; ")?;
    let first = known(first)?;
    Some(format!("{first}; {}", plain_reason(rest)))
}

fn known(reason: &str) -> Option<String> {
    if let Some(inner) = reason.strip_prefix("serves the target (") {
        return serves(inner);
    }
    if let Some(rest) = reason.strip_prefix("sharpens direction ") {
        let (which, rest) = rest.split_once(" (strength ")?;
        let (_, rest) = rest.split_once(')')?;
        return Some(format!(
            "shows what all tasks have in common (part {which}){rest}"
        ));
    }
    if let Some(rest) = reason.strip_prefix("relevance ") {
        let (share, rest) = rest.split_once(" (cosine ")?;
        let (cosine, rest) = rest.split_once(')')?;
        let like = likeness(cosine)?;
        return Some(format!("makes up {share} of the target ({like}){rest}"));
    }
    if let Some(rest) = reason.strip_prefix("near target `") {
        if let Some((target, _)) = rest.split_once("`: found within ") {
            return Some(format!("lies where {target} most likely is"));
        }
        let target = rest.strip_suffix("`: by the distance of embeddings")?;
        return Some(format!("behaves most like {target}, by what was measured"));
    }
    match reason {
        "one of a spread over the whole space" => {
            Some("spread over all tasks, to show what they have in common".to_owned())
        }
        "coarse look at every direction" => {
            Some("a first look at all that tasks can differ in".to_owned())
        }
        _ => None,
    }
}

/// What stands behind `serves the target (`: a cosine, a share of the risk, and perhaps what is out of reach.
fn serves(inner: &str) -> Option<String> {
    let (inner, rest) = inner.split_once(')')?;
    let (inside, missed) = match inner.split_once("; ") {
        Some((inside, missed)) => (inside, format!("; {missed}")),
        None => (inner, String::new()),
    };
    let first = inside.split(", ").next()?;
    let like = match first.strip_prefix("cosine ") {
        Some(cosine) => likeness(cosine)?,
        None => return Some(format!("serves the targets{missed}{rest}")),
    };
    let rest = match rest
        .strip_prefix(", at ")
        .and_then(|cost| cost.strip_suffix(" a sample"))
    {
        Some(cost) => format!(", and a sample costs {cost}"),
        None => rest.to_owned(),
    };
    Some(format!("behaves like the target ({like}){missed}{rest}"))
}

/// A cosine in words: its size says how much a task tells of the target, its sign only in which direction.
fn likeness(cosine: &str) -> Option<String> {
    let cosine: f64 = cosine.parse().ok()?;
    let size = (100.0 * cosine.abs()).floor() / 100.0;
    let reverse = if cosine < 0.0 { ", in reverse" } else { "" };
    Some(format!("similarity {size:.2}, of at most 1{reverse}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_of_strategies_are_told_without_words_of_the_field() {
        for (reason, plain) in [
            (
                "serves the target (cosine 0.9996, 45 % of the predicted risk)",
                "behaves like the target (similarity 0.99, of at most 1)",
            ),
            (
                "serves the target (cosine -0.8400, 4 % of the predicted risk; 30 % of the target is out of reach of all tasks)",
                "behaves like the target (similarity 0.84, of at most 1, in reverse); 30 % of the target is out of reach of all tasks",
            ),
            (
                "serves the target (no target, 4 % of the predicted risk)",
                "serves the targets",
            ),
            (
                "serves the target (cosine 0.84), at 2 a sample",
                "behaves like the target (similarity 0.84, of at most 1), and a sample costs 2",
            ),
            (
                "one of a spread over the whole space; serves the target (cosine 0.86), at 2 a sample",
                "spread over all tasks, to show what they have in common; \
                 behaves like the target (similarity 0.86, of at most 1), and a sample costs 2",
            ),
            (
                "sharpens direction 2 of 4 (strength 1.250)",
                "shows what all tasks have in common (part 2 of 4)",
            ),
            (
                "relevance 12.5 % (cosine 0.5000)",
                "makes up 12.5 % of the target (similarity 0.50, of at most 1)",
            ),
            (
                "near target `tomorrow`: found within ±1.00",
                "lies where tomorrow most likely is",
            ),
            (
                "near target `tomorrow`: by the distance of embeddings",
                "behaves most like tomorrow, by what was measured",
            ),
        ] {
            assert_eq!(plain_reason(reason), plain);
        }
    }

    #[test]
    fn other_words_stay() {
        for reason in [
            "the favourite",
            "",
            "serves the target (",
            "serves the target (cosine x, y)",
            "near target `a`",
            "relevance 3 %",
            "sharpens direction 2",
        ] {
            assert_eq!(plain_reason(reason), reason);
        }
    }
}
