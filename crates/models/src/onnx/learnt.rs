//! Features that were learnt beforehand, as nodes of a graph: trees and networks.

use taskscout::features::{Features as _, NetworkFeatures, Trees};

use super::graph::{Graph, Precision};
use super::matmul;
use crate::error::Result;

/// The layers of a network with known weights.
pub(super) fn network(graph: &mut Graph, map: &NetworkFeatures, x: &str) -> Result<String> {
    let mut values = x.to_owned();
    for (index, layer) in map.layers().iter().enumerate() {
        if index > 0 {
            values = graph.node("Tanh", &[&values], &[]);
        }
        let (outputs, inputs) = (layer.bias.len(), layer.weights[0].len());
        let entry = |i: usize, j: usize| layer.weights[j][i];
        values = matmul(graph, &values, "weights", outputs, entry, inputs)?;
        let bias = graph.floats("bias", &[outputs], layer.bias.iter().copied())?;
        values = graph.node("Add", &[&values, &bias], &[]);
    }
    Ok(values)
}

/// A sum of oblivious trees: answers to all questions at once, which a product turns into places of leaves in one table.
pub(super) fn trees(graph: &mut Graph, map: &Trees, x: &str) -> Result<String> {
    let trees = map.trees();
    let base = graph.floats("base", &[1], [map.base()])?;
    if trees.is_empty() {
        // Some column times zero, so that there are as many rows as of inputs.
        let zero = graph.floats("zero", &[1], [0.0])?;
        let first = graph.columns(x, &[0]);
        let nothing = graph.node("Mul", &[&first, &zero], &[]);
        return Ok(graph.node("Add", &[&nothing, &base], &[]));
    }
    let splits: Vec<_> = trees.iter().flat_map(|tree| &tree.splits).collect();
    let asked: Vec<usize> = splits.iter().map(|split| split.input).collect();
    let values = graph.columns(x, &asked);
    let above = splits.iter().map(|split| split.above);
    let above = graph.floats("thresholds", &[splits.len()], above)?;
    let answers = graph.node("Greater", &[&values, &above], &[]);
    let answers = graph.cast(&answers, Precision::Single);
    let mut bits = Vec::with_capacity(splits.len());
    for (at, tree) in trees.iter().enumerate() {
        bits.extend((0..tree.splits.len()).map(|bit| (at, (1_u32 << bit) as f64)));
    }
    let weight = |split: usize, tree: usize| match bits[split] {
        (own, bit) if own == tree => bit,
        _ => 0.0,
    };
    let leaf = matmul(graph, &answers, "bits", trees.len(), weight, splits.len())?;
    let mut first = 0;
    let firsts = trees.iter().map(|tree| {
        let own = first;
        first += tree.leaves.len();
        own as f64
    });
    let firsts: Vec<f64> = firsts.collect();
    let firsts = graph.floats("first_leaves", &[trees.len()], firsts)?;
    let leaf = graph.node("Add", &[&leaf, &firsts], &[]);
    let leaf = graph.whole(&leaf);
    let all: Vec<f64> = trees.iter().flat_map(|tree| tree.leaves.clone()).collect();
    let all = graph.floats("leaves", &[all.len()], all)?;
    let values = graph.node("Gather", &[&all, &leaf], &[("axis", 0)]);
    let axis = graph.integers("axis", &[1]);
    let sum = graph.node("ReduceSum", &[&values, &axis], &[("keepdims", 1)]);
    debug_assert_eq!(map.dim(), 1);
    Ok(graph.node("Add", &[&sum, &base], &[]))
}
