//! Where tasks come from: a table of candidates, a space, or what a study has learnt.

use std::collections::HashSet;
use std::path::Path;

use crate::config::Places;
use crate::parts::{self, attach_features, attach_space};
use serde::Deserialize;
use taskscout::features::{FeatureMap, Features as _};
use taskscout::registry::Registry;
use taskscout::space::{Space, TaskSpace as _};
use taskscout::study::{Needs, Oracle, Study};
use taskscout::target::TargetParameters;
use taskscout_io::files;
use taskscout_io::tables::Table;

use super::columns::{
    capacities, check_distinct, costs, parameter_columns, tell_of_columns, usual_name,
};
use super::lens::{Lens, shortened};
use super::options::PlanOptions;
use super::say::Notes;
use super::task_names::{self, Names};
use crate::error::{LabError, Result};
use crate::memory::{NUMBER, Need};

/// Bytes of the largest saved study, and of the largest space file.
const LARGEST: u64 = 256 << 20;
/// What identity features, the default, take for granted.
const OPPOSITES: &str = "with identity features the tasks w and −w, such as head wind and tail wind, give the same information; if this is wrong, use --features affine; if it is right, --features identity hides this note";

/// The tasks of a campaign and how they are seen.
#[derive(Debug)]
pub(super) struct Source {
    /// Names of the parameters.
    pub(super) columns: Vec<String>,
    /// Whether somebody gave these names; else other files may follow the order alone.
    pub(super) named: bool,
    pub(super) lens: Lens,
    pub(super) tasks: Tasks,
    /// What a study knows.
    pub(super) learnt: Option<Learnt>,
}

/// The tasks themselves.
#[derive(Debug)]
pub(super) enum Tasks {
    /// A table.
    Listed(Box<Listed>),
    /// A space to search.
    Space(Box<Space>),
}

/// A table of candidates; rows count from 0.
#[derive(Debug)]
pub(super) struct Listed {
    /// The file's name.
    pub(super) file: String,
    /// Parameters, row-major.
    pub(super) rows: Vec<f64>,
    pub(super) names: Names,
    pub(super) costs: Option<Vec<f64>>,
    pub(super) capacities: Option<Vec<Option<usize>>>,
    pub(super) required: Vec<usize>,
    pub(super) forbidden: Vec<usize>,
}

/// What a study knows of embeddings, and what its targets are called.
#[derive(Debug)]
pub(super) struct Learnt {
    pub(super) needs: Needs,
    /// Names of those targets that have embeddings.
    pub(super) targets: Vec<String>,
}

/// A space as a file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SpaceFile {
    #[serde(deserialize_with = "parts::space")]
    space: Space,
    #[serde(default, deserialize_with = "parts::optional_features")]
    task_features: Option<FeatureMap>,
    columns: Option<Vec<String>>,
}

impl Source {
    /// Reads all files that say where tasks come from.
    pub(super) fn read(
        options: &PlanOptions,
        registry: &Registry,
        notes: &mut Notes,
    ) -> Result<Self> {
        let study = options.study.as_deref();
        let study = study.map(|path| read_study(path, registry)).transpose()?;
        let mut source = match (&options.candidates, &options.space, &study) {
            (Some(path), ..) => listed(path, study.as_ref(), options, notes)?,
            (None, Some(path), _) => searched(read_space(path, registry)?, options, notes)?,
            (None, None, Some(study)) => searched(
                SpaceFile {
                    space: study.config().space.clone(),
                    task_features: Some(study.config().task_features.clone()),
                    columns: None,
                },
                options,
                notes,
            )?,
            (None, None, None) => {
                return Err(LabError::Input(
                    "nothing says where tasks come from: give --candidates FILE, --space FILE.toml or --study FILE.json"
                        .into(),
                ));
            }
        };
        if let Some(study) = &study {
            let outputs = study.config().outputs;
            if outputs > 1 {
                return Err(LabError::Input(format!(
                    "the study has {outputs} outputs, but this command plans for one: ask the study itself, whose settings have costs, limits and batches"
                )));
            }
            let needs = study.needs()?;
            source.lens.map = Some(needs.map.clone());
            source.lens.row_name = "learnt direction".into();
            let targets = study.config().targets.iter();
            let embedded = targets
                .filter(|target| !matches!(target.kind, TargetParameters::Distribution { .. }))
                .map(|target| target.name.clone());
            source.learnt = Some(Learnt {
                needs: (*needs).clone(),
                targets: embedded.collect(),
            });
        }
        if let Some(map) = &options.map {
            source.lens = source.lens.with_map_file(map)?;
        }
        Ok(source)
    }

