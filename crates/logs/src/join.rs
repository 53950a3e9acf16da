//! Series recorded at different rates, brought to the same times.
//!
//! One series gives the times. Every other one gives for each of them its nearest row, or a value between the two rows
//! around it. Rows without a partner near enough are left out. What was done is said in sentences for a report.
//!
//! ```
//! use taskscout_logs::join::{JoinOptions, Method, join};
//! use taskscout_logs::{Column, Series};
//!
//! let slow = Series::new("pose", vec![0.0, 0.1, 0.2], vec![Column::new("x", vec![1.0, 2.0, 3.0])]);
//! let fast: Vec<f64> = (0..16).map(|row| 0.01 * f64::from(row)).collect();
//! let fast = Series::new("imu", fast.clone(), vec![Column::new("w", fast)]);
//! let how = JoinOptions { method: Method::Linear, ..JoinOptions::default() };
//! let joined = join(&[slow, fast], 0, &how)?;
//! assert_eq!(joined.rows, [0, 1]); // at 0.2 s the fast series has ended
//! assert_eq!(joined.series[1].column("w"), Some(&[0.0, 0.1][..]));
//! assert_eq!(
//!     joined.remarks,
//!     ["`imu` (100 Hz) is interpolated at the times of `pose` (10 Hz); 1 of 3 rows has no partner within 0.02 s and is left out"]
//! );
//! # Ok::<(), String>(())
//! ```

use serde::{Deserialize, Serialize};
use taskscout_io::tables::{short, visible};

use crate::series::{Column, Series};

/// Steps of a series that a partner may be away, if nobody says otherwise.
const STEPS: f64 = 2.0;
/// Seconds by which times may be out of order: threads of a logger that overtake each other.
const DISORDER: f64 = 0.1;
/// Seconds and steps without a row beyond which the clock is said to jump.
const JUMP: (f64, f64) = (5.0, 100.0);

/// How series are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The row nearest in time.
    #[default]
    Nearest,
    /// A value on the line between the two rows around.
    Linear,
}

/// How and how strictly series are joined.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JoinOptions {
    /// Nearest row or interpolation.
    pub method: Method,
    /// Seconds that a partner may be away; if not given, two median steps of its series.
    pub tolerance_s: Option<f64>,
    /// Where a clock jumps back, leave out the rows until it has caught up, instead of refusing.
    pub skip_jumps: bool,
}

/// Series that all have the same rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Joined {
    /// The series in the order given, each at the same times.
    pub series: Vec<Series>,
    /// Which rows of the series that gives the times are left.
    pub rows: Vec<usize>,
    /// What was done, in sentences.
    pub remarks: Vec<String>,
}

/// Brings all series to the times of the one at `base`.
///
/// # Errors
/// If there is no such series, a time is not finite, or a clock jumps back; the message names the series and the row.
pub fn join(series: &[Series], base: usize, how: &JoinOptions) -> Result<Joined, String> {
    let mut remarks = Vec::new();
    let ordered = series
        .iter()
        .map(|one| order(one, how.skip_jumps, &mut remarks));
    let orders = ordered.collect::<Result<Vec<Vec<usize>>, String>>()?;
    let Some(leader) = series.get(base) else {
        return Err("there is no series to take the times from".into());
    };
    let times: Vec<f64> = orders[base].iter().map(|&row| leader.time[row]).collect();
    let mut keep = vec![true; times.len()];
    let mut partners = Vec::with_capacity(series.len());
    for (place, (one, order)) in series.iter().zip(&orders).enumerate() {
        if place == base {
            partners.push(None);
            continue;
        }
        let own: Vec<f64> = order.iter().map(|&row| one.time[row]).collect();
        let tolerance = how
            .tolerance_s
            .unwrap_or(STEPS * median_step(&own).unwrap_or(0.0));
        let found = match how.method {
            Method::Nearest => nearest(&times, &own, tolerance),
            Method::Linear => between(&times, &own, tolerance),
        };
        let lost = found.iter().filter(|partner| partner.is_none()).count();
        remarks.push(said(leader, one, how.method, tolerance, lost, times.len()));
        for (keep, partner) in keep.iter_mut().zip(&found) {
            *keep &= partner.is_some();
        }
        partners.push(Some(found));
    }
    let kept: Vec<usize> = (0..times.len()).filter(|&row| keep[row]).collect();
    let time: Vec<f64> = kept.iter().map(|&row| times[row]).collect();
    let parts = series.iter().zip(&orders).zip(&partners);
    let joined = parts.map(|((one, order), partners)| {
        let columns = one.columns.iter().map(|column| Column {
            name: column.name.clone(),
            unit: column.unit.clone(),
            values: values(&column.values, order, partners.as_deref(), &kept),
        });
        Series::new(&one.name, time.clone(), columns.collect()).with_text(one.text.clone())
    });
    Ok(Joined {
        series: joined.collect(),
        rows: kept.iter().map(|&row| orders[base][row]).collect(),
        remarks,
    })
}

