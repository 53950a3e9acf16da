//! The words of a report, explained where they stand.

use maud::{Markup, html};

use super::parts::tied;
use crate::contender::TARGET_DATA;

/// The words of a report with their meanings, by what headings and tiles call them.
const WORDS: [(&str, &str); 16] = [
    (
        "task",
        "A condition under which data can be collected, for instance a wind speed. The target is the one that the model is wanted for.",
    ),
    (
        "budget",
        "Source samples collected so far. Target samples are given beforehand and do not count.",
    ),
    (
        "passive",
        "Samples all tasks alike, without choosing: what the others are compared with.",
    ),
    (
        "aware",
        "Chooses the tasks that the target needs, by what it has learnt so far.",
    ),
    (
        "agnostic",
        "Chooses tasks that show all directions of what tasks have in common, whatever the target.",
    ),
    (
        "discrete-l1, discrete-l2",
        "Choose from a list of tasks by how relevant each seems to the target.",
    ),
    (
        "…+save-task",
        "The same strategy with fewer tasks: it goes on with those of the round before as long as they still show what is needed.",
    ),
    (
        "returned loss",
        "Mean squared error on the target of the predictor that you get. It is the mean of target-only, shared and other predictors, weighted by how well each predicts held-out target samples (with networks it is the one of largest weight). Mean over seeds ± standard error.",
    ),
    (
        "predictor",
        "The kind of predictor that has the largest weight in what is returned, and for how many seeds if they differ.",
    ),
    (
        "shared loss",
        "Mean squared error on the target of the shared predictor alone, after the last round: the learnt representation with a head fitted on the target samples. It is what the paper measures.",
    ),
    (
        "budget to passive's loss",
        "The budget at which a strategy's mean curve first reaches the final mean loss of the passive strategy, by linear interpolation between rounds, as a share of passive's whole budget. Less is better; 100 % means no saving. “≤” marks a strategy that was there after its first round, so that less might have been enough. In brackets: 90 % bootstrap interval over seeds (1,000 resamples, the same seeds for both strategies); “never” as an end means that more than 5 % of the resamples do not reach the loss. “*” marks a strategy whose mean curve rises above that loss again later.",
    ),
    (
        "tasks",
        "Different source tasks sampled. Long-term tasks hold at least 1 % of the source samples; repeated tasks were used by more than one round; main tasks are the fewest that hold 90 % of the source samples.",
    ),
    (
        "stage",
        "What a task was chosen for: warm-up and explore learn what all tasks have in common, exploit learns what the target needs.",
    ),
    (
        "subspace similarity",
        "Smallest squared cosine of the angles between the learnt and the true representation: 1 when it is found, 0 when a direction is missed altogether. Defined where the truth is known.",
    ),
    (
        "relevance",
        "Cosine between the true embedding of the exploited task of largest weight and the target's.",
    ),
    (
        "target-only",
        "A predictor trained on the target samples alone, without any source task.",
    ),
];

/// What a reference is that no learner can be.
const OUT_OF_REACH: &str = "A reference that collects from the hidden target itself, which no learner can do: it shows how much there is to gain and takes no part in the comparison.";

/// What a word means, if it is one of the field.
fn meaning(word: &str) -> Option<&'static str> {
    let known = |name: &str| {
        let mut words = WORDS.iter();
        words.find(|(own, _)| *own == name).map(|(_, text)| *text)
    };
    match word {
        TARGET_DATA => Some(OUT_OF_REACH),
        "final loss" => known("shared loss"),
        "strategy" => None,
        "discrete-l1" | "discrete-l2" => known("discrete-l1, discrete-l2"),
        word if word.ends_with("+save-task") => known("…+save-task"),
        "long-term tasks" | "repeated tasks" | "main tasks" => known("tasks"),
        "similarity" => known("subspace similarity"),
        word => known(word),
    }
}

/// A word with what it means for those who point at it or reach it with keys.
pub(super) fn explained(shown: &str, meaning: &str) -> Markup {
    html! {
        @if meaning.is_empty() { (tied(shown)) }
        @else { abbr title=(meaning) tabindex="0" { (tied(shown)) } }
    }
}

/// The heading of a column, explained where it is a word of the field.
pub(super) fn heading_of(heading: &str) -> Markup {
    explained(heading, meaning(heading).unwrap_or(""))
}

/// A strategy's name, set apart from the words around it and explained where it stands.
pub(super) fn strategy(name: &str) -> Markup {
    html! { b { (heading_of(name)) } }
}

/// All words, folded; `with_target_data` if a strategy of this name is among those of the page.
pub(super) fn all(with_target_data: bool) -> Markup {
    let more = with_target_data.then_some((TARGET_DATA, OUT_OF_REACH));
    html! {
        details.words id="words" {
            summary { "What the words mean" }
            dl {
                @for (word, text) in WORDS.into_iter().chain(more) {
                    dt { (word) }
                    dd { (tied(text)) }
                }
            }
        }
        "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strategies_are_explained() {
        for name in ["passive", "aware", "discrete-l2", "agnostic+save-task"] {
            let said = strategy(name).into_string();
            assert!(said.contains("title=") && said.contains(name), "{said}");
        }
        assert_eq!(strategy("<own>").into_string(), "<b>&lt;own&gt;</b>");
    }

    #[test]
    fn headings_of_tables_are_explained() {
        for word in [
            "returned loss",
            "budget to passive's loss",
            "long-term tasks",
            "stage",
        ] {
            assert!(heading_of(word).into_string().contains("title="), "{word}");
        }
        let own = heading_of("<wind>").into_string();
        assert_eq!(own, "&lt;wind&gt;");
    }
}
