//! Tasks by name.

use taskscout_io::tables::edit_distance;

use crate::error::{Error, Result};
use crate::recording::{Logs, Recording};

/// Names that a message suggests.
const SUGGESTED: usize = 3;

impl Logs {
    /// All tasks, as the places of recording and output.
    pub fn tasks(&self) -> impl Iterator<Item = (usize, usize)> {
        let outputs = |recording: &Recording| recording.outputs.len();
        let recordings = self.recordings.iter().map(outputs).enumerate();
        recordings.flat_map(|(index, outputs)| (0..outputs).map(move |output| (index, output)))
    }

    /// The names of all tasks, in the order of [`Logs::tasks`].
    #[must_use]
    pub fn task_names(&self) -> Vec<String> {
        self.tasks()
            .map(|(recording, output)| self.recordings[recording].task_name(output))
            .collect()
    }

    /// The task of this name, as the places of recording and output.
    ///
    /// # Errors
    /// If there is none; the error suggests the names that are most alike.
    pub fn find(&self, name: &str) -> Result<(usize, usize)> {
        let names = self.task_names();
        let place = names.iter().position(|known| known == name);
        place
            .and_then(|place| self.tasks().nth(place))
            .ok_or_else(|| Error::UnknownTask {
                name: name.to_owned(),
                nearest: nearest(name, names),
            })
    }
}

/// The likeliest names: case and separators count only between names that are otherwise alike.
pub(crate) fn nearest(wanted: &str, mut names: Vec<String>) -> Vec<String> {
    let plain = |name: &str| -> String {
        let kept = name.chars().filter(|letter| letter.is_alphanumeric());
        kept.flat_map(char::to_lowercase).collect()
    };
    let key = plain(wanted);
    names.sort_by_cached_key(|name| {
        (
            edit_distance(&key, &plain(name)),
            edit_distance(wanted, name),
        )
    });
    names.dedup();
    names.truncate(SUGGESTED);
    names
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn logs(names: &[&str], outputs: &[&str]) -> Logs {
        let recording = |name: &&str| Recording {
            name: (*name).to_owned(),
            path: name.into(),
            outputs: outputs.iter().map(ToString::to_string).collect(),
            y: vec![0.0; outputs.len()],
            ..Recording::default()
        };
        Logs {
            recordings: names.iter().map(recording).collect(),
            ..Logs::default()
        }
    }

    #[test]
    fn names_lead_to_places_and_back() {
        let logs = logs(&["a_f_NF_35wind", "b_f_NF_35wind"], &["x", "y", "z"]);
        assert_eq!(logs.find("b_f_NF_35wind_y").unwrap(), (1, 1));
        for ((recording, output), name) in logs.tasks().zip(logs.task_names()) {
            assert_eq!(logs.find(&name).unwrap(), (recording, output));
        }
        assert_eq!(logs.tasks().count(), 6);
    }

    #[test]
    fn a_single_output_needs_no_name() {
        assert_eq!(
            logs(&["calm", "gale"], &["force"]).find("gale").unwrap(),
            (1, 0)
        );
    }

    #[test]
    fn the_nearest_names_are_suggested() {
        let logs = logs(
            &["a_f_NF_35wind", "a_f_NF-C_35wind", "a_f_L1_nowind"],
            &["x", "z"],
        );
        let message = |name: &str| logs.find(name).unwrap_err().to_string();
        for wrong in ["a_f_NF_35wind_Z", "A f nf 35wind z", "a_f_NF_35wnd_z"] {
            let start = format!("there is no task `{wrong}`: did you mean `a_f_NF_35wind_z`, ");
            assert!(message(wrong).starts_with(&start), "{}", message(wrong));
        }
        assert!(message("a_f_nfc_35wind_x").contains("mean `a_f_NF-C_35wind_x`"));
        assert!(message("a_f_L1_nowind").contains("mean `a_f_L1_nowind_"));
    }
}
