//! Which files are logs of which robots.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use super::super::files::{self, LogFile};
use super::super::lerobot::{self, DataSet};
use super::super::{dataflash, rosbag2, ulog};
use crate::error::{Error, Result};
use crate::series::{RawRecording, Selection};

const LOOKED_FOR: &str = "logs of PX4 (.ulg), ArduPilot (.bin) and ROS 2 (.mcap, .db3), and data sets of LeRobot (meta/info.json); name another folder";

/// Formats of logs of robots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RobotFormat {
    /// PX4: ULog.
    Ulog,
    /// ArduPilot: dataflash.
    Dataflash,
    /// ROS 2 and MCAP: bags.
    Bag,
    /// LeRobot: data sets of versions 2 and 3.
    #[serde(rename = "lerobot")]
    LeRobot,
}

impl RobotFormat {
    /// What it is called.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ulog => "PX4 ULog",
            Self::Dataflash => "ArduPilot dataflash",
            Self::Bag => "ROS 2 or MCAP",
            Self::LeRobot => "LeRobot",
        }
    }

    /// How its files end.
    fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Ulog => &["ulg"],
            Self::Dataflash => &["bin"],
            Self::Bag => &rosbag2::ENDINGS,
            Self::LeRobot => &[],
        }
    }

    /// What its files begin with, where they are logs by themselves.
    fn marks(self) -> &'static [&'static [u8]] {
        match self {
            Self::Ulog => &[ulog::MARK],
            Self::Dataflash => &[dataflash::MARK],
            Self::Bag => &rosbag2::MARKS,
            Self::LeRobot => &[],
        }
    }
}

/// Formats whose logs are single files.
const FILES: [RobotFormat; 3] = [RobotFormat::Ulog, RobotFormat::Dataflash, RobotFormat::Bag];

/// A log, or a file of one.
#[derive(Debug, Clone)]
pub(super) struct Source {
    pub(super) format: RobotFormat,
    pub(super) file: LogFile,
    /// The data set that the file belongs to.
    set: Option<Arc<DataSet>>,
    /// What stands before the names of its recordings.
    prefix: String,
}

impl Source {
    /// The file, or the files of a folder that is one bag.
    fn files(&self) -> Result<Vec<PathBuf>> {
        match self.format {
            RobotFormat::Bag => rosbag2::files(&self.file.path),
            _ => Ok(vec![self.file.path.clone()]),
        }
    }

    /// Reads what is selected, a recording at a time.
    pub(super) fn read(
        &self,
        selection: &Selection,
        take: &mut dyn FnMut(RawRecording) -> Result<()>,
    ) -> Result<()> {
        let path = &self.file.path;
        match self.format {
            RobotFormat::Ulog => take(ulog::read(path, open(path)?, selection)?),
            RobotFormat::Dataflash => take(dataflash::read(path, open(path)?, selection)?),
            RobotFormat::Bag => take(rosbag2::read_bag(path, selection)?),
            RobotFormat::LeRobot => match &self.set {
                Some(set) => set.read(path, selection, &mut |mut raw| {
                    raw.name.insert_str(0, &self.prefix);
                    take(raw)
                }),
                None => Ok(()),
            },
        }
    }
}

/// The files that logs consist of, those that describe them last.
pub(super) fn paths(sources: &[Source]) -> Result<Vec<PathBuf>> {
    let files = sources.iter().map(Source::files);
    let mut paths = files.collect::<Result<Vec<_>>>()?.concat();
    for set in sources.iter().filter_map(|source| source.set.as_ref()) {
        let more = set.meta()?;
        paths.extend(
            more.into_iter()
                .filter(|path| !paths.contains(path))
                .collect::<Vec<_>>(),
        );
    }
    Ok(paths)
}

fn open(path: &Path) -> Result<File> {
    taskscout_io::files::open(path).map_err(|source| files::unreadable(path, source))
}

/// The logs of a file or folder, at least one, all of one format, none of them twice.
pub(super) fn listed(path: &Path) -> Result<Vec<Source>> {
    let found = sources(path)?;
    if found.is_empty() {
        return Err(Error::NoLogs {
            path: path.to_owned(),
            looked_for: LOOKED_FOR,
        });
    }
    let files: Vec<LogFile> = found.iter().map(|source| source.file.clone()).collect();
    // Files of a data set have the same names in each of its folders; their episodes have numbers.
    if found.iter().all(|source| source.set.is_none()) {
        files::refuse_same_names(&files)?;
    }
    let all = found.iter().map(Source::files);
    let all = all.collect::<Result<Vec<_>>>()?.concat().into_iter();
    files::refuse_same_bytes(&all.map(LogFile::new).collect::<Vec<_>>())?;
    Ok(found)
}

