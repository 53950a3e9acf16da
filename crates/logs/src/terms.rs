//! Labels and parameters of recordings as task features: what a hierarchical model pools over.
//!
//! The features `u` of a recording are, in this order,
//!
//! ```text
//! 1, powers and products of the parameters           what all recordings share
//! [label = level] ⊗ (1, powers of the parameters)    what recordings of a level share beside
//! ```
//!
//! A label that has one level, a level for every recording, or the levels of another label says nothing new and is left out; so are
//! powers that the recordings cannot tell apart. Parameters are centred and scaled over the recordings. One that is not known of a
//! recording takes, in every feature, the mean over what it may be: the recording keeps all that its labels say, and others keep the parameter.
//!
//! ```
//! use taskscout_logs::{NamePattern, TaskTerms};
//!
//! let pattern = NamePattern::parse("{robot}_{load:number kg}")?;
//! let names = ["arm_1", "arm_2", "arm_3", "leg_1", "leg_2", "leg_heavy"];
//! let facts: Vec<_> = names.iter().map(|name| pattern.facts(name).unwrap()).collect();
//! let terms = TaskTerms::of(&facts.iter().collect::<Vec<_>>());
//! assert_eq!(terms.names()[..3], ["1", "load", "load²"]);
//! assert!(terms.names().contains(&"robot = leg".to_owned()));
//! assert_eq!(terms.features(&facts[5], &[None])[0], 1.0);
//! # Ok::<(), taskscout_logs::Error>(())
//! ```

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::facts::{Facts, Known, names};

/// Most task features: the equations of a family grow with their cube.
const MOST_TERMS: usize = 16;
/// Most task features with all levels of labels, each of which is one at least.
const MOST_WITH_LEVELS: usize = 32;
/// Highest power of a parameter.
const DEGREE: usize = 2;
/// Values that stand for what a parameter may be.
const GRID: usize = 9;

/// What task features are made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskTerms {
    parameters: Vec<ScaledParameter>,
    terms: Vec<Term>,
    /// What was left out, a sentence each.
    left_out: Vec<String>,
}

/// A parameter with its centre and scale over the recordings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct ScaledParameter {
    name: String,
    unit: Option<String>,
    centre: f64,
    scale: f64,
    /// The smallest and largest value that is known.
    range: (f64, f64),
}

/// A feature: of a level of a label or of all recordings, and a product of powers of parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Term {
    level: Option<(String, String)>,
    powers: Vec<usize>,
}

impl TaskTerms {
    /// The features that some recordings can tell apart.
    #[must_use]
    pub fn of(facts: &[&Facts]) -> Self {
        let mut left_out = Vec::new();
        let parameters = parameters(facts, &mut left_out);
        let labels = labels(facts, &mut left_out);
        let known = |one: &Facts| -> Vec<Option<f64>> {
            parameters
                .iter()
                .map(|parameter| one.value(&parameter.name))
                .collect()
        };
        let values: Vec<Vec<Option<f64>>> = facts.iter().map(|one| known(one)).collect();
        let everybody: Vec<usize> = (0..facts.len()).collect();
        let mut terms: Vec<Term> = common(&values, &everybody, parameters.len())
            .into_iter()
            .map(|powers| Term {
                level: None,
                powers,
            })
            .collect();
        let mut wanted: Vec<Vec<Term>> = labels
            .iter()
            .map(|label| of_label(facts, label, &values, parameters.len()))
            .collect();
        // Those of few levels first: what they say is known best.
        wanted.sort_by_key(Vec::len);
        let degree = |term: &Term| term.powers.iter().sum::<usize>();
        wanted.retain(|label| {
            let levels: Vec<Term> = label.iter().filter(|term| degree(term) == 0).cloned().collect();
            let fits = terms.len() + levels.len() <= MOST_WITH_LEVELS;
            match (fits, levels.first().and_then(|term| term.level.as_ref())) {
                (false, Some((name, _))) => left_out.push(format!(
                    "the label {name} is left out, because its {} levels are too many to learn what each does: group them, or name fewer labels",
                    levels.len()
                )),
                _ => terms.extend(levels),
            }
            fits
        });
        for label in &wanted {
            for most in (1..=DEGREE).rev() {
                let fits = |term: &&Term| (1..=most).contains(&degree(term));
                let more: Vec<Term> = label.iter().filter(fits).cloned().collect();
                if terms.len() + more.len() <= MOST_TERMS {
                    terms.extend(more);
                    break;
                }
            }
        }
        let labelled = terms.iter().filter(|term| term.level.is_some()).count();
        if labelled < wanted.iter().map(Vec::len).sum() {
            left_out.push(format!(
                "what parameters do on single levels of labels is left out as far as it would need more than {MOST_TERMS} task features: name fewer labels or parameters to have it"
            ));
        }
        Self {
            parameters,
            terms,
            left_out,
        }
    }

