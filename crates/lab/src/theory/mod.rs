//! The paper's theory on the bilinear world: what designs cost beside what it proves, and the risk law beside measurements.

mod designs;
mod linear_algebra;
mod list_page;
mod lists;
mod page;
mod risk;

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde_json::json;
use taskscout::features::FeatureMap;
use taskscout_report::{
    ExperimentReport, REPORT_FILE, ReportFigure, ResultRow, SavedReport, terminal_table,
    write_atomically, write_csv,
};
use taskscout_worlds::{InputDistribution, Synthetic, SyntheticConfig};

use crate::error::{LabError, Result};
use crate::experiment::out_folder;
use crate::folder::TopFolder;
use crate::options::ExperimentOptions;
use crate::publish::{pretty, written};
use crate::watch::Watcher;
use designs::{BasisRow, DesignRow};
use lists::ListRow;
use risk::{RiskRow, Spread};

/// Names the experiment and its default folder.
const NAME: &str = "theory";
/// What the run writes.
const FILES: [&str; 12] = [
    "measurements.csv",
    "designs.csv",
    "lists.csv",
    "lists.svg",
    "summary.json",
    "report.html",
    "designs.svg",
    "risk.svg",
    "kappa.svg",
    "risk.csv",
    "kappa.csv",
    REPORT_FILE,
];
/// Figures whose numbers are tables of their own.
const TABLES: [&str; 2] = ["designs", "lists"];
/// Ground truths and seeds, if nobody says otherwise.
const MATRIX_SEEDS: u64 = 8;
const SEEDS: u64 = 2;
/// Source samples at which the law is checked.
const SIZES: [usize; 4] = [20_000, 50_000, 100_000, 200_000];

/// What was computed and measured.
pub struct TheoryReport {
    folder: PathBuf,
    summary: String,
    words: String,
    _top: TopFolder,
}

impl TheoryReport {
    /// The summary as JSON.
    #[must_use]
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// What came out, for a terminal.
    #[must_use]
    pub fn in_words(&self) -> &str {
        &self.words
    }