/// The logs of a file or folder, all of one format.
pub(super) fn sources(path: &Path) -> Result<Vec<Source>> {
    let about = fs::metadata(path).map_err(|source| files::unreadable(path, source))?;
    let single = |format, file| Source {
        format,
        file,
        set: None,
        prefix: String::new(),
    };
    if !about.is_dir() {
        let file = LogFile::new(path.to_owned());
        // A pipe or a device is no log, and looking into it may take for ever.
        let format = about.is_file().then(|| of_content(path)).transpose()?;
        return Ok(format
            .flatten()
            .map(|format| single(format, file))
            .into_iter()
            .collect());
    }
    let mut all = data_sets(path)?;
    for format in FILES {
        let found = files::sized(path, format.endings())?.into_iter();
        let mut found: Vec<LogFile> = found.map(|(file, _)| file).collect();
        if format == RobotFormat::Bag {
            found = whole_bags(found);
        }
        all.extend(found.into_iter().map(|file| single(format, file)));
    }
    let mixed = all.iter().find(|source| source.format != all[0].format);
    if let Some(other) = mixed {
        return Err(Error::MixedFormats {
            path: path.to_owned(),
            first: (all[0].format.name(), all[0].file.path.clone()),
            second: (other.format.name(), other.file.path.clone()),
        });
    }
    Ok(all)
}

/// In place of the files of a bag the folder that holds them.
fn whole_bags(files: Vec<LogFile>) -> Vec<LogFile> {
    let mut whole: Vec<LogFile> = Vec::new();
    for file in files {
        let folder = file.path.parent().filter(|folder| rosbag2::is_bag(folder));
        let Some(folder) = folder.map(Path::to_owned) else {
            whole.push(file);
            continue;
        };
        if whole.iter().all(|known| known.path != folder) {
            let stem = folder.file_name().unwrap_or_default().to_string_lossy();
            whole.push(LogFile {
                stem: stem.into_owned(),
                path: folder,
            });
        }
    }
    whole.sort_by(|a, b| (&a.stem, &a.path).cmp(&(&b.stem, &b.path)));
    whole
}

/// The data sets that a folder is or has, by name.
fn data_sets(path: &Path) -> Result<Vec<Source>> {
    let mut folders = Vec::new();
    find_data_sets(path, &mut folders)?;
    folders.sort();
    let several = folders.len() > 1;
    let mut all = Vec::new();
    for folder in folders {
        let set = DataSet::open(&folder)?;
        let prefix = if several {
            format!("{}_", set.name())
        } else {
            String::new()
        };
        for path in set.data()? {
            all.push(Source {
                format: RobotFormat::LeRobot,
                file: LogFile::new(path),
                set: Some(Arc::clone(&set)),
                prefix: prefix.clone(),
            });
        }
    }
    Ok(all)
}

fn find_data_sets(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    if lerobot::is_data_set(folder) {
        found.push(folder.to_owned());
        return Ok(());
    }
    let failed = |source| files::unreadable(folder, source);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if !hidden && entry.file_type().map_err(failed)?.is_dir() {
            find_data_sets(&entry.path(), found)?;
        }
    }
    Ok(())
}

/// The format that a file's first bytes tell, or where it is damaged its ending.
fn of_content(path: &Path) -> Result<Option<RobotFormat>> {
    let mut start = Vec::new();
    let file = File::open(path).map_err(|source| files::unreadable(path, source))?;
    let read = file.take(64).read_to_end(&mut start);
    read.map_err(|source| files::unreadable(path, source))?;
    let begins = |format: &RobotFormat| format.marks().iter().any(|mark| start.starts_with(mark));
    let told = FILES.into_iter().find(begins);
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    let ends = |format: &RobotFormat| {
        let mut endings = format.endings().iter();
        endings.any(|known| ending.eq_ignore_ascii_case(known))
    };
    Ok(told.or_else(|| FILES.into_iter().find(ends)))
}