    /// The number of features.
    #[must_use]
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// Whether there are none, which never is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The parameters in use, in the order that [`TaskTerms::features`] takes their values.
    pub fn parameters(&self) -> impl ExactSizeIterator<Item = &str> {
        self.parameters
            .iter()
            .map(|parameter| parameter.name.as_str())
    }

    /// The unit of a parameter, by its place.
    #[must_use]
    pub fn unit(&self, parameter: usize) -> Option<&str> {
        self.parameters.get(parameter)?.unit.as_deref()
    }

    /// The smallest and largest known value of a parameter, by its place.
    #[must_use]
    pub fn range(&self, parameter: usize) -> Option<(f64, f64)> {
        self.parameters.get(parameter).map(|one| one.range)
    }

    /// The labels in use.
    #[must_use]
    pub fn labels(&self) -> Vec<&str> {
        let all: BTreeSet<&str> = self
            .terms
            .iter()
            .filter_map(|term| Some(term.level.as_ref()?.0.as_str()))
            .collect();
        all.into_iter().collect()
    }

    /// What was left out, a sentence each.
    #[must_use]
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// What the features are, in words.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.terms.iter().map(|term| self.name(term)).collect()
    }

    fn name(&self, term: &Term) -> String {
        let mut parts: Vec<String> = term
            .level
            .iter()
            .map(|(label, level)| format!("{label} = {level}"))
            .collect();
        for (parameter, &power) in self.parameters.iter().zip(&term.powers) {
            match power {
                0 => {}
                1 => parts.push(parameter.name.clone()),
                2 => parts.push(format!("{}²", parameter.name)),
                other => parts.push(format!("{}^{other}", parameter.name)),
            }
        }
        if parts.is_empty() {
            "1".into()
        } else {
            parts.join(" × ")
        }
    }

    /// The values that the parameters of a recording may have, a list a parameter: one if it is known exactly, a grid
    /// over its range, or over all that is known of other recordings.
    #[must_use]
    pub fn candidates(&self, facts: &Facts) -> Vec<Vec<f64>> {
        let grid = |parameter: &ScaledParameter| {
            let known = facts
                .parameters
                .get(&parameter.name)
                .map_or(Known::Unknown, |own| own.value);
            let (low, high) = known.range().unwrap_or(parameter.range);
            if known.exactly().is_some() {
                return vec![low];
            }
            let step = (high - low) / (GRID - 1) as f64;
            (0..GRID).map(|at| low + step * at as f64).collect()
        };
        self.parameters.iter().map(grid).collect()
    }

    /// The features of a recording. `values` has one for each parameter: that value, or, where it is none, the mean over
    /// all that the parameter may be.
    #[must_use]
    pub fn features(&self, facts: &Facts, values: &[Option<f64>]) -> Vec<f64> {
        let candidates = self.candidates(facts);
        let factor = |parameter: usize, power: usize| {
            let scaled = |value: f64| {
                let own = &self.parameters[parameter];
                ((value - own.centre) / own.scale).powi(power as i32)
            };
            match values.get(parameter).copied().flatten() {
                Some(value) => scaled(value),
                None => {
                    let all = &candidates[parameter];
                    all.iter().map(|&value| scaled(value)).sum::<f64>() / all.len().max(1) as f64
                }
            }
        };
        let feature = |term: &Term| {
            let belongs = term
                .level
                .as_ref()
                .is_none_or(|(label, level)| facts.labels.get(label) == Some(level));
            if !belongs {
                return 0.0;
            }
            let powers = term
                .powers
                .iter()
                .enumerate()
                .filter(|(_, power)| **power > 0);
            powers
                .map(|(parameter, &power)| factor(parameter, power))
                .product()
        };
        self.terms.iter().map(feature).collect()
    }
}

