//! Files read whole, but never more of them than is wanted.
//!
//! A path may name a device that has no end, a pipe that nobody writes to, or a file of a terabyte
//! with nothing in it. All of them are told before a byte is read.

use std::fs::{self, File, FileType};
use std::io::{self, Read};
use std::path::Path;

/// The bytes of a file, at most `most` of them.
///
/// A pipe is read where a shell has opened it for this program (`<(zcat log.csv.gz)`,
/// `/dev/stdin`); one that is merely named might never be written to.
///
/// ```
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("plan.json");
/// std::fs::write(&path, "{}").unwrap();
/// assert_eq!(taskscout_io::files::read(&path, 2)?, b"{}");
/// let refusal = taskscout_io::files::read(&path, 1).unwrap_err();
/// assert_eq!(refusal.to_string(), "it has 2 bytes, and 1 byte is the most that is read");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// A file that cannot be read; [`io::ErrorKind::InvalidInput`] for what is no file, and
/// [`io::ErrorKind::FileTooLarge`] for one that is too large.
pub fn read(path: impl AsRef<Path>, most: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let bytes = file.metadata()?.len();
    if bytes > most {
        return Err(too_large(&format!("has {bytes} bytes"), most));
    }
    read_from(file, most)
}

/// Opens what has an end: a file, or a pipe that this process was given.
///
/// # Errors
/// A file that cannot be opened; [`io::ErrorKind::InvalidInput`] for a device or a pipe, which is not even opened, since that may
/// wait for ever.
pub fn open(path: impl AsRef<Path>) -> io::Result<File> {
    let path = path.as_ref();
    let about = fs::metadata(path)?;
    if about.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !about.is_file() && !is_opened_pipe(path, about.file_type()) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is a device or a pipe, which need not have an end",
        ));
    }
    File::open(path)
}

/// All that a stream gives, at most `most` bytes.
///
/// # Errors
/// As [`read`].
pub fn read_from(stream: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream
        .take(most.saturating_add(1))
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(too_large("goes on", most));
    }
    Ok(bytes)
}

/// The text of a file of at most so many bytes.
///
/// # Errors
/// As [`read`], and [`io::ErrorKind::InvalidData`] for what is no text.
pub fn read_text(path: impl AsRef<Path>, most: u64) -> io::Result<String> {
    String::from_utf8(read(path, most)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}

fn too_large(found: &str, most: u64) -> io::Error {
    let bytes = if most == 1 { "byte is" } else { "bytes are" };
    io::Error::new(
        io::ErrorKind::FileTooLarge,
        format!("it {found}, and {most} {bytes} the most that is read"),
    )
}

#[cfg(unix)]
fn is_opened_pipe(path: &Path, kind: FileType) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    let opened = ["/dev/fd", "/dev/stdin", "/proc"];
    kind.is_fifo() && opened.iter().any(|start| path.starts_with(start))
}

#[cfg(not(unix))]
fn is_opened_pipe(_: &Path, _: FileType) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_up_to_their_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "1234").unwrap();
        assert_eq!(read(&path, 4).unwrap(), b"1234");
        let refusal = read(&path, 3).unwrap_err();
        assert_eq!(refusal.kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(
            refusal.to_string(),
            "it has 4 bytes, and 3 bytes are the most that is read"
        );
        let refusal = read_from(io::repeat(0), 1000).unwrap_err();
        assert!(refusal.to_string().starts_with("it goes on, and 1000"));
        let kind = |path: &Path| read(path, 9).unwrap_err().kind();
        assert_eq!(kind(folder.path()), io::ErrorKind::IsADirectory);
        assert_eq!(kind(&folder.path().join("b")), io::ErrorKind::NotFound);
    }

    /// A file that claims more than any disk has, without a byte on the disk.
    #[test]
    fn sparse_files_are_refused_unread() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        let refusal = read(&path, 1 << 30).unwrap_err().to_string();
        assert!(refusal.contains("1099511627776 bytes"), "{refusal}");
    }

    #[cfg(unix)]
    #[test]
    fn devices_and_named_pipes_are_no_files() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.is_ok_and(|status| status.success()));
        for path in [Path::new("/dev/zero"), Path::new("/dev/full"), &pipe] {
            let refusal = read(path, 1 << 20).unwrap_err();
            assert_eq!(refusal.kind(), io::ErrorKind::InvalidInput, "{path:?}");
        }
    }
}
