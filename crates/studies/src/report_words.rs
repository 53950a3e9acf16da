//! Words that the page of a study explains, and key numbers that stand under them.

use maud::{Markup, html};
use taskscout_report::tile;

/// Words of the field, with what they mean.
const WORDS: [(&str, &str); 7] = [
    (
        "task",
        "A condition under which data can be collected, for instance a wind speed.",
    ),
    ("target", "The condition that the model is wanted for."),
    (
        "error",
        "The root of the mean squared difference between prediction and noise-free truth on the target.",
    ),
    (
        "as planned",
        "The budget is spent on the tasks that the study would choose.",
    ),
    (
        "all tasks alike",
        "The budget is spread over all tasks, without choosing.",
    ),
    (
        "9 of 10 cases",
        "The interval that should hold the truth in nine of ten studies like this one.",
    ),
    (
        "stage",
        "What an item is for: warm-up and explore to learn what all tasks have in common, exploit to learn what the target needs.",
    ),
];

/// A key number, with the meaning of its name where that is a word of the field.
pub(crate) fn number(name: &str, value: &str, detail: &str) -> Markup {
    let mut known = WORDS.iter();
    let found = known.find(|(word, _)| name.to_lowercase().contains(word));
    let meaning = found.map_or("", |(_, meaning)| meaning);
    tile(name, meaning, value, detail)
}

/// The list of words at the end of the page.
pub(crate) fn words() -> Markup {
    html! {
        details.words #words {
            summary { "What the words mean" }
            dl { @for (word, meaning) in WORDS { dt { (word) } dd { (meaning) } } }
        }
    }
}
