//! What the columns of a study are: names, units and scaling, which travel with it from the first file to the last
//! prediction.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use taskscout::data::Samples;
use taskscout::study::TargetRows;
use taskscout::task::TaskId;
use taskscout_models::{Affine, Names, Units};

use crate::error::{Error, Result, about};
use crate::feature_choice::FeatureChoices;

/// A column of numbers: a parameter of tasks, an input or an output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// What files call it.
    pub name: String,
    /// What it is measured in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// What is subtracted before learning; from the first rows if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<f64>,
    /// What the rest is divided by, above 0; from the first rows if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
}

impl Column {
    /// A column without unit, scaled by the first rows.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            unit: None,
            offset: None,
            scale: None,
        }
    }

    /// The name, with the unit in brackets.
    #[must_use]
    pub fn label(&self) -> String {
        match &self.unit {
            Some(unit) => format!("{} ({unit})", self.name),
            None => self.name.clone(),
        }
    }
}

/// How columns without an offset or a scale of their own are scaled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScalingRule {
    /// By mean and standard deviation of the first rows that are told.
    #[default]
    FirstRows,
    /// Not at all.
    None,
}

/// What a study is about, beside the settings of the library's study.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// The parameters of a task.
    pub parameters: Vec<Column>,
    /// The inputs of a row.
    pub inputs: Vec<Column>,
    /// The outputs of a row.
    pub outputs: Vec<Column>,
    /// How columns are scaled that say nothing of it.
    #[serde(default)]
    pub scaling: ScalingRule,
    /// What budgets are counted in, where it is not samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_unit: Option<String>,
    /// Rows that tasks can give in all, where that is limited.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub capacities: BTreeMap<TaskId, usize>,
    /// Whether more rows of the targets can be had and what they cost, where somebody said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_rows: Option<TargetRows>,
    /// Features that are chosen by what was measured; the study's own where there is nothing to choose from.
    #[serde(default, skip_serializing_if = "FeatureChoices::is_empty")]
    pub feature_choices: FeatureChoices,
}

/// How told rows become the rows that the study learns from: `(value − mean) / scale`, column by column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    /// Of the inputs.
    pub inputs: Affine,
    /// Of the outputs.
    pub outputs: Affine,
}

impl Definition {
    /// Checks names, offsets and scales.
    ///
    /// # Errors
    /// The first that does not fit.
    pub fn validate(&self) -> Result<()> {
        let kinds = [
            ("parameter", &self.parameters),
            ("input", &self.inputs),
            ("output", &self.outputs),
        ];
        let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
        for (kind, columns) in kinds {
            for (place, column) in columns.iter().enumerate() {
                if column.name.trim().is_empty() {
                    return Err(Error::Input(format!("an {kind} has no name: give it one")));
                }
                // A parameter may be measured as well: it is another column of another table.
                let known = seen.insert(&column.name, kind);
                if known.is_some_and(|known| known == kind || known != "parameter") {
                    return Err(Error::Input(format!(
                        "the column `{}` is named twice: every input and output needs a name of its own",
                        column.name
                    )));
                }
                let path = match kind {
                    "parameter" => "tasks.parameters",
                    "input" => "rows.inputs",
                    _ => "rows.outputs",
                };
                check_scaling(kind, column).map_err(about(&format!("{path}[{place}]")))?;
            }
        }
        for (kind, columns) in [("input", &self.inputs), ("output", &self.outputs)] {
            if columns.is_empty() {
                return Err(Error::Input(format!(
                    "the study has no {kind}: name the columns of your rows that are {kind}s"
                )));
            }
        }
        Ok(())
    }

    /// The names and units of inputs and outputs, for saved models.
    #[must_use]
    pub fn names(&self) -> Names {
        let of = |columns: &[Column]| columns.iter().map(|column| column.name.clone()).collect();
        let unit = |columns: &[Column]| columns.iter().map(|column| column.unit.clone()).collect();
        Names {
            inputs: of(&self.inputs),
            outputs: of(&self.outputs),
            units: Some(Units {
                inputs: unit(&self.inputs),
                outputs: unit(&self.outputs),
            }),
            expressions: None,
        }
    }

    /// How rows are scaled from now on, given the first of them.
    #[must_use]
    pub fn scaling_for(&self, first: &Samples) -> Scaling {
        let rule = self.scaling;
        Scaling {
            inputs: scaling(&self.inputs, first.inputs(), rule),
            outputs: scaling(&self.outputs, first.outputs(), rule),
        }
    }

    /// What a budget is counted in.
    #[must_use]
    pub fn budget_unit(&self) -> &str {
        self.cost_unit.as_deref().unwrap_or("samples")
    }
}

impl Scaling {
    /// Told rows as the study learns from them.
    ///
    /// # Errors
    /// Values that are not finite once they are scaled.
    pub fn apply(&self, told: &Samples) -> Result<Samples> {
        let scaled = Samples::new(
            forth(&self.inputs, told.inputs()),
            told.input_dim(),
            forth(&self.outputs, told.outputs()),
            told.output_dim(),
        );
        scaled.map_err(Into::into)
    }

