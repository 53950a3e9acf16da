//! Figures of several kinds, made from plain data.
//!
//! - [`Portraits`]: one state against another, side by side;
//! - [`Traces`]: a state over time, one line a model.
//!
//! Each of these gives a [`PanelFigure`](crate::PanelFigure). Others draw themselves:
//!
//! - [`Bars`]: named values, for instance how relevant source tasks are;
//! - [`Stacks`]: the same in parts, for instance the samples of tasks by round;
//! - [`TaskScatter`]: where tasks lie, and the target among them;
//! - [`HeatMap`]: every task against every other.

mod bars;
mod draw_bars;
mod draw_heat_map;
mod heat_map;
mod portraits;
mod stacks;
mod task_scatter;
mod traces;

pub use bars::{Bar, Bars};
pub use heat_map::HeatMap;
pub use portraits::{Portrait, PortraitCurve, Portraits};
pub use stacks::{Stack, Stacks};
pub use task_scatter::{Spot, SpotKind, TaskScatter};
pub use traces::{Trace, TracePanel, Traces};

/// The range of some values, those that are not finite left out; `None` if there is none.
fn span(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let finite = values.filter(|value| value.is_finite());
    finite.fold(None, |span, value| {
        let (low, high) = span.unwrap_or((value, value));
        Some((value.min(low), value.max(high)))
    })
}

/// A range with some air around it: `share` of its length at either end.
#[must_use]
pub fn padded((low, high): (f64, f64), share: f64) -> (f64, f64) {
    let pad = share * (high - low);
    (low - pad, high + pad)
}
