//! Tasks as the command line writes them.

use crate::error::{LabError, Result};

/// The tasks that `--target` names.
pub(crate) fn points(texts: &[String]) -> Result<Vec<Vec<f64>>> {
    texts.iter().map(|text| point(text)).collect()
}

/// The numbers of a task, `a,b,c`.
fn point(text: &str) -> Result<Vec<f64>> {
    let number = |(index, cell): (usize, &str)| {
        let value = cell.trim().parse::<f64>().ok();
        value.filter(|value| value.is_finite()).ok_or_else(|| {
            LabError::Input(format!(
                "--target {text}: entry {}, `{}`, is no number: give numbers separated by commas, as 0,0,1,0.5,0",
                index + 1,
                cell.trim()
            ))
        })
    };
    text.split(',').enumerate().map(number).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_point_is_numbers_between_commas() {
        assert_eq!(point("-1, 0.5,1e-1").unwrap(), [-1.0, 0.5, 0.1]);
        for (text, place) in [
            ("", "entry 1, ``"),
            ("1,,2", "entry 2, ``"),
            ("0,nan", "entry 2, `nan`"),
            ("--quick", "entry 1, `--quick`"),
        ] {
            let error = point(text).unwrap_err();
            assert!(error.to_string().contains(place), "{error}");
            assert_eq!(error.code(), 2);
        }
    }
}
