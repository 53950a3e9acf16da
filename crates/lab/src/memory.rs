//! The memory that a command will need, told before it starts and refused where there is not so much.
//!
//! An allocation that fails ends a program without a word, so sizes that users choose are added up
//! beforehand. The sums are estimates, and meant to be rather large than small. A command takes 2 GB at most, unless the
//! user allows more: a machine has other things to do.

use std::fmt::Display;
use std::sync::OnceLock;

use crate::error::{LabError, Result};

/// A number of bytes takes this many.
pub const NUMBER: f64 = 8.0;
/// Needs above this are told, and refused unless the user allows them.
const USUAL: f64 = 2.0 * GIGABYTE;
/// The variable that allows more, in gigabytes.
const VARIABLE: &str = "TASKSCOUT_MEMORY";
const GIGABYTE: f64 = 1e9;
/// What is tried under any limit on addresses: small matrices need no workspace.
const ALWAYS_TRIED: f64 = 64e6;
/// The last cache of a machine that does not say how large it is.
const USUAL_CACHE: f64 = 32e6;

/// Bytes that the user allows to this process.
static ALLOWED: OnceLock<f64> = OnceLock::new();

/// Allows so many gigabytes to all that this process does; the first call counts. Without one, the variable
/// `TASKSCOUT_MEMORY` does, and else it is 2 GB.
///
/// # Errors
/// A number that is no size.
pub fn allow(gigabytes: f64) -> Result<()> {
    check_size(("--memory", &gigabytes), gigabytes)?;
    ALLOWED.get_or_init(|| gigabytes * GIGABYTE);
    Ok(())
}

/// Refuses what is no size, as it was given.
fn check_size((what, given): (&str, &dyn Display), gigabytes: f64) -> Result<()> {
    match gigabytes > 0.0 && gigabytes.is_finite() {
        true => Ok(()),
        false => Err(LabError::Input(format!(
            "{what} is {given}: give a number of gigabytes above 0"
        ))),
    }
}

/// Bytes that the user allows.
pub(crate) fn allowed() -> Result<f64> {
    if let Some(allowed) = ALLOWED.get() {
        return Ok(*allowed);
    }
    let Ok(text) = std::env::var(VARIABLE) else {
        return Ok(USUAL);
    };
    let gigabytes = text.trim().parse().unwrap_or(f64::NAN);
    check_size((VARIABLE, &text), gigabytes)?;
    Ok(gigabytes * GIGABYTE)
}

/// What a command will need, part by part.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Need {
    parts: Vec<(String, f64)>,
}

impl Need {
    /// Adds some bytes under a name.
    pub fn add(&mut self, what: impl Into<String>, bytes: f64) {
        self.parts.push((what.into(), bytes));
    }

    /// The same, so many times.
    #[must_use]
    pub fn times(mut self, count: f64) -> Self {
        self.parts.iter_mut().for_each(|(_, bytes)| *bytes *= count);
        self
    }

    /// Both.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.parts.extend(other.parts);
        self
    }

    /// Bytes in all.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.parts.iter().map(|(_, bytes)| bytes).sum()
    }

    /// Refuses what does not fit into the memory that is free, or that is allowed.
    ///
    /// # Errors
    /// If it does not, with the size of the largest part and the remedy.
    pub fn check(&self, remedy: &str) -> Result<()> {
        self.check_within(available(), allowed()?, remedy)
    }

    fn check_within(&self, available: Option<f64>, allowed: f64, remedy: &str) -> Result<()> {
        let total = self.total();
        let free = available.unwrap_or(f64::INFINITY);
        if total <= free.min(allowed) {
            return Ok(());
        }
        let most = self.parts.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let most = most.map_or_else(String::new, |(what, bytes)| {
            format!(", {} of it for {what}", size(*bytes))
        });
        let (there, more) = match total <= free && total.is_finite() {
            true => (
                format!("{} are allowed", size(allowed)),
                format!(", or allow it with --memory {}", (total / GIGABYTE).ceil()),
            ),
            false => (format!("{} are free", size(free)), String::new()),
        };
        Err(LabError::Input(format!(
            "this needs about {} of memory{most}, but {there}: {remedy}{more}",
            size(total)
        )))
    }

    /// What to say of a need that is large; nothing of others.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let total = self.total();
        (total > USUAL).then(|| {
            let free =
                available().map_or_else(String::new, |free| format!(" of {} free", size(free)));
            format!("note: this needs about {}{free} of memory", size(total))
        })
    }
}

/// Bytes in words.
fn size(bytes: f64) -> String {
    match bytes {
        _ if bytes < 1e6 => "less than 1 MB".into(),
        _ if bytes < GIGABYTE => format!("{:.0} MB", bytes / 1e6),
        _ if bytes < 1e13 => format!("{:.1} GB", bytes / GIGABYTE),
        _ if bytes < 1e16 => format!("{:.0} TB", bytes / 1e12),
        _ => format!("{:.0e} TB", bytes / 1e12),
    }
}