/// The values of a column for the rows that are kept, by their partners; without, it is in its own rows.
fn values(
    values: &[f64],
    order: &[usize],
    partners: Option<&[Partner]>,
    kept: &[usize],
) -> Vec<f64> {
    let at = |&row: &usize| match partners.map(|partners| partners[row]) {
        None => values[order[row]],
        Some(None) => f64::NAN,
        Some(Some((first, part))) if part > 0.0 => {
            let (a, b) = (values[order[first]], values[order[first + 1]]);
            a + part * (b - a)
        }
        Some(Some((first, _))) => values[order[first]],
    };
    kept.iter().map(at).collect()
}

/// The rows of a series in the order of their times.
fn order(series: &Series, skip: bool, remarks: &mut Vec<String>) -> Result<Vec<usize>, String> {
    let (time, name) = (&series.time, visible(&series.name));
    if let Some(row) = time.iter().position(|time| !time.is_finite()) {
        return Err(format!(
            "row {row} of `{name}` has no time: remove it from the log"
        ));
    }
    let step = median_step(time).unwrap_or(0.0);
    let limit = f64::max(JUMP.0, JUMP.1 * step);
    let jump = time.windows(2).position(|pair| pair[1] - pair[0] > limit);
    if let Some(row) = jump {
        remarks.push(format!(
            "the clock of `{name}` jumps forward by {} s after row {row}, at {} s",
            short(time[row + 1] - time[row]),
            short(time[row])
        ));
    }
    let rows: Vec<usize> = (0..time.len()).collect();
    if time.is_sorted() {
        return Ok(rows);
    }
    let mut latest = f64::NEG_INFINITY;
    let mut back = None;
    let mut later = Vec::with_capacity(rows.len());
    for &row in &rows {
        if time[row] >= latest {
            latest = time[row];
            later.push(row);
        } else if latest - time[row] > DISORDER && back.is_none() {
            back = Some((row, latest));
        }
    }
    let Some((row, before)) = back else {
        let mut rows = rows;
        rows.sort_by(|&a, &b| time[a].total_cmp(&time[b]));
        remarks.push(format!("rows of `{name}` were not in the order of their times, by less than {} s, and are sorted", short(DISORDER)));
        return Ok(rows);
    };
    let place = format!(
        "the clock of `{name}` jumps back from {} s to {} s at row {row}",
        short(before),
        short(time[row])
    );
    if !skip {
        return Err(format!(
            "{place}: cut the log there into two, or skip bad rows"
        ));
    }
    let lost = time.len() - later.len();
    remarks.push(format!(
        "{place}; {lost} rows are left out until it has caught up"
    ));
    Ok(later)
}

/// The median of the steps that go forward.
pub(crate) fn median_step(time: &[f64]) -> Option<f64> {
    let steps = time.windows(2).map(|pair| pair[1] - pair[0]);
    let mut steps: Vec<f64> = steps.filter(|&step| step > 0.0).collect();
    let middle = steps.len() / 2;
    let (_, median, _) =
        (!steps.is_empty()).then(|| steps.select_nth_unstable_by(middle, f64::total_cmp))?;
    Some(*median)
}

/// A row and the part of the way to the next one.
type Partner = Option<(usize, f64)>;

/// The nearest of sorted times for each of sorted times.
fn nearest(times: &[f64], own: &[f64], tolerance: f64) -> Vec<Partner> {
    let mut row = 0;
    let partner = |&time: &f64| {
        while row + 1 < own.len() && (own[row + 1] - time).abs() <= (own[row] - time).abs() {
            row += 1;
        }
        let near = own
            .get(row)
            .is_some_and(|it| (it - time).abs() <= tolerance);
        near.then_some((row, 0.0))
    };
    times.iter().map(partner).collect()
}

/// The two of sorted times around each of sorted times, both within the tolerance.
fn between(times: &[f64], own: &[f64], tolerance: f64) -> Vec<Partner> {
    let mut row = 0;
    let partner = |&time: &f64| {
        while row + 1 < own.len() && own[row + 1] <= time {
            row += 1;
        }
        let before = time - own.get(row)?;
        if before < 0.0 || before > tolerance {
            return None;
        }
        if before <= 0.0 {
            return Some((row, 0.0));
        }
        let after = own.get(row + 1)? - time;
        (after <= tolerance).then(|| (row, before / (before + after)))
    };
    times.iter().map(partner).collect()
}