    /// The parameters of the rows of another file, and whether they were found by name.
    pub(super) fn parameters(&self, table: &Table, used: &[&str]) -> Result<Vec<f64>> {
        let wanted: Vec<&str> = self.columns.iter().map(String::as_str).collect();
        let there: HashSet<&str> = table.columns().iter().map(|column| &*column.name).collect();
        let has = |name: &&str| there.contains(name);
        let mut numeric = table.numeric_columns();
        numeric.retain(|name| !used.contains(name));
        if !self.named && !wanted.iter().all(has) && numeric.len() == wanted.len() {
            return Ok(table.matrix(&numeric)?);
        }
        table.matrix(&wanted).map_err(|error| match error {
            taskscout_io::tables::Error::MissingColumn { .. } => LabError::Input(format!(
                "{error}; if it is no parameter of a task, name those that are with --columns"
            )),
            error => error.into(),
        })
    }
}

/// A study with its registered parts. A plan needs its features and its trainer; a strategy or a space that
/// is not registered may stay away.
fn read_study(path: &Path, registry: &Registry) -> Result<Study> {
    let bytes = files::read(path, LARGEST).map_err(|error| unreadable(path, &error, "a study"))?;
    let registry = parts::with_networks(registry)?;
    check_memory(path, &bytes)?;
    if let Ok(study) = Study::restore_with(&bytes, &registry) {
        return Ok(study);
    }
    let mut study = Study::restore(&bytes).map_err(|error| {
        LabError::Input(format!(
            "{} is no saved study: {}; give a file that a study was saved to",
            path.display(),
            error.to_string().replace('\n', " ")
        ))
    })?;
    study.config().task_features.check_ready()?;
    if let Oracle::External(external) = &study.config().oracle {
        let made = registry.make_trainer(&external.name, &external.settings)?;
        study.attach_trainer(made.part()?)?;
    }
    Ok(study)
}

/// Refuses a study whose statistics have no room, before they are made.
fn check_memory(path: &Path, bytes: &[u8]) -> Result<()> {
    let Some(config) = Study::saved_config(bytes) else {
        return Ok(());
    };
    let mut need = Need::default();
    let targets = config.targets.len();
    need.add(
        format!(
            "{targets} target{} with {} features and {} outputs",
            if targets == 1 { "" } else { "s" },
            config.input_features.dim(),
            config.outputs
        ),
        NUMBER * config.numbers(),
    );
    let checked = need.check("give a study with fewer features or outputs");
    checked.map_err(|error| error.after(&format!("{}: ", path.display())))
}

fn read_space(path: &Path, registry: &Registry) -> Result<SpaceFile> {
    let text = read_text(path, "a space file")?;
    let mut file: SpaceFile = toml::from_str(&text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start.min(text.len()));
        let before = &text[..start];
        let line = before.matches('\n').count() + 1;
        let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 1;
        LabError::Input(format!(
            "{}, line {line}, column {column}: {} (docs/reference/spaces.md lists all spaces)",
            path.display(),
            error.message().trim().replace('\n', " ")
        ))
    })?;
    let places = Places::of(&text, &path.display().to_string());
    let features = file.task_features.as_mut();
    attach_space("space", &mut file.space, registry)
        .and_then(|()| {
            features.map_or(Ok(()), |map| {
                attach_features("task_features", map, registry)
            })
        })
        .map_err(|error| places.told(error))?;
    file.check().map_err(|error| places.found(error))?;
    Ok(file)
}

impl SpaceFile {
    /// Whether its parts fit each other.
    fn check(&self) -> Result<()> {
        let dim = self.space.dim();
        if let Some(columns) = &self.columns {
            check_names("`columns`", columns, dim).map_err(|error| match error {
                LabError::Input(sentence) => LabError::about("columns", sentence),
                other => other,
            })?;
        }
        match self.task_features.as_ref().map(FeatureMap::input_dim) {
            Some(taken) if taken != dim => Err(LabError::setting(
                "task_features",
                format!(
                    "take {taken} parameters, but tasks of the space have {dim}: make them agree"
                ),
            )),
            _ => Ok(()),
        }
    }
}

/// Whether the parameters of a space have a name each.
fn check_names(given: &str, columns: &[String], dim: usize) -> Result<()> {
    if columns.len() != dim {
        return Err(LabError::Input(format!(
            "{} columns are named ({}), but tasks of the space have {dim} parameters: name each",
            columns.len(),
            shortened(columns)
        )));
    }
    check_distinct(given, columns)
}

fn read_text(path: &Path, what: &str) -> Result<String> {
    files::read_text(path, LARGEST).map_err(|error| unreadable(path, &error, what))
}

fn unreadable(path: &Path, error: &std::io::Error, what: &str) -> LabError {
    let path = path.display();
    LabError::Input(format!(
        "cannot read {path}: {error}; give the path of {what}"
    ))
}

