//! Figures of experiments of several kinds, made from plain data.
//!
//! - [`TaskPath`]: how the chosen task walks towards the hidden one;
//! - [`Portraits`]: one state against another, side by side;
//! - [`Traces`]: a state over time, one line a model.
//!
//! Each of these gives a [`PanelFigure`](crate::PanelFigure). Two draw themselves:
//!
//! - [`Bars`]: named values, for instance how relevant source tasks are;
//! - [`HeatMap`]: every task against every other.
//!
//! All of them are a [`Drawing`](crate::Drawing), which a [`ReportFigure`](crate::ReportFigure) puts
//! into a report.

mod bars;
mod heat_map;
mod portraits;
mod task_path;
mod traces;

pub use bars::{Bar, Bars};
pub use heat_map::HeatMap;
pub use portraits::{Portrait, PortraitCurve, Portraits};
pub use task_path::{PathStep, TaskPath};
pub use traces::{Trace, TracePanel, Traces};

/// The range of some values, those that are not finite left out; `None` if there is none.
fn span(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let finite = values.filter(|value| value.is_finite());
    finite.fold(None, |span, value| {
        let (low, high) = span.unwrap_or((value, value));
        Some((value.min(low), value.max(high)))
    })
}

/// A range with some air around it.
fn padded((low, high): (f64, f64), share: f64) -> (f64, f64) {
    let pad = share * (high - low);
    (low - pad, high + pad)
}