/// Bytes that can still be had: of the machine, of the group of processes that this one belongs to, and
/// under the limit of its own, whichever is least. None where nobody can say.
pub(crate) fn available() -> Option<f64> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let machine = read("/proc/meminfo").and_then(|text| kilobytes(&text, "MemAvailable:"));
    let own = read("/proc/self/limits")
        .zip(read("/proc/self/status"))
        .and_then(|(limits, status)| {
            let used = kilobytes(&status, "VmSize:")?;
            let left = address_space(&limits)? - used - workspaces();
            Some(left.max(ALWAYS_TRIED))
        });
    let group = read("/proc/self/cgroup").and_then(|text| {
        let path = text.lines().find_map(|line| line.strip_prefix("0::"))?;
        let folder = format!("/sys/fs/cgroup{}", path.trim_end_matches('/'));
        let number = |file: &str| read(&format!("{folder}/{file}"))?.trim().parse().ok();
        let (most, used): (f64, f64) = (number("memory.max")?, number("memory.current")?);
        Some((most - used).max(0.0))
    });
    [machine, own, group].into_iter().flatten().reduce(f64::min)
}

/// Addresses that products of large matrices take, whether they are used or not: twice the last cache, on every thread.
fn workspaces() -> f64 {
    let file = "/sys/devices/system/cpu/cpu0/cache/index3/size";
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let cache = cache_size(&text).unwrap_or(USUAL_CACHE);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    2.0 * cache * (threads + 1) as f64
}

/// A size such as `266240K` in bytes.
fn cache_size(text: &str) -> Option<f64> {
    let text = text.trim();
    let units = [("K", 1024.0), ("M", 1024.0 * 1024.0), ("", 1.0)];
    let (number, unit) = units
        .iter()
        .find_map(|(end, unit)| Some((text.strip_suffix(end)?, unit)))?;
    Some(number.parse::<f64>().ok()? * unit)
}

/// A line such as `MemAvailable:   123 kB` in bytes.
fn kilobytes(text: &str, key: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    let number: f64 = line.split_whitespace().next()?.parse().ok()?;
    Some(1024.0 * number)
}

/// The limit on a process's addresses, if it has one.
fn address_space(limits: &str) -> Option<f64> {
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_with_its_size() {
        let mut need = Need::default();
        need.add("small things", 2e8);
        need.add("statistics", 40e9);
        let twice = need.clone().times(2.0);
        need.check_within(Some(41e9), 64e9, "").unwrap();
        need.check_within(None, 64e9, "").unwrap();
        let error = twice
            .check_within(Some(41e9), 100e9, "use fewer")
            .unwrap_err();
        assert_eq!(error.code(), 2);
        assert_eq!(
            error.to_string(),
            "this needs about 80.4 GB of memory, 80.0 GB of it for statistics, but 41.0 GB are free: use fewer"
        );
        for free in [None, Some(90e9)] {
            let error = twice.check_within(free, 2e9, "use fewer").unwrap_err();
            assert_eq!(
                error.to_string(),
                "this needs about 80.4 GB of memory, 80.0 GB of it for statistics, but 2.0 GB are allowed: use fewer, \
                 or allow it with --memory 81"
            );
        }
        let mut endless = Need::default();
        endless.add("rows", f64::INFINITY);
        assert!(endless.check_within(Some(1e18), 1e18, "").is_err());
        assert!(endless.check_within(None, 1e18, "").is_err());
    }

    #[test]
    fn sizes_that_are_none_are_refused() {
        for gigabytes in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = allow(gigabytes).unwrap_err().to_string();
            assert!(error.contains("gigabytes above 0"), "{error}");
        }
    }

    #[test]
    fn tables_of_the_system_are_read() {
        let text = "MemTotal: 10 kB\nMemAvailable:    2048 kB\n";
        assert_eq!(kilobytes(text, "MemAvailable:"), Some(2048.0 * 1024.0));
        assert_eq!(kilobytes(text, "VmSize:"), None);
        let limits = "Limit  Soft Limit  Hard Limit  Units\nMax address space         2000000  unlimited  bytes\n";
        assert_eq!(address_space(limits), Some(2e6));
        assert_eq!(
            address_space("Max address space   unlimited  unlimited bytes"),
            None
        );
        assert_eq!(cache_size("266240K\n"), Some(266_240.0 * 1024.0));
        assert_eq!(cache_size("32M"), Some(32.0 * 1024.0 * 1024.0));
        assert_eq!(cache_size("4096"), Some(4096.0));
        assert_eq!(cache_size("large"), None);
    }
}
