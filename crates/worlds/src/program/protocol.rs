//! What is said between taskscout and a program: one JSON object a line.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A request for rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The name of the target, where rows of a target are asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The task; none for a target that only the program knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<Vec<f64>>,
    /// How many rows.
    pub count: usize,
    /// What a program should draw its randomness from, below 2⁵³ so that every language holds it.
    pub seed: u64,
}

impl std::fmt::Display for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let plural = if self.count == 1 { "" } else { "s" };
        write!(f, "{} row{plural} of ", self.count)?;
        match (&self.target, &self.task) {
            (Some(name), _) => write!(f, "target {name}"),
            (None, Some(task)) => write!(f, "task {}", show(task)),
            (None, None) => f.write_str("no task"),
        }
    }
}

/// A task, shortened.
fn show(task: &[f64]) -> String {
    let shown: Vec<String> = task.iter().take(8).map(ToString::to_string).collect();
    let more = if task.len() > 8 { ", …" } else { "" };
    format!("[{}{more}]", shown.join(", "))
}

/// What a line of an answer says.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answer {
    /// The inputs of a row with the outputs behind them.
    Row(Vec<f64>),
    /// The program refuses, with its reason.
    Refusal(String),
}

/// Reads a line of an answer, or says what is wrong with it.
pub(super) fn read(line: &str, inputs: usize, outputs: usize) -> Result<Answer, String> {
    let value: Value = serde_json::from_str(line).map_err(|error| {
        let infinite = ["NaN", "nan", "Infinity", "inf"];
        if line.starts_with('{') && infinite.iter().any(|word| line.contains(word)) {
            "has a value that is not finite".to_owned()
        } else {
            format!("is no JSON ({error})")
        }
    })?;
    let Value::Object(object) = value else {
        return Err("is no JSON object".into());
    };
    // Some languages write every field: one that says nothing is no refusal.
    if let Some(reason) = object.get("error").filter(|reason| !reason.is_null()) {
        let text = reason.as_str().map(str::to_owned);
        return Ok(Answer::Refusal(text.unwrap_or_else(|| reason.to_string())));
    }
    let x = object.get("x").ok_or("has no `x`")?;
    let x = x.as_array().ok_or("has an `x` that is no list")?;
    if x.len() != inputs {
        return Err(format!("has {} inputs where {inputs} are needed", x.len()));
    }
    let mut row = Vec::with_capacity(inputs + outputs);
    for (index, value) in x.iter().enumerate() {
        row.push(number(value).ok_or_else(|| format!("has an input {index} that is no number"))?);
    }
    let y = object.get("y").ok_or("has no `y`")?;
    let y = y.as_array().map_or(std::slice::from_ref(y), Vec::as_slice);
    if y.len() != outputs {
        let are = if outputs == 1 { "is" } else { "are" };
        let given = y.len();
        return Err(format!("has {given} outputs where {outputs} {are} needed"));
    }
    for value in y {
        row.push(number(value).ok_or("has a `y` that is no number")?);
    }
    Ok(Answer::Row(row))
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64().filter(|value| value.is_finite())
}

/// Text of a program in one line of at most so many characters.
pub(super) fn shorten(text: &str, most: usize) -> String {
    let line: String = text
        .trim()
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(most + 1)
        .collect();
    if line.chars().count() <= most {
        return line;
    }
    line.chars().take(most).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn requests_are_one_line() {
        let request = Request {
            target: None,
            task: Some(vec![0.3, -0.2]),
            count: 5,
            seed: 7,
        };
        let text = serde_json::to_string(&request).unwrap();
        assert_eq!(text, r#"{"task":[0.3,-0.2],"count":5,"seed":7}"#);
        assert_eq!(request.to_string(), "5 rows of task [0.3, -0.2]");
        let target = Request {
            target: Some("stiff".into()),
            task: None,
            count: 1,
            ..request
        };
        assert_eq!(target.to_string(), "1 row of target stiff");
        let text = serde_json::to_string(&target).unwrap();
        assert_eq!(text, r#"{"target":"stiff","count":1,"seed":7}"#);
    }

    #[test]
    fn rows_are_read_and_bad_ones_described() {
        let row = |line: &str| read(line, 2, 1).unwrap();
        let good = Answer::Row(vec![1.0, -2.5, 3.0]);
        assert_eq!(row(r#"{"x": [1, -2.5], "y": 3}"#), good);
        assert_eq!(
            row(r#"{"y": [3.0], "x": [1, -2.5], "note": "kept out"}"#),
            good
        );
        assert_eq!(row(r#"{"x": [1, -2.5], "y": 3, "error": null}"#), good);
        let refusal = Answer::Refusal("too stiff".into());
        assert_eq!(row(r#"{"error": "too stiff"}"#), refusal);
        for (line, problem) in [
            ("hello", "is no JSON"),
            ("[1, 2]", "is no JSON object"),
            (r#"{"x": [1], "y": 3}"#, "has 1 inputs where 2 are needed"),
            (r#"{"x": 1, "y": 3}"#, "`x` that is no list"),
            (
                r#"{"x": [1, null], "y": 3}"#,
                "an input 1 that is no number",
            ),
            (r#"{"x": [1, 2]}"#, "has no `y`"),
            (r#"{"y": 2}"#, "has no `x`"),
            (r#"{"x": [1, 2], "y": "3"}"#, "`y` that is no number"),
            (r#"{"x": [1, 2], "y": [3, 4]}"#, "has 2 outputs"),
            (r#"{"x": [1, NaN], "y": 3}"#, "not finite"),
            (r#"{"x": [1, 2], "y": -Infinity}"#, "not finite"),
            (r#"{"x": [1, 2], "y": 1e999}"#, "is no JSON"),
        ] {
            let said = read(line, 2, 1).unwrap_err();
            assert!(said.contains(problem), "`{problem}` in: {said}");
        }
        let three = read(r#"{"x": [1, -2.5], "y": [3, 4, 5]}"#, 2, 3).unwrap();
        assert_eq!(three, Answer::Row(vec![1.0, -2.5, 3.0, 4.0, 5.0]));
        for (line, problem) in [
            (
                r#"{"x": [1, 2], "y": 3}"#,
                "has 1 outputs where 3 are needed",
            ),
            (r#"{"x": [1, 2], "y": [3, 4]}"#, "has 2 outputs where 3 are"),
            (
                r#"{"x": [1, 2], "y": [3, 4, null]}"#,
                "`y` that is no number",
            ),
        ] {
            let said = read(line, 2, 3).unwrap_err();
            assert!(said.contains(problem), "`{problem}` in: {said}");
        }
    }

    #[test]
    fn long_texts_are_shortened() {
        assert_eq!(shorten("  a\tb\n", 10), "a b");
        assert_eq!(shorten("äöüß", 3), "äöü…");
    }
}
