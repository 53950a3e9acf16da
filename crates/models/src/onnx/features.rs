//! `ψ_X` as nodes of a graph.

use std::collections::BTreeMap;

use taskscout::features::{FeatureMap, Features as _, Fourier, OneHotPolynomial};

use super::graph::Graph;
use super::learnt;
use super::scaling::standardised;
use crate::error::{Error, Result};

/// A monomial as its variables, rising, each as often as its power says.
type Word = Vec<usize>;

/// Adds the features of the rows of `x`, and returns the name of the matrix that holds them.
pub(super) fn features(graph: &mut Graph, map: &FeatureMap, x: &str) -> Result<String> {
    let inputs = map.input_dim();
    match map {
        FeatureMap::Identity(_) => Ok(x.to_owned()),
        FeatureMap::Fourier(fourier) => cosines(graph, fourier, x),
        FeatureMap::Polynomial(polynomial) => {
            let words: Vec<Word> = polynomial
                .powers()
                .iter()
                .map(|powers| word(powers))
                .collect();
            monomials(graph, x, inputs, &words)
        }
        FeatureMap::Monomials(list) => {
            let sparse = |row: &Vec<u32>| -> Word {
                word(&row.iter().copied().enumerate().collect::<Vec<_>>())
            };
            let words: Vec<Word> = list.exponents().iter().map(sparse).collect();
            monomials(graph, x, inputs, &words)
        }
        FeatureMap::OneHotPolynomial(map) => by_category(graph, map, x),
        FeatureMap::Standardised(map) => {
            let z = standardised(graph, x, "feature", map.mean(), map.scale())?;
            features(graph, map.inner(), &z)
        }
        FeatureMap::Stacked(map) => {
            let parts = map.parts().iter();
            let parts: Vec<String> = parts
                .map(|part| features(graph, part, x))
                .collect::<Result<_>>()?;
            Ok(graph.beside(&parts))
        }
        FeatureMap::Trees(map) => learnt::trees(graph, map, x),
        FeatureMap::Network(map) => learnt::network(graph, map, x),
        FeatureMap::Custom(custom) => Err(Error::CustomFeatures {
            name: custom.name().to_owned(),
        }),
        _ => Err(Error::Absent(
            "this feature map cannot be written to ONNX yet: predict with taskscout".into(),
        )),
    }
}

fn cosines(graph: &mut Graph, fourier: &Fourier, x: &str) -> Result<String> {
    let (a, inputs, d) = (fourier.matrix(), fourier.input_dim(), fourier.dim());
    let transposed = (0..inputs).flat_map(|j| (0..d).map(move |i| a[i * inputs + j]));
    let frequencies = graph.floats("frequencies", &[inputs, d], transposed)?;
    let offset = graph.floats("phases", &[d], fourier.offset().iter().copied())?;
    let phase = graph.node("MatMul", &[x, &frequencies], &[]);
    let phase = graph.node("Add", &[&phase, &offset], &[]);
    Ok(graph.node("Cos", &[&phase], &[]))
}

/// Monomials of the parameters behind the categories, each times each category.
fn by_category(graph: &mut Graph, map: &OneHotPolynomial, x: &str) -> Result<String> {
    let (categories, polynomial) = (map.categories(), map.polynomial());
    let parameters: Vec<usize> = (categories..map.input_dim()).collect();
    let parameters = graph.columns(x, &parameters);
    let words: Vec<Word> = polynomial
        .powers()
        .iter()
        .map(|powers| word(powers))
        .collect();
    let p = monomials(graph, &parameters, polynomial.input_dim(), &words)?;
    // Feature c·m + j is e_c · p_j.
    let m = words.len();
    let category: Vec<usize> = (0..categories * m).map(|at| at / m).collect();
    let monomial: Vec<usize> = (0..categories * m).map(|at| at % m).collect();
    let category = graph.columns(x, &category);
    let monomial = graph.columns(&p, &monomial);
    Ok(graph.node("Mul", &[&category, &monomial], &[]))
}

fn word(powers: &[(usize, u32)]) -> Word {
    powers
        .iter()
        .flat_map(|&(variable, power)| std::iter::repeat_n(variable, power as usize))
        .collect()
}

/// Monomials degree by degree: those of a degree are some of the degree before, each times a
/// variable, in one product of two matrices.
fn monomials(graph: &mut Graph, x: &str, inputs: usize, words: &[Word]) -> Result<String> {
    let constant = words.iter().any(Vec::is_empty);
    let first = if constant {
        // A column of ones behind the variables.
        let pads = graph.integers("pads", &[0, 0, 0, 1]);
        let one = graph.floats("one", &[], [1.0])?;
        graph.node("Pad", &[x, &pads, &one], &[])
    } else {
        x.to_owned()
    };
    // Where a monomial stands in the matrix of its degree, and in all of them side by side.
    let mut before: BTreeMap<&[usize], usize> = BTreeMap::new();
    let variables: Vec<usize> = (0..inputs).collect();
    for variable in &variables {
        before.insert(std::slice::from_ref(variable), *variable);
    }
    let mut everywhere: BTreeMap<&[usize], usize> = before.clone();
    everywhere.insert(&[], inputs);
    let (mut blocks, mut width) = (vec![first], inputs + usize::from(constant));
    let mut last = x.to_owned();
    let degree = words.iter().map(Vec::len).max().unwrap_or(0);
    for length in 2..=degree {
        let mut now: BTreeMap<&[usize], usize> = BTreeMap::new();
        let (mut parents, mut factors) = (Vec::new(), Vec::new());
        for word in words {
            let Some(prefix) = word.get(..length) else {
                continue;
            };
            if now.contains_key(prefix) {
                continue;
            }
            now.insert(prefix, parents.len());
            everywhere.insert(prefix, width + parents.len());
            parents.push(before[&prefix[..length - 1]]);
            factors.push(prefix[length - 1]);
        }
        width += parents.len();
        let parents = graph.columns(&last, &parents);
        let factors = graph.columns(x, &factors);
        last = graph.node("Mul", &[&parents, &factors], &[]);
        blocks.push(last.clone());
        before = now;
    }
    let all = graph.beside(&blocks);
    let wanted: Vec<usize> = words.iter().map(|word| everywhere[&word[..]]).collect();
    Ok(graph.columns(&all, &wanted))
}
