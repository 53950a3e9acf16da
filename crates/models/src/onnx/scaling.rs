//! Raw units at both ends of a graph.
//!
//! A mean that is large beside the scale is subtracted first and in two pieces, so that what is left of
//! a value in single precision is exact; an offset of outputs is added last, in two pieces too. Folded
//! into a bias or a matrix, either would cost as many digits as it has.

use taskscout::features::FeatureMap;

use super::graph::{Graph, Precision};
use crate::error::{Error, Result};
use crate::parts::Parts;

/// Inputs as the features take them, in single precision, and the features that are left to compute:
/// in double precision, a standardised map centres in doubles too.
pub(super) fn centred_inputs<'a>(
    graph: &mut Graph,
    parts: &'a Parts,
    input: &str,
    precision: Precision,
) -> Result<(String, &'a FeatureMap)> {
    let mut x = input.to_owned();
    let scaling = parts.input_scaling.as_ref();
    let mut map = &parts.input_features;
    if precision == Precision::Single {
        if let Some(scaling) = scaling {
            x = standardised(graph, &x, "input", &scaling.mean, &scaling.scale)?;
        }
        return Ok((x, map));
    }
    if let Some(scaling) = scaling {
        x = in_doubles(graph, &x, "input", &scaling.mean, &scaling.scale);
    }
    if let FeatureMap::Standardised(standard) = map {
        x = in_doubles(graph, &x, "feature", standard.mean(), standard.scale());
        map = standard.inner();
    }
    Ok((graph.cast(&x, Precision::Single), map))
}

fn in_doubles(graph: &mut Graph, x: &str, name: &str, mean: &[f64], scale: &[f64]) -> String {
    let mean = graph.doubles(&format!("{name}_mean"), mean);
    let scale = graph.doubles(&format!("{name}_scale"), scale);
    let centred = graph.node("Sub", &[x, &mean], &[]);
    graph.node("Div", &[&centred, &scale], &[])
}

/// `(x − mean) / scale`; `name` is what the constants are called.
pub(super) fn standardised(
    graph: &mut Graph,
    x: &str,
    name: &str,
    mean: &[f64],
    scale: &[f64],
) -> Result<String> {
    let shape = [mean.len()];
    let mut x = x.to_owned();
    for piece in pieces(mean) {
        let mean = graph.floats(&format!("{name}_mean"), &shape, piece)?;
        x = graph.node("Sub", &[&x, &mean], &[]);
    }
    if let Some(&value) = scale
        .iter()
        .find(|&&scale| (scale as f32) < f32::MIN_POSITIVE)
    {
        return Err(Error::TooLarge {
            place: format!("a value of {name}_scale"),
            value,
        });
    }
    let scale = graph.floats(&format!("{name}_scale"), &shape, scale.iter().copied())?;
    Ok(graph.node("Div", &[&x, &scale], &[]))
}

/// Numbers as sums of one or two in single precision, the large pieces first: a difference from the
/// first is small and exact, and so is one from the second.
fn pieces(values: &[f64]) -> Vec<Vec<f64>> {
    let first: Vec<f64> = values
        .iter()
        .map(|&value| f64::from(value as f32))
        .collect();
    let rest = values
        .iter()
        .zip(&first)
        .map(|(value, first)| value - first);
    let rest: Vec<f64> = rest.collect();
    if rest.iter().any(|rest| rest.abs() > 0.0) {
        vec![first, rest]
    } else {
        vec![first]
    }
}

/// What is in the units that were trained on in raw ones, with the offset or, for deviations, without.
pub(super) fn raw_outputs(
    graph: &mut Graph,
    parts: &Parts,
    values: &str,
    with_offset: bool,
    precision: Precision,
) -> Result<String> {
    let double = precision == Precision::Double;
    let mut y = match double {
        true => graph.cast(values, precision),
        false => values.to_owned(),
    };
    let Some(scaling) = &parts.output_scaling else {
        return Ok(y);
    };
    let shape = [parts.outputs()];
    let scale = match double {
        true => graph.doubles("output_scale", &scaling.scale),
        false => graph.floats("output_scale", &shape, scaling.scale.iter().copied())?,
    };
    y = graph.node("Mul", &[&y, &scale], &[]);
    if !with_offset {
        return Ok(y);
    }
    if double {
        let mean = graph.doubles("output_mean", &scaling.mean);
        return Ok(graph.node("Add", &[&y, &mean], &[]));
    }
    // The small piece first: the sum with the large one rounds once.
    for piece in pieces(&scaling.mean).into_iter().rev() {
        let mean = graph.floats("output_mean", &shape, piece)?;
        y = graph.node("Add", &[&y, &mean], &[]);
    }
    Ok(y)
}
