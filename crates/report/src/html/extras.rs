//! What an experiment adds to its summary, as tables where it has the shape of one.

use std::collections::BTreeMap;

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::parts::named_rows;
use crate::columns::Column;
use crate::format::{MISSING, short};

/// Longer tables are folded.
const LONG: usize = 12;

/// Longer lists of numbers stay in one cell.
const WIDE: usize = 8;

/// The entries, each under its name.
pub(super) fn extras(extras: &BTreeMap<String, Value>) -> Markup {
    html! { @for (name, value) in extras { (entry(&capitalised(name), value)) } }
}

fn entry(name: &str, value: &Value) -> Markup {
    if let Some(records) = records(value) {
        return folded(name, "rows", records.len(), &as_table(&columns(&records)));
    }
    if let Some(fields) = fields(value) {
        return folded(name, "entries", fields[0].cells.len(), &as_table(&fields));
    }
    if is_flat(value) {
        let text = plain(value);
        return match value.as_array().map_or(1, Vec::len) {
            n if n > LONG => folded(name, "values", n, &html! { p { (text) } }),
            _ => html! { p { b { (name) } ": " (text) } "\n" },
        };
    }
    let text = serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string());
    let lines = text.lines().count();
    folded(name, "lines", lines, &html! { pre tabindex="0" { (text) } })
}

/// Something with a name, open if it is short.
fn folded(name: &str, unit: &str, count: usize, inner: &Markup) -> Markup {
    let short = count <= LONG;
    html! {
        details open[short] {
            summary { (name) @if !short { " (" (count) " " (unit) ")" } }
            (inner)
        }
        "\n"
    }
}

fn as_table(columns: &[Column]) -> Markup {
    match columns.split_first() {
        Some((names, others)) => named_rows(names, others, ""),
        None => html! {},
    }
}

/// A list of objects.
fn records(value: &Value) -> Option<Vec<&Map<String, Value>>> {
    let list = value.as_array().filter(|list| !list.is_empty())?;
    list.iter().map(Value::as_object).collect()
}

/// The columns of a list of objects: words first, then single values, then lists.
fn columns(records: &[&Map<String, Value>]) -> Vec<Column> {
    let mut keys: Vec<&str> = Vec::new();
    for key in records.iter().flat_map(|record| record.keys()) {
        if !keys.contains(&key.as_str()) {
            keys.push(key);
        }
    }
    let field = |key: &str| -> Vec<&Value> {
        let values = records.iter().map(|record| record.get(key));
        values.map(|value| value.unwrap_or(&Value::Null)).collect()
    };
    keys.sort_by_key(|key| {
        let first = field(key).into_iter().find(|value| !value.is_null());
        match first {
            Some(Value::String(_)) => 0,
            Some(Value::Array(_) | Value::Object(_)) => 2,
            _ => 1,
        }
    });
    let estimate = estimate(&keys, &field);
    let mut columns = Vec::new();
    for key in keys {
        match estimate {
            Some(_) if ["low", "high"].contains(&key) => {}
            Some((own, length)) if own == key => {
                columns.extend((0..length).map(|index| Column {
                    heading: subscripted(key, index + 1),
                    cells: intervals(&field(key), &field("low"), &field("high"), index),
                    words: false,
                }));
            }
            _ => columns.extend(split(key, &field(key))),
        }
    }
    columns
}

/// The one list of numbers that lists `low` and `high` of the same length belong to.
fn estimate<'a>(
    keys: &[&'a str],
    field: &impl Fn(&str) -> Vec<&'a Value>,
) -> Option<(&'a str, usize)> {
    let length = |key: &str| numbers(&field(key));
    let wanted = length("low").filter(|own| length("high") == Some(*own))?;
    let mut others = keys
        .iter()
        .filter(|key| !["low", "high"].contains(key) && length(key) == Some(wanted));
    let only = others.next().filter(|_| others.next().is_none())?;
    Some((only, wanted))
}

/// How long the lists are, if all values are lists of numbers, equally long and not too long.
fn numbers(values: &[&Value]) -> Option<usize> {
    let length = values.first()?.as_array()?.len();
    let fits = |value: &&Value| {
        value.as_array().is_some_and(|list| {
            list.len() == length && list.iter().all(|item| item.is_number() || item.is_null())
        })
    };
    ((1..=WIDE).contains(&length) && values.iter().all(fits)).then_some(length)
}

/// One component of an estimate and its region, row by row.
fn intervals(values: &[&Value], low: &[&Value], high: &[&Value], index: usize) -> Vec<String> {
    let [values, low, high] = [values, low, high].map(|lists| component(lists, index));
    let all: Vec<&Value> = [values.as_slice(), &low, &high].concat();
    let show = figures(&all);
    let ends = low.iter().zip(&high);
    let cells = values.iter().zip(ends);
    cells
        .map(|(value, (low, high))| format!("{} [{}, {}]", show(value), show(low), show(high)))
        .collect()
}

fn component<'a>(lists: &[&'a Value], index: usize) -> Vec<&'a Value> {
    let items = lists.iter().map(|list| list.get(index));
    items.map(|item| item.unwrap_or(&Value::Null)).collect()
}

