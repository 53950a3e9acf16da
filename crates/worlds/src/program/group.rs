//! The processes of a program: what it starts ends with it, and all of it ends with taskscout.
//!
//! A program runs in a process group of its own, and ending it ends the group. For the case that
//! taskscout is ended itself, by Ctrl-C or by force, a guard stands by: a shell that waits for the end
//! of its standard input, which only taskscout holds open.

use std::process::{Child, Command};

/// Gives a program a process group of its own.
pub(super) fn apart(command: &mut Command) -> &mut Command {
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        command.process_group(0);
    }
    command
}

/// The processes of a program.
pub(super) struct Group {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
    guard: Option<Child>,
}

impl Group {
    /// The group of a program that was started [`apart`].
    pub(super) fn of(process: &Child) -> Self {
        Self {
            #[cfg(unix)]
            leader: Some(rustix::process::Pid::from_child(process)),
            guard: guard(process),
        }
    }

    /// Ends every process of the group. Once only: later its number may be another's.
    pub(super) fn end(&mut self) {
        // First the guard, which would do the same.
        if let Some(mut guard) = self.guard.take() {
            let _ = guard.kill();
            let _ = guard.wait();
        }
        #[cfg(unix)]
        if let Some(leader) = self.leader.take() {
            // There may be nobody left.
            let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        }
    }
}

/// Waits for taskscout to end, leaves the program a second to end by itself, then ends its group.
#[cfg(unix)]
const GUARD: &str = r#"
trap '' HUP INT TERM
read -r _
n=0
while [ "$n" -lt 10 ] && kill -0 "$1"; do n=$((n + 1)); sleep 0.1; done
kill -s KILL -- "-$1"
"#;

/// Starts the guard of a program; without a shell there is none.
#[cfg(unix)]
fn guard(process: &Child) -> Option<Child> {
    use std::process::Stdio;
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", GUARD, "sh", &process.id().to_string()])
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    apart(&mut command).spawn().ok()
}

#[cfg(not(unix))]
fn guard(_process: &Child) -> Option<Child> {
    None
}
