//! Settings as people give them: in words of a command line, on top of a file, or as answers to questions.

use std::str::FromStr;

use crate::definition::Column;
use crate::error::{Error, Result};
use crate::settings::{
    CollectionSettings, ColumnSettings, FeatureWord, ParameterSettings, RowSettings, Settings,
    TargetSettings, TaskSettings,
};

/// Numbers with commas between them: `6.2,-3.1`.
#[derive(Debug, Clone, PartialEq)]
pub struct Numbers(pub Vec<f64>);

impl FromStr for Numbers {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let number = |part: &str| {
            let number = part.trim().parse::<f64>();
            number.map_err(|_| format!("`{part}` is no number: give V,V"))
        };
        text.split(',')
            .map(number)
            .collect::<std::result::Result<_, _>>()
            .map(Self)
    }
}

/// A column, with what it is divided by: `pwm/1000`.
impl FromStr for ColumnSettings {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let parts = text.rsplit_once('/');
        // A slash may be part of a name.
        let scaled = parts.and_then(|(name, scale)| Some((name, scale.trim().parse().ok()?)));
        Ok(match scaled {
            None => Self::Name(text.trim().to_owned()),
            Some((name, scale)) => Self::Full(Column {
                scale: Some(scale),
                ..Column::named(name.trim())
            }),
        })
    }
}

/// A parameter with its range: `wind=-5:5` or `wind=-5:5:m/s`.
impl FromStr for ParameterSettings {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let usage = || {
            format!(
                "`{text}` is not NAME=LOW:HIGH or NAME=LOW:HIGH:UNIT, for instance wind=-5:5:m/s"
            )
        };
        let (name, range) = text.split_once('=').ok_or_else(usage)?;
        let mut parts = range.splitn(3, ':');
        let mut number = || parts.next().and_then(|part| part.trim().parse().ok());
        let (Some(low), Some(high)) = (number(), number()) else {
            return Err(usage());
        };
        Ok(Self {
            name: name.trim().to_owned(),
            low,
            high,
            unit: parts.next().map(str::to_owned),
        })
    }
}

/// A target, with its parameters if they are known: `tomorrow` or `tomorrow=6.2,3.1`.
impl FromStr for TargetSettings {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (name, values) = match text.split_once('=') {
            None => (text, None),
            Some((name, values)) => (name, Some(values)),
        };
        let numbers = values.map(Numbers::from_str).transpose()?;
        Ok(Self {
            name: name.trim().to_owned(),
            parameters: numbers.map(|numbers| numbers.0),
            ..Self::default()
        })
    }
}

impl FromStr for FeatureWord {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "identity" => Ok(Self::Identity),
            "affine" => Ok(Self::Affine),
            "quadratic" => Ok(Self::Quadratic),
            "cubic" => Ok(Self::Cubic),
            _ => Err("use auto, identity, affine, quadratic or cubic".into()),
        }
    }
}

impl Settings {
    /// These, changed where others say something; targets and forbidden tasks come together.
    #[must_use]
    pub fn changed_by(self, given: Self) -> Self {
        let changed = given.said();
        let mut targets = self.targets;
        targets.extend(given.targets);
        Self {
            places: self.places,
            changed,
            name: given.name.or(self.name),
            strategy: given.strategy.or(self.strategy),
            trainer: given.trainer.or(self.trainer),
            trainer_settings: given.trainer_settings.or(self.trainer_settings),
            k: given.k.or(self.k),
            serve: given.serve.or(self.serve),
            seed: given.seed.or(self.seed),
            tasks: self.tasks.changed_by(given.tasks),
            rows: self.rows.changed_by(given.rows),
            targets,
            collection: self.collection.changed_by(given.collection),
            folder: self.folder,
        }
    }
}

impl Settings {
    /// Settings of which something is said, by their paths in a file.
    fn said(&self) -> Vec<&'static str> {
        let (tasks, rows, collection) = (&self.tasks, &self.rows, &self.collection);
        let said = [
            ("strategy", self.strategy.is_some()),
            ("trainer", self.trainer.is_some()),
            ("k", self.k.is_some()),
            ("tasks.candidates", tasks.candidates.is_some()),
            ("tasks.columns", tasks.columns.is_some()),
            ("tasks.name", tasks.name.is_some()),
            ("tasks.cost", tasks.cost.is_some()),
            ("tasks.left", tasks.left.is_some()),
            ("tasks.parameters", !tasks.parameters.is_empty()),
            ("tasks.features", tasks.features.is_some()),
            ("rows.inputs", !rows.inputs.is_empty()),
            ("rows.outputs", !rows.outputs.is_empty()),
            ("rows.features", rows.features.is_some()),
            ("collection.sample_cost", collection.sample_cost.is_some()),
            ("collection.switch_cost", collection.switch_cost.is_some()),
            (
                "collection.smallest_batch",
                collection.smallest_batch.is_some(),
            ),
            ("collection.max_tasks", collection.max_tasks.is_some()),
            ("collection.forbidden", !collection.forbidden.is_empty()),
            ("collection.episode", collection.episode.is_some()),
            (
                "collection.target_sample_cost",
                collection.target_sample_cost.is_some(),
            ),
        ];
        let said = said.into_iter().filter(|(_, said)| *said);
        said.map(|(path, _)| path).collect()
    }
}

impl TaskSettings {
    fn changed_by(self, given: Self) -> Self {
        let mut units = self.units;
        units.extend(given.units);
        Self {
            candidates: given.candidates.or(self.candidates),
            columns: given.columns.or(self.columns),
            name: given.name.or(self.name),
            cost: given.cost.or(self.cost),
            left: given.left.or(self.left),
            units,
            parameters: either(given.parameters, self.parameters),
            space: given.space.or(self.space),
            features: given.features.or(self.features),
        }
    }
}

