//! Expressions over the columns of series.

use super::Problem;
use super::function::Function;
use super::parse::Node;
use crate::series::{Column, Series};

/// What a part of an expression comes to.
enum Value {
    Number(f64),
    /// Columns of equal length.
    Columns(Vec<Column>),
}

/// The columns that an expression comes to; all series have the same rows.
pub(super) fn evaluate(root: &Node, series: &[Series]) -> Result<Vec<Column>, Problem> {
    match value(root, series)? {
        Value::Columns(columns) => Ok(columns),
        Value::Number(value) => {
            let rows = series.first().map_or(0, Series::rows);
            Ok(vec![Column::new("", vec![value; rows])])
        }
    }
}

fn value(node: &Node, series: &[Series]) -> Result<Value, Problem> {
    match node {
        Node::Number(value) => Ok(Value::Number(*value)),
        Node::Columns(name) => {
            let places = name.resolve(series)?;
            let column = |&(place, column): &(usize, usize)| {
                let owner = &series[place];
                let mut column = owner.columns[column].clone();
                if name.is_inside(&owner.name) {
                    column.name = format!("{}.{}", owner.name, column.name);
                }
                column
            };
            Ok(Value::Columns(places.iter().map(column).collect()))
        }
        Node::Step(at) => {
            let time = series.first().map(|one| one.time.as_slice());
            let Some(time) = time.filter(|time| !time.is_empty()) else {
                return Err(Problem::new(
                    *at,
                    "`dt` needs the times of the rows, and there are none",
                ));
            };
            Ok(Value::Columns(vec![Column::new(
                "dt",
                ahead(time, |next, now| next - now),
            )]))
        }
        Node::Negative(inner) => Ok(map(value(inner, series)?, |value| -value)),
        Node::Pair(sign, at, left, right) => {
            pair(*sign, *at, value(left, series)?, value(right, series)?)
        }
        Node::Call(function, at, arguments) => {
            let arguments = arguments.iter().map(|one| value(one, series));
            call(*function, *at, arguments.collect::<Result<_, _>>()?)
        }
    }
}

/// The lesser; no number if one of them is none.
fn least(a: f64, b: f64) -> f64 {
    if a < b || a.is_nan() { a } else { b }
}

/// The greater; no number if one of them is none.
fn greatest(a: f64, b: f64) -> f64 {
    if a > b || a.is_nan() { a } else { b }
}

/// Each value with the next; the last has none.
fn ahead(values: &[f64], combine: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    let mut ahead: Vec<f64> = values
        .windows(2)
        .map(|pair| combine(pair[1], pair[0]))
        .collect();
    if !values.is_empty() {
        ahead.push(f64::NAN);
    }
    ahead
}

fn map(value: Value, function: impl Fn(f64) -> f64) -> Value {
    match value {
        Value::Number(value) => Value::Number(function(value)),
        Value::Columns(mut columns) => {
            for column in &mut columns {
                column
                    .values
                    .iter_mut()
                    .for_each(|value| *value = function(*value));
                column.unit = None;
            }
            Value::Columns(columns)
        }
    }
}

fn pair(sign: char, at: usize, left: Value, right: Value) -> Result<Value, Problem> {
    let operation: fn(f64, f64) -> f64 = match sign {
        '+' => |a, b| a + b,
        '-' => |a, b| a - b,
        '*' => |a, b| a * b,
        '/' => |a, b| a / b,
        // Squares are exact, whatever the library of the system does.
        _ => |a, b: f64| match b {
            b if b.to_bits() == 2f64.to_bits() => a * a,
            b => a.powf(b),
        },
    };
    combine(left, right, operation).map_err(|(a, b)| {
        let problem = format!("`{sign}` stands between {a} and {b} columns: give both sides as many, or one of them a single one");
        Problem::new(at, problem)
    })
}

/// Both column by column; a number or a single column goes with each of several.
fn combine(
    left: Value,
    right: Value,
    operation: impl Fn(f64, f64) -> f64,
) -> Result<Value, (usize, usize)> {
    match (left, right) {
        (left, Value::Number(b)) => Ok(map(left, |a| operation(a, b))),
        (Value::Number(a), right) => Ok(map(right, |b| operation(a, b))),
        (Value::Columns(left), Value::Columns(right)) => {
            let width = left.len().max(right.len());
            if [left.len(), right.len()]
                .iter()
                .any(|&it| it != width && it != 1)
            {
                return Err((left.len(), right.len()));
            }
            let of = |columns: &[Column], index: usize| columns.len().min(index + 1) - 1;
            let column = |index: usize| {
                let (a, b) = (&left[of(&left, index)], &right[of(&right, index)]);
                let pairs = a.values.iter().zip(&b.values);
                Column::new("", pairs.map(|(&a, &b)| operation(a, b)).collect())
            };
            Ok(Value::Columns((0..width).map(column).collect()))
        }
    }
}

fn call(function: Function, at: usize, arguments: Vec<Value>) -> Result<Value, Problem> {
    let several = arguments.len() > 1;
    let mut arguments = arguments.into_iter();
    let first = arguments.next().unwrap_or(Value::Number(f64::NAN));
    if let Some(of_number) = function.of_number() {
        return Ok(map(first, of_number));
    }
    match function {
        Function::Next | Function::Diff => match first {
            Value::Number(_) => {
                let problem = format!("`{}` needs a column, and this is a number", function.name());
                Err(Problem::new(at, problem))
            }
            Value::Columns(mut columns) => {
                for column in &mut columns {
                    column.values = match function {
                        Function::Next => ahead(&column.values, |next, _| next),
                        _ => ahead(&column.values, |next, now| next - now),
                    };
                }
                Ok(Value::Columns(columns))
            }
        },
        Function::Min | Function::Max if several => {
            let operation = if function == Function::Min {
                least
            } else {
                greatest
            };
            arguments.try_fold(first, |value, next| {
                combine(value, next, operation).map_err(|(a, b)| {
                    let problem = format!("`{}` has arguments of {a} and {b} columns: give all as many, or some a single one", function.name());
                    Problem::new(at, problem)
                })
            })
        }
        _ => Ok(over_columns(
            function,
            std::iter::once(first).chain(arguments).collect(),
        )),
    }
}

/// One column of all columns of all arguments.
fn over_columns(function: Function, arguments: Vec<Value>) -> Value {
    let (start, operation): (f64, fn(f64, f64) -> f64) = match function {
        Function::Norm => (0.0, |sum, value| sum + value * value),
        Function::Min => (f64::INFINITY, least),
        Function::Max => (f64::NEG_INFINITY, greatest),
        _ => (0.0, |sum, value| sum + value),
    };
    let mut total = Value::Number(start);
    for argument in arguments {
        let parts = match argument {
            Value::Number(value) => vec![Value::Number(value)],
            Value::Columns(columns) => {
                let single = |column| Value::Columns(vec![column]);
                columns.into_iter().map(single).collect()
            }
        };
        for part in parts {
            // A number and single columns always go together.
            if let Ok(next) = combine(total, part, operation) {
                total = next;
            } else {
                return Value::Number(f64::NAN);
            }
        }
    }
    match function {
        Function::Norm => map(total, f64::sqrt),
        _ => total,
    }
}
