//! Data sets of LeRobot, versions 2 and 3: a folder with `meta/info.json`, tables of rows in `data`, and the text of tasks.
//!
//! Every episode is a recording with one series, `episode`: states and actions are columns such as
//! `observation.state[0]`, or `observation.state.elbow` where the data set names the elements. Videos are not read.

mod info;
mod tasks;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use taskscout_io::tables::{self, Table, Values};

use self::info::{Feature, Info};
use super::files;
use crate::error::{Error, Result};
use crate::series::{Column, RawRecording, Selection, Series};

/// The name of the series of an episode.
const SERIES: &str = "episode";
const EPISODE: &str = "episode_index";
const TASK: &str = "task_index";
const FRAME: &str = "frame_index";
const TIME: &str = "timestamp";

/// What a data set says of itself.
#[derive(Debug)]
pub(super) struct DataSet {
    root: PathBuf,
    info: Info,
    /// The text of each task.
    tasks: BTreeMap<i64, String>,
}

/// Whether a folder is a data set.
pub(super) fn is_data_set(folder: &Path) -> bool {
    folder.join("meta").join("info.json").is_file()
}

impl DataSet {
    /// Reads what a data set says of itself.
    pub(super) fn open(folder: &Path) -> Result<Arc<Self>> {
        let info = Info::read(&folder.join("meta").join("info.json"))?;
        Ok(Arc::new(Self {
            tasks: tasks::read(folder)?,
            root: folder.to_owned(),
            info,
        }))
    }

    /// The files of rows, by name.
    pub(super) fn data(&self) -> Result<Vec<PathBuf>> {
        let folder = self.root.join("data");
        let mut paths = files::paths(&folder, &["parquet"])?;
        paths.sort();
        Ok(paths)
    }

    /// The files that say what the data are.
    pub(super) fn meta(&self) -> Result<Vec<PathBuf>> {
        let mut paths = files::paths(&self.root.join("meta"), &["json", "jsonl", "parquet"])?;
        paths.sort();
        Ok(paths)
    }

    /// The name of the data set's folder.
    pub(super) fn name(&self) -> String {
        let name = self.root.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// Reads what is selected of the episodes of a file.
    pub(super) fn read(
        &self,
        path: &Path,
        selection: &Selection,
        take: &mut dyn FnMut(RawRecording) -> Result<()>,
    ) -> Result<()> {
        let features = self.info.features.iter();
        let chosen = features.filter_map(|feature| Chosen::new(feature, selection));
        let chosen: Vec<Chosen<'_>> = chosen.collect();
        let needed = |name: &str| {
            let always = [EPISODE, TASK, FRAME, TIME].contains(&name);
            always || chosen.iter().any(|one| one.feature.name == name)
        };
        let options = tables::ReadOptions {
            wanted: Some(&needed),
            lists: true,
            ..tables::ReadOptions::default()
        };
        let table = Table::read_with(path, &options)?;
        let columns = chosen.iter().flat_map(|one| one.columns(&table));
        let columns: Vec<Column> = columns.collect();
        let time = self.times(path, &table)?;
        let episodes = numbers(&table, EPISODE);
        let tasks = numbers(&table, TASK).unwrap_or_default();
        let mut start = 0;
        while start < table.rows() {
            let number = episodes.map(|episodes| episodes[start]);
            let other = |row: &usize| {
                episodes.is_some_and(|all| all[*row].to_bits() != all[start].to_bits())
            };
            let end = (start..table.rows()).find(other).unwrap_or(table.rows());
            let part = |values: &[f64]| values[start..end].to_vec();
            let own = columns.iter();
            let own = own.map(|column| Column::new(&column.name, part(&column.values)));
            let stem = || {
                path.file_stem()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned()
            };
            take(RawRecording {
                name: number.map_or_else(stem, |number| format!("episode_{number:06}")),
                path: path.to_owned(),
                metadata: self.metadata(tasks.get(start..end).unwrap_or_default()),
                series: vec![Series::new(SERIES, part(&time), own.collect())],
                warnings: Vec::new(),
            })?;
            start = end;
        }
        Ok(())
    }

    /// When each row was recorded: the time that it has, or its number at so many a second.
    fn times(&self, path: &Path, table: &Table) -> Result<Vec<f64>> {
        if let Some(times) = numbers(table, TIME) {
            return Ok(times.to_vec());
        }
        let fps = self.info.fps.filter(|fps| *fps > 0.0);
        let fps = fps.ok_or_else(|| Error::Log {
            path: path.to_owned(),
            problem: "has no column `timestamp`, and meta/info.json no `fps`: add one of them"
                .into(),
        })?;
        Ok(match numbers(table, FRAME) {
            Some(frames) => frames.iter().map(|frame| frame / fps).collect(),
            None => (0..table.rows()).map(|row| row as f64 / fps).collect(),
        })
    }

    /// What is known of an episode whose rows have these tasks.
    fn metadata(&self, tasks: &[f64]) -> BTreeMap<String, String> {
        let mut facts = self.info.facts();
        let mut texts: Vec<&str> = Vec::new();
        for task in tasks {
            let text = self.tasks.get(&(*task as i64)).map(String::as_str);
            texts.extend(text.filter(|text| !texts.contains(text)));
        }
        if let Some(task) = tasks.first() {
            facts.insert(TASK.into(), task.to_string());
        }
        if !texts.is_empty() {
            facts.insert("task".into(), texts.join(" | "));
        }
        facts
    }
}

/// A feature of which something is selected.
struct Chosen<'a> {
    feature: &'a Feature,
    /// The elements that are selected, and what each is called.
    elements: Vec<(usize, String)>,
}

impl<'a> Chosen<'a> {
    fn new(feature: &'a Feature, selection: &Selection) -> Option<Self> {
        if feature.name == TIME {
            return None;
        }
        let mut elements = Vec::new();
        for element in 0..feature.size {
            let numbered = match feature.size {
                1 => feature.name.clone(),
                _ => format!("{}[{element}]", feature.name),
            };
            if selection.column(SERIES, &numbered) {
                elements.push((element, numbered));
            }
            let labelled = feature.labels.get(element);
            let labelled = labelled.map(|label| format!("{}.{label}", feature.name));
            let wanted = labelled.filter(|name| selection.names(SERIES, name));
            elements.extend(wanted.map(|name| (element, name)));
        }
        (!elements.is_empty()).then_some(Self { feature, elements })
    }

    fn columns(&self, table: &Table) -> Vec<Column> {
        let column = |(element, name): &(usize, String)| {
            let listed = format!("{}[{element}]", self.feature.name);
            let values = numbers(table, &listed).or_else(|| numbers(table, &self.feature.name))?;
            Some(Column::new(name, values.to_vec()))
        };
        self.elements.iter().filter_map(column).collect()
    }
}

/// The numbers of a column, whatever they are; nothing where there is no such column.
fn numbers<'a>(table: &'a Table, name: &str) -> Option<&'a [f64]> {
    let column = table.columns().iter().find(|column| column.name == name)?;
    match &column.values {
        Values::Numbers(numbers) => Some(numbers),
        Values::Text(_) => None,
    }
}
