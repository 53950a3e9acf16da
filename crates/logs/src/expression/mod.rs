//! Inputs and outputs computed from the columns of a log: `pwm/1000`, `norm(v)`, `diff(v)/dt - g`.
//!
//! | written | means |
//! |---|---|
//! | `vehicle_local_position.vx` | a column; the series may be left out where only one has such a column |
//! | `q`, `q[0:4]`, `pose.position` | several columns at once: an array, a part of it, all that is in a nested field |
//! | `/imu/data.angular_velocity.x`, `` `odd name`.x `` | a topic of ROS; a name with letters that mean something else |
//! | `+ - * / ^ ( )` | arithmetic, column by column; a single column or number goes with each of several |
//! | `sin cos tan sqrt abs exp log` | of each column |
//! | `norm sum min max` | over all columns that are given; of several arguments, `min` and `max` take column by column |
//! | `next(x)`, `diff(x)`, `dt` | the value in the next row, `next(x) - x`, and the seconds to the next row |
//! | `name = …` | a name for the result |
//!
//! ```
//! use taskscout_logs::{Column, Expression, Series};
//!
//! let columns = vec![Column::new("v[0]", vec![3.0, 3.5, 3.5]), Column::new("v[1]", vec![4.0, 4.0, 4.5])];
//! let log = [Series::new("body", vec![0.0, 0.5, 1.0], columns)];
//! let force: Expression = "force = 2 * diff(v)/dt - 1".parse()?;
//! let found = force.evaluate(&log)?;
//! assert_eq!((found[0].name.as_str(), &found[0].values[..2]), ("force[0]", &[1.0, -1.0][..]));
//! assert!(found[0].values[2].is_nan()); // the last row has no next
//! let speed: Expression = "norm(body.v)".parse()?;
//! assert!(speed.is_row_wise() && !force.is_row_wise());
//! assert_eq!(speed.evaluate(&log)?[0].values[0], 5.0);
//!
//! let refusal = "norm(body.w)".parse::<Expression>()?.evaluate(&log).unwrap_err();
//! assert_eq!(refusal.to_string(), "in `norm(body.w)`, character 6: `body` has no column `w`: its columns are `v[0]` and `v[1]`");
//! let refusal = "norm(v".parse::<Expression>().unwrap_err();
//! assert_eq!(refusal.to_string(), "in `norm(v`, character 7: `)` is missing: close the bracket");
//! # Ok::<(), taskscout_logs::ExpressionError>(())
//! ```

mod evaluate;
mod function;
mod name;
mod parse;
mod token;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub(crate) use self::name::Name;
use self::parse::Node;
use crate::series::{Column, Series};

/// A computation over the columns of a log; saved and shown as its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Expression {
    /// As it was given.
    source: String,
    /// Where it begins behind the name of the result.
    start: usize,
    /// The expression with numbers in place of named constants.
    complete: String,
    name: Option<String>,
    root: Node,
}

/// An expression that makes no sense, or not with these columns.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("in `{text}`, character {at}: {problem}")]
pub struct ExpressionError {
    /// The expression.
    pub text: String,
    /// The character that it is about, counted from 1.
    pub at: usize,
    /// What is wrong and what to do about it.
    pub problem: String,
}

/// What is wrong, and with which byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    at: usize,
    text: String,
}

impl Problem {
    fn new(at: usize, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { at, text }
    }
}

impl Expression {
    /// An expression in which these names stand for numbers.
    ///
    /// # Errors
    /// If it makes no sense; the error names the character.
    pub fn with_constants(
        text: &str,
        constants: &BTreeMap<String, f64>,
    ) -> Result<Self, ExpressionError> {
        let (name, start) = match token::equals(text) {
            Some(at) => (Some(text[..at].trim()), at + 1),
            None => (None, 0),
        };
        let refuse = |problem: Problem| error(text, problem);
        if name.is_some_and(str::is_empty) {
            let problem = "a name is missing before `=`: write `name = expression`";
            return Err(refuse(Problem::new(0, problem)));
        }
        let (root, complete) = parse::parse(text, start, constants).map_err(refuse)?;
        Ok(Self {
            source: text.to_owned(),
            start,
            complete: complete.trim().to_owned(),
            name: name.map(ToOwned::to_owned),
            root,
        })
    }