/// How the numbers of a column are written: with the same decimals, so that they compare down the
/// column, unless they are all whole or too large or small for that.
fn figures(values: &[&Value]) -> impl Fn(&Value) -> String + use<> {
    let numbers = values.iter().filter_map(|value| value.as_f64());
    let largest = numbers.map(f64::abs).fold(0.0, f64::max);
    let fractions = values.iter().any(|value| value.is_f64());
    let decimals = match largest {
        _ if !fractions => None,
        v if !(0.1..1e3).contains(&v) => None,
        v => Some(3 - v.log10().floor().max(0.0) as usize),
    };
    move |value| match (value.as_f64(), decimals) {
        (Some(number), Some(decimals)) => minus(&format!("{number:.decimals$}")),
        _ => plain(value),
    }
}

/// A field as a column, or as one a component.
fn split(key: &str, values: &[&Value]) -> Vec<Column> {
    let column = |heading: String, values: &[&Value]| {
        let show = figures(values);
        Column {
            heading,
            cells: values.iter().map(|value| show(value)).collect(),
            words: values.iter().any(|value| value.is_string()),
        }
    };
    match numbers(values) {
        Some(length) if length > 1 => (0..length)
            .map(|index| column(subscripted(key, index + 1), &component(values, index)))
            .collect(),
        _ => vec![column(key.replace('_', " "), values)],
    }
}

/// An object without objects inside, as two columns.
fn fields(value: &Value) -> Option<[Column; 2]> {
    let object = value.as_object().filter(|object| !object.is_empty())?;
    if !object.values().all(is_flat) {
        return None;
    }
    let names = object.keys().map(|key| key.replace('_', " "));
    Some([
        Column {
            heading: "name".to_owned(),
            cells: names.collect(),
            words: true,
        },
        Column {
            heading: "value".to_owned(),
            cells: object.values().map(plain).collect(),
            words: object.values().any(Value::is_string),
        },
    ])
}

/// A single value or a list of such.
fn is_flat(value: &Value) -> bool {
    match value {
        Value::Object(_) => false,
        Value::Array(items) => !items.iter().any(|item| item.is_object() || item.is_array()),
        _ => true,
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => MISSING.to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(number) => {
            let text = number
                .as_f64()
                .filter(|_| number.is_f64())
                .map_or_else(|| number.to_string(), short);
            minus(&text)
        }
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// A number with a true minus sign.
fn minus(number: &str) -> String {
    number.replace('-', "−")
}

fn subscripted(key: &str, index: usize) -> String {
    let lower = |digit: char| {
        let value = digit.to_digit(10).unwrap_or_default();
        char::from_u32('₀' as u32 + value).unwrap_or(digit)
    };
    let index: String = index.to_string().chars().map(lower).collect();
    format!("{}{index}", key.replace('_', " "))
}

fn capitalised(text: &str) -> String {
    let text = text.replace('_', " ");
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_balanced;
    use serde_json::json;

    fn show(name: &str, value: Value) -> String {
        let out = extras(&BTreeMap::from([(name.to_owned(), value)])).into_string();
        assert_balanced(&out);
        out
    }

    #[test]
    fn records_become_tables() {
        let out = show(
            "relevant",
            json!([{"task": "<a>", "similarity": 0.91, "w": [0.5, -1.0]}, {"task": "b"}]),
        );
        assert!(
            out.contains("<details open><summary>Relevant</summary>"),
            "{out}"
        );
        assert!(
            out.contains("<th scope=\"row\">&lt;a&gt;</th><td>0.910</td><td>0.500, −1.00</td>")
        );
        assert!(out.contains("<th scope=\"row\">b</th><td>–</td><td>–</td>"));
    }

    #[test]
    fn estimates_stand_beside_their_regions_and_long_tables_are_folded() {
        let one = |seed: u64| json!({"seed": seed, "w": [0.5, -0.25], "low": [0.4, -0.5], "high": [0.6, 0.0]});
        let out = show("identified", (1..=50).map(one).collect());
        assert!(out.contains("<details><summary>Identified (50 rows)</summary>"));
        assert!(out.contains(">seed</th><th scope=\"col\">w₁</th><th scope=\"col\">w₂</th></tr>"));
        assert!(
            out.contains("<th scope=\"row\">50</th><td>0.500<small>[0.400, 0.600]</small></td>")
        );
        assert!(out.contains("<td>−0.250<small>[−0.500, 0.000]</small></td>"));
    }

    #[test]
    fn everything_else_is_shown_as_plainly_as_it_can_be() {
        assert!(show("k", json!(5)).contains("<p><b>K</b>: 5</p>"));
        assert!(show("seeds", json!([1, 2])).contains("<p><b>Seeds</b>: 1, 2</p>"));
        assert!(show("many", (0..20).collect()).contains("<summary>Many (20 values)</summary>"));
        let flat = show("other_thing", json!({"step_s": 0.01, "name": "x&y"}));
        assert!(
            flat.contains("Other thing") && flat.contains(">step s</th>"),
            "{flat}"
        );
        let deep = show("deep", json!({"a": {"b": [{"c": "<d>"}]}}));
        assert!(deep.contains("<pre") && deep.contains("&lt;d&gt;"));
        for empty in [
            json!([]),
            json!({}),
            json!(null),
            json!([[], [1]]),
            json!([{}]),
        ] {
            show("empty", empty);
        }
        assert!(extras(&BTreeMap::new()).0.is_empty());
    }
}