    /// Where the results are.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

/// All that is found.
struct Findings {
    designs: Vec<DesignRow>,
    bases: Vec<BasisRow>,
    lists: Vec<ListRow>,
    risks: Vec<RiskRow>,
}

/// Computes designs and bounds on several ground truths, measures the risk law, and writes tables, figures and a page.
/// `options` gives the seeds, the first ground truth (`matrix_seed`), `quick` and where results go.
///
/// # Errors
/// A folder that cannot be used, or a computation that fails.
pub fn run_theory(options: &ExperimentOptions, watch: &Watcher) -> Result<TheoryReport> {
    theory_report(options, watch).map(|(theory, _)| theory)
}

/// Refuses a folder that holds something else. Changes nothing.
pub(crate) fn check_theory(options: &ExperimentOptions, watch: &Watcher) -> Result<()> {
    TopFolder::check(&out_folder(NAME, options), &FILES, options, watch.as_ref())
}

/// The same as [`run_theory`], with the report that its page is made from.
pub(crate) fn theory_report(
    options: &ExperimentOptions,
    watch: &Watcher,
) -> Result<(TheoryReport, ExperimentReport)> {
    let folder = out_folder(NAME, options);
    let top = TopFolder::open(&folder, &FILES, options, watch.as_ref())?;
    let synthetic = options.world.synthetic();
    let first = synthetic.and_then(|own| own.matrix_seed).unwrap_or(0);
    let (truths, sizes): (u64, &[usize]) = match options.quick {
        true => (2, &SIZES[..2]),
        false => (MATRIX_SEEDS, &SIZES),
    };
    let seeds = options
        .seeds
        .unwrap_or(if options.quick { 1 } else { SEEDS });
    let matrix_seeds: Vec<u64> = (first..first + truths).collect();
    let from = options.seed.unwrap_or(0);
    let findings = find(
        &matrix_seeds,
        &(from..from + seeds).collect::<Vec<_>>(),
        sizes,
        watch,
    )?;
    let mut report = page::report(&findings)?;
    report.written = Some(written());
    write(&folder, &findings, &report)?;
    let theory = TheoryReport {
        summary: pretty(&report.summary)?,
        words: format!(
            "{}\n{}",
            terminal_table(&report.summary),
            page::words(&findings)
        ),
        folder,
        _top: top,
    };
    Ok((theory, report))
}

fn find(matrix_seeds: &[u64], seeds: &[u64], sizes: &[usize], watch: &Watcher) -> Result<Findings> {
    let worlds: Vec<(u64, Synthetic)> = matrix_seeds
        .iter()
        .map(|&seed| Ok((seed, world(seed)?)))
        .collect::<Result<_>>()?;
    let (mut all, mut bases, mut lists) = (Vec::new(), Vec::new(), Vec::new());
    for (seed, world) in &worlds {
        all.extend(designs::sweep(*seed, world.source_map())?);
        bases.push(designs::bases(*seed, world.source_map())?);
        lists.extend(lists::sweep(*seed, world.source_map())?);
    }
    let mut jobs = Vec::new();
    for (matrix_seed, world) in &worlds {
        for &seed in seeds {
            jobs.extend(Spread::ALL.map(|spread| (*matrix_seed, world, seed, spread)));
        }
    }
    watch.start(jobs.len());
    let one = |&(matrix_seed, world, seed, spread): &(u64, &Synthetic, u64, Spread)| {
        let rows = risk::measure(world, spread, (matrix_seed, seed), sizes)?;
        let name = format!("{} truth {matrix_seed} seed {seed}", spread.name());
        watch.trial(&name, "done");
        Ok(rows)
    };
    let risks: Result<Vec<Vec<RiskRow>>> = jobs.par_iter().with_max_len(1).map(one).collect();
    watch.finish();
    Ok(Findings {
        designs: all,
        bases,
        lists,
        risks: risks?.concat(),
    })
}

/// The bilinear world of the paper with another ground truth.
fn world(matrix_seed: u64) -> Result<Synthetic> {
    Ok(Synthetic::new(SyntheticConfig {
        input_features: FeatureMap::identity(200)?,
        inputs: InputDistribution::Normal,
        source_dim: 79,
        space: None,
        task_features: None,
        k: 4,
        network: None,
        noise: 1.0,
        matrix_seed,
    })?)
}

/// The measurements as rows of results: a ground truth and a seed are one trial.
fn result_rows(risks: &[RiskRow]) -> Vec<ResultRow> {
    let mut trials: Vec<(u64, u64)> = risks.iter().map(|r| (r.matrix_seed, r.seed)).collect();
    trials.sort_unstable();
    trials.dedup();
    let mut sizes: Vec<usize> = risks.iter().map(|row| row.samples).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let place = |risk: &RiskRow| {
        let trial = trials.binary_search(&(risk.matrix_seed, risk.seed));
        let size = sizes.binary_search(&risk.samples);
        (trial.unwrap_or_default() as u64, size.unwrap_or_default())
    };
    let row = |risk: &RiskRow| ResultRow {
        experiment: NAME.into(),
        oracle: "exact".into(),
        strategy: risk.spread.into(),
        seed: place(risk).0,
        round: place(risk).1,
        budget: risk.samples,
        test_loss: Some(risk.measured),
        ..ResultRow::default()
    };
    let mut rows: Vec<ResultRow> = risks.iter().map(row).collect();
    rows.sort_by_key(|row| {
        let order = Spread::ALL
            .iter()
            .position(|one| one.name() == row.strategy);
        (order, row.seed, row.round)
    });
    rows
}

fn write(folder: &Path, findings: &Findings, report: &ExperimentReport) -> Result<()> {
    let failed = |error: taskscout_report::Error| LabError::Failure(error.to_string());
    let keep = |name: &str, bytes: &[u8]| {
        write_atomically(folder.join(name), bytes)
            .map_err(|error| LabError::Failure(error.to_string()))
    };
    let mut table = Vec::new();
    write_csv(&report.rows, &mut table).map_err(failed)?;
    keep("measurements.csv", &table)?;
    keep(
        "designs.csv",
        page::designs_table(&findings.designs).as_bytes(),
    )?;
    keep("lists.csv", list_page::file(&findings.lists).as_bytes())?;
    keep("summary.json", pretty(&report.summary)?.as_bytes())?;
    for figure in report.figures.iter().map(ReportFigure::files) {
        keep(&format!("{}.svg", figure.name), figure.svg.as_bytes())?;
        if !TABLES.contains(&figure.name.as_str()) {
            keep(&format!("{}.csv", figure.name), figure.csv.as_bytes())?;
        }
    }
    let saved = SavedReport::of(report);
    keep(REPORT_FILE, saved.to_json().map_err(failed)?.as_bytes())?;
    keep("report.html", saved.page().as_bytes())
}

/// The settings of a run, as its page shows them.
fn settings(findings: &Findings) -> serde_json::Value {
    let mut truths: Vec<u64> = findings.bases.iter().map(|row| row.matrix_seed).collect();
    truths.dedup();
    json!({"version": env!("CARGO_PKG_VERSION"), "world": "bilinear", "matrix_seeds": truths})
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Arc;

    use taskscout::theory::Allocation;

    use super::*;

    fn findings() -> Findings {
        let nobody: Watcher = Arc::new(());
        find(&[3, 4], &[0, 1], &[20_000], &nobody).unwrap()
    }

    #[test]
    fn designs_stand_in_their_order_and_measurements_follow_the_law() {
        let found = findings();
        for row in &found.designs {
            let (optimal, paper) = (row.value(Allocation::Optimal), row.value(Allocation::Paper));
            assert!(optimal <= paper * (1.0 + 1e-9), "{row:?}");
            assert!(paper <= row.bounds.construction * (1.0 + 1e-9), "{row:?}");
            assert!(optimal < row.value(Allocation::Passive), "{row:?}");
        }
        for row in &found.bases {
            let ((low, high), (least, most)) = (row.optimal, row.bound);
            assert!(high / low < 1.0 + 1e-6, "{row:?}");
            assert!(
                most / least > 1.05,
                "the bound depends on the basis: {row:?}"
            );
        }
        for spread in Spread::ALL {
            let own = || found.risks.iter().filter(|row| row.spread == spread.name());
            let sum = |value: fn(&RiskRow) -> f64| own().map(value).sum::<f64>();
            let ratio = sum(|row| row.measured) / sum(|row| row.predicted);
            // Four draws: the noise of the target's rows alone is a third of the smallest risk.
            assert!((0.6..1.6).contains(&ratio), "{}: {ratio}", spread.name());
        }
    }

    #[test]
    fn every_measurement_is_a_row_of_its_own() {
        let risk = |matrix_seed, seed, samples| RiskRow {
            matrix_seed,
            seed,
            spread: "aware",
            samples,
            predicted: 1.0,
            measured: 1.0,
        };
        let rows = result_rows(&[risk(5, 0, 100), risk(5, 1, 100), risk(9, 0, 50)]);
        let keys: Vec<(u64, usize)> = rows.iter().map(|row| (row.seed, row.round)).collect();
        assert_eq!(keys, [(0, 1), (1, 1), (2, 0)]);
    }
}
