//! Figures and tables of results, drawn as the command draws them.

use pyo3::prelude::*;
use taskscout_plot::figures::{Bars, HeatMap};
use taskscout_plot::{LinePlot, PanelFigure, Theme};
use taskscout_report::{
    ExperimentReport, Judged, ResultRow, html_report, loss_plot, plain_table, read_csv,
};
use taskscout_studies::Error;

use crate::errors::{Result, json, of_json, raised};
use crate::threads::detached;

/// Draws a figure of a kind from its data as JSON.
#[pyfunction]
pub(crate) fn draw(py: Python<'_>, kind: &str, figure: &str, name: &str) -> PyResult<String> {
    let theme = Theme::Standalone;
    let svg: Result<String> = detached(py, || {
        Ok(match kind {
            "lines" => of_json::<LinePlot>(figure)?.to_svg(theme, name),
            "bars" => of_json::<Bars>(figure)?.to_svg(theme, name),
            "panels" => of_json::<PanelFigure>(figure)?.to_svg(theme, name),
            "heat-map" => of_json::<HeatMap>(figure)?.to_svg(theme, name),
            other => {
                return Err(Error::Input(format!("there is no figure `{other}`")));
            }
        })
    });
    svg.map_err(raised)
}

/// Summary and table as JSON, figures by name, and a page.
type Summed = (String, Vec<(String, String)>, String);

/// Sums up result rows, written as `results.csv` is: summary and table as JSON, a figure for each target, and a page.
#[pyfunction]
pub(crate) fn summarise(py: Python<'_>, rows: &str, settings: &str) -> PyResult<Summed> {
    let said: Result<_> = detached(py, || {
        let failed = |error: taskscout_report::Error| Error::Input(error.to_string());
        let rows = read_csv(rows.as_bytes(), "the rows").map_err(failed)?;
        let settings = of_json(settings)?;
        let report =
            ExperimentReport::new(rows, serde_json::Value::Null, settings).map_err(failed)?;
        let about = json(&serde_json::json!({
            "summary": report.summary,
            "table": plain_table(&report.summary),
        }))?;
        let figures = loss_figures(&report.rows);
        Ok((about, figures, html_report(std::slice::from_ref(&report))))
    });
    said.map_err(raised)
}

/// Loss against budget, a figure for each target by its name.
fn loss_figures(rows: &[ResultRow]) -> Vec<(String, String)> {
    let mut targets: Vec<Option<&str>> = Vec::new();
    for row in rows {
        if !targets.contains(&row.target.as_deref()) {
            targets.push(row.target.as_deref());
        }
    }
    let drawn = |target: &Option<&str>| {
        let own = rows.iter().filter(|row| row.target.as_deref() == *target);
        let svg = loss_plot(own, Judged::Returned).to_svg(Theme::Standalone, "loss");
        (target.unwrap_or_default().to_owned(), svg)
    };
    targets.iter().map(drawn).collect()
}
