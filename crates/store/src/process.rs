//! Which processes of this machine are running.

/// The machine since it was last switched on: process numbers begin anew with each start.
#[cfg(target_os = "linux")]
pub(crate) fn machine() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    boot.map_or_else(|_| String::from("linux"), |id| id.trim().to_owned())
}

/// The machine; all processes are taken to be of this one.
#[cfg(not(target_os = "linux"))]
pub(crate) fn machine() -> String {
    std::env::consts::OS.to_owned()
}

/// When a process began, in ticks since the machine was switched on; nothing if it is not running. A process
/// that ended and whose parent has not asked for its end counts as gone.
#[cfg(target_os = "linux")]
pub(crate) fn began(number: u32) -> Option<i64> {
    let line = std::fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    // The name, in parentheses, may hold anything: count from its end. State is the first field after it,
    // the start the twentieth.
    let mut fields = line.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?;
    if state == "Z" || state == "X" {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

/// 0 for a process that is running: other systems do not say when it began without unsafe code.
#[cfg(all(unix, not(target_os = "linux")))]
pub(crate) fn began(number: u32) -> Option<i64> {
    let number = rustix::process::Pid::from_raw(i32::try_from(number).ok()?)?;
    match rustix::process::test_kill_process(number) {
        Ok(()) | Err(rustix::io::Errno::PERM) => Some(0),
        Err(_) => None,
    }
}

/// Whether a process runs cannot be asked here without unsafe code: claims of other processes do not count.
#[cfg(not(unix))]
pub(crate) fn began(number: u32) -> Option<i64> {
    (number == std::process::id()).then_some(0)
}