    /// The expression as it was given, without the name of the result.
    fn text(&self) -> &str {
        self.source[self.start..].trim()
    }

    /// The name of the result.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_else(|| self.text())
    }

    /// Whether a row of the result needs nothing but the same row of the columns, so that it can be computed for rows
    /// that come alone.
    #[must_use]
    pub fn is_row_wise(&self) -> bool {
        self.lookahead() == 0
    }

    /// How many rows at the end have no result, because the next is needed.
    pub(crate) fn lookahead(&self) -> usize {
        self.root.lookahead()
    }

    /// The columns that it needs.
    pub(crate) fn names(&self) -> Vec<&Name> {
        let mut names = Vec::new();
        self.root.names(&mut names);
        names
    }

    /// The names of the columns that it needs, without ranges: `imu.gyro` for `imu.gyro[0:3]`.
    #[must_use]
    pub fn columns(&self) -> Vec<String> {
        self.names().iter().map(|name| name.stem()).collect()
    }

    /// The result, from series that all have the same rows: a column, or several named `name[0]`, `name[1]`, …
    ///
    /// # Errors
    /// If a column is not there or could be several; the error suggests what may be meant.
    pub fn evaluate(&self, series: &[Series]) -> Result<Vec<Column>, ExpressionError> {
        let found = evaluate::evaluate(&self.root, series);
        let mut columns = found.map_err(|problem| self.error(problem))?;
        let own_names = self.name.is_none() && matches!(self.root, Node::Columns(_));
        match columns.as_mut_slice() {
            _ if own_names => {}
            [one] => one.name = self.name().to_owned(),
            several => {
                for (index, column) in several.iter_mut().enumerate() {
                    column.name = format!("{}[{index}]", self.name());
                    column.unit = None;
                }
            }
        }
        Ok(columns)
    }

    /// What is wrong, with the expression.
    pub(crate) fn error(&self, problem: Problem) -> ExpressionError {
        error(&self.source, problem)
    }
}

fn error(text: &str, problem: Problem) -> ExpressionError {
    let before = text.char_indices().take_while(|&(at, _)| at < problem.at);
    ExpressionError {
        text: text.to_owned(),
        at: before.count() + 1,
        problem: problem.text,
    }
}

/// Expressions from a list with commas between them; commas in brackets are part of an expression.
///
/// ```
/// let list = taskscout_logs::split_expressions("v, min(a, b),q[0:4]");
/// assert_eq!(list, ["v", "min(a, b)", "q[0:4]"]);
/// ```
#[must_use]
pub fn split_expressions(list: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let (mut depth, mut quoted) = (0usize, false);
    for letter in list.chars() {
        match letter {
            '`' => quoted = !quoted,
            '(' | '[' if !quoted => depth += 1,
            ')' | ']' if !quoted => depth = depth.saturating_sub(1),
            ',' if !quoted && depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = parts.last_mut() {
            last.push(letter);
        }
    }
    parts.iter().map(|part| part.trim().to_owned()).collect()
}

impl FromStr for Expression {
    type Err = ExpressionError;

    fn from_str(text: &str) -> Result<Self, ExpressionError> {
        Self::with_constants(text, &BTreeMap::new())
    }
}

impl TryFrom<String> for Expression {
    type Error = ExpressionError;

    fn try_from(text: String) -> Result<Self, ExpressionError> {
        text.parse()
    }
}

impl From<Expression> for String {
    fn from(expression: Expression) -> Self {
        expression.to_string()
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.name.is_none() && self.complete == self.text() {
            return formatter.write_str(&self.complete);
        }
        write!(formatter, "{} = {}", self.name(), self.complete)
    }
}

#[cfg(test)]
mod tests;
