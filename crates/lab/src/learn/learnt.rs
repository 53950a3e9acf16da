//! Features that are learnt from the recordings: boosted trees and a network, of the inputs and of what is known of a recording.
//!
//! Both are regressions over all rows of a level of the scaling label, with the task features as further inputs, so that they know what
//! polynomials do not have. What they predict stands among the features of the hierarchical model, which learns from all recordings
//! how far to trust it, and corrects it for the target. For that each recording gets the prediction of regressions that were fitted
//! without it; none has seen the target.

use rayon::prelude::*;
use taskscout::features::{FeatureMap, NetworkFeatures, Trees};
use taskscout::train::{BoostedTrees, FeatureGroupSubset};
use taskscout_neural::NetworkRegression;

use super::prepare::Prepared;
use crate::error::Result;

/// Fewest recordings of a level that regressions are fitted for.
pub(super) const FEWEST: usize = 4;
/// Parts of a level's recordings that are left out in turn.
const PARTS: usize = 4;
/// Rows that a regression is fitted to at most.
const MOST_ROWS: usize = 8_000;

/// Regressions of all outputs on the inputs and the task features.
struct Regressions {
    trees: Vec<Trees>,
    network: NetworkFeatures,
}

impl Regressions {
    /// The regressions for a recording with such task features, one map an output.
    fn at(&self, features: &[f64]) -> Result<FeatureMap> {
        let mut parts: Vec<FeatureMap> = Vec::with_capacity(self.trees.len() + 1);
        for trees in &self.trees {
            parts.push(FeatureMap::Trees(trees.with_last_inputs(features)?));
        }
        let network = self.network.with_last_inputs(features)?;
        parts.push(FeatureMap::Network(network));
        Ok(FeatureMap::stacked(parts)?)
    }
}

/// Rows of some recordings, with labels divided by their spread.
struct Table {
    x: Vec<f64>,
    width: usize,
    /// Row-major.
    y: Vec<f64>,
    outputs: usize,
}

/// Gives every recording the maps that hold what was learnt; says so of the sets of features to choose from. Nothing changes where
/// there are too few recordings.
pub(super) fn add(prepared: &mut Prepared, seed: u64) -> Result<()> {
    if !prepared.chooses_features() || prepared.sources.len() < FEWEST {
        return Ok(());
    }
    let mut levels = prepared.levels();
    let few = |level: &Vec<usize>| {
        let sources = level.iter().filter(|at| prepared.sources.contains(at));
        sources.count() < FEWEST
    };
    if levels.iter().any(few) {
        // Task features tell the levels apart.
        levels = vec![levels.concat()];
    }
    let spread = spreads(prepared);
    let mut maps: Vec<Option<FeatureMap>> = vec![None; prepared.logs.recordings.len()];
    for level in &levels {
        let sources: Vec<usize> = level
            .iter()
            .copied()
            .filter(|at| prepared.sources.contains(at))
            .collect();
        let parts = PARTS.min(sources.len());
        // One part more than there are: nothing is left out for the target.
        let fitted: Vec<Regressions> = (0..=parts)
            .into_par_iter()
            .map(|part| {
                let kept = sources.iter().enumerate();
                let kept = kept.filter(|(place, _)| place % parts != part || part == parts);
                let kept: Vec<usize> = kept.map(|(_, &at)| at).collect();
                fit(prepared, &kept, &spread, seed)
            })
            .collect::<Result<_>>()?;
        for &at in level {
            let place = sources.iter().position(|&source| source == at);
            let own = &fitted[place.map_or(parts, |place| place % parts)];
            maps[at] = Some(own.at(&prepared.task_features[at])?);
        }
    }
    prepared.set_learnt(&maps)
}

/// The sets of features with what was learnt for an output, of so many, that stands behind `first` other groups: trees first, one
/// group an output, then the network.
pub(super) fn sets(first: usize, output: usize, outputs: usize) -> Vec<FeatureGroupSubset> {
    let learnt = [first + output, first + outputs + output];
    let with = |name: &str, groups: &[usize]| FeatureGroupSubset {
        name: format!("{name} trees and a network"),
        groups: [groups, &learnt].concat(),
    };
    vec![
        with("a constant,", &[0]),
        with("linear features,", &[0, 1]),
        with("quadratic features,", &[0, 1, 2]),
    ]
}

fn fit(
    prepared: &Prepared,
    recordings: &[usize],
    spread: &[f64],
    seed: u64,
) -> Result<Regressions> {
    let table = table(prepared, recordings, spread);
    let of = |output: usize| {
        let y: Vec<f64> = table
            .y
            .iter()
            .skip(output)
            .step_by(table.outputs)
            .copied()
            .collect();
        Ok(BoostedTrees::default().fit(&table.x, table.width, &y)?)
    };
    let trees = (0..table.outputs).map(of).collect::<Result<_>>()?;
    let network = NetworkRegression::default();
    let network = network.fit((&table.x, table.width), (&table.y, table.outputs), seed)?;
    Ok(Regressions { trees, network })
}

/// Root mean squares of the outputs over all sources.
fn spreads(prepared: &Prepared) -> Vec<f64> {
    let of = |&output: &usize| {
        let (mut sum, mut rows) = (0.0, 0);
        for &source in &prepared.sources {
            let all: Vec<usize> = (0..prepared.logs.recordings[source].rows()).collect();
            let labels = prepared.labels(source, output, &all);
            rows += labels.len();
            sum += labels.iter().map(|y| y * y).sum::<f64>();
        }
        let spread = (sum / (rows as f64).max(1.0)).sqrt();
        if spread > 0.0 { spread } else { 1.0 }
    };
    prepared.outputs.iter().map(of).collect()
}

/// As many rows of each recording, evenly over its time.
fn table(prepared: &Prepared, recordings: &[usize], spread: &[f64]) -> Table {
    let outputs = spread.len();
    let each = (MOST_ROWS / recordings.len().max(1)).max(1);
    let (mut x, mut y, mut width) = (Vec::new(), Vec::new(), 0);
    for &at in recordings {
        let count = prepared.logs.recordings[at].rows();
        let taken = each.min(count);
        let rows: Vec<usize> = (0..taken).map(|row| row * count / taken).collect();
        let inputs = prepared.input_rows(at, &rows, at);
        let known = &prepared.task_features[at];
        let p = prepared.logs.inputs.len();
        width = p + known.len();
        for row in inputs.chunks_exact(p) {
            x.extend_from_slice(row);
            x.extend_from_slice(known);
        }
        let labels: Vec<Vec<f64>> = prepared
            .outputs
            .iter()
            .zip(spread)
            .map(|(&output, spread)| {
                let labels = prepared.labels(at, output, &rows);
                labels.iter().map(|y| y / spread).collect()
            })
            .collect();
        y.extend((0..rows.len() * outputs).map(|i| labels[i % outputs][i / outputs]));
    }
    Table {
        x,
        width,
        y,
        outputs,
    }
}