/// A space to search.
fn searched(file: SpaceFile, options: &PlanOptions, notes: &mut Notes) -> Result<Source> {
    // The command line does not ask for what a space conflicts with.
    let rows_only = [
        ("--name", options.name.is_some()),
        ("--cost", options.cost.is_some()),
        ("--capacity", options.capacity.is_some()),
        ("--require", !options.require.is_empty()),
        ("--forbid", !options.forbid.is_empty()),
    ];
    if let Some((option, _)) = rows_only.iter().find(|(_, given)| *given) {
        return Err(LabError::Input(format!(
            "{option} needs --candidates: a space has no rows and columns, so leave it out or list the tasks"
        )));
    }
    let dim = file.space.dim();
    let given = options.columns.clone().or(file.columns);
    if let Some(columns) = &given {
        check_names("--columns", columns, dim)?;
    }
    let named = given.is_some();
    let columns = given.unwrap_or_else(|| (1..=dim).map(|index| format!("w{index}")).collect());
    let features = match (file.task_features, options.features) {
        (Some(_), Some(_)) => {
            return Err(LabError::Input(
                "the space file has `task_features` and there is --features: leave one of them out"
                    .into(),
            ));
        }
        (Some(features), None) => features,
        (None, Some(name)) => name.build(dim)?,
        (None, None) => {
            if options.map.is_none() && file.space.count().is_none() {
                notes.add(OPPOSITES.into());
            }
            FeatureMap::identity(dim)?
        }
    };
    features.check_ready()?;
    Ok(Source {
        lens: Lens::new(features, &columns),
        columns,
        named,
        tasks: Tasks::Space(Box::new(file.space)),
        learnt: None,
    })
}

/// A table of candidates.
fn listed(
    path: &Path,
    study: Option<&Study>,
    options: &PlanOptions,
    notes: &mut Notes,
) -> Result<Source> {
    let table = task_names::read_candidates(path, options)?;
    let name_column = options.name.clone().or_else(|| usual_name(&table));
    let columns = parameter_columns(&table, name_column.as_deref(), options)?;
    tell_of_columns(&table, &columns, name_column.as_deref(), options, notes)?;
    let features = listed_features(&table, &columns, study, options, notes)?;
    let names = match &name_column {
        Some(column) => Names::read(&table, column)?,
        None => Names::None,
    };
    let costs = options.cost.as_deref().map(|column| costs(&table, column));
    let left = options.capacity.as_deref();
    let left = left.map(|column| capacities(&table, column));
    let (costs, capacities) = (costs.transpose()?, left.transpose()?);
    let (required, forbidden) = asked_rows(&table, &names, capacities.as_deref(), options)?;
    let file = table.name().to_owned();
    let wanted: Vec<&str> = columns.iter().map(String::as_str).collect();
    let rows = table.into_matrix(&wanted).map_err(|error| match &error {
        taskscout_io::tables::Error::NotFinite { column, .. } if options.columns.is_none() => {
            LabError::Input(format!(
                "{error}; if {column} is no parameter of a task, name those that are with --columns"
            ))
        }
        _ => error.into(),
    })?;
    Ok(Source {
        lens: Lens::new(features, &columns),
        columns,
        named: true,
        tasks: Tasks::Listed(Box::new(Listed {
            file,
            rows,
            names,
            costs,
            capacities,
            required,
            forbidden,
        })),
        learnt: None,
    })
}

/// The features of candidates of a table.
fn listed_features(
    table: &Table,
    columns: &[String],
    study: Option<&Study>,
    options: &PlanOptions,
    notes: &mut Notes,
) -> Result<FeatureMap> {
    let d = columns.len();
    let features = match (study, options.features) {
        (Some(study), _) => study.config().task_features.clone(),
        (None, Some(name)) => name.build(d)?,
        (None, None) => {
            if options.map.is_none() {
                notes.add(OPPOSITES.into());
            }
            FeatureMap::identity(d)?
        }
    };
    let needed = features.input_dim();
    if needed != d {
        return Err(LabError::Input(format!(
            "{} has {d} parameter columns ({}), but tasks of the study have {needed}: name those with --columns",
            table.name(),
            shortened(columns)
        )));
    }
    Ok(features)
}

/// The rows that are required, and those that are forbidden.
fn asked_rows(
    table: &Table,
    names: &Names,
    capacities: Option<&[Option<usize>]>,
    options: &PlanOptions,
) -> Result<(Vec<usize>, Vec<usize>)> {
    let find = |option: &str, wanted: &[String]| -> Result<Vec<usize>> {
        let rows = wanted.iter().map(|name| names.find(option, name, table));
        let mut rows: Vec<usize> = rows.collect::<Result<_>>()?;
        rows.sort_unstable();
        rows.dedup();
        Ok(rows)
    };
    let required = find("--require", &options.require)?;
    let forbidden = find("--forbid", &options.forbid)?;
    if let Some(row) = required.iter().find(|row| forbidden.contains(row)) {
        return Err(LabError::Input(format!(
            "{} is required and forbidden: leave out --require or --forbid for it",
            table.place(*row)
        )));
    }
    for &row in &required {
        let left = capacities.and_then(|all| all[row]);
        if let Some(left) = left.filter(|left| *left < options.min_samples.max(1)) {
            return Err(LabError::Input(format!(
                "{} is required, but has only {left} samples left: leave it out of --require, or lower --min-samples",
                table.place(row)
            )));
        }
    }
    Ok((required, forbidden))
}
