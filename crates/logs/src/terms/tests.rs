//! Tests of task features from labels and parameters.

#![allow(clippy::unwrap_used)]

use super::*;
use crate::facts::NamePattern;

fn facts(pattern: &str, names: &[&str]) -> Vec<Facts> {
    let pattern = NamePattern::parse(pattern).unwrap();
    names
        .iter()
        .map(|name| pattern.facts(name).unwrap())
        .collect()
}

fn terms(facts: &[Facts]) -> TaskTerms {
    TaskTerms::of(&facts.iter().collect::<Vec<_>>())
}

#[test]
fn one_unknown_parameter_takes_it_from_nobody_else() {
    let all = facts(
        "{v}_{w:number}",
        &["a_0", "a_1", "a_2", "b_0", "b_3", "b_gale"],
    );
    let terms = terms(&all);
    assert_eq!(terms.names()[..3], ["1", "w", "w²"]);
    let known = terms.features(&all[4], &[Some(3.0)]);
    let unknown = terms.features(&all[5], &[None]);
    assert!(known[1].abs() > 1.0);
    // The mean over what it may be: 0 to 3, as known of the others.
    let middle = terms.features(&all[5], &[Some(1.5)]);
    assert!((unknown[1] - middle[1]).abs() < 1e-12);
    assert!(unknown[2] > middle[2]);
    let level = terms
        .names()
        .iter()
        .position(|name| name == "v = b")
        .unwrap();
    assert!(
        (unknown[level] - 1.0).abs() < 1e-12
            && terms.features(&all[0], &[Some(0.0)])[level].abs() < 1e-12
    );
}

#[test]
fn what_says_nothing_new_is_left_out_with_its_reason() {
    let all = facts(
        "{v}_{t}_{c}_{n}_{w:number}",
        &["a_x_p_1_5", "a_x_q_2_5", "b_y_p_3_5", "b_y_q_4_5"],
    );
    let terms = terms(&all);
    assert_eq!(terms.labels(), ["c", "t"]);
    let text = terms.left_out().join("\n");
    for words in [
        "label n is left out, because every recording",
        "label v is left out, because it tells the same recordings apart as t",
        "parameter w is left out, because it is the same in all",
    ] {
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn a_range_is_taken_as_what_it_may_be() {
    let mut all = facts("{w:number}", &["0", "1", "4"]);
    all[1].parameters.get_mut("w").unwrap().value = Known::Within(1.0, 2.0);
    let terms = terms(&all);
    assert_eq!(terms.candidates(&all[1])[0].first(), Some(&1.0));
    assert_eq!(terms.candidates(&all[1])[0].last(), Some(&2.0));
    assert_eq!(terms.candidates(&all[0]), [[0.0]]);
}

#[test]
fn labels_of_too_many_levels_are_left_out() {
    let names: Vec<String> = (0..80)
        .map(|i| format!("{}_{}_{i}", i / 2, i % 3))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let terms = terms(&facts("{pilot}_{kit}_{w:number}", &names));
    assert_eq!(terms.labels(), ["kit"]);
    assert!(
        terms
            .left_out()
            .join("")
            .contains("its 40 levels are too many")
    );
    assert!(terms.len() <= MOST_TERMS, "{:?}", terms.names());
}
