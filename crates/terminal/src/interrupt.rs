//! Ctrl-C during a run: what is there stays, and the user hears how to go on.

use std::sync::Once;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::output::tell;

/// What shells give to programs that end on a signal, before the signal's own number.
const SIGNALLED: i32 = 128;

/// From now on, a signal that ends the run says first how to go on with it.
pub(crate) fn explain() {
    static LISTENING: Once = Once::new();
    LISTENING.call_once(|| {
        // Without a listener the signal ends the run as it always would.
        let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else {
            return;
        };
        std::thread::spawn(move || {
            if let Some(signal) = signals.forever().next() {
                tell(&format!(
                    "stopped: finished trials are kept; go on with `{}`",
                    resuming(std::env::args())
                ));
                std::process::exit(SIGNALLED + signal);
            }
        });
    });
}

/// From now on, a file that may not grow is an error like a full disk, which says what was kept, and not the end of the
/// program.
pub fn survive_full_files() {
    let seen = std::sync::Arc::default();
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, seen);
}

/// The same command line, going on with what is there.
fn resuming(arguments: impl Iterator<Item = String>) -> String {
    let mut words: Vec<String> = arguments.filter(|word| word != "--force").collect();
    if !words.iter().any(|word| word == "--resume") {
        words.push("--resume".into());
    }
    let plain = |c: char| c.is_alphanumeric() || "-_./=,:+@%".contains(c);
    let quoted = |word: &String| match !word.is_empty() && word.chars().all(plain) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    };
    let words: Vec<String> = words.iter().map(quoted).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_to_go_on_can_be_copied_into_a_shell() {
        let of = |text: &[&str]| resuming(text.iter().map(|word| (*word).to_owned()));
        assert_eq!(
            of(&[
                "taskscout",
                "reproduce",
                "bilinear",
                "--force",
                "--out",
                "my runs"
            ]),
            "taskscout reproduce bilinear --out 'my runs' --resume"
        );
        assert_eq!(
            of(&["taskscout", "run", "it's.toml", "--resume"]),
            r"taskscout run 'it'\''s.toml' --resume"
        );
    }
}