    /// The factor from a mean squared error of the study's own labels to the square of the output's unit; none for
    /// several outputs, whose units differ.
    #[must_use]
    pub fn squared_unit(&self) -> Option<f64> {
        match self.outputs.scale[..] {
            [scale] => Some(scale * scale),
            _ => None,
        }
    }
}

fn check_scaling(kind: &str, column: &Column) -> Result<()> {
    let Column {
        name,
        offset,
        scale,
        ..
    } = column;
    if kind == "parameter" && (offset.is_some() || scale.is_some()) {
        return Err(Error::Input(format!(
            "the parameter `{name}` has an offset or a scale: only inputs and outputs have them, parameters are scaled by the space"
        )));
    }
    if offset.is_some_and(|offset| !offset.is_finite()) {
        return Err(Error::Input(format!(
            "the offset of the {kind} `{name}` is not finite: give a number"
        )));
    }
    match scale {
        Some(scale) if !(scale.is_finite() && *scale > 0.0) => Err(Error::Input(format!(
            "the scale of the {kind} `{name}` is {scale}: give a number above 0"
        ))),
        _ => Ok(()),
    }
}

fn scaling(columns: &[Column], values: &[f64], rule: ScalingRule) -> Affine {
    let width = columns.len();
    let count = (values.len() / width.max(1)).max(1) as f64;
    let found = |at: usize| -> (f64, f64) {
        if rule == ScalingRule::None || values.is_empty() {
            return (0.0, 1.0);
        }
        let column = || values.iter().skip(at).step_by(width);
        let mean = column().sum::<f64>() / count;
        let spread = (column().map(|v| (v - mean).powi(2)).sum::<f64>() / count).sqrt();
        // What does not vary is left as large as it is.
        let varies = spread.is_finite() && spread > 1e-12 * mean.abs().max(1e-300);
        (mean, if varies { spread } else { 1.0 })
    };
    let both = columns.iter().enumerate().map(|(at, column)| {
        let (mean, spread) = found(at);
        // Whoever gives one of the two means the other to be left alone.
        match (column.offset, column.scale) {
            (None, None) => (mean, spread),
            (offset, scale) => (offset.unwrap_or(0.0), scale.unwrap_or(1.0)),
        }
    });
    let (mean, scale) = both.unzip();
    Affine { mean, scale }
}

fn forth(affine: &Affine, values: &[f64]) -> Vec<f64> {
    let width = affine.mean.len();
    let mut scaled = Vec::with_capacity(values.len());
    for row in values.chunks_exact(width) {
        let pairs = row.iter().zip(affine.mean.iter().zip(&affine.scale));
        scaled.extend(pairs.map(|(value, (mean, scale))| (value - mean) / scale));
    }
    scaled
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;

    fn definition() -> Definition {
        let pwm = Column {
            scale: Some(1000.0),
            ..Column::named("pwm")
        };
        Definition {
            inputs: vec![Column::named("v"), pwm],
            outputs: vec![Column::named("force")],
            ..Definition::default()
        }
    }

    #[test]
    fn what_is_given_wins_over_what_is_found() {
        let rows = Samples::new(vec![1.0, 1500.0, 3.0, 1600.0], 2, vec![9.0, 11.0], 1).unwrap();
        let scaling = definition().scaling_for(&rows);
        assert_eq!(scaling.inputs.mean, [2.0, 0.0]);
        assert_eq!(scaling.inputs.scale, [1.0, 1000.0]);
        let scaled = scaling.apply(&rows).unwrap();
        assert_eq!(scaled.inputs(), [-1.0, 1.5, 1.0, 1.6]);
        assert_eq!(scaled.outputs(), [-1.0, 1.0]);
        assert_eq!(scaling.squared_unit(), Some(1.0));
    }

    #[test]
    fn a_column_that_does_not_vary_is_only_shifted() {
        let rows = Samples::new(vec![5.0, 0.0, 5.0, 0.0], 2, vec![1.0, 1.0], 1).unwrap();
        let scaling = definition().scaling_for(&rows);
        assert_eq!(
            (scaling.inputs.mean[0], scaling.inputs.scale[0]),
            (5.0, 1.0)
        );
    }

    #[test]
    fn names_are_unique_and_scales_positive() {
        let refused = |change: &dyn Fn(&mut Definition)| {
            let mut definition = definition();
            change(&mut definition);
            definition.validate().unwrap_err().to_string()
        };
        definition().validate().unwrap();
        assert!(refused(&|d| d.outputs[0].name = "v".into()).contains("named twice"));
        assert!(refused(&|d| d.inputs[0].scale = Some(0.0)).contains("above 0"));
        assert!(refused(&|d| d.inputs.clear()).contains("no input"));
    }
}