impl RowSettings {
    fn changed_by(self, given: Self) -> Self {
        Self {
            inputs: either(given.inputs, self.inputs),
            outputs: either(given.outputs, self.outputs),
            features: given.features.or(self.features),
            scaling: self.scaling,
        }
    }
}

impl CollectionSettings {
    fn changed_by(self, given: Self) -> Self {
        let mut forbidden = self.forbidden;
        forbidden.extend(given.forbidden);
        Self {
            unit: given.unit.or(self.unit),
            sample_cost: given.sample_cost.or(self.sample_cost),
            switch_cost: given.switch_cost.or(self.switch_cost),
            smallest_batch: given.smallest_batch.or(self.smallest_batch),
            max_tasks: given.max_tasks.or(self.max_tasks),
            most_of_a_task: given.most_of_a_task.or(self.most_of_a_task),
            forbidden,
            episode: given.episode.or(self.episode),
            target_rows: given.target_rows.or(self.target_rows),
            target_sample_cost: given.target_sample_cost.or(self.target_sample_cost),
        }
    }
}

fn either<T>(given: Vec<T>, otherwise: Vec<T>) -> Vec<T> {
    if given.is_empty() { otherwise } else { given }
}

/// Asks the questions that a study needs the answers of; none is an empty answer.
///
/// # Errors
/// An answer that is missing or not understood, and those of whoever asks.
pub fn guided(ask: &mut dyn FnMut(&str) -> Result<Option<String>>) -> Result<Settings> {
    let missing = |question: &str| {
        Error::Input(format!(
            "nothing was answered to `{question}`: begin again, or give a file or options"
        ))
    };
    let mut settings = Settings {
        name: ask("What is the study called? [study]")?,
        ..Settings::default()
    };
    let table = ask(
        "A table of the tasks that you can measure (CSV or Parquet; nothing if any value of some parameters):",
    )?;
    let mut required = |question: &str| ask(question)?.ok_or_else(|| missing(question));
    match table {
        Some(path) => settings.tasks.candidates = Some(path.into()),
        None => {
            let text = required("The parameters and their ranges (wind=-5:5:m/s payload=0:2:kg):")?;
            settings.tasks.parameters = parsed(text.split_whitespace())?;
        }
    }
    let inputs = required("The columns of your rows that are inputs (vx,vy,pwm/1000):")?;
    settings.rows.inputs = parsed(inputs.split(','))?;
    let outputs = required("The columns that are outputs (force):")?;
    settings.rows.outputs = parsed(outputs.split(','))?;
    let target =
        required("The target, the condition that you care about (tomorrow, or tomorrow=6.2,3.1):")?;
    settings.targets = parsed([target.as_str()].into_iter())?;
    if settings.tasks.candidates.is_some() {
        settings.tasks.cost =
            ask("The table's column of the cost of a sample (nothing if all cost the same):")?;
    }
    Ok(settings)
}

fn parsed<'a, T: FromStr<Err = String>>(words: impl Iterator<Item = &'a str>) -> Result<Vec<T>> {
    words
        .map(|word| word.parse().map_err(Error::Input))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_command_line_are_understood() {
        let column = |text: &str| text.parse::<ColumnSettings>().unwrap();
        assert_eq!(column(" vx "), ColumnSettings::Name("vx".into()));
        assert_eq!(column("m/s"), ColumnSettings::Name("m/s".into()));
        let ColumnSettings::Full(scaled) = column("rate/s/1000") else {
            panic!("no scale");
        };
        assert_eq!((&*scaled.name, scaled.scale), ("rate/s", Some(1000.0)));
        let wind: ParameterSettings = "wind=-5:5:m/s".parse().unwrap();
        assert_eq!((wind.low, wind.high), (-5.0, 5.0));
        assert_eq!(wind.unit.as_deref(), Some("m/s"));
        assert!("wind".parse::<ParameterSettings>().is_err());
        assert!("wind=1".parse::<ParameterSettings>().is_err());
        let target: TargetSettings = "tomorrow=6.2,3.1".parse().unwrap();
        assert_eq!(target.parameters, Some(vec![6.2, 3.1]));
        assert!("t=a,b".parse::<TargetSettings>().is_err());
        assert!("wild".parse::<FeatureWord>().is_err());
    }

    #[test]
    fn options_change_a_file_and_targets_come_together() {
        let named = |name: &str| TargetSettings {
            name: name.into(),
            ..TargetSettings::default()
        };
        let file = Settings {
            seed: Some(3),
            k: Some(2),
            targets: vec![named("a")],
            ..Settings::default()
        };
        let given = Settings {
            k: Some(4),
            targets: vec![named("b")],
            ..Settings::default()
        };
        let both = file.changed_by(given);
        assert_eq!(
            (both.seed, both.k, both.targets.len()),
            (Some(3), Some(4), 2)
        );
    }

    #[test]
    fn questions_make_settings() {
        let asked = |answers: &[&str]| {
            let mut answers = answers.iter();
            guided(&mut |_| {
                let answer = answers.next().copied().unwrap_or_default();
                Ok((!answer.is_empty()).then(|| answer.to_owned()))
            })
        };
        let ranges = asked(&["", "", "wind=0:12:m/s", "vx,pwm/1000", "force", "tomorrow"]).unwrap();
        assert_eq!(ranges.tasks.parameters.len(), 1);
        assert_eq!(ranges.rows.inputs.len(), 2);
        let table = asked(&["a", "w.csv", "vx", "force", "tomorrow", "minutes"]).unwrap();
        assert_eq!(table.tasks.cost.as_deref(), Some("minutes"));
        let silent = asked(&["a", "w.csv"]).unwrap_err().to_string();
        assert!(silent.contains("inputs"), "{silent}");
    }
}
