//! Which files a folder of logs has, and whether one of them is there twice.

use std::collections::HashMap;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hasher as _};
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Names of the table beside the logs, which says what is known of them.
pub(crate) const SIDE_TABLES: [&str; 2] = ["tasks.csv", "tasks.tsv"];

/// A file of a log.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LogFile {
    /// Its name without folder and ending.
    pub(super) stem: String,
    pub(super) path: PathBuf,
}

impl LogFile {
    pub(super) fn new(path: PathBuf) -> Self {
        let stem = path.file_stem().unwrap_or_default();
        Self {
            stem: stem.to_string_lossy().into_owned(),
            path,
        }
    }
}

/// The file itself, or the files of a folder and its subfolders with one of these endings, by name.
///
/// # Errors
/// If there are none, or two hold the same bytes.
pub(super) fn list(
    path: &Path,
    endings: &[&str],
    looked_for: &'static str,
) -> Result<Vec<LogFile>> {
    let sized = sized(path, endings)?;
    if sized.is_empty() {
        return Err(Error::NoLogs {
            path: path.to_owned(),
            looked_for,
        });
    }
    refuse_copies(&sized)?;
    Ok(sized.into_iter().map(|(file, _)| file).collect())
}

/// The same files by their paths, whatever they hold.
pub(super) fn paths(path: &Path, endings: &[&str]) -> Result<Vec<PathBuf>> {
    let sized = sized(path, endings)?;
    Ok(sized.into_iter().map(|(file, _)| file.path).collect())
}

/// Files with their sizes, by name.
pub(super) fn sized(path: &Path, endings: &[&str]) -> Result<Vec<(LogFile, u64)>> {
    let about = fs::metadata(path).map_err(|source| unreadable(path, source))?;
    if !about.is_dir() {
        return Ok(vec![(LogFile::new(path.to_owned()), about.len())]);
    }
    let mut sized = Vec::new();
    walk(path, endings, &mut sized)?;
    // The table beside the logs says what is known of them; it is none of them.
    let beside = |name: &&str| path.join(name);
    sized.retain(|(file, _)| {
        !SIDE_TABLES
            .iter()
            .map(beside)
            .any(|table| table == file.path)
    });
    sized.sort_by(|(a, _), (b, _)| (&a.stem, &a.path).cmp(&(&b.stem, &b.path)));
    Ok(sized)
}

/// Refuses two files that would give recordings of the same name.
pub(super) fn refuse_same_names(files: &[LogFile]) -> Result<()> {
    match files.windows(2).find(|pair| pair[0].stem == pair[1].stem) {
        None => Ok(()),
        Some(pair) => Err(Error::SameName {
            name: pair[0].stem.clone(),
            first: pair[0].path.clone(),
            second: pair[1].path.clone(),
        }),
    }
}

pub(super) fn unreadable(path: &Path, source: std::io::Error) -> Error {
    Error::Read {
        path: path.to_owned(),
        source,
    }
}

/// Refuses two files of the same bytes.
pub(super) fn refuse_same_bytes(files: &[LogFile]) -> Result<()> {
    let sized = files.iter().map(|file| {
        let about = fs::metadata(&file.path).map_err(|source| unreadable(&file.path, source))?;
        Ok((file.clone(), about.len()))
    });
    refuse_copies(&sized.collect::<Result<Vec<_>>>()?)
}

fn walk(folder: &Path, endings: &[&str], found: &mut Vec<(LogFile, u64)>) -> Result<()> {
    let failed = |source| unreadable(folder, source);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        // Hidden files are other programs' business: copies of attributes, half-written files.
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        let path = entry.path();
        let kind = entry.file_type().map_err(failed)?;
        if kind.is_dir() {
            walk(&path, endings, found)?;
            continue;
        }
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        if !endings
            .iter()
            .any(|known| ending.eq_ignore_ascii_case(known))
        {
            continue;
        }
        // Through links to files; a link to a folder might lead in a circle.
        let about = fs::metadata(&path).map_err(|source| unreadable(&path, source))?;
        if about.is_file() {
            found.push((LogFile::new(path), about.len()));
        }
    }
    Ok(())
}

/// Refuses two files of the same bytes; only those of the same size are looked at.
fn refuse_copies(files: &[(LogFile, u64)]) -> Result<()> {
    let mut of_size: HashMap<u64, usize> = HashMap::new();
    for (_, bytes) in files {
        *of_size.entry(*bytes).or_default() += 1;
    }
    let mut seen: HashMap<u64, &Path> = HashMap::new();
    for (file, bytes) in files {
        if *bytes == 0 || of_size.get(bytes) == Some(&1) {
            continue;
        }
        let key = hash(&file.path).map_err(|source| unreadable(&file.path, source))?;
        match seen.insert(key, &file.path) {
            Some(first) if same(first, &file.path)? => {
                return Err(Error::Repeated {
                    first: first.to_owned(),
                    second: file.path.clone(),
                });
            }
            _ => {}
        }
    }
    Ok(())
}

/// A key that files of the same bytes share.
fn hash(path: &Path) -> io::Result<u64> {
    let mut hasher = DefaultHasher::new();
    let mut file = BufReader::new(File::open(path)?);
    loop {
        let block = file.fill_buf()?;
        if block.is_empty() {
            return Ok(hasher.finish());
        }
        hasher.write(block);
        let length = block.len();
        file.consume(length);
    }
}

/// Whether two files hold the same bytes; a block of each is in memory.
fn same(first: &Path, second: &Path) -> Result<bool> {
    let open = |path: &Path| -> Result<BufReader<File>> {
        let file = File::open(path).map_err(|source| unreadable(path, source))?;
        Ok(BufReader::new(file))
    };
    let (mut a, mut b) = (open(first)?, open(second)?);
    loop {
        let left = a.fill_buf().map_err(|source| unreadable(first, source))?;
        let right = b.fill_buf().map_err(|source| unreadable(second, source))?;
        let length = left.len().min(right.len());
        if length == 0 || left[..length] != right[..length] {
            return Ok(left.is_empty() && right.is_empty());
        }
        a.consume(length);
        b.consume(length);
    }
}

/// Bytes of the largest flight log; the numbers in it take three times as much.
const LARGEST: u64 = 256 << 20;

/// The bytes of a flight log.
pub(super) fn load(path: &Path) -> Result<Vec<u8>> {
    taskscout_io::files::read(path, LARGEST).map_err(|source| unreadable(path, source))
}
