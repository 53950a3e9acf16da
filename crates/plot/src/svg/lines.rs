//! The lines that there are to draw, and the ranges of values that they need.

use super::palette::{Style, styles};
use super::scale::Range;
use super::{LinePlot, Series, SeriesPoint, YAxis};

/// A series with its look and its finite points.
pub(super) struct Line<'a> {
    pub(super) series: &'a Series,
    pub(super) style: Style,
    pub(super) points: Vec<&'a SeriesPoint>,
}

/// The series that have something to draw.
pub(super) fn lines(plot: &LinePlot) -> Vec<Line<'_>> {
    let names: Vec<&str> = plot.series.iter().map(|s| s.name.as_str()).collect();
    let lines = plot.series.iter().zip(styles(&names));
    let lines = lines.map(|(series, style)| Line {
        series,
        style,
        points: series
            .points
            .iter()
            .filter(|point| point.x.is_finite() && point.y.is_finite())
            .collect(),
    });
    lines.filter(|line| !line.points.is_empty()).collect()
}

/// From zero to the largest budget.
pub(super) fn x_range(lines: &[Line<'_>]) -> Range {
    let points = lines.iter().flat_map(|line| &line.points);
    let high = points.map(|point| point.x).fold(0.0, f64::max);
    let high = if high > 0.0 { high } else { 1.0 };
    Range {
        high,
        ..Range::unit(&[])
    }
}

/// Room for every value, its band and the reference.
pub(super) fn y_range(plot: &LinePlot, lines: &[Line<'_>]) -> Range {
    let points: Vec<&SeriesPoint> = lines.iter().flat_map(|l| l.points.clone()).collect();
    let mut values: Vec<f64> = points.iter().map(|point| point.y).collect();
    values.extend(plot.reference.iter().map(|reference| reference.y));
    let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
    let log = plot.y_axis == YAxis::Log && lowest > 0.0;
    for point in points {
        let (low, high) = point.band().unwrap_or((point.y, point.y));
        values.push(high);
        // A wide band must not stretch a logarithmic axis towards zero.
        values.push(if log { low.max(lowest / 2.0) } else { low });
    }
    match plot.y_axis {
        YAxis::Unit => Range::unit(&values),
        YAxis::Log if log => Range::log(&values),
        YAxis::Log => Range::linear(&values),
    }
}
