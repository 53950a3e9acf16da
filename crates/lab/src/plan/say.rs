//! Words and numbers for people.

/// Notes beside a plan, held back until it is there: an error stands alone.
#[derive(Debug, Default)]
pub(super) struct Notes(Vec<String>);

impl Notes {
    /// Adds a note.
    pub(super) fn add(&mut self, note: String) {
        self.0.push(note);
    }

    /// All notes.
    pub(super) fn all(&self) -> &[String] {
        &self.0
    }
}

/// A part of a whole, in percent; a dash where there is no whole.
pub(super) fn percent(part: f64) -> String {
    match part.is_finite() {
        true => format!("{:.1}", 100.0 * part),
        false => "–".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_nothing_is_a_dash() {
        assert_eq!(
            (percent(0.5), percent(f64::NAN)),
            ("50.0".into(), "–".into())
        );
    }
}