/// What was done with a series.
fn said(
    leader: &Series,
    one: &Series,
    method: Method,
    tolerance: f64,
    lost: usize,
    rows: usize,
) -> String {
    let rate = |series: &Series| match median_step(&series.time) {
        Some(step) => format!(
            "`{}` ({} Hz)",
            visible(&series.name),
            short((1e6 / step).round() / 1e6)
        ),
        None => format!("`{}`", visible(&series.name)),
    };
    let (one, leader) = (rate(one), rate(leader));
    let within = short(tolerance);
    let done = match method {
        Method::Nearest => {
            format!("the rows of {one} nearest in time are joined to those of {leader}")
        }
        Method::Linear => format!("{one} is interpolated at the times of {leader}"),
    };
    match lost {
        0 => format!("{done}; every row has a partner within {within} s"),
        lost => {
            let verb = if lost == 1 {
                "has no partner within"
            } else {
                "have no partner within"
            };
            let left = if lost == 1 {
                "is left out"
            } else {
                "are left out"
            };
            format!("{done}; {lost} of {rows} rows {verb} {within} s and {left}")
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp)] // the numbers are exact

    use super::*;

    fn series(name: &str, time: &[f64]) -> Series {
        let values = time.iter().map(|time| 10.0 * time).collect();
        Series::new(name, time.to_vec(), vec![Column::new("x", values)])
    }

    fn joined(base: &[f64], other: &[f64], how: &JoinOptions) -> Result<Joined, String> {
        join(&[series("a", base), series("b", other)], 0, how)
    }

    #[test]
    fn nearest_rows_within_the_tolerance() {
        let how = JoinOptions {
            tolerance_s: Some(0.3),
            ..JoinOptions::default()
        };
        let found = joined(&[0.0, 1.0, 2.0, 3.0], &[0.25, 0.75, 2.5, 2.75], &how).unwrap();
        assert_eq!(found.rows, [0, 1, 3]);
        assert_eq!(found.series[1].column("x").unwrap(), [2.5, 7.5, 27.5]);
        assert_eq!(found.series[0].column("x").unwrap(), [0.0, 10.0, 30.0]);
        assert_eq!(found.series[1].time, [0.0, 1.0, 3.0]);
        assert!(
            found.remarks[0].ends_with("1 of 4 rows has no partner within 0.3 s and is left out")
        );
        let none = joined(&[0.0, 1.0], &[], &how).unwrap();
        assert_eq!(none.rows, [0; 0]);
    }

    #[test]
    fn lines_between_rows() {
        let how = JoinOptions {
            method: Method::Linear,
            ..JoinOptions::default()
        };
        let found = joined(&[0.5, 1.0, 4.0, 5.25], &[0.0, 1.0, 2.0, 5.0, 6.0], &how).unwrap();
        assert_eq!(found.rows, [0, 1, 2, 3]);
        let values = found.series[1].column("x").unwrap();
        assert_eq!(values, [5.0, 10.0, 40.0, 52.5]);
        let strict = JoinOptions {
            tolerance_s: Some(1.0),
            ..how
        };
        let found = joined(
            &[0.5, 1.0, 4.0, 5.25, 9.0],
            &[0.0, 1.0, 2.0, 5.0, 6.0],
            &strict,
        );
        assert_eq!(found.unwrap().rows, [0, 1, 3]);
    }

    #[test]
    fn small_disorder_is_sorted_and_jumps_are_named() {
        let how = JoinOptions::default();
        let found = joined(&[0.0, 0.02, 0.01, 0.03], &[0.0, 0.01, 0.02, 0.03], &how).unwrap();
        assert_eq!(found.rows, [0, 2, 1, 3]);
        assert_eq!(found.series[1].column("x"), found.series[0].column("x"));
        assert!(found.remarks[0].contains("rows of `a` were not in the order of their times"));
        let found = joined(&[0.0, 0.1, 60.1, 60.2], &[0.0, 0.1, 60.1], &how).unwrap();
        assert!(
            found.remarks[0].contains("clock of `a` jumps forward by 60 s after row 1, at 0.1 s")
        );
        let refusal = joined(&[5.0, 6.0, 0.0, 7.0], &[5.0], &how).unwrap_err();
        let place = "the clock of `a` jumps back from 6 s to 0 s at row 2";
        assert_eq!(
            refusal,
            format!("{place}: cut the log there into two, or skip bad rows")
        );
        let skip = JoinOptions {
            skip_jumps: true,
            tolerance_s: Some(9.0),
            ..how
        };
        let found = joined(&[5.0, 6.0, 0.0, 7.0], &[5.0], &skip).unwrap();
        assert_eq!(found.rows, [0, 1, 3]);
        let refusal = joined(&[0.0, f64::NAN], &[0.0], &skip).unwrap_err();
        assert!(refusal.starts_with("row 1 of `a` has no time"));
    }
}