/// The parameters that have at least two values, with centre and scale.
fn parameters(facts: &[&Facts], left_out: &mut Vec<String>) -> Vec<ScaledParameter> {
    let (_, all) = names(facts.iter().copied());
    let mut out = Vec::new();
    for name in all {
        let known: Vec<f64> = facts.iter().filter_map(|one| one.value(name)).collect();
        if distinct(&known) < 2 {
            left_out.push(format!(
                "the parameter {name} is left out, because {} of the recordings",
                if known.is_empty() {
                    "no value of it is known"
                } else {
                    "it is the same in all"
                }
            ));
            continue;
        }
        let mean = known.iter().sum::<f64>() / known.len() as f64;
        let variance = known.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / known.len() as f64;
        let fold = |pick: fn(f64, f64) -> f64| known.iter().copied().reduce(pick).unwrap_or(mean);
        out.push(ScaledParameter {
            name: name.to_owned(),
            unit: facts
                .iter()
                .find_map(|one| one.parameters.get(name)?.unit.clone()),
            centre: mean,
            scale: variance.sqrt(),
            range: (fold(f64::min), fold(f64::max)),
        });
    }
    out
}

/// The labels that tell recordings apart in a way of their own.
fn labels(facts: &[&Facts], left_out: &mut Vec<String>) -> Vec<String> {
    let (all, _) = names(facts.iter().copied());
    // Of labels that say the same, the one with the shorter name is kept.
    let mut all: Vec<&str> = all.into_iter().collect();
    all.sort_by_key(|label| label.chars().count());
    let mut kept: Vec<(String, Vec<usize>)> = Vec::new();
    for label in all {
        let parts = partition(facts, label);
        let count = parts.iter().collect::<BTreeSet<_>>().len();
        let why = match kept.iter().find(|(_, other)| *other == parts) {
            _ if count < 2 => "because it is the same in all recordings".to_owned(),
            _ if count == facts.len() => "because every recording has one of its own".to_owned(),
            Some((other, _)) => format!("because it tells the same recordings apart as {other}"),
            None => {
                kept.push((label.to_owned(), parts));
                continue;
            }
        };
        left_out.push(format!("the label {label} is left out, {why}"));
    }
    kept.into_iter().map(|(label, _)| label).collect()
}

/// For each recording, the first that has the same level.
fn partition(facts: &[&Facts], label: &str) -> Vec<usize> {
    let level = |at: usize| facts[at].labels.get(label);
    (0..facts.len())
        .map(|at| {
            (0..at)
                .find(|&before| level(before) == level(at))
                .unwrap_or(at)
        })
        .collect()
}

/// All terms of a label: each level with what parameters do on it, as far as its recordings tell that apart.
fn of_label(
    facts: &[&Facts],
    label: &str,
    values: &[Vec<Option<f64>>],
    parameters: usize,
) -> Vec<Term> {
    let mut out = Vec::new();
    for level in levels(facts, label) {
        let members: Vec<usize> = (0..facts.len())
            .filter(|&at| facts[at].labels.get(label) == Some(&level))
            .collect();
        for powers in common(values, &members, parameters) {
            let level = Some((label.to_owned(), level.clone()));
            out.push(Term { level, powers });
        }
    }
    out
}

/// The levels of a label, in order.
fn levels(facts: &[&Facts], label: &str) -> Vec<String> {
    let all: BTreeSet<&String> = facts
        .iter()
        .filter_map(|one| one.labels.get(label))
        .collect();
    all.into_iter().cloned().collect()
}

/// Products of powers that some recordings tell apart: none, each parameter as far as it has values, and products of two.
fn common(values: &[Vec<Option<f64>>], members: &[usize], parameters: usize) -> Vec<Vec<usize>> {
    let mut out = vec![vec![0; parameters]];
    let of = |parameter: usize| -> Vec<f64> {
        members
            .iter()
            .filter_map(|&at| values[at][parameter])
            .collect()
    };
    let room: Vec<usize> = (0..parameters)
        .map(|parameter| distinct(&of(parameter)))
        .collect();
    for degree in 1..=DEGREE {
        for parameter in (0..parameters).filter(|&parameter| room[parameter] > degree) {
            let mut powers = vec![0; parameters];
            powers[parameter] = degree;
            out.push(powers);
        }
    }
    // A product of two needs a square of four recordings at least.
    for first in 0..parameters {
        for second in first + 1..parameters {
            let mut pairs: Vec<(u64, u64)> = members
                .iter()
                .filter_map(|&at| {
                    Some((values[at][first]?.to_bits(), values[at][second]?.to_bits()))
                })
                .collect();
            pairs.sort_unstable();
            pairs.dedup();
            if pairs.len() > room[first] + room[second] {
                let mut powers = vec![0; parameters];
                (powers[first], powers[second]) = (1, 1);
                out.push(powers);
            }
        }
    }
    out
}

fn distinct(values: &[f64]) -> usize {
    let mut sorted: Vec<u64> = values.iter().map(|value| value.to_bits()).collect();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.len()
}

#[cfg(test)]
mod tests;
